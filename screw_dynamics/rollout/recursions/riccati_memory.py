"""Inputs, results and memory of the Riccati recursion: see riccati.py."""
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel

from .matrix_products import Matrix, matrix, row_numbers

CHANGE, LEAST_PIVOT = range(2)            # indices of Feedback.told
TOLD = 2


class Motions(NamedTuple):
    """P motions of N steps, with states of x numbers and m efforts, w = x + m.

    F (P, N, r, padded(w)): the last r rows of the steps' derivatives; those above, if any, are as many, (1 0 0) + h F.
    Costs: S (P, N + 1, s, padded(1 + w)), diagonals D and gradients g (P, N + 1, padded(w)). Gaps (P, N + 1, x) after
    steps, where the first has no step; bounds lower and upper (P, N, m) of changes of efforts; shift (P,): added to the
    diagonal of Q for efforts."""

    F: np.ndarray
    S: np.ndarray
    D: np.ndarray
    g: np.ndarray
    gap: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    shift: np.ndarray
    h: float = 0.0


class Feedback(NamedTuple):
    """Results: K (P, N, m, padded(x)), d (P, N, m), sides (P, N, m), z and told.

    side: LOWER, FREE or UPPER, initial values too. z: the whole change (P, N + 1, padded(w)), or (P, 0, padded(w)) if
    not needed. told (P, TOLD): the CHANGE of the cost to second order, and the LEAST_PIVOT relative to its diagonal
    entry, at most FLAT if the change is not determined."""

    K: np.ndarray
    d: np.ndarray
    side: np.ndarray
    z: np.ndarray
    told: np.ndarray


class Work(NamedTuple):
    """Memory for a step.

    Columns (1, x, u): FS, the rows of F and S; WS, those of W and S (r + s, 1 + w); U and K (m, 1 + w). Columns (1, x):
    Q and V (x, 1 + x). Factors of V for rows of F: inner (r, r) and outer (x - r, r). D, g and z (w), gap and new (x);
    for the efforts bounds, sides, the diagonal of Q, and d (m); shift (1), told (TOLD). With bounds, slopes (N, m, 1 +
    w): the rows U of efforts at a bound."""

    FS: Matrix
    WS: Matrix
    U: Matrix
    K: Matrix
    Q: Matrix
    V: Matrix
    inner: Any
    outer: Any
    D: Any
    g: Any
    z: Any
    gap: Any
    new: Any
    lower: Any
    upper: Any
    side: Any
    diagonal: Any
    d: Any
    shift: Any
    told: Any
    slopes: Any


# Of motions: the numbers of states and efforts, rows of F and of S, and steps whose efforts may be at bounds.
Sizes = namedtuple("Sizes", "x m r s bounded")


@kernel
def sizes(given: Motions, bounded: bool) -> Sizes:
    """Return the Sizes of Motions whose F and S are rows, (P, N r, .) and (P, (N + 1) s, .)."""
    _, N, m = given.lower.shape
    return Sizes(given.gap.shape[2], m, given.F.shape[1] // N, given.S.shape[1] // (N + 1), N if bounded else 0)


@kernel
def work_numbers(unit: int, of: Sizes) -> int:
    """Return the length of the memory of a Work, for `unit` motions on lanes."""
    x, m, r, s, bounded = of
    w = x + m
    return (2 * (r + s + m) * row_numbers(unit, 1 + w) + 2 * x * row_numbers(unit, 1 + x)
            + unit * (x * r + 3 * w + 2 * x + 5 * m + 1 + TOLD + bounded * m * (1 + w)))


@kernel
def work_in(like: Any, of: Sizes, memory: np.ndarray) -> Work:
    """Return the Work in memory."""
    (x, m, r, s, bounded), unit = of, lane_count(like)
    w = x + m
    wide, own = row_numbers(unit, 1 + w), row_numbers(unit, 1 + x)
    W = (r + s) * wide
    U = 2 * W
    Q = U + 2 * m * wide
    inner = Q + 2 * x * own
    both = inner + unit * x * r
    states = both + 3 * unit * w
    efforts = states + 2 * unit * x
    rest = efforts + 5 * unit * m
    z, new, u = (block(like, (3, w), memory, both), block(like, (2, x), memory, states),
                 block(like, (5, m), memory, efforts))
    return Work(matrix(like, r + s, 1 + w, memory, 0), matrix(like, r + s, 1 + w, memory, W),
                matrix(like, m, 1 + w, memory, U), matrix(like, m, 1 + w, memory, U + m * wide),
                matrix(like, x, 1 + x, memory, Q), matrix(like, x, 1 + x, memory, Q + x * own),
                block(like, (r, r), memory, inner), block(like, (x - r, r), memory, inner + unit * r * r),
                z[0], z[1], z[2], new[0], new[1], u[0], u[1], u[2], u[3], u[4], block(like, (1,), memory, rest),
                block(like, (TOLD,), memory, rest + unit),
                block(like, (bounded, m, 1 + w), memory, rest + (1 + TOLD) * unit))
