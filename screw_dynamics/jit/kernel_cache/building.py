"""Kernels are built: Numba makes an object file, and the platform's C compiler links it."""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

from screw_dynamics.jit.numba_internals import dispatchers, objects
from screw_dynamics.jit.numba_internals.compiler import types_of

from . import store
from .dependencies import are_as_imported
from .levels import levels
from .specs import KernelSpec

RUNTIME = Path(__file__).with_name("runtime.c")


def linker() -> list[str] | None:
    """Return the command of the C compiler that links kernels: the first of $CC, cc, gcc and clang that exists; None if
    there is none."""
    chosen: list[str] = []
    try:
        chosen = shlex.split(os.environ.get("CC", ""))
    except ValueError as error:         # a quote that is not closed
        store.warn_once(f"CC={os.environ['CC']!r} is not a command ({error}): kernels are linked by cc, gcc or clang")
    commands = chosen, ["cc"], ["gcc"], ["clang"]
    return next((command for command in commands if command and shutil.which(command[0])), None)


def build(spec: KernelSpec, name: str | None) -> int:
    """Build a kernel, store it under a name if possible, and return its address."""
    built = objects.object_of(spec.compiled.function, types_of(spec.signature), next(iter(levels()), None))
    if built is None:
        return dispatchers.address_of(spec.compiled.function, types_of(spec.signature))
    may_keep = name is not None and are_as_imported()
    if built.is_linkable and sys.platform.startswith("linux") and (whole := _linked(built.data)):
        kept = store.keep(name, whole, store.SHARED_OBJECT) if may_keep else None
        with nullcontext(kept) if kept else _temporary(whole) as path:
            if found := store.address_in(path):
                return found
    if may_keep and (content := built.to_bytes()):
        store.keep(name, content, store.OBJECT)
    return objects.load(built, not built.is_linkable)


def _linked(data):
    """Return the shared object that is linked from the data of an object file; None if that fails."""
    compiler = linker()
    if not compiler:
        store.warn_once("there is no C compiler: Numba is imported to load kernels")
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
        store.warn_once(f"kernels cannot be linked, and Numba is imported to load them: {reason}")
        return None


@contextmanager
def _temporary(data):
    """Give a temporary file with this data."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.o")
        path.write_bytes(data)
        yield path
