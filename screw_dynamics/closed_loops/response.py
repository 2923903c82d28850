"""Constraint response: accelerations by efforts, and by drifts of what constraints hold, of many states at once: the x
and lambda of

    M x - J^T lambda = efforts,   J x = drifts."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.sweeps.responses import responses

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


def response(M: np.ndarray, J: np.ndarray, most: np.ndarray | None = None, threads: int | None = None) -> Response:
    """Return the Response of M (..., n, n) and J (..., m, n); most: as of `directions`. Raises ValueError if J is not
    finite."""
    check_finite(J)
    m, n = J.shape[-2:]
    whole = m <= n and (most is None or (most >= m).all())
    found = responses(M, J, INDEPENDENT, LEAST, threads) if whole else None
    if found is None:
        return _of_directions(M, directions(J, most))
    return Response(found[0], np.swapaxes(found[1], -1, -2), np.full(J.shape[:-2], m))


def _of_directions(M, at):
    """K = N (N^T M N)^-1 N^T of the admissible directions N, and H = (1 - K M) J^+."""
    first = int(at.rank.min(initial=at.held.shape[-1]))         # held directions come first
    taken = at.held[..., first:]
    N = at.V[..., first:] * ~taken[..., None, :]
    NT, others = np.swapaxes(N, -1, -2), taken[..., None] * np.eye(taken.shape[-1])
    K = N @ np.linalg.solve(NT @ M @ N + others, NT)
    back = at.acting @ (at.inverse[..., None] * np.swapaxes(at.U, -1, -2))
    return Response(K, back - K @ (M @ back), at.rank)
