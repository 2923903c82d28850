"""Capsule-capsule and capsule-box collision: contacts at both ends of the overlap, and at the crossing point."""
from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.scalars import absolute, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3, cross

from .colliders import FAR, Geometry, Touch
from .segments import Segment, beside, crossing, point
from .spheres import from_box
from .writing import axis_x, axis_z, clamped, component, direction, pose_at, unit, write_far, write_place, write_spheres

CAPSULE_POINTS = 3
ALONG = 1e-6            # fraction of a distance by which its direction may differ from a face normal
SHALLOW = 1e-12         # m: an axis closer to a box counts as inside


@kernel
def capsule_capsule(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write up to three touches: the two ends of the overlap, and the crossing; along x of the second where the axes
    meet at an end."""
    A, B, p, q = given.place.C[a], given.place.C[b], given.collider.size[a], given.collider.size[b]
    first, second = Segment(A.p, axis_z(A.R), null(A.p.x) + p.z), Segment(B.p, axis_z(B.R), null(A.p.x) + q.z)
    lower, upper, same = beside(first, second)
    cross_at, crosses = crossing(first, second)
    _, normal = direction(cross(first.u, second.u), axis_x(B.R))
    write_spheres(touch, row, point(first, lower.s), p.x, point(second, lower.t), q.x, axis_x(B.R))
    write_spheres(touch, row + 1, point(first, upper.s), p.x, point(second, upper.t), q.x, axis_x(B.R))
    write_spheres(touch, row + 2, point(first, cross_at.s), p.x, point(second, cross_at.t), q.x, normal)
    touch.gap[row + 1] = where(same, null(A.p.x) + FAR, touch.gap[row + 1])
    touch.gap[row + 2] = where(crosses, touch.gap[row + 2], null(A.p.x) + FAR)


# ------------------------------------------------------------------------------------------------- capsule and box
@kernel
def slope(x: Vec3, u: Vec3, h: Vec3) -> float:
    """Return half the derivative along u of the squared distance of x from a box; it is monotonic."""
    return ((x.x - clamped(x.x, h.x)) * u.x + (x.y - clamped(x.y, h.y)) * u.y + (x.z - clamped(x.z, h.z)) * u.z)


@kernel
def nearest_to_box(of: Segment, h: Vec3) -> float:
    """Return the parameter of the segment's point nearest to a box, in the box's frame. The slope is linear between
    crossings of the face planes."""
    low, high = -of.half, of.half
    at_low, at_high = slope(point(of, low), of.u, h), slope(point(of, high), of.u, h)
    if at_low >= 0.0:
        return low
    if at_high <= 0.0:
        return high
    for i in range(3):
        c, u, limit = component(of.c, i), component(of.u, i), component(h, i)
        if u != 0.0:
            for k in range(2):
                s = ((limit if k else -limit) - c) / u
                if low < s < high:
                    there = slope(point(of, s), of.u, h)
                    if there == 0.0:
                        return s
                    if there < 0.0:
                        low, at_low = s, there
                    else:
                        high, at_high = s, there
    return low + (high - low) * at_low / (at_low - at_high)


@kernel
def write_along_face(touch: Touch, row: int, k: int, B: Pose, h: Vec3, of: Segment, r: float, i: int,
                     side: float) -> None:
    """Write the ends of the part of a segment above the box face of axis i; side: 1 or -1."""
    low, high = -of.half, of.half
    for j in range(3):
        c, u, limit = component(of.c, j), component(of.u, j), component(h, j)
        if j != i and absolute(u) * of.half > SHALLOW:
            p, q = (-limit - c) / u, (limit - c) / u
            low, high = max(low, min(p, q)), min(high, max(p, q))
    normal = unit(i, side)
    n = B.R @ normal
    for end in range(2):
        x = point(of, low if end == 0 else high)
        if end == 0 or high > low:
            write_place(touch, row + end, k, B @ (x - r * normal), side * component(x, i) - component(h, i) - r, n)


@kernel
def write_along_edge(touch: Touch, row: int, k: int, B: Pose, h: Vec3, of: Segment, r: float, corner: Vec3,
                     i: int) -> None:
    """Write the ends of the overlap, and the crossing, of a segment and the box edge along axis i through a corner."""
    half = component(h, i)
    edge = Segment(corner - unit(i, component(corner, i)), unit(i, 1.0), half)
    lower, upper, same = beside(of, edge)
    at, crosses = crossing(of, edge)
    for j in range(3):
        near = lower if j == 0 else upper if j == 1 else at
        x = point(of, near.s)
        distance, normal = direction(x - point(edge, near.t), unit(i, 1.0))
        nearest = distance <= from_box(x, h)[0] + SHALLOW        # else another part of the box is closer
        if nearest and (crosses if j == 2 else j == 0 or not same):
            write_place(touch, row + j, k, B @ (x - r * normal), distance - r, B.R @ normal)


@kernel
def out_of_box(of: Segment, h: Vec3) -> tuple[int, float, float]:
    """Return the box face with the least exit depth for a segment inside: axis, side, depth."""
    axis, side, best = 0, 1.0, -FAR
    for i in range(3):
        c, reach, limit = component(of.c, i), absolute(component(of.u, i)) * of.half, component(h, i)
        if absolute(c) - reach - limit > best + SHALLOW:
            axis, side, best = i, -1.0 if c < 0.0 else 1.0, absolute(c) - reach - limit
    return axis, side, best


@kernel
def over_edge(of: Segment, h: Vec3) -> tuple[int, Vec3, float]:
    """Return the edge direction with the least exit depth for a segment inside: axis, unit vector, depth."""
    axis, normal, best = 0, Vec3(0.0, 0.0, 1.0), -FAR
    for i in range(3):
        length, w = direction(cross(of.u, unit(i, 1.0)), unit(i, 1.0))
        if length > ALONG:
            at = of.c @ w
            depth = absolute(at) - absolute(w.x) * h.x - absolute(w.y) * h.y - absolute(w.z) * h.z
            if depth > best:
                axis, best = i, depth
                normal = -1.0 * w if at < 0.0 else 1.0 * w
    return axis, normal, best


@kernel
def write_capsule_on_box(touch: Touch, row: int, k: int, B: Pose, h: Vec3, of: Segment, r: float) -> None:
    """Write the touches of a capsule and a box on lane k, for a segment in the box's frame."""
    x = point(of, nearest_to_box(of, h))
    y = Vec3(clamped(x.x, h.x), clamped(x.y, h.y), clamped(x.z, h.z))
    e = x - y
    distance = sqrt(e @ e)
    if distance <= SHALLOW:
        i, side, depth = out_of_box(of, h)
        j, normal, across = over_edge(of, h)
        if across > depth + SHALLOW:
            edge = Segment(Vec3(0.0 if j == 0 else h.x if normal.x > 0.0 else -h.x,
                                0.0 if j == 1 else h.y if normal.y > 0.0 else -h.y,
                                0.0 if j == 2 else h.z if normal.z > 0.0 else -h.z), unit(j, 1.0), component(h, j))
            at, crosses = crossing(of, edge)
            if crosses:
                x = point(of, at.s)
                write_place(touch, row + 2, k, B @ (x - r * normal), across - r, B.R @ normal)
                return
        write_along_face(touch, row, k, B, h, of, r, i, side)
        return
    face, edge, count = 0, 0, 0
    for i in range(3):
        if absolute(component(e, i)) > ALONG * distance:
            face, count = i, count + 1
        else:
            edge = i
    if count == 1:
        write_along_face(touch, row, k, B, h, of, r, face, -1.0 if component(e, face) < 0.0 else 1.0)
        return
    if count == 3:              # nearest to a corner: take the edge most parallel to the segment
        for i in range(3):
            if absolute(component(of.u, i)) > absolute(component(of.u, edge)):
                edge = i
    corner = Vec3(-h.x if x.x < 0.0 else h.x, -h.y if x.y < 0.0 else h.y, -h.z if x.z < 0.0 else h.z)
    write_along_edge(touch, row, k, B, h, of, r, corner, edge)


@kernel
def capsule_box(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a capsule and a box: on a face, the ends of the segment above it; on an edge or a corner, as
    for two capsules."""
    size, h, like = given.collider.size[a], given.collider.size[b], given.place.C[a].p.x
    for j in range(CAPSULE_POINTS):
        write_far(touch, row + j, like)
    for k in range(lane_count(like)):
        A, B = pose_at(given.place.C[a], k), pose_at(given.place.C[b], k)
        write_capsule_on_box(touch, row, k, B, h, Segment((A.p - B.p) @ B.R, axis_z(A.R) @ B.R, size.z), size.x)
