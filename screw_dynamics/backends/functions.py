"""Functions of a robot and their derivatives with respect to their inputs, for automatic differentiation."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.model import configuration_space
from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import tilde


class Function(NamedTuple):
    """A function with derivatives; leading axes are a batch and broadcast.

    value(*inputs) returns (..., *shape); inputs have the shapes (..., size) with the given sizes.
    derivatives(*inputs) returns one array (..., *shape, size) per input. second(*inputs), or None if not available,
    returns a tuple per input, with one second derivative (..., *shape, size of the first, size of the second) per
    input."""

    name: str
    sizes: tuple[int, ...]
    shape: tuple[int, ...]
    value: Callable[..., np.ndarray]
    derivatives: Callable[..., tuple[np.ndarray, ...]]
    second: Callable[..., tuple[tuple[np.ndarray, ...], ...]] | None = None


def inverse_dynamics(robot: Robot) -> Function:
    """Return tau (n,) as a Function of q, qd, qdd."""
    def derivatives(q, qd, qdd):
        by_q, by_qd, M = robot.inverse_dynamics_derivatives(q, qd, qdd)
        return _by_numbers(robot, q, by_q), by_qd, M

    def second(q, qd, qdd):
        q_q, q_qd, qd_qd, q_qdd = robot.inverse_dynamics_second_derivatives(q, qd, qdd)
        qd_q, qdd_q, none = q_qd.swapaxes(-1, -2), q_qdd.swapaxes(-1, -2), np.zeros(q_q.shape)
        return (q_q, q_qd, q_qdd), (qd_q, qd_qd, none), (qdd_q, none, none)
    n = robot.n
    return Function("inverse_dynamics", (robot.nq, n, n), (n,), robot.inverse_dynamics, derivatives,
                    None if robot.model.on_groups else second)


def forward_dynamics(robot: Robot) -> Function:
    """Return qdd (n,) as a Function of q, qd, tau."""
    def derivatives(q, qd, tau):
        by_q, by_qd, by_tau = robot.forward_dynamics_derivatives(q, qd, tau)
        return _by_numbers(robot, q, by_q), by_qd, by_tau
    n = robot.n
    return Function("forward_dynamics", (robot.nq, n, n), (n,), robot.forward_dynamics, derivatives)


def mass_matrix(robot: Robot) -> Function:
    """Return M (n, n) as a Function of q."""
    def derivatives(q):
        """Return the derivatives of the mass matrix.

        For column j: derivatives of the efforts for q'' = e_j at rest, minus those of gravity."""
        n, still = robot.n, np.zeros(robot.n)
        by_q, _, _ = robot.inverse_dynamics_derivatives(q[..., None, :], still, np.vstack((np.eye(n), still)))
        columns = by_q[..., :n, :, :] - by_q[..., n:, :, :]                     # (..., j, i, by q)
        return (_by_numbers(robot, q[..., None, :], columns).swapaxes(-3, -2),)
    return Function("mass_matrix", (robot.nq,), (robot.n, robot.n), robot.mass_matrix, derivatives)


def forward_kinematics(robot: Robot, link: str, reference: str | None = None) -> Function:
    """Return the pose (4, 4) of a link as a Function of q; in a reference link's frame, if one is given."""
    robot.forward_kinematics(robot.neutral(), link, reference)      # raises errors here, not within a solver

    def derivatives(q):
        """Return C' = C X~ for the body-fixed twist X = J q'."""
        J = np.moveaxis(robot.jacobian(q, link, "body", reference), -1, -2)     # (..., n, 6)
        X = np.zeros((*J.shape[:-1], 4, 4))
        X[..., :3, :3], X[..., :3, 3] = tilde(J[..., :3]), J[..., 3:]
        change = robot.forward_kinematics(q, link, reference)[..., None, :, :] @ X
        return (_by_numbers(robot, q[..., None, :], np.moveaxis(change, -3, -1)),)
    return Function("forward_kinematics", (robot.nq,), (4, 4),
                    lambda q: robot.forward_kinematics(q, link, reference), derivatives)


def step(robot: Robot, dt: float, integrator: str = "semi_implicit_euler", friction: bool = False) -> Function:
    """Return Robot.step as a Function: the state (q, qd), (nq + n,), after the time dt with efforts tau."""
    n, nq = robot.n, robot.nq
    robot.step(robot.neutral(), np.zeros(n), np.zeros(n), dt, integrator, friction=friction, limits=False)    # as above

    def value(q, qd, tau):
        return np.concatenate(robot.step(q, qd, tau, dt, integrator, friction=friction, limits=False), axis=-1)

    def derivatives(q, qd, tau):
        A, B, _ = robot.linearize(q, qd, tau, dt, integrator=integrator, friction=friction)
        if robot.model.on_groups:
            after, _ = robot.step(q, qd, tau, dt, integrator, friction=friction, limits=False)
            A, B = (np.concatenate((configuration_space.rates(robot.model, after[..., None, :], x[..., :n, :].swapaxes(
                -1, -2)).swapaxes(-1, -2), x[..., n:, :]), axis=-2) for x in (A, B))
        return _by_numbers(robot, q, A[..., :n]), A[..., n:], B
    return Function("step", (nq, n, n), (nq + n,), value, derivatives)


def _by_numbers(robot, q, by_twists):
    """Convert derivatives (..., i, n) along joint twists to derivatives (..., i, nq) with respect to q (..., nq)."""
    if not robot.model.on_groups:
        return by_twists
    at, steps = np.broadcast_arrays(q[..., None, :], np.eye(robot.nq))
    twists, _ = configuration_space.velocities(robot.model, at, steps, np.zeros(steps.shape))
    return by_twists @ twists.swapaxes(-1, -2)
