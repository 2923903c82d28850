"""Baker-Campbell-Hausdorff series: log(exp A exp B) in brackets of A and B; [PK] (4)."""
from collections.abc import Callable
from math import factorial

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.groups.lie_group import bernoulli_numbers
from screw_dynamics.utils import checks

Bracket = Callable[[np.ndarray, np.ndarray], np.ndarray]


def commutator(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A B - B A of matrices (..., n, n)."""
    return A @ B - B @ A


def terms(A: ArrayLike, B: ArrayLike, order: int, bracket: Bracket = commutator) -> list[np.ndarray]:
    """Return Z_1 = A + B, Z_2 = [A, B] / 2, Z_3 = ([A, [A, B]] + [B, [B, A]]) / 12, ..., Z_order.

    Their sum is log(exp A exp B). By the recursion (V. S. Varadarajan, Lie groups, Lie algebras, and their
    representations, 2.15)

        n Z_n = [A - B, Z_(n-1)] / 2 + sum_p B_2p / (2p)! sum_(k_1 + ... + k_2p = n - 1) [Z_k1, [... [Z_k2p, A + B]]],

    whose inner sums S(2p, n - 1) are computed from S(j, m) = sum_k [Z_k, S(j - 1, m - k)]: about order^3 / 6 brackets.
    bracket: of the algebra, by default for matrices (..., n, n); se3.ad takes screws (..., 6)."""
    A, B = (checks.finite_numbers(name, x).astype(float) for name, x in (("A", A), ("B", B)))
    order = checks.whole("order", order, 1)
    numbers, Z = bernoulli_numbers(order), [None, A + B]
    S = {(0, 0): A + B}
    for n in range(2, order + 1):
        for j in range(1, n):                       # sums with n - 1: each uses Z_k with k <= n - 1 only
            parts = [bracket(Z[k], S[j - 1, n - 1 - k]) for k in range(1, n) if (j - 1, n - 1 - k) in S]
            if parts:
                S[j, n - 1] = sum(parts)
        even = sum(numbers[j] / factorial(j) * S[j, n - 1] for j in range(2, n, 2))
        Z.append((0.5 * bracket(A - B, Z[-1]) + even) / n)
    return Z[1:]


def baker_campbell_hausdorff(A: ArrayLike, B: ArrayLike, order: int, bracket: Bracket = commutator) -> np.ndarray:
    """Compute C with exp A exp B = exp C, up to a given order of brackets.

    Parameters
    ----------
    A, B : array_like
        Elements of a Lie algebra, as in ``terms``.
    order : int
        Largest number of factors in a bracket.
    bracket : callable, optional
        Lie bracket, as in ``terms``.

    Returns
    -------
    ndarray
        C, with an error of order e^(order + 1) for A and B of size e.

    Notes
    -----
    The series converges for |A| + |B| < log 2 in a norm with |A B| <= |A| |B|. Beyond, more terms may not reduce the
    error.
    """
    return sum(terms(A, B, order, bracket))
