"""Options of njit that choose the compiler of a function; without any, it is Numba's own."""
from collections.abc import Callable
from typing import Any

from .compiler import FLAGS
from .tested import give_up, in_use

CALLEE: dict = {}       # of a function of this package that compiled code alone calls
USERS: dict = {}        # of a user's
ENTRY: dict = {}        # of an entry point

if in_use():
    try:
        from .linking import CalleeCompiler, EntryCompiler, UsersCompiler
    except (ImportError, AttributeError, TypeError) as error:
        give_up(error)
    else:
        CALLEE, USERS, ENTRY = (dict(pipeline_class=kind) for kind in (CalleeCompiler, UsersCompiler, EntryCompiler))


def entry_point(function: Callable) -> Any:
    """Return the dispatcher of a function that Python calls."""
    import numba

    return numba.njit(**FLAGS, **ENTRY)(function)
