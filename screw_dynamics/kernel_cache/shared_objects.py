"""Kernels as shared objects: built once by the platform's compiler and linker, and loaded without Numba.

A kernel that is called by its address is an ordinary shared object with one symbol. Where no C compiler is, or a kernel
calls what only Numba has, Numba makes machine code of it in each process, as of users' functions: cache.py."""
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from screw_dynamics.numba_internals import tested

from . import store
from .cache import Form, compiling, sources, types_of
from .fingerprint import fingerprint
from .levels import levels

RUNTIME = Path(__file__).with_name("runtime.c")


def linker() -> str | None:
    """The C compiler that links kernels: $CC, cc, gcc or clang."""
    return next(filter(None, map(shutil.which, (os.environ.get("CC", ""), "cc", "gcc", "clang"))), None)


def address_of(form: Form) -> int:
    """The address of a kernel, which is built if it is not there; 0 where that is not possible."""
    if form.compiled.key is None or not sys.platform.startswith("linux"):
        return 0
    file = file_of(form)
    if file is not None:
        return _address(file)
    if not levels() or not linker() or not tested.in_use():
        return 0
    name = next(_names(form))
    with compiling(form.name, name):
        file = file_of(form)                # another process, or thread, may have been first
        return _built(form, name) if file is None else _address(file)


def is_kept(form: Form) -> bool:
    """True if nothing has to be compiled for a kernel."""
    return file_of(form) is not None or form.is_kept


def file_of(form: Form) -> Path | None:
    """The file of a kernel, if there is one to be trusted."""
    folders = store.installed(), store.own()
    return next((path for name in _names(form) for folder in folders if (path := folder.shared_object(name))), None)


def _names(form) -> Iterator[str]:
    """The names of files that may hold a kernel, for the best level of instructions first."""
    depends = sources(), form.compiled.key or fingerprint(form.compiled.function), repr(form.signature)
    for level in levels():
        digest = hashlib.sha256(repr((*depends, level)).encode()).hexdigest()[:32]
        yield re.sub(r"[^\w.]+", "_", form.name) + "-" + digest


def _address(path):
    """The address of the symbol of a shared object, which is loaded for good; 0 where the system loads none."""
    try:
        return ctypes.cast(ctypes.CDLL(str(path)).kernel, ctypes.c_void_p).value
    except OSError as error:
        store.say_once(f"kernels in {path.parent} cannot be loaded, and every process compiles them: {error}")
        return 0


def _built(form, name):
    """The address of a kernel that is built now, and kept where that is possible."""
    from screw_dynamics.numba_internals.objects import object_of

    data = object_of(form.compiled.function, types_of(form.signature), levels()[0])
    if data is None:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        parts, whole = (Path(folder, file) for file in ("kernel.o", "kernel.so"))
        parts.write_bytes(data)
        done = subprocess.run([linker(), "-shared", "-O1", "-fPIC", "-fvisibility=hidden", "-s", "-o", whole, parts,
                               RUNTIME, "-lm"], capture_output=True, text=True)
        if done.returncode:
            store.say_once(f"kernels cannot be linked, and every process compiles them: {done.stderr.strip()}")
            return 0
        try:
            return _address(store.own().write(name, whole.read_bytes(), store.SHARED_OBJECT))
        except OSError as error:
            store.say_not_kept(error)
            return _address(whole)
