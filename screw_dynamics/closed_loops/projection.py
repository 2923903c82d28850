"""Projection to closed configurations, and the directions in which constraints act.

Ranks are by singular values of J: those below RANK times the largest count as 0, in m and rad alike, and those below
RANK times LEAST in any case: rounding is all that J holds where a loop closes whatever the tree does. Where constraints
are redundant for reasons of geometry, a configuration must be closed far better than that, as `closed` leaves it."""
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from screw_dynamics import checks
from screw_dynamics.robot import Robot

from .constraints import Constraints

RANK, LEAST = 1e-9, 1e-3
LONGEST = 0.5           # of a step of the projection, in rad and m alike: loops are linear no further than that


class Directions(NamedTuple):
    """J = U diag(s) V^T: U (..., m, k), 1/s (..., k) or 0 where s counts as 0, V (..., n, n), whose columns with
    `held` (..., n) span what the constraints hold; the others span the admissible velocities."""

    U: np.ndarray
    inverse: np.ndarray
    V: np.ndarray
    held: np.ndarray

    @property
    def acting(self) -> np.ndarray:
        """(..., n, k): the held directions, and 0 in the other columns."""
        return (self.V * self.held[..., None, :])[..., :self.inverse.shape[-1]]

    @property
    def admissible(self) -> np.ndarray:
        """(..., n, n): admissible velocities, and 0 in the columns of held ones."""
        return self.V * ~self.held[..., None, :]


def directions(J: np.ndarray, most: np.ndarray | None = None) -> Directions:
    """The Directions of a Jacobian (..., m, n). ValueError if it is not finite.

    most (...): ranks that are not exceeded. Where loops are slightly open, as within a step of integration, constraints
    that are redundant for reasons of geometry are no longer so, and would hold what they should leave free."""
    if not np.isfinite(J).all():
        raise ValueError("the constraints' Jacobian is not finite: is q finite, and are the two points of every "
                         "distance apart?")
    U, s, Vt = np.linalg.svd(J)
    n, k = J.shape[-1], s.shape[-1]
    kept = s > RANK * s.max(axis=-1, keepdims=True, initial=LEAST)
    if most is not None:
        kept = kept & (np.arange(k) < most[..., None])
    held = np.zeros((*J.shape[:-2], n), dtype=bool)
    held[..., :k] = kept
    return Directions(U[..., :k], np.divide(1.0, s, where=kept, out=np.zeros_like(s)), np.swapaxes(Vt, -1, -2), held)


def rank(J: np.ndarray) -> np.ndarray:
    """The rank (...) of a Jacobian (..., m, n), to RANK."""
    return directions(J).held.sum(axis=-1)


def closed(constraints: Constraints, q: np.ndarray, free: np.ndarray, tolerance: float, steps: int) -> np.ndarray:
    """The configuration (..., nq) in which all constraints hold, by Gauss-Newton steps of least length from q, damped
    by the square of the residual (Levenberg, Marquardt), in the velocities of the mask free (n,).

    ValueError names the constraints whose residual stays above the tolerance, and says if they contradict each other:
    if the residual has a minimum there."""
    robot = constraints.robot
    for taken in range(steps + 1):
        h = constraints.residual(q)
        size = np.linalg.norm(h, axis=-1, keepdims=True)
        if (size <= tolerance).all():
            return q
        if taken == steps or not np.isfinite(h).all():
            break
        U, inverse, V, _ = directions(constraints.gradient(q) * free)
        k = inverse.shape[-1]
        along = (np.swapaxes(U, -1, -2) @ h[..., None])[..., 0]
        step = -(V[..., :k] @ (along * inverse / (1.0 + np.square(size * inverse)))[..., None])[..., 0]
        length = np.linalg.norm(step, axis=-1, keepdims=True)
        q = robot.integrate(q, step * np.minimum(1.0, LONGEST / np.maximum(length, LONGEST)))
    raise ValueError(_not_closed(constraints, q, h, free, tolerance, steps))


def _not_closed(constraints, q, h, free, tolerance, steps):
    listed = ", ".join(f"{name!r} ({size:.3g})" for name, size in constraints.largest(h).items()
                       if not size <= tolerance / h.shape[-1])
    if not np.isfinite(h).all():
        return f"q must be finite: the residual is not, in {listed}"
    G = constraints.gradient(q) * free
    slope = np.abs(np.swapaxes(G, -1, -2) @ h[..., None]).max()
    if slope < 1e-3 * np.linalg.norm(h, axis=-1).max() ** 2:
        return (f"the constraints are inconsistent near this configuration: their residual is smallest where it is "
                f"left in {listed}; check their frames and lengths, or start elsewhere")
    return (f"the projection left a residual above {tolerance:g} in {listed} after {steps} steps; start closer to a "
            "closed configuration")


def admissible_velocities(constraints: Constraints, q: np.ndarray, qd: np.ndarray,
                          most: np.ndarray | None = None) -> np.ndarray:
    """The velocities (..., n) with J qd = 0 that are nearest to qd in the metric of the mass matrix: what is left
    after an impulse of the constraints. most: as in `directions`."""
    acting = directions(constraints.jacobian(q), most).acting
    return qd + impulse(constraints.robot.mass_matrix(q), acting, -(np.swapaxes(acting, -1, -2) @ qd[..., None]))[0]


def impulse(M: np.ndarray, acting: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The change (..., n) of velocities, or accelerations, along which the acting directions change by `rates`
    (..., k, 1), and the impulses or forces (..., k) along them. ValueError if M is singular."""
    try:
        compliance = np.linalg.solve(M, acting)                                     # M^-1 V
    except np.linalg.LinAlgError:
        raise ValueError("the mass matrix of the tree is singular: a joint moves no inertia; give its link some, or "
                         "cut the loop at another joint") from None
    K = np.swapaxes(acting, -1, -2) @ compliance
    idle = ~acting.any(axis=-2)
    force = np.linalg.solve(K + np.eye(K.shape[-1]) * idle[..., None, :], rates)
    return (compliance @ force)[..., 0], force[..., 0]


def all_but(robot: Robot, name: str, joints: Iterable[str]) -> np.ndarray:
    """The mask (n,) of the velocities of all joints but those of the argument of this name."""
    return ~checks.joint_mask(name, joints, robot.v_slices, robot.n)
