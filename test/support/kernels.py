"""Caches of machine code that have some kernels alone."""
import os
from collections.abc import Iterable
from pathlib import Path

from screw_dynamics import prepare
from screw_dynamics.kernel_cache.cache import cache_of
from screw_dynamics.kernel_cache.store import Folder
from screw_dynamics.numba_internals.kept_code import context_of


def cache_with(kernels: Iterable[str], path: Path) -> dict[str, str]:
    """The environment in which a process has these kernels of `prepare.forms()`, as far as there are any, and no
    others."""
    folder, known = Folder(path, {os.geteuid()}), prepare.forms()
    for dispatcher, signature in map(known.__getitem__, kernels):
        cache, target = cache_of(dispatcher), context_of(dispatcher)
        if (data := cache.find(signature, target)) is not None:
            folder.write(next(cache._names(signature, target)), data)
    return {"SCREW_DYNAMICS_CACHE_DIR": str(path)}
