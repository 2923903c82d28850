"""Compiled functions that compiled code calls through addresses read at run time, so that a change of one does not
recompile the other. Their arguments are numbers, among them addresses of arrays. In plain Python, without Numba's JIT,
the address of a function is its index in a list; addresses of arrays are real."""
import ctypes
from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np

from screw_dynamics.jit.kernel_cache import shared_objects
from screw_dynamics.jit.kernel_cache.specs import KernelSpec
from screw_dynamics.jit.numba_internals.compiler import (
    cgutils,
    intrinsic,
    ir,
    numba_arrays,
    numba_calls,
    overload,
    types,
)
from screw_dynamics.numbers.structs import numba_types
from screw_dynamics.numbers.values import PLAIN, null

_plain: list = [None]       # the functions with addresses in plain Python; address 0 is no function


def plain_address(function: Callable) -> int:
    """Return the address of a function in plain Python, for `call` and `attempt`."""
    _plain.append(function)
    return len(_plain) - 1


@cache
def address_of(spec: KernelSpec) -> int:
    """Return the address of the compiled function of a KernelSpec, which lives as long as the process."""
    return plain_address(spec.compiled) if PLAIN else shared_objects.address_of(spec)


@cache
def function_at(where: int, count: int) -> Callable[..., int]:
    """Return the function of `count` words at an address, for Python without the extension. It raises the function's
    exception if the function fails."""
    if PLAIN:
        return _plain[where]
    result, error = ctypes.c_int64(0), ctypes.c_void_p()
    native = ctypes.PYFUNCTYPE(ctypes.c_int, *(ctypes.c_void_p,) * 2, *(ctypes.c_ssize_t,) * count)(where)

    def function(*words):
        if status := native(ctypes.addressof(result), ctypes.addressof(error), *words):
            raise numba_calls.exception_of(status, error.value or 0)
        return result.value
    return function


def _call(context, builder, where, kinds, arguments):
    kinds = [types.unliteral(kind) for kind in kinds]
    return numba_calls.call_at(context, builder, where, kinds, cgutils.unpack_tuple(builder, arguments))


def call(where: int, arguments: tuple) -> None:
    """Call the function at an address with a tuple of arguments. The function returns and raises nothing."""
    _plain[where](*arguments)


@intrinsic
def _native_call(typing, where, arguments):
    def build(context, builder, signature, args):
        _call(context, builder, args[0], signature.args[1], args[1])
        return context.get_dummy_value()
    return types.void(types.intp, arguments), build


@overload(call)
def _compiled_call(where, arguments):
    return lambda where, arguments: _native_call(where, arguments)


@intrinsic
def call_and_raise(typing: Any, where: Any, arguments: Any) -> tuple:
    """Call the function at an address with a tuple of arguments, in compiled code. The function returns nothing; the
    caller raises what it raises."""
    def build(context, builder, signature, args):
        status = _call(context, builder, args[0], signature.args[1], args[1])
        with cgutils.if_unlikely(builder, status.is_error):
            details = builder.ptrtoint(status.excinfoptr, cgutils.intp_t)
            numba_calls.raise_from(context, builder, status.code, details)
        return context.get_dummy_value()
    return types.void(types.intp, arguments), build


def attempt(where: int, arguments: tuple, failure: np.ndarray) -> None:
    """Call the function at an address. If it raises, failure[0] becomes nonzero: see `fail`. failure: int64 (2,). In
    plain Python the exception propagates."""
    _plain[where](*arguments)


@intrinsic
def _native_attempt(typing, where, arguments, failure):
    def build(context, builder, signature, args):
        status = _call(context, builder, args[0], signature.args[1], args[1])
        with cgutils.if_unlikely(builder, status.is_error):
            words = numba_arrays.make_array(signature.args[2])(context, builder, args[2]).data
            builder.store(builder.sext(status.code, cgutils.intp_t), words)
            builder.store(builder.ptrtoint(status.excinfoptr, cgutils.intp_t),
                          builder.gep(words, [cgutils.intp_t(1)]))
        return context.get_dummy_value()
    return types.void(types.intp, arguments, failure), build


@overload(attempt)
def _compiled_attempt(where, arguments, failure):
    return lambda where, arguments, failure: _native_attempt(where, arguments, failure)


def fail(code: int, details: int) -> None:
    """Raise the error that a call of `attempt` stored in failure[0] and failure[1], if failure[0] is not 0."""


@intrinsic
def _native_fail(typing, code, details):
    def build(context, builder, signature, args):
        numba_calls.raise_from(context, builder, builder.trunc(args[0], ir.IntType(32)), args[1])
        return context.get_dummy_value()
    return types.void(types.intp, types.intp), build


@overload(fail)
def _compiled_fail(code, details):
    return lambda code, details: _native_fail(code, details)


def at(array: np.ndarray) -> int:
    """Return the address of an array's first number."""
    return array.ctypes.data


@intrinsic
def _native_at(typing, array):
    def build(context, builder, signature, args):
        return builder.ptrtoint(numba_types.data_of(builder, args[0]), cgutils.intp_t)
    return types.intp(array), build


@overload(at)
def _compiled_at(array):
    return lambda array: _native_at(array)


def array_at(like: Any, where: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return the contiguous array of this shape at an address, of numbers of the kind of `like`. It holds no reference
    to the memory."""
    kind = ctypes.c_int64 if isinstance(like, int) else ctypes.c_double
    return np.ctypeslib.as_array((kind * prod(shape)).from_address(int(where))).reshape(shape)


@intrinsic
def _native_array_at(typing, like, where, shape):
    like = types.unliteral(like)
    result = numba_types.View(like, len(shape), "C", aligned=getattr(like, "bitwidth", 64) <= 64)

    def build(context, builder, signature, args):
        data = builder.inttoptr(args[1], ir.IntType(8).as_pointer())
        lengths = cgutils.unpack_tuple(builder, args[2])
        strides = [context.get_constant(types.intp, like.bitwidth // 64)]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        return numba_types.view_at(context, builder, result, data, lengths, strides)
    return result(like, types.intp, shape), build


@overload(array_at)
def _compiled_array_at(like, where, shape):
    return lambda like, where, shape: _native_array_at(like, where, shape)


@intrinsic
def fresh(typing: Any, like: Any, shape: Any) -> tuple:
    """Return a new, uninitialized array of numbers of the kind of `like`."""
    result = types.Array(types.unliteral(like), len(shape), "C", aligned=getattr(like, "bitwidth", 64) <= 64)

    def build(context, builder, signature, args):
        return numba_arrays.new_array(context, builder, result, cgutils.unpack_tuple(builder, args[1]))._getvalue()
    return result(like, shape), build


def zeros_like(x: np.ndarray) -> np.ndarray:
    """Return a new array (n,) of zeros, of the kind of numbers of x."""
    return np.zeros(x.shape, dtype=x.dtype)


@overload(zeros_like)
def _compiled_zeros_like(x):
    def made(x):
        like = null(x[0])
        result = fresh(like, x.shape)
        for k in range(len(x)):
            result[k] = like
        return result
    return made


def read_only(x: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array."""
    x = x.view()
    x.flags.writeable = False
    return x


@intrinsic
def _native_read_only(typing, x):
    result = x.copy(readonly=True)

    def build(context, builder, signature, args):
        return numba_arrays.borrowed(context, builder, result, args[0])
    return result(x), build


@overload(read_only)
def _compiled_read_only(x):
    return lambda x: _native_read_only(x)
