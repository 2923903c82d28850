"""The minimum-norm vector x with given products: Y^T x = b, for the columns of a matrix Y of any rank.

Modified Gram-Schmidt with pivoting takes the longest remaining column as the next direction, until the remainder is
rounding: Y = Q^T R with unit directions Q. Then x = Q^T w, with R^T w = b solved on the way. The Gram matrix Y^T Y
would square the singular values. Lanes may have different pivots and ranks."""
from collections import namedtuple
from typing import Annotated, NamedTuple

import numpy as np

from screw_dynamics.compiled.across import at_once, put, taken
from screw_dynamics.numbers.lanes import extract, lane_count
from screw_dynamics.numbers.memory import arranged, room
from screw_dynamics.numbers.scalars import some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

RANK = 1e-9         # relative to the longest column, or to the least length that counts: shorter columns count as 0


# Numbers of entries of a vector, of vectors, and of directions (at most the number of vectors).
Sizes = namedtuple("Sizes", "N m directions")


class Problem(NamedTuple):
    """Vectors: the columns of Y, and the products b with them, both overwritten; squared lengths of the remaining
    columns; directions Q, products R of directions and columns, products w of directions and the vector x."""

    Y: Annotated[np.ndarray, "N", "m"]
    b: Annotated[np.ndarray, 1, "m"]
    squares: Annotated[np.ndarray, 1, "m"]
    Q: Annotated[np.ndarray, "directions", "N"]
    R: Annotated[np.ndarray, "directions", "m"]
    w: Annotated[np.ndarray, "directions"]
    x: Annotated[np.ndarray, "N"]


@kernel
def numbers(N: int, m: int) -> int:
    """Return the number of scalars in a Problem."""
    return room(Problem, Sizes(N, m, m))


@kernel
def problem(like: Scalar, N: int, m: int, memory: np.ndarray, start: int) -> Problem:
    """Return the Problem in memory from position `start` on."""
    return arranged(Problem, like, Sizes(N, m, m), memory, start)


@kernel
def measure(given: Problem) -> None:
    """Compute the squared lengths of the columns."""
    Y, squares = given.Y, given.squares
    for first in range(0, Y.shape[1], at_once(Y)):
        square = null(taken(squares, 0, first))
        for i in range(len(Y)):
            y = taken(Y, i, first)
            square += y * y
        put(squares, 0, first, square)


@kernel
def entry(Y: np.ndarray, i: int, column: Scalar) -> Scalar:
    """Return entry i of a column, whose index may differ between lanes."""
    if lane_count(column) == 1:
        return Y[i, int(extract(column, 0))]
    found = Y[i, 0]
    for j in range(1, Y.shape[1]):
        found = where(column == float(j), Y[i, j], found)
    return found


@noinline
def project_out(given: Problem, k: int, start: int) -> None:
    """Project direction k, and the part of x along it, out of the columns from `start` on."""
    Y, b, Q, w = given.Y, given.b, given.Q, given.w
    for first in range(start, Y.shape[1], at_once(Y)):
        r, square = null(taken(Y, 0, first)), null(taken(Y, 0, first))
        for i in range(len(Y)):
            r += Q[k, i] * taken(Y, i, first)
        for i in range(len(Y)):
            y = taken(Y, i, first) - Q[k, i] * r
            put(Y, i, first, y)
            square += y * y
        put(given.R, k, first, r)
        put(given.squares, 0, first, square)
        put(b, 0, first, taken(b, 0, first) - w[k] * r)


@noinline
def orthogonalize(given: Problem, found: int, first: int, last: int, least: Scalar, most: Scalar
                  ) -> tuple[int, Scalar]:
    """Fill Q, R and w with directions after the first `found`, from the columns `first` until `last`, and project them
    out of all columns. Return the total number of directions, and the rank of these columns, which may be less on some
    lanes.

    least: lower bound of the length that small columns are compared with. most: upper bound of the rank."""
    Y, squares, Q, zero = given.Y, given.squares, given.Q, null(most)
    count, rank, limit = min(len(Y), found + last - first), null(most), null(most)
    measure(given)
    for k in range(found, count):
        longest, column = squares[0, first], zero + float(first)
        for j in range(first + 1, last):
            longer = squares[0, j] > longest
            longest, column = where(longer, squares[0, j], longest), where(longer, zero + float(j), column)
        if k == found:
            limit = RANK * RANK * where(longest > least * least, longest, least * least)
        counts = (longest > limit) & (rank < most)
        if not some(counts):
            return k, rank
        scale = where(counts, 1.0 / sqrt(where(counts, longest, zero + 1.0)), zero)
        rank += where(counts, zero + 1.0, zero)
        for i in range(len(Y)):
            Q[k, i] = scale * entry(Y, i, column)
        given.w[k] = scale * entry(given.b, 0, column)
        project_out(given, k, 0)
    return count, rank


@noinline
def orthogonalize_independent(given: Problem, count: int) -> None:
    """Fill Q, R and w for columns of which the first `count` are independent, or 0, and the remaining ones are
    ignored."""
    Y = given.Y
    measure(given)
    for k in range(count):
        square, zero = given.squares[0, k], null(given.w[k])
        scale = where(square > 0.0, 1.0 / sqrt(where(square > 0.0, square, zero + 1.0)), zero)
        for i in range(len(Y)):
            given.Q[k, i] = scale * Y[i, k]
        given.w[k] = scale * given.b[0, k]
        project_out(given, k, k + 1 - (k + 1) % at_once(Y))
        given.R[k, k] = scale * square


@noinline
def combine(given: Problem, count: int) -> None:
    """Compute x, the combination of `count` directions with the products w, corrected for imperfect orthogonality as in
    Bjoerck (1994)."""
    Q, w, x = given.Q, given.w, given.x
    for i in range(len(x)):
        x[i] = null(x[i])
    for k in range(count - 1, -1, -1):
        change = w[k]
        for i in range(len(x)):
            change -= Q[k, i] * x[i]
        for i in range(len(x)):
            x[i] += change * Q[k, i]


@noinline
def least_squares(given: Problem, count: int, wanted: np.ndarray, x: np.ndarray) -> None:
    """Set x (count) to the minimizer of |Y x - wanted| for `count` independent columns of Y, which is overwritten, and
    given.x to the minimum-norm vector z with Y^T z = x."""
    orthogonalize_independent(given, count)
    Q, R, w = given.Q, given.R, given.w
    for k in range(count - 1, -1, -1):                      # R x = Q wanted
        x[k] = null(w[k])
        for i in range(len(wanted)):
            x[k] += Q[k, i] * wanted[i]
        for j in range(k + 1, count):
            x[k] -= R[k, j] * x[j]
        x[k] = x[k] / R[k, k]
    for k in range(count):                                  # R^T w = x
        w[k] = x[k]
        for j in range(k):
            w[k] -= R[j, k] * w[j]
        w[k] = w[k] / R[k, k]
    combine(given, count)
