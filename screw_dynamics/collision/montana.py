"""Contact kinematics by screws: the rates of the contact point on two surfaces, and of their angle about the common
normal, from the relative twist.

Source: D. Montana, The kinematics of contact and grasp, Int. J. Robotics Research 7 (1988); [MLS] R. Murray, Z. Li and
S. Sastry, A mathematical introduction to robotic manipulation (1994), chapter 5, section 6."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils import checks


class Chart(NamedTuple):
    """An orthogonal chart of a surface at coordinates (u, v).

    point (3,). axes (3, 3): of its frame, as columns, x along u, y along v, z = x x y the outward normal. metric (2,
    2): its square root, in m per unit of u and v. curvature (2, 2), 1/m: x and y times the rate of z along x and y,
    positive for a ball. torsion (2,), 1/m: the torsion form, y times the rate of x along x and y."""

    point: np.ndarray
    axes: np.ndarray
    metric: np.ndarray
    curvature: np.ndarray
    torsion: np.ndarray


class Rates(NamedTuple):
    """Rates of the contact coordinates (u, v) of the first and second surface, and of the angle psi (rad/s)."""

    first: np.ndarray
    second: np.ndarray
    psi: float


Surface = Callable[[ArrayLike], Chart]


def plane(coordinates: ArrayLike) -> Chart:
    """Return the plane z = 0, with coordinates x and y."""
    u, v = checks.vector("coordinates", coordinates, 2)
    return Chart(np.array((u, v, 0.0)), np.eye(3), np.eye(2), np.zeros((2, 2)), np.zeros(2))


def sphere(radius: float) -> Surface:
    """Return the sphere about the origin, with longitude u and latitude v, |v| < pi/2."""
    return ellipsoid((radius, radius, radius))


def cylinder(radius: float) -> Surface:
    """Return the cylinder about z, with angle u about it, and height v (m)."""
    r = checks.positive("radius", radius)

    def chart(coordinates: ArrayLike) -> Chart:
        u, v = checks.vector("coordinates", coordinates, 2)
        c, s = np.cos(u), np.sin(u)
        axes = np.array(((-s, 0.0, c), (c, 0.0, s), (0.0, 1.0, 0.0)))
        return Chart(np.array((r * c, r * s, v)), axes, np.diag((r, 1.0)), np.diag((1.0 / r, 0.0)), np.zeros(2))
    return chart


def ellipsoid(half_axes: ArrayLike) -> Surface:
    """Return the ellipsoid with half axes (a, a, c) along x, y and z. u and v are longitude and latitude, |v| < pi/2,
    on the sphere of which the ellipsoid is a scaled image. Raises ValueError if the first two half axes differ: u and v
    would not be orthogonal."""
    a, b, c = checks.vector("half_axes", half_axes, 3)
    if not (a == b and min(a, c) > 0.0):
        raise ValueError(f"half_axes {[float(a), float(b), float(c)]} must be positive, the first two the same: others "
                         "need orthogonal coordinates of their own, for of_parametrization")

    def point(u, v):
        return np.array((a * np.cos(v) * np.cos(u), a * np.cos(v) * np.sin(u), c * np.sin(v)))

    def first(u, v):
        return (np.array((-a * np.cos(v) * np.sin(u), a * np.cos(v) * np.cos(u), 0.0)),
                np.array((-a * np.sin(v) * np.cos(u), -a * np.sin(v) * np.sin(u), c * np.cos(v))))

    def second(u, v):
        return (np.array((-a * np.cos(v) * np.cos(u), -a * np.cos(v) * np.sin(u), 0.0)),
                np.array((a * np.sin(v) * np.sin(u), -a * np.sin(v) * np.cos(u), 0.0)), -point(u, v))
    return of_parametrization(point, first, second)


def of_parametrization(point: Callable, first: Callable, second: Callable) -> Surface:
    """Return the surface of a parametrization by orthogonal coordinates: point(u, v) (3,); first(u, v), its derivatives
    by u and v, whose cross product points outward; second(u, v), its derivatives by uu, uv and vv.

    Raises ValueError, on evaluation, with the coordinates at which the derivatives are not orthogonal, or vanish."""
    def chart(coordinates: ArrayLike) -> Chart:
        u, v = checks.vector("coordinates", coordinates, 2)
        along, (uu, uv, vv) = first(u, v), second(u, v)
        lengths = np.linalg.norm(along, axis=1)
        if lengths.min() < 1e-12 or abs(along[0] @ along[1]) > 1e-9 * lengths.prod():
            raise ValueError(f"coordinates {[float(u), float(v)]}: no orthogonal chart there, as its derivatives "
                             f"{np.array(along).tolist()} are not orthogonal, or vanish")
        x, y = along[0] / lengths[0], along[1] / lengths[1]
        z = np.cross(x, y)
        # z . x = z . y = 0: x times the rate of z is -z times that of x; the rate of x along x, y has y . f_uu / |f_u|.
        curvature = -np.array(((z @ uu, z @ uv), (z @ uv, z @ vv))) / np.outer(lengths, lengths)
        torsion = np.array((y @ uu, y @ uv)) / (lengths[0] * lengths)
        return Chart(point(u, v), np.column_stack((x, y, z)), np.diag(lengths), curvature, torsion)
    return chart


def contact_rates(first: Chart, second: Chart, psi: float, V: ArrayLike) -> Rates:
    """Return the rates of the contact coordinates of both surfaces and of psi, by Montana's equations.

    first, second: charts of the surfaces at the contact point, with opposite normals. psi: rotated by -psi about its
    own normal, the x axis of either contact frame coincides with that of the other; the axes of one frame in the other
    are [[cos, -sin, 0], [-sin, -cos, 0], [0, 0, -1]]. V (6,): the twist of the first surface relative to the second,
    angular first (rad/s, m/s), about the contact point, in axes of the second's contact frame.

    Raises ValueError if the surfaces separate (last number of V), or if their curvatures cancel. In [MLS] (5.28) V is
    in axes of the other frame, whose z is opposite."""
    V, psi = checks.vector("V", V, 6), checks.number("psi", psi)
    wx, wy, wz, vx, vy, vz = V
    if abs(vz) > 1e-9 * max(1.0, np.abs(V).max()):
        raise ValueError(f"V[5] {vz:g} must be 0: surfaces that keep touching have no velocity along the normal")
    c, s = np.cos(psi), np.sin(psi)
    R = np.array(((c, -s), (-s, -c)))                       # its own inverse
    K_1, K_2 = R @ first.curvature @ R, second.curvature    # in axes of the second
    K = K_1 + K_2
    if abs(np.linalg.det(K)) < 1e-12 * np.abs(K).max() ** 2 or not K.any():
        raise ValueError(f"the relative curvature {K.tolist()} is singular: the surfaces touch in more than a point")
    rolling, sliding = np.array((wy, -wx)), np.array((vx, vy))
    on_first = np.linalg.solve(first.metric, R @ np.linalg.solve(K, rolling - K_2 @ sliding))
    on_second = np.linalg.solve(second.metric, np.linalg.solve(K, rolling + K_1 @ sliding))
    turning = first.torsion @ first.metric @ on_first + second.torsion @ second.metric @ on_second - wz
    return Rates(on_first, on_second, float(turning))
