"""The group SE(3) of poses, its screw algebra se(3), and the duals: twists and wrenches.

C = (R, p) is the pose of a body frame in a reference frame; screws are (angular, linear), wrenches (torque, force).
Sources: [MK] appendix A, [MT] appendix A.2 (51)-(58), two of them corrected (docs/papers.md)."""
from typing import NamedTuple

from screw_dynamics.numbers.values import Scalar, form_of, infix, kernel, linear, over, value

from . import so3
from .so3 import Rotation, stumpff
from .vectors import AlongZ, Vec3, cross


@value
class Pose(NamedTuple):
    """A pose C in SE(3): x_reference = R x_body + p.

    Parameters
    ----------
    R : Rotation
        Rotation from the body frame to the reference frame.
    p : Vec3
        Position of the body frame's origin in the reference frame, in m.
    """

    R: Rotation
    p: Vec3


@linear
class Twist(NamedTuple):
    """A twist of a frame; also a joint screw, per unit of its coordinate.

    Parameters
    ----------
    angular : Vec3
        Angular velocity in rad/s.
    linear : Vec3
        Velocity of the frame's origin in m/s.
    """

    angular: Vec3
    linear: Vec3


@form_of(Twist)
class Axial(NamedTuple):
    """A screw along the z axis of its frame, the form of every screw in a frame on its axis."""

    angular: AlongZ
    linear: AlongZ


@linear
class Wrench(NamedTuple):
    """A wrench at the origin of a frame; also a momentum.

    Parameters
    ----------
    torque : Vec3
        Torque about the frame's origin in N m, or angular momentum in N m s.
    force : Vec3
        Force in N, or linear momentum in N s.
    """

    torque: Vec3
    force: Vec3


@kernel
def identity(like: Scalar) -> Pose:
    """Return the pose of a frame in itself.

    Parameters
    ----------
    like : float
        Any scalar: the numbers of the pose are scalars of its kind.

    Returns
    -------
    Pose
        Identity of SE(3).
    """
    one = Rotation(Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))
    return over(Pose(one, Vec3(0.0, 0.0, 0.0)), like)


@infix("@")
def compose(C: Pose, D: Pose) -> Pose:
    """Return C D, the pose of c in a, with the pose C of b in a and the pose D of c in b."""
    return Pose(C.R @ D.R, C.p + C.R @ D.p)


@infix("@")
def apply(C: Pose, x: Vec3) -> Vec3:
    """Return the point x of the body frame in the reference frame: R x + p."""
    return C.p + C.R @ x


@kernel
def inverse(C: Pose) -> Pose:
    """Return C^-1, the pose of the reference frame in the body frame."""
    return Pose(so3.inverse(C.R), -(C.p @ C.R))


@kernel
def dot(W: Wrench, V: Twist) -> Scalar:
    """Return W^T V, the power of a wrench on a twist, in watts."""
    return W.torque @ V.angular + W.force @ V.linear


@kernel
def Ad(C: Pose, V: Twist) -> Twist:
    """Transform a twist from the body frame to the reference frame: Ad_C V.

    References
    ----------
    [MK] (73).
    """
    angular = C.R @ V.angular
    return Twist(angular, C.R @ V.linear + cross(C.p, angular))


@kernel
def Ad_inv(C: Pose, V: Twist) -> Twist:
    """Transform a twist from the reference frame to the body frame: Ad_C^-1 V."""
    return Twist(V.angular @ C.R, (V.linear + cross(V.angular, C.p)) @ C.R)


@kernel
def Ad_dual(C: Pose, W: Wrench) -> Wrench:
    """Transform a wrench from the body frame to the reference frame: Ad_C^-T W."""
    force = C.R @ W.force
    return Wrench(C.R @ W.torque + cross(C.p, force), force)


@kernel
def Ad_dual_inv(C: Pose, W: Wrench) -> Wrench:
    """Transform a wrench from the reference frame to the body frame: Ad_C^T W."""
    return Wrench((W.torque + cross(W.force, C.p)) @ C.R, W.force @ C.R)


@kernel
def shifted_twist(r: Vec3, V: Twist) -> Twist:
    """Shift a twist about the origin to the point r: Ad_C^-1 V for C = (I, r)."""
    return Twist(V.angular, V.linear + cross(V.angular, r))


@kernel
def shifted_wrench(r: Vec3, W: Wrench) -> Wrench:
    """Shift a wrench about the point r to the origin: Ad_C^-T W for C = (I, r)."""
    return Wrench(W.torque + cross(r, W.force), W.force)


@kernel
def ad(X: Twist, V: Twist) -> Twist:
    """Return the screw product ad_X V = [X, V]."""
    return Twist(cross(X.angular, V.angular), cross(X.linear, V.angular) + cross(X.angular, V.linear))


@kernel
def ad_dual(V: Twist, W: Wrench) -> Wrench:
    """Apply the transposed adjoint map of a twist to a wrench: ad_V^T W."""
    return Wrench(cross(W.torque, V.angular) + cross(W.force, V.linear), cross(W.force, V.angular))


@kernel
def exp(X: Twist) -> Pose:
    """Return the finite screw motion of X = (xi, eta): exp X = (exp xi, dexp_xi eta).

    References
    ----------
    [MT] (51).
    """
    return Pose(so3.exp(X.angular), so3.dexp(X.angular, X.linear))


@kernel
def log(C: Pose) -> Twist:
    """Return the screw X = (xi, eta) with exp X = C and ``|xi| <= pi``.

    Notes
    -----
    At the angle pi the result is either of the two screws.
    """
    xi = so3.log(C.R)
    return Twist(xi, so3.dexp_inv(xi, C.p))


@kernel
def dexp(X: Twist, Y: Twist) -> Twist:
    """Apply the right-trivialized differential of exp: dexp_X Y = sum_k ad_X^k Y / (k+1)!.

    Notes
    -----
    The spatial twist of C = exp X is ``dexp_X X'``, the body-fixed twist is ``dexp_(-X) X'``.

    References
    ----------
    [MT] (54), and (55) corrected.
    """
    xi, eta, a = X.angular, X.linear, Y.angular
    c = stumpff(xi @ xi)
    b = cross(xi, a)
    P = (c.c2 * cross(eta, a) + c.c3 * (cross(eta, b) + cross(xi, cross(eta, a)))
         + (xi @ eta) * ((2.0 * c.c4 - c.c3) * b + (3.0 * c.c5 - c.c4) * cross(xi, b)))
    return Twist(so3.dexp(xi, a), P + so3.dexp(xi, Y.linear))


@kernel
def dexp_inv(X: Twist, Y: Twist) -> Twist:
    """Apply the inverse of the differential of exp: dexp_X^-1 Y, for ``|xi| < 2 pi``.

    References
    ----------
    [MT] (56), and (57) corrected.
    """
    xi, eta, a = X.angular, X.linear, Y.angular
    c = stumpff(xi @ xi)
    b, e = cross(xi, a), cross(eta, a)
    U = ((c.c3 - 2.0 * c.c4) * (cross(eta, b) + cross(xi, e)) + ((xi @ eta) * (c.c5 - 4.0 * c.c6)) * cross(xi, b))
    return Twist(so3.dexp_inv(xi, a), (1.0 / (2.0 * c.c2)) * U - 0.5 * e + so3.dexp_inv(xi, Y.linear))
