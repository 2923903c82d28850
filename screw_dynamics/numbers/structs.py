"""Numba types of this package's numbers, imported at the first compilation, and members of structs."""
from collections.abc import Callable
from typing import Any

from screw_dynamics.jit.numba_internals.compiler import Module, cgutils, declare, intrinsic

numba_types: Any = Module("screw_dynamics.numbers.numba_types")
declare(lambda: numba_types.LANE)


def member(name: str, kind: Callable[[], Any]) -> Callable:
    """Return the intrinsic that reads a member by name, of the type kind(), from any struct."""
    @intrinsic
    def get(typing, struct):
        def build(context, builder, signature, args):
            return getattr(cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0]), name)
        return kind()(struct), build
    return get
