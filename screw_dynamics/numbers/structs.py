"""Numba types whose values are structs: what is in them."""
from collections.abc import Callable
from typing import Any

from screw_dynamics.compiler import cgutils, intrinsic


def member(name: str, kind: Callable[[], Any]) -> Callable:
    """The intrinsic that reads a member, of the type kind(), of any struct that has one of this name."""
    @intrinsic
    def get(typing, struct):
        def build(context, builder, signature, args):
            return getattr(cgutils.create_struct_proxy(signature.args[0])(context, builder, value=args[0]), name)
        return kind()(struct), build
    return get
