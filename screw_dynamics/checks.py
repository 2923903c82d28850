"""Checks of arguments: each returns the value to use, or raises a ValueError that names the argument and the value."""
import math
import os
from collections.abc import Collection, Iterable, Mapping
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from screw_dynamics import peers

T = TypeVar("T")
LONGEST = 300           # characters of an argument in an error message


def real_numbers(name: str, x: Any, *shape: int) -> np.ndarray:
    """An array-like (..., *shape) of real numbers, as an array."""
    try:
        a = np.asarray(x)
        if a.dtype.kind == "V":                             # bfloat16, as JAX has it
            a = a.astype(float)
        if a.dtype.kind not in "fiub" and a.size:
            raise TypeError
    except (TypeError, ValueError, RuntimeError):           # RuntimeError: torch
        raise ValueError(f"{name} must be made of real numbers, not {peers.array_hint(x) or described(x)}") from None
    if shape and a.shape[-len(shape):] != shape:
        raise ValueError(f"{name} has shape {a.shape}, but must end in {', '.join(map(str, shape))}")
    return a


def finite_numbers(name: str, x: Any, *shape: int) -> np.ndarray:
    """An array-like (..., *shape) of finite real numbers, as an array."""
    a = real_numbers(name, x, *shape)
    if not np.isfinite(a).all():
        where = tuple(np.argwhere(~np.isfinite(a))[0].tolist())
        raise ValueError(f"{name} must be finite, but {name}{list(where) if where else ''} is {a[where]}")
    return a


def vector(name: str, x: Any, size: int) -> np.ndarray:
    """A new array (size,) of finite numbers."""
    a = np.array(real_numbers(name, x, size))
    if a.shape != (size,) or not np.isfinite(a).all():
        raise ValueError(f"{name} must be {size} finite numbers, not {a.tolist()}")
    return a


def each(name: str, x: Any, size: int) -> np.ndarray:
    """An array (size,) of real numbers, from one number for all or one for each."""
    a = real_numbers(name, x)
    if a.shape not in ((), (size,)):
        raise ValueError(f"{name} {described(x)} must be one number, or one for each of {size}")
    return np.broadcast_to(a.astype(float), size)


def broadcast(arrays: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The arrays {name: (..., entries)} as views over common leading axes."""
    if len({a.shape[:-1] for a in arrays.values()}) == 1:
        return list(arrays.values())
    try:
        lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(f"the leading axes do not broadcast: {shapes}") from None
    return [np.broadcast_to(a, (*lead, a.shape[-1])) for a in arrays.values()]


def result_array(out: Any, shape: tuple[int, ...], dtype: type = float) -> np.ndarray:
    """`out` if results of this shape and kind can be written to it; a new array for None."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != shape or not out.flags.writeable:
        raise ValueError(f"out must be a writable {np.dtype(dtype)} array of shape {shape}, not {described(out)}")
    return out


def result_pair(out: Any, names: str, *shapes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The two arrays of `out` if results of these shapes can be written to them; new ones for None."""
    if out is None:
        return np.empty(shapes[0]), np.empty(shapes[1])
    good = isinstance(out, (tuple, list)) and len(out) == 2 and all(
        isinstance(x, np.ndarray) and x.dtype == float and x.shape == shape and x.flags.writeable
        for x, shape in zip(out, shapes, strict=True))
    if not good:
        shape = shapes[0] if shapes[0] == shapes[1] else " and ".join(map(str, shapes))
        raise ValueError(f"out must be two writable float64 arrays ({names}) of shape {shape}")
    return out[0], out[1]


def joint_mask(name: str, x: Any, slices: Mapping[str, slice], n: int) -> np.ndarray:
    """A mask (..., n) of velocities, from one or from names of joints."""
    names = [x] if isinstance(x, str) else x
    if not (isinstance(names, (list, tuple, set, frozenset)) and all(isinstance(joint, str) for joint in names)):
        return real_numbers(name, x, n) != 0
    mask = np.zeros(n, dtype=bool)
    for joint in names:
        if joint not in slices:
            raise ValueError(f"{name}: joint {joint!r} does not exist; the robot has {', '.join(slices) or 'none'}")
        mask[slices[joint]] = True
    return mask


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
    try:
        known = value in list(choices)
    except ValueError:                                      # an array: two arguments in the wrong order
        known = False
    if not known:
        names = [*map(str, choices)]
        raise ValueError(f"{what} {described(value)} must be one of {', '.join(names)}{peers.name_hint(value, names)}")
    return value


def wrenches(external: Any, links: Collection[str]) -> Mapping[str, Any]:
    """A mapping {link: wrench}."""
    if type(external) is not dict and not isinstance(external, Mapping):         # which takes longer
        raise ValueError(f"external must map links to wrenches (6,), torque first, as {{{_last(links)!r}: "
                         f"[0, 0, 0, 0, 0, -9.81]}}, not {described(external)}")
    return external


def jacobian_names(names: Any, links: Collection[str]) -> list[tuple[str, ...]]:
    """Names of Jacobians, (link, representation) or (link, representation, reference), as a list."""
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    if all(isinstance(name, (tuple, list)) and len(name) in (2, 3) for name in listed):
        return [tuple(name) for name in listed]
    link = listed[0] if isinstance(listed[0], str) and listed[0] in links else _last(links)
    raise ValueError(f"jacobians must be (link, representation) pairs, as [({link!r}, 'body')], or triples with a "
                     f"reference link, not {described(names)}")


def _last(links):
    """The name of a link for an example."""
    return next(reversed(list(links)), "link")


def model(x: T, kind: type[T]) -> T:
    """A Model, which is of this kind."""
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
    """ValueError if the configuration of some joint of a model is an element of a group: `what` does not take that."""
    if model.on_groups:
        joint = next(iter(model.joint_frames))
        kind = model.joint_kinds[model.joint_names.index(joint)]
        raise ValueError(f"{what}: only joints of one degree of freedom are supported, and joint {joint!r} is {kind}")


def known_link(name: str, links: Collection[str]) -> str:
    """The name of a link of the model."""
    if not isinstance(name, str) or name not in links:
        raise ValueError(f"link {described(name)} does not exist; the model has {', '.join(links) or 'no named links'}")
    return name


def described(x: Any) -> str:
    """The description of an argument in an error message."""
    if isinstance(x, np.ndarray):
        return f"{x.dtype} of shape {x.shape}"
    text = repr(x)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
