"""Transformation of vectors and inertias through a joint, by its rotation R = B exp(z~ q), or by its two factors.

Loops compute R once, a full matrix. In straight-line code for one robot the factors are known: if B is a rotation about
one axis, or a permutation of axes, applying both factors takes fewer operations than their product. The functions here
have two implementations: in compiled code, and for numbers that are not constants, they apply R."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.numbers.scalars import sincos
from screw_dynamics.numbers.values import Scalar, compiled_as, kernel

from .inertia import Articulated, Inertia, shifted, shifted_articulated
from .joint import Joint, Placement
from .se3 import Pose, Twist, Wrench
from .so3 import Rotation, rotate_matrix, rotate_symmetric
from .vectors import Matrix3, Symmetric3, Vec3, cross

NEGLIGIBLE = 1e-15      # tolerance of rotations, and relative one of shifts across z


class Turn(NamedTuple):
    """B, and the sine and cosine of the rotation about z; those of B, too, if it is a rotation about x, but not by a
    right angle, as in Denavit and Hartenberg's convention."""

    B: Rotation
    about_z: tuple[Scalar, Scalar]
    about_x: tuple[float, float] | None

    def shifts(self, p: Vec3) -> tuple[Vec3, Vec3] | None:
        """Return the shift p of this convention as one along x, and one along the z axis after the rotation about x;
        None if it is not known to have that form."""
        if self.about_x is None or type(p.y) is not float or type(p.z) is not float:
            return None
        s, c = self.about_x
        along, across = c * p.z - s * p.y, c * p.y + s * p.z
        if not abs(across) <= NEGLIGIBLE * abs(along):
            return None
        return Vec3(p.x, 0.0, 0.0), Vec3(0.0, 0.0, along)


def turn(E: Joint, q: Scalar | Placement) -> Turn | None:
    """Return the factors of a joint about or along z, if B is constant and has a row with one entry; else None."""
    if isinstance(q, Placement) or any(type(x) is not float for row in (*E.R0, *E.R1) for x in row):
        return None
    B = Rotation(*(Vec3(xy.x, xy.y, z.z) for xy, z in zip(E.R1, E.R0, strict=True)))
    if any(row.x or row.y for row in E.R0) or not any(sorted(map(abs, row))[1] == 0.0 for row in B):
        return None
    return Turn(B, sincos(E.rate * q), _about_x(B))


def _about_x(B):
    """Return the sine and cosine of B, if it is a rotation about x, not by a right angle, to machine precision; else
    None."""
    (xx, xy, xz), (yx, c, yz), (zx, s, zz) = B
    defects = (xx - 1.0, xy, xz, yx, zx, yz + s, zz - c, s * s + c * c - 1.0)
    return (s, c) if s and c and max(map(abs, defects)) <= NEGLIGIBLE else None


# ------------------------------------------------------------------------------------------------- one axis at a time
def about_z(angle: tuple[Scalar, Scalar], a: Vec3) -> Vec3:
    """Return R a for a rotation about z with this sine and cosine."""
    s, c = angle
    return Vec3(c * a.x - s * a.y, s * a.x + c * a.y, a.z)


def symmetric_about_z(angle: tuple[Scalar, Scalar], S: Symmetric3) -> Symmetric3:
    """Return R S R^T. With w = s (xx - yy) + 2 c xy the entries are xx - s w, c w - xy and yy + s w."""
    s, c = angle
    w = s * (S.xx - S.yy) + (2.0 * c) * S.xy
    sw = s * w
    return Symmetric3(S.xx - sw, c * w - S.xy, c * S.xz - s * S.yz, S.yy + sw, s * S.xz + c * S.yz, S.zz)


def matrix_about_z(angle: tuple[Scalar, Scalar], A: Matrix3) -> Matrix3:
    """Return R A R^T, in the same way."""
    (s, c), x, y, z = angle, A.x, A.y, A.z
    w = s * (x.x - y.y) + c * (x.y + y.x)
    sw, cw = s * w, c * w
    return Matrix3(Vec3(x.x - sw, cw - y.x, c * x.z - s * y.z), Vec3(cw - x.y, y.y + sw, s * x.z + c * y.z),
                   Vec3(c * z.x - s * z.y, s * z.x + c * z.y, z.z))


def _x_last(a):
    """Return the components along y, z and x: a rotation about x becomes one about the last axis."""
    return Vec3(a.y, a.z, a.x)


def _x_first(a):
    return Vec3(a.z, a.x, a.y)


def about_x(angle: tuple[Scalar, Scalar], a: Vec3) -> Vec3:
    """Return R a for a rotation about x."""
    return _x_first(about_z(angle, _x_last(a)))


def symmetric_about_x(angle: tuple[Scalar, Scalar], S: Symmetric3) -> Symmetric3:
    """Return R S R^T for a rotation about x."""
    S = symmetric_about_z(angle, Symmetric3(S.yy, S.yz, S.xy, S.zz, S.xz, S.xx))
    return Symmetric3(S.zz, S.xz, S.yz, S.xx, S.xy, S.yy)


def matrix_about_x(angle: tuple[Scalar, Scalar], A: Matrix3) -> Matrix3:
    """Return R A R^T for a rotation about x."""
    A = matrix_about_z(angle, Matrix3(_x_last(A.y), _x_last(A.z), _x_last(A.x)))
    return Matrix3(_x_first(A.z), _x_first(A.x), _x_first(A.y))


# ------------------------------------------------------------------------------------------------- through a joint
@kernel
def _turned(E, q, R, a):
    return R @ a


@compiled_as(_turned)
def turned(E: Joint, q: Scalar | Placement, R: Rotation, a: Vec3) -> Vec3:
    """Return R a, with the rotation R of the joint."""
    factors = turn(E, q)
    if factors is None or factors.about_x is None:
        return R @ a
    return about_x(factors.about_x, about_z(factors.about_z, a))


@kernel
def _turned_back(E, q, R, a):
    return a @ R


@compiled_as(_turned_back)
def turned_back(E: Joint, q: Scalar | Placement, R: Rotation, a: Vec3) -> Vec3:
    """Return R^T a, with the rotation R of the joint."""
    factors = turn(E, q)
    if factors is None or factors.about_x is None:
        return a @ R
    (s, c), (sx, cx) = factors.about_z, factors.about_x
    b = about_x((-sx, cx), a)
    return Vec3(c * b.x + s * b.y, c * b.y - s * b.x, b.z)


def _turning(rotated: Callable, about_z: Callable, about_x: Callable) -> Callable:
    """Return a function that computes R A R^T with the rotation R of a joint.

    It calls `rotated` with R, or applies the factors of R about single axes one after another."""
    @kernel
    def by_rotation(E, q, R, A):
        return rotated(R, A)

    @compiled_as(by_rotation)
    def by_factors(E, q, R, A):
        factors = turn(E, q)
        if factors is None:
            return rotated(R, A)
        A = about_z(factors.about_z, A)
        return rotated(factors.B, A) if factors.about_x is None else about_x(factors.about_x, A)

    return by_factors


turned_symmetric = _turning(rotate_symmetric, symmetric_about_z, symmetric_about_x)   # of a Symmetric3
turned_matrix = _turning(rotate_matrix, matrix_about_z, matrix_about_x)               # of a Matrix3


@kernel
def oriented(E: Joint, q: Scalar | Placement, R: Rotation, S: Rotation) -> Rotation:
    """Return R S, with the rotation S of the joint and the parent's rotation R in another frame."""
    return Rotation(turned_back(E, q, S, R.x), turned_back(E, q, S, R.y), turned_back(E, q, S, R.z))


@kernel
def _offset(E, q, p, R, S):
    return R @ p


@compiled_as(_offset)
def offset(E: Joint, q: Scalar | Placement, p: Vec3, R: Rotation, S: Rotation) -> Vec3:
    """Return R p, the vector p from the parent's origin to that of a body, in another frame.

    The orientations of parent and body in that frame are R and S. The part of p along the joint's axis is along that of
    S."""
    factors = turn(E, q)
    shifts = factors and factors.shifts(p)
    return R @ shifts[0] + S @ shifts[1] if shifts else R @ p


@kernel
def _point_acceleration(E, q, C, a, S, own):
    return turned_back(E, q, C.R, a + S @ C.p)


@compiled_as(_point_acceleration)
def point_acceleration(E: Joint, q: Scalar | Placement, C: Pose, a: Vec3, S: Matrix3, own: Matrix3) -> Vec3:
    """Return R^T (a + S p): the acceleration, in the body frame, of the point of the parent at the body's origin.

    a: acceleration of the parent's origin. S = w'~ + w~ w~ of the parent. own: S of the body, which has the same effect
    on vectors along the joint's axis."""
    factors = turn(E, q)
    shifts = factors and factors.shifts(C.p)
    if not shifts:
        return _point_acceleration(E, q, C, a, S, own)
    return turned_back(E, q, C.R, a + S @ shifts[0]) + own @ shifts[1]


@kernel
def composed(E: Joint, q: Scalar | Placement, C: Pose, D: Pose) -> Pose:
    """Return C D, with the pose D of the joint and the parent's pose C in another frame."""
    R = oriented(E, q, C.R, D.R)
    return Pose(R, C.p + offset(E, q, D.p, C.R, R))


@kernel
def _motion_to_child(E, q, C, V):
    return Twist(turned_back(E, q, C.R, V.angular), turned_back(E, q, C.R, V.linear + cross(V.angular, C.p)))


@compiled_as(_motion_to_child)
def motion_to_child(E: Joint, q: Scalar | Placement, C: Pose, V: Twist) -> Twist:
    """Return Ad_C^-1 V: a twist of the parent's frame, in the body frame, with the pose C of the joint."""
    factors = turn(E, q)
    shifts = factors and factors.shifts(C.p)
    if not shifts:
        return _motion_to_child(E, q, C, V)
    (s, c), (sx, cx) = factors.about_z, factors.about_x
    w = about_x((-sx, cx), V.angular)
    v = about_x((-sx, cx), V.linear + cross(V.angular, shifts[0])) + cross(w, shifts[1])
    return Twist(*(Vec3(c * a.x + s * a.y, c * a.y - s * a.x, a.z) for a in (w, v)))


@kernel
def _force_to_parent(E, q, C, W):
    force = turned(E, q, C.R, W.force)
    return Wrench(turned(E, q, C.R, W.torque) + cross(C.p, force), force)


@compiled_as(_force_to_parent)
def force_to_parent(E: Joint, q: Scalar | Placement, C: Pose, W: Wrench) -> Wrench:
    """Return Ad_C^-T W: a wrench of the body frame, in the parent's frame."""
    factors = turn(E, q)
    shifts = factors and factors.shifts(C.p)
    if not shifts:
        return _force_to_parent(E, q, C, W)
    for angle_about, angle, p in zip((about_z, about_x), factors[1:], reversed(shifts), strict=True):
        force = angle_about(angle, W.force)
        W = Wrench(angle_about(angle, W.torque) + cross(p, force), force)
    return W


@kernel
def inertia_to_parent(E: Joint, q: Scalar | Placement, C: Pose, M: Inertia) -> Inertia:
    """Return Ad_C^-T M Ad_C^-1: a rigid inertia of the body frame, in the parent's frame."""
    return shifted(C.p, Inertia(M.mass, turned(E, q, C.R, M.moment), turned_symmetric(E, q, C.R, M.rotational)))


@kernel
def _articulated_to_parent(E, q, C, M):
    in_its_axes = Articulated(turned_symmetric(E, q, C.R, M.A), turned_matrix(E, q, C.R, M.B),
                              turned_symmetric(E, q, C.R, M.D))
    return shifted_articulated(C.p, in_its_axes)


@compiled_as(_articulated_to_parent)
def articulated_to_parent(E: Joint, q: Scalar | Placement, C: Pose, M: Articulated) -> Articulated:
    """Return Ad_C^-T M Ad_C^-1: an articulated inertia of the body frame, in the parent's frame.

    In Denavit and Hartenberg's convention it follows McMillan and Orin (1995): a screw motion along z, then one along
    x."""
    factors = turn(E, q)
    shifts = factors and factors.shifts(C.p)
    if not shifts:
        return _articulated_to_parent(E, q, C, M)
    z, x = factors.about_z, factors.about_x
    turned = Articulated(symmetric_about_z(z, M.A), matrix_about_z(z, M.B), symmetric_about_z(z, M.D))
    A, B, D = shifted_articulated(shifts[1], turned)
    return shifted_articulated(shifts[0], Articulated(symmetric_about_x(x, A), matrix_about_x(x, B),
                                                      symmetric_about_x(x, D)))
