"""Serialization of compile results, and a dispatcher's use of a cache other than Numba's.

Nothing of this module is called, or imported from Numba, unless `tested.in_use()`."""
import pickle
from typing import Any


def bytes_of(result: Any) -> bytes | None:
    """Return a compile result as bytes for a file; None if its code refers to objects of this process."""
    from numba.core.serialize import dumps
    return None if result.library.has_dynamic_globals else dumps(result._reduce())


def result_of(data: bytes, target_context: Any) -> Any:
    """Return the compile result of bytes that were written with the same versions of Numba and Python, and load its
    machine code. Raises an exception of any kind for other versions."""
    from numba.core.compiler import CompileResult
    return CompileResult._rebuild(target_context, *pickle.loads(data))


def get_ready(target_context: Any, everything: bool) -> None:
    """Make the functions available that loaded machine code calls: Numba's runtime for code of this package; for a
    user's code all functions, whose import takes 0.4 s."""
    from numba.core.runtime import rtsys
    rtsys.initialize(target_context)
    if everything:
        target_context.refresh()


def target() -> tuple:
    """Return the target of machine code: triple, name and features of the processor; and Numba's settings for machine
    code."""
    from numba import config
    from numba.core.registry import cpu_target
    return (*cpu_target.target_context.codegen().magic_tuple(), config.OPT, config.LOOP_VECTORIZE,
            config.SLP_VECTORIZE, config.BOUNDSCHECK)


def keep_by(dispatcher: Any, cache: Any) -> None:
    """Make a dispatcher call load_overload(signature, target context) of a cache before it compiles, and
    save_overload(signature, result) afterwards."""
    dispatcher._cache = cache
