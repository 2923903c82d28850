"""Products of small matrices, of one problem or of several on SIMD lanes.

The rows of a matrix (a, b) are lanes. For one problem a lane has WIDTH entries of a row, padded with zeros; for several
problems it has one entry of each. The same source is vectorized for both."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import lane
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.numbers.lanes import WIDTH, lane_count
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, noinline

AT_ONCE = 4         # rows: as many sums as AVX2 registers hold beside their operands


class Matrix(NamedTuple):
    """A matrix (a, b) in memory: its entries, (a, b) with padding, and the lanes of its rows."""

    entries: np.ndarray
    rows: Any


@kernel
def padded(b: int) -> int:
    """Return the length of rows of b entries in memory."""
    return (b + WIDTH - 1) // WIDTH * WIDTH


@kernel
def held(unit: int) -> int:
    """Return the number of entries of a row, each of `unit` problems, in a lane."""
    return WIDTH // unit


@kernel
def row_numbers(unit: int, b: int) -> int:
    """Return the length in memory of a row of b such entries."""
    return (b + held(unit) - 1) // held(unit) * WIDTH


@kernel
def matrix(like: Any, a: int, b: int, memory: np.ndarray, start: int) -> Matrix:
    """Return a matrix of scalars of the type of `like` in memory, beginning at `start`."""
    numbers = row_numbers(lane_count(like), b)
    return Matrix(block(like, (a, numbers // lane_count(like)), memory, start),
                  block(lane(), (a, numbers // WIDTH), memory, start))


@kernel
def rows(memory: np.ndarray, start: int, a: int, b: int) -> np.ndarray:
    """Return the rows of a matrix of numbers in memory, beginning at `start`, as lanes."""
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
    """Return the number of lanes of row i, of `unit` problems, that hold the column (1,) and the entries on and left of
    the diagonal."""
    return min((1 + i) // held(unit) + 1, C.shape[1])


@noinline
def add_product(entry: Callable, A: np.ndarray, B: Any, C: Any, unit: int) -> None:
    """Add A B to C, for as many lanes as both have.

    A is used directly or transposed, by its entries entry(A, i, k). Rows are B (b) and C (a). unit: 0, or the number of
    problems per entry if only the entries of C on and left of the diagonal are needed, with columns (1, ...). At the
    edges some sums are computed and stored twice, which costs less than loops for the remainder."""
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
    """Add A^T x to out (1), for rows A (a)."""
    for J in range(A.shape[1]):
        total = out[0, J]
        for i in range(len(A)):
            total += x[i] * A[i, J]
        out[0, J] = total


@kernel
def subtract(factor: Any, A: Any, k: int, C: Any, i: int, lanes: int) -> None:
    """Subtract `factor` times row k of A from row i of C, on the first `lanes` lanes."""
    for J in range(lanes):
        C[i, J] -= factor * A[k, J]


@kernel
def scale(factor: Any, A: Any, k: int) -> None:
    """Multiply row k of A by `factor`."""
    for J in range(A.shape[1]):
        A[k, J] *= factor
