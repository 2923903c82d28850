"""Numba, imported at the first compilation.

Modules import from here what they would import from Numba and llvmlite. `types`, `cgutils` and `ir` are proxies of
modules that are imported when an attribute is first read. Declarations to Numba (`overload`, `intrinsic`, `kernel`) are
queued until `start` makes them, before the first compilation."""
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

# `fastmath=True` would also assume that no number is infinite or NaN, and break the argument reduction of sincos.
FLAGS = dict(error_model="numpy", fastmath={"contract", "nsz", "arcp"})
# Functions that only compiled code calls.
CALLED = dict(no_cfunc_wrapper=True, no_cpython_wrapper=True)
CALLEE = dict(FLAGS, **CALLED)
INLINE = dict(CALLEE, forceinline=True)


def _jit_is_disabled():
    """Return True if NUMBA_DISABLE_JIT is set, as Numba reads it, or if Numba is imported and its JIT is disabled."""
    if "numba" in sys.modules:
        return bool(sys.modules["numba"].config.DISABLE_JIT)
    try:
        return bool(int(os.environ.get("NUMBA_DISABLE_JIT") or 0))
    except ValueError:
        return False


PLAIN = _jit_is_disabled()                  # NUMBA_DISABLE_JIT=1: entry points run in plain Python, too


class Module:
    """A module that is imported when an attribute is first read."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the module, and store it."""
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)
        return value


types: Any = Module("numba.types")
cgutils: Any = Module("numba.core.cgutils")
ir: Any = Module("llvmlite.ir")
numba_arrays: Any = Module("screw_dynamics.jit.numba_internals.arrays")
numba_calls: Any = Module("screw_dynamics.jit.numba_internals.calls")
_pipelines: Any = Module("screw_dynamics.jit.numba_internals.pipelines")

_declarations: deque[Callable[[], Any]] = deque()       # queued until `start`, in order
_started = False
lock = RLock()                              # held while Numba is imported, and while it compiles
if hasattr(os, "register_at_fork"):  # a fork waits for the lock: LLVM and Numba must be idle
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def declare(declaration: Callable[[], Any]) -> None:
    """Queue a function that declares something to Numba for `start`, or call it now if `start` has run."""
    if not PLAIN:
        _declarations.append(declaration)
        if _started:
            _make_declarations()


def start() -> None:
    """Import Numba and make all declarations, once in a process. Raises RuntimeError if Numba's JIT is disabled in a
    way that was not visible at import."""
    global _started
    if _started or PLAIN:
        return
    with lock:
        if _started:
            return
        with ThreadPoolExecutor(1) as thread:       # in a thread that Ctrl-C does not interrupt halfway
            numba = thread.submit(import_module, "numba").result()
        if numba.config.DISABLE_JIT:
            raise RuntimeError("Numba's JIT is disabled by a file .numba_config.yaml, or since screw_dynamics was "
                               "imported: set NUMBA_DISABLE_JIT=1 in the environment instead")
        numba_calls.recognize(Intrinsic)
        _make_declarations()
        _started = True
        _make_declarations()                # declarations of other threads made meanwhile


def _make_declarations():
    """Make the queued declarations, and those of modules that are imported meanwhile."""
    while _declarations:
        try:
            declaration = _declarations.popleft()
        except IndexError:                  # another thread took it
            return
        try:
            declaration()
        except BaseException:               # for example Ctrl-C: the declaration is made next time
            _declarations.appendleft(declaration)
            raise


def is_sound() -> bool:
    """Return True if kernels are compiled by the compilers of this package, False if by Numba's own: see tested.py."""
    return bool(_pipelines.CALLEE) and import_module("screw_dynamics.jit.numba_internals.linking").are_sound()


def types_of(signature: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return Numba types of arguments, from types or from their names, such as ws.numbers_type(1, dtype="int64")."""
    scope = {name: getattr(types, name) for name in ("Array", "boolean", "float64", "int64", "intp")}
    return tuple(eval(kind, scope) if isinstance(kind, str) else kind for kind in signature)


def jit(function: Callable, **options: Any) -> Any:
    """Return the dispatcher of a user's function that only compiled code calls."""
    start()
    return import_module("numba").njit(**{**CALLED, **_pipelines.USERS, **options})(function)


def called(options: dict[str, Any]) -> dict[str, Any]:
    """Return compile options extended by the compiler of this package's functions that only compiled code calls."""
    return dict(options, **_pipelines.CALLEE)


# ------------------------------------------------------------------------------------------------- declarations
def overload(function: Callable, jit_options: dict | None = None, **options: Any) -> Callable:
    """Return a decorator for a function that returns, from the types of arguments, the implementation of `function` in
    compiled code, as numba.extending.overload does. The compile options are INLINE by default."""
    def decorate(implementation):
        declare(lambda: import_module("numba.extending").overload(
            function, jit_options=called(INLINE if jit_options is None else jit_options), **options)(implementation))
        return implementation
    return decorate


class Intrinsic:
    """A function that builds LLVM code, as numba.extending.intrinsic does."""

    def __init__(self, define: Callable):
        self._define, self.__doc__ = define, define.__doc__
        declare(self._make)

    def _make(self):
        self.made = import_module("numba.extending").intrinsic(self._define)


intrinsic: Any = Intrinsic


def _jitable(whole: bool, **options):
    """Return a decorator that registers functions for compiled code and returns them unchanged. whole: they are
    compiled only as a part of their callers."""
    def decorate(function):
        declare(lambda: import_module("numba.extending").register_jitable(
            **called(options) if whole else options)(function))
        return function
    return decorate


kernel = _jitable(True, **INLINE)
# Not forcibly inlined, although LLVM may still inline short ones: slower than a kernel, but compiled just once.
noinline = _jitable(True, **CALLEE, forceinline=False)
# A kernel that Numba compiles in its own way: optimized by itself and again in its callers. Straight-line code takes up
# to a quarter less time, and a twentieth more to compile.
optimized_alone = _jitable(False, **FLAGS, **CALLED, forceinline=True)
