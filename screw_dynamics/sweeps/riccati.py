"""The best changes of efforts to second order: Riccati's recursion with efforts within bounds, and gaps between steps.

Of deviations z = (x, u) of states and efforts, x+ = F z + gap, and costs g z + z H z / 2. Backwards, the cost to go
from a state is v x + x V x / 2, and Q = H + F^T V F, q = g + F^T (v + V gap) that of a step and of all after it, of
which efforts u = d + K x are the least (with gaps: Mastalli et al., 2020); those at a bound stay there. Forwards, which
efforts leave their bounds, and which ones at a bound would make the cost less within: these change sides, and all is
done again until none does (a primal-dual active set: Hintermueller, Ito and Kunisch, 2002). So the whole problem with
bounds is solved, as no sweep that bounds the efforts of one step after the other does; and what the change makes of the
cost is known."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.constraints.bounded import FREE, LOWER, UPPER
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, outlined

from .matrix_products import (
    add_combination,
    add_product,
    as_it_is,
    clear,
    dot,
    matrix,
    mirror,
    padded,
    rows,
    scalars,
    scale,
    subtract,
    transposed,
)

SLOPE, CURVE, LEAST_PIVOT = range(3)      # of what is told
TOLD = 3
ROUNDS = 30             # in which efforts change sides
FLAT = 1e-13            # of a diagonal entry: a pivot below is rounding, and the efforts are not determined


class Motions(NamedTuple):
    """P motions of N steps, states of x numbers, and m efforts, w = x + m: F (P, N, x, padded(w)), costs H (P, N + 1,
    w, padded(w)) and g (P, N + 1, padded(w)), gaps (P, N + 1, x) behind steps, the first of none, bounds lower and
    upper (P, N, m) of changes of efforts, and what is added to the diagonal of Q by efforts, shift (P,)."""

    F: np.ndarray
    H: np.ndarray
    g: np.ndarray
    gap: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    shift: np.ndarray


class Feedback(NamedTuple):
    """What is found: K (P, N, m, padded(x)), d (P, N, m), on which side efforts are (P, N, m), LOWER, FREE or UPPER,
    also where the search begins; the whole change z (P, N + 1, padded(w)), and told (P, TOLD): of it the cost's SLOPE
    and CURVE, to second order their sum, and the LEAST_PIVOT as a share of its diagonal entry, not above FLAT where the
    change is not determined."""

    K: np.ndarray
    d: np.ndarray
    side: np.ndarray
    z: np.ndarray
    told: np.ndarray


class Work(NamedTuple):
    """Memory of a step: Q (w, w), W (x, w), V (x, x), and T (m, x), as entries and as rows; q and z (w) too; vectors v,
    new (x); of the efforts, G = Q_uu and its factors U (m, m), c and d (m); and slopes (N, m, w + 1): of each step the
    rows of Q by efforts, and q by these."""

    Q: np.ndarray
    Q_rows: Any
    W: np.ndarray
    W_rows: Any
    V: np.ndarray
    V_rows: Any
    T: np.ndarray
    T_rows: Any
    q: np.ndarray
    q_row: Any
    z: np.ndarray
    z_row: Any
    v: np.ndarray
    new: np.ndarray
    G: np.ndarray
    U: np.ndarray
    c: np.ndarray
    d: np.ndarray
    slopes: np.ndarray


@kernel
def work_numbers(x: int, m: int, N: int) -> int:
    """How many numbers a Work has."""
    w = x + m
    return (w + x + 2) * padded(w) + (x + m) * padded(x) + 2 * x + 2 * m * m + 2 * m + N * m * (w + 1)


@kernel
def work_in(x: int, m: int, N: int, memory: np.ndarray) -> Work:
    """The Work in memory."""
    w = x + m
    W = w * padded(w)
    V = W + x * padded(w)
    T = V + x * padded(x)
    q = T + m * padded(x)
    z = q + padded(w)
    v = z + padded(w)
    new, G = v + x, v + 2 * x
    U, c = G + m * m, G + 2 * m * m
    return Work(scalars(memory, 0, w, w), rows(memory, 0, w, w), scalars(memory, W, x, w), rows(memory, W, x, w),
                scalars(memory, V, x, x), rows(memory, V, x, x), scalars(memory, T, m, x), rows(memory, T, m, x),
                block(0.0, (padded(w),), memory, q), rows(memory, q, 1, w),
                block(0.0, (padded(w),), memory, z), rows(memory, z, 1, w), block(0.0, (x,), memory, v),
                block(0.0, (x,), memory, new), block(0.0, (m, m), memory, G), block(0.0, (m, m), memory, U),
                block(0.0, (m,), memory, c), block(0.0, (m,), memory, c + m),
                block(0.0, (N, m, w + 1), memory, c + 2 * m))


@kernel
def quadratic(given: Motions, p: int, k: int, at: Work) -> None:
    """Q = H + F^T V F, above its diagonal, and q = g + F^T (v + V gap)."""
    F, F_rows, H, gap, v = given.F[p, k], matrix(given.F, p, k), matrix(given.H, p, k), given.gap[p, k + 1], at.v
    x = len(v)
    w = x + given.lower.shape[2]
    for i in range(x):
        for j in range(x):
            v[i] += at.V[i, j] * gap[j]
    clear(at.W_rows)
    add_product(as_it_is, at.V, F_rows, at.W_rows, False)
    for i in range(w):
        at.q[i] = given.g[p, k, i]
        for J in range(H.shape[1]):
            at.Q_rows[i, J] = H[i, J]
    add_product(transposed, F, at.W_rows, at.Q_rows, True)
    add_combination(v, F_rows, at.q_row)


@kernel
def best_efforts(given: Motions, found: Feedback, p: int, k: int, at: Work, K: np.ndarray, K_rows: Any) -> float:
    """Efforts u = d + K x, the least of q u + u Q u / 2 + u Q x of those that are free, by Q_uu = U^T D U; others are
    at their bounds. Returns the least pivot, of its diagonal entry."""
    G, U, d, side, x, m, least = at.G, at.U, at.d, found.side[p, k], len(at.v), len(K), 1.0
    for i in range(m):
        for j in range(i, m):
            G[i, j] = G[j, i] = at.Q[x + i, x + j]
        G[i, i] += given.shift[p]
        d[i] = -at.q[x + i]
        for j in range(x):
            K[i, j] = -at.Q[j, x + i]
    for i in range(m):
        for j in range(i, m):
            U[i, j] = G[i, j] if side[i] == FREE and side[j] == FREE else 0.0
    for i in range(m):
        if side[i] != FREE:
            U[i, i] = 1.0
            scale(0.0, K_rows, i)
            d[i] = given.lower[p, k, i] if side[i] == LOWER else given.upper[p, k, i]
            for j in range(m):
                if side[j] == FREE:
                    d[j] -= G[j, i] * d[i]
    for e in range(m):
        pivot = 1.0 if side[e] != FREE else U[e, e] / G[e, e] if G[e, e] > 0.0 else 0.0
        least = least if pivot >= least else pivot
        inverse = 1.0 / U[e, e] if pivot > FLAT else 0.0
        for i in range(e + 1, m):
            factor = U[e, i] * inverse
            subtract(factor, K_rows, e, i)
            d[i] -= factor * d[e]
            for j in range(i, m):
                U[i, j] -= factor * U[e, j]
            U[e, i] = factor
        d[e] *= inverse
        scale(inverse, K_rows, e)
    for e in range(m - 1, -1, -1):
        for i in range(e + 1, m):
            subtract(U[e, i], K_rows, i, e)
            d[e] -= U[e, i] * d[i]
    return least


@kernel
def value(at: Work, K: np.ndarray, K_rows: Any) -> None:
    """V = (1, K)^T Q (1, K) and v = (1, K)^T (q + Q (0, d)), without what `shift` adds."""
    Q, T, V, v, q, d, m, x = at.Q, at.T, at.V, at.v, at.q, at.d, len(K), len(at.v)
    for i in range(m):
        for j in range(x):
            T[i, j] = Q[j, x + i]
    for i in range(x):
        v[i] = q[i]
        for J in range(V.shape[1]):
            V[i, J] = Q[i, J]                                       # of rows that are longer: what is beyond is padding
        for j in range(x, V.shape[1]):
            V[i, j] = 0.0
    add_product(transposed, T, K_rows, at.V_rows, True)                # Q_xu K
    for i in range(m):
        for j in range(i, m):
            Q[x + j, x + i] = Q[x + i, x + j]
    add_product(as_it_is, Q[x:, x:], K_rows, at.T_rows, False)                       # T = Q_ux + Q_uu K
    add_product(transposed, K, at.T_rows, at.V_rows, True)
    mirror(V, x)
    for k in range(m):
        for i in range(x):
            v[i] += T[k, i] * d[k] + K[k, i] * q[x + k]


@outlined
def backward(given: Motions, found: Feedback, p: int, at: Work) -> None:
    """Feedback of all steps, from the last to the first."""
    N, x, least = given.F.shape[1], len(at.v), 1.0
    for i in range(x):
        at.v[i] = given.g[p, N, i]
        for j in range(x):
            at.V[i, j] = given.H[p, N, i, j]
    for k in range(N - 1, -1, -1):
        K, K_rows = found.K[p, k], matrix(found.K, p, k)
        quadratic(given, p, k, at)
        pivot = best_efforts(given, found, p, k, at, K, K_rows)
        least = least if pivot >= least else pivot
        value(at, K, K_rows)
        for i in range(len(K)):
            found.d[p, k, i], slope = at.d[i], at.slopes[k, i]
            for j in range(x):
                slope[j] = at.Q[j, x + i]
            for j in range(len(K)):
                slope[x + j] = at.G[i, j]
            slope[x + len(K)] = at.q[x + i]
    found.told[p, LEAST_PIVOT] = least


@kernel
def change_sides(given: Motions, found: Feedback, p: int, k: int, at: Work) -> int:
    """Let efforts of a step change sides that are beyond a bound, or at one that they would leave inwards. Returns how
    many do."""
    z, x, w, changed = at.z, len(at.v), at.slopes.shape[2] - 1, 0
    for i in range(w - x):
        before, slope = found.side[p, k, i], at.slopes[k, i, w]
        after = before
        for j in range(w):
            slope += at.slopes[k, i, j] * z[j]
        if before == FREE and z[x + i] < given.lower[p, k, i]:
            after = LOWER
        elif before == FREE and z[x + i] > given.upper[p, k, i]:
            after = UPPER
        elif (before == LOWER and slope < 0.0 or before == UPPER and slope > 0.0) and (
                given.lower[p, k, i] < given.upper[p, k, i]):
            after = FREE
        changed += after != before
        found.side[p, k, i] = after
    return changed


@outlined
def forward(given: Motions, found: Feedback, p: int, at: Work) -> int:
    """The whole change, and the cost's slope g z and curvature z H z / 2 along it. Returns how many efforts change
    sides."""
    x, N, z, slope, curve, changed = len(at.v), given.F.shape[1], at.z, 0.0, 0.0, 0
    w = x + given.lower.shape[2]
    for i in range(len(z)):
        z[i] = 0.0
    for k in range(N + 1):
        for i in range(x, w):
            z[i] = 0.0
        if k < N:
            for i in range(w - x):
                z[x + i] = found.d[p, k, i]
                for j in range(x):
                    z[x + i] += found.K[p, k, i, j] * z[j]
            changed += change_sides(given, found, p, k, at)
        clear(at.q_row)
        add_combination(z, matrix(given.H, p, k), at.q_row)
        for i in range(w):
            found.z[p, k, i] = z[i]
            slope += given.g[p, k, i] * z[i]
            curve += 0.5 * z[i] * at.q[i]
        if k < N:
            F = matrix(given.F, p, k)
            for i in range(x):
                at.new[i] = given.gap[p, k + 1, i] + dot(F, i, at.z_row)
            for i in range(x):
                z[i] = at.new[i]
    found.told[p, SLOPE], found.told[p, CURVE] = slope, curve
    return changed


@kernel
def sweep(given: Motions, found: Feedback, memory: np.ndarray) -> None:
    """Fill `found`, from memory of zeros."""
    at = work_in(given.gap.shape[2], given.lower.shape[2], given.F.shape[1], memory)
    for p in range(len(given.F)):
        for _ in range(ROUNDS):
            backward(given, found, p, at)
            if forward(given, found, p, at) == 0:
                break
