"""Options of njit that choose the compiler of a function; without any, it is Numba's own."""
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
