"""The motion of a joint: C(q) = B exp(X q), the pose of a body in its parent, for any constant screw X."""
from typing import NamedTuple

from .scalars import sincos, sqrt
from .se3 import Pose
from .so3 import Rotation, matrix
from .values import kernel, value
from .vectors import Matrix3, Scalar, Vec3, tilde


@value
class Joint(NamedTuple):
    """B exp(X q) laid out for evaluation: R = R0 + c R1 + s R2, p = p0 + c p1 + s p2 + q p3, (s, c) = sin, cos(rate q).

    Revolute, prismatic and helical joints and any multiple of their screws go by the same lines."""

    rate: Scalar
    R0: Matrix3
    R1: Matrix3
    R2: Matrix3
    p0: Vec3
    p1: Vec3
    p2: Vec3
    p3: Vec3


def joint(B, X):
    """The joint of screw X (in the body frame, per rad or m of q) whose body has the pose B in its parent at q = 0.

    With X = (w, v), n = |w| and e = w / n: exp(X q) turns about e by n q, [MK] (A.6)."""
    one = Matrix3(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
    rate = sqrt(X.angular @ X.angular)
    per = 1.0 / rate if rate != 0 else 0.0
    e, v, R = tilde(per * X.angular), per * X.linear, matrix(B.R)
    ee = e @ e
    slide = X.linear + ee @ X.linear                            # along the axis; all of it if there is no rotation
    return Joint(rate, R @ (one + ee), R @ -ee, R @ e, B.p + R @ (e @ v), R @ -(e @ v), R @ -(ee @ v), R @ slide)


@kernel
def pose(E, q):
    """C(q), [MK] (8)."""
    s, c = sincos(E.rate * q)
    R = E.R0 + c * E.R1 + s * E.R2
    return Pose(Rotation(R.x, R.y, R.z), E.p0 + c * E.p1 + s * E.p2 + q * E.p3)
