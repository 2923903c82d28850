"""Forward and inverse dynamics with constraints: M qdd + C qd + g = tau + J^T lambda, J qdd + J' qd = 0."""
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from screw_dynamics.robot.evaluation import Wrenches

from .constraints import Constraints
from .projection import directions, impulse

TOLERANCE = 1e-9        # of what the actuated joints must cause, relative to the largest effort


class LoopAccelerations(NamedTuple):
    """The result of forward dynamics: accelerations (..., n), multipliers (..., m), {name: wrench (..., 6)} of each
    constraint between links on its link, at the link's origin and resolved in its frame."""

    qdd: np.ndarray
    multipliers: np.ndarray
    wrenches: Mapping[str, np.ndarray]


class LoopEfforts(NamedTuple):
    """The result of inverse dynamics: efforts (..., n), 0 at joints that are not actuated, multipliers and wrenches as
    of LoopAccelerations."""

    tau: np.ndarray
    multipliers: np.ndarray
    wrenches: Mapping[str, np.ndarray]


def forward_dynamics(constraints: Constraints, q: np.ndarray, qd: np.ndarray, tau: np.ndarray,
                     external: Wrenches | None = None, most: np.ndarray | None = None) -> LoopAccelerations:
    """The LoopAccelerations of efforts (..., n). Of redundant constraints the multipliers are the shortest; the
    accelerations do not depend on that. most: the ranks (...) of J that are not exceeded, as in `directions`.

    With J = U S V^T of rank r, its held directions V_r: V_r^T (qdd_free + M^-1 V_r f) = -S_r^-1 U_r^T J' qd and
    lambda = U_r S_r^-1 f, which is in the range of J whatever its rows; O(n^3)."""
    robot = constraints.robot
    U, inverse, *_ = at = directions(constraints.jacobian(q), most)
    free = robot.forward_dynamics(q, qd, tau, external)
    drift = inverse * _dot(U, constraints.drift(q, qd))
    change, force = impulse(robot.mass_matrix(q), at.acting, -(drift + _dot(at.acting, free))[..., None])
    multipliers = (U @ (inverse * force)[..., None])[..., 0]
    return LoopAccelerations(free + change, multipliers, constraints.wrenches(q, multipliers))


def inverse_dynamics(constraints: Constraints, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, actuated: np.ndarray,
                     weights: np.ndarray, preferred: np.ndarray, external: Wrenches | None = None) -> LoopEfforts:
    """The LoopEfforts of a motion in which only the velocities of the mask `actuated` (n,) have efforts.

    Admissible velocities N leave N^T (f - tau) = 0 of the efforts f of the tree; of all tau with that, the sum of
    weights (tau - preferred)^2 is least. ValueError where the actuated joints cannot cause the motion."""
    robot = constraints.robot
    f = robot.inverse_dynamics(q, qd, qdd, external)
    U, inverse, *_ = at = directions(constraints.jacobian(q))
    N = at.admissible
    scale = actuated / np.sqrt(weights)
    missing = _dot(N, f - preferred * actuated)
    B = np.swapaxes(N, -1, -2) * scale[..., None, :]
    tau = preferred * actuated + scale * (np.linalg.pinv(B, rcond=1e-9) @ missing[..., None])[..., 0]
    left = np.abs(_dot(N, f - tau)).max(initial=0.0)
    if not left <= TOLERANCE * max(1.0, np.abs(f).max(initial=0.0)):
        names = [name for name, where in robot.v_slices.items() if actuated[where].any()]
        raise ValueError(f"the actuated joints {', '.join(names) or 'none'} cannot cause this motion: efforts of "
                         f"{left:.3g} are missing along admissible velocities; actuate more joints, or leave the "
                         "singular configuration")
    k = inverse.shape[-1]
    multipliers = (U @ (inverse * _dot(at.V[..., :k], f - tau))[..., None])[..., 0]
    return LoopEfforts(tau, multipliers, constraints.wrenches(q, multipliers))


def _dot(A, x):
    """A^T x."""
    return (np.swapaxes(A, -1, -2) @ x[..., None])[..., 0]
