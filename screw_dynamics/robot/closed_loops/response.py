"""Constraint response: accelerations due to efforts, and due to drifts of the constraints, for many states: the
solution x and lambda of

    M x - J^T lambda = efforts,   J x = drifts."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.rollout.recursions.constraint_responses import constraint_responses

from .projection import LEAST, check_finite, directions

INDEPENDENT = 1e-3  # length of a row after projection relative to its length, and of a row relative to the longest one


class Response(NamedTuple):
    """The response x = K efforts + H drifts, K (..., n, n) and H (..., n, m), and the rank (...) of J."""

    K: np.ndarray
    H: np.ndarray
    rank: np.ndarray

    def solved(self, efforts: np.ndarray, drifts: np.ndarray) -> np.ndarray:
        """Return x (..., n, k) for columns of efforts (..., n, k) and drifts (..., m, k)."""
        return self.K @ efforts + self.H @ drifts

    def multipliers(self, efforts: np.ndarray) -> np.ndarray:
        """Return lambda (..., m) with J^T lambda = efforts (..., n), for efforts in the range of J^T."""
        return (np.swapaxes(self.H, -1, -2) @ efforts[..., None])[..., 0]


def response(M: np.ndarray, J: np.ndarray, most: np.ndarray | None = None, threads: int | None = None) -> Response:
    """Return the Response of M (..., n, n) and J (..., m, n). most: see `directions`. Raises ValueError if J is not
    finite."""
    check_finite(J)
    m, n = J.shape[-2:]
    whole = m <= n and (most is None or (most >= m).all())
    found = constraint_responses(M, J, INDEPENDENT, LEAST, threads) if whole else None
    if found is None:
        return _of_directions(M, directions(J, most))
    return Response(found[0], np.swapaxes(found[1], -1, -2), np.full(J.shape[:-2], m))


def _of_directions(M, at):
    """Return the Response with K = N (N^T M N)^-1 N^T of the admissible directions N, and H = (1 - K M) J^+."""
    first = int(at.rank.min(initial=at.held.shape[-1]))         # constrained directions come first
    taken = at.held[..., first:]
    N = at.V[..., first:] * ~taken[..., None, :]
    NT, others = np.swapaxes(N, -1, -2), taken[..., None] * np.eye(taken.shape[-1])
    K = N @ np.linalg.solve(NT @ M @ N + others, NT)
    back = at.constrained @ (at.inverse[..., None] * np.swapaxes(at.U, -1, -2))
    return Response(K, back - K @ (M @ back), at.rank)
