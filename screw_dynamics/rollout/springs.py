"""Springs and dampers at the joints of a rollout."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.model import Model
from screw_dynamics.utils.checks import each


class Springs(NamedTuple):
    """Springs and dampers at joints, whose efforts -stiffness (q - rest) - damping qd add to all others.

    Parameters
    ----------
    stiffness : array_like () or (n,)
        Stiffness, N m/rad or N/m, >= 0. One number is for all joints of one coordinate.
    damping : array_like () or (n,), optional
        Damping, N m s/rad or N s/m, >= 0. One number is for all joints of one coordinate.
    rest : array_like () or (n,), optional
        Positions without an effort of the springs, rad or m. One number is for all joints of one coordinate.

    Notes
    -----
    The velocities of a Lie-group joint, such as a floating base, can have dampers, but no springs.
    """

    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    rest: ArrayLike = 0.0


def checked_springs(model: Model, springs: Any) -> tuple[tuple[float, ...], ...] | None:
    """Return stiffness, damping and rest of each velocity, hashable; None for None. Raises ValueError naming the
    joint."""
    if springs is None:
        return None
    if not isinstance(springs, (tuple, list)) or not 1 <= len(springs) <= 3:
        raise ValueError(f"springs must be Springs(stiffness, damping, rest), not {springs!r}")
    found, on_groups = [], model.q_indices < 0
    for name, given in Springs(*springs)._asdict().items():
        numbers = np.array(each(f"{name} of springs", given, model.n), dtype=float)
        if np.ndim(given) == 0:
            numbers[on_groups] = 0.0
        faults = ~np.isfinite(numbers) if name == "rest" else ~(np.isfinite(numbers) & (numbers >= 0.0))
        for k in np.flatnonzero(faults):
            must = "finite" if name == "rest" else "finite and >= 0"
            raise ValueError(f"{name} of springs is {numbers[k]:g} at joint '{joint_of(model, k)}', must be {must}")
        found.append(numbers)
    for k in np.flatnonzero((found[0] != 0.0) & on_groups):
        raise ValueError(f"stiffness of springs is {found[0][k]:g} at joint '{joint_of(model, k)}', on a group, where "
                         "a spring has no coordinate: let a controller set its efforts")
    return tuple(tuple(numbers.tolist()) for numbers in found)


def joint_of(model: Model, velocity: int) -> str:
    """Return the name of the joint of a velocity."""
    return next(name for name, part in model.v_slices.items() if part.start <= velocity < part.stop)
