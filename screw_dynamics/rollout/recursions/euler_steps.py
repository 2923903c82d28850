"""Derivatives of steps qd+ = qd + h qdd, q+ = q + h qd+, from those of the accelerations: F = (q+, qd+) by (q, qd,
tau)."""
import numpy as np

from screw_dynamics.numbers.values import kernel


@kernel
def euler_steps(by_q: np.ndarray, by_qd: np.ndarray, by_tau: np.ndarray, h: float, F: np.ndarray) -> None:
    """Set F (N, 2 n, padded(3 n)) to (1 h, 0 1) + (h^2, h) x the derivatives (N, n, n) of accelerations, with zeros in
    its padding. F with n rows has the derivatives of the velocities only."""
    N, n, _ = by_q.shape
    above = F.shape[1] - n
    for s in range(N):
        for i in range(n):
            row = F[s, above + i]
            for j in range(n):
                row[j] = h * by_q[s, i, j]
                row[n + j] = h * by_qd[s, i, j]
                row[2 * n + j] = h * by_tau[s, i, j]
            row[n + i] += 1.0
            for j in range(3 * n, len(row)):
                row[j] = 0.0
        for i in range(above):
            for j in range(F.shape[2]):
                F[s, i, j] = h * F[s, n + i, j]
            F[s, i, i] += 1.0
