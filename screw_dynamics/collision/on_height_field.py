"""Shapes on a height field. Balls touch the nearest faces, ridges and peaks. Other shapes touch by their corners, each
above the triangle below it, and by peaks and ridge corners of the field below the shape.

One state at a time: each lane is above other triangles. Contacts of edges across ridges, between the corners of these,
are neglected."""
from collections.abc import Callable

from screw_dynamics.numbers.dual import value_of
from screw_dynamics.numbers.lanes import extract, lane_count
from screw_dynamics.numbers.scalars import floor, sqrt
from screw_dynamics.numbers.values import Scalar, kernel, noinline
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3, cross

from .colliders import FAR, Geometry, Touch
from .on_plane import lowest_direction
from .polyhedra import BEFORE_FACES, FACE
from .segments import Segment, point
from .spheres import from_box, from_cylinder
from .writing import axis_z, box_corner, clamped, direction, pose_at, vector_at, write_far, write_place

BALL, PEAKS = 4, 4  # largest number of touches of a ball, and of peaks under a shape; the nearest ones are kept
FLAT = 1e-9                     # sine of the angle between triangles without a ridge
SAME = 1e-9                     # touches whose normals and points (m) differ by less are merged
UPWARDS = 0.1                   # least z component of the normal of a supporting peak


@kernel
def vertex(given: Geometry, b: int, i: int, j: int) -> Vec3:
    """Return the vertex in row i and column j, in the frame of the field."""
    collider = given.collider
    size, rows, columns = collider.size[b], collider.count[b], collider.columns[b]
    return Vec3(size.x * (j / (columns - 1.0) - 0.5), size.y * (i / (rows - 1.0) - 0.5),
                given.data[collider.first[b] + i * columns + j])


@kernel
def cell(x: float, size: float, count: int) -> int:
    """Return the index of the cell that contains x, clipped to the count - 1 cells of a centered line of this size."""
    at = floor((value_of(x) / size + 0.5) * (count - 1.0))
    return int(max(0.0, min(at, count - 2.0)))


@kernel
def below(given: Geometry, b: int, x: Vec3) -> tuple[bool, float, Vec3]:
    """Return for the triangle above or below a point x in the field's frame: True if it exists, the distance of x from
    its plane, and its upward normal."""
    collider = given.collider
    size = collider.size[b]
    i, j = cell(x.y, size.y, collider.count[b]), cell(x.x, size.x, collider.columns[b])
    low, high = vertex(given, b, i, j), vertex(given, b, i + 1, j + 1)
    right = (x.x - low.x) * (high.y - low.y) >= (x.y - low.y) * (high.x - low.x)
    third = vertex(given, b, i if right else i + 1, j + 1 if right else j)
    w = cross(third - low, high - low) if right else cross(high - low, third - low)
    n = (1.0 / sqrt(w @ w)) * w
    there = -0.5 * size.x <= x.x <= 0.5 * size.x and -0.5 * size.y <= x.y <= 0.5 * size.y
    return there, n @ (x - low), n


@kernel
def write_probe(given: Geometry, b: int, touch: Touch, row: int, k: int, B: Pose, x: Vec3) -> None:
    """Write the height of a corner x, in the field's frame, above the triangle below it, on lane k."""
    there, gap, n = below(given, b, x)
    if there:
        write_place(touch, row, k, B @ x, gap, B.R @ n)


@kernel
def offer(touch: Touch, first: int, most: int, count: int, k: int, on_first: Vec3, gap: float, n: Vec3) -> int:
    """Write another touch on lane k, replacing the farthest if there are `most` touches. A duplicate, with equal point
    and normal, is omitted. Return the number of touches."""
    row, p = first + count, on_first - (0.5 * gap) * n
    farthest = first
    for i in range(first, first + count):
        m, d = vector_at(touch.n[i], k) - n, vector_at(touch.p[i], k) - p
        if m @ m < SAME * SAME and d @ d < SAME * SAME:
            return count
        if extract(touch.gap[i], k) > extract(touch.gap[farthest], k):
            farthest = i
    if count < most:
        write_place(touch, row, k, on_first, gap, n)
        return count + 1
    if gap < extract(touch.gap[farthest], k):
        write_place(touch, farthest, k, on_first, gap, n)
    return count


@kernel
def window(x: float, reach: float, size: float, count: int) -> tuple[int, int]:
    """Return the range among `count` vertices of a line whose cells are within reach of x."""
    x = value_of(x)
    reach = min(reach, 2.0 * (size + abs(x)))
    return cell(x - reach, size, count), cell(x + reach, size, count) + 1


# ------------------------------------------------------------------------------------------------- balls
@kernel
def on_triangle(x: Vec3, a: Vec3, b: Vec3, c: Vec3) -> tuple[bool, float, Vec3]:
    """Return True if the projection of x onto the plane of a triangle is in the triangle, the height of x above the
    plane, and the normal."""
    w = cross(b - a, c - a)
    ww = w @ w
    n = (1.0 / sqrt(ww)) * w
    v = x - a
    s, t = (cross(b - a, v) @ w) / ww, (cross(v, c - a) @ w) / ww
    return s >= -SAME and t >= -SAME and s + t <= 1.0 + SAME, n @ v, n


@kernel
def over_ridge(x: Vec3, a: Vec3, b: Vec3, left: Vec3, right: Vec3) -> tuple[bool, Vec3]:
    """Return True if an edge ab below x is closer to x than its two triangles, with corners left and right, and the
    vector from the edge to x."""
    u = b - a
    s = (u @ (x - a)) / (u @ u)
    e = x - (a + s * u)
    length = sqrt(e @ e)
    over = (0.0 < s < 1.0 and e @ (left - a) < -FLAT * length * sqrt((left - a) @ (left - a))
            and e @ (right - a) < -FLAT * length * sqrt((right - a) @ (right - a)))
    return over and e.z > 0.0, e


@kernel
def over_peak(given: Geometry, b: int, i: int, j: int, x: Vec3) -> tuple[bool, Vec3]:
    """Return True if a vertex below x is closer to x than all adjacent triangles, and the vector to x."""
    v = vertex(given, b, i, j)
    e, rows, columns, over = x - v, given.collider.count[b], given.collider.columns[b], True
    length = sqrt(e @ e)
    for k in range(6):
        p = i + (-1 if k == 0 or k == 1 else 1 if k == 3 or k == 4 else 0)
        q = j + (-1 if k == 1 or k == 2 else 1 if k == 4 or k == 5 else 0)
        if 0 <= p < rows and 0 <= q < columns:
            u = vertex(given, b, p, q) - v
            if e @ u >= -FLAT * length * sqrt(u @ u):
                over = False
    return over and e.z > 0.0, e


@kernel
def opposite(given: Geometry, b: int, i: int, j: int, outwards: Vec3, a: Vec3) -> Vec3:
    """Return the vertex (i, j); beyond the border of the field, the point a + `outwards`, where a is on the border
    edge."""
    if 0 <= i < given.collider.count[b] and 0 <= j < given.collider.columns[b]:
        return vertex(given, b, i, j)
    return a + outwards


@noinline
def write_ball(given: Geometry, b: int, touch: Touch, row: int, k: int, B: Pose, x: Vec3, r: float,
               margin: float) -> None:
    """Write the touches of a ball about x, in the field's frame, at local minima of the distance."""
    there, gap, n = below(given, b, x)
    if there and gap < 0.0:                         # the center is below the surface
        write_place(touch, row, k, B @ (x - r * n), gap - r, B.R @ n)
        return
    collider = given.collider
    size, rows, columns, count = collider.size[b], collider.count[b], collider.columns[b], 0
    top, bottom = window(x.y, r + margin, size.y, rows)
    left, right = window(x.x, r + margin, size.x, columns)
    down = Vec3(0.0, 0.0, -1.0)
    for i in range(top, bottom + 1):
        for j in range(left, right + 1):
            a = vertex(given, b, i, j)
            is_peak, e = over_peak(given, b, i, j, x)
            if is_peak:
                distance, n = direction(e, Vec3(0.0, 0.0, 1.0))
                count = offer(touch, row, BALL, count, k, B @ (x - r * n), distance - r, B.R @ n)
            for edge in range(3):                   # right, up and diagonal
                p, q = i + (1 if edge > 0 else 0), j + (0 if edge == 1 else 1)
                if p < rows and q < columns:
                    # The opposite corners of the triangles on both sides.
                    one = opposite(given, b, i if edge == 2 else i + 1, j + 1, down, a)
                    other = opposite(given, b, i - 1 if edge == 0 else i + 1 if edge == 2 else i,
                                     j - 1 if edge == 1 else j, down, a)
                    is_ridge, e = over_ridge(x, a, vertex(given, b, p, q), one, other)
                    if is_ridge:
                        distance, n = direction(e, Vec3(0.0, 0.0, 1.0))
                        count = offer(touch, row, BALL, count, k, B @ (x - r * n), distance - r, B.R @ n)
            if i + 1 < rows and j + 1 < columns:
                across = vertex(given, b, i + 1, j + 1)
                for half in range(2):
                    third = vertex(given, b, i + half, j + 1 - half)
                    over, gap, n = on_triangle(x, a, across if half else third, third if half else across)
                    if over and gap >= 0.0:
                        count = offer(touch, row, BALL, count, k, B @ (x - r * n), gap - r, B.R @ n)


@kernel
def sphere_on_height_field(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write up to BALL touches of a sphere."""
    like, r = given.place.C[a].p.x, given.collider.size[a].x
    for j in range(BALL):
        write_far(touch, row + j, like)
    for k in range(lane_count(like)):
        B = pose_at(given.place.C[b], k)
        x = (pose_at(given.place.C[a], k).p - B.p) @ B.R
        write_ball(given, b, touch, row, k, B, x, r, margin)


# ------------------------------------------------------------------------------------------------- other shapes
@kernel
def is_peak(given: Geometry, b: int, i: int, j: int) -> bool:
    """Return True if a vertex is on the border, or above the line through its neighbors in some direction."""
    rows, columns = given.collider.count[b], given.collider.columns[b]
    if i == 0 or j == 0 or i == rows - 1 or j == columns - 1:
        return True
    height = vertex(given, b, i, j).z
    for k in range(3):
        p, q = 1 if k > 0 else 0, 0 if k == 1 else 1
        a, c = vertex(given, b, i - p, j - q), vertex(given, b, i + p, j + q)
        d = c - a
        if height - 0.5 * (a.z + c.z) > FLAT * sqrt(d @ d):
            return True
    return False


@kernel
def from_capsule(x: Vec3, r: float, half: float) -> tuple[float, Vec3]:
    """Return the distance of a point x from a capsule, in its frame, and its gradient."""
    distance, n = direction(Vec3(x.x, x.y, x.z - clamped(x.z, half)), Vec3(1.0, 0.0, 0.0))
    return distance - r, n


@kernel
def from_hull(given: Geometry, a: int, x: Vec3) -> tuple[float, Vec3]:
    """Return the largest signed distance of a point x from the face planes of hull a, and the normal of that face.

    The distance is FAR if x is outside the hull and its projection onto that plane is outside the face."""
    collider, data = given.collider, given.data
    first, gap, n = collider.first[a] + 3 * collider.count[a] + BEFORE_FACES, -FAR, Vec3(0.0, 0.0, 1.0)
    for k in range(collider.columns[a]):
        i = first + FACE * k
        outwards = Vec3(data[i], data[i + 1], data[i + 2])
        above = outwards @ x - data[i + 3]
        if above > gap:
            gap, n = above, outwards
    if gap > 0.0:
        foot = x - gap * n
        for k in range(collider.columns[a]):
            i = first + FACE * k
            if Vec3(data[i], data[i + 1], data[i + 2]) @ foot - data[i + 3] > SAME:
                return FAR, n
    return gap, n


def peaks_under(distance: Callable) -> Callable:
    """Return the kernel (given, a, b, touch, row, k, A, B, margin) that writes up to PEAKS touches of peaks on lane k.
    distance(given, a, x): distance of a point from shape a, and its gradient."""
    def write(given, a, b, touch, row, k, A, B, margin):
        collider, count = given.collider, 0
        size, reach = collider.size[b], collider.radius[a] + margin
        x = (A.p - B.p) @ B.R
        top, bottom = window(x.y, reach, size.y, collider.count[b])
        left, right = window(x.x, reach, size.x, collider.columns[b])
        up = axis_z(B.R)
        for i in range(top, bottom + 1):
            for j in range(left, right + 1):
                if is_peak(given, b, i, j):
                    v = B @ vertex(given, b, i, j)
                    gap, gradient = distance(given, a, (v - A.p) @ A.R)
                    n = -1.0 * (A.R @ gradient)
                    if n @ up > UPWARDS and gap < margin:
                        count = offer(touch, row, PEAKS, count, k, v + gap * n, gap, n)
    return noinline(write)


_under_capsule = peaks_under(kernel(lambda given, a, x: from_capsule(x, given.collider.size[a].x,
                                                                     given.collider.size[a].z)))
_under_box = peaks_under(kernel(lambda given, a, x: from_box(x, given.collider.size[a])))
_under_cylinder = peaks_under(kernel(lambda given, a, x: from_cylinder(x, given.collider.size[a].x,
                                                                       given.collider.size[a].z)))
_under_hull = peaks_under(from_hull)
CAPSULE_POINTS, BOX_POINTS, CYLINDER_POINTS = 2 * BALL + PEAKS, 8 + PEAKS, 5 + PEAKS


@kernel
def capsule_on_height_field(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a capsule: of the balls at its ends, and of peaks under it."""
    like, h = given.place.C[a].p.x, given.collider.size[a]
    for j in range(CAPSULE_POINTS):
        write_far(touch, row + j, like)
    for k in range(lane_count(like)):
        A, B = pose_at(given.place.C[a], k), pose_at(given.place.C[b], k)
        of = Segment((A.p - B.p) @ B.R, axis_z(A.R) @ B.R, h.z)
        write_ball(given, b, touch, row, k, B, point(of, -h.z), h.x, margin)
        write_ball(given, b, touch, row + BALL, k, B, point(of, h.z), h.x, margin)
        _under_capsule(given, a, b, touch, row + 2 * BALL, k, A, B, margin)


@kernel
def box_on_height_field(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a box on a height field: its eight corners, numbered as on a plane, and peaks under it."""
    like, h = given.place.C[a].p.x, given.collider.size[a]
    for j in range(BOX_POINTS):
        write_far(touch, row + j, like)
    for k in range(lane_count(like)):
        A, B = pose_at(given.place.C[a], k), pose_at(given.place.C[b], k)
        for j in range(8):
            write_probe(given, b, touch, row + j, k, B, (A @ box_corner(j, h) - B.p) @ B.R)
        _under_box(given, a, b, touch, row + 8, k, A, B, margin)


@kernel
def cylinder_on_height_field(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a cylinder: points of its rims as on the plane of the triangle below its center, and peaks
    under it."""
    like, h = given.place.C[a].p.x, given.collider.size[a]
    for j in range(CYLINDER_POINTS):
        write_far(touch, row + j, like)
    for k in range(lane_count(like)):
        A, B = pose_at(given.place.C[a], k), pose_at(given.place.C[b], k)
        _, _, n = below(given, b, (A.p - B.p) @ B.R)
        n, u = B.R @ n, axis_z(A.R)
        out = h.x * lowest_direction(A.R, n)
        lower = A.p + (h.z if n @ u < 0.0 else -h.z) * u
        across = cross(u, out)
        write_probe(given, b, touch, row, k, B, (A.p - h.z * u + out - B.p) @ B.R)
        write_probe(given, b, touch, row + 1, k, B, (A.p + h.z * u + out - B.p) @ B.R)
        write_probe(given, b, touch, row + 2, k, B, (lower - out - B.p) @ B.R)
        write_probe(given, b, touch, row + 3, k, B, (lower + across - B.p) @ B.R)
        write_probe(given, b, touch, row + 4, k, B, (lower - across - B.p) @ B.R)
        _under_cylinder(given, a, b, touch, row + 5, k, A, B, margin)


@kernel
def hull_on_height_field(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a hull: all vertices, and peaks under it."""
    like, first, data, count = given.place.C[a].p.x, given.collider.first[a], given.data, given.collider.count[a]
    for j in range(count + PEAKS):
        write_far(touch, row + j, like)
    for k in range(lane_count(like)):
        A, B = pose_at(given.place.C[a], k), pose_at(given.place.C[b], k)
        for j in range(count):
            i = first + 3 * j
            x = A @ Vec3(data[i], data[i + 1], data[i + 2])
            write_probe(given, b, touch, row + j, k, B, (x - B.p) @ B.R)
        _under_hull(given, a, b, touch, row + count, k, A, B, margin)
