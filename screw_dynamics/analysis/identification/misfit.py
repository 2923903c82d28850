"""Detection of friction that a model lacks, from the residual efforts of a joint: intervals assume a correct model.

Columns of other friction laws are added to the estimated parameters of each joint. If they explain more of the residual
than noise would, by a likelihood-ratio test, the laws are added for these joints, and intervals are widened by the
change of the base parameters."""
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy  # submodules load on first use

from screw_dynamics.analysis.estimation.payload_identification import ROUNDING
from screw_dynamics.analysis.estimation.smoothing import correlation_times

from .base_fit import BaseFit, base_factors
from .evidence import Evidence, solved, triangle
from .linear_equations import BY_SPEED, IN_MODEL, LAWS, Equations
from .unknowns import FALLING, Unknowns

LEVEL = 1e-6        # significance level: probability that noise alone looks like another friction law
LASTING = 0.5       # s, or WINDOWS windows if longer: residuals that are correlated for longer are not noise
WINDOWS = 3.0       # number of windows over which filtered white noise is correlated


class Misfit(NamedTuple):
    """Friction that the model lacks, by joint (n,): odd, True if there is any; share, its fraction of the squared
    residual efforts. deviations (k,): standard deviations of base parameters."""

    odd: np.ndarray
    share: np.ndarray
    deviations: np.ndarray


def misfit(found: Evidence, unknowns: Unknowns, fit: BaseFit) -> Misfit:
    """Return the Misfit of a fit."""
    A, d = base_factors(found, unknowns, fit.velocities)
    n, k = len(d), len(unknowns.base)
    own = _laws(found, unknowns)
    x0 = solved(triangle(A, d, fit.weight))[0]
    left = _squares(A, d, x0)
    odd, share = np.zeros(n, dtype=bool), np.zeros(n)
    least = found.counts * (ROUNDING * max(found.largest, 1.0)) ** 2
    for j in np.flatnonzero(unknowns.may_rub & (left > least)):
        whole = _with(A, own, np.arange(n) == j)
        after = _squares(whole, d, solved(triangle(whole, d, fit.weight))[0])
        drop = float(np.sum(fit.weight * (left - after)))
        odd[j], share[j] = scipy.stats.chi2.sf(drop, own.shape[2]) < LEVEL / n, 1.0 - after[j] / left[j]
    if not odd.any():
        return Misfit(odd, share, fit.deviations)
    x, deviations = (part[:k] for part in solved(triangle(_with(A, own, odd), d, fit.weight)))
    return Misfit(odd, share, np.maximum(fit.deviations, np.hypot(deviations, x - x0[:k])))


def _laws(found, unknowns):
    """Return the columns (n, w, K) of friction laws that are not among the unknowns."""
    columns = found.R[..., len(unknowns.names) + len(unknowns.velocities):-1]
    estimated = unknowns.friction in ("estimate", FALLING)
    left = [i for i, name in enumerate(LAWS) if not (estimated and name in IN_MODEL)
            and not (unknowns.friction == FALLING and name in BY_SPEED)]
    return columns[..., left]


def _with(A, own, which):
    """Return the equations with additional columns for some joints."""
    n, w, K = own.shape
    more = np.zeros((n, w, int(which.sum()) * K))
    for i, j in enumerate(np.flatnonzero(which)):
        more[j, :, i * K:(i + 1) * K] = own[j]
    return np.concatenate([A, more], axis=2)


def _squares(A, d, x):
    """Return the sums (n,) of the squared residuals of each joint's equations."""
    return np.sum((d - A @ x) ** 2, axis=1)


def notes(found: Misfit, names: tuple[str, ...]) -> Iterator[str]:
    """Yield notes on joints whose residuals are explained by another friction law."""
    for name, odd, share in zip(names, found.odd, found.share, strict=True):
        if odd:
            yield (f"joint {name}: friction of another law than the model's, by the velocity, its sign and the load, "
                   f"explains {share:.0%} of the squared residuals of its efforts; intervals, which presume the "
                   "model, are widened by how far parameters move with it")


def lasting(evidence: Evidence, rows: Equations, names: tuple[str, ...], window: float) -> Iterator[str]:
    """Yield notes on joints whose residuals are correlated for longer than noise filtered over a window (s)."""
    step = float(np.median(np.diff(rows.t))) if len(rows.t) > 1 else 0.0
    least = (ROUNDING * max(evidence.largest, 1.0)) ** 2
    for name, row, count, samples in zip(names, evidence.covariances, evidence.counts,
                                         correlation_times(evidence.covariances), strict=True):
        if samples * step > max(LASTING, WINDOWS * window) and row[0] > count * least:
            yield (f"joint {name}: the residuals of its efforts are no noise, they are correlated for "
                   f"{samples * step:.2g} s: the model lacks something, and intervals presume the model")
