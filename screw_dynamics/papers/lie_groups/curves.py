"""Curves on SO(3) and SE(3), given by solutions of boundary value problems."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils import checks

from .euler_poincare import Geodesics
from .groups import MatrixGroup
from .metrics import LEFT

GAUSS = np.polynomial.legendre.leggauss(6)
PIECES = 16             # parts per segment for integrals of the cost, each with Gauss points


class Motion(NamedTuple):
    """The motion along a curve at given times.

    Parameters
    ----------
    X : ndarray (..., n, n)
        Elements.
    V : ndarray (..., d)
        Velocities.
    acceleration : ndarray (..., d)
        Accelerations V'.
    """

    X: np.ndarray
    V: np.ndarray
    acceleration: np.ndarray


class Curve:
    """A curve X(t), from times[0] to times[-1] (s). Call it with times (...) for elements (..., n, n).

    cost: the minimized integral of half the squared velocity, or acceleration. The curve is twice continuously
    differentiable between its ends."""

    group: MatrixGroup
    times: np.ndarray
    side: str = LEFT
    cost: float

    def _motion(self, t: np.ndarray) -> Motion:
        """Return the Motion at times (k,), for the left-invariant metric."""
        raise NotImplementedError

    def motion(self, t: ArrayLike) -> Motion:
        """Compute the motion at given times.

        Parameters
        ----------
        t : array_like (...)
            Times in s.

        Returns
        -------
        Motion
            Elements X, velocities V and accelerations V'. V is X^-1 X', or X' X^-1 for a right-invariant metric.

        Raises
        ------
        ValueError
            If a time is before or after the curve.
        """
        t = checks.finite_numbers("t", t).astype(float)
        self._check(t)
        X, V, Vd = (x.reshape(*t.shape, *x.shape[1:]) for x in self._motion(t.ravel()))
        return Motion(X, V, Vd) if self.side == LEFT else Motion(self.group.inverse(X), -V, -Vd)

    def _check(self, t):
        """Raise ValueError for times outside the curve, with a tolerance for rounding."""
        slack = 1e-12 * np.ptp(self.times)
        outside = t[(t < self.times[0] - slack) | (t > self.times[-1] + slack)]
        if outside.size:
            raise ValueError(f"t must be between {self.times[0]:g} and {self.times[-1]:g} s, not {outside[0]:g}")

    def __call__(self, t: ArrayLike) -> np.ndarray:  # noqa: D102  said of the class
        return self.motion(t).X

    def velocity(self, t: ArrayLike) -> np.ndarray:
        """Compute the velocities V at given times.

        Parameters
        ----------
        t : array_like (...)
            Times in s.

        Returns
        -------
        ndarray (..., d)
            Velocities V, as in ``motion``.
        """
        return self.motion(t).V

    def acceleration(self, t: ArrayLike) -> np.ndarray:
        """Compute the accelerations V' at given times.

        Parameters
        ----------
        t : array_like (...)
            Times in s.

        Returns
        -------
        ndarray (..., d)
            Accelerations V', as in ``motion``.
        """
        return self.motion(t).acceleration


class SolvedCurve(Curve):
    """A curve whose segment k is X(t) = X_k exp(s L_k) exp(x(s)), with s from 0 to 1 and x = 0 at both ends.

    law: equations of the states. solution(s): x and the states of all N segments, (N (1 + parts) d, ...)."""

    def __init__(self, law: Geodesics, starts: np.ndarray, L: np.ndarray, times: np.ndarray, side: str,
                 solution: Callable[[np.ndarray], np.ndarray]):
        self.group, self.law, self.starts, self.L = law.group, law, starts, L
        self.times, self.side, self._solution = times, side, solution
        self.cost = self._integral()

    def _states(self, k, s):
        """Return x (..., d) and states (..., parts, d) at s in segment k, (q,) each."""
        Y = self._solution(s).T.reshape(len(s), len(self.L), 1 + self.law.parts, -1)
        Z = Y[np.arange(len(s)), k]
        return Z[:, 0], Z[:, 1:]

    def _place(self, t):
        """Return the segment of each time, and s in it."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.L) - 1)
        return k, np.clip((t - self.times[k]) / np.diff(self.times)[k], 0.0, 1.0)

    def _motion(self, t):
        k, s = self._place(t)
        x, Z = self._states(k, s)
        X = self.starts[k] @ self.group.exp(s[:, None] * self.L[k]) @ self.group.exp(x)
        return Motion(X, Z[:, 0], self.law.acceleration(Z))

    def momentum(self, t: ArrayLike) -> np.ndarray:
        """Return pi (..., d): see euler_poincare.

        In each segment Ad_X^-T pi, pi in a fixed frame, is constant; for a right-invariant metric Ad_X^T pi, in the
        moving frame."""
        t = checks.finite_numbers("t", t).astype(float)
        self._check(t)
        momentum = self.law.momentum(self._states(*self._place(t.ravel()))[1]).reshape(*t.shape, -1)
        return momentum if self.side == LEFT else -momentum

    def _integral(self):
        points, weights = GAUSS
        s = ((np.arange(PIECES)[:, None] + 0.5 * (1.0 + points)) / PIECES).ravel()
        total = 0.0
        for k, h in enumerate(np.diff(self.times)):
            density = self.law.density(self._states(np.full(len(s), k), s)[1])
            total += h * float(density.reshape(PIECES, -1) @ weights @ np.full(PIECES, 0.5 / PIECES))
        return total
