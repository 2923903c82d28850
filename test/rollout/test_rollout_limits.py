"""Rollouts under friction and position limits: formulas for one joint, SciPy for trees."""
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import screw_dynamics as sd
from screw_dynamics.rollout.integrators import INTEGRATORS
from support.random_trees import model_of, random_tree
from support.rollouts import EACH_METHOD, MIMICS, TREE, error, slider, solved, states


# ------------------------------------------------------------------------------------------------- friction
@pytest.mark.parametrize("dt", [1e-6, 1e-2, 1.0, 1e6])
def test_damping_of_any_strength_is_stable_in_semi_implicit_euler(dt):
    """qd falls by 1 / (1 + dt damping / mass) a step, the implicit formula."""
    for damping in (0.1, 1e3, 1e12):
        _, _, qd = slider(mass=2.0, damping=damping).rollout([0.0], [3.0], dt=dt, steps=10, friction=True)
        np.testing.assert_allclose(qd[:, 0], 3.0 / (1.0 + dt * damping / 2.0) ** np.arange(11), rtol=1e-12, atol=1e-15)


def test_damping_settles_where_it_balances_the_effort():
    _, _, qd = slider(mass=2.0, damping=50.0).rollout([0.0], [0.0], [10.0], dt=0.5, steps=100, friction=True)
    assert qd[-1, 0] == pytest.approx(10.0 / 50.0, rel=1e-12)


@pytest.mark.parametrize("mimics", [0, 2])
def test_a_strongly_damped_tree_comes_to_rest(mimics):
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(6), 5, mimics), damping=1e6), gravity=(0, 0, 0))
    _, q, qd = robot.rollout(*states(robot), dt=0.1, steps=100, friction=True)
    assert np.abs(qd[-1]).max() < 1e-3 < np.abs(qd[0]).max()


@pytest.mark.parametrize("method, bound", [("rk4", 1e-7), ("rk45", 1e-5)])
@pytest.mark.parametrize("robot", [TREE, MIMICS], ids=["tree", "tree with mimics"])
def test_friction_acts_as_an_effort(robot, method, bound):
    q0, qd0 = 0.3 * states(robot)
    t, *found = robot.rollout(q0, qd0, dt=5e-5, steps=400, every=100, integrator=method, friction=True)
    assert error(found, solved(robot, q0, qd0, t, None, True)) < bound


@EACH_METHOD
def test_friction_acts_only_if_asked_for(method):
    q0, qd0 = states(TREE)
    free = sd.Robot(model_of(random_tree(np.random.default_rng(5), 4)))
    assert free.n == TREE.n
    options = dict(dt=1e-3, steps=10, integrator=method)
    _, *found = TREE.rollout(q0, qd0, **options)
    assert error(found, free.rollout(q0, qd0, **options)[1:]) == 0.0
    assert error(found, TREE.rollout(q0, qd0, friction=True, **options)[1:]) > 1e-6


# Kernels of the others are compiled at their first use.
EACH_INTEGRATOR = pytest.mark.parametrize("method", [
    pytest.param(name, marks=[pytest.mark.slow] * (not integrator.beforehand))
    for name, integrator in INTEGRATORS.items()])


@EACH_INTEGRATOR
@pytest.mark.parametrize("lead", [(), (9,)])
def test_coulomb_friction_brings_a_joint_to_rest(method, lead):
    """Constant deceleration f / m until v = 0, after v m / f and v^2 m / 2 f, and not a bit of motion after that."""
    robot, dt = slider(mass=2.0, friction=4.0), 1e-3
    start = np.zeros((*lead, 1))
    t, q, qd = robot.rollout(start, start + 1.0, dt=dt, steps=700, integrator=method, friction=True)
    moving = t < 0.4995
    np.testing.assert_allclose(qd[..., moving, 0], np.broadcast_to(1.0 - 2.0 * t[moving], qd[..., moving, 0].shape),
                               atol=1e-9)
    order = dt if method == "semi_implicit_euler" else 1.01e-6          # f dt^2 / 2 m: it may take a step more
    np.testing.assert_allclose(q[..., -1, 0], 0.25, atol=order)
    assert (qd[..., 502:, 0] == 0.0).all() and (np.ptp(q[..., 502:, 0], axis=-1) == 0.0).all()


@EACH_INTEGRATOR
def test_a_joint_turns_round_against_its_friction(method):
    """Thrown against a pull F it slows down with (F + f) / m, turns, and comes back with (F - f) / m."""
    ends, dts = [], np.array((0.02, 0.01, 0.005))
    for dt in dts:
        _, q, qd = slider(mass=2.0, friction=4.0).rollout([0.0], [1.0], [-9.0], dt=dt, steps=round(0.5 / dt),
                                                          integrator=method, friction=True)
        ends.append((q[-1, 0] - 1 / 13.0 + 1.25 * (0.5 - 1 / 6.5)**2, qd[-1, 0] + 2.5 * (0.5 - 1 / 6.5)))
    off = np.abs(ends)
    if method == "semi_implicit_euler":
        assert (off[-1] < 0.01).all()
    else:
        assert (off[:, 1] < 1e-9).all() and (off[:, 0] < 2.0 * dts**2).all()        # f dt^2 / m


@EACH_INTEGRATOR
def test_a_joint_at_rest_sticks_without_creep_up_to_its_friction_and_slides_beyond(method):
    robot = slider(mass=2.0, friction=4.0)
    for pull in (3.999999, -4.0):
        _, q, qd = robot.rollout([0.2], [0.0], [pull], dt=1e-3, steps=500, integrator=method, friction=True)
        assert (q == 0.2).all() and not qd.any()
    t, q, qd = robot.rollout([0.0], [0.0], [6.0], dt=1e-3, steps=500, integrator=method, friction=True)
    np.testing.assert_allclose(qd[:, 0], t, atol=1e-9)                                      # (6 - 4) / 2


@EACH_INTEGRATOR
def test_what_sticks_holds_the_others_as_a_locked_joint_would(method):
    """A double pendulum whose elbow has more friction than it takes is one pendulum; the impulse is within h f."""
    rough, smooth = (two_links(friction) for friction in (50.0, 0.0))
    dt, steps, q0 = 1e-4, 2000, np.array((0.4, 0.3))
    t, q, qd = rough.rollout(q0, np.zeros(2), dt=dt, steps=steps, integrator=method, friction=True)
    assert (q[:, 1] == 0.3).all() and not qd[:, 1].any()
    locked = solve_ivp(lambda t, y: (y[1], -smooth.gravity_torque((y[0], 0.3))[0]
                                     / smooth.mass_matrix((y[0], 0.3))[0, 0]), (0.0, t[-1]), (0.4, 0.0),
                       rtol=1e-11, atol=1e-12)
    assert abs(q[-1, 0] - locked.y[0, -1]) < 3e-4 and abs(qd[-1, 0] - locked.y[1, -1]) < 3e-4


def test_joints_push_each_other_at_their_stops_as_the_laws_of_impact_say(rng):
    """After a step that ends at stops: no joint moves outwards, none is pulled, none is pushed that moves inwards, and
    the change of momentum is that of the impulses."""
    pushed = 0
    for _ in range(20):
        robot = sd.Robot(model_of(random_tree(rng, 6), limits=sd.Limits(lower=-0.3, upper=0.3)), gravity=(0, 0, 0))
        q, v, h = rng.choice([-0.3, 0.3, 0.0], 6), 2.0 * rng.normal(size=6), 1e-12
        free = robot.step(q, v, np.zeros(6), h, limits=False)[1]
        ends, after = robot.step(q, v, np.zeros(6), h, limits=True)
        impulse, inwards, at = robot.mass_matrix(q) @ (after - free), -np.sign(q), abs(ends) == 0.3
        rounding = 1e-10 * (1.0 + abs(impulse).max())
        assert (abs(impulse[~at]) <= rounding).all()
        p, w = (impulse * inwards)[at], (after * inwards)[at]
        assert (p > -rounding).all() and (w > -1e-11).all() and (abs(p * w) < 1e-9).all()
        pushed += (p > 0.01).sum()
    assert pushed > 20


@pytest.mark.parametrize("dt", [1e-4, 1e-2, 1.0])
def test_coulomb_friction_does_not_throw_a_joint_back(dt):
    _, _, qd = slider(mass=0.1, friction=50.0).rollout([0.0], [1.0], dt=dt, steps=200, friction=True)
    assert (qd >= 0.0).all() and qd[-1] == 0.0


# ------------------------------------------------------------------------------------------------- limits
@EACH_INTEGRATOR
def test_a_joint_with_friction_comes_to_its_stop_and_stays_there(method):
    rail = slider(mass=2.0, friction=4.0, limits=sd.Limits(lower=-0.5, upper=0.25))
    _, q, qd = rail.rollout([0.0], [0.0], [6.0], dt=1e-2, steps=100, integrator=method, friction=True, limits=True)
    assert q[-1, 0] == 0.25 and not qd[-1].any() and (np.diff(q[:, 0]) >= 0.0).all()
    _, q, qd = rail.rollout([0.25 - 1e-6], [0.0], [6.0], dt=1e-2, steps=5, integrator=method, friction=True,
                            limits=True)
    assert q[-1, 0] == 0.25                                 # from rest within a step
    _, q, qd = rail.rollout([0.25], [0.0], [-3.9], dt=1e-2, steps=100, integrator=method, friction=True, limits=True)
    assert (q == 0.25).all() and not qd.any()


def two_links(friction):
    """Two thin bars of 1 m and 1 kg that hang in a vertical plane; the elbow has friction."""
    builder = sd.ModelBuilder("world")
    for name, link, parent, x in ("shoulder", "upper", "world", 0.0), ("elbow", "lower", "upper", 1.0):
        builder.add_screw(name, link, parent, axis=(0, 1, 0), point=(x, 0, 0), mass=1.0,
                          com=(x + 0.5, 0, 0), inertia=np.diag((1e-3, 1 / 12, 1 / 12)),
                          friction=friction if name == "elbow" else 0.0)
    return sd.Robot(builder.build())


RAIL = slider(mass=2.0, limits=sd.Limits(lower=-0.5, upper=1.0))


@EACH_METHOD
@pytest.mark.parametrize("lead", [(), (9,)])
def test_a_joint_stops_at_its_limits(method, lead):
    for push, stop in ((3.0, 1.0), (-3.0, -0.5)):
        zero = np.zeros((*lead, 1))
        t, q, qd = RAIL.rollout(zero, zero, [push], dt=0.01, steps=300, integrator=method, limits=True)
        assert (q >= -0.5).all() and (q <= 1.0).all()
        assert (q[..., -1, 0] == stop).all() and (qd[..., -1, 0] == 0.0).all()
        free = t < np.sqrt(2 * abs(stop) * 2.0 / 3.0) - 0.02                        # before it gets there
        expected = np.broadcast_to(0.75 * np.sign(push) * t[free]**2, q[..., free, 0].shape)
        np.testing.assert_allclose(q[..., free, 0], expected, atol=0.01 if method == "semi_implicit_euler" else 1e-9)


@EACH_METHOD
def test_a_joint_leaves_its_limit(method):
    t, q, qd = RAIL.rollout([1.0], [0.0], [-3.0], dt=0.01, steps=50, integrator=method, limits=True)
    np.testing.assert_allclose(qd[:, 0], -1.5 * t, rtol=1e-9)


@EACH_METHOD
def test_limits_act_only_if_asked_for(method):
    _, q, _ = RAIL.rollout([0.0], [0.0], [3.0], dt=0.01, steps=300, integrator=method, limits=False)
    np.testing.assert_allclose(q[-1, 0], 6.75, rtol=0.01)


@EACH_METHOD
def test_other_joints_have_no_limit(method):
    free = slider(limits=sd.Limits(lower=-np.inf, upper=np.inf))
    _, q, qd = free.rollout([0.0], [1e6], dt=0.1, steps=10, integrator=method, limits=True)
    assert (qd == 1e6).all() and abs(q[-1, 0] - 1e6) < 1e-3


@pytest.mark.parametrize(("integrator", "bound"), [("semi_implicit_euler", 2e-3), ("rk4", 1e-5), ("rk45", 1e-5)])
def test_stops_make_no_energy(integrator, bound):
    """A tree that falls onto its stops, whose impulses all joints feel. Setting a joint back on its stop lifts what it
    carries by a step's worth of fall, which is of order dt in every integrator."""
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(11), 6), limits=sd.Limits(-0.4, 0.4)))
    q0 = np.random.default_rng(12).uniform(-0.3, 0.3, (3, robot.n))
    _, q, qd = robot.rollout(q0, 0.0 * q0, dt=1e-4, steps=10_000, every=100, integrator=integrator, limits=True)
    energy = robot.kinetic_energy(q, qd) + robot.potential_energy(q)
    assert q.min() == -0.4 and q.max() == 0.4
    assert np.diff(energy).max() < bound * robot.kinetic_energy(q, qd).max()
    assert (energy[:, -1] < energy[:, 0] - 0.1).all()
