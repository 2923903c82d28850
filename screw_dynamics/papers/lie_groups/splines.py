"""Curves of minimum acceleration between two elements of SO(3) or SE(3), and splines of these through many; [PK] (21)
to (23)."""
import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from screw_dynamics import checks

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
    """The Curve from X0 with velocity V0 to X1 with V1, (n, n) and (d,), with the least integral of A^T Q A / 2, (21).

    acceleration: "components", A = V' as in (21): that of a twist's components in the body frame, which on SE(3) is not
    0 where a body turns while its origin goes straight; or "covariant", A = V' - Q^-1 ad_V^T Q V, the acceleration in
    the metric itself, which is 0 along geodesics. The same on SO(3) for a multiple of 1.
    Other arguments as of `geodesic`; V0 and V1 are of the same side."""
    duration = checks.positive("duration", duration)
    return spline(group, [X0, X1], [0.0, duration], Q, (V0, V1), acceleration, side, tolerance)


def spline(group: MatrixGroup, poses: ArrayLike, times: ArrayLike, Q: ArrayLike | None = None,
           ends: tuple[ArrayLike, ArrayLike] | None = None, acceleration: str = COMPONENTS, side: str = LEFT,
           tolerance: float = 1e-6) -> Curve:
    """The Curve through poses (N + 1, n, n) at times (N + 1,), s, with the least integral of A^T Q A / 2 of all: twice
    continuously differentiable, and of minimum acceleration in between.

    ends: velocities (d,) at both ends; None: free, A is 0 there. Neighboring poses are to be less than half a turn
    apart. Other arguments as of `minimum_acceleration`. For Q = diag(Q_R, b 1) on SE(3) and "covariant" it is a spline
    on SO(3) beside SciPy's cubic one; else the boundary problems of all segments are solved at once."""
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
    """poses (N + 1, n, n) and times (N + 1,) as arrays."""
    poses = group.element("poses", poses)
    times = checks.finite_numbers("times", times).astype(float)
    if poses.ndim != 3 or times.shape != poses.shape[:1] or len(times) < 2:
        raise ValueError(f"poses and times must be two or more, and as many: {checks.described(poses)}, "
                         f"{checks.described(times)}")
    if not (np.diff(times) > 0.0).all():
        raise ValueError(f"times must increase, not {times.tolist()}")
    return poses, times
