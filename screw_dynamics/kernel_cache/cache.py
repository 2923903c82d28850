"""Machine code, compiled once on a machine: loaded from what came with the package or from the user's cache.

Numba's cache checks the age of the caller's file alone, while callees are in others, keeps an index beside the code
that two processes can leave pointing at the code of another function, and loads whatever it finds. Here each piece of
code is a file of its own, whose name contains a hash of all that the code depends on; store.py says which to trust."""
from __future__ import annotations

import gc
import hashlib
import logging
import os
import platform
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from threading import RLock, Timer
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiler import FLAGS, PLAIN, start, types
from screw_dynamics.lazy import lazy
from screw_dynamics.numba_internals import tested

from . import store
from .fingerprint import fingerprint
from .levels import levels

# The others are plain Python.
COMPILED = ("numba_internals", "numbers", "screws", "model", "kernel_cache", "compiled", "algorithms", "forces",
            "constraints", "contact", "sweeps", "simulation")
BATCHES = ", batches"   # ends the names of entry points for many states
LONG = 1.0              # s: whoever compiles for longer is told so

_log = logging.getLogger("screw_dynamics")


@cache
def sources() -> str:
    """A hash of all sources that compiled code may come from."""
    package = store.PACKAGE
    files = [Path("compiler.py"), Path("kernel_cache", "runtime.c"), *sorted(
        path.relative_to(package) for name in COMPILED for path in (package / name).rglob("*.py"))]
    return hashlib.sha256(b"".join(str(file).encode() + (package / file).read_bytes() for file in files)).hexdigest()


@cache
def made_by() -> tuple:
    """What compiles, and loads what Numba keeps."""
    import llvmlite
    import numba

    return (platform.python_implementation(), platform.python_version_tuple()[:2], numba.__version__,
            llvmlite.__version__, numba.config.OPT)


_compiling = RLock()
if hasattr(os, "register_at_fork"):         # a fork waits: the child would inherit what LLVM and Numba have half done
    os.register_at_fork(before=_compiling.acquire, after_in_parent=_compiling.release,
                        after_in_child=_compiling.release)


class Compiled:
    """A function that `prepare` compiles, or takes from the cache; name: what messages call it. key: see `compiled`."""

    def __init__(self, function: Callable, name: str, key: str | None, options: dict[str, Any]):
        self.function, self.name, self.key, self.options = function, name, key, options
        self.__doc__ = function.__doc__

    @lazy
    def dispatcher(self) -> Any:
        """Numba's dispatcher, which takes what it can from the cache, and compiles only where `prepare` has it do."""
        import numba

        from screw_dynamics.numba_internals import kept_code, pipelines
        from screw_dynamics.numba_internals.dispatchers import let_compile

        start()
        dispatcher = numba.njit(**FLAGS, **self.options, **pipelines.ENTRY)(self.function)
        if tested.in_use():
            kept_code.keep_by(dispatcher, self.cache)
        let_compile(dispatcher, False)                        # an unforeseen type must raise, not compile for seconds
        return dispatcher

    @lazy
    def cache(self) -> _Cache:
        """Its files."""
        return _Cache(self.function, self.name, self.key)


class Form(NamedTuple):
    """A function to compile, and the types of the arguments that it is compiled for: Numba's, or their names."""

    compiled: Compiled
    signature: tuple[Any, ...]

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.compiled.name

    @property
    def is_native(self) -> bool:
        """True for a function of numbers and addresses, which is called by its own address."""
        return set(self.signature) <= {"float64", "intp"}

    @property
    def is_kept(self) -> bool:
        """True if Numba would not have to compile it."""
        from screw_dynamics.numba_internals.kept_code import context_of

        context = context_of(self.compiled.dispatcher)
        return self.compiled.cache.find(types_of(self.signature), context) is not None


def types_of(signature: tuple[Any, ...]) -> tuple[Any, ...]:
    """Numba's types of arguments, of these or of their names, as ws.numbers_type(1, dtype="int64")."""
    scope = {name: getattr(types, name) for name in ("Array", "boolean", "float64", "int64", "intp")}
    return tuple(eval(kind, scope) if isinstance(kind, str) else kind for kind in signature)


def compiled(name: str = "", key: str | None = "", **options: Any) -> Callable[[Callable], Any]:
    """Make a function one that `prepare` compiles, and that is kept on disk. name: what messages call it. key: what its
    code depends on beside the sources; "": what its closure says, None: what nobody can tell. Without Numba's JIT it
    remains plain Python, as silent about infinities and NaN as machine code."""
    def decorate(function):
        if PLAIN:
            return np.errstate(all="ignore")(function)
        return Compiled(function, name or function.__name__, key, options)
    return decorate


def prepare(made: Compiled, signature: tuple[Any, ...]) -> Any:
    """Load a function for arguments of these types, or compile it, unless it is there; returns the result."""
    if PLAIN:
        return SimpleNamespace(entry_point=made)
    from screw_dynamics.numba_internals.dispatchers import let_compile
    from screw_dynamics.numba_internals.kept_code import context_of

    dispatcher, kinds = made.dispatcher, types_of(signature)
    if kinds not in dispatcher.overloads:
        with made.cache.turn(kinds, context_of(dispatcher)):
            let_compile(dispatcher, True)
            try:
                dispatcher.compile(kinds)                     # nothing to do if another thread was first
            finally:
                let_compile(dispatcher, False)
    return dispatcher.overloads[kinds]


@contextmanager
def compiling(name: str, file: str | None, beforehand: bool = True) -> Iterator[None]:
    """Let processes that start together compile a piece of code once, and log that it takes long if it does. file: the
    name under which it is to be kept, if it is; beforehand: whether `screw_dynamics.prepare` compiles it too."""
    with _compiling:
        timer = Timer(LONG, _log.warning, ["compiling %s, once on this machine" if file else "compiling %s", name])
        timer.daemon, started = True, time.monotonic()
        timer.start()
        try:
            with store.own().alone(file) if file else nullcontext(), _collector_paused():
                yield
        finally:
            timer.cancel()
            elapsed = time.monotonic() - started
            if elapsed > LONG:
                _log.warning("%s is ready after %.1f s", name, elapsed)
                if file and beforehand:         # a user's are compiled at their first use
                    store.say_once("python -m screw_dynamics.prepare compiles kernels beforehand; --all: also those "
                                   "that few robots need, --groups: those of floating bases, ball and planar joints")


@contextmanager
def _collector_paused():
    """Compiling makes millions of objects that live until its end: looking through them for cycles takes a sixth of
    the time, and finds none."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _processors(here):
    """The keys of machine code that runs here, the best first: made for this processor, or for a level that it has."""
    from numba import config

    yield here
    if config.CPU_NAME is None and config.CPU_FEATURES is None:
        yield from ((here[0], level, "") for level in levels())


class _Cache:
    """The machine code of one function: the part of a Numba dispatcher's cache that a dispatcher calls. Without Numba's
    internals it is always empty."""

    def __init__(self, function, name, key):
        self.name, self._function, self._key, self._found = name, function, key, None

    @property
    def cache_path(self):
        """Where new code is written."""
        return str(store.own().path)

    def find(self, signature, target_context):
        """The file with code for these types; None if there is none."""
        folders = store.installed(), store.own()
        for name in self._names(signature, target_context):
            for folder in folders:
                data = folder.read(name)
                if data is not None:
                    return data
        return None

    def load_overload(self, signature, target_context):
        """The compile result for these types; None if it has to be compiled."""
        of_user = self._key != "" or not self._function.__module__.startswith("screw_dynamics.")
        data, self._found = self._found or self.find(signature, target_context), None
        from screw_dynamics.numba_internals import kept_code

        if data is not None:
            with suppress(Exception):                         # whatever unpickling makes of another version's file
                kept_code.get_ready(target_context, of_user)
                return kept_code.result_of(data, target_context)
        return None

    def save_overload(self, signature, result):
        """Keep a compile result, unless there is no place for it, which is said once."""
        from screw_dynamics.numba_internals import kept_code

        name = next(self._names(signature, result.target_context), None)
        data = name and kept_code.bytes_of(result)
        if not data:
            return
        folder = store.own()
        try:
            folder.write(name, data)
        except OSError as error:
            store.say_not_kept(error)

    @contextmanager
    def turn(self, signature, target_context) -> Iterator[None]:
        """Load a piece of code, or compile it in turn."""
        with _compiling:
            self._found = self.find(signature, target_context)
            if self._found is not None:
                yield
                return
            with compiling(self.name, next(self._names(signature, target_context), None), self._key == ""):
                yield

    def _names(self, signature, target_context):
        """The names of files that may hold the code, the first one that of code compiled here; none if what the code
        depends on cannot be told."""
        from screw_dynamics.numba_internals import kept_code

        if self._key is None or not tested.in_use():
            return
        with suppress(TypeError):
            depends = sources(), made_by(), self._key or fingerprint(self._function), repr(signature)
            for processor in _processors(kept_code.processor(target_context)):
                digest = hashlib.sha256(repr((*depends, processor)).encode()).hexdigest()[:32]
                yield re.sub(r"[^\w.]+", "_", self.name) + "-" + digest
