"""Caches of machine code that have some kernels alone."""
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from screw_dynamics import prepare
from screw_dynamics.kernel_cache import shared_objects
from screw_dynamics.kernel_cache.cache import types_of
from screw_dynamics.kernel_cache.store import Folder
from screw_dynamics.numba_internals.kept_code import context_of


def cache_with(kernels: Iterable[str], path: Path) -> dict[str, str]:
    """The environment in which a process has these kernels of `prepare.forms()`, as far as there are any, and no
    others."""
    folder, known = Folder(path, {os.geteuid()}), prepare.forms()
    for form in map(known.__getitem__, kernels):
        if form.is_native:
            if (file := shared_objects.file_of(form)) is not None:
                path.mkdir(exist_ok=True)
                shutil.copy(file, path)
            continue
        cache, kinds, target = form.compiled.cache, types_of(form.signature), context_of(form.compiled.dispatcher)
        if (data := cache.find(kinds, target)) is not None:
            folder.write(next(cache._names(kinds, target)), data)
    return {"SCREW_DYNAMICS_CACHE_DIR": str(path)}
