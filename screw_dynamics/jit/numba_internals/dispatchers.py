"""Dispatchers of jitted functions."""
import sys
from collections.abc import Callable
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


@required("call compiled functions at their addresses")
def address_of(function: Callable, signature: tuple) -> int:
    """Compile a function for arguments of these Numba types in Numba's own way, and return its address."""
    import numba

    from .compiler import FLAGS

    jitted = numba.njit(**FLAGS)(function)
    jitted.compile(signature)
    _compiled.append(jitted)
    result = jitted.overloads[signature]
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)


_compiled: list = []        # machine code lives as long as its dispatcher
