"""The rows of constraints between two links, by kind.

A constraint is a function of D, the pose of the link's joint frame in the other joint frame. Its rows are wrenches in
the link's joint frame without power on the relative twist V, with D' = D V^, of any motion that satisfies the
constraint. model/constraints.py names the kind of each constraint."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.numbers.scalars import nearest, sqrt
from screw_dynamics.numbers.values import kernel, noinline, over, zero
from screw_dynamics.screws import so3
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dexp_inv, dot, log
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from .tables import ConstraintTables


class Kind(NamedTuple):
    """A kind of rows: their number, or 0 for the number of rows P of the constraint, and kernels. residual(given, c, D,
    h) writes the residuals of loop c to its rows of h (m). row(given, c, k, D) is row k; rate(given, c, k, D, V) is its
    derivative along V. gradient(given, c, D, W), for a sum W of multiples of rows, is the wrench whose power on V is
    the rate of the same sum of multiples of residuals."""

    count: int
    residual: Callable
    row: Callable
    rate: Callable
    gradient: Callable


# ------------------------------------------------------------------------------------------------- subgroups
@kernel
def logarithm(given: ConstraintTables, c: int, D: Pose, h: list) -> None:
    """Write P log(D); for a helical joint modulo whole turns, closest to 0."""
    X, first = log(D), given.loop.first[c]
    for k in range(first, first + given.loop.count[c]):
        P, lead = given.row.P[k], given.row.lead[k]
        h[k] = dot(P, X)
        if lead != 0.0:
            h[k] -= lead * nearest(h[k] / lead)


@kernel
def constant(given: ConstraintTables, c: int, k: int, D: Pose) -> Wrench:
    """Return row k of P."""
    return over(given.row.P[given.loop.first[c] + k], D.p.x)


@kernel
def no_rate(given: ConstraintTables, c: int, k: int, D: Pose, V: Twist) -> Wrench:
    """Return the rate of a constant row, which is 0."""
    return zero(Wrench, D.p.x)


@kernel
def of_logarithm(given: ConstraintTables, c: int, D: Pose, W: Wrench) -> Wrench:
    """Return (dexp^-1_-X)^T W, X = log(D).

    With torque and force exchanged, a wrench transforms as a twist does: the transpose of dexp^-1_-X is dexp^-1_X. The
    logarithm is that of so3.turn, which is differentiable also at zero rotation."""
    xi = so3.turn(D.R).xi
    image = dexp_inv(Twist(xi, so3.dexp_inv(xi, D.p)), Twist(W.force, W.torque))
    return Wrench(image.linear, image.angular)


@kernel
def of_rows(given: ConstraintTables, c: int, D: Pose, W: Wrench) -> Wrench:
    """Return W, for kinds whose rows are rates of residuals."""
    return W


# ------------------------------------------------------------------------------------------------- universal joints
@kernel
def axis(R: Rotation, k: int) -> Vec3:
    """Return row k of a rotation: an axis of the other frame, in the link's frame."""
    return R.x if k == 0 else R.y if k == 1 else R.z


@kernel
def about_y(x: Vec3) -> Wrench:
    """Return the torque y x x."""
    return Wrench(Vec3(x.z, 0.0 * x.y, -x.x), 0.0 * x)


@kernel
def origins_and_cosine(given: ConstraintTables, c: int, D: Pose, h: list) -> None:
    """Write the distance of the origins, and the cosine of the angle between the x axis of the other frame and the y
    axis of the link's frame, the two axes of the joint."""
    first = given.loop.first[c]
    h[first], h[first + 1], h[first + 2], h[first + 3] = D.p.x, D.p.y, D.p.z, D.R.x.y


@kernel
def forces_and_torque(given: ConstraintTables, c: int, k: int, D: Pose) -> Wrench:
    """Return forces along the axes of the other frame, and the torque about the normal of both joint axes."""
    return about_y(D.R.x) if k == 3 else Wrench(zero(Vec3, D.p.x), axis(D.R, k))


@kernel
def turning(given: ConstraintTables, c: int, k: int, D: Pose, V: Twist) -> Wrench:
    """Return the derivative of `forces_and_torque` along V: an axis x of the other frame changes by x x omega."""
    if k == 3:
        return about_y(cross(D.R.x, V.angular))
    return Wrench(zero(Vec3, D.p.x), cross(axis(D.R, k), V.angular))


# ------------------------------------------------------------------------------------------------- lengths
@kernel
def error_of_length(given: ConstraintTables, c: int, D: Pose, h: list) -> None:
    """Write |p| less the length."""
    h[given.loop.first[c]] = sqrt(D.p @ D.p) - given.loop.size[c]


@kernel
def along(given: ConstraintTables, c: int, k: int, D: Pose) -> Wrench:
    """Return the row of a length: the rate of |p| is R^T p / |p| . v."""
    return Wrench(zero(Vec3, D.p.x), (1.0 / sqrt(D.p @ D.p)) * (D.p @ D.R))


@kernel
def along_rate(given: ConstraintTables, c: int, k: int, D: Pose, V: Twist) -> Wrench:
    """Return the derivative of `along`: u = R^T p / |p| has u' = u x omega + (v - u u . v) / |p|."""
    per_length = 1.0 / sqrt(D.p @ D.p)
    u = per_length * (D.p @ D.R)
    return Wrench(zero(Vec3, D.p.x), cross(u, V.angular) + per_length * (V.linear - (u @ V.linear) * u))


KINDS = {
    "subgroup": Kind(0, logarithm, constant, no_rate, of_logarithm),
    "universal": Kind(4, origins_and_cosine, forces_and_torque, turning, of_rows),
    "length": Kind(1, error_of_length, along, along_rate, of_rows),
}
NUMBERS = {name: number for number, name in enumerate(KINDS)}       # of kinds, in tables


def by_kind(kernels: list[Callable]) -> Callable:
    """Return the kernel (given, c, *arguments) that calls the kernel of the kind of loop c."""
    *others, last = kernels
    if not others:
        return last
    rest, number = by_kind(others), len(others)

    @kernel
    def choose(given, c, *arguments):
        if given.loop.kind[c] == number:
            return last(given, c, *arguments)
        return rest(given, c, *arguments)
    return choose


put_residual = noinline(by_kind([kind.residual for kind in KINDS.values()]))
row = by_kind([kind.row for kind in KINDS.values()])
row_rate = by_kind([kind.rate for kind in KINDS.values()])
gradient_of = noinline(by_kind([kind.gradient for kind in KINDS.values()]))         # of sums of multiples of rows


@kernel
def gradient(given: ConstraintTables, c: int, k: int, D: Pose) -> Wrench:
    """Return the wrench whose power on V is the rate of residual k of loop c."""
    return gradient_of(given, c, D, row(given, c, k, D))
