"""Compiled functions that compiled code calls at addresses, which it reads at run time: neither is compiled again where
the other changes. Their arguments are numbers, among them addresses of arrays."""
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from screw_dynamics.numbers.tables import view


def address(compile_result: Any) -> int:
    """The address of a compiled function, of which `call` and `attempt` make calls. Its code lives as long as the
    dispatcher that it was compiled by."""
    library, descriptor = compile_result.library, compile_result.fndesc
    return library.get_pointer_to_function(descriptor.llvm_func_name)


def _call(context, builder, where, kinds, arguments):
    kinds = [types.unliteral(kind) for kind in kinds]
    function = context.call_conv.get_function_type(types.none, kinds)
    pointer = builder.inttoptr(where, function.as_pointer())
    arguments = cgutils.unpack_tuple(builder, arguments)
    status, _ = context.call_conv.call_function(builder, pointer, types.none, kinds, arguments)
    return status


@intrinsic
def call(typing: Any, where: Any, arguments: Any) -> tuple:
    """Call the function at an address, which returns and raises nothing, with a tuple of arguments."""
    def build(context, builder, signature, args):
        _call(context, builder, args[0], signature.args[1], args[1])
        return context.get_dummy_value()
    return types.void(types.intp, arguments), build


@intrinsic
def attempt(typing: Any, where: Any, arguments: Any, failure: Any) -> tuple:
    """Call the function at an address. If it raises, failure[0] becomes other than 0: see `fail`; int64 (2,)."""
    def build(context, builder, signature, args):
        status = _call(context, builder, args[0], signature.args[1], args[1])
        with cgutils.if_unlikely(builder, status.is_error):
            words = make_array(signature.args[2])(context, builder, args[2]).data
            builder.store(builder.sext(status.code, cgutils.intp_t), words)
            builder.store(builder.ptrtoint(status.excinfoptr, cgutils.intp_t),
                          builder.gep(words, [cgutils.intp_t(1)]))
        return context.get_dummy_value()
    return types.void(types.intp, arguments, failure), build


@intrinsic
def fail(typing: Any, code: Any, details: Any) -> tuple:
    """Raise what a call of `attempt` stored as failure[0] and failure[1], if failure[0] is not 0."""
    def build(context, builder, signature, args):
        convention = context.call_conv
        code, details = builder.trunc(args[0], ir.IntType(32)), args[1]
        holder = convention._get_excinfo_argument(builder.function).type.pointee
        status = convention._get_return_status(builder, code, builder.inttoptr(details, holder))
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()
    return types.void(types.intp, types.intp), build


@intrinsic
def at(typing: Any, array: Any) -> tuple:
    """The address of the first number of an array."""
    def build(context, builder, signature, args):
        return builder.ptrtoint(make_array(signature.args[0])(context, builder, args[0]).data, cgutils.intp_t)
    return types.intp(array), build


@intrinsic
def array_at(typing: Any, like: Any, where: Any, shape: Any) -> tuple:
    """The contiguous array of this shape at an address, of numbers of the kind of `like`. It holds no reference."""
    like = types.unliteral(like)
    result = types.Array(like, len(shape), "C", aligned=getattr(like, "bitwidth", 64) <= 64)

    def build(context, builder, signature, args):
        data = builder.inttoptr(args[1], ir.IntType(8).as_pointer())
        lengths = cgutils.unpack_tuple(builder, args[2])
        strides = [context.get_constant(types.intp, like.bitwidth // 64)]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        return view(context, builder, result, data, lengths, strides)
    return result(like, types.intp, shape), build


