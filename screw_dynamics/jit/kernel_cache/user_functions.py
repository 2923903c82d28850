"""A user's function compiled with bounds checks, and as plain Python, which locates errors.

Numba checks no bounds by default: an index past the end reads and writes foreign memory. Here Numba checks bounds in
the function and in the jitted functions that it calls. These may have been compiled without checks, so all are compiled
anew. numba.njit(boundscheck=False) exempts a function."""
from collections.abc import Callable
from contextlib import suppress
from types import CellType, FunctionType, ModuleType
from typing import Any

from screw_dynamics.jit.numba_internals.compiler import jit
from screw_dynamics.jit.numba_internals.dispatchers import is_jitted, may_compile

from .user_code import globals_of, is_library, with_inner


def bounds_checked(function: Callable, **options: Any) -> Any:
    """Return a function, jitted with these options or by the user, that raises IndexError for an index out of bounds.
    Only compiled code calls it."""
    if is_jitted(function):
        return _Rebuilding(_checked).dispatcher(function)
    return jit(_Rebuilding(_checked).function(function), boundscheck=True, **options)


def in_python(function: Callable) -> FunctionType:
    """Return a copy of a function in plain Python, in which the jitted functions that it calls are plain Python,
    too."""
    return _Rebuilding(lambda jitted, python: python).function(getattr(function, "py_func", function))


def _checked(jitted, python):
    """Return a user's jitted function of other code, with bounds checks unless the user has disabled them."""
    import numba

    options = jitted.targetoptions
    return jitted if options.get("boundscheck") is False else numba.jit(**{**options, "boundscheck": True})(python)


class _Rebuilding:
    """Copies of functions in which make(jitted, python) replaces each jitted function."""

    def __init__(self, make: Callable[[Any, FunctionType], Callable]):
        self._make, self._made = make, {}

    def take(self, x: Any, names: frozenset[str]) -> Any:
        """Return the copy of an object. names: the attributes that code may read of a module."""
        if is_jitted(x):
            return x if is_library(x.py_func.__module__) else self.dispatcher(x)
        if isinstance(x, ModuleType) and not is_library(x.__name__):
            return self._module(x, names)
        return tuple(self.take(part, names) for part in x) if type(x) is tuple else x

    def dispatcher(self, jitted: Any) -> Callable:
        """Return the copy of a jitted function, which may call itself."""
        if jitted not in self._made:
            python = _copy(jitted.py_func)
            self._made[jitted] = made = self._make(jitted, python)
            self._fill(jitted.py_func, python)
            if made is not jitted and is_jitted(made) and not may_compile(jitted):
                for signature in jitted.nopython_signatures:
                    made.compile(signature)
                made.disable_compile()
        return self._made[jitted]

    def function(self, python: FunctionType) -> FunctionType:
        """Return a copy of a Python function."""
        copy = _copy(python)
        self._fill(python, copy)
        return copy

    def _fill(self, original, copy):
        """Fill a copy's globals and closure with copies of the objects that its original reads."""
        names, codes = original.__globals__, list(with_inner(original.__code__))
        attributes = frozenset(name for code in codes for name in code.co_names)
        wanted = names.keys() & frozenset().union(*map(globals_of, codes))
        copy.__globals__.update({name: self.take(names[name], attributes) for name in wanted})
        for cell, other in zip(original.__closure__ or (), copy.__closure__ or (), strict=True):
            with suppress(ValueError):                        # an empty cell
                other.cell_contents = self.take(cell.cell_contents, attributes)

    def _module(self, module, names):
        """Return a copy of a user's module in which the functions that code may read are replaced."""
        if module not in self._made:
            self._made[module] = copy = ModuleType(module.__name__)
            vars(copy).update(vars(module))
            vars(copy).update({name: self.take(vars(module)[name], names) for name in names & vars(module).keys()})
        return self._made[module]


def _copy(python):
    """Return a copy of a function, with globals of its own and a closure whose cells are empty."""
    cells = tuple(CellType() for _ in python.__closure__ or ()) or None
    copy = FunctionType(python.__code__, dict(python.__globals__), python.__name__, python.__defaults__, cells)
    copy.__qualname__, copy.__module__, copy.__kwdefaults__ = (python.__qualname__, python.__module__,
                                                               python.__kwdefaults__)
    return copy
