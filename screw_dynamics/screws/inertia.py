"""Inertias of a rigid body, and of an articulated body, both about the origin of their frame.

M = [[Theta, m d~], [-m d~, m I]] in the body frame, with the center of mass d; momenta are wrenches, M V."""
from typing import NamedTuple

from screw_dynamics.numbers.values import Scalar, compiled_as, infix, kernel, linear, null

from .se3 import Pose, Twist, Wrench
from .so3 import rotate_symmetric
from .vectors import (
    Matrix3,
    Symmetric3,
    Vec3,
    cross,
    cross_columns,
    full,
    multiple_of_identity,
    outer,
    symmetric,
    symmetric_outer,
    symmetric_product,
    tilde,
    transpose,
)


@linear
class Inertia(NamedTuple):
    """Mass m (kg), moment m d (kg m), and rotational inertia Theta about the frame's origin (kg m^2).

    Inertias about a common origin are additive, which is why Theta is not about the center of mass."""

    mass: Scalar
    moment: Vec3
    rotational: Symmetric3


@linear
class Articulated(NamedTuple):
    """The articulated inertia [[A, B], [B^T, D]] of a body that carries movable bodies."""

    A: Symmetric3
    B: Matrix3
    D: Symmetric3


@infix("@")
def momentum(M: Inertia, V: Twist) -> Wrench:
    """Return M V, the momentum of a body of inertia M with the twist V."""
    return Wrench(M.rotational @ V.angular + cross(M.moment, V.linear),
                  M.mass * V.linear - cross(M.moment, V.angular))


@infix("@")
def articulated_momentum(M: Articulated, V: Twist) -> Wrench:
    """Return M V."""
    return Wrench(M.A @ V.angular + M.B @ V.linear, V.angular @ M.B + M.D @ V.linear)


@kernel
def shifted(p: Vec3, M: Inertia) -> Inertia:
    """Return Ad_C^-T M Ad_C^-1 for C = (I, p): a rigid inertia about the point p, transformed to the origin."""
    moment = M.moment + M.mass * p
    g = M.moment + moment       # 2 S(h, p) + m S(p, p) = S(g, p) with S(a, b) = (a . b) I - (a b^T + b a^T) / 2
    return Inertia(M.mass, moment, M.rotational + multiple_of_identity(g @ p) - symmetric_product(g, p))


@kernel
def moved(C: Pose, M: Inertia) -> Inertia:
    """Return Ad_C^-T M Ad_C^-1: a rigid inertia of the body frame, in the reference frame."""
    return shifted(C.p, Inertia(M.mass, C.R @ M.moment, rotate_symmetric(C.R, M.rotational)))


@kernel
def inertia_rate(M: Inertia, V: Twist) -> Inertia:
    """Return -ad_V^T M - M ad_V: the time derivative, in a frame at rest, of the inertia of a body with the twist V.

    Its mass is 0, and its moment is the momentum."""
    turn, h = cross_columns(V.angular, full(M.rotational)), 2.0 * M.moment      # w~ Theta, whose transpose is -Theta w~
    slide = multiple_of_identity(h @ V.linear) - symmetric_product(h, V.linear)
    return Inertia(null(V), (M @ V).force, symmetric(turn + transpose(turn)) + slide)


@kernel
def articulated(M: Inertia) -> Articulated:
    """Return the inertia of one rigid body as an articulated one."""
    return Articulated(M.rotational, tilde(M.moment), multiple_of_identity(M.mass))


@kernel
def square(U: Wrench, d: Scalar) -> Articulated:
    """Return U d U^T of a wrench U: the inertia that a joint removes from an articulated body."""
    t, f = d * U.torque, d * U.force
    return Articulated(symmetric_outer(t, U.torque), outer(t, U.force), symmetric_outer(f, U.force))


@kernel
def _articulated_update(A, X, U, d, added):
    return A - square(U, d)


def _frees(X: Twist, added: Scalar) -> str | None:
    """Return "angular" or "linear" for a constant screw of this kind along z, without added inertia; else None."""
    if any(type(x) is not float for x in (*X.angular, *X.linear, added)) or added:
        return None
    moves = [part for part in X._fields if any(getattr(X, part))]
    return moves[0] if len(moves) == 1 and not any(getattr(X, moves[0])[:2]) else None


@compiled_as(_articulated_update)
def articulated_update(A: Articulated, X: Twist, U: Wrench, d: Scalar, added: Scalar) -> Articulated:
    """Return A - U d U^T, U = A X and 1 / d = X^T U + added: the articulated inertia that a joint transmits to its
    parent.

    (I - U d X^T) A X = 0 without added inertia: a joint about or along z has a row and a column of zeros. Straight-line
    code omits them, where loops subtract equal numbers."""
    rest, freed = A - square(U, d), _frees(X, added)
    S, B, D = rest.A, rest.B, rest.D
    if freed == "angular":
        return Articulated(Symmetric3(S.xx, S.xy, 0.0, S.yy, 0.0, 0.0), Matrix3(B.x, B.y, Vec3(0.0, 0.0, 0.0)), D)
    if freed == "linear":
        return Articulated(S, Matrix3(*(Vec3(row.x, row.y, 0.0) for row in B)),
                           Symmetric3(D.xx, D.xy, 0.0, D.yy, 0.0, 0.0))
    return rest


@kernel
def _through(W, X, tau, added):
    return W


@compiled_as(_through)
def through(W: Wrench, X: Twist, tau: Scalar, added: Scalar) -> Wrench:
    """Return the wrench W transmitted by a joint of effort tau = X^T W, before its acceleration is known.

    Without added inertia W does not depend on the acceleration. Straight-line code uses the effort as its z
    component."""
    (t, f), freed = W, _frees(X, added)
    if freed == "angular":
        return Wrench(Vec3(t.x, t.y, (1.0 / X.angular.z) * tau), f)
    if freed == "linear":
        return Wrench(t, Vec3(f.x, f.y, (1.0 / X.linear.z) * tau))
    return W


@kernel
def shifted_articulated(p: Vec3, M: Articulated) -> Articulated:
    """Return Ad_C^-T M Ad_C^-1 for C = (I, p): an articulated inertia about the point p, transformed to the origin.

    With G = B + p~ D it is [[A + p~ B^T - G p~, G], [G^T, D]], whose first block is symmetric."""
    B, D = M.B, M.D
    G = B + cross_columns(p, full(D))
    F = B + G
    shift = Symmetric3(p.y * F.x.z - p.z * F.x.y,
                       p.y * B.y.z - p.x * G.x.z + p.z * (G.x.x - B.y.y),
                       p.x * G.x.y - p.z * B.z.y + p.y * (B.z.z - G.x.x),
                       p.z * F.y.x - p.x * F.y.z,
                       p.z * B.z.x - p.y * G.y.x + p.x * (G.y.y - B.z.z),
                       p.x * F.z.y - p.y * F.z.x)
    return Articulated(M.A + shift, G, D)


class Factors(NamedTuple):
    """L D L^T of a symmetric 3 x 3 matrix: the inverses of D, and the entries yx, zx, zy of the unit lower triangular
    L."""

    x: Scalar
    y: Scalar
    z: Scalar
    yx: Scalar
    zx: Scalar
    zy: Scalar


@kernel
def factors(S: Symmetric3) -> Factors:
    """Return the factors of a positive definite matrix."""
    x = 1.0 / S.xx
    yx, zx = x * S.xy, x * S.xz
    y, yz = 1.0 / (S.yy - yx * S.xy), S.yz - yx * S.xz
    zy = y * yz
    return Factors(x, y, 1.0 / (S.zz - zx * S.xz - zy * yz), yx, zx, zy)


@kernel
def solved(F: Factors, b: Vec3) -> Vec3:
    """Return S^-1 b, for the factorized matrix S."""
    y = b.y - F.yx * b.x
    z = F.z * (b.z - F.zx * b.x - F.zy * y)
    y = F.y * y - F.zy * z
    return Vec3(F.x * b.x - F.yx * y - F.zx * z, y, z)


@kernel
def velocity(M: Articulated, W: Wrench) -> Twist:
    """Return M^-1 W for a positive definite M: the twist whose momentum is W, by blocks with the Schur complement."""
    A, Bt = factors(M.A), transpose(M.B)
    X = Matrix3(solved(A, Bt.x), solved(A, Bt.y), solved(A, Bt.z))                  # (A^-1 B)^T
    w = solved(A, W.torque)
    schur = Symmetric3(M.D.xx - X.x @ Bt.x, M.D.xy - X.x @ Bt.y, M.D.xz - X.x @ Bt.z, M.D.yy - X.y @ Bt.y,
                       M.D.yz - X.y @ Bt.z, M.D.zz - X.z @ Bt.z)
    v = solved(factors(schur), W.force - Bt @ w)
    return Twist(w - v @ X, v)
