"""Machine code, compiled once on a machine: kept on disk until any source of the core changes.

Numba's cache checks the age of the caller's file alone, while callees are in others, and it keeps an index beside the
code: two processes that compile at once can leave it pointing at the code of another function. Here each piece of
code is a file of its own, whose name contains hashes of all that the code depends on."""
import fcntl
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from threading import RLock
from time import sleep
from typing import Any

from numba import njit, types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

from screw_dynamics.numbers.values import FLAGS

ROOMS = "numbers", "screws", "model", "compiled", "algorithms", "simulation"     # the others are plain Python
PATIENCE = 60.0     # s: how long to wait for another process that compiles the same code, before compiling it too


def _sources():
    """A hash of all sources that compiled code may come from."""
    package = Path(__file__).parents[1]
    files = sorted(path.relative_to(package) for room in ROOMS for path in (package / room).rglob("*.py"))
    return hashlib.sha256(b"".join(str(f).encode() + (package / f).read_bytes() for f in files)).hexdigest()[:16]


_STAMP = _sources()
_compiling = RLock()


def compiled(key: str | None = "", **options: Any) -> Callable[[Callable], Dispatcher]:
    """Make a function an entry point: compiled by `prepare` alone, and kept on disk if a directory is writable.

    key: what its code depends on besides the sources, if its closure does not say that; None: keep nothing on disk."""
    def decorate(function):
        dispatcher = njit(**FLAGS, **options)(function)
        with suppress(RuntimeError):                          # nowhere to write: compile in every process
            if key is not None:
                dispatcher._cache = _Cache(function, key)
        dispatcher._can_compile = False                       # an unforeseen type must raise, not compile for seconds
        return dispatcher
    return decorate


def prepare(dispatcher: Dispatcher, signature: tuple[types.Type, ...]) -> Any:
    """Compile an entry point for arguments of these Numba types, unless it already is; returns the compile result."""
    if signature not in dispatcher.overloads:
        cache = dispatcher._cache
        with _compiling, cache.alone(signature, dispatcher) if isinstance(cache, _Cache) else nullcontext():
            dispatcher._can_compile = True
            try:
                dispatcher.compile(signature)                 # nothing to do if another thread was first
            finally:
                dispatcher._can_compile = False
    return dispatcher.overloads[signature]


def is_kept(dispatcher: Dispatcher, signature: tuple[types.Type, ...]) -> bool:
    """True if `prepare` need not compile: the code is in memory or on disk."""
    cache = dispatcher._cache
    return signature in dispatcher.overloads or isinstance(cache, _Cache) and cache.path(signature, dispatcher).exists()


class _Cache(FunctionCache):
    """The cache of one function. If its directory becomes unreadable or unwritable, the code is compiled anew."""

    def __init__(self, function, key):
        super().__init__(function)
        self._key = key
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, _STAMP)

    def _index_key(self, sig, codegen):
        return (sig, codegen.magic_tuple(), self._key) if self._key else super()._index_key(sig, codegen)

    def path(self, signature: tuple[types.Type, ...], dispatcher: Dispatcher) -> Path:
        """The file of a piece of code."""
        key = self._index_key(signature, dispatcher.targetctx.codegen())
        return Path(self._cache_path) / self._cache_file._name(key)

    @contextmanager
    def alone(self, signature: tuple[types.Type, ...], dispatcher: Dispatcher) -> Iterator[None]:
        """Let processes that start together compile a piece of code once: the others wait, then load it."""
        path = Path(f"{self.path(signature, dispatcher)}.lock")
        try:
            self._impl.locator.ensure_cache_path()
            file = open(path, "w")
        except OSError:                                       # nowhere to write: compile in every process
            yield
            return
        with file:
            for _ in range(int(PATIENCE / 0.05)):
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError:
                    sleep(0.05)
            yield
            with suppress(OSError):
                path.unlink()

    @contextmanager
    def _guard_against_spurious_io_errors(self):
        with suppress(OSError):
            yield


class _Files(IndexDataCacheFile):
    """The files of one function, with no index: screw_dynamics-<sources>-<function>-<types, machine, closure>.nbc."""

    def _name(self, key):
        digest = hashlib.sha256(repr((self._version, key)).encode()).hexdigest()[:16]
        return f"screw_dynamics-{self._source_stamp}-{self._index_name.removesuffix('.nbi')}-{digest}.nbc"

    def save(self, key, data):
        """Write a piece of code, and remove those compiled from other sources."""
        self._save_data(self._name(key), data)
        for file in Path(self._cache_path).glob("screw_dynamics-*"):
            if not file.name.startswith(f"screw_dynamics-{self._source_stamp}-"):
                file.unlink(missing_ok=True)

    def load(self, key):
        """A piece of code, or None if it does not exist or is damaged."""
        try:
            return self._load_data(self._name(key))
        except Exception:                                     # whatever unpickling makes of a file cut short
            return None
