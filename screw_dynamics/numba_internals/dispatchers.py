"""Dispatchers of jitted functions."""
import sys
from typing import Any

from .tested import required


@required("tell jitted functions from others")
def is_jitted(x: Any) -> bool:
    """Return True for a Numba dispatcher."""
    if "numba" not in sys.modules:
        return False
    from numba.core.dispatcher import Dispatcher

    return isinstance(x, Dispatcher)


def may_compile(jitted: Any) -> bool:
    """Return False if a dispatcher is limited to its given signatures or its compilation is disabled."""
    return jitted._can_compile


def let_compile(jitted: Any, allowed: bool) -> None:
    """Make a dispatcher compile for new argument types, or raise TypeError. Its method disable_compile requires an
    existing signature."""
    jitted._can_compile = allowed
