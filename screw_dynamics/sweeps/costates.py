"""Costates: how a cost changes with each state of a motion, and what that makes of its efforts.

Of x+ = F (x, u) and a cost with the derivatives g by (x, u), backwards: (lambda, by u) = g + F^T lambda+. One sweep,
whatever the number of efforts."""
import numpy as np

from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel

from .matrix_products import add_combination, matrix, padded, rows


@kernel
def costates(F: np.ndarray, g: np.ndarray, found: np.ndarray, memory: np.ndarray) -> None:
    """F (P, N, x, padded(w)) and g (P, N + 1, padded(w)): found (P, N + 1, padded(w)) becomes the derivatives of the
    cost by states and efforts, those after them being what they make of them; memory: padded(w) + x numbers."""
    P, N, x, w = F.shape
    line, row, after = block(0.0, (w,), memory, 0), rows(memory, 0, 1, w), block(0.0, (x,), memory, padded(w))
    for p in range(P):
        for k in range(N, -1, -1):
            for i in range(w):
                line[i] = g[p, k, i]
            if k < N:
                add_combination(after, matrix(F, p, k), row)
            for i in range(w):
                found[p, k, i] = line[i]
            for i in range(x):
                after[i] = line[i]
