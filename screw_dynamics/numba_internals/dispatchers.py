"""What `njit` returns, and what it compiles."""
from typing import Any

from .tested import required

with required("tell jitted functions from others"):
    from numba.core.compiler import CompileResult
    from numba.core.dispatcher import Dispatcher

__all__ = "CompileResult", "Dispatcher", "let_compile", "may_compile"


def may_compile(jitted: Any) -> bool:
    """False if a dispatcher keeps to the signatures that it was given, or has been told to."""
    return jitted._can_compile


def let_compile(jitted: Any, allowed: bool) -> None:
    """Have a dispatcher compile for new types of arguments, or raise TypeError. Its method disable_compile does that
    only once there is a signature."""
    jitted._can_compile = allowed
