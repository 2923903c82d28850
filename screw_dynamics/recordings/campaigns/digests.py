"""Hashes of the inputs and outcomes of cases: of the bits of motions, and of functions."""
from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np


def digest_of(motion: Any) -> str:
    """Return a hash of the bits of a motion: of all arrays and numbers in it, in nested tuples, lists, dicts and
    dataclasses, or the result of its method digest(). It is "" for other contents."""
    found = hashlib.sha256()
    return found.hexdigest()[:32] if _add(found, motion) else ""


def _add(found, x):
    """Add the contents of a value to a hash. Return False if they are not supported."""
    if isinstance(x, (np.ndarray, np.generic)):
        if x.dtype.hasobject:
            return False
        found.update(f"{x.dtype.str}{x.shape}".encode() + np.ascontiguousarray(x).tobytes())
        return True
    if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
        found.update(f"{type(x).__name__}{x!r}".encode())
        return True
    if callable(getattr(x, "digest", None)):
        return _add(found, x.digest())
    if dataclasses.is_dataclass(x):
        x = {field.name: getattr(x, field.name) for field in dataclasses.fields(x)}
    if isinstance(x, (tuple, list, Mapping)):
        found.update(f"{len(x)}".encode())
        return all(_add(found, part) for part in (
            x if isinstance(x, (tuple, list)) else (y for item in x.items() for y in item)))
    return False


def source_of(function: Any, within: tuple[int, ...] = ()) -> str:
    """Return a hash of the source of a function, or of its name if there is no source, and of its bound values that
    have bits or are functions. within: ids of enclosing functions, against cycles."""
    kind = function if hasattr(function, "__qualname__") else type(function)
    try:
        text = inspect.getsource(kind)
    except (OSError, TypeError):
        text = kind.__qualname__
    bound = [source_of(x, (*within, id(function))) if callable(x) else digest_of(x)
             for x in _bound(function) if id(x) not in (*within, id(function))]
    return hashlib.sha256(repr([text, *bound]).encode()).hexdigest()[:16]


def _bound(function):
    """Return the bound values of a closure, a partial function, a method or an object."""
    if isinstance(function, partial):
        return [function.func, *function.args, *function.keywords, *function.keywords.values()]
    if inspect.ismethod(function):
        return [function.__func__, getattr(function.__self__, "__dict__", None)]
    if inspect.isfunction(function):
        found = [function.__defaults__, function.__kwdefaults__]
        for cell in function.__closure__ or ():
            with suppress(ValueError):          # of an empty cell
                found.append(cell.cell_contents)
        return found
    return list(vars(function).values()) if hasattr(function, "__dict__") and not isinstance(function, type) else []
