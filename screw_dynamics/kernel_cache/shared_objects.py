"""Kernels as shared objects: built once by Numba and the platform's C compiler, and loaded without Numba.

A kernel that is called by its address is an ordinary shared object with one symbol. If there is no C compiler, or the
code calls more than the C library and runtime.c, Numba makes machine code in each process: cache.py."""
import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from screw_dynamics.numba_internals import tested
from screw_dynamics.numba_internals.compiler import lock, start, types_of

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
    """Return the address of a kernel, which is built if it is missing; 0 if it cannot be built."""
    file = file_of(form)
    if file is not None:
        return _address(file)
    name = next(iter(_names(form)), None)
    if name is None or not sys.platform.startswith("linux"):
        return 0
    if not linker():
        store.say_once("there is no C compiler: Numba makes machine code of kernels, and is imported to load it")
        return 0
    start()
    with lock:
        if not tested.in_use() or form.is_kept:     # the code is in Numba's form
            return 0
        with compiling(form.compiled, name):
            file = file_of(form)                    # another process or thread may have been first
            return _built(form, name) if file is None else _address(file)


def is_kept(form: Form) -> bool:
    """Return True if the kernel's code is in the cache."""
    return file_of(form) is not None or form.is_kept


def file_of(form: Form) -> Path | None:
    """Return the trusted file of a kernel; None if there is none."""
    return next((found[0] for name in _names(form) if (found := store.found(name, store.SHARED_OBJECT))), None)


def _names(form):
    """Return the names of files that may hold a kernel, those of the best instruction level first. A user's function
    contains Numba's implementations of NumPy functions, so that the versions of Numba and llvmlite count."""
    versions = ()
    if form.compiled.key:
        from importlib.metadata import PackageNotFoundError, version  # takes as long as all of kernel_cache to import

        try:
            versions = version("numba"), version("llvmlite")
        except PackageNotFoundError:
            return []
    names = [file_name(form.compiled, form.signature, level, *versions) for level in levels()]
    return [name for name in names if name is not None]


def _address(path):
    """Return the address of the symbol of a shared object, which stays loaded; 0 if the system cannot load it."""
    try:
        return ctypes.cast(ctypes.CDLL(str(path.resolve())).kernel, ctypes.c_void_p).value
    except OSError as error:
        store.say_once(f"kernels in {path.parent} cannot be loaded, and every process compiles them: {error}")
        return 0


def _built(form, name):
    """Build a kernel and store it if possible. Return its address; 0 if it cannot be built."""
    from screw_dynamics.numba_internals.objects import object_of

    data = object_of(form.compiled.function, types_of(form.signature), levels()[0])
    if data is None:
        return 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            whole = _linked(data, Path(folder))
            kept = store.keep(name, whole.read_bytes(), store.SHARED_OBJECT) if are_as_imported() else None
            return _address(kept or whole)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", "").strip() or error
        store.say_once(f"kernels cannot be linked, and every process compiles them: {reason}")
        return 0


def _linked(data, folder):
    """Return the shared object that is linked from the data of an object file, in a folder."""
    parts, whole = folder / "kernel.o", folder / "kernel.so"
    parts.write_bytes(data)
    command = [*linker(), "-shared", "-O1", "-fPIC", "-fvisibility=hidden", "-s", "-o", whole, parts, RUNTIME, "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True, errors="replace")
    return whole
