"""Derivatives of any order of inverse and forward dynamics: by nested infinitesimals, and motions that are known."""
import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

import screw_dynamics as sd
from screw_dynamics.papers.formulations import any_order
from studies import any_order as study
from support.group_motions import numbers_in_time
from support.infinitesimals import time_derivative
from support.matrices import error, skew
from support.plain import plain
from support.random_trees import GROUPS, KINDS, model_of, random_body, random_tree

ORDER = 4
ROBOTS = {"fixed": (KINDS, 0), "groups": ((*GROUPS, *KINDS), 0), "mimics": (KINDS, 2)}


@pytest.fixture(scope="module", params=ROBOTS)
def robot(request):
    kinds, mimics = ROBOTS[request.param]
    return sd.Robot(model_of(random_tree(np.random.default_rng(1), 6, mimics, kinds)))


@pytest.fixture
def motion(robot, rng):
    """q and the derivatives of a motion."""
    return robot.random_configuration(seed=rng), *rng.standard_normal((ORDER + 2, robot.n))


def by_nesting(robot, name, order, q, *rates):
    """The time derivative of an algorithm of q, q', q'' by infinitesimals."""
    n, numbers = robot.n, numbers_in_time(robot, q, *rates)
    both = [np.r_[numbers[k], rates[k], rates[k + 1]] for k in range(order + 1)]
    return time_derivative(lambda x: plain(robot, name, x[:-2 * n], x[-2 * n:-n], x[-n:]), *both)


def test_efforts_in_time(robot, motion):
    tau = any_order.inverse_dynamics(robot, *motion)
    assert tau.shape == (ORDER + 1, robot.n)
    for order in (0, 1, 3, 4):
        assert error(tau[order], by_nesting(robot, "inverse_dynamics", order, *motion)) < 1e-13


def test_forward_dynamics_leads_back_to_the_motion(robot, motion):
    tau = any_order.inverse_dynamics(robot, *motion)
    found = any_order.forward_dynamics(robot, motion[0], motion[1], *tau)
    for k, expected in enumerate(motion[2:]):           # each order loses what the mass matrix's condition loses
        assert error(found[k], expected) < 1e-12 * 20 ** (k + 1)


def test_derivatives_by_the_state_in_time(robot, motion):
    found = any_order.inverse_dynamics_derivatives(robot, *motion[:5])
    assert error(found[0][2], plain(robot, "mass_matrix", motion[0]).astype(float)) < 1e-13
    expected = by_nesting(robot, "inverse_dynamics_derivatives", 2, *motion[:5])
    assert error(found[2], expected.astype(float)) < 1e-13


def test_partial_derivatives_of_rates_of_efforts(motion, robot):
    if robot.model.on_groups:
        with pytest.raises(ValueError, match="inverse_dynamics_partials"):
            any_order.inverse_dynamics_partials(robot, *motion[:4])
        return
    order, n = 2, robot.n
    found = any_order.inverse_dynamics_partials(robot, *motion[:order + 3])
    assert found.shape == (order + 3, n, n)
    for j in range(order + 3):
        steps = 1e-2 * np.arange(-4, 5)                 # differences of order 8, in one batch
        moved = [np.tile(x, (9, 1)) for x in motion[:order + 3]]
        moved[j][:, n - 1] += steps
        weights = np.array((1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280)) / 1e-2
        slope = weights @ any_order.inverse_dynamics(robot, *moved)[:, order]
        assert np.abs(found[j, :, n - 1] - slope).max() < 1e-9 * np.abs(found).max()


def test_along_a_direction_of_states(robot, motion, rng):
    direction = rng.standard_normal((3, robot.n))
    state = motion[:3]
    found = any_order.inverse_dynamics_along(robot, state, direction, 3)
    rates = [direction[0], *np.zeros((2, robot.n))]                       # of q: a constant velocity
    numbers = numbers_in_time(robot, state[0], *rates)
    n, nothing = robot.n, np.zeros(2 * robot.n)
    both = [np.r_[numbers[0], state[1], state[2]], np.r_[numbers[1], direction[1], direction[2]],
            np.r_[numbers[2], nothing], np.r_[numbers[3], nothing]]
    expected = time_derivative(
        lambda x: plain(robot, "inverse_dynamics", x[:-2 * n], x[-2 * n:-n], x[-n:]), *both)
    assert error(found[3], expected) < 1e-13
    tau = found[0]
    back = any_order.forward_dynamics_along(robot, (*state[:2], tau), (*direction[:2], found[1]), 1)
    assert error(back[0], state[2]) < 1e-11
    assert error(back[1], direction[2]) < 1e-10


def test_batches_broadcast(robot, motion):
    q, qd, qdd, *rates = motion
    two = any_order.inverse_dynamics(robot, q, np.array((qd, 2.0 * qd)), qdd, *rates[:2])
    assert two.shape == (2, 3, robot.n)
    assert error(two[1], any_order.inverse_dynamics(robot, q, 2.0 * qd, qdd, *rates[:2])) < 1e-14


def test_a_pendulum_is_an_elliptic_function():
    """theta'' = -w^2 sin theta from rest at theta_0: sin(theta / 2) = k cd(w t), with k = sin(theta_0 / 2)."""
    builder, start, order = sd.ModelBuilder("root"), 1.2, 10
    builder.add_joint("swing", "bob", "root", (0, 1, 0, 0, 0, 0),
                      inertia=sd.inertia_matrix(2.0, (0, 0, -0.5), np.zeros((3, 3))))
    robot = sd.Robot(builder.build())
    found = any_order.forward_dynamics(robot, [start], [0.0], *np.zeros((order + 1, 1)))[:, 0]
    with mpmath.workdps(50):
        k = mpmath.sin(mpmath.mpf(start) / 2)

        def theta(t):
            return 2 * mpmath.asin(k * mpmath.ellipfun("cd", t * mpmath.sqrt(mpmath.mpf("19.62")), m=k * k))
        expected = [float(mpmath.diff(theta, 0, j + 2)) for j in range(order + 1)]
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()


def test_a_floating_body_turns_and_moves_as_its_exponential(rng):
    """With a constant twist V, by exp(t V): what holds V is constant in the body, and its weight turns back."""
    builder = sd.ModelBuilder("world")
    builder.add_group_joint("free", "base", "body", "world", inertia=sd.inertia_matrix(*random_body(rng)))
    robot = sd.Robot(builder.build(), gravity=(0.0, 0.0, 0.0))
    q, V = robot.random_configuration(seed=rng), rng.standard_normal(6)
    tau = any_order.inverse_dynamics(robot, q, V, *np.zeros((6, 6)))
    assert error(tau[0], plain(robot, "inverse_dynamics", q, V, 0 * V).astype(float)) < 1e-14
    assert np.abs(tau[1:]).max() < 1e-13 * np.abs(tau[0]).max()
    heavy = sd.Robot(robot.model, gravity=(0.0, 0.0, -9.81))
    weight = any_order.inverse_dynamics(heavy, q, V, *np.zeros((12, 6))) - any_order.inverse_dynamics(
        robot, q, V, *np.zeros((12, 6)))
    t = 0.3
    series = sum(weight[k, 3:] * t ** k / mpmath.factorial(k) for k in range(12)).astype(float)
    assert error(series, expm(-t * skew(V[:3])) @ weight[0, 3:]) < 1e-8


def test_arguments():
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(1), 2)))
    x = np.zeros(2)
    with pytest.raises(ValueError, match=r"q\^\(3\) has shape \(3,\), but must end in 2"):
        any_order.inverse_dynamics(robot, x, x, x, np.zeros(3))
    with pytest.raises(ValueError, match=r"tau\^\(1\) has shape"):
        any_order.forward_dynamics(robot, x, x, x, np.zeros(3))
    with pytest.raises(ValueError, match="direction their changes: 3 arrays each, not 2 and 3"):
        any_order.inverse_dynamics_along(robot, (x, x), (x, x, x), 1)
    with pytest.raises(ValueError, match="order"):
        any_order.inverse_dynamics_along(robot, (x, x, x), (x, x, x), -1)


def test_the_study_counts_the_same_derivatives():
    """Multiplications grow with the square of the order by series, threefold an order by nesting."""
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(1), 3)))
    counts, _ = study.by_series(robot, 8)
    grown = np.diff(counts, 2)[1:]
    assert np.ptp(grown) == 0 and grown[0] > 0
    nests = [study.by_nesting(robot, order) for order in range(4)]
    for order, (_, tau) in enumerate(nests):
        assert error(study.by_series(robot, order)[1][-1], tau) < 1e-13
    assert 2.5 < nests[3][0] / nests[2][0] < 3.1
