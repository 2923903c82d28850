"""Evidence of recordings for parameters, in triangular factors that can be merged: their size does not depend on the
number of recordings, and the fit needs no other data.

The equations of each joint, [Y b], are Q R with an orthogonal Q; least squares with any joint weights only needs R. The
factor of more equations is that of the stacked factors: a tall-and-skinny QR decomposition by a tree; J. Demmel, L.
Grigori, M. Hoemmen, J. Langou, SIAM J. Scientific Computing 34(1), 2012."""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .falling_friction import interpolation
from .unknowns import Unknowns

SHARE = 1e-6        # singular values of the weighted base regressor below this fraction are not observable
LAGS = 512          # residuals that are further apart count as independent
ROWS = 4096         # rows factorized at once, which fit into the processor's cache
FAN = 16            # matrices that are stacked at once


class Evidence(NamedTuple):
    """The accumulated equations by joint. The covariances come from a separate fit of each recording."""

    R: np.ndarray           # (n, w, w), w = P + G + K + 1, triangular: R^T R = [Y S b]^T [Y S b] of its equations
    counts: np.ndarray      # (n,) number of equations
    covariances: np.ndarray  # (n, LAGS) sums of products of residuals, by their distance in samples
    largest: float          # largest magnitude of the efforts
    samples: int            # number of recorded states
    noise: np.ndarray       # (n, P, P) expected contribution of position noise to Y^T Y

    def squares(self, parameters: np.ndarray, falling: np.ndarray | None = None) -> np.ndarray:
        """Return the sums of squares (n,) of the efforts that parameters (P,) and Stribeck friction (n, G) do not
        explain."""
        P = len(parameters)
        rest = self.R[..., :P] @ parameters - self.R[..., -1]
        if falling is not None:
            rest = rest + np.einsum("jkg,jg->jk", self.R[..., P:P + falling.shape[1]], falling)
        return np.sum(rest ** 2, axis=-1)

    def factors(self, unknowns: Unknowns, velocities: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return A (n, w, e) and d (n, w) of the equations A x = d for the e estimated parameters.

        If Stribeck velocities (n,) are given, A has another column per velocity with friction."""
        known, P = ~unknowns.estimated, len(unknowns.names)
        A = self.R[..., :P][..., unknowns.estimated]
        if velocities is not None:
            weights = np.array([interpolation(v) for v in velocities])
            own = np.einsum("jkg,jg->jk", self.R[..., P:P + weights.shape[1]], weights)
            A = np.concatenate([A, own[..., None] * np.eye(len(own))[:, None, unknowns.rubs]], axis=2)
        return A, self.R[..., -1] - self.R[..., :P][..., known] @ unknowns.parameters[known]

    def errors(self, unknowns: Unknowns, weight: np.ndarray) -> np.ndarray:
        """Return the expected contribution (P, P) of noise to A^T A of the weighted equations."""
        return np.einsum("j,jab->ab", weight, self.noise)


def total(found: Sequence[Evidence]) -> Evidence:
    """Return the merged evidence of several recordings. It is merged in a tree, FAN at a time, in an order that only
    depends on theirs."""
    if not found:
        raise ValueError("recordings: at least one is required")
    while len(found) > 1:
        found = [_added(found[k:k + FAN]) for k in range(0, len(found), FAN)]
    return found[0]


def _added(found):
    R, counts, covariances, largest, samples, noise = zip(*found, strict=True)
    return Evidence(triangles(np.concatenate(R, axis=1)), sum(counts), sum(covariances), max(largest), sum(samples),
                    sum(noise))


def triangles(stacked: np.ndarray) -> np.ndarray:
    """Return the triangular factors (n, w, w), with diagonals >= 0, of matrices (n, m, w). Zero columns are skipped."""
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
    """Return the triangular factor of the equations A x = d, (n, m, k) and (n, m), with a weight per joint."""
    both = np.concatenate([A, d[..., None]], axis=2) * np.sqrt(weight)[:, None, None]
    return np.linalg.qr(both.reshape(-1, both.shape[2]), mode="r")


def solved(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the minimum-norm least-squares solution x (k,) of a triangular factor and its standard deviations.

    Residuals have unit variance; standard deviations are infinite for parameters that are not observable."""
    V, U, hidden = _directions(R)
    return V @ (U.T @ R[:, -1]), np.where(hidden, np.inf, np.linalg.norm(V, axis=1))


def directions(R: np.ndarray) -> np.ndarray:
    """Return V (k, s), the observable directions of a triangular factor of A x = d: V^T A^T A V = 1."""
    return _directions(R)[0]


def _directions(R):
    """Return the directions V (k, s), A V, and a mask (k,) of the parameters that are not fully observable."""
    A = R[:, :-1]
    scale = np.linalg.norm(A, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    U, s, Vt = np.linalg.svd(A / scale, full_matrices=False)
    shown = s > SHARE * s[0]
    return Vt[shown].T / s[shown] / scale[:, None], U[:, shown], np.sum(Vt[~shown] ** 2, axis=0) > SHARE
