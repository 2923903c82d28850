"""Kernels as files: built once by Numba and the platform's C compiler, and loaded without Numba.

A kernel is called by its address. Its file is an ordinary shared object with one symbol, or an object file that LLVM
loads, if there is no C compiler or if the code calls functions of Numba. Only code that refers to objects of a process
is in no file."""
from contextlib import suppress
from functools import cache
from pathlib import Path

from screw_dynamics.jit.numba_internals import dispatchers, tested
from screw_dynamics.jit.numba_internals.compiler import is_sound, lock, start, types_of

from . import store
from .levels import levels
from .specs import KernelSpec, compiling, file_name


def address_of(spec: KernelSpec) -> int:
    """Return the address of a kernel, which is loaded or built. Its code lives as long as the process."""
    found = _loaded(spec)
    if found:
        return found
    start()
    with lock:
        if not is_sound():
            return dispatchers.address_of(spec.compiled.function, types_of(spec.signature))
        from .building import build

        name = next(iter(_names(spec)), None)
        with compiling(spec.compiled, name):
            return _loaded(spec) or build(spec, name)       # another process or thread may have been first


def is_kept(spec: KernelSpec) -> bool:
    """Return True if the kernel's code is in the cache."""
    return next(_files(spec), None) is not None


def file_of(spec: KernelSpec) -> Path | None:
    """Return the trusted shared object of a kernel; None if there is none."""
    return next((path for path, _ in _files(spec) if path.suffix == ".so"), None)


def _files(spec):
    """Yield the path and the data of each trusted file of a kernel, the best first."""
    names = _names(spec)
    for suffix in store.SHARED_OBJECT, store.OBJECT:
        yield from (found for name in names if (found := store.found(name, suffix)))


def _names(spec):
    """Return the names of files that may hold a kernel, those of the best instruction level first. A user's function
    contains Numba's implementations of NumPy functions, so that the versions of Numba and llvmlite count."""
    versions = ()
    if spec.compiled.key or not levels():
        from importlib.metadata import PackageNotFoundError, version  # takes as long as all of kernel_cache to import

        try:
            versions = version("numba"), version("llvmlite")
        except PackageNotFoundError:
            return []
    names = [file_name(spec.compiled, spec.signature, level, *versions) for level in levels() or _target()]
    return [name for name in names if name is not None]


@cache
def _target():
    """Return the processor and the settings for which Numba compiles, in place of levels; () if they are not known."""
    if not tested.in_use():
        return ()
    from screw_dynamics.jit.numba_internals import objects

    return (objects.target(),)


def _loaded(spec):
    """Return the address of a kernel from its file; 0 if there is no file, or if the system cannot load it."""
    for path, data in _files(spec):
        if path.suffix == ".so":
            if found := store.address_in(path):
                return found
        elif tested.in_use():
            from screw_dynamics.jit.numba_internals import objects

            with suppress(Exception):           # an unpickled constant may raise anything
                return objects.load(objects.from_bytes(data), spec.compiled.is_users)
    return 0
