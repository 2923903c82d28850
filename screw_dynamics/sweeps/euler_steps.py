"""The derivatives of steps qd+ = qd + h qdd, q+ = q + h qd+, from those of the accelerations: F = (q+, qd+) by (q, qd,
tau)."""
import numpy as np

from screw_dynamics.numbers.values import kernel


@kernel
def euler_steps(by_q: np.ndarray, by_qd: np.ndarray, by_tau: np.ndarray, h: float, F: np.ndarray) -> None:
    """F (N, 2 n, padded(3 n)) becomes (1 h, 0 1) + (h^2, h) x the derivatives (N, n, n) of accelerations, with zeros in
    its padding."""
    N, n, _ = by_q.shape
    for s in range(N):
        for i in range(n):
            for j in range(3 * n, F.shape[2]):
                F[s, n + i, j] = 0.0
            for j in range(n):
                F[s, n + i, j] = h * by_q[s, i, j]
                F[s, n + i, n + j] = h * by_qd[s, i, j]
                F[s, n + i, 2 * n + j] = h * by_tau[s, i, j]
            F[s, n + i, n + i] += 1.0
            for j in range(F.shape[2]):
                F[s, i, j] = h * F[s, n + i, j]
            F[s, i, i] += 1.0
