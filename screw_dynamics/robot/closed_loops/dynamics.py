"""Forward and inverse dynamics with constraints: M qdd + C qd + g = tau + J^T lambda, J qdd + J' qd = 0."""
from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot.evaluation import Wrenches
from screw_dynamics.utils import checks

from .constraints import Constraints
from .projection import check_finite, directions

new = tuple.__new__         # a NamedTuple's own constructor takes twice as long

TOLERANCE = 1e-9        # relative to the largest effort: residual of inverse dynamics


class LoopAccelerations(NamedTuple):
    """Accelerations and constraint forces of forward dynamics.

    Parameters
    ----------
    qdd : ndarray (..., n)
        Accelerations.
    multipliers : ndarray (..., m)
        Multipliers of the constraints.
    wrenches : dict of str to ndarray (..., 6)
        Wrench of each constraint between links on its link, at the link's origin and resolved in its frame.
    """

    qdd: np.ndarray
    multipliers: np.ndarray
    wrenches: Mapping[str, np.ndarray]


class LoopEfforts(NamedTuple):
    """Efforts and constraint forces of inverse dynamics.

    Parameters
    ----------
    tau : ndarray (..., n)
        Efforts, 0 at joints that are not actuated.
    multipliers : ndarray (..., m)
        Multipliers of the constraints.
    wrenches : dict of str to ndarray (..., 6)
        Wrenches of the constraints, as in LoopAccelerations.
    """

    tau: np.ndarray
    multipliers: np.ndarray
    wrenches: Mapping[str, np.ndarray]


def forward_dynamics(constraints: Constraints, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                     external: Wrenches | None = None) -> LoopAccelerations:
    """Return the LoopAccelerations for efforts (..., n). Raises ValueError if results are not finite although the
    efforts are."""
    bound, found = constraints.accelerations, None
    if not external:
        found = bound(q, qd, tau, None, None)
    if found is not None and found.ndim == 1 and isfinite(found[-1]):
        return new(LoopAccelerations, (found[constraints.of_qdd], found[constraints.of_multipliers],
                                       {name: found[where] for name, where in constraints.wrenches.items()}))
    if external:
        tau = np.add(*checks.broadcast({"tau": checks.real_numbers("tau", tau, constraints.robot.n),
                                        "external": constraints.robot.external_torque(q, external)}))
    found = constraints.evaluate(bound, q=q, qd=qd, tau=tau)
    _check(constraints, q, found[..., :-1])
    return LoopAccelerations(found[..., constraints.of_qdd], found[..., constraints.of_multipliers],
                             {name: found[..., where] for name, where in constraints.wrenches.items()})


def admissible_velocities(constraints: Constraints, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """Return the velocities (..., n) with J qd = 0 nearest to qd in the metric of the mass matrix: the velocities after
    an impulse of the constraints."""
    found = constraints.evaluate(constraints.velocities, q=q, qd=qd)
    _check(constraints, q, found)
    return found


def _check(constraints, q, found):
    """Raise ValueError with the reason for non-finite results if q or the tree causes them."""
    if np.isfinite(found).all():
        return
    check_finite(constraints.jacobian(q))
    rest = np.zeros(constraints.robot.n)
    if not np.isfinite(constraints.robot.forward_dynamics(q, rest, rest)).all():
        raise ValueError("the mass matrix of the tree is singular: a joint moves no inertia; give its link some, or "
                         "cut the loop at another joint")


def inverse_dynamics(constraints: Constraints, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray,
                     actuated: np.ndarray, weights: np.ndarray, preferred: np.ndarray,
                     external: Wrenches | None = None) -> LoopEfforts:
    """Return the LoopEfforts of a motion in which only the velocities of the mask `actuated` (n,) have efforts.

    Efforts tau satisfy N^T (f - tau) = 0 for admissible velocities N and the efforts f of the tree. Of these tau the
    one with the least sum of weights (tau - preferred)^2 is taken. Raises ValueError if the actuated joints cannot
    produce the motion."""
    robot = constraints.robot
    f = robot.inverse_dynamics(q, qd, qdd, external)
    N = directions(constraints.jacobian(q)).admissible
    scale = actuated / np.sqrt(weights)
    missing = _dot(N, f - preferred * actuated)
    B = np.swapaxes(N, -1, -2) * scale[..., None, :]
    tau = preferred * actuated + scale * (np.linalg.pinv(B, rcond=1e-9) @ missing[..., None])[..., 0]
    left = np.abs(_dot(N, f - tau)).max(initial=0.0)
    if not left <= TOLERANCE * max(1.0, np.abs(f).max(initial=0.0)):
        names = [name for name, where in robot.v_slices.items() if actuated[where].any()]
        raise ValueError(f"the actuated joints {', '.join(names) or 'none'} cannot produce this motion: efforts of "
                         f"{left:.3g} along admissible velocities remain; actuate more joints, or leave the singular "
                         "configuration")
    return LoopEfforts(tau, *forward_dynamics(constraints, q, qd, tau, external)[1:])


def _dot(A, x):
    """Return A^T x."""
    return (np.swapaxes(A, -1, -2) @ x[..., None])[..., 0]
