"""Compiled functions by their addresses. Numba documents `cfunc`, whose functions cannot raise, and nothing else."""
from collections.abc import Sequence
from typing import Any

from numba import types

from .tested import required


@required("call compiled functions at their addresses")
def address_of(result: Any) -> int:
    """The address of the function of a compile result. It lives as long as the dispatcher that compiled it."""
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)


@required("call compiled functions at their addresses")
def call_at(context: Any, builder: Any, where: Any, kinds: Sequence[types.Type], arguments: Sequence) -> Any:
    """Build a call of the function at an address, which returns nothing: its status, with is_error, code and
    excinfoptr."""
    function = context.call_conv.get_function_type(types.none, kinds)
    pointer = builder.inttoptr(where, function.as_pointer())
    status, _ = context.call_conv.call_function(builder, pointer, types.none, kinds, arguments)
    return status


@required("pass on errors of compiled functions")
def raise_from(context: Any, builder: Any, code: Any, details: Any) -> None:
    """Build what raises the error of an earlier call from its status, int32 code and the address of its details, if
    there is one."""
    convention = context.call_conv
    holder = convention._get_excinfo_argument(builder.function).type.pointee
    status = convention._get_return_status(builder, code, builder.inttoptr(details, holder))
    with builder.if_then(status.is_error, likely=False):
        convention.return_status_propagate(builder, status)
