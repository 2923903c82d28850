"""A sphere against shapes with a closed-form nearest point to its center."""
from screw_dynamics.numbers.scalars import absolute, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.vectors import Vec3

from .colliders import Geometry, Touch
from .writing import TINY, axis_x, axis_z, choose, clamped, direction, write, write_spheres


@kernel
def sphere_sphere(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touch of two spheres, along the line through the centers; along z of the second if they coincide."""
    A, B, collider = given.place.C[a], given.place.C[b], given.collider
    write_spheres(touch, row, A.p, collider.size[a].x, B.p, collider.size[b].x, axis_z(B.R))


@kernel
def sphere_capsule(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touch of a sphere and the nearest point of a capsule's axis; along x of the capsule if the center is on
    the axis."""
    A, B, r, size = given.place.C[a], given.place.C[b], given.collider.size[a].x, given.collider.size[b]
    u = axis_z(B.R)
    nearest = B.p + clamped(u @ (A.p - B.p), size.z) * u
    write_spheres(touch, row, A.p, r, nearest, size.x, axis_x(B.R))


@kernel
def from_box(x: Vec3, h: Vec3) -> tuple[Scalar, Vec3]:
    """Return the distance of a point x from a box of half lengths h, in the box's frame, negative inside, and its
    gradient. Inside and on the surface the gradient is the normal of the nearest face, the first of equally near
    ones."""
    e = Vec3(x.x - clamped(x.x, h.x), x.y - clamped(x.y, h.y), x.z - clamped(x.z, h.z))
    outside = sqrt(e @ e)
    dx, dy, dz = absolute(x.x) - h.x, absolute(x.y) - h.y, absolute(x.z) - h.z
    none = null(x.x)
    one = none + 1.0
    sx, sy, sz = where(x.x < 0.0, -one, one), where(x.y < 0.0, -one, one), where(x.z < 0.0, -one, one)
    along_x, along_y = (dx >= dy) & (dx >= dz), dy >= dz
    inside = where(along_x, dx, where(along_y, dy, dz))
    face = Vec3(where(along_x, sx, none), where(along_x, none, where(along_y, sy, none)),
                where(along_x, none, where(along_y, none, sz)))
    apart = outside > TINY
    return where(apart, outside, inside), choose(apart, (1.0 / where(apart, outside, one)) * e, face)


@kernel
def from_cylinder(x: Vec3, r: Scalar, half: Scalar) -> tuple[Scalar, Vec3]:
    """Return the distance of a point x from a cylinder, in its frame, negative inside, and its gradient: inside the
    normal of the nearest surface; on the axis along x."""
    none = null(x.x)
    one = none + 1.0
    radius, out = direction(Vec3(x.x, x.y, none), Vec3(one, none, none))
    side, above = radius - r, absolute(x.z) - half
    up = where(x.z < 0.0, -one, one)
    beside, beyond = where(side > 0.0, side, none), where(above > 0.0, above, none)
    outside = sqrt(beside * beside + beyond * beyond)
    apart = outside > TINY
    to_side = side >= above
    per_length = 1.0 / where(apart, outside, one)
    radial = where(apart, per_length * beside, where(to_side, one, none))
    axial = where(apart, per_length * beyond, where(to_side, none, one))
    return (where(apart, outside, where(to_side, side, above)), Vec3(radial * out.x, radial * out.y, axial * up))


@kernel
def sphere_box(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touch of a sphere and the nearest point of a box; along the normal of the nearest face if the center is
    inside."""
    A, B, r = given.place.C[a], given.place.C[b], given.collider.size[a].x
    distance, n = from_box((A.p - B.p) @ B.R, given.collider.size[b])
    n = B.R @ n
    write(touch, row, A.p - r * n, distance - r, n)


@kernel
def sphere_cylinder(given: Geometry, a: int, b: int, touch: Touch, row: int, margin: Scalar) -> None:
    """Write the touch of a sphere and the nearest point of a cylinder; along the normal of the nearest surface if the
    center is inside."""
    A, B, r, size = given.place.C[a], given.place.C[b], given.collider.size[a].x, given.collider.size[b]
    distance, n = from_cylinder((A.p - B.p) @ B.R, size.x, size.z)
    n = B.R @ n
    write(touch, row, A.p - r * n, distance - r, n)
