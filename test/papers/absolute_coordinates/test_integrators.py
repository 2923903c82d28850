"""Lie group integrators: their order, step control, exact reconstruction of screw motions."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.absolute_coordinates import DIRECT, SEMIDIRECT, Body, MultibodySystem, simulate
from screw_dynamics.rollout.runge_kutta import Tableau

ORDERS = {"euler": 1, "heun": 2, "rk4": 4, "commutator_free": 4}
INERTIA = sd.inertia_matrix(2.0, (0.1, -0.2, 0.05), np.diag((0.5, 0.6, 0.3)))


def thrown(group, wrenches=None):
    """A body off its center of mass, under a wrench that follows it."""
    twist = 1.0, -2.0, 0.5, 0.3, 0.2, -0.1
    return MultibodySystem([Body("b", INERTIA, twist=twist, group=group)], wrenches=wrenches or (
        lambda t, poses, twists: np.array(((0.3 * np.sin(t), 0.1, 0.0, 0.5, 0.0, np.cos(2 * t)),)) - 0.1 * twists))


def end(group, method, steps, **options):
    motion = simulate(thrown(group), 1.0, 1.0 / steps, method, **options)
    return np.r_[motion.poses[-1].ravel(), thrown(group).twists(motion.poses[-1], motion.velocities[-1]).ravel()]


@pytest.fixture(scope="module")
def exact():
    return end(SEMIDIRECT, "rk45", 100, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("group", (SEMIDIRECT, DIRECT))
@pytest.mark.parametrize("method", ORDERS)
def test_orders(method, group, exact):
    errors = [np.abs(end(group, method, steps) - exact).max() for steps in (20, 40, 80)]
    found = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(found - ORDERS[method]).max() < 0.3


@pytest.mark.parametrize("order, expected", [(None, 4), (2, 4), (0, 2)])
def test_order_of_truncated_dexp_inv(order, expected, exact):
    """Two brackets suffice for order 4; without any the configuration is of order 2 at most."""
    errors = [np.abs(end(SEMIDIRECT, "rk4", steps, dexp_order=order) - exact).max() for steps in (40, 80)]
    assert abs(np.log2(errors[0] / errors[1]) - expected) < 0.3


@pytest.mark.parametrize("group", (SEMIDIRECT, DIRECT))
def test_adaptive_steps_keep_the_tolerance(group, exact):
    system = thrown(group)
    for rtol, most in ((1e-4, 60), (1e-8, 300)):
        motion = simulate(system, 1.0, 0.5, "rk45", rtol=rtol, atol=rtol)
        assert np.abs(motion.poses[-1].ravel() - exact[:16]).max() < 20 * rtol
        assert motion.steps < most and motion.t[-1] == 1.0 and (motion.refused > 0 or rtol > 1e-6)


@pytest.mark.parametrize("method", [*ORDERS, "rk45"])
def test_constant_twists_are_integrated_exactly(method):
    """Whatever the method and the step, as the exponential of the group is the motion: figure 1 of [MT]."""
    X = np.array((0.3, 1.0, -0.4, 0.5, 0.2, 0.1))
    steady = MultibodySystem([Body("b", np.eye(6), twist=X)], gravity=(0.0, 0.0, 0.0),
                             wrenches=lambda t, g, V: -sd.se3.ad_dual(V, V))
    motion = simulate(steady, 2.0, 0.5, method)
    assert np.abs(motion.poses[-1, 0] - sd.se3.exp(2.0 * X)).max() < 4e-15


def test_any_butcher_tableau():
    """Ralston's method of order 3."""
    tableau = Tableau(a=np.array(((0, 0, 0), (0.5, 0, 0), (0, 0.75, 0))), b=np.array((2, 3, 4)) / 9.0,
                      c=np.array((0.0, 0.5, 0.75)))
    ends = [simulate(thrown(SEMIDIRECT), 1.0, 1.0 / steps, tableau).poses[-1] for steps in (20, 40, 80)]
    assert abs(np.log2(np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max()) - 3.0) < 0.3


def test_times_and_records():
    motion = simulate(thrown(SEMIDIRECT), 1.05, 0.1, every=4, record={"E": thrown(SEMIDIRECT).energy})
    assert np.allclose(motion.t, (0.0, 0.4, 0.8, 1.05)) and motion.steps == 11 and motion.recorded["E"].shape == (4,)


def test_arguments_that_make_no_sense():
    for options, message in ((dict(method="rk5"), "the method 'rk5' must be one of euler, heun, rk4, rk45"),
                             (dict(projection="all"), "the projection 'all' must be one of None, 'velocities'"),
                             (dict(dt=0.0), "dt 0.0 must be finite and > 0")):
        with pytest.raises(ValueError, match=message):
            simulate(thrown(SEMIDIRECT), 1.0, **({"dt": 0.1} | options))


def test_times_of_fixed_steps_are_their_multiples():
    """Not sums of them, which would be off by 1e-13 here, and 1e-11 after 1e5 steps."""
    system = MultibodySystem([Body("b", np.eye(6))], gravity=np.zeros(3))
    assert (simulate(system, 1.0, 1e-3).t == np.r_[1e-3 * np.arange(1000), 1.0]).all()
