"""Fingerprints of functions: their code, their closure values, and the definitions of the package that these reach."""
from functools import singledispatch
from types import CodeType, FunctionType, ModuleType
from typing import Any, get_args

import numpy as np

from screw_dynamics.jit.numba_internals.dispatchers import is_jitted

from .dependencies import digest


@singledispatch
def fingerprint(x: Any) -> object:
    """Return a value whose repr is the same in every process for objects that compile to the same code, wherever its
    files are, and differs for objects that may not. Raises TypeError for objects of unknown kinds."""
    if is_jitted(x):
        return fingerprint(x.py_func)
    raise TypeError(f"the code of a function that depends on {type(x)} cannot be cached")


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
    annotations = getattr(x, "__annotations__", {})
    reached: object = digest(x.__module__, _outermost(x)) if _is_ours(x.__module__) else ""
    if reached is None:         # a derived table, which has the name of its original, or one made of it
        reached = [fingerprint(part) for kind in annotations.values() for part in (kind, *get_args(kind))
                   if isinstance(part, type)]
    return x.__module__, x.__qualname__, [(name, repr(kind)) for name, kind in annotations.items()], reached


@fingerprint.register
def _(x: ModuleType):
    return x.__name__, digest(x.__name__) if _is_ours(x.__name__) else ""


@fingerprint.register
def _(x: CodeType):
    return x.co_code, x.co_names, x.co_varnames, [fingerprint(constant) for constant in x.co_consts]


@fingerprint.register
def _(x: FunctionType):
    closure = [fingerprint(cell.cell_contents) for cell in x.__closure__ or ()]
    # The docstring is one of the constants; it does not count.
    code = x.__code__.replace(co_consts=tuple(None if c is x.__doc__ else c for c in x.__code__.co_consts))
    reached = digest(x.__module__, _outermost(x)) or digest(x.__module__)
    return (x.__module__, x.__qualname__, reached, fingerprint(code),
            fingerprint((x.__defaults__ or (), *sorted((x.__kwdefaults__ or {}).items()))), closure)


def _is_ours(module):
    return module.startswith("screw_dynamics.")


def _outermost(x):
    """Return the name of the top-level definition that contains a function or a class."""
    return x.__qualname__.partition(".")[0]
