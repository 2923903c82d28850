"""Curves on SE(3) for metrics that separate rotation and translation: Q = diag(Q_R, b 1), such as the inertia of a body
about its center of mass.

Geodesics are geodesics of Q_R on SO(3) with straight lines. Curves of minimum covariant acceleration are those on SO(3)
with cubic splines: for the position p, R^T p'' is the linear part of the covariant acceleration."""
import numpy as np
from scipy.interpolate import CubicSpline

from screw_dynamics.screws.arrays import pose_matrix

from .curves import Curve, Motion
from .groups import SE3


def rotational(Q: np.ndarray) -> np.ndarray | None:
    """Return Q_R (3, 3) of a metric on SE(3) of this form; None for others."""
    b, size = Q[5, 5], np.abs(Q).max()
    apart = np.abs(Q[:3, 3:]).max() <= 1e-14 * size and np.abs(Q[3:, 3:] - b * np.eye(3)).max() <= 1e-14 * size
    return Q[:3, :3] if apart else None


class SplitCurve(Curve):
    """A curve on SO(3) with positions, a piecewise polynomial of time.

    mass: b; order: of the derivative whose square is in the cost of `rotation`, too, 1 or 2."""

    def __init__(self, rotation: Curve, position: CubicSpline, mass: float, order: int, side: str):
        self.group, self.rotation, self.position = SE3, rotation, position
        self.times, self.side = rotation.times, side
        points, weights = np.polynomial.legendre.leggauss(3)                    # exact for squares of cubics' rates
        h = np.diff(self.times)
        t = self.times[:-1, None] + 0.5 * h[:, None] * (1.0 + points)
        squares = (position(t, order) ** 2).sum(axis=-1)
        self.cost = rotation.cost + 0.25 * mass * float(h @ squares @ weights)

    def _motion(self, t):
        R, omega, alpha = self.rotation._motion(t)
        v, a = ((self.position(t, order)[:, None] @ R)[:, 0] for order in (1, 2))             # R^T p', R^T p''
        X = pose_matrix((R, self.position(t)))
        return Motion(X, np.hstack((omega, v)), np.hstack((alpha, a - np.cross(omega, v))))
