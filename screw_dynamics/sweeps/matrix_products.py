"""Products of small matrices, of one problem or of as many as a lane has places.

The rows of a matrix (a, b) are lanes: of one problem WIDTH entries of a row at once, padded with zeros, and of problems
side by side an entry of each. So one source has vector operations for both."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled.entry import lane
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.numbers.lanes import WIDTH, lane_count
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, noinline

AT_ONCE = 4         # rows: as many sums as registers of AVX2 hold beside what they are made of


class Matrix(NamedTuple):
    """A matrix (a, b) in memory: its entries, (a, b) and those that pad it, and the lanes of its rows."""

    entries: np.ndarray
    rows: Any


@kernel
def padded(b: int) -> int:
    """Return the length of rows of b entries in memory."""
    return (b + WIDTH - 1) // WIDTH * WIDTH


@kernel
def held(unit: int) -> int:
    """Return the number of entries of a row, each of so many problems, that a lane holds."""
    return WIDTH // unit


@kernel
def row_numbers(unit: int, b: int) -> int:
    """Return the length in memory of a row of b such entries."""
    return (b + held(unit) - 1) // held(unit) * WIDTH


@kernel
def matrix(like: Any, a: int, b: int, memory: np.ndarray, start: int) -> Matrix:
    """Return a matrix of scalars of the kind of `like` in memory from a position on."""
    numbers = row_numbers(lane_count(like), b)
    return Matrix(block(like, (a, numbers // lane_count(like)), memory, start),
                  block(lane(), (a, numbers // WIDTH), memory, start))


@kernel
def rows(memory: np.ndarray, start: int, a: int, b: int) -> np.ndarray:
    """Return the rows of a matrix of numbers in memory from a position on, as lanes."""
    return block(lane(), (a, padded(b) // WIDTH), memory, start)


@kernel
def rows_of(arrays: np.ndarray, p: int, k: int) -> np.ndarray:
    """Return the rows of matrix k of motion p, as lanes."""
    _, N, a, b = arrays.shape
    return rows(array_at(0.0, at(arrays), (arrays.size,)), (p * N + k) * a * b, a, b)


as_it_is = kernel(lambda A, i, k: A[i, k])
transposed = kernel(lambda A, i, k: A[k, i])


@kernel
def lower_lanes(unit: int, i: int, C: Any) -> int:
    """Return the number of lanes of row i, of as many problems as `unit`, that the column (1,) and the entries have
    which are not right of the diagonal."""
    return min((1 + i) // held(unit) + 1, C.shape[1])


@noinline
def add_product(entry: Callable, A: np.ndarray, B: Any, C: Any, unit: int) -> None:
    """C += A B, as far as both have lanes, of A as it is or transposed, its entries being entry(A, i, k), and rows B
    (b) and C (a). unit: where of C, whose columns are (1, ...), those entries are wanted that are not right of its
    diagonal, of how many problems each is; else 0.

    At the edges some sums are made, and stored, twice: that is less than what loops for what is left would take."""
    a, b, lanes = len(C), len(B), min(B.shape[1], C.shape[1])
    for i in range(0, a, AT_ONCE):
        i1, i2, i3 = min(i + 1, a - 1), min(i + 2, a - 1), min(i + 3, a - 1)
        for J in range(min(lanes, lower_lanes(unit, i3, C)) if unit else lanes):
            c0, c1, c2, c3 = C[i, J], C[i1, J], C[i2, J], C[i3, J]
            for k in range(b):
                right = B[k, J]
                c0 += entry(A, i, k) * right
                c1 += entry(A, i1, k) * right
                c2 += entry(A, i2, k) * right
                c3 += entry(A, i3, k) * right
            C[i, J], C[i1, J], C[i2, J], C[i3, J] = c0, c1, c2, c3


@kernel
def add_combination(x: np.ndarray, A: Any, out: Any) -> None:
    """out (1) += A^T x, of rows A (a)."""
    for J in range(A.shape[1]):
        total = out[0, J]
        for i in range(len(A)):
            total += x[i] * A[i, J]
        out[0, J] = total


@kernel
def subtract(factor: Any, A: Any, k: int, C: Any, i: int, lanes: int) -> None:
    """Row i of C becomes itself less `factor` times row k of A, as far as so many lanes."""
    for J in range(lanes):
        C[i, J] -= factor * A[k, J]


@kernel
def scale(factor: Any, A: Any, k: int) -> None:
    """Row k of A becomes `factor` times itself."""
    for J in range(A.shape[1]):
        A[k, J] *= factor
