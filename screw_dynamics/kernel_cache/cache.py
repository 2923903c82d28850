"""Machine code, compiled once on a machine: loaded from the installed package or from the user's cache.

Numba's cache checks the age of the caller's file only, although callees are in other files. It keeps an index beside
the code, which two processes can leave pointing at the code of another function, and it loads any file that it finds.
Here each piece of code is a file of its own, whose name contains a hash of all its dependencies. store.py decides which
files to trust."""
from __future__ import annotations

import gc
import hashlib
import logging
import platform
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from threading import Timer
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.lazy import lazy
from screw_dynamics.numba_internals import tested
from screw_dynamics.numba_internals.compiler import PLAIN, lock, start, types_of

from . import store
from .dependencies import EVERYTHING, are_as_imported, digest
from .fingerprint import fingerprint

BATCHES = ", batches"   # suffix of the names of entry points for many states
LONG = 1.0              # s: a longer compilation is logged

_log = logging.getLogger("screw_dynamics")


@cache
def made_by() -> tuple:
    """Return the versions that identify code in Numba's form."""
    import llvmlite
    import numba

    from screw_dynamics.numba_internals import kept_code

    return (platform.python_implementation(), platform.python_version_tuple()[:2], numba.__version__,
            llvmlite.__version__, *kept_code.target())


class Compiled:
    """A function to compile, with its name in messages. For key and nogil see `compiled`."""

    def __init__(self, function: Callable, name: str, key: str | None, nogil: bool):
        self.function, self.name, self.key, self.nogil = function, name, key, nogil
        self.__doc__ = function.__doc__

    @lazy
    def dispatcher(self) -> Any:
        """Numba's dispatcher. It loads code from the cache if it can, and compiles only within `prepare`."""
        start()
        with lock:
            from screw_dynamics.numba_internals import kept_code
            from screw_dynamics.numba_internals.dispatchers import let_compile
            from screw_dynamics.numba_internals.pipelines import entry_point

            dispatcher = entry_point(self.function)
            if tested.in_use():
                kept_code.keep_by(dispatcher, self.cache)
            let_compile(dispatcher, False)                    # an unexpected type must raise, not compile for seconds
            return dispatcher

    @lazy
    def depends(self) -> Any:
        """The key and a hash of all sources, or the fingerprint of the function. Raises TypeError if there is none."""
        return (self.key, digest(EVERYTHING)) if self.key else fingerprint(self.function)

    @lazy
    def cache(self) -> _Cache:
        """The cache files in Numba's form."""
        return _Cache(self)


class Form(NamedTuple):
    """A function to compile, and the types of its arguments: Numba types, or their names."""

    compiled: Compiled
    signature: tuple[Any, ...]

    @property
    def name(self) -> str:
        """The function's name in messages."""
        return self.compiled.name

    @property
    def is_native(self) -> bool:
        """True for a function of numbers and addresses only, which is called directly by its address."""
        return set(self.signature) <= {"float64", "intp"}

    @property
    def is_kept(self) -> bool:
        """True if Numba's form of the code is in the cache."""
        start()
        return self.compiled.cache.find(types_of(self.signature)) is not None


def compiled(name: str = "", key: str | None = "", nogil: bool = False) -> Callable[[Callable], Any]:
    """Return a decorator that makes a function a Compiled with this name in messages. key: a hash of the code's
    dependencies besides the sources; "" takes the fingerprint of the function, None disables the cache. nogil: True if
    Python calls it without the GIL. Without Numba's JIT the function remains plain Python, and ignores infinities and
    NaN as machine code does."""
    def decorate(function):
        if PLAIN:
            return np.errstate(all="ignore")(function)
        return Compiled(function, name or function.__name__, key, nogil)
    return decorate


def file_name(made: Compiled, *depends: Any) -> str | None:
    """Return the name, without its suffix, of the file that holds the code of a function. It contains a hash of the
    sources and of the code's other dependencies. None if the code cannot be cached."""
    if made.key is None:
        return None
    try:
        key = made.depends
    except TypeError:
        return None
    hashed = hashlib.sha256(repr((made.name, key, *depends)).encode()).hexdigest()[:32]
    return re.sub(r"[^\w.]+", "_", made.name) + "-" + hashed


def prepare(made: Compiled, signature: tuple[Any, ...]) -> Any:
    """Return the compile result of a function for arguments of these types: loaded from the cache, or compiled if
    missing."""
    if PLAIN:
        return SimpleNamespace(entry_point=made)
    from screw_dynamics.numba_internals.dispatchers import let_compile

    dispatcher, kinds = made.dispatcher, types_of(signature)
    if kinds not in dispatcher.overloads:
        with made.cache.turn(kinds):
            let_compile(dispatcher, True)
            try:
                dispatcher.compile(kinds)                     # no effect if another thread was first
            finally:
                let_compile(dispatcher, False)
    return dispatcher.overloads[kinds]


@contextmanager
def compiling(made: Compiled, file: str | None) -> Iterator[None]:
    """Let processes that start together compile a function only once, and log a long compilation. file: the name under
    which the code is to be stored, if any."""
    with lock:
        timer = Timer(LONG, _log.warning, ["compiling %s, once on this machine" if file else "compiling %s",
                                           made.name])
        timer.daemon, started = True, time.monotonic()
        timer.start()
        try:
            with store.own().alone(file) if file else nullcontext(), _collector_paused():
                yield
        finally:
            timer.cancel()
            elapsed = time.monotonic() - started
            if elapsed > LONG:
                _log.warning("%s is ready after %.1f s", made.name, elapsed)
                if file and made.key == "":       # users' functions are compiled at their first use
                    store.say_once("python -m screw_dynamics.prepare compiles kernels beforehand, with --parts all "
                                   "also those that few programs need")


@contextmanager
def _collector_paused():
    """Pause the garbage collector. Compiling makes millions of objects that live until its end; searching them for
    cycles takes a sixth of the time and finds none. The collector stays enabled: another thread might import a module
    that sees it disabled and never enables it again (dask.utils.disable_gc)."""
    thresholds = gc.get_threshold()
    gc.set_threshold(0)
    try:
        yield
    finally:
        if gc.get_threshold()[0] == 0:      # else other code has set other thresholds
            gc.set_threshold(*thresholds)


class _Cache:
    """The machine code of one function: the interface of a Numba dispatcher's cache that the dispatcher calls. Without
    Numba's internals it is always empty."""

    def __init__(self, made):
        self._made, self._found = made, None

    @property
    def cache_path(self):
        """The folder to which new code is written."""
        return str(store.own().path)

    def find(self, signature):
        """Return the bytes of the code for these types; None if there is no file."""
        name = self._name(signature)
        found = store.found(name, store.SUFFIX) if name else None
        return found[1] if found else None

    def load_overload(self, signature, target_context):
        """Return the compile result for these types; None if they have to be compiled."""
        from screw_dynamics.numba_internals import kept_code

        of_user = self._made.key != "" or not self._made.function.__module__.startswith("screw_dynamics.")
        data, self._found = self._found or self.find(signature), None
        if data is not None:
            with suppress(Exception):                         # unpickling another version's file may raise anything
                kept_code.get_ready(target_context, of_user)
                return kept_code.result_of(data, target_context)
        return None

    def save_overload(self, signature, result):
        """Store a compile result. If no folder can be written, a warning is logged once."""
        from screw_dynamics.numba_internals import kept_code

        name = self._name(signature)
        if name and are_as_imported() and (data := kept_code.bytes_of(result)):
            store.keep(name, data, store.SUFFIX)

    @contextmanager
    def turn(self, signature) -> Iterator[None]:
        """Load a piece of code, or compile it in turn with other processes."""
        with lock:
            self._found = self.find(signature)
            if self._found is not None:
                yield
                return
            with compiling(self._made, self._name(signature)):
                yield

    def _name(self, signature):
        """Return the name of the file for the code; None if the code cannot be stored."""
        return file_name(self._made, made_by(), signature) if tested.in_use() else None
