"""Derivatives of the projection at the end of a step with constraints. constraints/projection.py closes loops by the
minimum-norm displacement, and makes velocities admissible by an impulse.

The results satisfy the constraints, J dq = 0 and J dqd = -d(J qd). They differ from the states before by a displacement
x = G^T mu, with the gradient G of the residuals before it, and a momentum M w = J^T lambda. The form of x holds up to
its third power, as the first Gauss-Newton step is far larger than the following ones. Derivatives along admissible
deviations are thus exact to the third power of the residuals that steps cause; to the first power for overconstrained
loops, which have more constrained directions when open than when closed."""
import numpy as np

from screw_dynamics.constraints.projection import STEPS, TOLERANCE
from screw_dynamics.rollout.linearization.tangent_maps import displacement

from .constraints import Constraints
from .differentials import changes, changes_of_gradient
from .projection import closed
from .response import response


def after_projection(constraints: Constraints, q: np.ndarray, qd: np.ndarray, dq: np.ndarray, dqd: np.ndarray,
                     threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives (N, n, k) of states after closing, given those of the states q (N, nq), qd (N, n) before.
    Raises ValueError if closing fails."""
    after = closed(constraints, q, np.ones(constraints.robot.n), TOLERANCE, STEPS)
    J = constraints.jacobian(after)
    dq = after_closing(constraints, q, after, J, dq, threads)
    return dq, after_impulse(constraints, after, J, qd, dq, dqd, threads)


def after_closing(constraints: Constraints, before: np.ndarray, after: np.ndarray, J: np.ndarray, dq: np.ndarray,
                  threads: int | None = None) -> np.ndarray:
    """Return the derivatives (N, n, k) of closed configurations, T dq + E dx, dx = d(G^T mu), with their Jacobian J. In
    the directions Q that G leaves free, E^-1 times them is E^-1 T dq + dG^T mu; they are admissible, in the directions
    P that J leaves free."""
    robot, one, x = constraints.robot, np.eye(constraints.robot.n), constraints.robot.difference(before, after)
    at = response(one, J, None, threads)
    begin = response(one, constraints.gradient(before), at.rank, threads)   # rank: of closed loops, also for open ones
    pushed = one + changes_of_gradient(constraints, before, begin.multipliers(x), threads)
    P, Q = at.K, begin.K
    if robot.model.on_groups:
        T, _, F = displacement(robot.model, x)
        free, pushed = Q @ F, pushed + F @ T - one
    else:
        free = Q
    return np.linalg.solve(free @ P + (one - Q) @ (one - P), Q @ pushed) @ dq


def after_impulse(constraints: Constraints, q: np.ndarray, J: np.ndarray, qd: np.ndarray, dq: np.ndarray,
                  dqd: np.ndarray, threads: int | None = None, most: np.ndarray | None = None) -> np.ndarray:
    """Return the derivatives (N, n, k) of velocities after an impulse at q, with the Jacobian J there. It changes the
    velocities qd (N, n) by w with J (qd + w) = 0: M dw + dM w = d(J^T lambda). most (N,): see `directions`."""
    robot, still = constraints.robot, np.zeros_like(qd)
    at_rest = robot.inverse_dynamics_derivatives(q, still, still, threads=threads)
    M = at_rest.by_qdd
    at = response(M, J, most, threads)
    w = -(at.H @ (J @ qd[..., None]))[..., 0]
    of_momentum = robot.inverse_dynamics_derivatives(q, still, w, threads=threads)
    of_efforts, of_rates = changes(constraints, q, still, qd + w, at.multipliers((M @ w[..., None])[..., 0]), False,
                                   threads=threads)
    by_q = at.solved(of_efforts - (of_momentum.by_q - at_rest.by_q), -of_rates)
    return dqd - at.H @ (J @ dqd) + by_q @ dq                           # K M = 1 - H J
