"""Minimum-acceleration curves between two elements of SO(3) or SE(3), and minimum-acceleration splines; [PK] (21) to
(23)."""
import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from screw_dynamics.utils import checks

from . import split
from .boundary_problem import solve
from .curves import Curve
from .euler_poincare import ACCELERATIONS, COMPONENTS, COVARIANT, MinimumAcceleration
from .geodesics import ends_and_metric
from .groups import SE3, SO3, MatrixGroup
from .metrics import LEFT


def minimum_acceleration(group: MatrixGroup, X0: ArrayLike, V0: ArrayLike, X1: ArrayLike, V1: ArrayLike,
                         Q: ArrayLike | None = None, duration: float = 1.0, acceleration: str = COMPONENTS,
                         side: str = LEFT, tolerance: float = 1e-6) -> Curve:
    """Compute the curve of minimum acceleration between two elements with given velocities.

    Parameters
    ----------
    group : MatrixGroup
        SO3 or SE3.
    X0 : array_like (n, n)
        Element at the start.
    V0 : array_like (d,)
        Velocity at the start, of the given side.
    X1 : array_like (n, n)
        Element at the end.
    V1 : array_like (d,)
        Velocity at the end, of the same side.
    Q : array_like (d, d), optional
        Metric: a symmetric positive-definite matrix. By default the identity.
    duration : float, optional
        Duration in s.
    acceleration : {"components", "covariant"}, optional
        Acceleration A: the derivative V' of the velocity's components, or the covariant derivative.
    side : {"left", "right"}, optional
        Invariance of the metric: V = X^-1 X', or V = X' X^-1 for "right".
    tolerance : float, optional
        Relative tolerance of the equations' residual, as in SciPy's solve_bvp.

    Returns
    -------
    Curve
        Curve with the least integral of A^T Q A / 2.

    Raises
    ------
    ArithmeticError
        If no solution is found.

    Notes
    -----
    "components" is A = V' as in (21), the derivative of a twist's components in the body frame. On SE(3) it is not 0
    if a body rotates while its origin moves straight. "covariant" is A = V' - Q^-1 ad_V^T Q V, the acceleration in the
    metric, which is 0 along geodesics. Both give the same curve on SO(3) if Q is a multiple of 1.

    References
    ----------
    [PK] (21) to (23).
    """
    duration = checks.positive("duration", duration)
    return spline(group, [X0, X1], [0.0, duration], Q, (V0, V1), acceleration, side, tolerance)


def spline(group: MatrixGroup, poses: ArrayLike, times: ArrayLike, Q: ArrayLike | None = None,
           ends: tuple[ArrayLike, ArrayLike] | None = None, acceleration: str = COMPONENTS, side: str = LEFT,
           tolerance: float = 1e-6) -> Curve:
    """Compute the spline of minimum acceleration through given elements at given times.

    Parameters
    ----------
    group : MatrixGroup
        SO3 or SE3.
    poses : array_like (N + 1, n, n)
        Elements on the curve. Consecutive ones must be less than half a turn apart.
    times : array_like (N + 1,)
        Increasing times of the elements in s.
    Q : array_like (d, d), optional
        Metric: a symmetric positive-definite matrix. By default the identity.
    ends : tuple of two array_like (d,), optional
        Velocities at both ends, of the given side. By default they are free, with A = 0 at both ends.
    acceleration : {"components", "covariant"}, optional
        Acceleration A, as in ``minimum_acceleration``.
    side : {"left", "right"}, optional
        Invariance of the metric: V = X^-1 X', or V = X' X^-1 for "right".
    tolerance : float, optional
        Relative tolerance of the equations' residual, as in SciPy's solve_bvp.

    Returns
    -------
    Curve
        Curve with the least integral of A^T Q A / 2. It is twice continuously differentiable, and a
        minimum-acceleration curve between consecutive elements.

    Raises
    ------
    ValueError
        If ``ends`` are not two velocities.
    ArithmeticError
        If no solution is found.

    Notes
    -----
    For Q = diag(Q_R, b 1) on SE(3) and "covariant" the curve is a spline on SO(3) with SciPy's cubic spline of
    positions. Otherwise the boundary value problems of all segments are solved together.

    References
    ----------
    [PK] (21) to (23).
    """
    poses, times = _through(group, poses, times)
    checks.one_of("acceleration", acceleration, ACCELERATIONS)
    *_, Q = ends_and_metric(group, poses[0], poses[-1], Q, side)
    if side != LEFT:
        poses = group.inverse(poses)
    if ends is not None:
        if len(ends) != 2:
            raise ValueError(f"ends must be two velocities, of the first and of the last pose, not {len(ends)}")
        sign = 1.0 if side == LEFT else -1.0
        ends = tuple(sign * checks.vector(name, V, group.dimension) for name, V in zip(("V0", "V1"), ends, strict=True))
    return _spline(group, poses, times, Q, ends, acceleration, side, checks.positive("tolerance", tolerance))


def _spline(group, poses, times, Q, ends, acceleration, side, tolerance):
    if acceleration == COVARIANT and group is SE3 and (Q_R := split.rotational(Q)) is not None:
        of_rotation = None if ends is None else tuple(V[:3] for V in ends)
        rotation = _spline(SO3, poses[:, :3, :3], times, Q_R, of_rotation, COVARIANT, LEFT, tolerance)
        slopes = "natural" if ends is None else tuple((1, X[:3, :3] @ V[3:]) for X, V in zip(poses[[0, -1]], ends,
                                                                                             strict=True))
        return split.SplitCurve(rotation, CubicSpline(times, poses[:, :3, 3], bc_type=slopes), Q[5, 5], 2, side)
    return solve(MinimumAcceleration(group, Q, acceleration), poses, times, ends, side, tolerance)


def _through(group, poses, times):
    """Return poses (N + 1, n, n) and times (N + 1,) as arrays, checked."""
    poses = group.element("poses", poses)
    times = checks.finite_numbers("times", times).astype(float)
    if poses.ndim != 3 or times.shape != poses.shape[:1] or len(times) < 2:
        raise ValueError(f"poses and times must have the same length, at least two: {checks.described(poses)}, "
                         f"{checks.described(times)}")
    if not (np.diff(times) > 0.0).all():
        raise ValueError(f"times must increase, not {times.tolist()}")
    return poses, times
