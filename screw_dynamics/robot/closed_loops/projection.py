"""Projection onto closed configurations, and the constrained directions.

Ranks are by singular values of J. Values below RANK times the largest count as 0, in m and rad alike, and values below
RANK times LEAST in any case: J contains only rounding if a loop closes for any configuration of the tree. If
constraints are redundant by geometry, a configuration must be closed to much better than RANK, as by `closed`."""
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import scipy  # submodules load on first use

from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.constraints.projection import closing
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .constraints import Constraints

RANK, LEAST = 1e-9, 1e-3
STATIONARY = 1e-3       # relative to the square of a residual: smaller gradients count as 0
SEARCHES = 20           # for the minimum of a residual
PIECE = 64              # configurations of a thread's chunk


class Directions(NamedTuple):
    """Singular value decomposition J = U diag(s) V^T.

    U (..., m, k); 1/s (..., k), or 0 where s counts as 0; V (..., n, n). The columns of V in the mask `held` (..., n),
    the first ones, span the constrained directions; the other columns span the admissible velocities. J^+ = V diag(1/s)
    U^T."""

    U: np.ndarray
    inverse: np.ndarray
    V: np.ndarray
    held: np.ndarray

    @property
    def rank(self) -> np.ndarray:
        """The number (...) of constrained directions."""
        return self.held.sum(axis=-1)

    @property
    def constrained(self) -> np.ndarray:
        """The constrained directions (..., n, k), with 0 in the other columns."""
        return (self.V * self.held[..., None, :])[..., :self.inverse.shape[-1]]

    @property
    def admissible(self) -> np.ndarray:
        """The admissible velocities (..., n, n), with 0 in the constrained columns."""
        return self.V * ~self.held[..., None, :]


def directions(J: np.ndarray, most: np.ndarray | None = None) -> Directions:
    """Return the Directions of a Jacobian (..., m, n). Raises ValueError if it is not finite.

    most (...): upper bounds of the ranks. In slightly open loops, as within a step of integration, geometrically
    redundant constraints become independent and would constrain free directions."""
    check_finite(J)
    U, s, Vt = np.linalg.svd(J)
    n, k = J.shape[-1], s.shape[-1]
    kept = s > RANK * s.max(axis=-1, keepdims=True, initial=LEAST)
    if most is not None:
        kept = kept & (np.arange(k) < most[..., None])
    held = np.zeros((*J.shape[:-2], n), dtype=bool)
    held[..., :k] = kept
    return Directions(U[..., :k], np.divide(1.0, s, where=kept, out=np.zeros_like(s)), np.swapaxes(Vt, -1, -2), held)


def check_finite(J: np.ndarray) -> None:
    """Raise ValueError if a Jacobian is not finite."""
    if not np.isfinite(J).all():
        raise ValueError("the constraints' Jacobian is not finite: is q finite, and are the two points of every "
                         "distance apart?")


def rank(J: np.ndarray) -> np.ndarray:
    """Return the rank (...) of a Jacobian (..., m, n), to RANK."""
    return directions(J).rank


def closed(constraints: Constraints, q: np.ndarray, free: np.ndarray, tolerance: float, steps: int) -> np.ndarray:
    """Return the configurations (..., nq) near q in which the constraints hold, with residual norms below the
    tolerance. Uses constraints.projection.close in the velocities of the mask free (n,).

    Raises ValueError naming the constraints whose residual stays above the tolerance. The message reports inconsistent
    constraints if the residual has a minimum there."""
    found = np.array(q, dtype=float, order="C")
    states, mask = found.reshape(-1, 1, q.shape[-1]), free.astype(float)
    left = np.empty((len(states), 1, 1))
    lanes = found.ndim > 1
    project, pieces = closing(lanes), range(0, len(states), PIECE)

    def work(starts):
        with constraints.on_lanes.borrowed() as memory:
            for start in starts:
                project(memory, states[start:start + PIECE], mask, tolerance, steps, left[start:start + PIECE])
    on_threads(work, pieces, max(1, min(thread_count(None), len(pieces))))
    failed = ~(left[:, 0, 0] <= tolerance)
    if failed.any():
        raise ValueError(not_closed(constraints, states[failed.argmax(), 0], mask, tolerance, steps))
    return found


def not_closed(constraints: Constraints, q: np.ndarray, free: np.ndarray, tolerance: float, steps: int) -> str:
    """Return the error message for a configuration (nq,) at which a projection failed."""
    h = constraints.residual(q)
    listed = open_in(constraints, h, tolerance)
    if not np.isfinite(h).all():
        return f"q must be finite: the residual is not, in {listed}"
    least = least_residual(constraints, q, free, tolerance)
    h = constraints.residual(least)
    if is_stationary(constraints, least, free, h):
        return (f"the constraints are inconsistent near this configuration: their residual is smallest where it is "
                f"left in {open_in(constraints, h, tolerance)}; check their frames and lengths, or start elsewhere")
    return (f"the projection left a residual above {tolerance:g} in {listed} after {steps} steps; start closer to a "
            "closed configuration")


def open_in(constraints: Constraints, h: np.ndarray, tolerance: float) -> str:
    """Return the names of the open constraints for a residual (m,), with the size of their parts."""
    return ", ".join(f"{name!r} ({size:.3g})" for name, size in constraints.largest(h).items()
                     if not size <= tolerance / max(1, len(h)))


def is_stationary(constraints: Constraints, q: np.ndarray, free: np.ndarray, h: np.ndarray) -> bool:
    """Return True if the square of the residual h (m,) at q (nq,) has zero gradient G^T h in the velocities of the
    mask."""
    return bool(np.abs((constraints.gradient(q) * free).T @ h).max() < STATIONARY * (h @ h))


def least_residual(constraints: Constraints, q: np.ndarray, free: np.ndarray, tolerance: float) -> np.ndarray:
    """Return the configuration (nq,) near q with the smallest residual, or one below the tolerance, in the velocities
    of the mask free (n,).

    The projection's linear model has no curvature, which dominates where a stretched loop cannot be closed: BFGS is
    used. Displacements from q are coordinates of Lie-group joints. Their gradient is taken as G, which is valid for
    small displacements: each search starts at the end of the previous one."""
    def half_square(x):
        there = constraints.robot.integrate(q, x * free)
        h = constraints.residual(there)
        return 0.5 * h @ h, (constraints.gradient(there) * free).T @ h

    for _ in range(SEARCHES):
        h = constraints.residual(q)
        if np.linalg.norm(h) <= tolerance or is_stationary(constraints, q, free, h):
            break
        found = scipy.optimize.minimize(half_square, np.zeros(len(free)), jac=True, method="BFGS",
                                        options={"gtol": 0.5 * STATIONARY * (h @ h)})
        q = constraints.robot.integrate(q, found.x * free)
    return q


def all_but(robot: Robot, name: str, joints: Iterable[str]) -> np.ndarray:
    """Return the mask (n,) of the velocities of all joints except the given ones. name: of the argument, for
    messages."""
    return ~checks.joint_mask(name, joints, robot.v_slices, robot.n)
