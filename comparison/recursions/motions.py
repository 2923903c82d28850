"""Accelerations and jerks of bodies: first and second time derivatives of their twists, in each representation, and by
accelerations of points.

  body-fixed [MD] (66), (108); spatial (69), (70); hybrid (72), (75); and what they leave open for the others

The results are those of the bodies' own frames, as seen from the frame of the root. Gravity does not enter."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.algorithms.jacobian import put_twist
from screw_dynamics.compiled.algorithm import per_body_twist
from screw_dynamics.numbers.values import Scalar, compiled_as, kernel, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import composed, motion_to_child, offset, oriented, turn, turned_back
from screw_dynamics.screws.se3 import Ad, Ad_inv, Pose, Twist, ad, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from . import entry


class Body(NamedTuple):
    """What the recursions in the body hold of each body: joint coordinate and its derivatives; twist, of which V.linear
    may be left out, and its derivatives."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    qddd: Scalar
    V: Twist
    Vd: Twist
    Vdd: Twist


class PlacedBody(NamedTuple):
    """The same, and the pose in the world."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    qddd: Scalar
    V: Twist
    Vd: Twist
    Vdd: Twist
    C: Pose


class OrientedBody(NamedTuple):
    """The same, and the orientation in the world."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    qddd: Scalar
    V: Twist
    Vd: Twist
    Vdd: Twist
    R: Rotation


@kernel
def unplaced(body: Body) -> None:
    """Nothing to fill in slot 0."""


@kernel
def placed(body: PlacedBody) -> None:
    """Fill slot 0 with the pose of the world."""
    body.C[0] = identity(body.q[0])


@kernel
def oriented_as_the_world(body: OrientedBody) -> None:
    """Fill slot 0 with the orientation of the world."""
    body.R[0] = identity(body.q[0]).R


# ------------------------------------------------------------------------------------------------- twists
def body_fixed(order: int) -> Callable:
    """(A Y)' = A Y' - [X q', A Y] for A = Ad_C^-1 and any twist Y of the parent."""
    @kernel
    def move(links, body, i):
        p, X, E, q, qd, qdd, qddd = (links.parent[i], links.X[i], links.E[i], body.q[i], body.qd[i], body.qdd[i],
                                     body.qddd[i])
        C = pose(E, q)
        K, Kd = qd * X, qdd * X
        A, Ad1 = motion_to_child(E, q, C, body.V[p]), motion_to_child(E, q, C, body.Vd[p])
        body.V[i] = A + K                                                               # (66b)
        step = Ad1 - ad(K, A)
        body.Vd[i] = step + Kd                                                          # (66c)
        if order > 1:
            Ad2 = motion_to_child(E, q, C, body.Vdd[p])
            body.Vdd[i] = Ad2 - ad(K, Ad1 + step) - ad(Kd, A) + qddd * X
    return move


def spatial(order: int) -> Callable:
    """The screw J of a joint is fixed to its parent: J' = [V_p, J]."""
    @kernel
    def move(links, body, i):
        p, X, E, q, qd, qdd, qddd = (links.parent[i], links.X[i], links.E[i], body.q[i], body.qd[i], body.qdd[i],
                                     body.qddd[i])
        body.C[i] = composed(E, q, body.C[p], pose(E, q))                               # (70a)
        J = Ad(body.C[i], X)                                                            # (70b)
        Jd = ad(body.V[p], J)
        body.V[i] = body.V[p] + qd * J                                                  # (70c)
        body.Vd[i] = body.Vd[p] + qdd * J + qd * Jd                                     # (70d)
        if order > 1:
            Jdd = ad(body.Vd[p], J) + ad(body.V[p], Jd)
            body.Vdd[i] = body.Vdd[p] + qddd * J + (2.0 * qdd) * Jd + qd * Jdd
    return move


# ------------------------------------------------------------------------------------------------- points
class Rates(NamedTuple):
    """The first three time derivatives of a vector."""

    first: Vec3
    second: Vec3
    third: Vec3


def fixed(order: int) -> Callable:
    """The function for the Rates, up to one more than this order, of a vector r fixed to a body with angular velocity w
    and its derivatives."""
    @kernel
    def rates(w, wd, wdd, r):
        first = cross(w, r)
        second = cross(wd, r) + cross(w, first)
        third = second
        if order > 1:
            third = cross(wdd, r) + 2.0 * cross(wd, first) + cross(w, second)
        return Rates(first, second, third)
    return rates


def relative(order: int) -> Callable:
    """The function for what a joint of screw J adds to the angular velocity of the parent, to its derivatives and to
    those of the velocity of the child's origin; w: the parent's angular velocity, all on the same axes.

    The angular part of J is fixed to both bodies, the linear one to the child."""
    @kernel
    def rates(J, qd, qdd, qddd, w, wd):
        K, Kd = qd * J, qdd * J
        turn, own = cross(w, K.angular), w + K.angular
        Vd = Kd + Twist(turn, cross(w + own, K.linear))
        Vdd = Vd
        if order > 1:
            slide = Kd.linear + cross(own, K.linear)
            third = (cross(3.0 * wd + Vd.angular, K.linear) + cross(w, cross(w, K.linear)) + cross(w + own, slide)
                     + cross(own, Kd.linear))
            Vdd = qddd * J + Twist(cross(w, 2.0 * Kd.angular + turn) + cross(wd, K.angular), third)
        return K.angular, Vd, Vdd
    return rates


def hybrid(order: int) -> Callable:
    """Rotations and translations resolved in the world; (72), (75d)."""
    of_fixed, of_joint = fixed(order), relative(order)

    @kernel
    def move(links, body, i):
        p, X, E, q, o = links.parent[i], links.X[i], links.E[i], body.q[i], zero(Vec3, body.q[0])
        C, R = pose(E, q), body.R[p]
        body.R[i] = oriented(E, q, R, C.R)                                              # (75a)
        r = offset(E, q, C.p, R, body.R[i])
        J = Twist(body.R[i] @ X.angular, body.R[i] @ X.linear)                          # (75b)
        w, wd, wdd = body.V[p].angular, body.Vd[p].angular, body.Vdd[p].angular
        arm = of_fixed(w, wd, wdd, r)
        turn, Vd, Vdd = of_joint(J, body.qd[i], body.qdd[i], body.qddd[i], w, wd)
        body.V[i] = Twist(w + turn, o)
        body.Vd[i] = body.Vd[p] + Vd + Twist(o, arm.second)
        if order > 1:
            body.Vdd[i] = body.Vdd[p] + Vdd + Twist(o, arm.third)
    return move


def mixed(order: int) -> Callable:
    """Rotations resolved in the body, translations in the world."""
    of_fixed, of_joint = fixed(order), relative(order)

    @kernel
    def move(links, body, i):
        p, X, E, q, o = links.parent[i], links.X[i], links.E[i], body.q[i], zero(Vec3, body.q[0])
        C, R = pose(E, q), body.R[p]
        body.R[i] = oriented(E, q, R, C.R)
        w, wd, wdd = body.V[p].angular, body.Vd[p].angular, body.Vdd[p].angular
        arm = of_fixed(w, wd, wdd, C.p)
        wp, wpd = turned_back(E, q, C.R, w), turned_back(E, q, C.R, wd)
        turn, Vd, Vdd = of_joint(X, body.qd[i], body.qdd[i], body.qddd[i], wp, wpd)
        body.V[i] = Twist(wp + turn, o)
        a = body.Vd[p].linear + R @ arm.second + body.R[i] @ Vd.linear
        body.Vd[i] = Twist(wpd + Vd.angular, a)
        if order > 1:
            jerk = body.Vdd[p].linear + R @ arm.third + body.R[i] @ Vdd.linear
            body.Vdd[i] = Twist(turned_back(E, q, C.R, wdd) + Vdd.angular, jerk)
    return move


def points(order: int) -> Callable:
    """The function for second and third derivatives, in the frame of a body, of the vector to the point of its parent
    in which its origin is: from those of the vector to the parent's origin, in the parent's frame, and the parent's
    rates of rotation (w, w', w'') in both frames."""
    of_fixed = fixed(order)

    @kernel
    def at_once(E, q, C, second, third, rates, own):
        w, wd, wdd = rates
        arm = of_fixed(w, wd, wdd, C.p)
        second = turned_back(E, q, C.R, second + arm.second)
        return second, (turned_back(E, q, C.R, third + arm.third) if order > 1 else second)

    @compiled_as(at_once)
    def by_factors(E, q, C, second, third, rates, own):
        factors = turn(E, q)
        shifts = factors and factors.shifts(C.p)
        if not shifts or order > 1:                         # two arms have more third derivatives than that saves
            return at_once(E, q, C, second, third, rates, own)
        arm, along = of_fixed(*rates, shifts[0]), of_fixed(*own, shifts[1])
        return turned_back(E, q, C.R, second + arm.second) + along.second, third
    return by_factors


def classical(order: int) -> Callable:
    """Rotations and translations of points resolved in the body; Luh, Walker and Paul (1980)."""
    of_points, of_joint = points(order), relative(order)

    @kernel
    def move(links, body, i):
        p, X, E, q, o = links.parent[i], links.X[i], links.E[i], body.q[i], zero(Vec3, body.q[0])
        C, Vdp, Vddp = pose(E, q), body.Vd[p], body.Vdd[p]
        w, wd, wdd = body.V[p].angular, Vdp.angular, Vddp.angular
        wp, wpd = turned_back(E, q, C.R, w), turned_back(E, q, C.R, wd)
        wpdd = turned_back(E, q, C.R, wdd) if order > 1 else wdd
        second, third = of_points(E, q, C, Vdp.linear, Vddp.linear, (w, wd, wdd), (wp, wpd, wpdd))
        turn, Vd, Vdd = of_joint(X, body.qd[i], body.qdd[i], body.qddd[i], wp, wpd)
        body.V[i] = Twist(wp + turn, o)
        body.Vd[i] = Twist(wpd, second) + Vd
        if order > 1:
            body.Vdd[i] = Twist(wpdd, third) + Vdd
    return move


# ------------------------------------------------------------------------------------------------- as seen
def seen_body_fixed(order: int) -> Callable:
    """The derivative of the twist of the body's own frame."""
    @kernel
    def seen(frames, target, body, i):
        return Ad_inv(frames.C[i], body.Vdd[i] if order > 1 else body.Vd[i])
    return seen


def seen_spatial(order: int) -> Callable:
    """The derivative of the twist about and in the frame of the root."""
    @kernel
    def seen(frames, target, body, i):
        return Ad_inv(frames.C[target.reference], body.Vdd[i] if order > 1 else body.Vd[i])
    return seen


def seen_points(in_body: bool, linear_in_body: bool) -> Callable:
    """The function of the order for the derivatives of the origin of the body's own frame; which parts of what the
    recursion holds are resolved in the body."""
    def of_order(order):
        of_fixed = fixed(order)

        @kernel
        def seen(frames, target, body, i):
            D, Q = frames.C[i], frames.C[target.reference].R
            V = body.Vdd[i] if order > 1 else body.Vd[i]
            d = D.p if in_body else body.R[i] @ D.p
            rates = of_fixed(body.V[i].angular, body.Vd[i].angular, body.Vdd[i].angular, d)
            arm = rates.third if order > 1 else rates.second
            if linear_in_body:
                return Twist(V.angular @ D.R, (V.linear + arm) @ D.R)
            if in_body:
                wdd = V.angular
                if order > 1:                               # the derivative of components in the body
                    wdd = wdd - cross(body.V[i].angular, body.Vd[i].angular)
                return Twist(wdd @ D.R, (V.linear + body.R[i] @ arm) @ Q)
            return Twist(V.angular @ Q, (V.linear + arm) @ Q)
        return seen
    return of_order


# ------------------------------------------------------------------------------------------------- entry points
def recursion(order: int, start: Callable, move: Callable, seen: Callable, all_bodies: bool) -> Callable:
    """The algorithm for the derivative of this order, of all bodies or of the last one of a chain, of six numbers."""
    @kernel
    def derivatives(links, body, frames, target, out):
        n, still = len(links.parent) - 1, zero(Twist, body.q[0])
        start(body)
        body.V[0], body.Vd[0], body.Vdd[0] = still, still, still
        for i in range(1, n + 1):
            if order == 1:
                body.Vdd[i] = still                                                 # is passed on, and not used
            move(links, body, i)
            if all_bodies:
                put_twist(out[i - 1], seen(frames, target, body, i))
        if not all_bodies:
            put_twist(out, seen(frames, target, body, n))
    return derivatives


_FORMS = {"body": (Body, unplaced, body_fixed, seen_body_fixed), "spatial": (PlacedBody, placed, spatial, seen_spatial),
          "hybrid": (OrientedBody, oriented_as_the_world, hybrid, seen_points(False, False)),
          "mixed": (OrientedBody, oriented_as_the_world, mixed, seen_points(True, False)),
          "classical": (Body, unplaced, classical, seen_points(True, True))}
_INPUTS = {1: "q qd qdd", 2: "q qd qdd qddd"}
_NAMES = {1: "accelerations", 2: "jerks"}


def _entries(order, all_bodies):
    shape = per_body_twist if all_bodies else kernel(lambda n, b: (6,))
    return {name: entry(recursion(order, start, move(order), seen(order), all_bodies), Table, _INPUTS[order], shape,
                        f"{_NAMES[order]}.{name}{'' if all_bodies else '.last'}", targeted=True)
            for name, (Table, start, move, seen) in _FORMS.items()}


ACCELERATIONS_IN, JERKS_IN = _entries(1, True), _entries(2, True)
LAST_ACCELERATION_IN, LAST_JERK_IN = _entries(1, False), _entries(2, False)
