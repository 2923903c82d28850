"""Calls of compiled functions by address, intrinsics and conversions. Numba documents only `cfunc`, whose functions
cannot raise."""
import ctypes
from collections.abc import Sequence
from typing import Any

from numba import types
from numba.extending import typeof_impl

from .tested import required

with required("convert numbers to lanes, and declare intrinsics"):
    from numba.core.registry import cpu_target
    from numba.core.typeconv import Conversion

SAFE = Conversion.safe          # a conversion without loss


def recognize(kind: type) -> None:
    """Make compiled code that names an object of this class call the object's intrinsic, its attribute `made`."""
    @typeof_impl.register(kind)
    def _typeof(x, context):
        return cpu_target.typing_context.resolve_value_type(x.made)


class _Details(ctypes.Structure):
    """The description of an exception that a compiled function returns: Numba's excinfo_t."""

    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_int32), ("values", ctypes.c_void_p),
                ("unwrap", ctypes.c_void_p), ("count", ctypes.c_int32)]


@required("pass on errors of compiled functions")
def exception_of(status: int, details: int) -> BaseException:
    """Return the exception of a compiled function, from its status and the address of its details, or 0."""
    from numba.core.serialize import loads, runtime_build_excinfo_struct  # imported only after a failure
    if status <= 0 or not details:
        return RuntimeError(f"a kernel failed with status {status}")
    found = _Details.from_address(details)
    text = ctypes.string_at(found.data, found.size)
    if found.count > 0:                         # with arguments that are known at run time only
        unwrap = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(found.unwrap)
        kind, arguments, _ = runtime_build_excinfo_struct(text, unwrap(found.values))
    else:
        kind, arguments, _ = loads(text)
    return kind(*(arguments or ()))


@required("call compiled functions at their addresses")
def call_at(context: Any, builder: Any, where: Any, kinds: Sequence[types.Type], arguments: Sequence) -> Any:
    """Build a call of the function at an address, which returns nothing. Return its status, with is_error, code and
    excinfoptr."""
    function = context.call_conv.get_function_type(types.none, kinds)
    pointer = builder.inttoptr(where, function.as_pointer())
    status, _ = context.call_conv.call_function(builder, pointer, types.none, kinds, arguments)
    return status


@required("pass on errors of compiled functions")
def raise_from(context: Any, builder: Any, code: Any, details: Any) -> None:
    """Build code that raises the error of an earlier call, if there is one, from its int32 status code and the address
    of its details."""
    convention = context.call_conv
    holder = convention._get_excinfo_argument(builder.function).type.pointee
    status = convention._get_return_status(builder, code, builder.inttoptr(details, holder))
    with builder.if_then(status.is_error, likely=False):
        convention.return_status_propagate(builder, status)
