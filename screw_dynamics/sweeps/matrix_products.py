"""Products of small matrices whose rows are lanes: WIDTH entries of a row at once, of rows padded with zeros.

A matrix (a, b) is memory (a, padded(b)), of which `scalars` are its entries, and `rows` its rows as lanes."""
from collections.abc import Callable
from typing import Any

import numpy as np

from screw_dynamics.compiled.entry import lane
from screw_dynamics.numbers.lanes import WIDTH, extract
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, null

AT_ONCE = 4         # rows: as many sums as keep a processor busy


@kernel
def padded(b: int) -> int:
    """The length of rows of b entries in memory."""
    return (b + WIDTH - 1) // WIDTH * WIDTH


@kernel
def scalars(memory: np.ndarray, start: int, a: int, b: int) -> np.ndarray:
    """The entries (a, padded(b)) of a matrix in memory from a position on."""
    return block(0.0, (a, padded(b)), memory, start)


@kernel
def rows(memory: np.ndarray, start: int, a: int, b: int) -> np.ndarray:
    """Its rows, as lanes."""
    return block(lane(), (a, padded(b) // WIDTH), memory, start)


@kernel
def matrix(arrays: np.ndarray, p: int, k: int) -> np.ndarray:
    """The rows of matrix k of motion p, as lanes."""
    _, N, a, b = arrays.shape
    return rows(arrays.reshape(arrays.size), (p * N + k) * a * b, a, b)


as_it_is = kernel(lambda A, i, k: A[i, k])
transposed = kernel(lambda A, i, k: A[k, i])


@kernel
def add_product(entry: Callable, A: np.ndarray, B: Any, C: Any, upper: bool) -> None:
    """C += A B, of A as it is or transposed, its entries being entry(A, i, k), and rows B (b) and C (a); upper: of C
    alone the lanes that are not all left of its diagonal."""
    a, b = len(C), len(B)
    for J in range(B.shape[1]):
        last = min(a, (J + 1) * WIDTH) if upper else a
        whole = last - last % AT_ONCE
        for i in range(0, whole, AT_ONCE):
            c0, c1, c2, c3 = C[i, J], C[i + 1, J], C[i + 2, J], C[i + 3, J]
            for k in range(b):
                row = B[k, J]
                c0 += entry(A, i, k) * row
                c1 += entry(A, i + 1, k) * row
                c2 += entry(A, i + 2, k) * row
                c3 += entry(A, i + 3, k) * row
            C[i, J], C[i + 1, J], C[i + 2, J], C[i + 3, J] = c0, c1, c2, c3
        for i in range(whole, last):
            c0 = C[i, J]
            for k in range(b):
                c0 += entry(A, i, k) * B[k, J]
            C[i, J] = c0


@kernel
def mirror(C: np.ndarray, a: int) -> None:
    """Make entries below the diagonal those above it."""
    for i in range(a):
        for j in range(i):
            C[i, j] = C[j, i]


@kernel
def clear(C: Any) -> None:
    """Set rows to zero."""
    for i in range(len(C)):
        for J in range(C.shape[1]):
            C[i, J] = null(C[i, J])


@kernel
def add_combination(x: np.ndarray, A: Any, out: Any) -> None:
    """out (1) += A^T x, of rows A (a)."""
    for J in range(A.shape[1]):
        total = out[0, J]
        for i in range(len(A)):
            total += x[i] * A[i, J]
        out[0, J] = total


@kernel
def dot(A: Any, i: int, x: Any) -> float:
    """The product of a row of A and x (1)."""
    total, found = null(A[0, 0]), 0.0
    for J in range(A.shape[1]):
        total += A[i, J] * x[0, J]
    for place in range(WIDTH):
        found += extract(total, place)
    return found


@kernel
def subtract(factor: float, A: Any, k: int, i: int) -> None:
    """Row i of A becomes itself less `factor` times row k."""
    for J in range(A.shape[1]):
        A[i, J] -= factor * A[k, J]


@kernel
def scale(factor: float, A: Any, k: int) -> None:
    """Row k of A becomes `factor` times itself."""
    for J in range(A.shape[1]):
        A[k, J] *= factor
