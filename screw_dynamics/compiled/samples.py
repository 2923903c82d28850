"""Samples of rollouts, (N, samples, n), as columns of states: of one state, or of as many as a lane has elements."""
import numpy as np

from screw_dynamics.jit.numba_internals.compiler import overload
from screw_dynamics.numbers.lanes import WIDTH, extract, insert, lane_count
from screw_dynamics.numbers.structs import numba_types
from screw_dynamics.numbers.values import noinline

from .tiles import contiguous, load_square, store_square


def load_rows(rows: np.ndarray, first: int, sample: int, column: list) -> None:
    """Load rows[first ... first + 7, sample] into the elements of a column; past the end, the last row is repeated."""
    _load(rows, first, sample, column)


def store_rows(rows: np.ndarray, first: int, sample: int, column: list) -> None:
    """Store the elements of a column in the rows: the inverse of load_rows. Elements past the end are dropped."""
    _store(rows, first, sample, column)


@noinline
def _load(rows, first, sample, column):
    for k in range(len(column)):
        for lane in range(lane_count(column[k])):
            column[k] = insert(column[k], lane, rows[min(first + lane, len(rows) - 1), sample, k])


@noinline
def _store(rows, first, sample, column):
    for k in range(len(column)):
        for lane in range(min(lane_count(column[k]), len(rows) - first)):
            rows[first + lane, sample, k] = extract(column[k], lane)


@noinline
def _load_squares(rows, first, sample, column):
    some = rows[:, sample, :len(column)]
    if contiguous(some):
        for k in range(0, len(column), WIDTH):
            load_square(some, first, len(rows) - 1, k, column)
    else:
        _load(rows, first, sample, column)


@noinline
def _store_squares(rows, first, sample, column):
    some = rows[:, sample, :len(column)]
    if contiguous(some) and len(rows) - first >= WIDTH:
        for k in range(0, len(column), WIDTH):
            store_square(column, some, first, k)
    else:
        _store(rows, first, sample, column)


@overload(load_rows)
def _load_rows(rows, first, sample, column):
    return _load_squares if column.dtype is numba_types.LANE else _load


@overload(store_rows)
def _store_rows(rows, first, sample, column):
    return _store_squares if column.dtype is numba_types.LANE else _store
