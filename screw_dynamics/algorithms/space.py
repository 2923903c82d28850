"""Changes of configurations: coordinates by sums, elements of Lie groups by products with exponentials.

The integrators are Munthe-Kaas methods: within a step the configuration is q exp(u) joint by joint, with u in the Lie
algebra, and u' = dexp_(-u)^-1 v for the velocities v, which are twists in the moving frame; [MT] (83). For coordinates
this is q + u and u' = v."""
import math
from collections.abc import Callable
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled.workspace import links_in, pose_sources_in
from screw_dynamics.jit.numba_internals.compiler import overload, types
from screw_dynamics.model.group_joints import COORDINATE, FREE, INNER, PLANAR, SPHERICAL, group_pose
from screw_dynamics.numbers.dual import direction, dual
from screw_dynamics.numbers.scalars import absolute, nearest, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null, over
from screw_dynamics.screws import se3, so3
from screw_dynamics.screws.se3 import Twist
from screw_dynamics.screws.so3 import stumpff
from screw_dynamics.screws.vectors import Vec3, cross

TURN = 2.0 * math.pi


class Groups(NamedTuple):
    """The joints of a robot by body: their kind, the index of their first number in q, and that of their first
    velocity."""

    kind: Any
    start: Any
    velocity: Any


@kernel
def coordinates_alone(memory: np.ndarray) -> None:
    """Return the space of a robot without Lie-group joints."""
    return None


@kernel
def groups(memory: np.ndarray) -> Groups:
    """Return the space of a robot with Lie-group joints, from its workspace."""
    sources = pose_sources_in(memory)
    return Groups(sources.kind, sources.start, links_in(memory).coordinate)


@kernel
def degrees(kind: int) -> int:
    """Return the number of velocities of a kind of joint."""
    return 6 if kind == FREE else 1 if kind == COORDINATE else 3


# ------------------------------------------------------------------------------------------------- on groups
@kernel
def vector_at(x: list, k: int) -> Vec3:
    """Return three numbers as a vector."""
    return Vec3(x[k], x[k + 1], x[k + 2])


@kernel
def put_vector(x: list, k: int, a: Vec3) -> None:
    """Write a vector as three numbers."""
    x[k], x[k + 1], x[k + 2] = a.x, a.y, a.z


@kernel
def turn(q: list, k: int, w: Vec3, out: list) -> None:
    """Write the unit quaternion x y z w at q[k], times exp(w), at out[k]."""
    c = stumpff(0.25 * (w @ w))
    a, s = vector_at(q, k), q[k + 3]
    b, t = (0.5 * c.c1) * w, 1.0 - 0.25 * (w @ w) * c.c2                # sin and cos of half the angle
    v, r = s * b + t * a + cross(a, b), s * t - a @ b
    unit = 1.0 / sqrt(v @ v + r * r)
    put_vector(out, k, unit * v)
    out[k + 3] = unit * r


@kernel
def turn_between(q: list, to: list, k: int) -> Vec3:
    """Return the rotation vector, of at most pi, from the quaternion x y z w at q[k] to that at to[k], of any
    lengths."""
    a, s, b, t = vector_at(q, k), q[k + 3], vector_at(to, k), to[k + 3]
    return so3.turn_of_quaternion(s * b - t * a - cross(a, b), s * t + a @ b).xi


@kernel
def planar_twist(w: Scalar, x: Scalar, y: Scalar) -> Twist:
    """Return the twist of a motion in the x-y plane."""
    o = null(w)
    return Twist(Vec3(o, o, w), Vec3(x, y, o))


@kernel
def integrate_on_groups(space: Groups, q: list, h: Scalar, u: list, out: list) -> None:
    """Set out (nq) to q exp(h u). It must not be q."""
    for i in range(1, len(space.kind)):
        kind, k, j = space.kind[i], space.start[i], space.velocity[i]
        if kind == COORDINATE:
            out[k] = q[k] + h * u[j]
        elif kind == SPHERICAL:
            turn(q, k, h * vector_at(u, j), out)
        elif kind == FREE:
            w = h * vector_at(u, j)
            slide = group_pose(kind, q, k).R @ so3.dexp(w, h * vector_at(u, j + 3))
            put_vector(out, k, vector_at(q, k) + slide)
            turn(q, k + 3, w, out)
        elif kind == PLANAR:
            X = planar_twist(h * u[j], h * u[j + 1], h * u[j + 2])
            slide = group_pose(kind, q, k).R @ so3.dexp(X.angular, X.linear)
            out[k], out[k + 1], out[k + 2] = q[k] + slide.x, q[k + 1] + slide.y, q[k + 2] + X.angular.z


@kernel
def difference_on_groups(space: Groups, q: list, to: list, out: list) -> None:
    """Set out (n) to u with q exp(u) = to, joint by joint, with angles up to pi."""
    for i in range(1, len(space.kind)):
        kind, k, j = space.kind[i], space.start[i], space.velocity[i]
        if kind == COORDINATE:
            out[j] = to[k] - q[k]
        elif kind == PLANAR:
            R, w = group_pose(kind, q, k).R, to[k + 2] - q[k + 2]
            w = w - TURN * nearest(w / TURN)
            slide = Vec3(to[k] - q[k], to[k + 1] - q[k + 1], null(w)) @ R
            slide = so3.dexp_inv(Vec3(null(w), null(w), w), slide)
            out[j], out[j + 1], out[j + 2] = w, slide.x, slide.y
        elif kind == SPHERICAL:
            put_vector(out, j, turn_between(q, to, k))
        elif kind == FREE:
            w, R = turn_between(q, to, k + 3), group_pose(kind, q, k).R
            put_vector(out, j, w)
            put_vector(out, j + 3, so3.dexp_inv(w, (vector_at(to, k) - vector_at(q, k)) @ R))


@kernel
def displacement_rate_on_groups(space: Groups, u: list, v: list, out: list) -> None:
    """Set out (n) to u' = dexp_(-u)^-1 v, the rate of u for velocities v at q exp(u)."""
    for i in range(1, len(space.kind)):
        kind, j = space.kind[i], space.velocity[i]
        if kind == COORDINATE:
            out[j] = v[j]
        elif kind == SPHERICAL:
            put_vector(out, j, so3.dexp_inv(-vector_at(u, j), vector_at(v, j)))
        elif kind == FREE:
            V = se3.dexp_inv(Twist(-vector_at(u, j), -vector_at(u, j + 3)), Twist(vector_at(v, j), vector_at(v, j + 3)))
            put_vector(out, j, V.angular)
            put_vector(out, j + 3, V.linear)
        elif kind == PLANAR:
            V = se3.dexp_inv(planar_twist(-u[j], -u[j + 1], -u[j + 2]), planar_twist(v[j], v[j + 1], v[j + 2]))
            out[j], out[j + 1], out[j + 2] = V.angular.z, V.linear.x, V.linear.y


@kernel
def in_axes_on_groups(space: Groups, q: list, into: list, v: list, out: list) -> None:
    """Set out (n) to the velocities v of the configuration q, in the axes of joint frames at another configuration.

    For a point that moves straight while its body rotates, the numbers stay the same."""
    for i in range(1, len(space.kind)):
        kind, k, j = space.kind[i], space.start[i], space.velocity[i]
        if kind == COORDINATE:
            out[j] = v[j]
        elif kind == SPHERICAL:
            put_vector(out, j, (group_pose(kind, q, k).R @ vector_at(v, j)) @ group_pose(kind, into, k).R)
        elif kind == FREE:
            R, S = group_pose(kind, q, k).R, group_pose(kind, into, k).R
            put_vector(out, j, (R @ vector_at(v, j)) @ S)
            put_vector(out, j + 3, (R @ vector_at(v, j + 3)) @ S)
        elif kind == PLANAR:
            X = planar_twist(v[j], v[j + 1], v[j + 2])
            slide = (group_pose(kind, q, k).R @ X.linear) @ group_pose(kind, into, k).R
            out[j], out[j + 1], out[j + 2] = v[j], slide.x, slide.y


@kernel
def turned_on_groups(space: Groups, h: Scalar, w: list, v: list, out: list) -> None:
    """Set out (n) to v, rotated by exp(h w) with the rotation in w (n), for joints that both translate and rotate."""
    for i in range(1, len(space.kind)):
        kind, j = space.kind[i], space.velocity[i]
        if kind == COORDINATE:
            out[j] = v[j]
        elif kind == SPHERICAL:
            put_vector(out, j, so3.exp(h * vector_at(w, j)) @ vector_at(v, j))
        elif kind == FREE:
            R = so3.exp(h * vector_at(w, j))
            put_vector(out, j, R @ vector_at(v, j))
            put_vector(out, j + 3, R @ vector_at(v, j + 3))
        elif kind == PLANAR:
            X, Y = planar_twist(w[j], w[j + 1], w[j + 2]), planar_twist(v[j], v[j + 1], v[j + 2])
            slide = so3.exp(h * X.angular) @ Y.linear
            out[j], out[j + 1], out[j + 2] = v[j], slide.x, slide.y


@kernel
def without_turning_on_groups(space: Groups, h: Scalar, begin: list, v: list, out: list) -> None:
    """Set out (n) to velocities v, resolved in the axes at a time h ago, where they were `begin`.

    This is v minus the rates of components due to rotating axes, -h w x v of `begin`. It must be exact, or rotating
    bodies would gain speed."""
    for i in range(1, len(space.kind)):
        kind, j = space.kind[i], space.velocity[i]
        if kind == COORDINATE:
            out[j] = v[j]
        elif kind == SPHERICAL:
            put_vector(out, j, vector_at(v, j))
        elif kind == FREE:
            put_vector(out, j, vector_at(v, j))
            put_vector(out, j + 3, vector_at(v, j + 3) + h * cross(vector_at(begin, j), vector_at(begin, j + 3)))
        elif kind == PLANAR:
            turn = h * begin[j]
            out[j], out[j + 1], out[j + 2] = v[j], v[j + 1] - turn * begin[j + 2], v[j + 2] + turn * begin[j + 1]


@kernel
def straight_on_groups(space: Groups, h: Scalar, v: list, out: list) -> None:
    """Set out (n) to u such that q exp(h u) rotates as by v, and moves its origin straight by h v in the axes of q."""
    for i in range(1, len(space.kind)):
        kind, j = space.kind[i], space.velocity[i]
        if kind == COORDINATE:
            out[j] = v[j]
        elif kind == SPHERICAL:
            put_vector(out, j, vector_at(v, j))
        elif kind == FREE:
            put_vector(out, j, vector_at(v, j))
            put_vector(out, j + 3, so3.dexp_inv(h * vector_at(v, j), vector_at(v, j + 3)))
        elif kind == PLANAR:
            X = planar_twist(v[j], v[j + 1], v[j + 2])
            slide = so3.dexp_inv(h * X.angular, X.linear)
            out[j], out[j + 1], out[j + 2] = v[j], slide.x, slide.y


@kernel
def swapped(w: list, k: int) -> Twist:
    """Return the wrench W at w[k], torque first, as a twist with the parts force and torque.

    For this twist dexp_u^T W becomes dexp_(-u), as ad_u^T W becomes ad_(-u)."""
    return Twist(vector_at(w, k + 3), vector_at(w, k))


@kernel
def swapped_in_plane(w: list, k: int) -> Twist:
    """Return the planar wrench at w[k], torque about z and force in the x-y plane, as `swapped` does."""
    o = null(w[k])
    return Twist(Vec3(w[k + 1], w[k + 2], o), Vec3(o, o, w[k]))


def efforts_on_groups(dexp_of_rotation: Callable, dexp_of_motion: Callable) -> Callable:
    """Return a function that maps efforts or momenta w (n) to dexp_u^T w, or, with the inverses of dexp, to dexp_u^-T
    w."""
    @kernel
    def carry(space: Groups, u: list, w: list, out: list) -> None:
        for i in range(1, len(space.kind)):
            kind, j = space.kind[i], space.velocity[i]
            if kind == COORDINATE:
                out[j] = w[j]
            elif kind == SPHERICAL:
                put_vector(out, j, dexp_of_rotation(-vector_at(u, j), vector_at(w, j)))
            elif kind == FREE:
                W = dexp_of_motion(Twist(-vector_at(u, j), -vector_at(u, j + 3)), swapped(w, j))
                put_vector(out, j, W.linear)
                put_vector(out, j + 3, W.angular)
            elif kind == PLANAR:
                W = dexp_of_motion(planar_twist(-u[j], -u[j + 1], -u[j + 2]), swapped_in_plane(w, j))
                out[j], out[j + 1], out[j + 2] = W.linear.z, W.angular.x, W.angular.y

    return carry


@kernel
def sizes_on_groups(space: Groups, q: list, out: list) -> None:
    """Set out (n) to the magnitude of each velocity's variable: of a coordinate, a position, or 1 for a rotation."""
    for i in range(1, len(space.kind)):
        kind, k, j = space.kind[i], space.start[i], space.velocity[i]
        if kind == COORDINATE:
            out[j] = absolute(q[k])
        elif kind == PLANAR:
            out[j], out[j + 1], out[j + 2] = null(q[k]) + 1.0, absolute(q[k]), absolute(q[k + 1])
        elif kind >= 0:
            for m in range(3):
                out[j + m] = null(q[k]) + 1.0
                if kind == FREE:
                    out[j + 3 + m] = absolute(q[k + m])


@kernel
def place_on_groups(space: Groups, joints: Any, k: int) -> int:
    """Return the index in q of the coordinate of a velocity; -1 for the velocity of a Lie-group joint."""
    return int(joints.place[k])


@kernel
def put_back_on_groups(space: Groups, held: list, q: list, out: list) -> None:
    """Set out (nq) to q for joints whose velocities are all held: `held` (n) > 0."""
    for i in range(1, len(space.kind)):
        kind, k, j = space.kind[i], space.start[i], space.velocity[i]
        if kind != INNER:
            velocities = degrees(kind)
            numbers = 7 if kind == FREE else 4 if kind == SPHERICAL else velocities
            least = held[j]
            for m in range(1, velocities):
                least = where(held[j + m] < least, held[j + m], least)
            for m in range(numbers):
                out[k + m] = where(least > 0.0, q[k + m], out[k + m])


# ------------------------------------------------------------------------------------------------- on coordinates
@kernel
def integrate_coordinates(space: None, q: list, h: Scalar, u: list, out: list) -> None:
    """Set out (n) to q + h u."""
    for k in range(len(q)):
        out[k] = q[k] + h * u[k]


@kernel
def difference_coordinates(space: None, q: list, to: list, out: list) -> None:
    """Set out (n) to to - q."""
    for k in range(len(q)):
        out[k] = to[k] - q[k]


@kernel
def copied(space: None, by: Any, v: list, out: list) -> None:
    """Set out (n) to v, for any motion of the joints: coordinates have one axis."""
    for k in range(len(v)):
        out[k] = v[k]


@kernel
def copied_between(space: None, begin: Any, end: Any, v: list, out: list) -> None:
    """Set out (n) to v, as `copied`."""
    copied(space, begin, v, out)


@kernel
def sizes_of_coordinates(space: None, q: list, out: list) -> None:
    """Set out (n) to the magnitudes of q."""
    for k in range(len(q)):
        out[k] = absolute(q[k])


@kernel
def put_coordinates_back(space: None, held: list, q: list, out: list) -> None:
    """Set out (n) to q where `held` > 0."""
    for k in range(len(q)):
        out[k] = where(held[k] > 0.0, q[k], out[k])


@kernel
def place_of_coordinate(space: None, joints: Any, k: int) -> int:
    """Return the index in q of the coordinate of a velocity."""
    return k


# ------------------------------------------------------------------------------------------------- in either space
def in_either(on_coordinates: Callable, on_groups: Callable) -> Callable:
    """Return a function of a space and other arguments: `on_coordinates` if the space is None, else `on_groups`."""
    names = ", ".join(signature(on_groups).parameters)
    scope = {"on_coordinates": on_coordinates, "on_groups": on_groups, "types": types}
    either = eval(f"lambda {names}: (on_coordinates if space is None else on_groups)({names})", scope)
    for which in ("on_coordinates", "on_groups"):
        scope[f"compiled_{which}"] = eval(f"lambda {names}: {which}({names})", scope)
    overload(either)(eval(
        f"lambda {names}: compiled_on_coordinates if isinstance(space, types.NoneType) else compiled_on_groups", scope))
    return either


integrate = in_either(integrate_coordinates, integrate_on_groups)          # out (nq) = q exp(h u); out is not q
difference = in_either(difference_coordinates, difference_on_groups)       # out (n) = u with q exp(u) = to
displacement_rate = in_either(copied, displacement_rate_on_groups)         # out (n) = u' = dexp_(-u)^-1 v
dexp_transpose = in_either(copied, efforts_on_groups(so3.dexp, se3.dexp))  # out (n) = dexp_u^T w
# out (n) = dexp_u^-T w
dexp_inv_transpose = in_either(copied, efforts_on_groups(so3.dexp_inv, se3.dexp_inv))
in_axes = in_either(copied_between, in_axes_on_groups)  # out (n) = v at q, in the axes of another configuration
turned = in_either(copied_between, turned_on_groups)    # out (n) = v, rotated by exp(h w)
without_turning = in_either(copied_between, without_turning_on_groups)  # out (n) = v, in the axes at the start
straight = in_either(copied, straight_on_groups)        # out (n) = u, q exp(h u) being straight by h v
sizes = in_either(sizes_of_coordinates, sizes_on_groups)                 # out (n) = magnitudes of variables
put_back = in_either(put_coordinates_back, put_back_on_groups)           # out (nq) = q where joints are held
place_in_q = in_either(place_of_coordinate, place_on_groups)             # index in q of a velocity's coordinate, or -1


@kernel
def vary(space: Any, like: Any, q: np.ndarray, qd: np.ndarray, first: int, here: list, u: list, x: list,
         v: list) -> None:
    """Set x (nq) and v (n) to dual numbers, of the type of `like`, of a varying state q, qd.

    It varies in the directions beginning at `first`: along the n joint twists, and by the n velocities after them.
    here, u: memory."""
    n = len(qd)
    for k in range(len(q)):
        here[k] = over(q[k], like)
    for k in range(n):
        u[k], v[k] = dual(0.0, direction(k - first)), dual(qd[k], direction(n + k - first))
    integrate(space, here, 1.0, u, x)
