"""Compile results as bytes, and how a dispatcher is given a cache of another kind than Numba's.

Nothing of this is called, nor imported from Numba, unless `tested.in_use()`."""
import pickle
from typing import Any


def bytes_of(result: Any) -> bytes | None:
    """Return a compile result, to be written to a file; None if its code refers to objects of this process."""
    from numba.core.serialize import dumps
    return None if result.library.has_dynamic_globals else dumps(result._reduce())


def result_of(data: bytes, target_context: Any) -> Any:
    """Return the compile result of bytes that were written with the same versions of Numba and Python; Exception of any
    kind for others. Its machine code is loaded."""
    from numba.core.compiler import CompileResult
    return CompileResult._rebuild(target_context, *pickle.loads(data))


def get_ready(target_context: Any, everything: bool) -> None:
    """Have there what machine code calls that is loaded: of the package Numba's runtime; of a user everything, which
    takes 0.4 s to import."""
    from numba.core.runtime import rtsys
    rtsys.initialize(target_context)
    if everything:
        target_context.refresh()


def target() -> tuple:
    """Return the target of machine code: triple, name and features of the processor; and Numba's settings for it."""
    from numba import config
    from numba.core.registry import cpu_target
    return (*cpu_target.target_context.codegen().magic_tuple(), config.OPT, config.LOOP_VECTORIZE,
            config.SLP_VECTORIZE, config.BOUNDSCHECK)


def keep_by(dispatcher: Any, cache: Any) -> None:
    """Have a dispatcher ask a cache before it compiles, load_overload(signature, target context), and hand it what it
    compiled, save_overload(signature, result)."""
    dispatcher._cache = cache
