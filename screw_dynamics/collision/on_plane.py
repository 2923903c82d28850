"""Shapes on a plane: the lowest points of the shape with their heights. Corners have fixed numbers."""
from screw_dynamics.numbers.scalars import sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3, cross

from .colliders import Geometry, Touch
from .writing import axis_x, axis_y, axis_z, box_corner, write

UPRIGHT = 1e-9          # sine: a cylinder tilted by less is upright; its rim points are those of its frame
CYLINDER_POINTS = 5


@kernel
def write_height(touch: Touch, row: int, point: Vec3, origin: Vec3, n: Vec3) -> None:
    """Write the touch of a point of the first shape with the plane through `origin`."""
    write(touch, row, point, n @ (point - origin), n)


@kernel
def sphere_on_plane(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touch of a sphere: its lowest point."""
    A, B, r = given.place.C[a], given.place.C[b], given.collider.size[a].x
    n = axis_z(B.R)
    write(touch, row, A.p - r * n, n @ (A.p - B.p) - r, n)


@kernel
def capsule_on_plane(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a capsule: the lowest points of the balls at its ends."""
    A, B, size = given.place.C[a], given.place.C[b], given.collider.size[a]
    n, half = axis_z(B.R), size.z * axis_z(A.R)
    write(touch, row, A.p - half - size.x * n, n @ (A.p - half - B.p) - size.x, n)
    write(touch, row + 1, A.p + half - size.x * n, n @ (A.p + half - B.p) - size.x, n)


@kernel
def box_on_plane(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a box: its eight corners."""
    A, B, h = given.place.C[a], given.place.C[b], given.collider.size[a]
    n = axis_z(B.R)
    for k in range(8):
        write_height(touch, row + k, A @ box_corner(k, h), B.p, n)


@kernel
def lowest_direction(R: Rotation, n: Vec3) -> Vec3:
    """Return the unit vector from the axis of a cylinder to the lowest point of a rim; that of the x axis if upright.

    Computed from the slopes of the x and y axes, not from the component of n perpendicular to the axis, for precision
    at small tilts."""
    x, y, one = axis_x(R), axis_y(R), null(n.x) + 1.0
    a, b = n @ x, n @ y
    tilt = sqrt(a * a + b * b)
    stands = tilt < UPRIGHT
    scale = where(stands, one, -1.0 / where(stands, one, tilt))
    return scale * (where(stands, one, a) * x + where(stands, null(one), b) * y)


@kernel
def cylinder_on_plane(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a cylinder: the lowest points of the rims at the lower and upper end of its z axis, on which
    it lies; and three further points of the lower rim, a quarter turn apart, on which it stands."""
    A, B, size = given.place.C[a], given.place.C[b], given.collider.size[a]
    n, u = axis_z(B.R), axis_z(A.R)
    out = size.x * lowest_direction(A.R, n)
    across, half = cross(u, out), size.z * u
    lower = A.p + where(n @ u < 0.0, null(n.x) + size.z, null(n.x) - size.z) * u
    write_height(touch, row, A.p - half + out, B.p, n)
    write_height(touch, row + 1, A.p + half + out, B.p, n)
    write_height(touch, row + 2, lower - out, B.p, n)
    write_height(touch, row + 3, lower + across, B.p, n)
    write_height(touch, row + 4, lower - across, B.p, n)


@kernel
def hull_on_plane(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touches of a hull: all vertices."""
    A, B, first, data = given.place.C[a], given.place.C[b], given.collider.first[a], given.data
    n = axis_z(B.R)
    for k in range(given.collider.count[a]):
        i = first + 3 * k
        write_height(touch, row + k, A @ Vec3(data[i], data[i + 1], data[i + 2]), B.p, n)
