"""Validation of the arguments of a rollout: flags of friction and limits, samples, efforts and wrenches."""
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.forces import Element, LinkWrench, elements_of
from screw_dynamics.utils.checks import count, described, flag, number, positive, real_numbers, vector

STEPS = 1000            # default of a rollout


def options(friction: bool, limits: bool | None) -> tuple[bool, bool | None]:
    """Return both as bool; limits that were not set are None. Raises ValueError for other values."""
    return flag("friction", friction), None if limits is None else flag("limits", limits)


def sampling(steps: int, every: int) -> tuple[int, int]:
    """Return both as integers. Raises ValueError unless `every` divides `steps`, and for steps of a float, which may be
    meant as seconds."""
    given, steps, every = steps, count("steps", steps, 0), count("every", every, 1)
    if isinstance(given, (float, np.floating)):
        raise ValueError(f"steps {given} must be an int, as {steps}; for seconds give duration={given} in place of it")
    if steps % every:
        raise ValueError(f"steps {steps} must be a multiple of every = {every}")
    return steps, every


def steps_of(duration: float | None, dt: float, steps: int) -> int:
    """Return `steps`, or the number of steps of dt in a duration (s). Raises ValueError if the duration is no multiple
    of dt, or if steps is given too and is not the default."""
    if duration is None:
        return steps
    if steps != STEPS:
        raise ValueError(f"duration {duration!r} and steps {steps!r}: give one of them")
    found = number("duration", duration, 0.0) / positive("dt", dt)
    if abs(found - round(found)) > 1e-6 * min(1.0, found):
        raise ValueError(f"duration {duration:g} s must be a multiple of dt = {dt:g} s")
    return round(found)


def with_external(forces: Sequence[Element] | None, external: Mapping[str, ArrayLike] | None
                  ) -> Sequence[Element] | None:
    """Return force elements and constant wrenches {link: (6,)}, in the link frames."""
    if external is None:
        return forces
    if not isinstance(external, Mapping):
        raise ValueError(f"external must be {{link: wrench (6,)}}, not {described(external)}")
    return *(() if forces is None else elements_of(forces)), *(
        LinkWrench(link, vector(f"external[{link!r}]", wrench, 6)) for link, wrench in external.items())


def efforts(effort: ArrayLike | None, lead: tuple[int, ...], steps: int, n: int) -> np.ndarray:
    """Return the efforts of a rollout as a view (*lead, 1 or steps, n)."""
    effort = real_numbers("effort", np.zeros(n) if effort is None else effort, n)
    numbers = np.require(effort, float, ["A"])
    numbers = numbers if by_intervals(effort.shape, lead, steps) else numbers[..., None, :]
    return np.broadcast_to(numbers, (*lead, numbers.shape[-2], n))


def by_intervals(shape: tuple[int, ...], lead: tuple[int, ...], steps: int) -> bool:
    """Return True if efforts of this shape are (..., 1 or steps, n), False if they are (..., n), constant. Raises
    ValueError for other shapes, and for one that can mean both."""
    held = _broadcasts(shape[:-1], lead)
    timed = len(shape) > 1 and shape[-2] in (1, steps) and _broadcasts(shape[:-2], lead)
    n = shape[-1]
    if not (held or timed):
        *some, last = dict.fromkeys(map(str, [(n,), (*lead, n), (steps, n), (*lead, steps, n)]))
        fit = f"{', '.join(some)} or {last}" if some else last
        raise ValueError(f"effort has shape {shape}, but must have {fit}")
    if held and timed and shape[-2] == steps > 1:
        each, over_time = (*shape[:-1], 1, n), ((1,) * (len(lead) + 2 - len(shape))) + shape
        raise ValueError(f"effort has shape {shape}, for as many states as steps: it must have {over_time} for the "
                         f"efforts of each interval, or {each} for constant efforts of each state")
    return timed and not held


def _broadcasts(shape, to):
    return len(shape) <= len(to) and all(a in (1, b) for a, b in zip(shape[::-1], to[::-1], strict=False))
