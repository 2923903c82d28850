"""NumPy arrays that compiled code borrows from its caller and checks itself.

Numba takes an array by looking up its type, converting it and counting a reference, 33 ns each, and an unforeseen type
costs 80 us. Here an entry point takes Python objects as they are and reads the fields of NumPy's array object, which
are part of NumPy's binary interface; for anything but an aligned, contiguous float64 array of the right shape it
returns False. The caller holds the objects and the GIL as long as the entry point runs."""
import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from screw_dynamics.numbers.tables import view
from screw_dynamics.numbers.values import PLAIN, kernel
from screw_dynamics.numbers.views import View

# Byte offsets of fields in PyArrayObject, which begins with the header of every Python object.
_HEAD = object.__basicsize__
TYPE, DATA, NDIM, DIMENSIONS, DTYPE, FLAGS = _HEAD - 8, _HEAD, _HEAD + 8, _HEAD + 16, _HEAD + 40, _HEAD + 48
READABLE, WRITABLE = 0x0101, 0x0501         # NPY_ARRAY_C_CONTIGUOUS | ALIGNED (| WRITEABLE)
ARRAY_TYPE, ARRAY_DTYPE = id(np.ndarray), id(np.dtype(float))


class _Borrowed(types.Type):
    def __init__(self):
        super().__init__("Borrowed")


BORROWED = _Borrowed()


@register_model(_Borrowed)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@unbox(_Borrowed)
def _unbox(kind, obj, c):
    return NativeValue(obj)


@intrinsic
def _address(typing, obj):
    return types.intp(obj), lambda context, builder, signature, args: builder.ptrtoint(args[0], cgutils.intp_t)


def _load(bits, result):
    @intrinsic
    def load(typing, address):
        def build(context, builder, signature, args):
            value = builder.load(builder.inttoptr(args[0], ir.IntType(bits).as_pointer()))
            return builder.sext(value, cgutils.intp_t) if bits < 64 else value
        return result(address), build
    return load


_word, _half_word = _load(64, types.intp), _load(32, types.intp)


@intrinsic
def _array_at(typing, address, shape):
    result = View(types.float64, len(shape), "C")

    def build(context, builder, signature, args):
        data = builder.inttoptr(args[0], ir.DoubleType().as_pointer())
        lengths = cgutils.unpack_tuple(builder, args[1])
        strides = [context.get_constant(types.intp, 1)]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        return view(context, builder, result, data, lengths, strides)
    return result(address, shape), build


@intrinsic
def bits(typing: Any, x: Any) -> tuple:
    """The integer with the bits of a float64."""
    return types.intp(x), lambda context, builder, signature, args: builder.bitcast(args[0], cgutils.intp_t)


@kernel
def type_of(obj: Any) -> int:
    """The address of the type of a Python object."""
    return _word(_address(obj) + TYPE)


@kernel
def is_array(obj: Any, shape: tuple[int, ...], flags: int, array_type: int, dtype: int) -> bool:
    """True if a Python object is a float64 array of this shape with these flags."""
    at = _address(obj)
    if _word(at + TYPE) != array_type or _word(at + DTYPE) != dtype or _half_word(at + NDIM) != len(shape):
        return False
    fits = _half_word(at + FLAGS) & flags == flags
    dimensions = _word(at + DIMENSIONS)
    for axis in range(len(shape)):
        fits = fits and _word(dimensions + 8 * axis) == shape[axis]
    return fits


@kernel
def rows_of(obj: Any, flags: int, array_type: int, dtype: int) -> tuple[int, int]:
    """The length of the first axis of a float64 array with these flags, and the numbers in each of its rows; (-1, 0)
    for any other object."""
    at = _address(obj)
    if _word(at + TYPE) != array_type or _word(at + DTYPE) != dtype or _half_word(at + FLAGS) & flags != flags:
        return -1, 0
    dimensions, entries = _word(at + DIMENSIONS), 1
    if _half_word(at + NDIM) == 0:
        return -1, 0
    for axis in range(1, _half_word(at + NDIM)):
        entries *= _word(dimensions + 8 * axis)
    return _word(dimensions), entries


@kernel
def data_at(obj: Any) -> int:
    """The address of the first number of an array object."""
    return _word(_address(obj) + DATA)


@kernel
def borrowed(obj: Any, shape: tuple[int, ...]) -> np.ndarray:
    """The data of an array object that is known to have this shape."""
    return _array_at(_word(_address(obj) + DATA), shape)


def layout_is_known() -> bool:
    """True if NumPy's array object is laid out as this file assumes, on this build of Python and NumPy, and read by
    compiled code."""
    sample = np.zeros((2, 3))
    at = id(sample)

    def word(address):
        return ctypes.c_ssize_t.from_address(address).value
    return (not PLAIN and ctypes.sizeof(ctypes.c_void_p) == 8
            and word(at + TYPE) == ARRAY_TYPE and word(at + DATA) == sample.ctypes.data
            and ctypes.c_int.from_address(at + NDIM).value == 2 and word(at + DTYPE) == ARRAY_DTYPE
            and [word(word(at + DIMENSIONS) + 8 * axis) for axis in range(2)] == [2, 3]
            and ctypes.c_int.from_address(at + FLAGS).value & WRITABLE == WRITABLE)
