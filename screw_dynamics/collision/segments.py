"""Nearest points of two segments: the ends of their overlap, on which parallel segments rest, and the crossing point.
The nearest point is always one of these three."""
from typing import Any, NamedTuple

from screw_dynamics.numbers.scalars import absolute, where
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.vectors import Vec3, cross

from .writing import clamped

PARALLEL = 1e-12        # squared sine of the angle between segments without a crossing; the error is half of this


class Segment(NamedTuple):
    """The points c + s u, |s| <= half, u a unit vector."""

    c: Vec3
    u: Vec3
    half: Scalar


class Near(NamedTuple):
    """A point on each of two segments, by parameters s and t."""

    s: Scalar
    t: Scalar


@kernel
def point(of: Segment, s: Scalar) -> Vec3:
    """Return the point c + s u."""
    return of.c + s * of.u


@kernel
def beside(a: Segment, b: Segment) -> tuple[Near, Near, Any]:
    """Return the ends of the overlap of two segments along a, and True where both ends coincide.

    Each is an end of one segment with the nearest point of the other."""
    d, turn = b.c - a.c, where(a.u @ b.u < 0.0, null(a.c.x) - 1.0, null(a.c.x) + 1.0)
    at, reach = a.u @ d, absolute(a.u @ b.u) * b.half
    low, high = at - reach, at + reach
    from_a_low, from_a_high = b.u @ (-a.half * a.u - d), b.u @ (a.half * a.u - d)
    by_b = low > -a.half
    lower = Near(where(by_b, clamped(low, a.half), null(low) - a.half),
                 where(by_b, -turn * b.half, clamped(from_a_low, b.half)))
    by_b = high < a.half
    upper = Near(where(by_b, clamped(high, a.half), null(high) + a.half),
                 where(by_b, turn * b.half, clamped(from_a_high, b.half)))
    return lower, upper, (lower.s == upper.s) & (lower.t == upper.t)


@kernel
def crossing(a: Segment, b: Segment) -> tuple[Near, Any]:
    """Return the nearest points of the lines, and True if they are inside both segments; False for parallel
    segments."""
    d, w = b.c - a.c, cross(a.u, b.u)
    ww = w @ w
    skew = ww > PARALLEL
    per = 1.0 / where(skew, ww, null(ww) + 1.0)
    s, t = per * (cross(d, b.u) @ w), per * (cross(d, a.u) @ w)
    return Near(s, t), skew & (absolute(s) < a.half) & (absolute(t) < b.half)
