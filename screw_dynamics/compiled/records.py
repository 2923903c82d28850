"""Records: memory whose words have names. They are structured dtypes of NumPy that compiled code reads in place.

The fields of a record are read and written as attributes, in compiled code and in plain Python."""
import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from screw_dynamics.jit.numba_internals.compiler import intrinsic, overload, types

WORD = np.int64


def record(*fields: str | Sequence) -> np.dtype:
    """Return the dtype of a record. A field given by its name only is an int64; other fields are described as in
    NumPy."""
    described = [(field, WORD) if isinstance(field, str) else field for field in fields]
    return np.dtype((np.record, np.dtype(described, align=True)))


def word_of(dtype: np.dtype, field: str) -> int:
    """Return the index of the word at which a field of a record begins, for Python code that is called often: reading
    an element of an int64 array takes 0.05 us, an attribute of a record several us."""
    return dtype.fields[field][1] // 8      # type: ignore[index]


def reader(dtype: np.dtype) -> Callable[[int], Any]:
    """Return the function at(where), which returns the record of a dtype at an address. The record holds no reference
    to that memory."""
    def at(where):
        return np.frombuffer((ctypes.c_char * dtype.itemsize).from_address(int(where)), dtype)[0]

    @intrinsic
    def native_at(typing, where):
        from numba import from_dtype

        kind = from_dtype(dtype)

        def build(context, builder, signature, args):
            return builder.inttoptr(args[0], context.get_value_type(kind))
        return kind(types.intp), build

    @overload(at)
    def compiled_at(where):
        return lambda where: native_at(where)
    return at
