"""Joint motion: C(q) = B exp(X q), the pose of a body in its parent, for any constant screw X.

In a frame on its axis every screw is along z (Chasles). The recursions use such a frame for each body: exp(X q) is then
a rotation about z and a translation along it, and most entries of X are 0."""
from typing import NamedTuple

from screw_dynamics.jit.numba_internals.compiler import overload, types
from screw_dynamics.numbers.scalars import sincos, sqrt
from screw_dynamics.numbers.values import Scalar, form_of, kernel, value

from . import so3
from .se3 import Ad_inv, Pose, Twist, identity, over
from .so3 import Rotation, matrix
from .vectors import ColumnsXY, ColumnZ, Matrix3, Nothing, Vec3, cross, tilde, transpose


@value
class Joint(NamedTuple):
    """B exp(X q) in a form for evaluation: R = R0 + c R1 + s R2, p = p0 + c p1 + s p2 + q p3, (s, c) = sin, cos(rate
    q).

    The same expressions hold for revolute, prismatic and helical joints, and for multiples of their screws."""

    rate: Scalar
    R0: Matrix3
    R1: Matrix3
    R2: Matrix3
    p0: Vec3
    p1: Vec3
    p2: Vec3
    p3: Vec3


@form_of(Joint)
class AxialJoint(NamedTuple):
    """The joint of a screw along the z axis."""

    rate: Scalar
    R0: ColumnZ
    R1: ColumnsXY
    R2: ColumnsXY
    p0: Vec3
    p1: Nothing
    p2: Nothing
    p3: Vec3


def joint(B: Pose, X: Twist) -> Joint:
    """Return the joint of screw X (in the body frame, per rad or m of q), with the pose B of its body in its parent at
    q = 0.

    With X = (w, v), n = |w| and e = w / n: exp(X q) rotates about e by n q, [MK] (69)."""
    one = Matrix3(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
    rate = sqrt(X.angular @ X.angular)
    per = 1.0 / rate if rate != 0 else 0.0
    e, v, R = tilde(per * X.angular), per * X.linear, matrix(B.R)
    ee = e @ e
    slide = X.linear + ee @ X.linear                            # along the axis; all of it without rotation
    return Joint(rate, R @ (one + ee), R @ -ee, R @ e, B.p + R @ (e @ v), R @ -(e @ v), R @ -(ee @ v), R @ slide)


def axial_joint(B: Pose, X: Twist) -> Joint:
    """Return the joint of a screw X along the z axis, with exact zeros."""
    x, y, z = so3.inverse(B.R)                                  # the columns of R
    none = 0 * x
    return Joint(X.angular.z, *(transpose(Matrix3(*columns)) for columns in ((none, none, z), (x, y, none),
                                (y, -x, none))), B.p, none, none, X.linear.z * z)


class Placement(NamedTuple):
    """Replacement of a coordinate: the pose of a body in its parent, if it is not a function of one number.

    A joint of k degrees of freedom whose configuration is an element of a group moves k bodies with one screw each, all
    but the last massless. The pose of the first in its parent is that of the joint, B g T; those of the others are
    constant. inner: 1 for these others, 2 if the origin of such a body is that of the body before, 3 for the last of
    the six bodies, with one origin, of a free joint to the world; else 0."""

    C: Pose
    inner: int


@kernel
def _pose(E, q):
    s, c = sincos(E.rate * q)
    R = E.R0 + c * E.R1 + s * E.R2
    return over(Pose(Rotation(R.x, R.y, R.z), E.p0 + c * E.p1 + s * E.p2 + q * E.p3), q)


def pose(E: Joint, q: Scalar | Placement) -> Pose:
    """Return C(q), [MK] (8), for a coordinate, or the pose in a Placement."""
    return q.C if isinstance(q, Placement) else _pose(E, q)


@overload(pose)
def _compiled_pose(E, q):
    return (lambda E, q: q.C) if isinstance(q, types.BaseNamedTuple) else (lambda E, q: _pose(E, q))


def inner(q: Scalar | Placement) -> bool:
    """Return True if the body's joint is also that of the body before it."""
    return isinstance(q, Placement) and q.inner != 0


@overload(inner)
def _compiled_inner(q):
    return (lambda q: q.inner != 0) if isinstance(q, types.BaseNamedTuple) else (lambda q: False)


def in_place(q: Scalar | Placement) -> bool:
    """Return True if the origin of the body is always that of the body before it: no shift is needed then."""
    return isinstance(q, Placement) and q.inner >= 2


@overload(in_place)
def _compiled_in_place(q):
    return (lambda q: q.inner >= 2) if isinstance(q, types.BaseNamedTuple) else (lambda q: False)


def is_free(q: Scalar | Placement) -> bool:
    """Return True if the body is the last one of a free joint to the world, after five massless bodies with the same
    origin."""
    return isinstance(q, Placement) and q.inner == 3


@overload(is_free)
def _compiled_is_free(q):
    return (lambda q: q.inner == 3) if isinstance(q, types.BaseNamedTuple) else (lambda q: False)


def on_axis(X: Twist) -> tuple[Pose, Twist]:
    """Return the pose of a frame on the axis of screw X, with z along it, and X in that frame.

    It is the nearest such frame: origin and axes are kept where they already fit."""
    w, v = X.angular, X.linear
    turns = any(x != 0 for x in w)
    axis = w if turns else v
    largest = max(map(abs, axis))
    if largest == 0:
        return identity(0.0), X
    e = Vec3(*(x / largest for x in axis))      # of length >= 1: its square neither vanishes nor overflows
    size = sqrt(e @ e)
    e = (1 / size) * e
    p = cross(e, Vec3(*(x / largest / size for x in v))) if turns else 0 * w
    if e.z < 0:
        e = -e
    k = 1 / (1 + e.z)                           # R rotates z to e about z x e, by at most a right angle
    R = Rotation(Vec3(1 - k * e.x * e.x, -k * e.x * e.y, e.x), Vec3(-k * e.x * e.y, 1 - k * e.y * e.y, e.y),
                 Vec3(-e.x, -e.y, e.z))
    T = Pose(R, p)
    Y = Ad_inv(T, X)
    return T, Twist(Vec3(0.0, 0.0, Y.angular.z), Vec3(0.0, 0.0, Y.linear.z))
