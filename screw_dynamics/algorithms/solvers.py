"""Solvers of M X = B for a symmetric positive definite matrix M: of trees, and of joints that share coordinates.

For a tree M = L^T D L, with L as sparse as M: entry (i, j) is nonzero only if one of the joints i and j is an ancestor
of the other; Featherstone (2008) 6.5. Every joint must have its own coordinate, in order: i - 1 for body i.

B is processed row by row, for SIMD."""
import numpy as np

from screw_dynamics.numbers.values import kernel


@kernel
def factorize_tree(parent: np.ndarray, H: np.ndarray, n: int) -> None:
    """Factorize H (n, n), the first part of an array, in place. Its lower triangle becomes that of L, its diagonal
    1 / D. Entries above the diagonal are neither read nor written."""
    for k in range(n, 0, -1):
        H[k - 1, k - 1] = 1.0 / H[k - 1, k - 1]
        i = parent[k]
        while i > 0:
            factor = H[k - 1, i - 1] * H[k - 1, k - 1]
            j = i
            while j > 0:
                H[i - 1, j - 1] -= factor * H[k - 1, j - 1]
                j = parent[j]
            H[k - 1, i - 1] = factor
            i = parent[i]


@kernel
def substitute_tree(parent: np.ndarray, H: np.ndarray, b: np.ndarray) -> None:
    """Solve H X = B for a factorized H: b (n, m) is replaced by X."""
    n, columns = b.shape
    for i in range(n, 0, -1):
        j = parent[i]
        while j > 0:
            h = H[i - 1, j - 1]
            for m in range(columns):
                b[j - 1, m] -= h * b[i - 1, m]
            j = parent[j]
    for i in range(1, n + 1):
        h = H[i - 1, i - 1]
        for m in range(columns):
            b[i - 1, m] *= h
        j = parent[i]
        while j > 0:
            h = H[i - 1, j - 1]
            for m in range(columns):
                b[i - 1, m] -= h * b[j - 1, m]
            j = parent[j]


@kernel
def factorize(H: np.ndarray, n: int) -> None:
    """Factorize H (n, n), the first part of an array, in place, in about n^3 / 6 products: H = L D L^T has 1 / D on its
    diagonal and D L^T above. Entries below the diagonal are neither read nor written."""
    for j in range(n):
        H[j, j] = 1.0 / H[j, j]
        for i in range(j + 1, n):
            factor = H[j, i] * H[j, j]
            for m in range(i, n):
                H[i, m] -= factor * H[j, m]


@kernel
def substitute_forward(H: np.ndarray, b: np.ndarray) -> None:
    """Replace b (n, m) by L^-1 B, for H as factorized by `factorize`."""
    n, columns = b.shape
    for j in range(n):
        for i in range(j + 1, n):
            factor = H[j, i] * H[j, j]
            for m in range(columns):
                b[i, m] -= factor * b[j, m]


@kernel
def substitute_back(H: np.ndarray, b: np.ndarray) -> None:
    """Replace b (n, m) by (D L^T)^-1 B, for H as factorized by `factorize`."""
    n, columns = b.shape
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            h = H[j, i]
            for m in range(columns):
                b[j, m] -= h * b[i, m]
        h = H[j, j]
        for m in range(columns):
            b[j, m] *= h


@kernel
def substitute(H: np.ndarray, b: np.ndarray) -> None:
    """Solve H X = B for H as factorized by `factorize`: b (n, m) is replaced by X."""
    substitute_forward(H, b)
    substitute_back(H, b)


@kernel
def solve_symmetric(H: np.ndarray, b: np.ndarray) -> None:
    """Solve H x = b in place: b (n,) is replaced by x, and H is factorized by `factorize`."""
    n = len(b)
    factorize(H, n)
    for j in range(n):
        for i in range(j + 1, n):
            b[i] -= (H[j, i] * H[j, j]) * b[j]
    for j in range(n - 1, -1, -1):
        for i in range(j + 1, n):
            b[j] -= H[j, i] * b[i]
        b[j] *= H[j, j]
