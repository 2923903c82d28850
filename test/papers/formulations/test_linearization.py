"""The linearized equations of motion in closed form: against infinitesimals in the recursions, and Pinocchio."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.papers.formulations.closed_form import linearization
from support.infinitesimals import mixed_derivative
from support.matrices import error
from support.pinocchio_oracle import oracle_of_parts
from support.plain import plain
from support.random_trees import GROUPS, KINDS, model_of, random_tree


def gradients(f, *x):
    """The derivatives of f(x_1, x_2, ...) by each of its arguments (n,), by infinitesimals."""
    for k in range(len(x)):
        def of_one(y, k=k):
            return f(*x[:k], y, *x[k + 1:])
        yield np.stack([mixed_derivative(of_one, x[k], [step]) for step in np.eye(len(x[k]))], axis=-1)


@pytest.mark.parametrize("mimics", [0, 2])
def test_linear_equations_against_infinitesimals(mimics, rng):
    robot = sd.Robot(model_of(random_tree(rng, 7, mimics)), gravity=rng.uniform(-10, 10, 3))
    motion = rng.uniform(-2, 2, (3, 2, robot.n))
    found = linearization.linear_equations(robot, *motion)
    for k in range(2):
        by_q, by_qd, by_qdd = gradients(lambda *x: plain(robot, "inverse_dynamics_classical", *x), *motion[:, k])
        for matrix, exact in zip(found, (by_qdd, by_qd, by_q), strict=True):
            assert error(matrix[k], exact) < 1e-13


def test_state_matrices_are_those_of_pinocchio(rng):
    parts = random_tree(rng, 6)
    robot = sd.Robot(model_of(parts))
    q, qd, tau = rng.uniform(-1, 1, (3, robot.n))
    by_q, by_qd, by_tau = oracle_of_parts(parts, robot).forward_dynamics_derivatives(q, qd, tau)
    zero, one = np.zeros_like(by_q), np.eye(robot.n)
    A, B = linearization.state_matrices(robot, q, qd, tau)
    assert error(A, np.block([[zero, one], [by_q, by_qd]])) < 1e-10
    assert error(B, np.r_[zero, by_tau]) < 1e-10


def test_arguments_are_checked(rng):
    robot = sd.Robot(model_of(random_tree(rng, 3, 0, GROUPS)))
    with pytest.raises(ValueError, match="linear_equations: only joints of one degree of freedom"):
        linearization.linear_equations(robot, robot.neutral(), *np.zeros((2, robot.n)))
    robot = sd.Robot(model_of(random_tree(rng, 3, 0, KINDS)))
    with pytest.raises(ValueError, match="qdd has the shape"):
        linearization.linear_equations(robot, np.zeros(3), np.zeros(3), np.zeros(2))
