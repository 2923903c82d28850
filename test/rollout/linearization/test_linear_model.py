"""Robot.linearize: against differences of the steps that it linearizes, and Pinocchio."""
import dataclasses

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.rollout.linearization.tangent_maps import displacement, products, trivialization
from support.differences import of_a_state, slopes
from support.linearized import ROBOTS, near, near_a_step, robot_called, state
from support.pinocchio_oracle import oracle_of_urdf
from support.random_trees import GROUPS, model_of, random_tree
from support.real_robots import PATHS, real_robot

# What others than this use takes long to compile.
EACH_ROBOT = pytest.mark.parametrize("robot", [
    pytest.param(name, marks=[pytest.mark.slow] * (name != "fixed")) for name in ROBOTS], indirect=True)
EACH_STEP = pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])


@pytest.fixture
def robot(request):
    return robot_called(request.param)


def both(model):
    return np.concatenate((model.A, model.B), axis=-1)


@EACH_ROBOT
@EACH_STEP
@pytest.mark.parametrize("friction", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_it_is_the_derivative_of_a_step(robot, rng, integrator, friction):
    here = state(robot, rng)
    for dt in (1e-3, 5e-3 if friction else 0.1):                # no velocity comes to 0 meanwhile, where friction jumps
        near_a_step(robot, here, dt, 1e-10, integrator=integrator, friction=friction)


@pytest.mark.slow
@EACH_ROBOT
@EACH_STEP
def test_joints_that_stick_slip_and_come_to_rest(robot, rng, integrator):
    """Some are held by friction, one is pulled off in spite of it, which its bound resists; others have none. In steps
    of Runge and Kutta's rule those that are held come to rest in the step: with friction of a direction of its own, a
    step from rest has no derivative there."""
    model, (q, qd, tau) = robot.model, state(robot, rng)
    dry, held, pulled = np.zeros(robot.n), [0, 2], 1
    dry[held], dry[pulled] = 1e4, 1e-2
    qd[held] *= integrator != "semi_implicit_euler"
    qd[pulled] = 0.0 if integrator == "semi_implicit_euler" else qd[pulled]
    robot = sd.Robot(dataclasses.replace(model, friction=dry), robot.gravity)
    # Differences meet kinks farther off by semi-implicit Euler alone, and rounding of efforts of 1e4 N m nearer.
    h = 1e-4 if integrator == "semi_implicit_euler" else 1e-3
    rate = near_a_step(robot, (q, qd, tau), 1e-3, 1e-9, h, integrator=integrator, friction=True)
    assert not rate[held].any() and rate[pulled] != 0.0


@pytest.mark.slow
@EACH_ROBOT
def test_a_joint_that_turns_round_in_a_step(robot, rng):
    """Friction turns with it, at the time that constant accelerations say."""
    model, (q, qd, tau), dry, turns = robot.model, state(robot, rng), np.zeros(robot.n), 1
    dry[turns] = 0.1
    qd[turns] = 0.0
    qd[turns] = -4e-4 * robot.forward_dynamics(q, qd, tau - robot.model.damping * qd)[turns]
    robot = sd.Robot(dataclasses.replace(model, friction=dry), robot.gravity)
    rate = near_a_step(robot, (q, qd, tau), 1e-3, 1e-8, 1e-5, integrator="rk4", friction=True)
    assert rate[turns] * qd[turns] < 0.0


@pytest.mark.slow
def test_what_sticks_beside_stiff_forces(rng):
    """Of a soft stop whose damping rises with depth: the inertia that a step adds depends on the state too."""
    robot, (q, qd, tau) = robot_called("fixed"), state(robot_called("fixed"), rng)
    dry = np.zeros(robot.n)
    dry[[0, 3]], qd[0] = 1e4, 0.0
    robot = sd.Robot(dataclasses.replace(robot.model, friction=dry), robot.gravity)
    stops = [sd.forces.Stop(name, 2e5, 0.4, lower=q[k] + 0.1, upper=q[k] + 9.0) for k, name in enumerate(
        robot.joint_names) if k not in (0, 3)]
    rate = near_a_step(robot, (q, qd, tau), 1e-3, 1e-9, 1e-4, friction=True, forces=stops)
    assert np.flatnonzero(rate == 0.0).tolist() == [0, 3]


@pytest.mark.slow
@EACH_ROBOT
@EACH_STEP
def test_joints_that_stop_at_their_limits(robot, rng, integrator):
    """Several at once, of which impulses drive others against theirs."""
    model, (q, qd, tau) = robot.model, state(robot, rng)
    places = model.q_indices[model.q_indices >= 0]
    limits = {name: np.full(robot.n, sign * np.inf) for name, sign in (("lower", -1.0), ("upper", 1.0))}
    for k in np.flatnonzero(model.q_indices >= 0)[:4]:         # all beyond, or not to come there
        at = q[model.q_indices[k]]
        limits["lower" if k % 2 else "upper"][k] = at + 0.1 if k % 2 else at - 0.1
    robot = sd.Robot(dataclasses.replace(model, **limits), robot.gravity)
    # By ten times this distance of differences one joint more would leave its limit.
    rate = near_a_step(robot, (q, qd, tau), 1e-2, 1e-9, 1e-4, integrator=integrator, limits=True)
    assert 0 < np.count_nonzero(rate == 0.0) and len(places)


@pytest.mark.slow
@EACH_ROBOT
def test_wrenches_stay_the_same_in_their_links(robot, rng):
    (q, qd, tau), external = state(robot, rng), {robot.link_names[-1]: rng.standard_normal(6),
                                                 robot.link_names[2]: np.ones(6)}

    def step(dq, dv, du):
        here = robot.integrate(q, dq)
        return robot.step(here, qd + dv, tau + du + robot.external_torque(here, external), 5e-3, friction=True)
    model = robot.linearize(q, qd, tau, 5e-3, external, friction=True)
    near(both(model), of_a_state(robot, step), 1e-10)
    assert np.allclose(model.qdd, (step(*np.zeros((3, robot.n)))[1] - qd) / 5e-3, rtol=1e-10)


@pytest.mark.slow
@EACH_ROBOT
@pytest.mark.parametrize("friction", [False, True])
def test_continuous_is_the_limit_of_short_steps(robot, rng, friction):
    """(A_h - 1) / h at h, 2h, ..., extrapolated to 0."""
    (q, qd, tau), external = state(robot, rng), {robot.link_names[-1]: rng.standard_normal(6)}
    found = robot.linearize(q, qd, tau, None, external, friction=friction)
    n, limit = robot.n, 0.0
    for k, weight in ((1, 5.0), (2, -10.0), (3, 10.0), (4, -5.0), (5, 1.0)):
        over = robot.linearize(q, qd, tau, 2e-4 * k, external, "rk4", friction=friction)
        limit = limit + weight * (both(over) - np.eye(2 * n, 3 * n)) / (2e-4 * k)
    near(both(found), limit, 1e-9)
    assert np.array_equal(found.A[:n, n:], np.eye(n)) and not found.B[:n].any()
    if not robot.model.on_groups:
        assert not found.A[:n, :n].any()
    load = robot.friction_torque(qd) * friction
    near(found.qdd, robot.forward_dynamics(q, qd, tau - load, external), 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("kind", GROUPS)
@pytest.mark.parametrize("size", [1e-9, 0.1, 1.0, 3.0, 5.0])
def test_deviations_pass_through_displacements_of_any_angle(kind, size, rng):
    """T and E of q exp(u), F and G of dexp_(-u)^-1 v: the rate at which u moves, where q exp(u) moves at v."""
    robot = sd.Robot(model_of(random_tree(rng, 2, of=(kind, "revolute"))))
    q, u, v = robot.random_configuration(seed=rng), rng.standard_normal(robot.n), rng.standard_normal(robot.n)
    u *= size / np.linalg.norm(u)
    T, E, inverse = displacement(robot.model, u)
    end = robot.integrate(q, u)
    near(T, slopes(lambda x: robot.difference(end, robot.integrate(robot.integrate(q, x), u)), robot.n), 1e-11)
    near(E, slopes(lambda x: robot.difference(end, robot.integrate(q, u + x)), robot.n), 1e-11)
    F, G = trivialization(robot.model, u, v)
    near(F @ E, np.eye(robot.n), 1e-13)
    assert np.array_equal(F, inverse)
    near(G, slopes(lambda x: trivialization(robot.model, u + x, v).F @ v, robot.n), 1e-10)
    p, by_v = products(robot.model, v)
    near(by_v, slopes(lambda x: products(robot.model, v + x)[0], robot.n), 1e-12)


@pytest.mark.slow
@EACH_ROBOT
@EACH_STEP
@pytest.mark.parametrize("friction", [False, True])
def test_batches_are_the_same(robot, rng, integrator, friction):
    (q, qd, tau), wrench = state(robot, rng, 3, 5), rng.standard_normal((5, 6))
    n, tip = robot.n, robot.link_names[-1]
    for dt in (None, 0.01):
        out = np.empty((3, 5, 2 * n, 2 * n)), np.empty((3, 5, 2 * n, n))
        options = dict(integrator=integrator, friction=friction)
        found = robot.linearize(q, qd, tau[0], dt, {tip: wrench}, out=out, **options)
        assert found.A is out[0] and found.B is out[1] and found.qdd.shape == (3, 5, n)
        for k in np.ndindex(3, 5):
            one = robot.linearize(q[k], qd[k], tau[0, k[1]], dt, {tip: wrench[k[1]]}, **options)
            for x, y in zip(found, one, strict=True):
                near(x[k], y, 1e-11)


@EACH_ROBOT
def test_results_go_to_out(robot, rng):
    state_and_effort, n = state(robot, rng), robot.n
    out, expected = (np.empty((2 * n, 2 * n)), np.empty((2 * n, n))), robot.linearize(*state_and_effort, 0.01)
    found = robot.linearize(*state_and_effort, 0.01, out=out)
    assert found.A is out[0] and found.B is out[1]
    assert all(map(np.array_equal, found, expected))


@pytest.mark.slow
@pytest.mark.parametrize("arguments, message", [
    (dict(dt=0.0), r"dt 0\.0 must be finite and > 0"), (dict(integrator="rk45"), "integrator 'rk45' must be one of"),
    (dict(dt=None, limits=True), "a linear model with limits requires dt"),
    (dict(q=[1.0]), r"q has shape \(1,\)"), (dict(external={"nose": np.zeros(6)}), "link 'nose' does not exist"),
    (dict(external={"link 0": [1.0]}), "the wrench on link 'link 0' has shape"),
    (dict(out=(np.empty((6, 6)), np.empty(3))), r"out must be two writable float64 arrays \(A, B\)")])
def test_wrong_arguments_are_named(arguments, message):
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(7), 6)))
    given = dict(q=np.zeros(6), qd=np.zeros(6), tau=np.zeros(6), dt=0.1) | arguments
    with pytest.raises(ValueError, match=message):
        robot.linearize(**given)


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["panda_description/urdf/panda.urdf", "anymal_b_simple_description/robots/anymal.urdf",
                                  "talos_data/robots/talos_reduced.urdf"])
def test_real_robots_against_pinocchio(name, floating, rng):
    """The continuous model has its derivatives; a semi-implicit step, and its group's exp, make the discrete one."""
    robot = real_robot(name, floating_base=True) if floating else real_robot(name)
    oracle, n, h = oracle_of_urdf(PATHS[name], robot), robot.n, 1e-2
    for _ in range(3):
        q, (qd, tau) = robot.random_configuration(seed=rng), rng.standard_normal((2, n))
        by_q, by_qd, by_tau = oracle.forward_dynamics_derivatives(q, qd, tau)
        lower = np.hstack((by_q, by_qd, by_tau))
        near(both(robot.linearize(q, qd, tau))[n:], lower, 1e-10)
        dv, v = np.eye(n, 3 * n, n) + h * lower, qd + h * oracle.forward_dynamics(q, qd, tau)
        upper = np.eye(n, 3 * n) + h * dv
        if floating:
            turn = sd.se3.exp(-h * v[:6])
            upper[:6] = sd.arrays.Ad_matrix(turn) @ np.eye(6, 3 * n) + h * sd.se3.dexp(-h * v[:6], np.eye(6)).T @ dv[:6]
        near(both(robot.linearize(q, qd, tau, h)), np.vstack((upper, dv)), 1e-10)
