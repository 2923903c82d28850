"""Lie groups as objects, and the exponential of SE(3) on arrays of few screws, for integrators.

`exp` and `exp_coefficients` take less time than se3.exp and so3.stumpff on such arrays; tests compare them."""
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from math import comb, factorial

import numpy as np
from scipy.linalg import expm

from ..arrays import Ad_matrix, inverse_pose, pose_matrix, split, tilde, times
from ..so3 import stumpff

TERMS = 11          # of series in x = |xi|^2 <= NEAR, to machine precision: dexp^-1 converges as (x / 4 pi^2)^k
NEAR = 1.0


class LieGroup:
    """A Lie group of matrices, on arrays.

    Elements are (..., n, n), vectors of the algebra (..., d); leading axes are a batch. A group defines exp, log and
    ad. Integrators use compose, exp and dexp_inv.
    """

    def compose(self, g: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Return the product g h.

        Parameters
        ----------
        g, h : ndarray (..., n, n)
            Elements of the group.

        Returns
        -------
        ndarray (..., n, n)
            Product.
        """
        return g @ h

    def inverse(self, g: np.ndarray) -> np.ndarray:
        """Return the inverse g^-1.

        Parameters
        ----------
        g : ndarray (..., n, n)
            Elements of the group.

        Returns
        -------
        ndarray (..., n, n)
            Inverses.
        """
        return np.linalg.inv(g)

    def exp(self, X: np.ndarray) -> np.ndarray:
        """Compute the exponential of vectors of the algebra.

        Parameters
        ----------
        X : ndarray (..., d)
            Vectors: the canonical coordinates of the first kind.

        Returns
        -------
        ndarray (..., n, n)
            Elements exp X.
        """
        raise NotImplementedError

    def log(self, g: np.ndarray) -> np.ndarray:
        """Return the vectors X with exp X = g.

        Parameters
        ----------
        g : ndarray (..., n, n)
            Elements of the group.

        Returns
        -------
        ndarray (..., d)
            Vectors X. Their angles are at most pi.
        """
        raise NotImplementedError

    def ad(self, X: np.ndarray) -> np.ndarray:
        """Return the matrices ad_X of the Lie bracket: Y -> [X, Y].

        Parameters
        ----------
        X : ndarray (..., d)
            Vectors of the algebra.

        Returns
        -------
        ndarray (..., d, d)
            Matrices ad_X.
        """
        raise NotImplementedError

    def bracket(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Compute the Lie bracket [X, Y].

        Parameters
        ----------
        X, Y : ndarray (..., d)
            Vectors of the algebra.

        Returns
        -------
        ndarray (..., d)
            Bracket: the vector of the commutator of their matrices.
        """
        return times(self.ad(X), np.asarray(Y))

    def dexp(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Apply the right-trivialized differential of exp: dexp_X Y.

        Parameters
        ----------
        X, Y : ndarray (..., d)
            Vectors of the algebra.

        Returns
        -------
        ndarray (..., d)
            Vectors dexp_X Y.

        Notes
        -----
        ``dexp_(-X) Y`` is the velocity of g exp X for X' = Y.
        """
        return times(self._dexp_matrix(X), np.asarray(Y))

    def dexp_inv(self, X: np.ndarray, Y: np.ndarray, order: int | None = None) -> np.ndarray:
        """Apply the inverse of the differential of exp: dexp_X^-1 Y, for angles below 2 pi.

        Parameters
        ----------
        X, Y : ndarray (..., d)
            Vectors of the algebra.
        order : int, optional
            Order of the truncated series, [MT] (43): its last term is ad^order. By default the inverse is exact.

        Returns
        -------
        ndarray (..., d)
            Vectors dexp_X^-1 Y.
        """
        result = term = np.asarray(Y)
        if order is None:
            return np.linalg.solve(self._dexp_matrix(X), term[..., None])[..., 0]
        A = self.ad(X)
        for i, B in enumerate(bernoulli_numbers(order)[1:], start=1):
            term = times(A, term) / i
            result = result + B * term
        return result

    def _dexp_matrix(self, X):
        """Return the sum of ad_X^k / (k + 1)!, a block of the exponential of [[ad_X, I], [0, 0]]."""
        A = self.ad(X)
        d = A.shape[-1]
        block = np.zeros((*A.shape[:-2], 2 * d, 2 * d))
        block[..., :d, :d], block[..., :d, d:] = A, np.eye(d)
        return expm(block)[..., :d, d:]


def exp(X: np.ndarray) -> np.ndarray:
    """Return exp X = (exp xi, dexp_xi eta), (..., 4, 4), of screws X = (xi, eta), (..., 6), real or complex."""
    xi, eta = split(X)
    c = exp_coefficients((xi * xi).sum(axis=-1))[..., None, None]
    c1, c2, c3 = c[..., 0, :, :], c[..., 1, :, :], c[..., 2, :, :]
    T = tilde(xi)
    T2 = T @ T
    return pose_matrix((UNIT + c1 * T + c2 * T2, eta + times(c2 * T + c3 * T2, eta)))


def exp_coefficients(x: np.ndarray) -> np.ndarray:
    """Return c_1, c_2, c_3 of so3.stumpff for x = |xi|^2 (...), and d_2, d_4 of dexp_X^-1, (..., 5).

    sum_i B_i/i! ad^i = I - ad/2 + d_2 ad^2 + d_4 ad^4, as ad^(2k) = (2 - k) (-x)^(k-1) ad^2 + (k - 1) (-x)^(k-2) ad^4
    follows from ad^5 = -2 x ad^3 - x^2 ad, which holds in SE(3) and in SO(3) x R^3."""
    near = x <= NEAR
    alone = near.all()
    series = (x if alone else np.where(near, x, 0.0))[..., None] ** POWERS @ SERIES
    if alone:
        return series
    c = stumpff(x)
    d4 = (4.0 * c.c6 - c.c5) / (4.0 * c.c2)
    closed = np.stack((c.c1, c.c2, c.c3, (c.c3 - 2.0 * c.c4) / (2.0 * c.c2) + x * d4, d4), axis=-1)
    return np.where(near[..., None], series, closed)


def exp_second_kind(exp: Callable[[np.ndarray], np.ndarray], X: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return exp(X_1 q_1) ... exp(X_k q_k) (..., n, n) for vectors X (k, d) of the algebra and q (..., k)."""
    factors = exp(X * q[..., None])
    return reduce(np.matmul, np.moveaxis(factors, -3, 0), np.eye(factors.shape[-1]))


def second_kind_jacobian(X: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return J (..., 6, k): J q' is the body-fixed twist of exp(X_1 q_1) ... exp(X_k q_k), for screws X (k, 6).

    Column i is X_i, transformed by the factors after it."""
    factors, J = exp(X * q[..., None]), np.empty((*q.shape[:-1], 6, len(X)))
    after = np.eye(4)
    for i in range(len(X) - 1, -1, -1):
        J[..., i] = Ad_matrix(inverse_pose(after)) @ X[i]
        after = factors[..., i, :, :] @ after
    return J


def bernoulli_numbers(last: int) -> list[float]:
    """Return B_0 = 1, B_1 = -1/2, ... B_last. SciPy's B_4 has only twelve digits."""
    B = [Fraction(1)]
    for m in range(1, last + 1):
        B.append(-sum(comb(m + 1, k) * B[k] for k in range(m)) / (m + 1))
    return [float(number) for number in B]


def _series():
    """Return (TERMS, 5): the coefficients of `exp_coefficients` in powers of x."""
    B = bernoulli_numbers(2 * TERMS + 2)
    return np.array([[(-1) ** j * number for number in (
        *(1.0 / factorial(2 * j + k) for k in (1, 2, 3)), (1 - j) * B[2 * j + 2] / factorial(2 * j + 2),
          (j + 1) * B[2 * j + 4] / factorial(2 * j + 4))]
        for j in range(TERMS)])


SERIES, POWERS, UNIT = _series(), np.arange(TERMS), np.eye(3)
