"""Cayley-Rodrigues parameters of any order, of rotations and rigid-body motions: coordinates without sine and cosine.

Those of order k are the vector s of X = (1 + s^)^k (1 - s^)^-k, i.e. s^ = tanh(log X / 2k). On SO(3) s is along the
axis, and its length is tan(angle / 2k): Rodrigues parameters for k = 1, modified ones for k = 2 (P. Tsiotras, J. L.
Junkins, H. Schaub, J. Guid. Control Dyn. 20, 1997, on higher orders). They exist for any angle below k pi, and tend to
infinity there. On SE(3) it is the same map of matrices (4, 4), from s^ in se(3) to a motion."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils import checks

from .groups import MatrixGroup

NEAR = 1e-9         # rad: angles this close to pi have no parameters of order 1


def from_cayley(group: MatrixGroup, s: ArrayLike, order: int = 1) -> np.ndarray:
    """Return the elements X with the given Cayley-Rodrigues parameters.

    Parameters
    ----------
    group : MatrixGroup
        SO3 or SE3.
    s : array_like (..., d)
        Parameters; any finite s is allowed.
    order : int, optional
        Order of the parameters, at least 1.

    Returns
    -------
    ndarray (..., n, n)
        Elements X.
    """
    hat, k = group.hat(checks.finite_numbers("s", s, group.dimension)), _order(group, order)
    one = np.eye(group.size)
    return np.linalg.matrix_power(np.linalg.solve(one - hat, one + hat), k)             # both factors commute


def to_cayley(group: MatrixGroup, X: ArrayLike, order: int = 1) -> np.ndarray:
    """Return the Cayley-Rodrigues parameters of elements X.

    Parameters
    ----------
    group : MatrixGroup
        SO3 or SE3.
    X : array_like (..., n, n)
        Elements of the group.
    order : int, optional
        Order k of the parameters, at least 1.

    Returns
    -------
    ndarray (..., d)
        Parameters. The length of their angular part is tan(angle / 2k).

    Raises
    ------
    ValueError
        If the order is 1 and an angle is pi, where the parameters are infinite.

    Notes
    -----
    The angle of X is at most pi.
    """
    k = _order(group, order)
    x = group.log(X)
    angle = np.linalg.norm(x[..., :3], axis=-1)
    if k == 1 and (angle > np.pi - NEAR).any():
        raise ValueError(f"X turns by the angle {np.max(angle):.15g}: parameters of order 1 are infinite at pi; use a "
                         "higher order")
    Y, one = group.exp(x / k), np.eye(group.size)                                       # X^(1/k)
    return group.vee(np.linalg.solve(Y + one, Y - one))


def _order(group, order):
    if group.name not in ("SO(3)", "SE(3)"):
        raise ValueError(f"Cayley-Rodrigues parameters are those of SO(3) and SE(3), not of {group.name}")
    return checks.whole("order", order, 1)
