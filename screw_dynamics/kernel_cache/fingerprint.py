"""Fingerprints of functions: their code, their closure values, and the source modules of both."""
from functools import singledispatch
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from screw_dynamics.numba_internals.dispatchers import is_jitted

from .dependencies import digest


@singledispatch
def fingerprint(x: Any) -> object:
    """Return a value whose repr is the same in every process for objects that compile to the same code, wherever its
    files are, and differs for objects that may not. Raises TypeError for objects of unknown kinds."""
    if is_jitted(x):
        return fingerprint(x.py_func)
    raise TypeError(f"the code of a function that depends on {type(x)} cannot be kept")


@fingerprint.register(int)
@fingerprint.register(float)
@fingerprint.register(str)
@fingerprint.register(bytes)
@fingerprint.register(type(None))
@fingerprint.register(type(...))
@fingerprint.register(np.generic)
def _(x):
    return type(x).__name__, repr(x)


@fingerprint.register(tuple)
@fingerprint.register(list)
@fingerprint.register(frozenset)
def _(x):
    parts = [fingerprint(part) for part in x]
    return type(x).__name__, sorted(parts, key=repr) if isinstance(x, frozenset) else parts


@fingerprint.register
def _(x: np.ndarray):
    return x.dtype.str, x.shape, np.ascontiguousarray(x).tobytes()


@fingerprint.register
def _(x: type):
    # Derived tables have the name of their original.
    columns = [(name, repr(kind)) for name, kind in getattr(x, "__annotations__", {}).items()]
    return x.__module__, x.__qualname__, columns, _digest(x.__module__)


@fingerprint.register
def _(x: ModuleType):
    return x.__name__, _digest(x.__name__)


def _digest(module):
    return digest(module) if module.startswith("screw_dynamics.") else ""


@fingerprint.register
def _(x: CodeType):
    return x.co_code, x.co_names, x.co_varnames, [fingerprint(constant) for constant in x.co_consts]


@fingerprint.register
def _(x: FunctionType):
    closure = [fingerprint(cell.cell_contents) for cell in x.__closure__ or ()]
    # The docstring is one of the constants; it does not count.
    code = x.__code__.replace(co_consts=tuple(None if c is x.__doc__ else c for c in x.__code__.co_consts))
    return (x.__module__, x.__qualname__, digest(x.__module__), fingerprint(code),
            fingerprint((x.__defaults__ or (), *sorted((x.__kwdefaults__ or {}).items()))), closure)
