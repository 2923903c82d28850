"""Numba, imported when something is first compiled.

Modules import from here what they would import from Numba and llvmlite. `types`, `cgutils` and `ir` stand for modules
that are imported when an attribute is first asked for. What declares something to Numba (`overload`, `intrinsic`,
`register_jitable`) is noted, and done by `start`, before anything is compiled."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from threading import RLock
from typing import Any

# `fastmath=True` would also assume that nothing is infinite or NaN, and break the argument reduction of sincos.
FLAGS = dict(error_model="numpy", fastmath={"contract", "nsz", "arcp"})
# Called by compiled code alone.
CALLED = dict(no_cfunc_wrapper=True, no_cpython_wrapper=True)
CALLEE = dict(FLAGS, **CALLED)
INLINE = dict(CALLEE, forceinline=True)


def _jit_is_disabled():
    """True if NUMBA_DISABLE_JIT is set, as Numba reads it; or was set in Numba itself, if that is there."""
    if "numba" in sys.modules:
        return bool(sys.modules["numba"].config.DISABLE_JIT)
    try:
        return bool(int(os.environ.get("NUMBA_DISABLE_JIT") or 0))
    except ValueError:
        return False


PLAIN = _jit_is_disabled()                  # NUMBA_DISABLE_JIT=1: entry points, too, run in plain Python


class Module:
    """A module that is imported when an attribute is first asked for."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """An attribute of the module, kept from then on."""
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


types: Any = Module("numba.types")
cgutils: Any = Module("numba.core.cgutils")
ir: Any = Module("llvmlite.ir")
numba_types: Any = Module("screw_dynamics.numbers.numba_types")        # types of this package's numbers
numba_arrays: Any = Module("screw_dynamics.numba_internals.arrays")
numba_calls: Any = Module("screw_dynamics.numba_internals.calls")
_pipelines: Any = Module("screw_dynamics.numba_internals.pipelines")

_noted: list[Callable[[], Any]] = []        # what is to be declared to Numba, in order
_started = False
_lock = RLock()


def noted(declare: Callable[[], Any]) -> None:
    """Call a function that declares something to Numba: before anything is compiled, or now, if something was."""
    if PLAIN:
        return
    if _started:
        declare()
    else:
        _noted.append(declare)


def start() -> None:
    """Declare to Numba what was noted, once in a process."""
    global _started
    if _started or PLAIN:
        return
    with _lock:
        if _started:
            return
        import_module("screw_dynamics.numba_internals.intrinsics").recognize(Intrinsic)
        import_module("screw_dynamics.numbers.numba_types")
        while _noted:           # in order, and what is noted by modules that are imported meanwhile
            _noted.pop(0)()
        _started = True


def jit(function: Callable, **options: Any) -> Any:
    """The dispatcher of a function that compiled code alone calls."""
    start()
    return import_module("numba").njit(**{**called(CALLED), **options})(function)


def called(options: dict[str, Any]) -> dict[str, Any]:
    """Options of compiling, with the compiler of functions that compiled code alone calls."""
    return dict(options, **_pipelines.CALLEE)


# ------------------------------------------------------------------------------------------------- declarations
def overload(function: Callable, jit_options: dict | None = None, **options: Any) -> Callable:
    """Decorate the function that gives, of the types of arguments, what `function` is where compiled code calls it: as
    numba.extending.overload, but that the options of compiling are INLINE, if none are given."""
    def decorate(implementation):
        noted(lambda: import_module("numba.extending").overload(
            function, jit_options=called(INLINE if jit_options is None else jit_options), **options)(implementation))
        return implementation
    return decorate


class Intrinsic:
    """A function that builds LLVM's code, as numba.extending.intrinsic."""

    def __init__(self, define: Callable):
        self._define, self.__doc__ = define, define.__doc__
        noted(self._make)

    def _make(self):
        self.made = import_module("numba.extending").intrinsic(self._define)


intrinsic: Any = Intrinsic


def _jitable(whole: bool, **options):
    """A decorator of functions that compiled code calls: they remain as they are. whole: as a part of callers alone."""
    def decorate(function):
        noted(lambda: import_module("numba.extending").register_jitable(
            **called(options) if whole else options)(function))
        return function
    return decorate


kernel = _jitable(True, **INLINE)
outlined = _jitable(True, **CALLEE, forceinline=False)          # slower than a kernel, but compiled just once
# A kernel that Numba compiles in its own way: optimised by itself and again in its callers, straight lines take up to a
# quarter less time, and a twentieth more to compile.
optimised_alone = _jitable(False, **FLAGS, **CALLED, forceinline=True)
