"""Equations of curves that are stationary for a cost of their velocity, in the Lie algebra.

With V = X^-1 X' and W = X^-1 dX the variation of V is W' + [V, W]. A cost, the integral of L(V, V'), is stationary if
pi = dL/dV - d/dt dL/dV' has constant components in a fixed frame. In the moving frame this is

    pi' = ad_V^T pi,

the Euler-Poincare equation. A left-invariant metric Q gives [PK] (20) with L = <V, V> / 2, and (23) with L = <V', V'> /
2. pi is called momentum here; Ad_X^-T pi is constant along each curve."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils import checks

from .groups import MatrixGroup
from .metrics import metric

COMPONENTS, COVARIANT = "components", "covariant"
ACCELERATIONS = COMPONENTS, COVARIANT


def euler_poincare(group: MatrixGroup, Q: ArrayLike, V: ArrayLike) -> np.ndarray:
    """Compute the derivative of the velocity of a geodesic: V' = Q^-1 ad_V^T Q V.

    Parameters
    ----------
    group : MatrixGroup
        Lie group.
    Q : array_like (d, d)
        Left-invariant metric.
    V : array_like (..., d)
        Velocity.

    Returns
    -------
    ndarray (..., d)
        Time derivative of the velocity.

    Notes
    -----
    With the inertia of a free body as Q these are the Newton-Euler equations.

    References
    ----------
    (20).
    """
    V = checks.finite_numbers("V", V, group.dimension)
    return Geodesics(group, metric(group, Q)).rates(V[..., None, :])[..., 0, :]


class Geodesics:
    """The equations (20) of the state V: of shortest curves, which have the least integral of |V|^2 / 2."""

    parts = 1           # number of vectors of the state

    def __init__(self, group: MatrixGroup, Q: np.ndarray, curved: float = 1.0):
        self.group, self.Q, self._inverse, self.curved = group, Q, np.linalg.inv(Q), curved

    def turned(self, V: np.ndarray, momentum: np.ndarray) -> np.ndarray:
        """Return ad_V^T momentum (..., d), times `curved`: 1, or less during continuation."""
        return self.curved * (momentum[..., None, :] @ self.group.ad(V))[..., 0, :]

    def rates(self, Z: np.ndarray) -> np.ndarray:
        """Return the derivatives (..., 1, d) of states."""
        V = Z[..., 0, :]
        return (self.turned(V, V @ self.Q) @ self._inverse)[..., None, :]

    def acceleration(self, Z: np.ndarray) -> np.ndarray:
        """Return V' (..., d)."""
        return self.rates(Z)[..., 0, :]

    def momentum(self, Z: np.ndarray) -> np.ndarray:
        """Return pi = Q V (..., d)."""
        return Z[..., 0, :] @ self.Q

    def density(self, Z: np.ndarray) -> np.ndarray:
        """Return the integrand of the cost, |V|^2 / 2."""
        V = Z[..., 0, :]
        return 0.5 * ((V @ self.Q) * V).sum(axis=-1)


class MinimumAcceleration(Geodesics):
    """The equations of the least integral of |A|^2 / 2 in the state (V, P, pi), P = Q A.

    "components": A = V', [PK] (21), with Q V''' = ad_V^T Q V'' in general, which for Q = 1 is (23). "covariant": A = V'
    - Q^-1 ad_V^T Q V, the covariant derivative of the velocity, which is 0 along geodesics. They are equal if Q is
    bi-invariant. P' = dL/dV - pi."""

    parts = 3

    def __init__(self, group: MatrixGroup, Q: np.ndarray, acceleration: str = COMPONENTS, curved: float = 1.0):
        super().__init__(group, Q, curved)
        self.kind = checks.one_of("acceleration", acceleration, ACCELERATIONS)

    def acceleration(self, Z: np.ndarray) -> np.ndarray:
        """Return V' (..., d)."""
        V, A = Z[..., 0, :], Z[..., 1, :] @ self._inverse
        return A if self.kind == COMPONENTS else A + self.turned(V, V @ self.Q) @ self._inverse

    def rates(self, Z: np.ndarray) -> np.ndarray:
        """Return the derivatives (..., 3, d) of states."""
        V, P, pi = np.moveaxis(Z, -2, 0)
        by_V = np.zeros_like(V) if self.kind == COMPONENTS else self._by_velocity(V, P @ self._inverse)
        return np.stack((self.acceleration(Z), by_V - pi, self.turned(V, pi)), axis=-2)

    def _by_velocity(self, V, A):
        """Return dL/dV: the derivative of -A . ad_V^T Q V, i.e. of -(Q V) . [V, A]."""
        bent = (self.group.ad(A) @ V[..., None])[..., 0]                                       # [A, V]
        return self.curved * (bent @ self.Q + ((V @ self.Q)[..., None, :] @ self.group.ad(A))[..., 0, :])

    def momentum(self, Z: np.ndarray) -> np.ndarray:
        """Return pi (..., d)."""
        return Z[..., 2, :]

    def density(self, Z: np.ndarray) -> np.ndarray:
        """Return the integrand of the cost, |A|^2 / 2."""
        P = Z[..., 1, :]
        return 0.5 * ((P @ self._inverse) * P).sum(axis=-1)
