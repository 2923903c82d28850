"""Nearest points of two convex shapes by the algorithm of Gilbert, Johnson and Keerthi (1988): the point of the
Minkowski difference A - B nearest to the origin, on a triangle in which support points toward the origin replace
corners.

Also a local maximum of the separation over directions, including penetrating shapes: the shapes are moved apart along
one direction, and their nearest points give a better direction (a proximal point algorithm on the sphere). Each
distance is exact to machine precision, as the shifted shapes are far from touching."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import absolute, sqrt
from screw_dynamics.numbers.values import Scalar, kernel, noinline
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3, cross

from .convex import Convex, axis_of, disc_towards, farthest, placed, separation, towards, vertex
from .writing import TINY, direction, unit

MOST_STEPS = 100
EXACT, ROUGH = 1e-15, 1e-9      # relative to the shapes' size: tolerance of distances
STILL = 1e-10           # rad: convergence threshold of Newton's method, whose error is the square of it
CLOSE, APART = 1e-8, 1e-2       # relative to the shapes' size: shapes closer than CLOSE are moved apart by APART
MOST_TURNS, BETTER = 30, 1e-13      # number of directions, and required improvement relative to the shapes' size


class Corner(NamedTuple):
    """A point of A - B, and its point of A; the same for their vertices, the centers of discs."""

    w: Vec3
    a: Vec3
    core: Vec3
    of_first: Vec3


class Reduced(NamedTuple):
    """The point of a triangle nearest to the origin, its point of A, its squared distance, and the corners that span
    it; some are repeated if fewer than three."""

    v: Vec3
    a: Vec3
    vv: Scalar
    p: Corner
    q: Corner
    r: Corner


class Direction(NamedTuple):
    """A unit vector n from B to A, the gap along it, and the support point of A."""

    n: Vec3
    gap: Scalar
    a: Vec3


@kernel
def on_segment(p: Corner, q: Corner) -> Reduced:
    """Return the point of a segment nearest to the origin."""
    d = q.w - p.w
    dd, t = d @ d, -1.0 * (p.w @ d)
    if dd <= TINY or t <= 0.0:
        return Reduced(p.w, p.a, p.w @ p.w, p, p, p)
    if t >= dd:
        return Reduced(q.w, q.a, q.w @ q.w, q, q, q)
    t = t / dd
    v = p.w + t * d
    return Reduced(v, p.a + t * (q.a - p.a), v @ v, p, q, q)


@noinline
def on_triangle(p: Corner, q: Corner, r: Corner) -> Reduced:
    """Return the point of a triangle nearest to the origin: in its interior or on its sides."""
    n = cross(q.w - p.w, r.w - p.w)
    nn = n @ n
    if nn > TINY:
        s, t, u = n @ cross(q.w, r.w), n @ cross(r.w, p.w), n @ cross(p.w, q.w)
        if s > 0.0 and t > 0.0 and u > 0.0:
            whole = s + t + u
            v = ((n @ p.w) / nn) * n
            return Reduced(v, (s / whole) * p.a + (t / whole) * q.a + (u / whole) * r.a, v @ v, p, q, r)
    best = on_segment(p, q)
    other = on_segment(q, r)
    if other.vv < best.vv:
        best = other
    other = on_segment(r, p)
    return other if other.vv < best.vv else best


@kernel
def corner_towards(data: np.ndarray, A: Convex, B: Convex, n: Vec3) -> Corner:
    """Return the support point of A - B along -n."""
    a, b = vertex(data, A, farthest(data, A, -1.0 * n)), vertex(data, B, farthest(data, B, n))
    on_first = a + disc_towards(A, -1.0 * n)
    return Corner(on_first - (b + disc_towards(B, n)), on_first, a - b, a)


@noinline
def nearest(data: np.ndarray, A: Convex, B: Convex, n: Vec3, most: float) -> Reduced:
    """Return the nearest points of separated shapes, starting from a direction n close to that from B to A. The
    distance exceeds the exact one by at most `most`."""
    p = corner_towards(data, A, B, n)
    at = Reduced(p.w, p.a, p.w @ p.w, p, p, p)
    for _ in range(MOST_STEPS):
        new = corner_towards(data, A, B, at.v)
        if at.vv - at.v @ new.w <= most * sqrt(at.vv):
            break
        best = on_triangle(new, at.p, at.q)
        other = on_triangle(new, at.q, at.r)
        if other.vv < best.vv:
            best = other
        other = on_triangle(new, at.r, at.p)
        if other.vv < best.vv:
            best = other
        if not best.vv < at.vv:
            break
        at = best
    return at


@noinline
def refined(A: Convex, B: Convex, at: Reduced, way: Vec3) -> tuple[bool, Direction]:
    """Return True if a local maximum exists, and the direction of largest separation of two vertices, or an edge and a
    vertex, with their discs, by Newton's method. at: the nearest points of shapes moved apart by `way`."""
    p, q = at.p, at.r if same(at.q.core, at.p.core) else at.q
    f, n = q.core - p.core, (1.0 / sqrt(at.vv)) * at.v
    ff = f @ f
    line, is_maximum = ff > 0.0, same(at.r.core, p.core) or same(at.r.core, q.core)
    for _ in range(MOST_STEPS):
        if line:
            _, n = direction(n - ((n @ f) / ff) * f, n)
        w = p.core - way + disc_towards(A, -1.0 * n) - disc_towards(B, n)
        gap = n @ w
        _, s = direction(cross(n, f if line else unit(0 if absolute(n.x) < 0.7 else 1, 1.0)), n)
        t = cross(n, s)
        ss, tt, st = gap + bend(A, B, n, s, s), gap + bend(A, B, n, t, t), bend(A, B, n, s, t)
        x, y = w @ s, w @ t
        if line:
            tt, st, y = 1.0, 0.0, 0.0
        det = ss * tt - st * st
        is_maximum = is_maximum and ss > 0.0 and det > 0.0
        if not is_maximum:
            break
        x, y = (tt * x - st * y) / det, (ss * y - st * x) / det
        _, n = direction(n + x * s + y * t, n)
        if x * x + y * y <= STILL * STILL:
            break
    w = p.core - way + disc_towards(A, -1.0 * n) - disc_towards(B, n)
    part = -(w @ f) / ff if line else 0.0
    a = p.of_first - way + part * (q.of_first - p.of_first) + disc_towards(A, -1.0 * n)
    return is_maximum and -EXACT <= part <= 1.0 + EXACT, Direction(n, n @ w, a)


@kernel
def same(a: Vec3, b: Vec3) -> bool:
    """Return True if two points are equal."""
    return a.x == b.x and a.y == b.y and a.z == b.z


@kernel
def bend(A: Convex, B: Convex, n: Vec3, s: Vec3, t: Vec3) -> Scalar:
    """Return the second derivative along s and t, perpendicular to n, of the extent of the discs of two shapes along
    n."""
    bent = 0.0
    for k in range(2):
        of = A if k == 0 else B
        u = axis_of(of)
        length, out = direction(n - (n @ u) * u, n)
        if of.disc > 0.0 and length > TINY:
            bent += of.disc / length * (s @ t - (s @ u) * (t @ u) - (out @ s) * (out @ t))
    return bent


@noinline
def farthest_apart(data: np.ndarray, A: Convex, B: Convex, n: Vec3, size: float) -> Direction:
    """Return the direction of largest separation near n: that of the nearest points of separated shapes, else that of
    the least penetration depth."""
    found = Direction(n, separation(data, A, B, n), towards(data, A, -1.0 * n))
    is_round, near = A.disc > 0.0 or B.disc > 0.0, BETTER * size
    most = (ROUGH if is_round else EXACT) * size
    for _ in range(MOST_TURNS):
        shift = 0.0 if found.gap > CLOSE * size else APART * size - found.gap
        way = shift * found.n
        at = nearest(data, placed(A, Pose(A.C.R, A.C.p + way)), B, found.n, most)
        if is_round:
            is_maximum, best = refined(A, B, at, way)
            if is_maximum and best.gap >= found.gap - near and separation(data, A, B, best.n) >= best.gap - near:
                return best
        distance = sqrt(at.vv)
        n = (1.0 / distance) * at.v
        gap = separation(data, A, B, n)
        better = gap > found.gap + near
        found = Direction(n, gap, at.a - way)
        if most == EXACT * size and (shift == 0.0 or not better):
            break
        most = EXACT * size
    return found
