"""Specifications of kernels: functions to compile, with their names, the types of their arguments and, in the names of
their files, a hash of all that their code depends on.

Numba's cache checks the age of the caller's file only, although callees are in other files. It keeps an index beside
the code, which two processes can leave pointing at the code of another function, and it loads any file that it finds.
Here each piece of code is a file of its own. store.py decides which files to trust."""
from __future__ import annotations

import gc
import hashlib
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Timer
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.jit.numba_internals.compiler import PLAIN, lock
from screw_dynamics.utils.lazy import lazy

from . import store
from .dependencies import EVERYTHING, digest
from .fingerprint import fingerprint

BATCHES = ", batches"   # suffix of the names of entry points for many states
LONG = 1.0              # s: a longer compilation is logged

_log = logging.getLogger("screw_dynamics")


class Compiled:
    """A function to compile, with its name in messages. For key and nogil see `compiled`."""

    def __init__(self, function: Callable, name: str, key: str | None, nogil: bool):
        self.function, self.name, self.key, self.nogil = function, name, key, nogil
        self.__doc__ = function.__doc__

    @lazy
    def depends(self) -> Any:
        """The key and a hash of all sources, or the fingerprint of the function. Raises TypeError if there is none."""
        return (self.key, digest(EVERYTHING)) if self.key else fingerprint(self.function)

    @property
    def is_users(self) -> bool:
        """True for a function of a user, False for one of this package."""
        return self.key != "" or not self.function.__module__.startswith("screw_dynamics.")


class KernelSpec(NamedTuple):
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
                    store.warn_once("python -m screw_dynamics.prepare compiles kernels beforehand, with --parts all "
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
