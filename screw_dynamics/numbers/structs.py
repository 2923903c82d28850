"""Numba types whose values are structs: what is in them."""
from collections.abc import Callable

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def member(name: str, kind: types.Type) -> Callable:
    """The intrinsic that reads a member, of a kind, of any struct that has one of this name."""
    @intrinsic
    def get(typing, struct):
        def build(context, builder, signature, args):
            return getattr(cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0]), name)
        return kind(struct), build
    return get
