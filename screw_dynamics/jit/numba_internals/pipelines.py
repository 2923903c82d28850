"""Options of njit that select the compiler of a function; by default Numba's own."""
from .tested import give_up, in_use

CALLEE: dict = {}       # for functions of this package that only compiled code calls
USERS: dict = {}        # for users' functions

if in_use():
    try:
        from .linking import CalleeCompiler, UsersCompiler
    except (ImportError, AttributeError, TypeError) as error:
        give_up(error)
    else:
        CALLEE, USERS = dict(pipeline_class=CalleeCompiler), dict(pipeline_class=UsersCompiler)
