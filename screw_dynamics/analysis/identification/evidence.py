"""What recordings say of parameters, in triangular matrices that add up: those of all recordings together are as large
as those of one, and the fit needs nothing else.

The equations of each joint, [Y b], are Q R with an orthogonal Q, and least squares with any weights of the joints needs
R alone. R of more equations is that of the stacked R: a tall and skinny QR decomposition by a tree; J. Demmel, L.
Grigori, M. Hoemmen, J. Langou, SIAM J. Scientific Computing 34(1), 2012."""
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from screw_dynamics.analysis.estimation.payload_identification import ROUNDING
from screw_dynamics.analysis.estimation.smoothing import autocovariances, correlation_times

from .equations import Equations
from .unknowns import Unknowns

SHARE = 1e-6        # of the largest singular value of the weighted base regressor: less is not shown
LAGS = 512          # residuals that are further apart count as independent
FAN = 16            # matrices that are stacked at once


class Evidence(NamedTuple):
    """The sum of all equations, by joint. A recording's own fit tells how its residuals correlate in time."""

    R: np.ndarray           # (n, P + 1, P + 1), triangular: R^T R = [Y b]^T [Y b] of the joint's equations
    counts: np.ndarray      # (n,) how many these are
    covariances: np.ndarray # (n, LAGS) sums of products of residuals that lie as many samples apart
    largest: float          # of the efforts, in magnitude
    samples: int            # recorded states

    def squares(self, parameters: np.ndarray) -> np.ndarray:
        """The sums (n,) of the squares of what parameters (P,) do not explain."""
        return np.sum((self.R[..., :-1] @ parameters - self.R[..., -1]) ** 2, axis=-1)

    def factors(self, unknowns: Unknowns) -> tuple[np.ndarray, np.ndarray]:
        """A (n, P + 1, e) and d (n, P + 1): the equations A x = d of the e parameters that are estimated."""
        known = ~unknowns.estimated
        return (self.R[..., :-1][..., unknowns.estimated],
                self.R[..., -1] - self.R[..., :-1][..., known] @ unknowns.parameters[known])


class BaseFit(NamedTuple):
    """The base parameters x (k,) by weighted least squares."""

    x: np.ndarray
    weight: np.ndarray          # (n,) 1 / variance of each joint's equations
    deviations: np.ndarray      # (k,) standard deviations; infinite of what is not shown
    equations: np.ndarray       # (k + 1, k + 1) the triangle of the weighted equations


def of_equations(rows: Equations, unknowns: Unknowns, samples: int) -> Evidence:
    """The evidence of the equations of one recording."""
    stacked = np.concatenate([rows.Y, rows.b[..., None]], axis=2).swapaxes(0, 1)
    n, _, width = stacked.shape
    largest = float(np.abs(rows.b).max(initial=0.0))
    found = Evidence(_triangles(stacked), rows.valid.sum(axis=0), np.zeros((n, LAGS)), largest, samples)
    if found.counts.sum() > len(unknowns.base):
        x = base_fit(found, unknowns).x
        known = ~unknowns.estimated
        rest = (rows.b - rows.Y[..., known] @ unknowns.parameters[known]
                - unknowns.base.columns(rows.Y[..., unknowns.estimated]) @ x)
        found = found._replace(covariances=autocovariances(rest, rows.valid, LAGS))
    return found


def total(found: Sequence[Evidence]) -> Evidence:
    """The evidence of several recordings together, added in a tree, FAN at a time, which their order alone decides."""
    if not found:
        raise ValueError("evidence of no recording")
    while len(found) > 1:
        found = [_added(found[k:k + FAN]) for k in range(0, len(found), FAN)]
    return found[0]


def _added(found):
    R, counts, covariances, largest, samples = zip(*found, strict=True)
    return Evidence(_triangles(np.concatenate(R, axis=1)), sum(counts), sum(covariances), max(largest), sum(samples))


def _triangles(stacked: np.ndarray) -> np.ndarray:
    """The triangles (n, w, w) of matrices (n, m, w), with diagonals >= 0; columns of zeros are left out meanwhile."""
    n, m, width = stacked.shape
    R = np.zeros((n, width, width))
    for joint, A in zip(R, stacked, strict=True):
        own = np.flatnonzero(A.any(axis=0))
        found = np.linalg.qr(A[:, own], mode="r")
        found = np.where(np.diag(found) < 0.0, -1.0, 1.0)[:, None] * found
        joint[np.ix_(range(len(found)), own)] = found
    return R


def base_fit(found: Evidence, unknowns: Unknowns) -> BaseFit:
    """The base parameters that evidence shows, and how well.

    Weighted least squares, three times: weights come from the solution before. Of residuals that are correlated in
    time as many count as say something of their own. ValueError where there are too few equations."""
    A, d = found.factors(unknowns)
    A, counts, base = unknowns.base.columns(A), found.counts, unknowns.base
    free = counts.sum() - len(base)
    if free <= 0:
        raise ValueError(f"{counts.sum()} equations for {len(base)} base parameters: the recording is too short, or "
                         "joints with friction were at rest")
    least = ROUNDING * max(found.largest, 1.0)
    weight, times = np.ones(len(A)), correlation_times(found.covariances)
    for _ in range(3):
        x, _ = solved(triangle(A, d, weight))
        mean = np.sum((d - A @ x) ** 2, axis=1) / np.maximum(counts, 1) * counts.sum() / free
        weight = 1.0 / (times * np.maximum(mean, least**2))
    R = triangle(A, d, weight)
    x, deviations = solved(R)
    return BaseFit(x, weight, deviations, R)


def triangle(A: np.ndarray, d: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The triangle of the equations A x = d, (n, m, k) and (n, m), with a weight for each joint."""
    both = np.concatenate([A, d[..., None]], axis=2) * np.sqrt(weight)[:, None, None]
    return np.linalg.qr(both.reshape(-1, both.shape[2]), mode="r")


def solved(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least-squares solution x (k,) of a triangle, least where nothing is shown, and its standard deviations, of
    residuals of variance 1, infinite there."""
    A, d = R[:, :-1], R[:, -1]
    scale = np.maximum(np.linalg.norm(A, axis=0), np.finfo(float).tiny)
    U, s, Vt = np.linalg.svd(A / scale, full_matrices=False)
    shown = s > SHARE * s[0]
    x = (Vt[shown].T / s[shown]) @ (U[:, shown].T @ d) / scale
    deviations = np.sqrt(np.sum((Vt[shown].T / s[shown]) ** 2, axis=1)) / scale
    return x, np.where(np.sum(Vt[~shown] ** 2, axis=0) > SHARE, np.inf, deviations)
