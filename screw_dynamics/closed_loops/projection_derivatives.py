"""Derivatives of the projection at the end of a step, where constraints act: constraints/projection.py closes loops by
the shortest displacement, and makes velocities admissible by an impulse.

Both end where the constraints hold, J dq = 0 and J dqd = -d(J qd), and differ from what was before by what constraints
do: a displacement x = G^T mu, of the gradient G of residuals before it, and a momentum M w = J^T lambda. Of x that is
so up to its third power, as Newton's first step is far larger than the others; so the derivatives are exact, to the
third power of what steps open, along deviations that keep the constraints. Where loops hold more directions when they
are open than closed, as overconstrained ones do, to the first power."""
import numpy as np

from screw_dynamics.constraints.projection import STEPS, TOLERANCE
from screw_dynamics.simulation.linearization.tangent_maps import displacement

from .constraints import Constraints
from .differentials import changes, changes_of_gradient
from .projection import closed
from .response import response


def after_projection(constraints: Constraints, q: np.ndarray, qd: np.ndarray, dq: np.ndarray, dqd: np.ndarray,
                     threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives (N, n, k) of states after they are closed, from those of states q (N, nq), qd (N, n)
    before. Raises ValueError if that does not succeed."""
    after = closed(constraints, q, np.ones(constraints.robot.n), TOLERANCE, STEPS)
    J = constraints.jacobian(after)
    dq = after_closing(constraints, q, after, J, dq, threads)
    return dq, after_impulse(constraints, after, J, qd, dq, dqd, threads)


def after_closing(constraints: Constraints, before: np.ndarray, after: np.ndarray, J: np.ndarray, dq: np.ndarray,
                  threads: int | None = None) -> np.ndarray:
    """Return the derivatives (N, n, k) of configurations after they were closed, where J is theirs: T dq + E dx, dx =
    d(G^T mu). In what G leaves free, Q, E^-1 of these is E^-1 T dq + dG^T mu; and they are admissible there, in P, what
    J leaves free."""
    robot, one, x = constraints.robot, np.eye(constraints.robot.n), constraints.robot.difference(before, after)
    at = response(one, J, None, threads)
    begin = response(one, constraints.gradient(before), at.rank, threads)   # open loops hold no more than closed ones
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
    """Return the derivatives (N, n, k) of velocities after an impulse at q, where J is theirs, on velocities qd (N, n),
    which it changes by w with J (qd + w) = 0: M dw + dM w = d(J^T lambda). most (N,): as of `directions`."""
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
