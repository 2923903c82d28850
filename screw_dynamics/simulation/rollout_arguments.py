"""Checks of the arguments of a rollout: whether friction and limits act, which samples are kept, which efforts act."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.checks import count, flag, real_numbers


def options(friction: bool, limits: bool | None) -> tuple[bool, bool | None]:
    """Both as truth values, or None for limits that nobody has asked for or declined; ValueError for others."""
    return flag("friction", friction), None if limits is None else flag("limits", limits)


def sampling(steps: int, every: int) -> tuple[int, int]:
    """Both as whole numbers; ValueError unless samples end with the steps."""
    steps, every = count("steps", steps, 0), count("every", every, 1)
    if steps % every:
        raise ValueError(f"steps {steps} must be a multiple of every = {every}")
    return steps, every


def efforts(effort: ArrayLike | None, lead: tuple[int, ...], steps: int, n: int) -> np.ndarray:
    """The efforts of a rollout as a view (*lead, 1 or steps, n)."""
    effort = real_numbers("effort", np.zeros(n) if effort is None else effort, n)
    over_time = effort.ndim > 1 and effort.shape[-2] == steps and effort.shape != (*lead, n)
    numbers = np.require(effort, float, ["A"])
    try:
        if over_time:
            return np.broadcast_to(numbers, (*lead, steps, n))
        return np.broadcast_to(numbers[..., None, :], (*lead, 1, n))
    except ValueError:
        *some, last = dict.fromkeys(map(str, [(n,), (*lead, n), (*lead, steps, n)]))
        fit = f"{', '.join(some)} or {last}" if some else last
        raise ValueError(f"effort has shape {effort.shape}, but must have {fit}") from None
