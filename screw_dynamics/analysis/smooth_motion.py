"""The smoothest motion through points, with four continuous derivatives, as feed-forward through springs requires.

D. Mellinger, V. Kumar, "Minimum snap trajectory generation and control for quadrotors", ICRA 2011, for flat outputs of
the fourth order; C. Richter, A. Bry, N. Roy, "Polynomial trajectory planning for aggressive quadrotor flight in dense
indoor environments", ISRR 2013: the minimizer of the integral of a squared derivative is piecewise polynomial; its
unknowns are derivatives at the points, which solve linear equations. Here the fifth derivative is minimized by
polynomials of degree 9, whose fourth derivatives are continuous. No ROS, no robot. May import checks."""
from __future__ import annotations

from math import perm

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils import checks

ORDER = 4                       # number of continuous derivatives
GIVEN = ORDER + 1               # values at a point: the position and its derivatives
DEGREE = 2 * GIVEN - 1
UNEVEN = 100.0                  # largest ratio of neighboring segments; rounding errors dominate above


class SmoothMotion:
    """The smoothest motion q(t) through points.

    Parameters
    ----------
    times : array_like (k,)
        Times of the points in s, increasing.
    values : array_like (5, k, n)
        Positions of the points, and their time derivatives up to the fourth.
    order : array_like (k,)
        Number of given derivatives of each point, 0 to 4. The others are computed.

    Raises
    ------
    ValueError
        If an argument is invalid. The message names the argument.

    Notes
    -----
    The motion minimizes the sum, over its segments of duration h, of h^4 times the integral of the squared fifth
    derivative. Before the first and after the last point it is at rest. Between two points of order 4 it is the
    polynomial of degree 9 with these ten values. The weights h^4 have no effect for evenly spaced points, and avoid
    large excursions for others.
    """

    def __init__(self, times: ArrayLike, values: ArrayLike, order: ArrayLike):
        self.times = np.atleast_1d(np.asarray(checks.finite_numbers("times", times), dtype=float))
        values = np.array(checks.real_numbers("values", values), dtype=float)
        order = np.asarray(order)
        k = len(self.times)
        if self.times.ndim != 1 or not k:
            raise ValueError(f"times must be (k,) with k > 0, not of shape {self.times.shape}")
        for i in np.flatnonzero(np.diff(self.times) <= 0.0)[:1]:
            raise ValueError(f"times must increase: point {i} is at {self.times[i]:g} s, the next at "
                             f"{self.times[i + 1]:g} s")
        if values.ndim != 3 or values.shape[:2] != (GIVEN, k) or not np.isfinite(values).all():
            raise ValueError(f"values must be finite numbers of shape ({GIVEN}, {k}, n), not {values.shape}")
        uneven = np.flatnonzero(np.abs(np.diff(np.log(np.diff(self.times)))) > np.log(UNEVEN))
        if len(uneven):
            a, b = np.diff(self.times)[uneven[0]:uneven[0] + 2]
            raise ValueError(f"times: point {uneven[0] + 1} is {a:g} s from the one before and {b:g} s from the next, "
                             f"which must differ by a factor of {UNEVEN:g} at most")
        if order.shape != (k,) or order.dtype.kind not in "iu" or not ((order >= 0) & (order <= ORDER)).all():
            raise ValueError(f"order must be {k} integers from 0 to {ORDER}")
        if (order + 1).sum() < GIVEN:
            raise ValueError(f"order: the points give {(order + 1).sum()} numbers, and must give at least {GIVEN}")
        with np.errstate(over="ignore", invalid="ignore"):
            self.values = _completed(np.diff(self.times), values, order)
        self._coefficients = _coefficients(np.diff(self.times), self.values)
        if not (np.isfinite(self.values).all() and np.isfinite(self._coefficients).all()):
            raise ValueError(f"times: derivatives overflow, with points {np.diff(self.times).min():g} to "
                             f"{np.diff(self.times).max():g} s apart")

    @property
    def end(self) -> float:
        """The time of the last point, s."""
        return float(self.times[-1])

    def sample(self, t: ArrayLike) -> np.ndarray:
        """Compute positions and derivatives at given times.

        Parameters
        ----------
        t : array_like (...)
            Times in s.

        Returns
        -------
        ndarray (5, ..., n)
            Positions, and time derivatives up to the fourth.
        """
        t = np.asarray(t, dtype=float)
        times, k = self.times, len(self.times)
        if k == 1:
            inside = np.zeros((GIVEN, *t.shape, self.values.shape[2]))
            inside[0] = self.values[0, 0]
            return inside
        s = np.clip(np.searchsorted(times, t, side="right") - 1, 0, k - 2)
        h = (times[s + 1] - times[s])[..., None]
        u = np.clip((t - times[s])[..., None] / h, 0.0, 1.0)
        found = np.stack([_derivative(self._coefficients[:, s], u, d) / h**d for d in range(GIVEN)])
        outside = ((t < times[0]) | (t > times[-1]))[..., None]
        found[1:] = np.where(outside, 0.0, found[1:])
        return found


def _end_matrix() -> np.ndarray:
    """Return the matrix that maps the coefficients of powers of u to the values and derivatives of a polynomial at
    u = 0, then at 1."""
    return np.array([[perm(j, d) * (u if j > d else float(j == d)) for j in range(DEGREE + 1)]
                     for u in (0.0, 1.0) for d in range(GIVEN)])


def _energy() -> np.ndarray:
    """Return the quadratic form of the values at both ends for the integral over u of the squared fifth derivative."""
    high = np.arange(GIVEN, DEGREE + 1)
    Q = np.zeros((DEGREE + 1, DEGREE + 1))
    factors = np.array([perm(j, GIVEN) for j in high], dtype=float)
    Q[np.ix_(high, high)] = np.outer(factors, factors) / (high[:, None] + high - 2 * GIVEN + 1)
    return _FROM_ENDS.T @ Q @ _FROM_ENDS


# Exact multiples of 1/24 and integers: otherwise free derivatives lose three digits.
_FROM_ENDS = np.round(24.0 * np.linalg.inv(_end_matrix())) / 24.0
_ENERGY = np.round(_energy())


def _coefficients(spans: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return coefficients (10, segments, n) of powers of u, from values (5, points, n)."""
    scaled = np.stack([values[:, :-1], values[:, 1:]]) * (spans**np.arange(GIVEN)[:, None])[None, ..., None]
    return np.tensordot(_FROM_ENDS, scaled.reshape(2 * GIVEN, *scaled.shape[2:]), 1)


def _derivative(coefficients: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
    """Return the d-th derivative with respect to u (..., 1) of polynomials with coefficients (10, ..., n)."""
    result = np.zeros(np.broadcast_shapes(u.shape, coefficients.shape[1:]))
    for j in range(DEGREE, d - 1, -1):
        result = result * u + perm(j, d) * coefficients[j]
    return result


def _completed(spans: np.ndarray, values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return values (5, points, n) with the missing derivatives, for which the gradient of the objective vanishes.

    The equations are block tridiagonal: elimination runs from the first to the last point, and back."""
    k, n = values.shape[1:]
    unknown = np.arange(GIVEN) > order[:, None]
    own, next_ = np.zeros((k, GIVEN, GIVEN)), np.zeros((k, GIVEN, GIVEN))     # blocks of the quadratic form
    for s, h in enumerate(spans):
        scale = np.tile(h ** np.arange(GIVEN), 2)
        H = _ENERGY * np.outer(scale, scale) * h ** (ORDER - DEGREE)        # h^-9 of the integral, h^4 of the weight
        own[s] += H[:GIVEN, :GIVEN]
        own[s + 1] += H[GIVEN:, GIVEN:]
        next_[s] = H[:GIVEN, GIVEN:]
    found = np.where(unknown.T[..., None], 0.0, values)
    x = np.concatenate((np.zeros((1, GIVEN, n)), found.swapaxes(0, 1), np.zeros((1, GIVEN, n))))
    before = np.concatenate((np.zeros((1, GIVEN, GIVEN)), next_[:-1].swapaxes(1, 2)))
    gradient = (before @ x[:-2] + own @ x[1:-1] + next_ @ x[2:]) * unknown[..., None]
    own = own * (unknown[:, :, None] & unknown[:, None]) + np.eye(GIVEN) * ~unknown[:, None]      # given values stay
    next_[:-1] *= unknown[:-1, :, None] & unknown[1:, None]
    for i in range(1, k):
        factor = np.linalg.solve(own[i - 1], next_[i - 1]).T
        own[i] -= factor @ next_[i - 1]
        gradient[i] -= factor @ gradient[i - 1]
    change = np.zeros((GIVEN, n))
    for i in reversed(range(k)):
        change = np.linalg.solve(own[i], -gradient[i] - next_[i] @ change)
        found[:, i] += change
    return found
