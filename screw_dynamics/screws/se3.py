"""The group SE(3) of poses, its screw algebra se(3), and the duals: twists and wrenches.

C = (R, p) is the pose of a body frame in a reference frame; screws are (angular, linear), wrenches (torque, force).
Sources: [MK] appendix A, [MT] appendix A.2 (51)-(58), two of them corrected (docs/misprints.md)."""
from typing import NamedTuple

from screw_dynamics.numbers.values import Scalar, form_of, infix, kernel, linear, over, value

from . import so3
from .so3 import Rotation, stumpff
from .vectors import AlongZ, Vec3, cross


@value
class Pose(NamedTuple):
    """C in SE(3): x_reference = R x_body + p."""

    R: Rotation
    p: Vec3


@linear
class Twist(NamedTuple):
    """Angular velocity (rad/s) and velocity of the frame's origin (m/s); also a joint screw, per unit of coordinate."""

    angular: Vec3
    linear: Vec3


@form_of(Twist)
class Axial(NamedTuple):
    """A screw along the z axis of its frame, as every screw is in a frame on its axis."""

    angular: AlongZ
    linear: AlongZ


@linear
class Wrench(NamedTuple):
    """Torque about the frame's origin (N m) and force (N); also a momentum (N m s, N s)."""

    torque: Vec3
    force: Vec3


@kernel
def identity(like: Scalar) -> Pose:
    """The pose of a frame in itself, over scalars of the kind of `like`."""
    one = Rotation(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
    return over(Pose(one, Vec3(0.0, 0.0, 0.0)), like)


@infix("@")
def compose(C: Pose, D: Pose) -> Pose:
    """C D: for C the pose of b in a and D that of c in b, the pose of c in a."""
    return Pose(C.R @ D.R, C.p + C.R @ D.p)


@infix("@")
def apply(C: Pose, x: Vec3) -> Vec3:
    """The point x of the body frame, in the reference frame."""
    return C.p + C.R @ x


@kernel
def inverse(C: Pose) -> Pose:
    """C^-1: the pose of the reference frame in the body frame."""
    return Pose(so3.inverse(C.R), -(C.p @ C.R))


@kernel
def dot(W: Wrench, V: Twist) -> Scalar:
    """W^T V, the power of a wrench on a twist, in watts."""
    return W.torque @ V.angular + W.force @ V.linear


@kernel
def Ad(C: Pose, V: Twist) -> Twist:
    """Ad_C V: a twist of the body frame, in the reference frame; [MK] (73)."""
    angular = C.R @ V.angular
    return Twist(angular, C.R @ V.linear + cross(C.p, angular))


@kernel
def Ad_inv(C: Pose, V: Twist) -> Twist:
    """Ad_C^-1 V: a twist of the reference frame, in the body frame."""
    return Twist(V.angular @ C.R, (V.linear + cross(V.angular, C.p)) @ C.R)


@kernel
def Ad_dual(C: Pose, W: Wrench) -> Wrench:
    """Ad_C^-T W: a wrench of the body frame, in the reference frame."""
    force = C.R @ W.force
    return Wrench(C.R @ W.torque + cross(C.p, force), force)


@kernel
def Ad_dual_inv(C: Pose, W: Wrench) -> Wrench:
    """Ad_C^T W: a wrench of the reference frame, in the body frame."""
    return Wrench((W.torque + cross(W.force, C.p)) @ C.R, W.force @ C.R)


@kernel
def shifted_twist(r: Vec3, V: Twist) -> Twist:
    """Ad_C^-1 V for C = (I, r): a twist about the origin, taken about the point r."""
    return Twist(V.angular, V.linear + cross(V.angular, r))


@kernel
def shifted_wrench(r: Vec3, W: Wrench) -> Wrench:
    """Ad_C^-T W for C = (I, r): a wrench about the point r, taken about the origin."""
    return Wrench(W.torque + cross(r, W.force), W.force)


@kernel
def ad(X: Twist, V: Twist) -> Twist:
    """ad_X V = [X, V], the screw product."""
    return Twist(cross(X.angular, V.angular), cross(X.linear, V.angular) + cross(X.angular, V.linear))


@kernel
def ad_dual(V: Twist, W: Wrench) -> Wrench:
    """ad_V^T W."""
    return Wrench(cross(W.torque, V.angular) + cross(W.force, V.linear), cross(W.force, V.angular))


@kernel
def exp(X: Twist) -> Pose:
    """exp X = (exp xi, dexp_xi eta), the finite screw motion of X = (xi, eta); [MT] (51)."""
    return Pose(so3.exp(X.angular), so3.dexp(X.angular, X.linear))


@kernel
def log(C: Pose) -> Twist:
    """The screw X with exp X = C and |xi| <= pi; at the angle pi either of the two."""
    xi = so3.log(C.R)
    return Twist(xi, so3.dexp_inv(xi, C.p))


@kernel
def dexp(X: Twist, Y: Twist) -> Twist:
    """dexp_X Y = sum_k ad_X^k Y / (k+1)!, the right-trivialized differential of exp; [MT] (54), and (55) corrected.

    The spatial twist of C = exp X is dexp_X X', the body-fixed one dexp_(-X) X'."""
    xi, eta, a = X.angular, X.linear, Y.angular
    c = stumpff(xi @ xi)
    b = cross(xi, a)
    P = (c.c2 * cross(eta, a) + c.c3 * (cross(eta, b) + cross(xi, cross(eta, a)))
         + (xi @ eta) * ((2.0 * c.c4 - c.c3) * b + (3.0 * c.c5 - c.c4) * cross(xi, b)))
    return Twist(so3.dexp(xi, a), P + so3.dexp(xi, Y.linear))


@kernel
def dexp_inv(X: Twist, Y: Twist) -> Twist:
    """dexp_X^-1 Y for |xi| < 2 pi; [MT] (56), and (57) corrected."""
    xi, eta, a = X.angular, X.linear, Y.angular
    c = stumpff(xi @ xi)
    b, e = cross(xi, a), cross(eta, a)
    U = ((c.c3 - 2.0 * c.c4) * (cross(eta, b) + cross(xi, e)) + ((xi @ eta) * (c.c5 - 4.0 * c.c6)) * cross(xi, b))
    return Twist(so3.dexp_inv(xi, a), (1.0 / (2.0 * c.c2)) * U - 0.5 * e + so3.dexp_inv(xi, Y.linear))
