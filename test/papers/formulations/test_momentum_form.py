"""The momentum form of the equations of motion, [MD] (79), and what its integrator keeps."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.formulations import newton_euler
from screw_dynamics.papers.formulations.closed_form.momentum import (
    body_momenta,
    conjugate_momentum,
    phase_space_rate,
    system_rate,
)
from screw_dynamics.papers.formulations.closed_form.momentum_integration import integrate
from screw_dynamics.papers.formulations.screw_derivatives import spatial
from support.matrices import error
from support.plain import plain, rates_of_numbers
from support.random_trees import GROUPS, KINDS, Part, model_of, random_body, random_pose, random_tree
from support.scalar_kinds import slope
from support.structure_constants import structure_constants

BOUND = 1e-12


@pytest.fixture(scope="module", params=[
    (0, 0), (4, 0), (9, 2), pytest.param((7, 1, (*GROUPS, *KINDS)), marks=pytest.mark.slow)],
                ids=["no joint", "4 joints", "9 joints, 2 mimic", "7 joints of all kinds, 1 mimic"])
def case(request):
    """A robot and a batch of states: coordinates, rates and efforts."""
    rng = np.random.default_rng(request.param[:2])
    robot = sd.Robot(model_of(random_tree(rng, *request.param)), gravity=(1.0, -2.0, -9.0))
    return robot, (rng.uniform(-2, 2, (2, robot.nq)), *rng.uniform(-2, 2, (2, 2, robot.n)))


@pytest.fixture(scope="module", params=[(0, 0), (4, 0), (9, 2)], ids=["no joint", "4 joints", "9 joints, 2 mimic"])
def coordinates_case(request):
    """A robot, states and efforts as in `case`, and spatial wrenches applied to the bodies."""
    rng = np.random.default_rng(request.param)
    robot = sd.Robot(model_of(random_tree(rng, *request.param)), gravity=(1.0, -2.0, -9.0))
    return robot, rng.uniform(-2, 2, (3, 2, robot.n)), rng.normal(size=(2, len(robot.model.parents), 6))


def on_turntable(seed, kinds):
    """A robot of which all joints stand on one about a vertical axis, away from all origins; and that joint's index."""
    rng = np.random.default_rng(seed)
    tree = [part for part in random_tree(rng, 12) if part.kind != "fixed"][:len(kinds)]
    placement, joint_frame = random_pose(rng), random_pose(rng)
    vertical = (placement @ joint_frame)[:3, :3].T @ [0.0, 0.0, 1.0]
    parts = [Part("turntable", "root", "revolute", vertical, 0.0, joint_frame, placement, *random_body(rng))]
    for part, kind in zip(tree, kinds, strict=True):
        parent = part.parent if any(part.parent == other.link for other in tree) else "turntable"
        parts.append(part._replace(kind=kind, parent=parent))
    robot = sd.Robot(model_of(parts))
    return robot, robot.joint_names.index("joint of turntable")


def energy(robot, q, p):
    """Kinetic and potential energy of states in phase space."""
    rates = np.linalg.solve(robot.mass_matrix(q), p[..., None])
    return (p[..., None, :] @ rates)[..., 0, 0] / 2 + robot.potential_energy(q)


# ------------------------------------------------------------------------------------------------- the equations
def test_conjugate_momentum_is_the_slope_of_the_energy_by_the_rates(case):
    robot, (q, qd, _) = case
    found = conjugate_momentum(robot, q, qd)
    for state in range(2):
        def kinetic_energy(v, x=q[state]):
            return plain(robot, "kinetic_energy", x, v)
        slopes = np.array([slope(kinetic_energy, qd[state], e)[0] for e in np.eye(robot.n)])
        assert error(found[state], slopes) < BOUND


def test_79_momentum_form_is_hamiltons_equations(case):
    """q' = dH/dp and p' = tau - dH/dq, where dH/dq at p is dU/dq less dT/dq at q'; for Lie-group joints with
    p_l c_lkj v_k, of Lie and Poisson."""
    robot, (q, qd, tau) = case
    poisson = np.einsum("...l,lkj,...k->...j", conjugate_momentum(robot, q, qd), structure_constants(robot), qd)
    found = phase_space_rate(robot, q, conjugate_momentum(robot, q, qd), tau)
    assert error(found[0], qd) < 1e-11                               # conditioning of M
    for state in range(2):
        def lagrangian(x, v=qd[state]):
            return plain(robot, "kinetic_energy", x, v) - plain(robot, "potential_energy", x)
        slopes = np.array([slope(lagrangian, q[state], rates_of_numbers(robot, q[state], e))[0]
                           for e in np.eye(robot.n)])
        assert error(found[1][state], tau[state] + slopes + poisson[state]) < 1e-11


def test_79_momentum_form_is_the_motion_of_forward_dynamics(case):
    """p' = M q'' + M' q', M' = C + C^T."""
    robot, (q, qd, tau) = case
    qdd, C = robot.forward_dynamics(q, qd, tau), robot.coriolis_matrix(q, qd)
    expected = robot.mass_matrix(q) @ qdd[..., None] + (C + np.swapaxes(C, -1, -2)) @ qd[..., None]
    assert error(phase_space_rate(robot, q, conjugate_momentum(robot, q, qd), tau)[1], expected[..., 0]) < 1e-11


def test_79_state_of_the_bodies_momenta_is_the_motion_of_forward_dynamics(coordinates_case):
    """Both rows of the printed form, with (q, Pi) for a state: q' comes back, and Pi' is the rate of M^s J q' along the
    motion that the efforts and applied wrenches cause."""
    robot, (q, qd, tau), applied = coordinates_case
    Pi = body_momenta(robot, q, qd)
    found, rate = system_rate(robot, q, Pi, tau, applied)
    assert error(found, qd) < 1e-11                                  # conditioning of M
    J = robot.body_jacobians(q, "spatial")
    qdd = robot.forward_dynamics(q, qd, tau + np.einsum("...ixk,...ix->...k", J, applied))
    (V, Vd), C = spatial.twist_derivatives(robot, q, qd, qdd), robot.body_poses(q)
    assert error(rate, newton_euler.spatial.momentum_rate(robot.model.inertias, V, Vd, C)) < 1e-10
    weights = newton_euler.spatial.inertia(robot.model.inertias, C) @ np.r_[np.zeros(3), robot.gravity]
    assert error(np.einsum("...ixk,...ix->...k", J, rate - weights - applied), tau) < 1e-10
    assert error(np.einsum("...ixk,...ix->...k", J, Pi), conjugate_momentum(robot, q, qd)) < BOUND


def test_79_momenta_stay_those_of_a_motion_and_are_integrated(coordinates_case):
    """A short way by RK4 in (q, Pi), and the same by rollout in (q, q')."""
    robot, (q, qd, tau), _ = coordinates_case
    y, h = (q[0], body_momenta(robot, q[0], qd[0])), 1e-3
    for _ in range(10):
        k, slopes = y, []
        for ahead in (0.0, h / 2, h / 2, h):
            k = [a + ahead * b for a, b in zip(y, slopes[-1], strict=True)] if slopes else y
            slopes.append(system_rate(robot, *k, tau[0]))
        y = [a + h / 6 * (s[0] + 2 * s[1] + 2 * s[2] + s[3]) for a, s in zip(y, zip(*slopes, strict=True), strict=True)]
    _, path, rates = robot.rollout(q[0], qd[0], tau[0], dt=h, steps=10, integrator="rk4")
    assert error(y[0], path[-1]) < 1e-7
    assert error(y[1], body_momenta(robot, path[-1], rates[-1])) < 1e-6


def test_momentum_form_takes_no_efforts_and_one_state(case):
    robot, (q, qd, _) = case
    p = conjugate_momentum(robot, q, qd)
    many, one = phase_space_rate(robot, q, p), phase_space_rate(robot, q[0], p[0], np.zeros(robot.n))
    for a, b in zip(many, one, strict=True):
        assert error(b, a[0]) < 1e-13


def test_wrong_sizes_are_named():
    robot, _ = on_turntable(0, ["revolute"])
    with pytest.raises(ValueError, match="p has the shape"):
        phase_space_rate(robot, np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="tau has the shape"):
        phase_space_rate(robot, np.zeros(2), np.zeros(2), np.zeros(1))
    for name, states in (("q0", (np.zeros(1), np.zeros(2))), ("p0", (np.zeros(2), np.zeros(1))),
                         ("tau", (np.zeros(2), np.zeros(2), np.zeros(1)))):
        with pytest.raises(ValueError, match=f"{name} has the shape"):
            integrate(robot, *states)


# ------------------------------------------------------------------------------------------------- the integrator
@pytest.fixture(scope="module")
def pendulum():
    """Two pendulums on a turntable: the robot, the turntable's coordinate, and an initial state (q, q')."""
    robot, k = on_turntable(2, ["revolute", "revolute"])
    return robot, k, np.array([0.3, 0.5, 0.1]), np.array([0.8, -0.4, 0.2])


@pytest.mark.slow
def test_cyclic_momentum_stays_and_energy_is_bounded_over_thousands_of_steps(pendulum):
    """With the same step rk4 in (q, q') loses both: of its energy more and more."""
    robot, k, q0, qd0 = pendulum
    dt, steps = 0.02, 2000
    p0 = conjugate_momentum(robot, q0, qd0)
    _, q, p = integrate(robot, q0, p0, dt=dt, steps=steps)
    _, q_rk4, qd_rk4 = robot.rollout(q0, qd0, dt=dt, steps=steps, integrator="rk4")
    p_rk4 = conjugate_momentum(robot, q_rk4, qd_rk4)
    drift, drift_rk4 = (np.abs(x[:, k] - p0[k]).max() for x in (p, p_rk4))
    assert np.ptp(p[:, 1:], axis=0).min() > 0.1                         # the others move
    assert drift < BOUND and drift_rk4 > 1e4 * drift
    start = energy(robot, q0, p0)
    early, late = (np.mean(half) - start for half in np.split(energy(robot, q, p)[1:], 2))
    early_rk4, late_rk4 = (np.mean(half) - start for half in np.split(energy(robot, q_rk4, p_rk4)[1:], 2))
    assert abs(late - early) < 0.1 * abs(early) and late_rk4 / early_rk4 > 2.5


@pytest.mark.slow
def test_more_gauss_points_keep_the_energy_too(pendulum):
    robot, k, q0, qd0 = pendulum
    p0, start = conjugate_momentum(robot, q0, qd0), robot.kinetic_energy(q0, qd0) + robot.potential_energy(q0)
    worst = []
    for points in (1, 2, 4):
        _, q, p = integrate(robot, q0, p0, dt=0.02, steps=50, points=points)
        assert np.abs(p[:, k] - p0[k]).max() < BOUND
        worst.append(np.abs(energy(robot, q, p) - start).max())
    assert worst[0] > 100 * worst[1] and worst[2] < BOUND * abs(start)


@pytest.mark.slow
@pytest.mark.parametrize("order, dt", [(2, 0.004), (4, 0.02)])
@pytest.mark.parametrize("points", [1, 2])
def test_order_of_convergence_and_the_motion_of_rollout(pendulum, order, dt, points):
    """Twice the steps, 2^-order times the error against rk45."""
    robot, _, q0, qd0 = pendulum
    tau, p0, T = np.array([0.2, -0.3, 0.1]), conjugate_momentum(robot, q0, qd0), 0.2
    _, q, qd = robot.rollout(q0, qd0, tau, dt=T, steps=1, integrator="rk45", rtol=1e-13, atol=1e-14)
    exact, errors = np.r_[q[-1], conjugate_momentum(robot, q[-1], qd[-1])], []
    for h in (dt, dt / 2):
        _, q, p = integrate(robot, q0, p0, tau, dt=h, steps=round(T / h), points=points, order=order)
        errors.append(np.abs(np.r_[q[-1], p[-1]] - exact).max())
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.2 and errors[1] < 1e-4


def test_batches_and_no_steps(pendulum):
    robot, _, q0, qd0 = pendulum
    q0 = q0 + np.array([[0.0], [0.3]])
    p0 = conjugate_momentum(robot, q0, qd0)
    t, q, p = integrate(robot, q0, p0, dt=0.01, steps=5)
    assert t.shape == (6,) and q.shape == p.shape == (2, 6, 3)
    assert error(integrate(robot, q0[1], p0[1], dt=0.01, steps=5)[2], p[1]) < BOUND
    tau = np.array([np.zeros(3), np.ones(3)])[:, None]
    assert error(integrate(robot, q0, p0, tau, dt=0.01, steps=5)[2][0], p) < BOUND
    _, q, p = integrate(robot, q0, p0, steps=0)
    assert (q[:, 0] == q0).all() and (p[:, 0] == p0).all() and q.shape == (2, 1, 3)


@pytest.mark.parametrize("options, message", [
    ({"order": 3}, "order 3"), ({"dt": -1.0}, "dt -1.0"), ({"points": 0}, "points 0"), ({"steps": -1}, "steps -1"),
    ({"steps": 1.5}, "steps 1.5"), ({"dt": 2.0}, "step of 2.0 s is too long")])
def test_bad_options_of_the_integrator_are_named(pendulum, options, message):
    robot, _, q0, qd0 = pendulum
    with pytest.raises(ValueError, match=message):
        integrate(robot, q0, conjugate_momentum(robot, q0, qd0), **options)
