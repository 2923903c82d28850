"""Friction that a model does not have, by what it leaves of the efforts of a joint: intervals presume the model.

Each joint gets, beside the parameters that are estimated, the columns of other laws of friction. If they explain more
of what is left than noise would, by a likelihood-ratio test, the laws are added for the joints where they do, and
intervals reach as far as the base parameters move then."""
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are first used

from screw_dynamics.analysis.estimation.payload_identification import ROUNDING
from screw_dynamics.analysis.estimation.smoothing import correlation_times

from .base_fit import BaseFit, base_factors
from .evidence import Evidence, solved, triangle
from .linear_equations import BY_SPEED, IN_MODEL, LAWS, Equations
from .unknowns import FALLING, Unknowns

LEVEL = 1e-6        # of the test: how often noise alone may look like friction of another law
LASTING = 0.5       # s, or so many windows if that is more: what is left of efforts for longer is no noise
WINDOWS = 3.0       # by which noise is correlated that has none of its own


class Misfit(NamedTuple):
    """Friction beyond the model's, by joint (n,): whether there is any, and its share of the squares of the residual
    efforts; standard deviations (k,) of base parameters."""

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
    """Return the columns (n, w, K) of laws that are not among the unknowns."""
    columns = found.R[..., len(unknowns.names) + len(unknowns.velocities):-1]
    estimated = unknowns.friction in ("estimate", FALLING)
    left = [i for i, name in enumerate(LAWS) if not (estimated and name in IN_MODEL)
            and not (unknowns.friction == FALLING and name in BY_SPEED)]
    return columns[..., left]


def _with(A, own, which):
    """Return the equations with columns of some joints' own besides."""
    n, w, K = own.shape
    more = np.zeros((n, w, int(which.sum()) * K))
    for i, j in enumerate(np.flatnonzero(which)):
        more[j, :, i * K:(i + 1) * K] = own[j]
    return np.concatenate([A, more], axis=2)


def _squares(A, d, x):
    """Sums (n,) of the squared residuals of each joint's equations."""
    return np.sum((d - A @ x) ** 2, axis=1)


def notes(found: Misfit, names: tuple[str, ...]) -> Iterator[str]:
    """Notes on joints whose residuals friction of another law explains."""
    for name, odd, share in zip(names, found.odd, found.share, strict=True):
        if odd:
            yield (f"joint {name}: friction of another law than the model's, by the velocity, its sign and the load, "
                   f"explains {share:.0%} of the squared residuals of its efforts; intervals, which presume the "
                   "model, are widened by how far parameters move with it")


def lasting(evidence: Evidence, rows: Equations, names: tuple[str, ...], window: float) -> Iterator[str]:
    """Notes on joints whose residuals are correlated for longer than noise is, smoothed over a window (s)."""
    step = float(np.median(np.diff(rows.t))) if len(rows.t) > 1 else 0.0
    least = (ROUNDING * max(evidence.largest, 1.0)) ** 2
    for name, row, count, samples in zip(names, evidence.covariances, evidence.counts,
                                         correlation_times(evidence.covariances), strict=True):
        if samples * step > max(LASTING, WINDOWS * window) and row[0] > count * least:
            yield (f"joint {name}: the residuals of its efforts are no noise, they are correlated for "
                   f"{samples * step:.2g} s: the model lacks something, and intervals presume the model")
