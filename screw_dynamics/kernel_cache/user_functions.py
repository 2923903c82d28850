"""A user's function as it is compiled, with checks of bounds, and as plain Python, which tells where it fails.

Numba checks no bounds by default: an index past the end reads and writes memory of somebody else. Here it checks
them in the function, and in the jitted functions that this calls, which may have been compiled without before: all are
compiled anew. numba.njit(boundscheck=False) on one of them leaves that one as it is."""
from collections.abc import Callable
from contextlib import suppress
from types import CellType, FunctionType, ModuleType
from typing import Any

from screw_dynamics.numba_internals.compiler import jit
from screw_dynamics.numba_internals.dispatchers import is_jitted, may_compile

from .user_code import globals_of, is_library, with_inner


def bounds_checked(function: Callable, **options: Any) -> Any:
    """Return a function, jitted with these options or by the user, that raises IndexError for an index out of bounds.
    It is for compiled code to call."""
    if is_jitted(function):
        return _Rebuilding(_checked).dispatcher(function)
    return jit(_Rebuilding(_checked).function(function), boundscheck=True, **options)


def in_python(function: Callable) -> FunctionType:
    """Return a function without Numba, nor in the jitted functions that it calls."""
    return _Rebuilding(lambda jitted, python: python).function(getattr(function, "py_func", function))


def _checked(jitted, python):
    """Return a user's jitted function again, of other code, with checks unless its user does not want them."""
    import numba

    options = jitted.targetoptions
    return jitted if options.get("boundscheck") is False else numba.jit(**{**options, "boundscheck": True})(python)


class _Rebuilding:
    """Copies of functions in which other functions, make(jitted, python), stand for the jitted ones."""

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
        """Let a copy see what stands for what its original sees."""
        names, codes = original.__globals__, list(with_inner(original.__code__))
        attributes = frozenset(name for code in codes for name in code.co_names)
        wanted = names.keys() & frozenset().union(*map(globals_of, codes))
        copy.__globals__.update({name: self.take(names[name], attributes) for name in wanted})
        for cell, other in zip(original.__closure__ or (), copy.__closure__ or (), strict=True):
            with suppress(ValueError):                        # empty as yet
                other.cell_contents = self.take(cell.cell_contents, attributes)

    def _module(self, module, names):
        """Return a user's module, with what stands for the functions that code may read of it."""
        if module not in self._made:
            self._made[module] = copy = ModuleType(module.__name__)
            vars(copy).update(vars(module))
            vars(copy).update({name: self.take(vars(module)[name], names) for name in names & vars(module).keys()})
        return self._made[module]


def _copy(python):
    """Return a copy of a function, with globals of its own, and a closure that is empty as yet."""
    cells = tuple(CellType() for _ in python.__closure__ or ()) or None
    copy = FunctionType(python.__code__, dict(python.__globals__), python.__name__, python.__defaults__, cells)
    copy.__qualname__, copy.__module__, copy.__kwdefaults__ = (python.__qualname__, python.__module__,
                                                               python.__kwdefaults__)
    return copy
