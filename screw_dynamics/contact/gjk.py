"""The nearest points of two convex shapes, by the algorithm of Gilbert, Johnson and Keerthi (1988): of their difference
A - B, the nearest point of a triangle to the origin, which the farthest point towards the origin replaces a corner of.

And a direction in which they are apart by more than in those nearby, also where they overlap: moved apart along one
direction, their nearest points say a better one (a proximal point algorithm on the sphere). Each is so exact as
rounding allows, since what is moved apart is far from touching."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import sqrt
from screw_dynamics.numbers.values import Scalar, kernel, outlined
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3, cross

from .convex import Convex, placed, separation, towards
from .writing import TINY

MOST_STEPS = 100
EXACT = 1e-15           # of the shapes' size: what nearest points are found to
CLOSE, APART = 1e-8, 1e-2       # of the shapes' size: what is nearer is moved apart by so much
MOST_TURNS, BETTER = 30, 1e-13      # directions, and by how much of the shapes' size the next must be better


class Corner(NamedTuple):
    """A point of A - B, and that of A."""

    w: Vec3
    a: Vec3


class Nearest(NamedTuple):
    """The nearest points of two shapes: the vector from that of B to that of A, and that of A."""

    v: Vec3
    a: Vec3


class Reduced(NamedTuple):
    """The nearest point of a triangle to the origin, its squared distance, and the corners that it is between: of fewer
    than three some several times."""

    v: Vec3
    a: Vec3
    vv: Scalar
    p: Corner
    q: Corner
    r: Corner


class Direction(NamedTuple):
    """A unit vector n from B to A, how far they are apart along it, and the point of A there."""

    n: Vec3
    gap: Scalar
    a: Vec3


@kernel
def on_segment(p: Corner, q: Corner) -> Reduced:
    """The nearest point of a segment."""
    d = q.w - p.w
    dd, t = d @ d, -1.0 * (p.w @ d)
    if dd <= TINY or t <= 0.0:
        return Reduced(p.w, p.a, p.w @ p.w, p, p, p)
    if t >= dd:
        return Reduced(q.w, q.a, q.w @ q.w, q, q, q)
    t = t / dd
    v = p.w + t * d
    return Reduced(v, p.a + t * (q.a - p.a), v @ v, p, q, q)


@outlined
def on_triangle(p: Corner, q: Corner, r: Corner) -> Reduced:
    """The nearest point of a triangle: inside, or of its sides."""
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
    """The point of A - B that is farthest against n."""
    a = towards(data, A, -1.0 * n)
    return Corner(a - towards(data, B, n), a)


@outlined
def nearest(data: np.ndarray, A: Convex, B: Convex, n: Vec3, size: float) -> Nearest:
    """The nearest points of shapes that are apart, from a direction n on, not too far from that of B to A."""
    p = corner_towards(data, A, B, n)
    at = Reduced(p.w, p.a, p.w @ p.w, p, p, p)
    for _ in range(MOST_STEPS):
        new = corner_towards(data, A, B, at.v)
        if at.vv - at.v @ new.w <= EXACT * size * sqrt(at.vv):
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
    return Nearest(at.v, at.a)


@outlined
def farthest_apart(data: np.ndarray, A: Convex, B: Convex, n: Vec3, size: float) -> Direction:
    """The direction in which shapes are farthest apart, among those around n: where they are apart, that of their
    nearest points; else that of the least way out."""
    found = Direction(n, separation(data, A, B, n), towards(data, A, -1.0 * n))
    for _ in range(MOST_TURNS):
        shift = 0.0 if found.gap > CLOSE * size else APART * size - found.gap
        way = shift * found.n
        at = nearest(data, placed(A, Pose(A.C.R, A.C.p + way)), B, found.n, size)
        distance = sqrt(at.v @ at.v)
        n = (1.0 / distance) * at.v
        gap = distance - shift * (found.n @ n)
        better = gap > found.gap + BETTER * size
        found = Direction(n, gap, at.a - way)
        if shift == 0.0 or not better:
            break
    return found
