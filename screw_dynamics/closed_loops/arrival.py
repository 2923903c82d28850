"""What constraints make of the derivatives of a step at its end: those of constraints/projection.py, which closes loops
by the shortest displacement, and makes velocities admissible by an impulse.

Both end where the constraints hold, J dq = 0 and J dqd = -d(J qd), and differ from what was before by what constraints
do: a displacement x = G^T mu, of the gradient G of residuals before it, and a momentum M w = J^T lambda. Of x that is
so up to its third power, as Newton's first step is far larger than the others; so the derivatives are exact, to the
third power of what steps open, along deviations that keep the constraints. Where loops hold more directions when they
are open than closed, as overconstrained ones do, to the first power."""
import numpy as np

from screw_dynamics.simulation.linearization.tangent_maps import displacement

from .constraints import Constraints
from .derivatives import columns_of, multipliers, response, solved
from .differentials import changes, changes_of_gradient
from .projection import Directions, directions_at_once


def arrive(constraints: Constraints, before: tuple[np.ndarray, np.ndarray], after: tuple[np.ndarray, np.ndarray],
           dq: np.ndarray, dqd: np.ndarray, threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The derivatives (N, n, k) of states q (N, nq), qd (N, n) after they were closed, from those before."""
    at = directions_at_once(constraints.jacobian(after[0]))
    dq = after_closing(constraints, before[0], after[0], at, dq, threads)
    return dq, after_impulse(constraints, after[0], before[1], after[1], at, dq, dqd, threads)


def after_closing(constraints: Constraints, before: np.ndarray, after: np.ndarray, at: Directions, dq: np.ndarray,
                  threads: int | None = None) -> np.ndarray:
    """The derivatives (N, n, k) of configurations after they were closed, with their Directions: dq + dx, dx = d(G^T
    mu), is admissible there."""
    robot, x = constraints.robot, constraints.robot.difference(before, after)
    begin = directions_at_once(constraints.gradient(before), at.rank)        # open loops hold no more than closed ones
    pushes = changes_of_gradient(constraints, before, multipliers(begin, x[..., None]), threads)
    (B, _), (N, others) = columns_of(begin), columns_of(at)
    B = np.swapaxes(B, -1, -2)
    if robot.model.on_groups:                               # dq is T dq + E dx
        T, E, _ = displacement(robot.model, x)
        back = np.linalg.inv(E)
        B, T = B @ back, T + E @ pushes
    else:
        T = np.eye(robot.n) + pushes
    return N @ np.linalg.solve(B @ N + others, B @ T @ dq)


def after_impulse(constraints: Constraints, q: np.ndarray, before: np.ndarray, after: np.ndarray, at: Directions,
                  dq: np.ndarray, dqd: np.ndarray, threads: int | None = None) -> np.ndarray:
    """The derivatives (N, n, k) of velocities after an impulse at q, of its Directions: M dw + dM w = d(J^T lambda)."""
    robot, w, still = constraints.robot, after - before, np.zeros_like(after)
    of_momentum = robot.inverse_dynamics_derivatives(q, still, w, threads=threads)
    M, at_rest = of_momentum.by_qdd, robot.inverse_dynamics_derivatives(q, still, still, threads=threads)
    of_efforts, of_rates = changes(constraints, q, still, after, multipliers(at, M @ w[..., None]), False,
                                   threads=threads)
    by_q = of_efforts - (of_momentum.by_q - at_rest.by_q)
    return solved(M, at, response(M, at), M @ dqd + by_q @ dq, -of_rates @ dq)
