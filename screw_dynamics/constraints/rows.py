"""The rows of constraints between two links, by kinds.

A constraint is a function of D, the pose of the link's joint frame in the other. Its rows are wrenches in the link's
joint frame whose power on the relative twist V, with D' = D V^, is 0 along every motion that keeps it."""
from screw_dynamics.numbers.scalars import nearest, sqrt
from screw_dynamics.numbers.values import kernel, outlined, over, zero
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dexp_inv, dot, log
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from .tables import LENGTH, SUBGROUP, ConstraintTables


@kernel
def axis(R: Rotation, k: int) -> Vec3:
    """Row k of a rotation: an axis of the other frame, in the link's."""
    return R.x if k == 0 else R.y if k == 1 else R.z


@kernel
def about_y(x: Vec3) -> Wrench:
    """The torque y x x."""
    return Wrench(Vec3(x.z, 0.0 * x.y, -x.x), 0.0 * x)


@outlined
def put_residual(given: ConstraintTables, c: int, D: Pose, h: list) -> None:
    """Write the residual of loop c to its rows of h (m).

    Of a subgroup P log(D), of a helical joint by whole turns nearest to 0; of a universal joint, about the x axis of
    the other frame and the y axis of the link's, the distance of the origins and the cosine; the error of a length."""
    kind, first = given.loop.kind[c], given.loop.first[c]
    if kind == SUBGROUP:
        X = log(D)
        for k in range(first, first + given.loop.count[c]):
            P, lead = given.row.P[k], given.row.lead[k]
            h[k] = dot(P, X)
            if lead != 0.0:
                h[k] -= lead * nearest(h[k] / lead)
    elif kind == LENGTH:
        h[first] = sqrt(D.p @ D.p) - given.loop.size[c]
    else:
        h[first], h[first + 1], h[first + 2], h[first + 3] = D.p.x, D.p.y, D.p.z, D.R.x.y


@kernel
def row(given: ConstraintTables, c: int, k: int, D: Pose) -> Wrench:
    """Row k of loop c."""
    kind, like = given.loop.kind[c], D.p.x
    if kind == SUBGROUP:
        return over(given.row.P[given.loop.first[c] + k], like)
    if kind == LENGTH:                                      # the rate of |p| is R^T p / |p| . v
        return Wrench(zero(Vec3, like), (1.0 / sqrt(D.p @ D.p)) * (D.p @ D.R))
    if k < 3:
        return Wrench(zero(Vec3, like), axis(D.R, k))
    return about_y(D.R.x)


@kernel
def row_rate(given: ConstraintTables, c: int, k: int, D: Pose, V: Twist) -> Wrench:
    """The derivative of `row` along V: an axis x of the other frame has x' = x x omega."""
    kind, like = given.loop.kind[c], D.p.x
    if kind == SUBGROUP:
        return zero(Wrench, like)
    if kind == LENGTH:
        per_length = 1.0 / sqrt(D.p @ D.p)
        u = per_length * (D.p @ D.R)
        return Wrench(zero(Vec3, like), cross(u, V.angular) + per_length * (V.linear - (u @ V.linear) * u))
    if k < 3:
        return Wrench(zero(Vec3, like), cross(axis(D.R, k), V.angular))
    return about_y(cross(D.R.x, V.angular))


@outlined
def gradient(given: ConstraintTables, c: int, k: int, D: Pose) -> Wrench:
    """The wrench whose power on V is the rate of the residual of row k: (dexp^-1_-X)^T P of a subgroup, X = log(D).

    With torque and force exchanged, a wrench changes as a twist does: the transpose of dexp^-1_-X is dexp^-1_X."""
    P = row(given, c, k, D)
    if given.loop.kind[c] != SUBGROUP:
        return P
    image = dexp_inv(log(D), Twist(P.force, P.torque))
    return Wrench(image.linear, image.angular)
