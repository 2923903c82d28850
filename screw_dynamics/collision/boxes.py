"""Box-box collision by separating axes. For a face axis, the face of the other box that is most parallel is clipped by
the reference face; corners and clipping points have fixed numbers. Otherwise there is one point.

Axes: faces of the first box, then of the second, then edge-edge axes. A later axis is used only if it separates by
more: the reference face of resting boxes does not change. For separated boxes whose nearest points are on no common
axis, all features are compared (Ericson, Real-time collision detection, 2005, chapters 4 and 5)."""
from typing import NamedTuple

from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.scalars import absolute, sqrt
from screw_dynamics.numbers.values import Scalar, kernel, noinline
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from .colliders import FAR, Geometry, Touch
from .segments import Segment, crossing, point
from .spheres import from_box
from .writing import box_corner, column, component, pose_at, write_far, write_place

PARALLEL = 1e-6         # sine of the angle between edges without a common normal
FACES_FIRST, EDGES_LAST = 1e-10, 1e-9       # relative to the boxes' size: required advantage of a later axis
ON_EDGE = 1e-10         # relative to the boxes' size: tolerance of corners at the other's edges
# The rows of points: corners of the incident face, entry and exit points of its edges at the reference face, corners of
# the reference face, and the single point of edges or corners.
CORNERS, ENTRIES, EXITS, OTHERS, ONE = 0, 4, 8, 12, 16
BOX_POINTS = 17


class Axis(NamedTuple):
    """The axis of largest separation: the gap; the number of the axis, 0 to 2 of the first box, 3 to 5 of the second,
    then 3 i + j of edges; the unit normal from the second to the first, in world axes."""

    gap: float
    number: int
    n: Vec3


@kernel
def reach(h: Vec3, R: Rotation, n: Vec3) -> float:
    """Return the extent of a box from its center along n."""
    m = n @ R
    return absolute(m.x) * h.x + absolute(m.y) * h.y + absolute(m.z) * h.z


@kernel
def most_separating(A: Pose, g: Vec3, B: Pose, h: Vec3, margin: float) -> Axis:
    """Return the axis of largest separation among the 15 axes of two boxes.

    Edge-edge axes are omitted if a face separates by more than the margin."""
    d = A.p - B.p
    size = g.x + g.y + g.z + h.x + h.y + h.z
    best = Axis(-FAR, 0, Vec3(0.0, 0.0, 1.0))
    for i in range(3):
        a = column(A.R, i)
        at = d @ a
        gap = absolute(at) - component(g, i) - reach(h, B.R, a)
        if gap > best.gap + FACES_FIRST * size:
            best = Axis(gap, i, a if at >= 0.0 else -1.0 * a)
    for i in range(3):
        b = column(B.R, i)
        at = d @ b
        gap = absolute(at) - component(h, i) - reach(g, A.R, b)
        if gap > best.gap + FACES_FIRST * size:
            best = Axis(gap, 3 + i, b if at >= 0.0 else -1.0 * b)
    if best.gap >= margin:
        return best
    face = best.gap + EDGES_LAST * size
    for i in range(3):
        for j in range(3):
            w = cross(column(A.R, i), column(B.R, j))
            ww = w @ w
            if ww > PARALLEL * PARALLEL:
                w = (1.0 / sqrt(ww)) * w
                at = d @ w
                gap = absolute(at) - reach(g, A.R, w) - reach(h, B.R, w)
                if gap > face and gap > best.gap:
                    best = Axis(gap, 6 + 3 * i + j, w if at >= 0.0 else -1.0 * w)
    return best


@kernel
def write_face(touch: Touch, row: int, k: int, P: Pose, h: Vec3, i: int, Q: Pose, g: Vec3, up: Vec3,
               first: bool) -> float:
    """Write the points of box Q above the face of box P with axis i and outward normal `up`. first: True if P is the
    first of the pair. Return the least gap."""
    turned, against = 0, -1.0
    for j in range(3):
        if absolute(up @ column(Q.R, j)) > against:
            turned, against = j, absolute(up @ column(Q.R, j))
    i1, i2, j1, j2 = (i + 1) % 3, (i + 2) % 3, (turned + 1) % 3, (turned + 2) % 3
    x, y = column(P.R, i1), column(P.R, i2)
    u, v, w = component(g, j1) * column(Q.R, j1), component(g, j2) * column(Q.R, j2), column(Q.R, turned)
    side = -component(g, turned) if up @ w > 0.0 else component(g, turned)
    center = Q.p + side * w
    d = center - P.p
    n = -1.0 * up if first else up
    limits = Vec3(component(h, i1), component(h, i2), component(h, i))
    middle = Vec3(d @ x, d @ y, d @ up - limits.z)
    along_u, along_v = Vec3(u @ x, u @ y, u @ up), Vec3(v @ x, v @ y, v @ up)
    near = ON_EDGE * (limits.x + limits.y)
    least = FAR
    for j in range(4):          # edges of Q's face, from corner j to the next, counter-clockwise
        p, q = corner(j), corner((j + 1) & 3)
        a = middle + p.x * along_u + p.y * along_v
        b = middle + q.x * along_u + q.y * along_v
        low, high = clip(a.x, b.x, limits.x, near, 0.0, 1.0)
        low, high = clip(a.y, b.y, limits.y, near, low, high)
        if low < high:
            start, end = center + p.x * u + p.y * v, center + q.x * u + q.y * v
            if low > 0.0:
                gap = a.z + low * (b.z - a.z)
                least = min(least, gap)
                write_point(touch, row + ENTRIES + j, k, start + low * (end - start), gap, n, first)
            gap = b.z if high == 1.0 else a.z + high * (b.z - a.z)
            least = min(least, gap)
            at = row + (CORNERS + ((j + 1) & 3) if high == 1.0 else EXITS + j)
            write_point(touch, at, k, end if high == 1.0 else start + high * (end - start), gap, n, first)
    area = along_u.x * along_v.y - along_u.y * along_v.x
    if absolute(area) > near * near:
        for j in range(4):      # corners of P's face inside Q's
            p = corner(j)
            a, b = p.x * limits.x - middle.x, p.y * limits.y - middle.y
            s, t = (a * along_v.y - b * along_v.x) / area, (b * along_u.x - a * along_u.y) / area
            if absolute(s) < 1.0 - ON_EDGE and absolute(t) < 1.0 - ON_EDGE:
                gap = middle.z + s * along_u.z + t * along_v.z
                least = min(least, gap)
                write_point(touch, row + OTHERS + j, k, center + s * u + t * v, gap, n, first)
    return least


@kernel
def corner(j: int) -> Vec3:
    """Return the signs of corner j of a face, counter-clockwise."""
    return Vec3(1.0 if j == 0 or j == 3 else -1.0, 1.0 if j < 2 else -1.0, 0.0)


@kernel
def clip(a: float, b: float, limit: float, near: float, low: float, high: float) -> tuple[float, float]:
    """Return the part of [low, high] in which a + t (b - a) is within +-limit, with tolerance `near`."""
    for k in range(2):
        over_a, over_b = (a - limit, b - limit) if k else (-a - limit, -b - limit)
        if over_a > near and over_b > near:
            low, high = 1.0, 0.0
        elif over_a > near:
            low = max(low, over_a / (over_a - over_b))
        elif over_b > near:
            high = min(high, over_a / (over_a - over_b))
    return low, high


@kernel
def write_point(touch: Touch, row: int, k: int, x: Vec3, gap: float, n: Vec3, first: bool) -> None:
    """Write a point x of Q above a face of the first or second box."""
    write_place(touch, row, k, x + gap * n if first else x, gap, n)


@kernel
def edge_towards(C: Pose, h: Vec3, i: int, n: Vec3) -> Segment:
    """Return the edge along axis i that is farthest along n."""
    m = n @ C.R
    middle = Vec3(0.0 if i == 0 else h.x if m.x > 0.0 else -h.x, 0.0 if i == 1 else h.y if m.y > 0.0 else -h.y,
                  0.0 if i == 2 else h.z if m.z > 0.0 else -h.z)
    return Segment(C @ middle, column(C.R, i), component(h, i))


@kernel
def write_edges(touch: Touch, row: int, k: int, A: Pose, g: Vec3, B: Pose, h: Vec3, axis: Axis) -> bool:
    """Write the crossing point of two edges, for an edge-edge axis. Return True if they cross."""
    first = edge_towards(A, g, (axis.number - 6) // 3, -1.0 * axis.n)
    second = edge_towards(B, h, (axis.number - 6) % 3, axis.n)
    at, crosses = crossing(first, second)
    if crosses:
        write_place(touch, row + ONE, k, point(first, at.s), axis.gap, axis.n)
    return crosses


@kernel
def box_edge(j: int, C: Pose, h: Vec3) -> Segment:
    """Return edge j of the 12 edges of a box."""
    i, signs = j >> 2, j & 3
    a, b = 1.0 if signs & 1 else -1.0, 1.0 if signs & 2 else -1.0
    middle = Vec3(0.0 if i == 0 else a * h.x, 0.0 if i == 1 else (b if i == 2 else a) * h.y, 0.0 if i == 2 else b * h.z)
    return Segment(C @ middle, column(C.R, i), component(h, i))


@noinline
def write_nearest(touch: Touch, row: int, k: int, A: Pose, g: Vec3, B: Pose, h: Vec3) -> None:
    """Write the nearest points of separated boxes, from all corners and edges."""
    best, on_first, n = FAR, A.p, Vec3(0.0, 0.0, 1.0)
    for j in range(8):
        x = A @ box_corner(j, g)
        distance, normal = from_box((x - B.p) @ B.R, h)
        if distance < best:
            best, on_first, n = distance, x, B.R @ normal
    for j in range(8):
        x = B @ box_corner(j, h)
        distance, normal = from_box((x - A.p) @ A.R, g)
        if distance < best:
            n = -1.0 * (A.R @ normal)
            best, on_first = distance, x + distance * n
    for i in range(12):
        first = box_edge(i, A, g)
        for j in range(12):
            second = box_edge(j, B, h)
            at, crosses = crossing(first, second)
            if crosses:
                x = point(first, at.s)
                d = x - point(second, at.t)
                distance = sqrt(d @ d)
                if 0.0 < distance < best:
                    best, on_first, n = distance, x, (1.0 / distance) * d
    write_place(touch, row + ONE, k, on_first, best, n)


@kernel
def write_boxes(touch: Touch, row: int, k: int, A: Pose, g: Vec3, B: Pose, h: Vec3, margin: float) -> None:
    """Write the touches of two boxes on lane k."""
    axis = most_separating(A, g, B, h, margin)
    if axis.gap >= margin:
        return
    if axis.number < 6:
        first = axis.number < 3
        least = write_face(touch, row, k, A if first else B, g if first else h, axis.number % 3, B if first else A,
                           h if first else g, -1.0 * axis.n if first else axis.n, first)
        found = least <= axis.gap + ON_EDGE * (g.x + g.y + g.z)
    else:
        found = write_edges(touch, row, k, A, g, B, h, axis)
    if not found and axis.gap > 0.0:
        write_nearest(touch, row, k, A, g, B, h)


@kernel
def box_box(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of two boxes: the points of a face, or one point."""
    g, h, like = given.collider.size[a], given.collider.size[b], given.place.C[a].p.x
    for j in range(BOX_POINTS):
        write_far(touch, row + j, like)
    for k in range(lane_count(like)):
        write_boxes(touch, row, k, pose_at(given.place.C[a], k), g, pose_at(given.place.C[b], k), h, margin)
