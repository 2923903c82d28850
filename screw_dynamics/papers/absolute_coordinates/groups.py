"""Lie groups for a rigid body's configuration: SE(3), SO(3) x R^3, and products of these, selected for each body; [MT]
appendix A.

An element is the pose (R, r) as a homogeneous matrix (4, 4) in either group. The groups differ in the product of
elements, and hence in exp, ad and dexp. A vector of the algebra is (6,), angular part first: in SE(3) a body-fixed
twist (omega, v), in SO(3) x R^3 a mixed velocity (omega body-fixed, r' in the inertial frame).

The functions of a step are implemented here, since those of `se3` on arrays take ten times as long for the few bodies
of a system; test_groups.py compares them."""
from collections.abc import Sequence
from fractions import Fraction
from math import comb, factorial

import numpy as np

from screw_dynamics.screws.arrays import tilde
from screw_dynamics.screws.groups import se3
from screw_dynamics.screws.so3 import stumpff

SEMIDIRECT, DIRECT = "SE(3)", "SO(3) x R^3"
BODY_FIXED, MIXED = "body-fixed", "mixed"
TERMS = 11          # of series in x = |xi|^2 <= NEAR, to machine precision: dexp^-1 converges as (x / 4 pi^2)^k
NEAR = 1.0


def bernoulli_numbers(last: int) -> list[float]:
    """Return B_0 = 1, B_1 = -1/2, ... B_last. SciPy's B_4 has only twelve digits."""
    B = [Fraction(1)]
    for m in range(1, last + 1):
        B.append(-sum(comb(m + 1, k) * B[k] for k in range(m)) / (m + 1))
    return [float(number) for number in B]


def _series():
    """Return (TERMS, 5): coefficients in powers of x of c_1, c_2, c_3 as in so3.stumpff, and of d_2, d_4 of dexp_inv.

    sum_i B_i/i! ad^i = I - ad/2 + d_2 ad^2 + d_4 ad^4, as ad^(2k) = (2 - k) (-x)^(k-1) ad^2 + (k - 1) (-x)^(k-2) ad^4
    follows from ad^5 = -2 x ad^3 - x^2 ad, which holds in both groups."""
    B = bernoulli_numbers(2 * TERMS + 2)
    return np.array([[(-1) ** j * number for number in (
        *(1.0 / factorial(2 * j + k) for k in (1, 2, 3)), (1 - j) * B[2 * j + 2] / factorial(2 * j + 2),
          (j + 1) * B[2 * j + 4] / factorial(2 * j + 4))]
        for j in range(TERMS)])


SERIES, POWERS, UNIT = _series(), np.arange(TERMS), np.eye(3)


def _coefficients(x):
    """Return c_1, c_2, c_3, d_2, d_4 (..., 5) of x = |xi|^2 (...,)."""
    if x.size and x.max() > NEAR:
        c = stumpff(x)
        d4 = (4.0 * c.c6 - c.c5) / (4.0 * c.c2)
        return np.stack((c.c1, c.c2, c.c3, (c.c3 - 2.0 * c.c4) / (2.0 * c.c2) + x * d4, d4), axis=-1)
    return x[..., None] ** POWERS @ SERIES


class ConfigurationGroup:
    """A product of SE(3) and SO(3) x R^3, one factor for each body.

    Parameters
    ----------
    kinds : sequence of {"SE(3)", "SO(3) x R^3"}
        Group of each body: SEMIDIRECT, which is "SE(3)", or DIRECT, which is "SO(3) x R^3".

    Raises
    ------
    ValueError
        If a group does not exist.

    Notes
    -----
    Elements are (..., n, 4, 4), vectors of the algebra (..., n, 6).
    """

    def __init__(self, kinds: Sequence[str]):
        for kind in kinds:
            if kind not in (SEMIDIRECT, DIRECT):
                raise ValueError(f"the group {kind!r} must be one of {SEMIDIRECT!r}, {DIRECT!r}")
        self.kinds = tuple(kinds)
        self.semidirect = np.array([kind == SEMIDIRECT for kind in kinds], dtype=bool)
        self.direct = np.flatnonzero(~self.semidirect)
        self._moves = self.semidirect[:, None, None] * 1.0

    def __repr__(self) -> str:
        runs = {kind: self.kinds.count(kind) for kind in dict.fromkeys(self.kinds)}
        return "<" + " x ".join(f"({kind})^{count}" for kind, count in runs.items()) + ">"

    @property
    def n(self) -> int:
        """The number of bodies."""
        return len(self.kinds)

    @property
    def representations(self) -> tuple[str, ...]:
        """The representation of the velocity of each body: BODY_FIXED in SE(3), MIXED in SO(3) x R^3."""
        return tuple(BODY_FIXED if kind == SEMIDIRECT else MIXED for kind in self.kinds)

    def _replace(self, vectors, others):
        """Replace the vectors (..., n, 3) of the bodies in SO(3) x R^3 by others, in place."""
        vectors[..., self.direct, :] = others[..., self.direct, :]

    def compose(self, g: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Return the product g h.

        Parameters
        ----------
        g, h : ndarray (..., n, 4, 4)
            Elements (R1, r1) and (R2, r2).

        Returns
        -------
        ndarray (..., n, 4, 4)
            Product: (R1 R2, r1 + R1 r2) in SE(3), (47), or (R1 R2, r1 + r2) in SO(3) x R^3, (60).

        References
        ----------
        [MT] (47), (60).
        """
        product = g @ h
        if self.direct.size:
            self._replace(product[..., :3, 3], g[..., :3, 3] + h[..., :3, 3])
        return product

    def inverse(self, g: np.ndarray) -> np.ndarray:
        """Return the inverse g^-1.

        Parameters
        ----------
        g : ndarray (..., n, 4, 4)
            Elements (R, r).

        Returns
        -------
        ndarray (..., n, 4, 4)
            Inverse: (R^T, -R^T r) in SE(3), or (R^T, -r) in SO(3) x R^3.
        """
        result = np.array(se3.inverse(g))
        self._replace(result[..., :3, 3], -g[..., :3, 3])
        return result

    def exp(self, X: np.ndarray) -> np.ndarray:
        """Compute the exponential of vectors of the algebra.

        Parameters
        ----------
        X : ndarray (..., n, 6)
            Vectors (xi, eta), or (xi, r) in SO(3) x R^3.

        Returns
        -------
        ndarray (..., n, 4, 4)
            Elements: (exp xi, dexp_xi eta) in SE(3), (51), or (exp xi, r) in SO(3) x R^3, (65).

        References
        ----------
        [MT] (51), (65).
        """
        xi, eta = X[..., :3], X[..., 3:]
        c = _coefficients((xi * xi).sum(axis=-1))[..., None, None]
        c1, c2, c3 = c[..., 0, :, :], c[..., 1, :, :], c[..., 2, :, :]
        T = tilde(xi)
        T2 = T @ T
        g = np.zeros((*X.shape[:-1], 4, 4))
        g[..., :3, :3] = UNIT + c1 * T + c2 * T2
        g[..., :3, 3] = eta + ((self._moves * (c2 * T + c3 * T2)) @ eta[..., None])[..., 0]
        g[..., 3, 3] = 1.0
        return g

    def log(self, g: np.ndarray) -> np.ndarray:
        """Return the vectors X with exp X = g.

        Parameters
        ----------
        g : ndarray (..., n, 4, 4)
            Elements.

        Returns
        -------
        ndarray (..., n, 6)
            Vectors X = (xi, eta) with ``|xi| <= pi``.
        """
        X = np.array(se3.log(g))
        self._replace(X[..., 3:], g[..., :3, 3])
        return X

    def ad(self, X: np.ndarray) -> np.ndarray:
        """Return the matrices ad_X of the Lie bracket.

        Parameters
        ----------
        X : ndarray (..., n, 6)
            Vectors of the algebra.

        Returns
        -------
        ndarray (..., n, 6, 6)
            Matrices ad_X: (50) in SE(3), (63) in SO(3) x R^3.

        References
        ----------
        [MT] (50), (63).
        """
        matrix = np.zeros((*X.shape, 6))
        T = matrix[..., :3, :3] = tilde(X[..., :3])
        matrix[..., 3:, 3:] = self._moves * T
        matrix[..., 3:, :3] = self._moves * tilde(X[..., 3:])
        return matrix

    def bracket(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Compute the Lie bracket [X, Y].

        Parameters
        ----------
        X, Y : ndarray (..., n, 6)
            Vectors of the algebra.

        Returns
        -------
        ndarray (..., n, 6)
            Bracket: (49) in SE(3), (62) in SO(3) x R^3.

        References
        ----------
        [MT] (49), (62).
        """
        return (self.ad(X) @ Y[..., None])[..., 0]

    def dexp(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Apply the right-trivialized differential of exp: dexp_X Y.

        Parameters
        ----------
        X, Y : ndarray (..., n, 6)
            Vectors of the algebra.

        Returns
        -------
        ndarray (..., n, 6)
            Vectors dexp_X Y: (54) in SE(3), (67) in SO(3) x R^3.

        Notes
        -----
        ``dexp_(-X) Y`` is the velocity of g exp X for X' = Y.

        References
        ----------
        [MT] (54), (67).
        """
        result = np.array(se3.dexp(X, Y))
        self._replace(result[..., 3:], np.broadcast_to(Y, result.shape)[..., 3:])
        return result

    def dexp_inv(self, X: np.ndarray, Y: np.ndarray, order: int | None = None) -> np.ndarray:
        """Apply the inverse of the differential of exp: dexp_X^-1 Y, for ``|xi| < 2 pi``.

        Parameters
        ----------
        X, Y : ndarray (..., n, 6)
            Vectors of the algebra, X = (xi, eta).
        order : int, optional
            Order of the truncated series (43): its last term is ad^order. By default the closed form (58), which holds
            in both groups.

        Returns
        -------
        ndarray (..., n, 6)
            Vectors dexp_X^-1 Y.

        References
        ----------
        [MT] (43), (58).
        """
        A, term = self.ad(X), Y[..., None]
        if order is not None:
            result = term
            for i, B in enumerate(bernoulli_numbers(order)[1:], start=1):
                term = A @ term / i
                result = result + B * term
            return result[..., 0]
        c = _coefficients((X[..., :3] ** 2).sum(axis=-1))[..., None, None]
        d2, d4 = c[..., 3, :, :], c[..., 4, :, :]
        first = A @ term
        second = A @ first
        return (term - 0.5 * first + d2 * second + d4 * (A @ (A @ second)))[..., 0]
