"""Riccati recursion: optimal changes of efforts to second order, with bounds of efforts, and gaps between steps.

For deviations z = (x, u) of states and efforts, x+ = F z + gap, and costs |S (1, z)|^2 / 2 + g z + z D z / 2, whose
second-order part is H. Backward pass: the cost to go is v x + x V x / 2. Q = H + F^T V F and q = g + F^T (v + V gap)
are those of a step and all after it, which efforts u = d + K x minimize (with gaps: Mastalli et al., 2020). Efforts at
a bound stay there. Forward pass: efforts that leave their bounds, and efforts at a bound that would decrease the cost
inside, change sides, and both passes are repeated until none does (a primal-dual active set method: Hintermueller, Ito
and Kunisch, 2002). This solves the whole problem with bounds, unlike a pass that bounds the efforts step by step; and
the change of the cost is known.

Matrices have columns (1, x, u), of which the first is linear: q and v are columns beside Q and V, d one beside K. Of
symmetric matrices only the lower triangle is computed. As the efforts come last, the rows U = (q_u, Q_ux, Q_uu) are
complete, and Gaussian elimination of the efforts reduces Q to V and v.

The same source serves one motion and several on SIMD lanes: see matrix_products.py."""
from typing import Any

import numpy as np

from screw_dynamics.compiled.samples import load_rows, store_rows
from screw_dynamics.constraints.box_lcp import FREE, LOWER, UPPER
from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import kernel, noinline, null

from .matrix_products import add_product, as_it_is, lower_lanes, scale, subtract, transposed
from .riccati_memory import CHANGE, LEAST_PIVOT, Feedback, Motions, Work, sizes, work_in

ROUNDS = 30             # largest number of rounds in which efforts change sides
FLAT = 1e-13            # pivots below, relative to a diagonal entry, are rounding errors: efforts are not determined


@noinline
def load_matrix(matrices: np.ndarray, first: int, k: int, entries: Any) -> None:
    """Load matrices (P, N a, .), of step k of the motions beginning at `first`, into entries (a, b)."""
    for i in range(len(entries)):
        load_rows(matrices, first, k * len(entries) + i, entries[i])


@noinline
def load_cost(given: Motions, first: int, k: int, at: Work) -> None:
    """Load S of a step, and D and g into Q and U, whose other entries are set to 0."""
    x, w, r = len(at.gap), len(at.z), len(at.inner)
    load_rows(given.D, first, k, at.D)
    load_rows(given.g, first, k, at.g)
    load_matrix(given.S, first, k, at.FS.entries[r:, :1 + w])
    for i in range(r, len(at.FS.rows)):
        for J in range(at.FS.rows.shape[1]):
            at.WS.rows[i, J] = at.FS.rows[i, J]
    for i in range(x):
        for J in range(lower_lanes(lane_count(at.D[0]), i, at.Q.rows)):
            at.Q.rows[i, J] = null(at.Q.rows[i, J])
        at.Q.entries[i, 0], at.Q.entries[i, 1 + i] = at.g[i], at.D[i]
    for i in range(w - x):
        for J in range(at.U.rows.shape[1]):
            at.U.rows[i, J] = null(at.U.rows[i, J])
        at.U.entries[i, 0], at.U.entries[i, 1 + x + i] = at.g[x + i], at.D[x + i]


@kernel
def entry_of(V: Any, i: int, j: int) -> Any:
    """Return entry (i, j) of a symmetric V, stored as its lower triangle after the column v."""
    return V[i, 1 + j] if i >= j else V[j, 1 + i]


@kernel
def move(at: Work) -> None:
    """Add V gap to v, if there are gaps."""
    V, gap, x, apart = at.V.entries, at.gap, len(at.gap), False
    for i in range(x):
        apart |= some(gap[i] != 0.0)
    if apart:
        for i in range(x):
            more = null(gap[0])
            for j in range(x):
                more += entry_of(V, i, j) * gap[j]
            at.told[CHANGE] += gap[i] * (V[i, 0] + 0.5 * more)
            V[i, 0] += more


@noinline
def weigh(h: float, at: Work) -> None:
    """Compute W = (B^T v, B^T V E) + (B^T V B) A and the upper rows of V B, for F = E + B A with a given A.

    E = (1 0 0; 0 0 0) and B = (h 1; 1). If the whole F is given, E = 0 and B = 1."""
    V, W, inner, outer, r, above = at.V.entries, at.WS, at.inner, at.outer, len(at.inner), len(at.outer)
    for i in range(above):
        for j in range(r):
            outer[i, j] = h * entry_of(V, i, j) + V[above + j, 1 + i]
    for i in range(r):
        for j in range(i + 1):
            inner[i, j] = V[above + i, 1 + above + j]
            if above:
                inner[i, j] += h * (V[above + i, 1 + j] + outer[i, j])
            inner[j, i] = inner[i, j]
        for J in range(W.rows.shape[1]):
            W.rows[i, J] = null(W.rows[i, J])
        W.entries[i, 0] = V[above + i, 0]
        if above:
            W.entries[i, 0] += h * V[i, 0]
        for j in range(above):
            W.entries[i, 1 + j] = outer[j, i]
    add_product(as_it_is, inner, at.FS.rows[:r], W.rows[:r], 0)


@noinline
def quadratic(given: Motions, first: int, k: int, at: Work) -> None:
    """Compute Q = H + F^T V F and q = g + F^T (v + V gap).

    With F = E + B A they are H + A^T W + E^T V (E + B A), and S^T S is in the same product."""
    V, Q, FS, WS, x, r, above, unit = (at.V.entries, at.Q, at.FS, at.WS, len(at.gap), len(at.inner), len(at.outer),
                                       lane_count(at.gap[0]))
    load_matrix(given.F, first, k, FS.entries[:r, 1:1 + len(at.z)])
    for i in range(r):
        FS.entries[i, 0] = null(FS.entries[i, 0])
    load_rows(given.gap, first, k + 1, at.gap)
    load_cost(given, first, k, at)
    move(at)
    weigh(given.h, at)
    for i in range(above):
        for j in range(2 + i):
            Q.entries[i, j] += V[i, j]
    add_product(as_it_is, at.outer, FS.rows[:r], Q.rows[:above], unit)
    add_product(transposed, FS.entries[:, 1:1 + x], WS.rows, Q.rows, unit)
    add_product(transposed, FS.entries[:, 1 + x:], WS.rows, at.U.rows, 0)


@kernel
def hold(at: Work) -> None:
    """Fix efforts at their bounds: add their terms to q and to the cost, and clear their rows of U."""
    U, Q, x = at.U.entries, at.Q.entries, len(at.gap)
    for e in range(len(at.d)):
        at.d[e] = where(at.side[e] == FREE, null(at.d[e]), where(at.side[e] == LOWER, at.lower[e], at.upper[e]))
        at.told[CHANGE] += at.d[e] * (U[e, 0] + 0.5 * at.d[e] * U[e, 1 + x + e])
        for i in range(len(at.d)):
            U[i, 0] += U[i, 1 + x + e] * at.d[e]
        for i in range(x):
            Q[i, 0] += U[e, 1 + i] * at.d[e]
    for e in range(len(at.d)):
        free = where(at.side[e] == FREE, null(at.d[e]) + 1.0, null(at.d[e]))
        scale(free, at.U.rows, e)
        for i in range(len(at.d)):
            U[i, 1 + x + e] *= free
        U[e, 1 + x + e] += 1.0 - free


@kernel
def eliminate(at: Work) -> None:
    """Eliminate the efforts from each other (Gaussian elimination).

    Row e of U becomes U_e after elimination of the efforts before e. Row e of K becomes -U_e / U_ee, or 0 if an effort
    is not determined."""
    U, x, m = at.U.entries, len(at.gap), len(at.d)
    for e in range(m):
        c = 1 + x + e
        positive = where(at.diagonal[e] > 0.0, at.diagonal[e], null(at.d[0]) + 1.0)
        pivot = where(at.side[e] == FREE, U[e, c] / positive, null(positive) + 1.0)
        at.told[LEAST_PIVOT] = where(pivot >= at.told[LEAST_PIVOT], at.told[LEAST_PIVOT], pivot)
        by = where(pivot > FLAT, -1.0 / where(pivot > FLAT, U[e, c], positive), null(positive))
        for J in range(at.K.rows.shape[1]):
            at.K.rows[e, J] = by * at.U.rows[e, J]
        for i in range(e + 1, m):
            subtract(-U[i, c], at.K.rows, e, at.U.rows, i, at.U.rows.shape[1])


@noinline
def best_efforts(given: Motions, found: Feedback, first: int, k: int, at: Work) -> None:
    """Compute K and d of the efforts u = d + K x that minimize q u + u Q u / 2 + u Q x over the free efforts.

    Also compute V = Q + Q_xu K and v = q + Q_xu d by elimination, without the contribution of `shift`."""
    U, K, V, x, m, shift = at.U.entries, at.K.entries, at.V, len(at.gap), len(at.d), at.shift[0]
    load_rows(found.side, first, k, at.side)
    bound = False
    for e in range(m):
        at.diagonal[e] = U[e, 1 + x + e] + shift
        bound |= some(at.side[e] != FREE)
    if bound:
        load_rows(given.lower, first, k, at.lower)
        load_rows(given.upper, first, k, at.upper)
        for e in range(m):
            for j in range(1 + len(at.z)):
                at.slopes[k, e, j] = U[e, j]
            at.slopes[k, e, 1 + x + e] += shift
        hold(at)
    for e in range(m):
        U[e, 1 + x + e] += where(at.side[e] == FREE, shift, null(shift))
    eliminate(at)
    for i in range(x):
        for J in range(lower_lanes(lane_count(shift), i, V.rows)):
            V.rows[i, J] = at.Q.rows[i, J]
    add_product(transposed, U[:, 1:1 + x], at.K.rows, V.rows, lane_count(shift))
    for e in range(m):
        at.told[CHANGE] += 0.5 * U[e, 0] * K[e, 0]
    for e in range(m - 1, 0, -1):
        for i in range(e):
            subtract(-K[i, 1 + x + e], at.K.rows, e, at.K.rows, i, V.rows.shape[1])
    if some(shift != 0.0):
        for e in range(m):
            at.told[CHANGE] -= 0.5 * shift * K[e, 0] * K[e, 0]
            for i in range(x):
                subtract(shift * K[e, 1 + i], at.K.rows, e, V.rows, i, V.rows.shape[1])
    for e in range(m):
        at.d[e] = where(at.side[e] == FREE, K[e, 0], at.d[e])


@noinline
def backward(given: Motions, found: Feedback, first: int, at: Work) -> None:
    """Compute the feedback of all steps, from the last to the first."""
    N, m, x, r = given.lower.shape[1], len(at.d), len(at.gap), len(at.inner)
    at.told[CHANGE], at.told[LEAST_PIVOT] = null(at.gap[0]), null(at.gap[0]) + 1.0
    load_cost(given, first, N, at)
    add_product(transposed, at.FS.entries[r:, 1:1 + x], at.WS.rows[r:], at.Q.rows, lane_count(at.gap[0]))
    for i in range(x):
        for J in range(at.V.rows.shape[1]):
            at.V.rows[i, J] = at.Q.rows[i, J]
    for k in range(N - 1, -1, -1):
        quadratic(given, first, k, at)
        best_efforts(given, found, first, k, at)
        store_rows(found.d, first, k, at.d)
        for i in range(m):
            store_rows(found.K, first, k * m + i, at.K.entries[i, 1:1 + x])


@kernel
def change_sides(at: Work, slopes: Any) -> bool:
    """Change the sides of a step's efforts that are beyond a bound, or at one that they would leave inwards. Return
    True if any changed."""
    z, x, w, changed = at.z, len(at.gap), len(at.z), False
    for i in range(w - x):
        before, u, slope = at.side[i], z[x + i], slopes[i, 0]
        if some(before != FREE):
            for j in range(w):
                slope += slopes[i, 1 + j] * z[j]
        leaves = (((before == LOWER) & (slope < 0.0)) | ((before == UPPER) & (slope > 0.0))) & (
            at.lower[i] < at.upper[i])
        side = where(leaves, null(u) + FREE, before)
        side = where((before == FREE) & (u > at.upper[i]), null(u) + UPPER, side)
        at.side[i] = where((before == FREE) & (u < at.lower[i]), null(u) + LOWER, side)
        changed |= some(at.side[i] != before)
    return changed


@noinline
def forward(given: Motions, found: Feedback, first: int, at: Work) -> bool:
    """Compute the whole change. Return True if any efforts changed sides."""
    z, x, w, N, changed = at.z, len(at.gap), len(at.z), given.lower.shape[1], False
    r, above, wanted = len(at.inner), len(at.outer), found.z.shape[1] > 0
    for i in range(x):
        z[i] = null(z[0])
    for k in range(N):
        load_rows(found.d, first, k, at.d)
        load_rows(found.side, first, k, at.side)
        load_rows(given.lower, first, k, at.lower)
        load_rows(given.upper, first, k, at.upper)
        load_rows(given.gap, first, k + 1, at.gap)
        load_matrix(found.K, first, k, at.K.entries[:, :x])
        load_matrix(given.F, first, k, at.FS.entries[:r, :w])
        for i in range(w - x):
            u = at.d[i]
            for j in range(x):
                u += at.K.entries[i, j] * z[j]
            z[x + i] = u
        if len(at.slopes) > 0:
            changed |= change_sides(at, at.slopes[k])
            store_rows(found.side, first, k, at.side)
        if wanted:
            store_rows(found.z, first, k, z)
        for i in range(r):
            new = null(z[0])
            for j in range(w):
                new += at.FS.entries[i, j] * z[j]
            at.new[i] = new
        for i in range(above):
            z[i] += given.h * at.new[i] + at.gap[i]
        for i in range(r):
            z[above + i] = at.new[i] + at.gap[above + i]
    for i in range(x, w):
        z[i] = null(z[0])
    if wanted:
        store_rows(found.z, first, N, z)
    return changed


@kernel
def sweep(like: Any, given: Motions, found: Feedback, first: int, bounded: bool, memory: np.ndarray) -> None:
    """Fill `found` for as many motions as `like` has lanes, beginning at `first`, with memory of zeros.

    bounded: True if efforts have bounds."""
    at = work_in(like, sizes(given, bounded), memory)
    load_rows(given.shift, first, 0, at.shift)
    for _ in range(ROUNDS):
        backward(given, found, first, at)
        if not (bounded or found.z.shape[1] > 0) or not forward(given, found, first, at):
            break
    store_rows(found.told, first, 0, at.told)
