"""Canonical coordinates of the second kind: the pose as a product of exponentials of six successive screws.

[MT] remark 4 describes rotations by successive turns about three axes, (59), and says that this "is easily extended to
SE(3) by using a unit basis including translations"; this is that extension, for any six screws."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.model.checks import numbers, pose
from screw_dynamics.screws.arrays import Ad_matrix
from screw_dynamics.screws.groups import se3

from .groups import SEMIDIRECT
from .reconstruction import Coordinates

ITERATIONS, TOLERANCE, LONGEST = 50, 1e-13, 1.0     # of Newton's steps, in rad and m


def second_kind(screws: ArrayLike, initial: ArrayLike, start: ArrayLike = (0.0,) * 6) -> Coordinates:
    """Return coordinates of the second kind on SE(3): g = g_0 exp(X_1 q_1) ... exp(X_6 q_6).

    Parameters
    ----------
    screws : array_like (6, 6)
        Screws X_k, one a row: rotations or translations of unit size in the body frame.
    initial : array_like (n, 4, 4)
        Initial poses of the bodies.
    start : array_like (6,), optional
        Coordinates q of the initial poses, the same for all bodies.

    Returns
    -------
    Coordinates
        Coordinates, with |det B| as their regularity. A body bound to the subgroup that the last screws generate stays
        in it.

    Raises
    ------
    ValueError
        If the screws depend on each other at ``start``.
    ArithmeticError
        If coordinates of a pose are not found.

    Notes
    -----
    The body-fixed twist is V = B(q) q'; column k of B is Ad^-1 X_k by the factors behind X_k, as in (59).
    """
    X, start = numbers("second_kind", "screws", screws, (6, 6)), checks.vector("start", start, 6)
    if abs(np.linalg.det(twist_matrix(X, start))) < 1e-9:
        raise ValueError(f"the screws depend on each other at the start {start.tolist()}")
    g0 = np.array([pose("second_kind", g) for g in initial]) @ se3.inverse(product(X, start))

    found = _Products(X, g0, start)
    return Coordinates("coordinates of the second kind", SEMIDIRECT, of=found.of, poses=found.poses, rates=found.rates,
                       regularity=found.regularity)


class _Products:
    """Those of poses g_0 and screws X; Newton's method begins at `start`."""

    def __init__(self, X, g0, start):
        self.X, self.g0, self.start = X, g0, start

    def of(self, g):
        q = np.tile(self.start, (len(g), 1))
        for _ in range(ITERATIONS):
            left = se3.log(se3.inverse(self.poses(q)) @ g)
            step = np.linalg.solve(twist_matrix(self.X, q), left[..., None])[..., 0]
            q = q + step * np.minimum(1.0, LONGEST / np.maximum(np.linalg.norm(step, axis=-1, keepdims=True), 1e-300))
            if np.abs(step).max(initial=0.0) < TOLERANCE:
                return q
        raise ArithmeticError("no coordinates of the second kind were found for these poses")

    def poses(self, q):
        return self.g0 @ product(self.X, q)

    def rates(self, q, V):
        return np.linalg.solve(twist_matrix(self.X, q), V[..., None])[..., 0]

    def regularity(self, q):
        return np.abs(np.linalg.det(twist_matrix(self.X, q)))


def product(screws: np.ndarray, q: np.ndarray) -> np.ndarray:
    """exp(X_1 q_1) ... exp(X_k q_k) (..., 4, 4) of screws (k, 6) and q (..., k)."""
    g = np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
    for k, X in enumerate(screws):
        g = g @ se3.exp(X * q[..., k, None])
    return g


def twist_matrix(screws: np.ndarray, q: np.ndarray) -> np.ndarray:
    """B (..., 6, k): the body-fixed twist of `product` is B q'."""
    B, after = np.empty((*q.shape[:-1], 6, len(screws))), np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))
    for k in range(len(screws) - 1, -1, -1):
        B[..., k] = Ad_matrix(se3.inverse(after)) @ screws[k]
        after = se3.exp(screws[k] * q[..., k, None]) @ after
    return B
