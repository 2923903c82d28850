"""What efforts, and drifts of what constraints hold, make of accelerations, of many states at once: the x and lambda of

    M x - J^T lambda = efforts,   J x = drifts."""
from typing import NamedTuple

import numpy as np

from .projection import LEAST, check_finite, directions

INDEPENDENT = 1e-3      # of a row, by the others, beside its length, and of its length beside the longest row's


class Response(NamedTuple):
    """x = K efforts + H drifts, K (..., n, n) and H (..., n, m), and how many directions J holds, rank (...)."""

    K: np.ndarray
    H: np.ndarray
    rank: np.ndarray

    def solved(self, efforts: np.ndarray, drifts: np.ndarray) -> np.ndarray:
        """x (..., n, k) of columns of efforts (..., n, k) and drifts (..., m, k)."""
        return self.K @ efforts + self.H @ drifts

    def multipliers(self, efforts: np.ndarray) -> np.ndarray:
        """lambda (..., m) with J^T lambda = efforts (..., n), of efforts for which there are some."""
        return (np.swapaxes(self.H, -1, -2) @ efforts[..., None])[..., 0]


def response(M: np.ndarray, J: np.ndarray, most: np.ndarray | None = None) -> Response:
    """The Response of M (..., n, n) and J (..., m, n); most: as of `directions`. ValueError if J is not finite."""
    check_finite(J)
    m, n = J.shape[-2:]
    whole = m <= n and (most is None or (most >= m).all())
    found = _of_independent_rows(M, J) if whole else None
    return _of_directions(M, directions(J, most)) if found is None else found


def _of_independent_rows(M, J):
    """W = M^-1 J^T, H = W (J W)^-1, K = M^-1 - H W^T; None unless rows are INDEPENDENT: of a positive A a_kk (A^-1)_kk
    is the square of row k's length by that of what other rows leave of it, in the metric of M^-1."""
    size = np.sqrt((J * J).sum(axis=-1))
    if not (size > INDEPENDENT * size.max(axis=-1, keepdims=True, initial=LEAST)).all():
        return None
    try:
        inverse = np.linalg.inv(M)
        W = inverse @ np.swapaxes(J, -1, -2)
        A = J @ W
        back = np.linalg.inv(A)
    except np.linalg.LinAlgError:                           # exactly singular
        return None
    left = np.diagonal(A, axis1=-2, axis2=-1) * np.diagonal(back, axis1=-2, axis2=-1)
    if not ((left > 0.0) & (left < INDEPENDENT**-2)).all():
        return None
    H = W @ back
    return Response(inverse - H @ np.swapaxes(W, -1, -2), H, np.full(J.shape[:-2], J.shape[-2]))


def _of_directions(M, at):
    """K = N (N^T M N)^-1 N^T of the admissible directions N, and H = (1 - K M) J^+."""
    first = int(at.rank.min(initial=at.held.shape[-1]))         # held directions come first
    taken = at.held[..., first:]
    N = at.V[..., first:] * ~taken[..., None, :]
    NT, others = np.swapaxes(N, -1, -2), taken[..., None] * np.eye(taken.shape[-1])
    K = N @ np.linalg.solve(NT @ M @ N + others, NT)
    back = at.acting @ (at.inverse[..., None] * np.swapaxes(at.U, -1, -2))
    return Response(K, back - K @ (M @ back), at.rank)
