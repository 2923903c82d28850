"""GPU arrays as kernel arguments: broadcast leading axes, with any strides, become one axis of states."""
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.utils import checks

PRECISIONS = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}


class Given(NamedTuple):
    """An array with the sizes of its inner axes; the axes before them are the batch."""

    array: Any
    inner: tuple[int, ...]


def kind(device: Any, arrays: Mapping[str, Any]) -> np.dtype:
    """Return the dtype of all arrays, float64 or float32.

    Raises ValueError for an array of another dtype, on another GPU, or with unaligned entries."""
    (first, x), *others = arrays.items()
    if x.dtype not in PRECISIONS:
        raise ValueError(f"{first} must be float64 or float32, not {x.dtype}")
    for name, other in others:
        if other.dtype != x.dtype:
            raise ValueError(f"{name} is {other.dtype}, and {first} {x.dtype}: all must have the same precision")
        if device.number(other) != device.number(x):
            raise ValueError(f"{name} is on GPU {device.number(other)}, and {first} on GPU {device.number(x)}: all "
                             "must be on the same GPU")
    for name, array in ((first, x), *others):
        if any(place % x.itemsize for place in (device.address(array), *array.strides)):
            raise ValueError(f"{name} must be aligned at multiples of {x.itemsize} bytes, but has the strides "
                             f"{array.strides}: copy it")
    return x.dtype


def lead_of(given: Mapping[str, Given]) -> tuple[int, ...]:
    """Return the broadcast leading axes. Raises ValueError naming the shape that does not fit."""
    leads = [checks.lead(name, x.shape, inner) for name, (x, inner) in given.items()]
    return checks.common_lead(leads, {name: x.shape for name, (x, _) in given.items()})


def strided(device: Any, given: Given, lead: tuple[int, ...]) -> list[Any]:
    """Return an array and its strides in entries, between states and along each inner axis.

    It is copied only if its leading axes cannot be merged into one."""
    (x, inner), states = given, math.prod(lead)
    own = x.shape[:x.ndim - len(inner)]
    if own == lead and x.flags.c_contiguous:
        steps = [math.prod(inner[k:]) for k in range(len(inner) + 1)]
    else:
        if math.prod(own) == 1:
            x = device.broadcast_to(x.reshape(1, *inner), (states, *inner))
        else:
            x = device.broadcast_to(x, (*lead, *inner)).reshape(states, *inner)
        steps = [stride // x.itemsize for stride in x.strides]
    return [x, *map(np.int64, steps)]
