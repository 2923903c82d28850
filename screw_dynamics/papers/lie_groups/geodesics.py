"""Geodesics of invariant metrics between two elements of SO(3) or SE(3); [PK] (16) to (20)."""
import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from screw_dynamics.utils import checks

from . import split
from .boundary_problem import solve
from .curves import Curve, SolvedCurve
from .euler_poincare import Geodesics
from .groups import SE3, SO3, MatrixGroup
from .metrics import LEFT, SIDES, metric


def geodesic(group: MatrixGroup, X0: ArrayLike, X1: ArrayLike, Q: ArrayLike | None = None, duration: float = 1.0,
             side: str = LEFT, tolerance: float = 1e-8) -> Curve:
    """Compute a geodesic of an invariant metric from X0 to X1.

    Parameters
    ----------
    group : MatrixGroup
        SO3 or SE3.
    X0, X1 : array_like (n, n)
        Elements at both ends.
    Q : array_like (d, d), optional
        Metric: a symmetric positive-definite matrix. By default the identity.
    duration : float, optional
        Duration in s.
    side : {"left", "right"}, optional
        Invariance of the metric: V = X^-1 X', or V = X' X^-1 for "right".
    tolerance : float, optional
        Relative tolerance of the equations' residual, as in SciPy's solve_bvp.

    Returns
    -------
    Curve
        Curve whose velocity V has the least integral of V^T Q V / 2.

    Raises
    ------
    ArithmeticError
        If no solution is found.

    Notes
    -----
    The curve is shortest, and has constant speed.

    If a one-parameter subgroup is a geodesic, the curve is one: for any ends if Q is a multiple of 1 on SO(3). On
    SE(3) with Q = diag(Q_R, b 1) the curve is a geodesic of Q_R on SO(3) with a straight line. Otherwise the boundary
    value problem (19), (20) is solved, beginning with the one-parameter subgroup that joins the ends, with angles up to
    pi. The solution is stationary and near that subgroup. It need not be the globally shortest curve if Q is far from a
    multiple of 1.

    References
    ----------
    [PK] (16) to (20).
    """
    X0, X1, Q = ends_and_metric(group, X0, X1, Q, side)
    return _geodesic(group, X0, X1, Q, np.array([0.0, checks.positive("duration", duration)]), side,
                     checks.positive("tolerance", tolerance))


def _geodesic(group, X0, X1, Q, times, side, tolerance):
    law, L = Geodesics(group, Q), group.log(group.inverse(X0) @ X1)
    if np.abs(law.turned(L, L @ Q)).max() <= 1e-13 * np.abs(L).max(initial=0.0) ** 2 * np.abs(Q).max():
        constant = np.concatenate((np.zeros_like(L), L / times[1]))
        return SolvedCurve(law, X0[None], L[None], times, side,
                           lambda s: np.broadcast_to(constant[:, None], (len(constant), len(s))))
    if group is SE3 and (Q_R := split.rotational(Q)) is not None:
        rotation = _geodesic(SO3, X0[:3, :3], X1[:3, :3], Q_R, times, LEFT, tolerance)
        slope = (X1[:3, 3] - X0[:3, 3]) / times[1]
        line = CubicSpline(times, (X0[:3, 3], X1[:3, 3]), bc_type=((1, slope), (1, slope)))
        return split.SplitCurve(rotation, line, Q[5, 5], 1, side)
    return solve(law, np.stack((X0, X1)), times, None, side, tolerance)


def ends_and_metric(group: MatrixGroup, X0: ArrayLike, X1: ArrayLike, Q: ArrayLike | None, side: str
                    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X0, X1 and Q as arrays, checked. For a right-invariant metric the ends are inverted, since inverses of its
    curves are those of the left-invariant one."""
    if group not in (SO3, SE3):
        raise ValueError(f"group must be SO3 or SE3, not {checks.described(group)}")
    checks.one_of("side", side, SIDES)
    X0, X1 = (group.element(name, X) for name, X in (("X0", X0), ("X1", X1)))
    for name, X in (("X0", X0), ("X1", X1)):
        if X.ndim != 2:
            raise ValueError(f"{name} must be one matrix ({group.size}, {group.size}), not {checks.described(X)}")
    if side != LEFT:
        X0, X1 = group.inverse(X0), group.inverse(X1)
    return X0, X1, np.eye(group.dimension) if Q is None else metric(group, Q)
