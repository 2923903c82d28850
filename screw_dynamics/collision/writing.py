"""Shared functions of contact kernels: writing of touches, axes of frames, spheres about points."""
from screw_dynamics.numbers.lanes import extract, insert
from screw_dynamics.numbers.scalars import sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Vec3

from .colliders import FAR, Touch

TINY = 1e-30            # m: closer points have no direction from one to the other


@kernel
def write(touch: Touch, row: int, on_first: Vec3, gap: Scalar, n: Vec3) -> None:
    """Write a touch, given the point on the surface of the first."""
    touch.gap[row] = gap
    touch.p[row] = on_first - (0.5 * gap) * n
    touch.n[row] = n


@kernel
def on_second(touch: Touch, row: int) -> Vec3:
    """Return the point of a touch on the surface of the second."""
    return touch.p[row] - (0.5 * touch.gap[row]) * touch.n[row]


@kernel
def write_far(touch: Touch, row: int, like: Scalar) -> None:
    """Write a nonexistent touch."""
    zeros = zero(Vec3, like)
    touch.gap[row] = null(like) + FAR
    touch.p[row] = zeros
    touch.n[row] = Vec3(zeros.x, zeros.y, zeros.z + 1.0)


@kernel
def axis_x(R: Rotation) -> Vec3:
    """Return the x axis of the frame, in world axes."""
    return Vec3(R.x.x, R.y.x, R.z.x)


@kernel
def axis_y(R: Rotation) -> Vec3:
    """Return the y axis of the frame, in world axes."""
    return Vec3(R.x.y, R.y.y, R.z.y)


@kernel
def axis_z(R: Rotation) -> Vec3:
    """Return the z axis of the frame, in world axes."""
    return Vec3(R.x.z, R.y.z, R.z.z)


@kernel
def choose(condition: bool, a: Vec3, b: Vec3) -> Vec3:
    """Return a where the condition holds, else b."""
    return Vec3(where(condition, a.x, b.x), where(condition, a.y, b.y), where(condition, a.z, b.z))


@kernel
def box_corner(k: int, h: Vec3) -> Vec3:
    """Return corner k of a box of half lengths h: bit 0 is set where x is positive, bit 1 for y, bit 2 for z."""
    return Vec3(h.x if k & 1 else -h.x, h.y if k & 2 else -h.y, h.z if k & 4 else -h.z)


@kernel
def clamped(x: Scalar, limit: Scalar) -> Scalar:
    """Return x clipped to [-limit, limit]."""
    return where(x > limit, limit, where(x < -limit, -limit, x))


@kernel
def direction(d: Vec3, otherwise: Vec3) -> tuple[Scalar, Vec3]:
    """Return |d|, and d / |d|, or the unit vector `otherwise` where d is 0."""
    length = sqrt(d @ d)
    some_length = length > TINY
    return length, choose(some_length, (1.0 / where(some_length, length, null(length) + 1.0)) * d, otherwise)


@kernel
def write_spheres(touch: Touch, row: int, a: Vec3, r_a: Scalar, b: Vec3, r_b: Scalar, otherwise: Vec3) -> None:
    """Write the touch of spheres about two points, with the normal `otherwise` where they coincide."""
    distance, n = direction(a - b, otherwise)
    write(touch, row, a - r_a * n, distance - (r_a + r_b), n)


# ------------------------------------------------------------------------------------------------- a single lane
@kernel
def vector_at(a: Vec3, k: int) -> Vec3:
    """Return the vector on lane k, of float64."""
    return Vec3(extract(a.x, k), extract(a.y, k), extract(a.z, k))


@kernel
def pose_at(C: Pose, k: int) -> Pose:
    """Return the pose on lane k, of float64."""
    return Pose(Rotation(vector_at(C.R.x, k), vector_at(C.R.y, k), vector_at(C.R.z, k)), vector_at(C.p, k))


@kernel
def replaced(a: Vec3, k: int, b: Vec3) -> Vec3:
    """Return the vector a with b on lane k."""
    return Vec3(insert(a.x, k, b.x), insert(a.y, k, b.y), insert(a.z, k, b.z))


@kernel
def write_place(touch: Touch, row: int, k: int, on_first: Vec3, gap: float, n: Vec3) -> None:
    """Write the touch of one state on lane k; the row must have been initialized."""
    touch.gap[row] = insert(touch.gap[row], k, gap)
    touch.p[row] = replaced(touch.p[row], k, on_first - (0.5 * gap) * n)
    touch.n[row] = replaced(touch.n[row], k, n)


@kernel
def component(a: Vec3, i: int) -> Scalar:
    """Return component i of a vector."""
    return a.x if i == 0 else a.y if i == 1 else a.z


@kernel
def column(R: Rotation, i: int) -> Vec3:
    """Return axis i of the frame, in world axes."""
    return Vec3(component(R.x, i), component(R.y, i), component(R.z, i))


@kernel
def unit(i: int, length: float) -> Vec3:
    """Return a vector of float64 along axis i."""
    return Vec3(length if i == 0 else 0.0, length if i == 1 else 0.0, length if i == 2 else 0.0)
