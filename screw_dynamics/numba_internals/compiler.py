"""Numba, imported when something is first compiled.

Modules import from here what they would import from Numba and llvmlite. `types`, `cgutils` and `ir` stand for modules
that are imported when an attribute is first asked for. Declarations to Numba (`overload`, `intrinsic`, `kernel`) wait
until `start` makes them, before anything is compiled."""
from __future__ import annotations

import logging  # noqa: F401  whose lock a fork takes after that of here: Numba logs while it is imported
import os
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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
        """Return an attribute of the module, kept from then on."""
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


types: Any = Module("numba.types")
cgutils: Any = Module("numba.core.cgutils")
ir: Any = Module("llvmlite.ir")
numba_arrays: Any = Module("screw_dynamics.numba_internals.arrays")
numba_calls: Any = Module("screw_dynamics.numba_internals.calls")
_pipelines: Any = Module("screw_dynamics.numba_internals.pipelines")

_declarations: deque[Callable[[], Any]] = deque()       # that wait for `start`, in order
_started = False
lock = RLock()                              # held while Numba is imported, and while it compiles
if hasattr(os, "register_at_fork"):         # a fork waits: the child would inherit what LLVM and Numba have half done
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def declare(declaration: Callable[[], Any]) -> None:
    """Have `start` call a function that declares something to Numba, or call it now if that has been."""
    if not PLAIN:
        _declarations.append(declaration)
        if _started:
            _make_declarations()


def start() -> None:
    """Import Numba and make all declarations, once in a process. Raises RuntimeError if Numba's JIT is disabled in a
    way that could not be seen before."""
    global _started
    if _started or PLAIN:
        return
    with lock:
        if _started:
            return
        with ThreadPoolExecutor(1) as thread:       # where Ctrl-C does not leave half of it behind
            numba = thread.submit(import_module, "numba").result()
        if numba.config.DISABLE_JIT:
            raise RuntimeError("Numba's JIT is disabled by a file .numba_config.yaml, or since screw_dynamics was "
                               "imported: set NUMBA_DISABLE_JIT=1 in the environment instead")
        numba_calls.recognize(Intrinsic)
        _make_declarations()
        _started = True
        _make_declarations()                # what another thread has declared meanwhile


def _make_declarations():
    """Make those that wait, and those of modules that are imported meanwhile."""
    while _declarations:
        try:
            declaration = _declarations.popleft()
        except IndexError:                  # another thread took it
            return
        try:
            declaration()
        except BaseException:               # as Ctrl-C: it is made next time
            _declarations.appendleft(declaration)
            raise


def types_of(signature: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return Numba's types of arguments, from these or from their names, as ws.numbers_type(1, dtype="int64")."""
    scope = {name: getattr(types, name) for name in ("Array", "boolean", "float64", "int64", "intp")}
    return tuple(eval(kind, scope) if isinstance(kind, str) else kind for kind in signature)


def jit(function: Callable, **options: Any) -> Any:
    """Return the dispatcher of a user's function that compiled code alone calls."""
    start()
    return import_module("numba").njit(**{**CALLED, **_pipelines.USERS, **options})(function)


def called(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of compiling, with the compiler of functions of this package that compiled code alone calls."""
    return dict(options, **_pipelines.CALLEE)


# ------------------------------------------------------------------------------------------------- declarations
def overload(function: Callable, jit_options: dict | None = None, **options: Any) -> Callable:
    """Decorate the function that returns, from the types of arguments, the implementation of `function` in compiled
    code, as numba.extending.overload does; the options of compiling are INLINE, if none are given."""
    def decorate(implementation):
        declare(lambda: import_module("numba.extending").overload(
            function, jit_options=called(INLINE if jit_options is None else jit_options), **options)(implementation))
        return implementation
    return decorate


class Intrinsic:
    """A function that builds LLVM's code, as numba.extending.intrinsic."""

    def __init__(self, define: Callable):
        self._define, self.__doc__ = define, define.__doc__
        declare(self._make)

    def _make(self):
        self.made = import_module("numba.extending").intrinsic(self._define)


intrinsic: Any = Intrinsic


def _jitable(whole: bool, **options):
    """Return a decorator of functions that compiled code calls: they remain as they are. whole: as a part of callers
    alone."""
    def decorate(function):
        declare(lambda: import_module("numba.extending").register_jitable(
            **called(options) if whole else options)(function))
        return function
    return decorate


kernel = _jitable(True, **INLINE)
# Not forced into callers, where LLVM may still put what is short: slower than a kernel, but compiled just once.
noinline = _jitable(True, **CALLEE, forceinline=False)
# A kernel that Numba compiles in its own way: optimized by itself and again in its callers, straight lines take up to a
# quarter less time, and a twentieth more to compile.
optimized_alone = _jitable(False, **FLAGS, **CALLED, forceinline=True)
