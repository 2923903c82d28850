"""Evidence of recordings for parameters, in triangular matrices that add up: those of all recordings together are as
large as those of one, and the fit needs nothing else.

The equations of each joint, [Y b], are Q R with an orthogonal Q, and least squares with any weights of the joints needs
R alone. R of more equations is that of the stacked R: a tall and skinny QR decomposition by a tree; J. Demmel, L.
Grigori, M. Hoemmen, J. Langou, SIAM J. Scientific Computing 34(1), 2012."""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .falling_friction import interpolation
from .unknowns import Unknowns

SHARE = 1e-6        # of the largest singular value of the weighted base regressor: less is not shown
LAGS = 512          # residuals that are further apart count as independent
ROWS = 4096         # of a matrix that are looked at at once: what stays in the processor's cache
FAN = 16            # matrices that are stacked at once


class Evidence(NamedTuple):
    """The sum of all equations, by joint. A recording's own fit tells how its residuals correlate in time."""

    R: np.ndarray           # (n, w, w), w = P + G + K + 1, triangular: R^T R = [Y S b]^T [Y S b] of its equations
    counts: np.ndarray      # (n,) how many these are
    covariances: np.ndarray  # (n, LAGS) sums of products of residuals that lie as many samples apart
    largest: float          # of the efforts, in magnitude
    samples: int            # recorded states
    noise: np.ndarray       # (n, P, P) what noise of positions is expected to add to Y^T Y

    def squares(self, parameters: np.ndarray, falling: np.ndarray | None = None) -> np.ndarray:
        """Return the sums (n,) of the squares of what parameters (P,), and friction that falls with speed, (n, G), do
        not explain."""
        P = len(parameters)
        rest = self.R[..., :P] @ parameters - self.R[..., -1]
        if falling is not None:
            rest = rest + np.einsum("jkg,jg->jk", self.R[..., P:P + falling.shape[1]], falling)
        return np.sum(rest ** 2, axis=-1)

    def factors(self, unknowns: Unknowns, velocities: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return A (n, w, e) and d (n, w): the equations A x = d of the e parameters that are estimated, and, where
        Stribeck velocities (n,) are given, of the friction that falls with these, of each velocity that rubs."""
        known, P = ~unknowns.estimated, len(unknowns.names)
        A = self.R[..., :P][..., unknowns.estimated]
        if velocities is not None:
            weights = np.array([interpolation(v) for v in velocities])
            own = np.einsum("jkg,jg->jk", self.R[..., P:P + weights.shape[1]], weights)
            A = np.concatenate([A, own[..., None] * np.eye(len(own))[:, None, unknowns.rubs]], axis=2)
        return A, self.R[..., -1] - self.R[..., :P][..., known] @ unknowns.parameters[known]

    def errors(self, unknowns: Unknowns, weight: np.ndarray) -> np.ndarray:
        """Return what noise is expected to add to A^T A of the weighted equations, (P, P)."""
        return np.einsum("j,jab->ab", weight, self.noise)


def total(found: Sequence[Evidence]) -> Evidence:
    """Return the evidence of several recordings together, added in a tree, FAN at a time, which their order alone
    decides."""
    if not found:
        raise ValueError("evidence of no recording")
    while len(found) > 1:
        found = [_added(found[k:k + FAN]) for k in range(0, len(found), FAN)]
    return found[0]


def _added(found):
    R, counts, covariances, largest, samples, noise = zip(*found, strict=True)
    return Evidence(triangles(np.concatenate(R, axis=1)), sum(counts), sum(covariances), max(largest), sum(samples),
                    sum(noise))


def triangles(stacked: np.ndarray) -> np.ndarray:
    """Return the triangles (n, w, w) of matrices (n, m, w), with diagonals >= 0; columns of zeros are left out
    meanwhile."""
    n, m, width = stacked.shape
    R = np.zeros((n, width, width))
    for joint, A in zip(R, stacked, strict=True):
        own = np.flatnonzero(A.any(axis=0))
        found = np.zeros((0, len(own)))
        for first in range(0, max(m, 1), ROWS):
            found = np.linalg.qr(np.concatenate([found, A[first:first + ROWS, own]]), mode="r")
        found = np.where(np.diag(found) < 0.0, -1.0, 1.0)[:, None] * found
        joint[np.ix_(range(len(found)), own)] = found
    return R


def triangle(A: np.ndarray, d: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the triangle of the equations A x = d, (n, m, k) and (n, m), with a weight for each joint."""
    both = np.concatenate([A, d[..., None]], axis=2) * np.sqrt(weight)[:, None, None]
    return np.linalg.qr(both.reshape(-1, both.shape[2]), mode="r")


def solved(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least-squares solution x (k,) of a triangle, least where nothing is shown, and its standard
    deviations, of residuals of variance 1, infinite there."""
    V, U, hidden = _directions(R)
    return V @ (U.T @ R[:, -1]), np.where(hidden, np.inf, np.linalg.norm(V, axis=1))


def directions(R: np.ndarray) -> np.ndarray:
    """V (k, s), the directions of parameters that a triangle, of equations A x = d, shows: V^T A^T A V = 1."""
    return _directions(R)[0]


def _directions(R):
    """Return the directions V (k, s), A V, and a mask (k,) of the parameters that are not fully shown."""
    A = R[:, :-1]
    scale = np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
    U, s, Vt = np.linalg.svd(A / scale, full_matrices=False)
    shown = s > SHARE * s[0]
    return Vt[shown].T / s[shown] / scale[:, None], U[:, shown], np.sum(Vt[~shown] ** 2, axis=0) > SHARE
