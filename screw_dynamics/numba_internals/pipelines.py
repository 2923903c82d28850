"""Options of njit that choose the compiler of a function; without any, it is Numba's own."""
from collections.abc import Callable
from typing import Any

from .compiler import FLAGS
from .tested import give_up, in_use

CALLEE: dict = {}       # of a function that compiled code alone calls
ENTRY: dict = {}        # of an entry point

if in_use():
    try:
        from .linking import CalleeCompiler, EntryCompiler
    except (ImportError, AttributeError, TypeError) as error:
        give_up(error)
    else:
        CALLEE, ENTRY = dict(pipeline_class=CalleeCompiler), dict(pipeline_class=EntryCompiler)


def entry_point(function: Callable) -> Any:
    """Return the dispatcher of a function that Python calls."""
    import numba

    return numba.njit(**FLAGS, **ENTRY)(function)
