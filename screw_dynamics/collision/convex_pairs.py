"""Collision of convex shapes: polyhedra (hulls and boxes), cylinders, capsules and spheres.

The reference face is that of largest separation. If the other shape's features above it are as close as this
separation, the contact is a face contact, clipped to the overlap. Else it is an edge-edge crossing, or, for separated
or round shapes, the nearest points along the direction of largest separation. Parallel edges, axes or lines have two
points."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import extract, insert, lane_count
from screw_dynamics.numbers.scalars import absolute, sqrt
from screw_dynamics.numbers.values import Scalar, kernel, noinline
from screw_dynamics.screws.se3 import Pose, identity, inverse
from screw_dynamics.screws.vectors import Vec3, cross

from .colliders import FAR, Touch
from .convex import NONE, Convex, axis_of, convex, disc_towards, edge_of, face_of, farthest, separation, towards, vertex
from .face_clipping import ENDS, ON_EDGE, ONE, POINTS, meet, put
from .gjk import Direction, farthest_apart
from .segments import Segment, beside, crossing, point
from .separating import Axis, by_edges, by_faces
from .writing import pose_at, vector_at, write_far, write_place

NEAR = 1e-4             # relative to the shapes' size: smaller gaps, or overlap, require a search of crossing edges
ALIKE = 0.05            # sine of the angle up to which edges count as parallel, and a normal as perpendicular to them
TRIES = 4               # vertices tried as the nearest one to the line of a cylinder


class Line(NamedTuple):
    """An edge, an axis or a generator line of a cylinder, perpendicular to a normal. there: False if the shape has
    none."""

    there: bool
    of: Segment


@kernel
def segment(data: np.ndarray, X: Convex, i: int) -> Segment:
    """Return edge i as a Segment."""
    edge = edge_of(data, X, i)
    a, b = vertex(data, X, edge.start), vertex(data, X, edge.end)
    d = b - a
    length = sqrt(d @ d)
    return Segment(0.5 * (a + b), (1.0 / length) * d, 0.5 * length)


@kernel
def line_towards(data: np.ndarray, X: Convex, n: Vec3) -> Line:
    """Return the edge whose lower end is farthest along n."""
    best, at = -FAR, NONE
    for i in range(X.edges):
        edge = edge_of(data, X, i)
        height = min(n @ vertex(data, X, edge.start), n @ vertex(data, X, edge.end))
        if height > best:
            best, at = height, i
    if at == NONE:
        return Line(False, Segment(X.C.p, n, 0.0))
    of = segment(data, X, at)
    return Line(absolute(of.u @ n) < ALIKE, Segment(of.c + disc_towards(X, n), of.u, of.half))


@kernel
def write_along(touch: Touch, row: int, k: int, data: np.ndarray, A: Convex, B: Convex, best: Direction,
                near: Scalar) -> None:
    """Record the nearest point of the first shape on lane k, or the two points of parallel edges or lines."""
    first, least = line_towards(data, A, -1.0 * best.n), FAR
    if first.there:
        second = line_towards(data, B, best.n)
        w = cross(first.of.u, second.of.u)
        if second.there and w @ w < ALIKE * ALIKE:
            lower, upper, once = beside(first.of, second.of)
            for j in range(1 if once else 2):
                s, t = (lower.s, lower.t) if j == 0 else (upper.s, upper.t)
                x = point(first.of, s)
                gap = best.n @ (x - point(second.of, t))
                put(touch, row + ENDS + j, k, x, gap)
                least = min(least, gap)
    if least > best.gap + near:
        put(touch, row + ONE, k, best.a, best.gap)


@kernel
def crossing_edges(data: np.ndarray, A: Convex, B: Convex, axis: Axis) -> tuple[bool, Vec3]:
    """Return True if the two edges of an edge-edge axis cross, and the nearest point on the first edge."""
    first, second = segment(data, A, axis.edge), segment(data, B, axis.other)
    at, crosses = crossing(first, second)
    return crosses, point(first, at.s) + disc_towards(A, -1.0 * axis.n)


@kernel
def off_line(data: np.ndarray, A: Convex, B: Convex, best: Direction, of_first: bool,
             near: Scalar) -> tuple[bool, Direction]:
    """Return True if the cylinder's line in the returned direction reaches the other shape's nearest point, and this
    direction: from the axis of a cylinder, the first or the second shape, to the nearest vertex of the other. The
    direction `best` is kept unless the new one is at least as good."""
    for _ in range(TRIES):
        X, Y, turn = (A, B, -1.0) if of_first else (B, A, 1.0)
        arm = vertex(data, Y, farthest(data, Y, -turn * best.n)) - X.C.p
        _, out, length = from_axis(X, arm)
        if length <= near:
            return False, best
        n = (turn / length) * out
        gap = separation(data, A, B, n)
        if gap < best.gap - near:
            return False, best
        at = towards(data, Y, -turn * n)
        along, out, length = from_axis(X, at - X.C.p)
        ends = vertex(data, X, 1) - vertex(data, X, 0)
        reaches = absolute(along) <= 0.5 * sqrt(ends @ ends) + near and turn * (n @ out) >= length - near
        better = gap > best.gap + near
        best = Direction(n, gap, at + gap * n if of_first else at)
        if reaches or not better:
            return reaches, best
    return False, best


@kernel
def from_axis(X: Convex, arm: Vec3) -> tuple[Scalar, Vec3, Scalar]:
    """Return the component of a vector along the axis of a cylinder, the perpendicular part, and its length."""
    u = axis_of(X)
    along = arm @ u
    out = arm - along * u
    return along, out, sqrt(out @ out)


@kernel
def round_direction(data: np.ndarray, A: Convex, B: Convex, n: Vec3, gap: Scalar, size: Scalar) -> Direction:
    """Return the direction of largest separation of shapes, at least one of which has a disc."""
    best = Direction(n, gap, towards(data, A, -1.0 * n))
    for again in range(2):
        for side in range(2):
            if (A if side == 0 else B).disc > 0.0:
                reaches, best = off_line(data, A, B, best, side == 0, ON_EDGE * size)
                if reaches:
                    return best
        if again == 0:
            best = farthest_apart(data, A, B, best.n, size)
    return best


@kernel
def clear(touch: Touch, row: int, points: int, k: int) -> None:
    """Clear the recorded points on lane k."""
    for j in range(points):
        touch.gap[row + j] = insert(touch.gap[row + j], k, FAR)


@noinline
def note(touch: Touch, row: int, points: int, k: int, data: np.ndarray, A: Convex, B: Convex, size: float,
         margin: float) -> tuple[Vec3, bool]:
    """Record the contact points of shapes, without their balls, on lane k. Return the normal from the second to the
    first, and True if the points are on the first shape."""
    axis, near = by_faces(data, A, B, size, margin), ON_EDGE * size
    if axis.gap >= margin:
        return axis.n, True
    above_second = axis.of_first == NONE
    x, y, least = towards(data, A, -1.0 * axis.n), towards(data, B, axis.n), FAR
    if not above_second or axis.of_second != NONE:
        P, Q, face = (B, A, axis.of_second) if above_second else (A, B, axis.of_first)
        met = meet(touch, row, k, data, P, face, Q, size)
        least = met.least
        if met.count > 0:
            above, of = (1.0 / met.count) * met.sum, face_of(data, P, face)
            below = above - (of.n @ above - of.height) * of.n
            x, y = (above, below) if above_second else (below, above)
    found = least <= axis.gap + near
    best = Direction(axis.n, axis.gap, x)
    if axis.gap < NEAR * size and not (found and axis.gap >= 0.0):
        across = by_edges(data, A, B, axis, size, x, y)
        if across.edge != NONE:
            crosses, a = crossing_edges(data, A, B, across)
            found = False
            best = Direction(across.n, across.gap, a if crosses else towards(data, A, -1.0 * across.n))
            if crosses:
                clear(touch, row, points, k)
                write_along(touch, row, k, data, A, B, best, near)
                return best.n, True
    is_round = A.disc > 0.0 or B.disc > 0.0
    if found and not (is_round and axis.gap < -NEAR * size):
        return axis.n, above_second
    if is_round:
        best = round_direction(data, A, B, best.n, best.gap, size)
        if found and best.gap <= axis.gap + near:
            return axis.n, above_second
    elif best.gap > 0.0:
        best = farthest_apart(data, A, B, best.n, size)
    elif least < FAR:
        return axis.n, above_second
    clear(touch, row, points, k)
    write_along(touch, row, k, data, A, B, best, near)
    return best.n, True


@kernel
def write_noted(touch: Touch, row: int, points: int, k: int, B: Pose, n: Vec3, of_first: bool, ball: Scalar,
                balls: Scalar) -> None:
    """Write the recorded points on lane k, in the frame of the second shape, as touches in the world."""
    normal = B.R @ n
    for j in range(row, row + points):
        gap = extract(touch.gap[j], k)
        if gap < FAR:
            x = B @ vector_at(touch.p[j], k)
            on_first = x if of_first else x + gap * normal
            write_place(touch, j, k, on_first - ball * normal, gap - balls, normal)


def touching(points: int) -> Callable:
    """Return the kernel (given, a, b, touch, row, margin) of convex shapes with this number of points."""
    def write(given, a, b, touch, row, margin):
        like, data = given.place.C[a].p.x, given.data
        for j in range(points):
            write_far(touch, row + j, like)
        for k in range(lane_count(like)):
            A, B = pose_at(given.place.C[a], k), pose_at(given.place.C[b], k)
            first, second = convex(given, a, inverse(B) @ A), convex(given, b, identity(0.0))
            balls, size = first.ball + second.ball, given.collider.radius[a] + given.collider.radius[b]
            n, of_first = note(touch, row, points, k, data, first, second, size, margin + balls)
            write_noted(touch, row, points, k, B, n, of_first, first.ball, balls)
    return kernel(write)


# A sphere has one point; a capsule two along its line, and the crossing point.
SPHERE_POINTS, CAPSULE_POINTS, CONVEX_POINTS = 1, 3, POINTS
sphere_convex, capsule_convex, convex_convex = map(touching, (SPHERE_POINTS, CAPSULE_POINTS, CONVEX_POINTS))
