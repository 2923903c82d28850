"""Options of njit that select the compiler of a function; by default Numba's own."""
from collections.abc import Callable
from typing import Any

from .compiler import FLAGS
from .tested import give_up, in_use

CALLEE: dict = {}       # for functions of this package that only compiled code calls
USERS: dict = {}        # for users' functions
ENTRY: dict = {}        # for entry points

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
