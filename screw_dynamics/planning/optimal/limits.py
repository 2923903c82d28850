"""Limits of the model: of positions, velocities and the torque-speed line, as terms, and of efforts."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.utils import checks

from .quantities import JointPosition, MotorLine, Velocity
from .terms import Limit, ordered


def limits_of_model(robot: Any) -> Iterator[Limit]:
    """Yield the limits of positions and velocities of a Robot's model."""
    model = robot.model
    single = np.flatnonzero(model.q_indices >= 0)
    lower, upper = model.lower[single], model.upper[single]
    names = [joint for joint, where in model.v_slices.items() if where.start in single]
    some = [k for k in range(len(single)) if lower[k] > -np.inf or upper[k] < np.inf]
    if some:
        whole = None if len(some) == robot.n else [names[k] for k in some]
        yield Limit(JointPosition(whole), lower[some], upper[some])
    fastest = model.velocity_limit
    if (fastest < np.inf).any():
        yield Limit(Velocity(), -fastest, fastest)


def limits_of_motors(given: bool | tuple[ArrayLike, ArrayLike], robot: Any, driven: np.ndarray) -> Iterator[Limit]:
    """Yield the limit of the torque-speed line, if effort limits are the model's (True) and a motor of the velocities
    `driven` has such a line."""
    if not isinstance(given, tuple) and given and MotorLine().labels(robot, driven):
        yield Limit(MotorLine(), -1.0, 1.0)


def effort_bounds(given: bool | tuple[ArrayLike, ArrayLike], model: Any, driven: np.ndarray
                  ) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds (m,) of the efforts of the velocities `driven`: the model's (True), none (False),
    or the given ones, numbers or (n,) each. Raises ValueError if they are wrong."""
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValueError(f"effort_limits must be True, False or (lower, upper), not {checks.described(given)}")
        lower, upper = (checks.each(f"effort_limits {name}", x, model.n)[driven]
                        for name, x in zip(("lower", "upper"), given, strict=True))
    else:
        upper = model.effort_limit[driven] if checks.flag("effort_limits", given) else np.full(len(driven), np.inf)
        lower = -upper
    if not (within := ordered(lower, upper)).all():
        k = int(np.argmin(within))
        raise ValueError(f"effort_limits of {velocity_names(model)[driven[k]]!r} must have lower <= upper, without "
                         f"NaN, not {lower[k]} and {upper[k]}")
    return lower, upper
