"""The best changes of efforts to second order: Riccati's recursion with efforts within bounds, and gaps between steps.

Of deviations z = (x, u) of states and efforts, x+ = F z + gap, and costs g z + z H z / 2. Backwards, the cost to go
from a state is v x + x V x / 2, and Q = H + F^T V F, q = g + F^T (v + V gap) that of a step and of all after it.
Efforts u = d + K x are the least of it within their bounds (Tassa, Mansard and Todorov, 2014; with gaps: Mastalli et
al., 2020). Those at a bound do not follow the state. Forwards, what the whole change does to the cost."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.constraints.bounded import FREE, Box, box, box_numbers, solve_bounded
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, outlined

from .matrix_products import (
    add_combination,
    add_product,
    add_transposed_product,
    clear,
    dot,
    matrix,
    mirror,
    padded,
    rows,
    scalars,
    scale,
    subtract,
)

SLOPE, CURVE, LEAST_PIVOT = range(3)      # of what is told
TOLD = 3
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
    """What is found: K (P, N, m, padded(x)), d (P, N, m), and told (P, TOLD): of the whole change the cost's SLOPE and
    CURVE, to second order their sum, and the LEAST_PIVOT as a share of its diagonal entry, not above FLAT where the
    change is not determined."""

    K: np.ndarray
    d: np.ndarray
    told: np.ndarray


class Work(NamedTuple):
    """Memory of a step: Q (w, w), W (x, w), V (x, x), and T (m, x), as entries and as rows; q and z (w) too; vectors v,
    new (x) and new_efforts (m); and the problem of the efforts within bounds."""

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
    new_efforts: np.ndarray
    bounded: Box


@kernel
def work_numbers(x: int, m: int) -> int:
    """How many numbers a Work has."""
    w = x + m
    return (w + x + 2) * padded(w) + (x + m) * padded(x) + 2 * x + m + box_numbers(m)


@kernel
def work_in(x: int, m: int, memory: np.ndarray) -> Work:
    """The Work in memory."""
    w = x + m
    W = w * padded(w)
    V = W + x * padded(w)
    T = V + x * padded(x)
    q = T + m * padded(x)
    z = q + padded(w)
    v = z + padded(w)
    new, efforts, bounded = v + x, v + 2 * x, v + 2 * x + m
    return Work(scalars(memory, 0, w, w), rows(memory, 0, w, w), scalars(memory, W, x, w), rows(memory, W, x, w),
                scalars(memory, V, x, x), rows(memory, V, x, x), scalars(memory, T, m, x), rows(memory, T, m, x),
                block(0.0, (padded(w),), memory, q), rows(memory, q, 1, w),
                block(0.0, (padded(w),), memory, z), rows(memory, z, 1, w), block(0.0, (x,), memory, v),
                block(0.0, (x,), memory, new), block(0.0, (m,), memory, efforts), box(0.0, m, memory, bounded))


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
    add_product(at.V, F_rows, at.W_rows)
    for i in range(w):
        at.q[i] = given.g[p, k, i]
        for J in range(H.shape[1]):
            at.Q_rows[i, J] = H[i, J]
    add_transposed_product(F, at.W_rows, at.Q_rows, True)
    add_combination(v, F_rows, at.q_row)


@kernel
def load_efforts(given: Motions, p: int, k: int, at: Work) -> None:
    """The problem of the efforts alone: the least of q u + u Q u / 2 within the bounds."""
    to, x = at.bounded, len(at.v)
    for i in range(len(to.c)):
        to.c[i], to.lower[i], to.upper[i], to.side[i] = at.q[x + i], given.lower[p, k, i], given.upper[p, k, i], FREE
        for j in range(i, len(to.c)):
            to.G[i, j] = to.G[j, i] = at.Q[x + i, x + j]
        to.G[i, i] += given.shift[p]
        to.size[i] = to.G[i, i]


@kernel
def follow(at: Work, K: np.ndarray, K_rows: Any) -> float:
    """K = - Q_uu^-1 Q_ux of the efforts that are not at a bound, 0 of others, by Q_uu = U^T D U, and d alike where all
    are free. Returns the least pivot, of its diagonal entry."""
    to, x, m = at.bounded, len(at.v), len(K)
    U, side, d, least = to.A, to.side, at.new_efforts, 1.0
    for i in range(m):
        free = 1.0 if side[i] == FREE else 0.0
        d[i] = -free * to.c[i]
        for j in range(i, m):
            U[i, j] = free * to.G[i, j] if side[j] == FREE else 0.0
        for j in range(x):
            K[i, j] = -free * at.Q[j, x + i]
    for k in range(m):
        pivot = U[k, k] / to.size[k] if to.size[k] > 0.0 else 0.0
        least = pivot if side[k] == FREE and not pivot >= least else least
        inverse = 1.0 / U[k, k] if side[k] == FREE and pivot > FLAT else 0.0
        for i in range(k + 1, m):
            factor = U[k, i] * inverse
            subtract(factor, K_rows, k, i)
            d[i] -= factor * d[k]
            for j in range(i, m):
                U[i, j] -= factor * U[k, j]
            U[k, i] = factor
        d[k] *= inverse
        scale(inverse, K_rows, k)
    for k in range(m - 1, -1, -1):
        for i in range(k + 1, m):
            subtract(U[k, i], K_rows, i, k)
            d[k] -= U[k, i] * d[i]
    return least


@kernel
def best_efforts(given: Motions, p: int, k: int, at: Work, K: np.ndarray, K_rows: Any) -> float:
    """Efforts u = d + K x: those without bounds, if these let them be, else those of the problem with bounds. Returns
    the least pivot."""
    load_efforts(given, p, k, at)
    to, inside = at.bounded, True
    least = follow(at, K, K_rows)
    for i in range(len(K)):
        to.x[i] = at.new_efforts[i]
        inside = inside and to.lower[i] <= to.x[i] <= to.upper[i]
    if inside:
        return least
    solve_bounded(to)
    return follow(at, K, K_rows)


@kernel
def value(at: Work, K: np.ndarray, K_rows: Any) -> None:
    """V = (1, K)^T Q (1, K) and v = (1, K)^T (q + Q (0, d)), without what `shift` adds."""
    Q, T, V, v, q, d, m, x = at.Q, at.T, at.V, at.v, at.q, at.bounded.x, len(K), len(at.v)
    for i in range(m):
        for j in range(x):
            T[i, j] = Q[j, x + i]
    for i in range(x):
        v[i] = q[i]
        for J in range(V.shape[1]):
            V[i, J] = Q[i, J]                                       # of rows that are longer: what is beyond is padding
        for j in range(x, V.shape[1]):
            V[i, j] = 0.0
    add_transposed_product(T, K_rows, at.V_rows, True)              # Q_xu K
    for i in range(m):
        for j in range(i, m):
            Q[x + j, x + i] = Q[x + i, x + j]
    add_product(Q[x:, x:], K_rows, at.T_rows)                       # T = Q_ux + Q_uu K
    add_transposed_product(K, at.T_rows, at.V_rows, True)
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
        K = found.K[p, k]
        quadratic(given, p, k, at)
        K_rows = matrix(found.K, p, k)
        pivot = best_efforts(given, p, k, at, K, K_rows)
        least = least if pivot >= least else pivot
        value(at, K, K_rows)
        for i in range(len(K)):
            found.d[p, k, i] = at.bounded.x[i]
    found.told[p, LEAST_PIVOT] = least


@outlined
def forward(given: Motions, found: Feedback, p: int, at: Work) -> None:
    """The cost's slope g z and curvature z H z / 2 along the whole change."""
    x, N, z, slope, curve = len(at.v), given.F.shape[1], at.z, 0.0, 0.0
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
        clear(at.q_row)
        add_combination(z, matrix(given.H, p, k), at.q_row)
        for i in range(w):
            slope += given.g[p, k, i] * z[i]
            curve += 0.5 * z[i] * at.q[i]
        if k < N:
            F = matrix(given.F, p, k)
            for i in range(x):
                at.new[i] = given.gap[p, k + 1, i] + dot(F, i, at.z_row)
            for i in range(x):
                z[i] = at.new[i]
    found.told[p, SLOPE], found.told[p, CURVE] = slope, curve


@kernel
def sweep(given: Motions, found: Feedback, memory: np.ndarray) -> None:
    """Fill `found`, from memory of zeros."""
    at = work_in(given.gap.shape[2], given.lower.shape[2], memory)
    for p in range(len(given.F)):
        backward(given, found, p, at)
        forward(given, found, p, at)
