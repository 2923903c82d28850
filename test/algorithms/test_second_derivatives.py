"""Second derivatives of inverse dynamics: against infinitesimals in its recursion, and laws."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.algorithms.derivatives.second_derivatives import INVERSE_DYNAMICS_SECOND_DERIVATIVES
from support.infinitesimals import mixed_derivative
from support.matrices import error
from support.plain import plain
from support.random_trees import GROUPS, KINDS, model_of, random_tree
from support.real_robots import real_robot

pytestmark = pytest.mark.slow


def exact(robot, *motion):
    """The four blocks, by two infinitesimals, of all pairs at once."""
    n, x = robot.n, np.concatenate(motion)
    i, j = np.indices((2 * n, 3 * n)).reshape(2, -1)
    steps = np.eye(3 * n)

    def efforts(x):
        return plain(robot, "inverse_dynamics_classical", x[:n], x[n:2 * n], x[2 * n:])
    found = mixed_derivative(efforts, x, [steps[:, i], steps[:, j]]).reshape(n, 2 * n, 3 * n)
    return found[:, :n, :n], found[:, :n, n:2 * n], found[:, n:, n:2 * n], found[:, :n, 2 * n:]


@pytest.mark.parametrize("mimics", [0, 2])
def test_recursion_against_infinitesimals(mimics, rng):
    robot = sd.Robot(model_of(random_tree(rng, 6, mimics)), gravity=rng.uniform(-10, 10, 3))
    motion = rng.standard_normal((3, robot.n))
    found = INVERSE_DYNAMICS_SECOND_DERIVATIVES.plain(robot.model.links(robot.gravity), *motion.tolist()).astype(float)
    for block, expected in zip(found, exact(robot, *motion), strict=True):
        assert error(block, expected) < 1e-13


def along(robot, f, q, h=1e-2):
    """The derivatives of f (...) at q along the joint twists (..., n): differences of order 8."""
    weights = {1: 4.0 / 5.0, 2: -1.0 / 5.0, 3: 4.0 / 105.0, 4: -1.0 / 280.0}

    def at(share):
        return np.stack([f(robot.integrate(q, share * h * step)) for step in np.eye(robot.n)], axis=-1)
    return sum(c * (at(k) - at(-k)) for k, c in weights.items()) / h


# The rest takes kernels that compile for half a minute.
@pytest.mark.parametrize("name", ["coordinates", "groups", "ANYmal"])
def test_they_are_the_derivatives_of_the_first(name, rng):
    """Along joint twists, and by rates, of which the first derivatives are a polynomial."""
    if name == "ANYmal":
        robot = real_robot("anymal_b_simple_description/robots/anymal.urdf", floating_base=True)
    else:
        kinds = (*GROUPS, *KINDS) if name == "groups" else KINDS
        robot = sd.Robot(model_of(random_tree(rng, 7, 0, kinds)), gravity=rng.uniform(-10, 10, 3))
    q, (qd, qdd) = robot.random_configuration(seed=rng), rng.standard_normal((2, robot.n))
    found = robot.inverse_dynamics_second_derivatives(q, qd, qdd)
    first = robot.inverse_dynamics_derivatives
    by_q_q, by_qd_q, M_by_q = along(robot, lambda q: np.stack(first(q, qd, qdd)), q)
    assert error(found.by_q_q, by_q_q) < 1e-10
    assert error(np.swapaxes(found.by_q_qd, -1, -2), by_qd_q) < 1e-10
    assert error(np.swapaxes(found.by_q_qdd, -1, -2), M_by_q) < 1e-10
    steps = np.eye(robot.n)
    by_rates = [first(q, qd + step, qdd).by_qd - first(q, qd - step, qdd).by_qd for step in steps]
    assert error(found.by_qd_qd, np.stack(by_rates, axis=-1) / 2.0) < 1e-12


@pytest.mark.parametrize("name", ["ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf"])
def test_real_robots(name, rng):
    robot = real_robot(name)
    motion = rng.standard_normal((3, robot.n))
    found = robot.inverse_dynamics_second_derivatives(*motion)
    for block, expected in zip(found, exact(robot, *motion), strict=True):
        assert error(block, expected) < 1e-12
    for block in (found.by_q_q, found.by_qd_qd):
        assert error(block, np.swapaxes(block, -1, -2)) < 1e-15
    assert error(found.by_q_qdd, np.swapaxes(found.by_q_qdd, -1, -3)) < 1e-13       # as M is symmetric


@pytest.mark.parametrize("kinds", [KINDS, (*GROUPS, *KINDS)], ids=["coordinates", "groups"])
def test_batches_are_the_same(kinds, rng):
    robot = sd.Robot(model_of(random_tree(rng, 6, 0, kinds)))
    n, q, (qd, qdd) = robot.n, robot.random_configuration((3, 5), rng), rng.standard_normal((2, 3, 5, robot.n))
    out = np.empty((3, 5, 4, n, n, n))
    batch = robot.inverse_dynamics_second_derivatives(q, qd, qdd, out=out)
    assert all(np.shares_memory(block, out) for block in batch)
    for k in np.ndindex(3, 5):
        for many, one in zip(batch, robot.inverse_dynamics_second_derivatives(q[k], qd[k], qdd[k]), strict=True):
            assert error(many[k], one) < 1e-12
