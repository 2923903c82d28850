"""Constraint response: accelerations by efforts, and by drifts of constraints, for several states on SIMD lanes.

It computes K and H of x = K efforts + H drifts, where
    M x - J^T lambda = efforts,   J x = drifts.

With M = L L^T, L^-1 (M J^T 1) = (L^T Y G), and A = J M^-1 J^T = Y^T Y = C C^T, C^-1 (A Y^T G 1) = (C^T U B), these are
K = G^T G - U^T U and H = U^T B."""
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import lane
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.samples import load_rows, store_rows
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.memory import arranged, room
from screw_dynamics.numbers.scalars import sqrt, where
from screw_dynamics.numbers.values import kernel, noinline, null

from .matrix_products import add_product, transposed

PIECE = 64              # states per task of a thread
less_transposed = kernel(lambda A, i, k: -A[k, i])


# Number of velocities, of rows, and of columns: 2 n + m and 2 m + n.
Sizes = namedtuple("Sizes", "n m wide high")


class Work(NamedTuple):
    """Memory: X, Z, K and the transpose of H; for each row of J the square of its length, and a diagonal entry of A;
    and a flag for independent rows."""

    X: Annotated[np.ndarray, "n", "wide"]
    Z: Annotated[np.ndarray, "m", "high"]
    K: Annotated[np.ndarray, "n", "n"]
    H: Annotated[np.ndarray, "m", "n"]
    square: Annotated[np.ndarray, "m"]
    diagonal: Annotated[np.ndarray, "m"]
    independent: Annotated[np.ndarray, 1]


@kernel
def sizes_of(n: int, m: int) -> Sizes:
    """Return the Sizes of a Work."""
    return Sizes(n, m, 2 * n + m, 2 * m + n)


@noinline
def eliminate(X: Any) -> None:
    """Replace X (a, b) by L^-1 X, where L L^T are its first a columns, of which the upper triangle is read. The result
    is NaN if L L^T is not positive definite."""
    a, b = X.shape
    for k in range(a):
        pivot = 1.0 / sqrt(where(X[k, k] > 0.0, X[k, k], null(X[k, k]) + np.nan))
        for j in range(k, b):
            X[k, j] *= pivot
        for i in range(k + 1, a):
            factor = X[k, i]
            for j in range(i, b):
                X[i, j] -= factor * X[k, j]


@kernel
def fill(X: Any, number: float) -> None:
    """Set X to `number` on its diagonal, and 0 elsewhere."""
    for i in range(len(X)):
        for j in range(X.shape[1]):
            X[i, j] = null(X[i, j]) + number * (i == j)


@kernel
def are_independent(at: Work, B: Any, share: float, least: float) -> Any:
    """Return 1 if the rows of J are linearly independent in the metric of M^-1, else 0.

    Each row must be longer than `share` times the longest row, and `share` times `least`. Its part orthogonal to the
    other rows must be longer than `share` times the row. The squared ratio of row to part is a_kk (A^-1)_kk."""
    square, found = at.square, null(at.independent[0]) + 1.0
    longest = null(found) + least * least
    for k in range(len(square)):
        longest = where(square[k] > longest, square[k], longest)
    for k in range(len(square)):
        back = null(found)
        for i in range(k, len(square)):
            back += B[i, k] * B[i, k]
        enough = (square[k] > share * share * longest) & (at.diagonal[k] * back < 1.0 / (share * share))
        found = where(enough, found, null(found))
    return found


@kernel
def respond(M: np.ndarray, J: np.ndarray, share: float, least: float, first: int, at: Work) -> None:
    """Compute K, H and independent of the states beginning at `first`."""
    X, Z, (m, n) = at.X, at.Z, at.H.shape
    Y, G, B, U = X[:, n:n + m], X[:, n + m:], Z[:, m + n:], Z[:, m:m + n]
    for i in range(n):
        load_rows(M, first, i, X[i, :n])
    for k in range(m):
        load_rows(J, first, k, Y[:, k])
        at.square[k] = null(Y[0, k])
        for i in range(n):
            at.square[k] += Y[i, k] * Y[i, k]
    fill(G, 1.0)
    eliminate(X)
    fill(Z, 0.0)
    add_product(transposed, Y, X[:, n:], Z[:, :m + n], 0)
    for k in range(m):
        at.diagonal[k] = Z[k, k]
    fill(B, 1.0)
    eliminate(Z)
    fill(at.H, 0.0)
    add_product(transposed, B, U, at.H, 0)
    fill(at.K, 0.0)
    add_product(transposed, G, G, at.K, WIDTH)
    add_product(less_transposed, U, U, at.K, WIDTH)
    for i in range(n):
        for j in range(i):
            at.K[j, i] = at.K[i, j]
    at.independent[0] = are_independent(at, B, share, least)


def spec_of_constraint_responses() -> KernelSpec:
    """Return the KernelSpec that computes the response for M (N, n, n) and J (N, m, n), m <= n.

    It fills K (N, n, n), the transpose of H (N, m, n), and (N, 1, 1) with are_independent of the rows of J. If they are
    dependent, K and H are invalid."""
    @compiled("loops.response", nogil=True)
    def many(M, J, share, least, K, H, independent, memory):
        at = arranged(Work, lane(), sizes_of(J.shape[2], J.shape[1]), memory, 0)
        for first in range(0, len(M), WIDTH):
            respond(M, J, share, least, first, at)
            for i in range(len(at.K)):
                store_rows(K, first, i, at.K[i])
            for k in range(len(at.H)):
                store_rows(H, first, k, at.H[k])
            store_rows(independent, first, 0, at.independent)
    numbers = ws.numbers_type(3)
    return KernelSpec(many, (ws.read_type(3), ws.read_type(3), "float64", "float64", numbers, numbers, numbers,
                             ws.numbers_type(1)))


@cache
def entry_of_constraint_responses() -> Callable:
    """Return the compiled function of spec_of_constraint_responses."""
    return function(spec_of_constraint_responses())


def constraint_responses(M: np.ndarray, J: np.ndarray, share: float, least: float, threads: int | None = None
                         ) -> tuple[np.ndarray, np.ndarray] | None:
    """Return K (..., n, n) and the transpose of H (..., m, n), for M (..., n, n) and J (..., m, n), m <= n.

    The result is None unless in all states M is positive definite, and the rows of J are_independent with `share` and
    `least`."""
    m, n = J.shape[-2:]
    M, J = (np.ascontiguousarray(x, dtype=float) for x in (np.broadcast_to(M, (*J.shape[:-2], n, n)), J))
    count, run = M.size // (n * n), entry_of_constraint_responses()
    K, H, independent = np.empty((count, n, n)), np.empty((count, m, n)), np.empty((count, 1, 1))
    given = M.reshape(K.shape), J.reshape(H.shape)

    def work(starts):
        memory = ws.aligned(room(Work, sizes_of(n, m), WIDTH))
        for start in starts:
            some = slice(start, start + PIECE)
            run(*(x[some] for x in given), share, least, K[some], H[some], independent[some], memory)
    pieces = range(0, count, PIECE)
    on_threads(work, pieces, max(1, min(thread_count(threads), len(pieces))))
    return (K.reshape(M.shape), H.reshape(J.shape)) if independent.all() else None
