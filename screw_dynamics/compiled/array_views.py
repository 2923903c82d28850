"""Array views: NumPy arrays as Python passes them to compiled code, at the address of a VIEW, which the code checks."""
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from screw_dynamics.numbers.values import kernel

from .native import array_at
from .records import WORD, reader, record

AXES = 4
# As in _calls.c: address of the numbers, count of axes, NumPy's type number (-1: other byte order), flags, lengths and
# strides of the axes. No attribute of NumPy records has these names.
VIEW = record("address", "axes", "kind", "properties", ("lengths", WORD, (AXES,)), ("steps", WORD, (AXES,)))
view_at = reader(VIEW)
FLOAT64 = np.dtype(np.float64).num
ALIGNED, WRITEABLE = 0x0100, 0x0400         # NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE
READABLE = 0x0001 | ALIGNED                 # NPY_ARRAY_C_CONTIGUOUS
WRITABLE = READABLE | WRITEABLE
REFUSED = -1 << 63                          # returned by a kernel that cannot accept its arguments


@kernel
def is_array(where: int, shape: tuple[int, ...], flags: int) -> bool:
    """Return True if the view is one of a float64 array of this shape with these flags. The address 0 is the view of an
    argument that is no array."""
    if where == 0:
        return False
    view = view_at(where)
    if view.kind != FLOAT64 or view.axes != len(shape):
        return False
    fits = view.properties & flags == flags
    for axis in range(len(shape)):
        fits = fits and view.lengths[axis] == shape[axis]
    return fits


@kernel
def data_at(where: int) -> int:
    """Return the address of the first number of an array at a view."""
    return view_at(where).address


@kernel
def array_in(where: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return the array at a view, whose shape and contiguity have been checked."""
    return array_at(0.0, data_at(where), shape)


def view_of(x: Any) -> np.ndarray:
    """Return the VIEW (1,) of an array, for Python without the extension."""
    view = np.zeros(1, VIEW)
    view["address"], view["axes"], view["properties"] = x.ctypes.data, x.ndim, x.flags.num
    view["kind"] = x.dtype.num if x.dtype.isnative else -1
    view["lengths"][0, :x.ndim], view["steps"][0, :x.ndim] = x.shape, x.strides
    return view


def words_of(kinds: str, arguments: Sequence) -> tuple[np.ndarray, list]:
    """Return the arguments of a kernel as words, and the objects that must live while the words are read. Raises
    TypeError, ValueError or OverflowError for arguments of other kinds, see _calls.c."""
    words, kept = np.zeros(len(kinds) or 1, WORD), []
    for k, (kind, x) in enumerate(zip(kinds, arguments, strict=True)):
        if kind == "a":
            if type(x) is np.ndarray and x.ndim <= AXES:
                kept.append(view_of(x))
                words[k] = kept[-1].ctypes.data
        elif isinstance(x, (np.ndarray, str, bytes, bytearray)) or (
                isinstance(x, (bool, np.bool_)) != (kind == "b") and kind != "d"):
            raise TypeError(f"argument {k} is no {kind}")
        elif kind == "d":
            words[k:k + 1].view(float)[0] = float(x)
        else:
            words[k] = bool(x) if kind == "b" else index(x)
    return words, kept
