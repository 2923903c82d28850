"""Recorded positions as smooth motions, and measured efforts smoothed alike: Savitzky-Golay filters.

A. Savitzky, M. J. E. Golay, "Smoothing and differentiation of data by simplified least squares procedures", Analytical
Chemistry 36, 1964."""
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported when they are first used: signal takes 0.8 s, for which nodes would wait

DEGREE = 3      # of the polynomial that fits each window


class Piece(NamedTuple):
    """An uninterrupted piece of a recording at a uniform step: arrays (k, nq), or (k, n)."""

    q: np.ndarray                       # smoothed, and its derivatives
    qd: np.ndarray
    qdd: np.ndarray
    effort: np.ndarray                  # as measured
    acceleration_noise: np.ndarray      # (nq), or (n), variance of qdd, by what the filter takes off q
    points: int                         # in a window

    @property
    def kept(self) -> np.ndarray:
        """Two samples a window, whole windows alone: what is left to be said after smoothing."""
        half = self.points // 2
        return np.arange(half, len(self.q) - half, half)

    def smooth(self, x: np.ndarray) -> np.ndarray:
        """A signal (k, ...), smoothed as q is, at `kept`."""
        return scipy.signal.savgol_filter(x, self.points, DEGREE, axis=0, mode="nearest")[self.kept]


def pieces(t: np.ndarray, q: np.ndarray, tau: np.ndarray, window: float) -> Iterator[Piece]:
    """The uninterrupted pieces of a recording t (m,), q (m, nq) and tau (m, n): time runs forward, gaps are below
    window / 2.

    Samples are interpolated to a uniform step, the median of those of t; a piece shorter than two windows is left out.
    ValueError when a window has fewer than 5 points."""
    steps = np.diff(t)
    if not (steps > 0.0).any():
        return
    step = np.median(steps[steps > 0.0])
    points = 2 * round(window / (2.0 * step)) + 1
    if points < 5:
        raise ValueError(f"samples are {step:.3g} s apart, but a smoothing window of {window:g} s must have at least 5")
    breaks = np.flatnonzero((steps <= 0.0) | (steps > 0.5 * window)) + 1
    for part in np.split(np.arange(len(t)), breaks):
        if t[part[-1]] - t[part[0]] > 2.0 * window:
            yield _piece(t[part], q[part], tau[part], step, points)


def _piece(t, q, tau, step, points):
    times = np.arange(t[0], t[-1], step)
    position, effort = (np.stack([np.interp(times, t, x) for x in signal.T], axis=1) for signal in (q, tau))
    smooth = [scipy.signal.savgol_filter(position, points, DEGREE, d, step, axis=0) for d in range(3)]
    noise = np.var(position - smooth[0], axis=0) * points / (points - DEGREE)
    gain = np.sum(scipy.signal.savgol_coeffs(points, DEGREE, 2, step) ** 2)
    return Piece(*smooth, effort, gain * noise, points)
