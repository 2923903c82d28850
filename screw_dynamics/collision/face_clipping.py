"""Face clipping: the contact of a face of a convex shape with the opposing feature of another: a point, a segment, a
polygon or a disc. The two outlines are projected onto each other. Of the corners of their intersection those farthest
along eight directions of the face are kept, with a fixed row for each direction, and the deepest one."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import extract, insert
from screw_dynamics.numbers.scalars import absolute, sqrt
from screw_dynamics.numbers.values import Scalar, kernel, noinline
from screw_dynamics.screws.vectors import Vec3, cross

from .colliders import FAR, Touch
from .convex import NONE, Convex, axis_of, disc_towards, edge_of, face_of, farthest, local_vertex, vertex
from .writing import direction, replaced, vector_at

# The rows of points: the single point of edges, corners and points; two of segments; eight of polygons and discs; and
# their deepest point if it is none of these.
ONE, ENDS, AROUND, DEEPEST = 0, 1, 3, 11
POINTS = 12
WAYS = 8
# Eight directions, rotated by 7.45 degrees: none is perpendicular to a typical side of a face, which avoids ties of
# corners.
_COS = 0.9915618937147881, 0.609474957692211, -0.12963414261969486, -0.7928053203315916
_SIN = 0.12963414261969486, 0.7928053203315916, 0.9915618937147881, 0.609474957692211
ON_EDGE = 1e-10         # relative to the shapes' size: tolerance of points at edges
STANDS = 0.7            # cosine: a disc tilted by more lies on a line of its cylinder
FACES = 1e-3            # least cosine of the angle between opposing faces
UPRIGHT = 1e-9          # sine: a disc tilted by less has no lowest point


class Outline(NamedTuple):
    """The outline of a face: `count` corners of a shape from index `first` of `data` on, shifted by `shift`; without
    corners a disc of this radius. An outward normal and a point of its plane, the disc's center."""

    first: int
    count: int
    shift: Vec3
    n: Vec3
    origin: Vec3
    radius: Scalar


class Meeting(NamedTuple):
    """The points found above a face: least gap, sum and number."""

    least: Scalar
    sum: Vec3
    count: int


class Face(NamedTuple):
    """The plane of a face: outward normal, a point, two axes in it; and the tolerance outside its outline."""

    up: Vec3
    origin: Vec3
    x: Vec3
    y: Vec3
    near: Scalar


@kernel
def corner(data: np.ndarray, X: Convex, of: Outline, j: int) -> Vec3:
    """Return corner j, modulo the number of corners."""
    return vertex(data, X, int(data[of.first + (j if j < of.count else j - of.count)])) + of.shift


@kernel
def face_outline(data: np.ndarray, X: Convex, i: int) -> Outline:
    """Return the outline of face i."""
    face = face_of(data, X, i)
    none = Vec3(0.0, 0.0, 0.0)
    origin = vertex(data, X, int(data[face.first])) if face.count > 0 else vertex(data, X, farthest(data, X, face.n))
    return Outline(face.first, face.count, none, face.n, origin, X.disc)


@kernel
def outline_towards(data: np.ndarray, X: Convex, n: Vec3, near: Scalar) -> Outline:
    """Return the outline of a shape in direction n: the face around the farthest vertex with the most parallel normal;
    the line of a lying cylinder; for a shape without faces, all corners."""
    none = Vec3(0.0, 0.0, 0.0)
    if X.faces == 0:
        return Outline(X.of_corners, X.vertices, none, n, none, 0.0)
    if X.disc > 0.0:
        along = n @ axis_of(X)
        if absolute(along) < STANDS:
            return Outline(X.of_corners, X.vertices, disc_towards(X, n), n, none, 0.0)
        return face_outline(data, X, 1 if along > 0.0 else 0)
    m = n @ X.C.R
    highest = m @ local_vertex(data, X, farthest(data, X, n)) - near
    turned, best = NONE, -2.0
    for i in range(X.edges):
        edge = edge_of(data, X, i)
        if m @ local_vertex(data, X, edge.start) >= highest or m @ local_vertex(data, X, edge.end) >= highest:
            for side in range(2):
                f = edge.left if side == 0 else edge.right
                against = face_of(data, X, f).n @ n
                if against > best + 1e-9:
                    turned, best = f, against
    return face_outline(data, X, turned)


@kernel
def rim(of: Outline, way: Vec3) -> Vec3:
    """Return the rim point of a disc in a direction."""
    _, out = direction(way - (way @ of.n) * of.n, way)
    return of.origin + of.radius * out


@kernel
def way(plane: Face, j: int) -> Vec3:
    """Return direction j of the eight directions in a plane."""
    k = j & 3
    c = _COS[0] if k == 0 else _COS[1] if k == 1 else _COS[2] if k == 2 else _COS[3]
    s = _SIN[0] if k == 0 else _SIN[1] if k == 1 else _SIN[2] if k == 2 else _SIN[3]
    return (c if j < 4 else -c) * plane.x + (s if j < 4 else -s) * plane.y


# ------------------------------------------------------------------------------------------------- clipping
@kernel
def beyond(over: Scalar, side: Vec3, near: Scalar) -> bool:
    """Return True if a point is outside a side by more than `near`. over: its distance times the side's length."""
    return over > 0.0 and over * over > near * near * (side @ side)


@noinline
def clip(data: np.ndarray, Y: Convex, of: Outline, along: Vec3, a: Vec3, b: Vec3, near: float) -> tuple[float, float]:
    """Return the part [low, high] of a segment a + t (b - a) above an outline, projected along `along`."""
    low, high = 0.0, 1.0
    if of.count == 0:
        d, e = b - a, a - of.origin
        d, e = d - (d @ of.n) * of.n, e - (e @ of.n) * of.n
        radius = of.radius + near
        dd, de, ee = d @ d, d @ e, e @ e - radius * radius
        if dd <= near * near:
            return (0.0, 1.0) if ee <= 0.0 else (1.0, 0.0)
        root = de * de - dd * ee
        if root <= 0.0:
            return 1.0, 0.0
        root = sqrt(root)
        return max(low, (-de - root) / dd), min(high, (-de + root) / dd)
    start = corner(data, Y, of, 0)
    for j in range(of.count):
        end = corner(data, Y, of, j + 1)
        side = cross(end - start, along)
        of_a, of_b = side @ (a - start), side @ (b - start)
        far_a, far_b = beyond(of_a, side, near), beyond(of_b, side, near)
        if far_a and far_b:
            return 1.0, 0.0
        if far_a:
            low = max(low, of_a / (of_a - of_b))
        elif far_b:
            high = min(high, of_a / (of_a - of_b))
        start = end
    return low, high


@noinline
def is_above(data: np.ndarray, Y: Convex, of: Outline, along: Vec3, x: Vec3, near: float) -> bool:
    """Return True if a point is above an outline, projected along `along`, within `near` outside it, or inside by -near
    if negative."""
    if of.count == 0:
        e = x - of.origin
        e = e - (e @ of.n) * of.n
        radius = of.radius + near
        return e @ e <= radius * radius
    start = corner(data, Y, of, 0)
    for j in range(of.count):
        end = corner(data, Y, of, j + 1)
        side = cross(end - start, along)
        over = side @ (x - start)
        if (beyond(over, side, near) if near > 0.0 else not beyond(-over, side, near)):
            return False
        start = end
    return True


# ------------------------------------------------------------------------------------------------- recorded points
@kernel
def put(touch: Touch, row: int, k: int, x: Vec3, gap: Scalar) -> None:
    """Record a point on lane k of a row: its gap, and its position in the frame of the shapes."""
    touch.gap[row] = insert(touch.gap[row], k, gap)
    touch.p[row] = replaced(touch.p[row], k, x)


@noinline
def offer(touch: Touch, row: int, k: int, plane: Face, x: Vec3, met: Meeting) -> Meeting:
    """Record a point x above a face if it is the farthest in some direction so far, or the deepest."""
    gap = plane.up @ (x - plane.origin)
    for j in range(WAYS):
        at = row + AROUND + j
        if extract(touch.gap[at], k) >= FAR or way(plane, j) @ (x - vector_at(touch.p[at], k)) > 0.0:
            put(touch, at, k, x, gap)
    if gap < met.least:
        put(touch, row + DEEPEST, k, x, gap)
    return Meeting(min(gap, met.least), met.sum + x, met.count + 1)


@kernel
def offer_end(touch: Touch, row: int, k: int, plane: Face, x: Vec3, met: Meeting) -> Meeting:
    """Record a point of a segment, or the only point, in its own row."""
    gap = plane.up @ (x - plane.origin)
    put(touch, row, k, x, gap)
    return Meeting(min(gap, met.least), met.sum + x, met.count + 1)


@kernel
def remove_duplicates(touch: Touch, row: int, k: int, least: Scalar, near: Scalar) -> None:
    """Remove duplicates of points that are farthest in several directions, and the deepest point if another point is as
    deep."""
    around = FAR
    for j in range(WAYS):
        at = row + AROUND + j
        gap = extract(touch.gap[at], k)
        around = min(around, gap)
        if gap < FAR:
            x = vector_at(touch.p[at], k)
            for i in range(j):
                d = vector_at(touch.p[row + AROUND + i], k) - x
                if extract(touch.gap[row + AROUND + i], k) < FAR and d @ d <= near * near:
                    touch.gap[at] = insert(touch.gap[at], k, FAR)
    if around <= least + near:
        touch.gap[row + DEEPEST] = insert(touch.gap[row + DEEPEST], k, FAR)


# ------------------------------------------------------------------------------------------------- pairs of outlines
@noinline
def meet_polygon(touch: Touch, row: int, k: int, data: np.ndarray, P: Convex, Y: Outline, Q: Convex, X: Outline,
                 plane: Face) -> Meeting:
    """Record the points of a polygon or a segment above a face: its corners, clipping points of its sides, and the
    face's corners below it."""
    met = Meeting(FAR, Vec3(0.0, 0.0, 0.0), 0)
    polygon = X.count > 2
    start = corner(data, Q, X, 0)
    for j in range(X.count if polygon else 1):
        end = corner(data, Q, X, j + 1)
        low, high = clip(data, P, Y, plane.up, start, end, plane.near)
        if low < high:
            x = end if high == 1.0 else start + high * (end - start)
            if polygon:
                if low > 0.0:
                    met = offer(touch, row, k, plane, start + low * (end - start), met)
                met = offer(touch, row, k, plane, x, met)
            else:
                met = offer_end(touch, row + ENDS, k, plane, start + low * (end - start), met)
                met = offer_end(touch, row + ENDS + 1, k, plane, x, met)
        start = end
    slope = X.n @ plane.up
    if polygon and slope < -FACES:
        for j in range(WAYS if Y.count == 0 else Y.count):
            y = rim(Y, way(plane, j)) if Y.count == 0 else corner(data, P, Y, j)
            if is_above(data, Q, X, -1.0 * plane.up, y, -plane.near):
                met = offer(touch, row, k, plane, y + ((X.n @ (start - y)) / slope) * plane.up, met)
    return met


@noinline
def meet_disc(touch: Touch, row: int, k: int, data: np.ndarray, P: Convex, Y: Outline, Q: Convex, X: Outline,
              plane: Face) -> Meeting:
    """Record the contact points of a disc above a face: points of its rim, and intersections of the rim with the edges
    of the face."""
    met = Meeting(FAR, Vec3(0.0, 0.0, 0.0), 0)
    for j in range(WAYS):
        x = rim(X, way(plane, j))
        if is_above(data, P, Y, plane.up, x, plane.near):
            met = offer(touch, row, k, plane, x, met)
    m, lowest = plane.up @ Q.C.R, X.origin + disc_towards(Q, -1.0 * plane.up)
    if m.x * m.x + m.y * m.y > UPRIGHT * UPRIGHT and is_above(data, P, Y, plane.up, lowest, plane.near):
        met = offer(touch, row, k, plane, lowest, met)
    if Y.count == 0:
        between = Y.origin - X.origin
        distance, out = direction(between - (between @ X.n) * X.n, plane.x)
        if distance > plane.near and distance < X.radius + Y.radius:
            for j in range(WAYS):
                y = rim(Y, way(plane, j))
                if is_above(data, P, X, plane.up, y, plane.near):
                    met = offer(touch, row, k, plane, y - ((y - X.origin) @ X.n) * X.n, met)
            along = 0.5 * (distance + (X.radius * X.radius - Y.radius * Y.radius) / distance)
            across = X.radius * X.radius - along * along
            if across > 0.0:
                aside = sqrt(across) * cross(X.n, out)
                met = offer(touch, row, k, plane, X.origin + along * out + aside, met)
                met = offer(touch, row, k, plane, X.origin + along * out - aside, met)
        return met
    start = corner(data, P, Y, 0)
    for j in range(Y.count):
        end = corner(data, P, Y, j + 1)
        low, high = clip(data, P, X, X.n, start, end, 0.0)
        if low < high:
            for side in range(2):
                t = low if side == 0 else high
                y = end if t == 1.0 else start + t * (end - start)
                met = offer(touch, row, k, plane, y - ((y - X.origin) @ X.n) * X.n, met)
        start = end
    return met


@kernel
def meet(touch: Touch, row: int, k: int, data: np.ndarray, P: Convex, face: int, Q: Convex, size: Scalar) -> Any:
    """Record the points of Q above a face of P on lane k. Return the Meeting."""
    Y = face_outline(data, P, face)
    near = ON_EDGE * size
    X = outline_towards(data, Q, -1.0 * Y.n, near)
    x = Vec3(P.C.R.x.x, P.C.R.y.x, P.C.R.z.x)
    if Y.count > 0:
        side = corner(data, P, Y, 1) - corner(data, P, Y, 0)
        x = (1.0 / sqrt(side @ side)) * side
    plane = Face(Y.n, Y.origin, x, cross(Y.n, x), near)
    met = Meeting(FAR, Vec3(0.0, 0.0, 0.0), 0)
    if X.count == 1:
        only = corner(data, Q, X, 0)
        if is_above(data, P, Y, plane.up, only, near):
            met = offer_end(touch, row + ONE, k, plane, only, met)
        return met
    if X.count == 2:
        return meet_polygon(touch, row, k, data, P, Y, Q, X, plane)
    met = meet_disc(touch, row, k, data, P, Y, Q, X, plane) if X.count == 0 else meet_polygon(
        touch, row, k, data, P, Y, Q, X, plane)
    remove_duplicates(touch, row, k, met.least, near)
    return met
