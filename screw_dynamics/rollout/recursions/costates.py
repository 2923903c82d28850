"""Adjoint recursion: the derivatives of a cost by each state of a motion, and by its efforts.

For x+ = F (x, u) and a cost with the derivatives g by (x, u), backwards: (lambda, by u) = g + F^T lambda+. A single
pass, for any number of efforts."""
import numpy as np

from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel

from .matrix_products import add_combination, padded, rows, rows_of


@kernel
def costates(F: np.ndarray, g: np.ndarray, found: np.ndarray, memory: np.ndarray) -> None:
    """Set found (P, N + 1, padded(w)) to the total derivatives of the cost by states and efforts.

    F (P, N, x, padded(w)); g (P, N + 1, padded(w)): partial derivatives, by states and efforts, of the cost; memory:
    padded(w) + x numbers."""
    P, N, x, w = F.shape
    line, row, after = block(0.0, (w,), memory, 0), rows(memory, 0, 1, w), block(0.0, (x,), memory, padded(w))
    for p in range(P):
        for k in range(N, -1, -1):
            for i in range(w):
                line[i] = g[p, k, i]
            if k < N:
                add_combination(after, rows_of(F, p, k), row)
            for i in range(w):
                found[p, k, i] = line[i]
            for i in range(x):
                after[i] = line[i]


@kernel
def euler_costates(by_q: np.ndarray, by_qd: np.ndarray, by_tau: np.ndarray, h: float, g: np.ndarray, found: np.ndarray,
                   memory: np.ndarray) -> None:
    """Compute `costates` for steps qd+ = qd + h qdd, q+ = q + h qd+, from the derivatives of accelerations.

    by_q, by_qd, by_tau (P, N, n, n); F is not formed: (lambda_q, lambda_qd, by u) = g + (lambda_q+ + r by_q, lambda_qd+
    + h lambda_q+ + r by_qd, r by_tau), r = h (lambda_qd+ + h lambda_q+); memory: n numbers."""
    P, N, n, _ = by_q.shape
    r = block(0.0, (n,), memory, 0)
    for p in range(P):
        for j in range(found.shape[2]):
            found[p, N, j] = g[p, N, j]
        for k in range(N - 1, -1, -1):
            line, after = found[p, k], found[p, k + 1]
            for j in range(len(line)):
                line[j] = g[p, k, j]
            for i in range(n):
                r[i] = after[n + i] + h * after[i]
                line[i] += after[i]
                line[n + i] += r[i]
                r[i] *= h
            for i in range(n):
                of_q, of_qd, of_tau = by_q[p, k, i], by_qd[p, k, i], by_tau[p, k, i]
                for j in range(n):
                    line[j] += r[i] * of_q[j]
                    line[n + j] += r[i] * of_qd[j]
                    line[2 * n + j] += r[i] * of_tau[j]
