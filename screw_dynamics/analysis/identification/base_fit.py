"""Weighted least squares in the base parameters, with their standard deviations."""
from typing import NamedTuple

import numpy as np
import scipy  # submodules load on first use

from screw_dynamics.analysis.estimation.payload_identification import ROUNDING
from screw_dynamics.analysis.estimation.smoothing import autocovariances, correlation_times

from .evidence import LAGS, Evidence, directions, solved, triangle, triangles
from .falling_friction import VELOCITIES, shares
from .linear_equations import Equations
from .unknowns import Unknowns

GUESS = 0.01        # initial guess of the noise, relative to the efforts
LOST = 0.5          # largest fraction of noise in the information on an observable direction
MOST = 0.97         # fraction of noise in a direction that is not observable, for an estimate of its bias, at most
LITTLE = 1e-3       # largest squared component of an observable parameter along unobservable directions
STEP = 1e-3         # relative step of Stribeck velocities in finite differences


class BaseFit(NamedTuple):
    """The result of weighted least squares in the base parameters x (k,)."""

    x: np.ndarray
    weight: np.ndarray              # (n,) 1 / variance of each joint's equations
    deviations: np.ndarray          # (k,) standard deviations; infinite if not observable
    equations: np.ndarray           # (k + 1, k + 1) triangular factor of the weighted equations
    falling: np.ndarray             # (n, 2) breakaway friction beyond Coulomb's, Stribeck velocities; (0, 2) if unused
    falling_deviations: np.ndarray  # standard deviations of `falling`
    velocities: np.ndarray | None   # (n,) Stribeck velocities, None if unused
    gain: np.ndarray                # (k,) or (k + r,): bias correction added to the least-squares x and friction


def of_equations(rows: Equations, unknowns: Unknowns, samples: int) -> Evidence:
    """Return the evidence of the equations of one recording."""
    stacked = np.concatenate([rows.Y, rows.S, rows.b[..., None]], axis=2).swapaxes(0, 1)
    n, P = len(stacked), len(unknowns.names)
    largest = float(np.abs(rows.b).max(initial=0.0))
    noise = np.zeros((n, P, P)) if rows.noise is None else rows.noise
    found = Evidence(triangles(stacked), rows.valid.sum(axis=0), np.zeros((n, LAGS)), largest, samples, noise)
    if found.counts.sum() > len(unknowns.base) + 2 * n * (len(unknowns.velocities) > 0):
        fit = base_fit(found, unknowns)
        known = ~unknowns.estimated
        rest = (rows.b - rows.Y[..., known] @ unknowns.parameters[known]
                - unknowns.base.columns(rows.Y[..., unknowns.estimated]) @ fit.x)
        if fit.velocities is not None:
            rest = rest - np.einsum("tjg,jg->tj", rows.S[..., :len(unknowns.velocities)], shares(fit.falling))
        found = found._replace(covariances=autocovariances(rest, rows.valid, LAGS))
    return found


def base_fit(found: Evidence, unknowns: Unknowns) -> BaseFit:
    """Return the base parameters and their standard deviations from evidence.

    Weighted least squares is iterated three times; each solution determines the next weights. Residuals that are
    correlated in time count with their effective number. The expected contribution of position noise to the normal
    equations, which reduces inertias, is subtracted. Stribeck velocities, which are nonlinear, are found by variable
    projection; G. H. Golub, V. Pereyra, SIAM J. Numerical Analysis 10(2), 1973. Raises ValueError if there are too few
    equations."""
    counts, base, n = found.counts, unknowns.base, len(found.counts)
    falls = len(unknowns.velocities) > 0
    free = counts.sum() - len(base) - 2 * n * falls
    if free <= 0:
        raise ValueError(f"{counts.sum()} equations for {len(base) + 2 * n * falls} base parameters: the recording is "
                         "too short, or joints with friction were at rest")
    least = ROUNDING * max(found.largest, 1.0)
    weight, times = _first_weight(found, unknowns), correlation_times(found.covariances)
    velocities = None
    for _ in range(3):
        velocities = _velocities(found, unknowns, weight, velocities) if falls else None
        A, d = base_factors(found, unknowns, velocities)
        x, _, gain = _without_noise(triangle(A, d, weight), found, unknowns, weight)
        mean = np.sum((d - A @ x) ** 2, axis=1) / np.maximum(counts, 1) * counts.sum() / free
        weight = 1.0 / (times * np.maximum(mean, least**2))
    R, k = triangle(A, d, weight), len(base)
    x, deviations, gain = _without_noise(R, found, unknowns, weight)
    if not falls:
        return BaseFit(x, weight, deviations, R, np.zeros((0, 2)), np.zeros((0, 2)), None, gain)
    deviations = _with_velocities(found, unknowns, A, weight, x[k:], velocities)
    falling, unsure = np.zeros((2, n, 2))
    falling[unknowns.rubs, 0], falling[:, 1] = x[k:], velocities
    unsure[unknowns.rubs] = deviations[k:].reshape(2, -1).T
    return BaseFit(x[:k], weight, deviations[:k], R, falling, unsure, velocities, gain)


def _with_velocities(found, unknowns, A, weight, excess, velocities):
    """Return the standard deviations of all parameters from the equations linearized in the Stribeck velocities."""
    step, k = STEP * velocities, len(unknowns.base)
    ahead, behind = (base_factors(found, unknowns, velocities + sign * step)[0][..., k:] for sign in (1.0, -1.0))
    linear = np.concatenate([A, (ahead - behind) * (0.5 * excess / step[unknowns.rubs])], axis=2)
    return solved(triangle(linear, np.zeros(linear.shape[:2]), weight))[1]


def _first_weight(found, unknowns):
    """Return initial weights from the effect of position noise on the known robot and a guess of the effort noise.

    With equal weights for all joints, a massless robot would fit the equations of a floating base, whose efforts are
    0."""
    p, counts = unknowns.parameters, np.maximum(found.counts, 1)
    variance = np.einsum("a,jab,b->j", p, found.noise, p) / counts
    size = np.sum(found.R[..., -1] ** 2) / counts.sum()
    return 1.0 / (variance + GUESS**2 * size + np.finfo(float).tiny)


def _velocities(found, unknowns, weight, start):
    """Return the Stribeck velocities (n,) with the least residual."""
    root = np.sqrt(weight)[:, None]

    def residual(logarithms):
        A, d = base_factors(found, unknowns, np.exp(logarithms))
        return ((d - A @ solved(triangle(A, d, weight))[0]) * root).ravel()

    def cost(logarithms):
        return float(np.sum(residual(logarithms) ** 2))
    grid, n = np.log(VELOCITIES), len(found.counts)
    if start is None:
        x = min((np.full(n, v) for v in grid[2:-2:2]), key=cost)
        for j in range(n):
            x = min((np.where(np.arange(n) == j, v, x) for v in grid[2:-2:3]), key=cost)
    else:
        x = np.log(start)
    return np.exp(scipy.optimize.least_squares(residual, x, bounds=(grid[0], grid[-1]), max_nfev=20, xtol=1e-6).x)


def base_factors(found: Evidence, unknowns: Unknowns, velocities: np.ndarray | None
                 ) -> tuple[np.ndarray, np.ndarray]:
    """Return the equations A (n, w, k + r) and d (n, w) in base parameters and Stribeck friction."""
    A, d = found.factors(unknowns, velocities)
    e = int(unknowns.estimated.sum())
    return np.concatenate([unknowns.base.columns(A[..., :e]), A[..., e:]], axis=2), d


def _without_noise(R, found, unknowns, weight):
    """Return the bias-corrected solution of a triangular factor, its standard deviations, and the correction.

    It solves (A^T A - C) x = A^T d + C' p: noise adds C to A^T A, and subtracts C' p of known parameters from A^T d.
    In directions V with V^T A^T A V = 1 and V^T C V = diag(share), the correction is V (1 - share)^-1 V^T (C x +
    C' p). Directions with more than LOST noise are not corrected: their bias is added to the deviations."""
    x, deviations = solved(R)
    C = found.errors(unknowns, weight)
    gain = np.zeros_like(x)
    if not C.any():
        return x, deviations, gain
    base, k = np.flatnonzero(unknowns.estimated)[unknowns.base.independent], len(unknowns.base)
    whole = np.zeros((len(x), len(x)))
    whole[:k, :k] = C[np.ix_(base, base)]
    pull = whole @ x
    pull[:k] += C[base][:, ~unknowns.estimated] @ unknowns.parameters[~unknowns.estimated]
    root = directions(R)
    share, U = np.linalg.eigh(root.T @ whole @ root)        # fraction of noise in the information on each direction
    V, lost = root @ U, share > LOST
    factor = 1.0 / (1.0 - np.where(lost, 0.0, share))
    gain = V @ (np.where(lost, 0.0, factor) * (V.T @ pull))
    along = V[:, lost] * np.linalg.norm(R[:, :-1], axis=0)[:, None]
    hidden = np.sum((along / np.linalg.norm(along, axis=0)) ** 2, axis=1) > LITTLE
    left = V[:, lost] * (V.T @ pull)[lost] / (1.0 - np.minimum(share[lost], MOST))      # bias that is not corrected
    deviations = np.where(np.isfinite(deviations) & ~hidden, np.linalg.norm(np.hstack([V * factor, left]), axis=1),
                          np.inf)
    return x + gain, deviations, gain


def corrected(R: np.ndarray, unknowns: Unknowns, fit: BaseFit) -> np.ndarray:
    """Return the triangular factor of the weighted equations A x = d in the estimated parameters, with a corrected d.

    Its least-squares solution has the bias-corrected base parameters of the fit."""
    R, e = R.copy(), int(unknowns.estimated.sum())
    R[:, -1] += R[:, [*unknowns.base.independent, *range(e, R.shape[1] - 1)]] @ fit.gain
    return R
