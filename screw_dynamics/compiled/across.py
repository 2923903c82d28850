"""Several columns of a matrix at once: WIDTH of them, as the elements of a lane, if its entries are float64; one column
if its entries are lanes already, or other numbers."""
from typing import Any

import numpy as np

from screw_dynamics.jit.numba_internals.compiler import cgutils, intrinsic, ir, numba_arrays, overload, types
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.structs import numba_types

from .tiles import entry_pointer, first_elements, put_row


def at_once(matrix: np.ndarray) -> int:
    """Return the number of columns of a matrix that are processed at once."""
    return 1


def taken(matrix: np.ndarray, row: int, first: int) -> Any:
    """Return the entries of a row from column `first` on; elements past the last column are 0."""
    return matrix[row, first]


def put(matrix: np.ndarray, row: int, first: int, x: Any) -> None:
    """Write the entries of a row from column `first` on; elements past the last column are dropped."""
    matrix[row, first] = x


@intrinsic
def _get_row(typing, matrix, row, first):
    def build(context, builder, signature, args):
        kind, (matrix, row, first) = signature.args[0], args
        _, columns = cgutils.unpack_tuple(builder, numba_arrays.make_array(kind)(context, builder, matrix).shape)
        pointer = entry_pointer(context, builder, kind, matrix, row, first)
        load = ir.FunctionType(numba_types.VECTOR, [pointer.type, numba_types.INT, numba_types.MASK_VECTOR,
                                                    numba_types.VECTOR])
        load = cgutils.get_or_insert_function(builder.module, load, f"llvm.masked.load.v{WIDTH}f64.p0v{WIDTH}f64")
        mask = first_elements(builder, builder.sub(columns, first))
        return builder.call(load, [pointer, numba_types.INT(8), mask, ir.Constant(numba_types.VECTOR, None)])
    return numba_types.LANE(matrix, types.intp, types.intp), build


def _on_lanes(matrix):
    return matrix.dtype == types.float64


@overload(at_once)
def _at_once(matrix):
    count = WIDTH if _on_lanes(matrix) else 1
    return lambda matrix: count


@overload(taken)
def _taken(matrix, row, first):
    if _on_lanes(matrix):
        return lambda matrix, row, first: _get_row(matrix, row, first)
    return lambda matrix, row, first: matrix[row, first]


@overload(put)
def _put(matrix, row, first, x):
    if _on_lanes(matrix):
        return lambda matrix, row, first, x: put_row(matrix, row, first, x)

    def put_one(matrix, row, first, x):
        matrix[row, first] = x
    return put_one
