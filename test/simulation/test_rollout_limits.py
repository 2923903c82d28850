"""Rollouts under friction and position limits: formulas for one joint, SciPy for trees."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.friction import STICTION
from support.random_trees import model_of, random_tree
from support.rollouts import EACH_METHOD, MIMICS, TREE, error, slider, solved, states


# ------------------------------------------------------------------------------------------------- friction
@pytest.mark.parametrize("dt", [1e-6, 1e-2, 1.0, 1e6])
def test_damping_of_any_strength_is_stable_in_semi_implicit_euler(dt):
    """qd falls by 1 / (1 + dt damping / mass) a step, the implicit formula."""
    for damping in (0.1, 1e3, 1e12):
        _, _, qd = slider(mass=2.0, damping=damping).rollout([0.0], [3.0], dt=dt, steps=10, friction=True)
        np.testing.assert_allclose(qd[:, 0], 3.0 / (1.0 + dt * damping / 2.0) ** np.arange(11), rtol=1e-12, atol=1e-15)


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


def test_coulomb_friction_brings_a_joint_to_rest_and_holds_it():
    """Constant deceleration f / m until v = 0, after v m / f and v^2 m / 2 f; then it stays, but for creeping.

    Against an effort F < f it creeps below STICTION F / (f - F)."""
    robot, dt = slider(mass=2.0, friction=4.0), 1e-4
    t, q, qd = robot.rollout([0.0], [1.0], dt=dt, steps=20_000, friction=True)
    moving = qd[:, 0] > 10 * STICTION
    assert abs(t[moving][-1] - 0.5) < 0.02 and abs(q[-1, 0] - 0.25) < 2e-3
    assert (np.diff(qd[:, 0]) <= 0).all() and abs(qd[-1, 0]) < 1e-12
    t, q, qd = robot.rollout([0.0], [0.0], [3.0], dt=dt, steps=20_000, friction=True)
    assert np.abs(qd).max() <= 3.001 * STICTION
    t, q, qd = robot.rollout([0.0], [0.0], [6.0], dt=dt, steps=10_000, friction=True)
    assert abs(qd[-1, 0] - 1.0) < 0.02                                                   # (6 - 4) / 2 for a second


@pytest.mark.parametrize("dt", [1e-4, 1e-2, 1.0])
def test_coulomb_friction_does_not_throw_a_joint_back(dt):
    _, _, qd = slider(mass=0.1, friction=50.0).rollout([0.0], [1.0], dt=dt, steps=200, friction=True)
    assert (qd >= 0.0).all() and qd[-1] < 1e-9


# ------------------------------------------------------------------------------------------------- limits
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
