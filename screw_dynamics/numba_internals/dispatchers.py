"""Dispatchers of functions that njit has made."""
import sys
from typing import Any

from .tested import required


@required("tell jitted functions from others")
def is_jitted(x: Any) -> bool:
    """Return True for a dispatcher."""
    if "numba" not in sys.modules:
        return False
    from numba.core.dispatcher import Dispatcher

    return isinstance(x, Dispatcher)


def may_compile(jitted: Any) -> bool:
    """False if a dispatcher keeps to the signatures that it was given, or has been told to."""
    return jitted._can_compile


def let_compile(jitted: Any, allowed: bool) -> None:
    """Have a dispatcher compile for new types of arguments, or raise TypeError. Its method disable_compile does that
    only once there is a signature."""
    jitted._can_compile = allowed
