"""The best changes of efforts to second order: Riccati's recursion with efforts within bounds, and gaps between steps.

Of deviations z = (x, u) of states and efforts, x+ = F z + gap, and costs |S (z, 1)|^2 / 2 + g z + z D z / 2, of which
H is what is of second order. Backwards, the cost to go from a state is v x + x V x / 2, and Q = H + F^T V F, q = g +
F^T (v + V gap) that of a step and of all after it, of which efforts u = d + K x are the least (with gaps: Mastalli et
al., 2020); those at a bound stay there. Forwards, which efforts leave their bounds, and which ones at a bound would
make the cost less within: these change sides, and all is done again until none does (a primal-dual active set:
Hintermueller, Ito and Kunisch, 2002). So the whole problem with bounds is solved, as no sweep that bounds the efforts
of one step after the other does; and what the change makes of the cost is known.

One source for one motion and for as many as a lane has places: see matrix_products.py."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled.samples import load_rows, store_rows
from screw_dynamics.constraints.bounded import FREE, LOWER, UPPER
from screw_dynamics.numbers.lanes import places
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, null, outlined

from .matrix_products import (
    AT_ONCE,
    Matrix,
    add_product,
    as_it_is,
    held,
    matrix,
    mirror,
    row_numbers,
    scale,
    subtract,
    transposed,
)

CHANGE, LEAST_PIVOT = range(2)            # of what is told
TOLD = 2
ROUNDS = 30             # in which efforts change sides
FLAT = 1e-13            # of a diagonal entry: a pivot below is rounding, and the efforts are not determined


class Motions(NamedTuple):
    """P motions of N steps, states of x numbers, and m efforts, w = x + m.

    F (P, N, r, padded(w)): the last r rows of the steps' derivatives; those above, if any, are as many, (1 0 0) + h F.
    Costs: S (P, N + 1, s, padded(w + 1)), diagonals D and gradients g (P, N + 1, padded(w)). Gaps (P, N + 1, x) behind
    steps, the first of none; bounds lower and upper (P, N, m) of changes of efforts; what is added to the diagonal of Q
    by efforts, shift (P,)."""

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
    """What is found: K (P, N, m, padded(x)), d (P, N, m), on which side efforts are (P, N, m), LOWER, FREE or UPPER,
    also where the search begins; the whole change z (P, N + 1, padded(w)), and told (P, TOLD): the CHANGE of the cost
    that it makes, to second order, and the LEAST_PIVOT as a share of its diagonal entry, not above FLAT where the
    change is not determined."""

    K: np.ndarray
    d: np.ndarray
    side: np.ndarray
    z: np.ndarray
    told: np.ndarray


class Work(NamedTuple):
    """Memory of a step: of (x, u, 1) FS, the rows of F and S (r + s, w + 1), WS, those of W and S (x + s, w + 1), and Q
    (w, w + 1); of (x, 1) V (x, x + 1) and T (m, x + 1); of (x, 1, u) K (m, w + 1). D, g and z (w), gap and new (x); of
    the efforts bounds, sides, 1 for those that are free, the diagonal of Q, and d (m); shift (1), told (TOLD); and
    slopes (N, m, w + 1): of efforts at a bound the rows of Q."""

    FS: Matrix
    WS: Matrix
    Q: Matrix
    V: Matrix
    K: Matrix
    T: Matrix
    D: Any
    g: Any
    z: Any
    gap: Any
    new: Any
    lower: Any
    upper: Any
    side: Any
    free: Any
    diagonal: Any
    d: Any
    shift: Any
    told: Any
    slopes: Any


class Sizes(NamedTuple):
    """Of motions: the numbers of states and efforts, rows of F and of S, and steps."""

    x: int
    m: int
    r: int
    s: int
    N: int


@kernel
def sizes(given: Motions) -> Sizes:
    """The Sizes of Motions whose F and S are rows, (P, N r, .) and (P, (N + 1) s, .)."""
    _, N, m = given.lower.shape
    return Sizes(given.gap.shape[2], m, given.F.shape[1] // N, given.S.shape[1] // (N + 1), N)


@kernel
def work_numbers(unit: int, of: Sizes) -> int:
    """How many numbers a Work has, of so many motions side by side."""
    x, m, r, s, N = of
    w = x + m
    return ((r + x + 2 * s + w + m) * row_numbers(unit, w + 1) + (x + m) * row_numbers(unit, x + 1)
            + unit * (3 * w + 2 * x + 6 * m + 1 + TOLD + N * m * (w + 1)))


@kernel
def work_in(like: Any, of: Sizes, memory: np.ndarray) -> Work:
    """The Work in memory."""
    (x, m, r, s, N), unit = of, places(like)
    w = x + m
    wide, own = row_numbers(unit, w + 1), row_numbers(unit, x + 1)
    W = (r + s) * wide
    Q = W + (x + s) * wide
    K = Q + w * wide
    V = K + m * wide
    T = V + x * own
    both = T + m * own
    states = both + 3 * unit * w
    efforts = states + 2 * unit * x
    rest = efforts + 6 * unit * m
    z, new, u = (block(like, (3, w), memory, both), block(like, (2, x), memory, states),
                 block(like, (6, m), memory, efforts))
    return Work(matrix(like, r + s, w + 1, memory, 0), matrix(like, x + s, w + 1, memory, W),
                matrix(like, w, w + 1, memory, Q), matrix(like, x, x + 1, memory, V),
                matrix(like, m, w + 1, memory, K), matrix(like, m, x + 1, memory, T), z[0], z[1], z[2], new[0], new[1],
                u[0], u[1], u[2], u[3], u[4], u[5], block(like, (1,), memory, rest),
                block(like, (TOLD,), memory, rest + unit),
                block(like, (N, m, w + 1), memory, rest + (1 + TOLD) * unit))


@outlined
def load_matrix(matrices: np.ndarray, first: int, k: int, entries: Any, b: int) -> None:
    """Put b columns of matrices (P, N a, .), of step k of the motions from the first on, into entries (a, .)."""
    for i in range(len(entries)):
        load_rows(matrices, first, k * len(entries) + i, entries[i, :b])


@outlined
def load_cost(given: Motions, first: int, k: int, at: Work) -> None:
    """Put S of a step into its places, and D and g into Q, above its diagonal and as last column."""
    Q, s, x, w = at.Q, len(at.WS.rows) - len(at.gap), len(at.gap), len(at.z)
    rest = len(at.FS.rows) - s
    load_rows(given.D, first, k, at.D)
    load_rows(given.g, first, k, at.g)
    load_matrix(given.S, first, k, at.FS.entries[rest:], w + 1)
    for i in range(s):
        for J in range(Q.rows.shape[1]):
            at.WS.rows[x + i, J] = at.FS.rows[rest + i, J]
    for i in range(w):
        for J in range(i // AT_ONCE * AT_ONCE // held(places(at.D[0])), Q.rows.shape[1]):
            Q.rows[i, J] = null(Q.rows[i, J])
        Q.entries[i, i], Q.entries[i, w] = at.D[i], at.g[i]


@kernel
def move(at: Work) -> None:
    """v becomes v + V gap, where there are gaps."""
    V, gap, x, apart = at.V.entries, at.gap, len(at.gap), False
    for i in range(x):
        apart |= some(gap[i] != 0.0)
    if apart:
        for i in range(x):
            more = null(gap[0])
            for j in range(x):
                more += V[i, j] * gap[j]
            at.told[CHANGE] += gap[i] * (V[i, x] + 0.5 * more)
            V[i, x] += more


@outlined
def quadratic(given: Motions, first: int, k: int, at: Work) -> None:
    """Q = H + F^T V F, above its diagonal, and q = g + F^T (v + V gap) as last column. With F = ((1 0 0) + h A, A), of
    which A is given, W = V F = V (1 0 0, 0 0 0) + (h V_q + V_v) A, and F^T W likewise."""
    V, W, Q, x, w, above = at.V.entries, at.WS, at.Q, len(at.gap), len(at.z), len(at.WS.rows) - len(at.FS.rows)
    load_matrix(given.F, first, k, at.FS.entries[:x - above], w)
    load_rows(given.gap, first, k + 1, at.gap)
    load_cost(given, first, k, at)
    move(at)
    for i in range(x):
        for J in range(above // held(places(V[0, 0])), W.rows.shape[1]):
            W.rows[i, J] = null(W.rows[i, J])
        W.entries[i, w] = V[i, x]
        for j in range(above):
            W.entries[i, j] = V[i, j]
            V[i, above + j] += given.h * V[i, j]
    add_product(as_it_is, V[:, above:], at.FS.rows[:x - above], W.rows[:x], 0)
    for i in range(above):
        for J in range(i // held(places(V[0, 0])), W.rows.shape[1]):
            Q.rows[i, J] += W.rows[i, J]
        for J in range(W.rows.shape[1]):
            W.rows[above + i, J] += given.h * W.rows[i, J]
    add_product(transposed, at.FS.entries, W.rows[above:], Q.rows, held(places(V[0, 0])))


@kernel
def equations(given: Motions, found: Feedback, first: int, k: int, at: Work) -> None:
    """Those of the best efforts, (Q_ux x + q) 1 + Q_uu u = 0, in K, of those that are free; others are at their bounds.
    T becomes the rows of Q by efforts, (Q_ux, q)."""
    Q, T, K, free, side, m, x, w = (at.Q.entries, at.T.entries, at.K.entries, at.free, at.side, len(at.d), len(at.gap),
                                    len(at.z))
    load_rows(found.side, first, k, side)
    load_rows(given.lower, first, k, at.lower)
    load_rows(given.upper, first, k, at.upper)
    for i in range(m):
        free[i] = where(side[i] == FREE, null(free[0]) + 1.0, null(free[0]))
        for j in range(x):
            T[i, j] = Q[j, x + i]
        T[i, x] = Q[x + i, w]
        for j in range(i, m):
            Q[x + j, x + i] = Q[x + i, x + j]
        for J in range(at.T.rows.shape[1]):
            at.K.rows[i, J] = -free[i] * at.T.rows[i, J]
        K[i, x] = where(side[i] == FREE, K[i, x], where(side[i] == LOWER, at.lower[i], at.upper[i]))
    for i in range(m):
        for j in range(m):
            K[i, x + 1 + j] = free[i] * free[j] * Q[x + i, x + j]
            K[j, x] -= free[j] * (1.0 - free[i]) * Q[x + j, x + i] * K[i, x]
        at.diagonal[i] = Q[x + i, x + i] + at.shift[0]
        K[i, x + 1 + i] += 1.0 - free[i] + free[i] * at.shift[0]


@outlined
def best_efforts(given: Motions, found: Feedback, first: int, k: int, at: Work) -> None:
    """Efforts u = d + K x, the least of q u + u Q u / 2 + u Q x of those that are free, d as the column behind K."""
    K, m, x = at.K.entries, len(at.d), len(at.gap)
    equations(given, found, first, k, at)
    for e in range(m):
        positive = where(at.diagonal[e] > 0.0, at.diagonal[e], null(at.d[0]) + 1.0)
        pivot = where(at.side[e] == FREE, K[e, x + 1 + e] / positive, null(positive) + 1.0)
        at.told[LEAST_PIVOT] = where(pivot >= at.told[LEAST_PIVOT], at.told[LEAST_PIVOT], pivot)
        scale(where(pivot > FLAT, 1.0 / where(pivot > FLAT, K[e, x + 1 + e], positive), null(positive)), at.K.rows, e)
        for i in range(e + 1, m):
            subtract(K[i, x + 1 + e], at.K.rows, e, i)
    for e in range(m - 1, 0, -1):
        for i in range(e):
            subtract(K[i, x + 1 + e], at.K.rows, e, i)


@outlined
def value(at: Work) -> None:
    """V = (1, K)^T Q (1, K) and, as last column, v = (1, K)^T (q + Q (0, d)), without what `shift` adds."""
    Q, T, V, K, x = at.Q.entries, at.T.entries, at.V.entries, at.K.entries, len(at.gap)
    upper = held(places(V[0, 0]))
    to_go(at)
    add_product(as_it_is, Q[:, x:], at.K.rows, at.V.rows, upper)                    # Q_xu K
    add_product(as_it_is, Q[x:, x:], at.K.rows, at.T.rows, 0)                       # T = Q_ux + Q_uu K
    add_product(transposed, K, at.T.rows, at.V.rows, upper)
    mirror(V, x)
    for i in range(len(at.d)):
        at.told[CHANGE] += 0.5 * K[i, x] * (Q[x + i, len(at.z)] + T[i, x])


@kernel
def to_go(at: Work) -> None:
    """V and v of Q and q by states alone."""
    V, x, w = at.V.entries, len(at.gap), len(at.z)
    for i in range(x):
        for J in range(at.V.rows.shape[1]):
            at.V.rows[i, J] = at.Q.rows[i, J]
        for j in range(x, V.shape[1]):
            V[i, j] = at.Q.entries[i, w] if j == x else null(V[0, 0])


@outlined
def backward(given: Motions, found: Feedback, first: int, at: Work) -> None:
    """Feedback of all steps, from the last to the first."""
    N, m, x, w = given.lower.shape[1], len(at.d), len(at.gap), len(at.z)
    r = x - len(at.WS.rows) + len(at.FS.rows)
    at.told[CHANGE], at.told[LEAST_PIVOT] = null(at.d[0]), null(at.d[0]) + 1.0
    load_cost(given, first, N, at)
    add_product(transposed, at.FS.entries[r:], at.WS.rows[x:], at.Q.rows, held(places(at.d[0])))
    to_go(at)
    mirror(at.V.entries, x)
    for k in range(N - 1, -1, -1):
        quadratic(given, first, k, at)
        best_efforts(given, found, first, k, at)
        value(at)
        for i in range(m):
            at.d[i] = at.K.entries[i, x]
            store_rows(found.K, first, k * m + i, at.K.entries[i, :x])
            if some(at.side[i] != FREE):
                slope = at.slopes[k, i]
                for j in range(x):
                    slope[j] = at.Q.entries[j, x + i]
                for j in range(x, w + 1):
                    slope[j] = at.Q.entries[x + i, j]
                slope[x + i] += at.shift[0]
        store_rows(found.d, first, k, at.d)


@kernel
def change_sides(at: Work, slopes: Any) -> bool:
    """Let efforts of a step change sides that are beyond a bound, or at one that they would leave inwards. Returns
    whether some do."""
    z, x, w, changed = at.z, len(at.gap), len(at.z), False
    for i in range(w - x):
        before, u, slope = at.side[i], z[x + i], slopes[i, w]
        if some(before != FREE):
            for j in range(w):
                slope += slopes[i, j] * z[j]
        leaves = (((before == LOWER) & (slope < 0.0)) | ((before == UPPER) & (slope > 0.0))) & (
            at.lower[i] < at.upper[i])
        side = where(leaves, null(u) + FREE, before)
        side = where((before == FREE) & (u > at.upper[i]), null(u) + UPPER, side)
        at.side[i] = where((before == FREE) & (u < at.lower[i]), null(u) + LOWER, side)
        changed |= some(at.side[i] != before)
    return changed


@outlined
def forward(given: Motions, found: Feedback, first: int, at: Work) -> bool:
    """The whole change. Returns whether some efforts change sides."""
    z, x, w, N, changed = at.z, len(at.gap), len(at.z), given.lower.shape[1], False
    above = len(at.WS.rows) - len(at.FS.rows)
    for i in range(x):
        z[i] = null(z[0])
    for k in range(N):
        load_rows(found.d, first, k, at.d)
        load_rows(found.side, first, k, at.side)
        load_rows(given.lower, first, k, at.lower)
        load_rows(given.upper, first, k, at.upper)
        load_rows(given.gap, first, k + 1, at.gap)
        load_matrix(found.K, first, k, at.K.entries, x)
        load_matrix(given.F, first, k, at.FS.entries[:x - above], w)
        for i in range(w - x):
            u = at.d[i]
            for j in range(x):
                u += at.K.entries[i, j] * z[j]
            z[x + i] = u
        changed |= change_sides(at, at.slopes[k])
        store_rows(found.side, first, k, at.side)
        store_rows(found.z, first, k, z)
        for i in range(x - above):
            new = null(z[0])
            for j in range(w):
                new += at.FS.entries[i, j] * z[j]
            at.new[i] = new
        for i in range(above):
            z[i] += given.h * at.new[i] + at.gap[i]
        for i in range(x - above):
            z[above + i] = at.new[i] + at.gap[above + i]
    for i in range(x, w):
        z[i] = null(z[0])
    store_rows(found.z, first, N, z)
    return changed


@kernel
def sweep(like: Any, given: Motions, found: Feedback, first: int, memory: np.ndarray) -> None:
    """Fill `found`, of as many motions from the first on as `like` has places, from memory of zeros."""
    at = work_in(like, sizes(given), memory)
    load_rows(given.shift, first, 0, at.shift)
    for _ in range(ROUNDS):
        backward(given, found, first, at)
        if not forward(given, found, first, at):
            break
    store_rows(found.told, first, 0, at.told)
