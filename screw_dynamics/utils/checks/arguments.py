"""Checks of arguments: each returns the valid value, or raises a ValueError with the argument's name and the value."""
from __future__ import annotations

import math
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from . import hints

T = TypeVar("T")
LONGEST = 300           # characters of an argument in an error message
MOST = 2 ** 44          # largest number of 8-byte entries in the address space of a process


# ------------------------------------------------------------------------------------------------- arrays
def real_numbers(name: str, x: Any, *shape: int) -> np.ndarray:
    """Return an array-like (..., *shape) of real, unmasked numbers as an array."""
    if type(x) is not np.ndarray:
        plain(name, x)
    try:
        a = np.asarray(x)
        if a.dtype.kind == "V":                             # bfloat16 of JAX
            a = a.astype(float)
        if a.dtype.kind not in "fiub" and a.size:
            raise TypeError
    except (TypeError, ValueError, RuntimeError):           # RuntimeError: torch
        raise ValueError(f"{name} must be made of real numbers, not {hints.array_hint(x) or described(x)}") from None
    if shape and a.shape[-len(shape):] != shape:
        lead(name, a.shape, shape)                          # raises
    return a


def lead(name: str, shape: tuple[int, ...], inner: tuple[int, ...]) -> tuple[int, ...]:
    """Return the leading axes of the shape of an array (..., *inner). Raises ValueError if the last axes differ."""
    axes = len(shape) - len(inner)
    if axes < 0 or shape[axes:] != inner:
        raise ValueError(f"{name} has shape {shape}, but must end in {', '.join(map(str, inner))}")
    return shape[:axes]


def is_masked(x: Any) -> bool:
    """Return True for a masked NumPy array, without the slow import of numpy.ma."""
    return "numpy.ma" in sys.modules and isinstance(x, np.ma.MaskedArray)


def plain(name: str, x: Any) -> None:
    """Raise ValueError for an array-like from which NumPy would silently drop masks or entry names (pandas), also in
    lists."""
    if is_masked(x):
        masked = np.ma.getmaskarray(x)
        if masked.any():
            raise ValueError(f"{name} is masked at {np.argwhere(masked)[0].tolist()}, {np.count_nonzero(masked)} of "
                             f"{masked.size} entries: fill them, array.filled(value), or leave them out")
    elif isinstance(x, (list, tuple)):
        for kind in set(map(type, x)):
            if not issubclass(kind, (Real, np.generic)) and kind is not np.ndarray:
                for entry in x:
                    if isinstance(entry, kind):
                        plain(name, entry)
    elif (names := hints.entry_names(x)) is not None:
        raise ValueError(f"{name} is a {type(x).__name__} whose entries have names, {described(names)}, which are not "
                         "supported by name here: put them in the order of the argument, and pass .to_numpy()")


def finite_numbers(name: str, x: Any, *shape: int) -> np.ndarray:
    """Return an array-like (..., *shape) of finite real numbers as an array."""
    a = real_numbers(name, x, *shape)
    if not np.isfinite(a).all():
        where = tuple(np.argwhere(~np.isfinite(a))[0].tolist())
        raise ValueError(f"{name} must be finite, but {name}{list(where) if where else ''} is {a[where]}")
    return a


def vector(name: str, x: Any, size: int) -> np.ndarray:
    """Return a new array (size,) of finite numbers."""
    a = np.array(real_numbers(name, x, size))
    if a.shape != (size,) or not np.isfinite(a).all():
        raise ValueError(f"{name} must be {size} finite numbers, not {a.tolist()}")
    return a


def each(name: str, x: Any, size: int) -> np.ndarray:
    """Return an array (size,) of real numbers, from one number for all entries or one per entry."""
    a = real_numbers(name, x)
    if a.shape not in ((), (size,)):
        raise ValueError(f"{name} {described(x)} must be one number, or one for each of {size}")
    return np.broadcast_to(a.astype(float), size)


def broadcast(arrays: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Return the arrays {name: (..., entries)} as views over common leading axes."""
    if len({a.shape[:-1] for a in arrays.values()}) == 1:
        return list(arrays.values())
    common = common_lead([a.shape[:-1] for a in arrays.values()], {name: a.shape for name, a in arrays.items()})
    return [np.broadcast_to(a, (*common, a.shape[-1])) for a in arrays.values()]


def common_lead(leads: Iterable[tuple[int, ...]], shapes: Mapping[str, tuple]) -> tuple[int, ...]:
    """Return the axes to which the leading axes of arrays broadcast; shapes: of the arrays, for the error message."""
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"the leading axes do not broadcast: {told}") from None


# ------------------------------------------------------------------------------------------------- results
def result_array(out: Any, shape: tuple[int, ...], *others: type) -> np.ndarray:
    """Return `out`, or a new float64 array if it is None.

    Raises ValueError if `out` is not a writable array of this shape, of float64 or one of the other types."""
    if out is None:
        return np.empty(shape)
    if not _takes(out, shape, float, *others):
        kinds = " or ".join(str(np.dtype(kind)) for kind in (float, *others))
        raise ValueError(f"out must be a writable {kinds} array of shape {shape}, not {described(out)}")
    return out


def result_pair(out: Any, names: str, *shapes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the two arrays of `out` after checking that they can hold results of these shapes; new ones for None."""
    if out is None:
        return np.empty(shapes[0]), np.empty(shapes[1])
    good = isinstance(out, (tuple, list)) and len(out) == 2 and all(
        _takes(x, shape, float) for x, shape in zip(out, shapes, strict=True))
    if not good:
        shape = shapes[0] if shapes[0] == shapes[1] else " and ".join(map(str, shapes))
        raise ValueError(f"out must be two writable float64 arrays ({names}) of shape {shape}")
    if np.shares_memory(out[0], out[1]):
        raise ValueError(f"out must be two arrays ({names}) that share no memory")
    return out[0], out[1]


def filled(out: Any, result: np.ndarray) -> np.ndarray:
    """Write a result to `out`, which may overlap with it, and return `out`; return the result for None."""
    if out is None:
        return result
    result_array(out, np.shape(result))[...] = result
    return out


def _takes(out, shape, *dtypes):
    """Return True if `out` can hold results of this shape and one of the dtypes. Raises ValueError if its entries
    overlap."""
    fits = (isinstance(out, np.ndarray) and not is_masked(out) and out.dtype in dtypes
            and out.shape == shape and out.flags.writeable)
    if fits and not out.flags.forc and _overlaps_itself(out):
        raise ValueError(f"out must not overlap itself: shape {out.shape}, strides {out.strides}")
    return fits


def _overlaps_itself(a):
    """Return True if two entries of an array share memory."""
    if not a.size:
        return False
    reach, nested = a.itemsize, True
    for stride, n in sorted((abs(stride), n) for stride, n in zip(a.strides, a.shape, strict=True) if n > 1):
        nested, reach = nested and stride >= reach, reach + stride * (n - 1)
    if nested:
        return False
    starts = np.zeros((), dtype=np.int64)
    for stride, n in zip(a.strides, a.shape, strict=True):
        starts = np.add.outer(starts, abs(stride) * np.arange(n))
    return bool((np.diff(np.sort(starts, axis=None)) < a.itemsize).any())


# ------------------------------------------------------------------------------------------------- numbers and options
def number(what: str, x: Any, least: float = -math.inf) -> float:
    """Return a finite number that is at least `least`."""
    found = real(x)
    if not (math.isfinite(found) and found >= least):
        raise ValueError(f"{what} {described(x)} must be finite" + (f" and >= {least:g}" if least > -math.inf else ""))
    return found


def positive(what: str, x: Any) -> float:
    """Return x as a float. Raises ValueError unless it is finite and > 0."""
    if type(x) is float and 0.0 < x < math.inf:             # fast path: isinstance of an abstract class is slow
        return x
    found = real(x)
    if not 0.0 < found < math.inf:
        raise ValueError(f"{what} {described(x)} must be finite and > 0")
    return found


def whole(what: str, x: Any, least: int) -> int:
    """Return an integer that is at least `least`."""
    if type(x) is int and x >= least:
        return x
    found = real(x)
    if not (least <= found < math.inf and found.is_integer()):
        raise ValueError(f"{what} {described(x)} must be a whole number >= {least}")
    return int(x)


def count(what: str, x: Any, least: int) -> int:
    """Return an integer number of entries that is at least `least` and fits into memory."""
    if (found := whole(what, x, least)) > MOST:
        raise ValueError(f"{what} {described(x)} must be <= {MOST}: no memory has so many numbers")
    return found


def real(x: Any) -> float:
    """Return a real number, except booleans, as a float; NaN for other values."""
    if not isinstance(x, Real) or isinstance(x, bool):
        return math.nan
    try:
        return float(x)
    except OverflowError:
        return math.inf


def flag(what: str, x: Any, hint: str = "") -> bool:
    """Return True or False. Raises ValueError, with a hint, for other values, such as text, which may be mistakes."""
    if not isinstance(x, (bool, np.bool_)):
        raise ValueError(f"{what} {described(x)} must be True or False{hint and '; '}{hint}")
    return bool(x)


def lengths(what: str, x: Any) -> tuple[int, ...]:
    """Return the shape of an array from one integer or several."""
    return tuple(count(what, n, 0) for n in (x if isinstance(x, (tuple, list)) else (x,)))


def generator(what: str, x: Any) -> np.random.Generator:
    """Return a random number generator, from a generator or a seed."""
    try:
        return np.random.default_rng(x)
    except (TypeError, ValueError):
        raise ValueError(f"{what} {described(x)} must be a numpy.random.Generator, a seed >= 0 or None") from None


def one_of(what: str, value: T, choices: Collection[T]) -> T:
    """Return a value after checking that it is among the choices."""
    try:
        known = value in list(choices)
    except ValueError:                                      # an array: two arguments in the wrong order
        known = False
    if not known:
        names = [*map(str, choices)]
        raise ValueError(f"{what} {described(value)} must be one of {', '.join(names)}{hints.name_hint(value, names)}")
    return value


# ------------------------------------------------------------------------------------------------- names
def joint_mask(name: str, x: Any, slices: Mapping[str, slice], n: int) -> np.ndarray:
    """Return a mask (..., n) of velocities, from a mask or from joint names."""
    names = [x] if isinstance(x, str) else x
    if not (isinstance(names, (list, tuple, set, frozenset)) and all(isinstance(joint, str) for joint in names)):
        mask = real_numbers(name, x, n)
        if not np.isin(mask, (0, 1)).all():
            raise ValueError(f"{name} must be a mask of 0 and 1, or names of joints, not {described(x)}")
        return mask != 0
    mask = np.zeros(n, dtype=bool)
    for joint in names:
        if joint not in slices:
            raise ValueError(f"{name}: joint {joint!r} does not exist; the robot has {', '.join(slices) or 'none'}")
        mask[slices[joint]] = True
    return mask


def wrenches(external: Any, links: Collection[str]) -> Mapping[str, Any]:
    """Return a mapping {link: wrench}. Raises ValueError for other types."""
    if type(external) is not dict and not isinstance(external, Mapping):         # the second check is slower
        raise ValueError(f"external must map links to wrenches (6,), torque first, as {{{_last(links)!r}: "
                         f"[0, 0, 0, 0, 0, -9.81]}}, not {described(external)}")
    return external


def jacobian_names(names: Any, links: Collection[str]) -> list[tuple[str, ...]]:
    """Return a list of Jacobian names, (link, representation) or (link, representation, reference)."""
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    if all(isinstance(name, (tuple, list)) and len(name) in (2, 3) for name in listed):
        return [tuple(name) for name in listed]
    link = listed[0] if isinstance(listed[0], str) and listed[0] in links else _last(links)
    raise ValueError(f"jacobians must be (link, representation) pairs, as [({link!r}, 'body')], or triples with a "
                     f"reference link, not {described(names)}")


def _last(links):
    """Return the name of a link as an example."""
    return next(reversed(list(links)), "link")


def model(x: T, kind: type[T]) -> T:
    """Return a Model after checking its type. Raises TypeError with a hint for other objects."""
    if isinstance(x, kind):
        return x
    if isinstance(x, (str, bytes, os.PathLike)):
        text = os.fsdecode(x)
        xml = text.lstrip("\ufeff \t\r\n").startswith("<")
        raise TypeError("Robot(model) takes a Model, not XML text; use Robot.from_urdf(text)" if xml else
                        f"Robot(model) takes a Model, not the path {text!r}; use Robot.from_urdf({text!r})")
    hint = {"ModelBuilder": "; call its build()", "Robot": "; pass its model"}.get(type(x).__name__, "")
    raise TypeError("Robot(model) takes a Model, as read_urdf and ModelBuilder.build return it, "
                    f"not the {type(x).__name__} {described(x)}{hint}")


def coordinates_alone(what: str, model: Any) -> None:
    """Raise ValueError if a model has Lie-group joints, which `what` does not support."""
    if model.on_groups:
        joint = next(iter(model.joint_frames))
        kind = model.joint_kinds[model.joint_names.index(joint)]
        raise ValueError(f"{what}: only joints of one degree of freedom are supported, and joint {joint!r} is {kind}")


def without_armature(what: str, model: Any) -> None:
    """Raise ValueError if a joint of a model has armature, which `what`, a function of bodies, does not support."""
    for joint, velocities in model.v_slices.items():
        if (value := model.joint_inertia[velocities].max(initial=0.0)) > 0.0:
            raise ValueError(f"{what}: joint {joint!r} has armature {value:g}, which no body has; "
                             f"with_armature({{{joint!r}: 0}}) removes it")


def known_link(name: str, links: Collection[str], joints: Collection[str] = ()) -> str:
    """Return the name of a link after checking it. joints: names of joints, which the error message mentions."""
    if isinstance(name, (list, tuple)):
        raise ValueError(f"link {described(name)} must be one name: call once for each link")
    if not isinstance(name, str) or name not in links:
        joint = f" ({name!r} is a joint)" if isinstance(name, str) and name in joints else ""
        raise ValueError(f"link {described(name)} does not exist{joint}; the model has "
                         f"{', '.join(links) or 'no named links'}")
    return name


def described(x: Any) -> str:
    """Return the description of an argument in an error message."""
    if isinstance(x, np.ndarray):
        return f"{'masked ' * is_masked(x)}{x.dtype} of shape {x.shape}"
    if isinstance(x, (tuple, list)) and any(isinstance(entry, np.ndarray) for entry in x[:LONGEST]):
        return f"a {type(x).__name__} of {', '.join(map(described, x[:3]))}{', ...' * (len(x) > 3)}"
    text = repr(x.item() if isinstance(x, np.generic) else x)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
