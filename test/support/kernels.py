"""Caches of machine code that have some kernels alone."""
import shutil
from collections.abc import Iterable
from pathlib import Path

from screw_dynamics import prepare
from screw_dynamics.compiled.functions import spec_of_words
from screw_dynamics.jit.kernel_cache import dependencies, shared_objects, store


def cache_with(kernels: Iterable[str], path: Path) -> dict[str, str]:
    """The environment in which a process has these kernels of prepare's part "core", as far as there are any, and no
    others; and the hashes of sources, which take seconds to find."""
    known = prepare.forms("core")
    path.mkdir(parents=True, exist_ok=True)
    dependencies.digest(dependencies.EVERYTHING)        # they are kept now
    for file in store.own().path.glob(f"*{store.SOURCES}"):
        shutil.copy(file, path)
    for spec in map(known.__getitem__, kernels):
        if (file := shared_objects.file_of(spec_of_words(spec))) is not None:
            shutil.copy(file, path)
    return {"SCREW_DYNAMICS_CACHE_DIR": str(path)}
