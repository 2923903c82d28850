"""Checks of arguments: each returns the value to use, or raises a ValueError that names the argument and the value."""
import math
from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def real_numbers(name: str, x: Any, size: int) -> np.ndarray:
    """An array-like (..., size) of real numbers, as an array."""
    try:
        a = np.asarray(x)
        if a.dtype.kind not in "fiub" and a.size:
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be made of real numbers, not {described(x)}") from None
    if a.ndim == 0 or a.shape[-1] != size:
        raise ValueError(f"{name} has shape {a.shape}, but must end in {size}")
    return a


def vector(name: str, x: Any, size: int) -> np.ndarray:
    """A new array (size,) of finite numbers."""
    a = np.array(real_numbers(name, x, size))
    if a.shape != (size,) or not np.isfinite(a).all():
        raise ValueError(f"{name} must be {size} finite numbers, not {a.tolist()}")
    return a


def broadcast(arrays: Mapping[str, np.ndarray], n: int) -> list[np.ndarray]:
    """The arrays {name: (..., n)} as views over common leading axes."""
    if len({a.shape for a in arrays.values()}) == 1:
        return list(arrays.values())
    try:
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(f"the leading axes do not broadcast: {shapes}") from None
    return [np.broadcast_to(a, (*lead, n)) for a in arrays.values()]


def result_array(out: Any, shape: tuple[int, ...]) -> np.ndarray:
    """`out` if results of this shape can be written to it; a new array for None."""
    if out is None:
        return np.empty(shape)
    if not isinstance(out, np.ndarray) or out.dtype != float or out.shape != shape or not out.flags.writeable:
        raise ValueError(f"out must be a writable float64 array of shape {shape}, not {described(out)}")
    return out


def positive(what: str, x: Any) -> float:
    """A finite number > 0."""
    if type(x) is float and 0.0 < x < math.inf:             # isinstance of an abstract class takes longer than a step
        return x
    if not (isinstance(x, Real) and 0.0 < float(x) < math.inf):
        raise ValueError(f"{what} {x!r} must be finite and > 0")
    return float(x)


def whole(what: str, x: Any, least: int) -> int:
    """A whole number >= the least."""
    if type(x) is int and x >= least:
        return x
    if not (isinstance(x, Real) and least <= float(x) < math.inf and float(x).is_integer()):
        raise ValueError(f"{what} {x!r} must be a whole number >= {least}")
    return int(float(x))


def one_of(what: str, value: T, choices: Collection[T]) -> T:
    """A value that is among the choices."""
    if value not in list(choices):
        raise ValueError(f"{what} {value!r} must be one of {', '.join(map(str, choices))}")
    return value


def known_link(name: str, links: Collection[str]) -> str:
    """The name of a link of the model."""
    if name not in list(links):
        raise ValueError(f"link {name!r} does not exist; the model has {', '.join(links) or 'no named links'}")
    return name


def described(x: Any) -> str:
    """The description of an argument in an error message."""
    return f"{x.dtype} of shape {x.shape}" if isinstance(x, np.ndarray) else repr(x)
