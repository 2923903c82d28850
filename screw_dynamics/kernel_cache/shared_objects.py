"""Kernels as files: built once by Numba and the platform's C compiler, and loaded without Numba.

A kernel is called by its address. Its file is an ordinary shared object with one symbol, or an object file that LLVM
loads, if there is no C compiler or if the code calls functions of Numba. Only code that refers to objects of a process
is in no file."""
import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path

from screw_dynamics.numba_internals import dispatchers
from screw_dynamics.numba_internals.compiler import is_sound, lock, start, types_of

from . import store
from .cache import Form, compiling, file_name
from .dependencies import are_as_imported
from .levels import levels

RUNTIME = Path(__file__).with_name("runtime.c")


def linker() -> list[str] | None:
    """Return the command of the C compiler that links kernels: the first of $CC, cc, gcc and clang that exists; None if
    there is none."""
    chosen: list[str] = []
    try:
        chosen = shlex.split(os.environ.get("CC", ""))
    except ValueError as error:         # a quote that is not closed
        store.say_once(f"CC={os.environ['CC']!r} is not a command ({error}): kernels are linked by cc, gcc or clang")
    commands = chosen, ["cc"], ["gcc"], ["clang"]
    return next((command for command in commands if command and shutil.which(command[0])), None)


def address_of(form: Form) -> int:
    """Return the address of a kernel, which is loaded or built. Its code lives as long as the process."""
    found = _loaded(form)
    if found:
        return found
    start()
    with lock:
        if not is_sound():
            return dispatchers.address_of(form.compiled.function, types_of(form.signature))
        name = next(iter(_names(form)), None)
        with compiling(form.compiled, name):
            return _loaded(form) or _built(form, name)      # another process or thread may have been first


def is_kept(form: Form) -> bool:
    """Return True if the kernel's code is in the cache."""
    return next(_files(form), None) is not None


def file_of(form: Form) -> Path | None:
    """Return the trusted shared object of a kernel; None if there is none."""
    return next((path for path, _ in _files(form) if path.suffix == ".so"), None)


def _files(form):
    """Yield the path and the data of each trusted file of a kernel, the best first."""
    names = _names(form)
    for suffix in store.SHARED_OBJECT, store.OBJECT:
        yield from (found for name in names if (found := store.found(name, suffix)))


def _names(form):
    """Return the names of files that may hold a kernel, those of the best instruction level first. A user's function
    contains Numba's implementations of NumPy functions, so that the versions of Numba and llvmlite count."""
    versions = ()
    if form.compiled.key or not levels():
        from importlib.metadata import PackageNotFoundError, version  # takes as long as all of kernel_cache to import

        try:
            versions = version("numba"), version("llvmlite")
        except PackageNotFoundError:
            return []
    names = [file_name(form.compiled, form.signature, level, *versions) for level in levels() or _target()]
    return [name for name in names if name is not None]


@cache
def _target():
    """Return the processor and the settings for which Numba compiles, in place of levels; () if they are not known."""
    start()
    if not is_sound():
        return ()
    from screw_dynamics.numba_internals import objects

    return (objects.target(),)


def _loaded(form):
    """Return the address of a kernel from its file; 0 if there is no file, or if the system cannot load it."""
    for path, data in _files(form):
        if path.suffix == ".so":
            if found := _address(path):
                return found
        elif is_sound():
            from screw_dynamics.numba_internals import objects

            with suppress(Exception):           # an unpickled constant may raise anything
                return objects.load(objects.from_bytes(data), form.compiled.is_users)
    return 0


def _address(path):
    """Return the address of the symbol of a shared object, which stays loaded; 0 if the system cannot load it."""
    try:
        return ctypes.cast(ctypes.CDLL(str(path.resolve())).kernel, ctypes.c_void_p).value
    except OSError as error:
        store.say_once(f"kernels in {path.parent} cannot be loaded as shared objects: {error}")
        return 0


def _built(form, name):
    """Build a kernel, store it if possible, and return its address."""
    from screw_dynamics.numba_internals import objects

    built = objects.object_of(form.compiled.function, types_of(form.signature), next(iter(levels()), None))
    may_keep = name is not None and are_as_imported()
    if built.is_linkable and sys.platform.startswith("linux") and (whole := _linked(built.data)):
        kept = store.keep(name, whole, store.SHARED_OBJECT) if may_keep else None
        with nullcontext(kept) if kept else _temporary(whole) as path:
            if found := _address(path):
                return found
    if may_keep and (content := built.to_bytes()):
        store.keep(name, content, store.OBJECT)
    return objects.load(built, not built.is_linkable)


def _linked(data):
    """Return the shared object that is linked from the data of an object file; None if that fails."""
    compiler = linker()
    if not compiler:
        store.say_once("there is no C compiler: Numba is imported to load kernels")
        return None
    try:
        with _temporary(data) as part:
            whole = part.with_suffix(".so")
            command = [*compiler, "-shared", "-O1", "-fPIC", "-fvisibility=hidden", "-s", "-o", whole, part, RUNTIME,
                       "-lm"]
            subprocess.run(command, check=True, capture_output=True, text=True, errors="replace")
            return whole.read_bytes()
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", "").strip() or error
        store.say_once(f"kernels cannot be linked, and Numba is imported to load them: {reason}")
        return None


@contextmanager
def _temporary(data):
    """Give a temporary file with this data."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.o")
        path.write_bytes(data)
        yield path
