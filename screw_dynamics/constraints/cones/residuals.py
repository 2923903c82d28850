"""Residuals of bounds and friction for impulses and velocities, in units of velocity."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import absolute, larger, some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .tables import BOUND, COMPLEMENTARITY, CONE, DISSIPATION, DONE, LOST, SPEED, Cones

TOLERANCE = 1e-12       # times the largest velocity: residuals of a converged lane
ROUNDING = 1e-14        # times the largest G_ii x_i: rounding of residuals
ENOUGH = 1e-9           # times the largest velocity: larger residuals are reported; smaller ones end the last methods
LEAST = 1e-6            # times the largest velocity of any row, opening ones included: other velocities may be rounding


@kernel
def slowness(given: Cones) -> Scalar:
    """Return the velocity scale: the largest velocity without impulses. Of the normal velocity of an opening contact
    only the fraction LEAST counts."""
    c, u, m = given.c, len(given.lower), len(given.mu)
    fastest = most = null(given.found[0])
    for i in range(len(c)):
        speed = absolute(c[i])
        if i < u:                                               # held rows have no velocity to reach
            speed = where(given.lower[i] < given.upper[i], speed, null(speed))
        most = larger(most, speed)
        if u <= i < u + 3 * m:
            if (i - u) % 3 == 2:
                speed = -c[i]
            speed = where(given.active[(i - u) // 3] > 0.0, speed, null(speed))
        fastest = larger(fastest, speed)
    return larger(fastest, LEAST * most)


class Residual(NamedTuple):
    """Squares of the largest residual of each kind, and the largest G_ii x_i."""

    complementarity: Scalar
    cone: Scalar
    dissipation: Scalar
    force: Scalar


@kernel
def within(x: Scalar, v: Scalar, g: Scalar, lower: Scalar, upper: Scalar, so_far: Residual) -> Residual:
    """Return the residual of a row within bounds, g (x - clip(x - v / g)), in units of v."""
    at, z = g * x, g * x - v
    low, high = g * lower, g * upper
    miss = at - where(z < low, low, where(z > high, high, z))
    return Residual(larger(so_far.complementarity, miss * miss), so_far.cone, so_far.dissipation,
                    larger(so_far.force, absolute(at)))


@noinline
def on_cone(x1: Scalar, x2: Scalar, v1: Scalar, v2: Scalar, most: Scalar, g: Scalar, so_far: Residual) -> Residual:
    """Return the residuals of friction with |x| <= most, in units of v: the excess length of x, and g (x - y). y is the
    point of the disc closest to x - v / g; it equals x where x sticks or opposes v."""
    one = null(g) + 1.0
    z1, z2, radius = g * x1 - v1, g * x2 - v2, g * most
    size = sqrt(z1 * z1 + z2 * z2)
    short = where(size > radius, radius / where(size > 0.0, size, one), one)
    d1, d2 = g * x1 - short * z1, g * x2 - short * z2
    over = g * sqrt(x1 * x1 + x2 * x2) - radius
    over = where(over > 0.0, over, null(over))
    return Residual(so_far.complementarity, larger(so_far.cone, over * over),
                    larger(so_far.dissipation, d1 * d1 + d2 * d2), so_far.force)


@kernel
def residual(given: Cones) -> Residual:
    """Return the residuals of x and v."""
    G, x, v, u, m = given.G, given.x, given.v, len(given.lower), len(given.mu)
    none = null(given.found[0])
    found = Residual(none, none, none, none)
    for i in range(u):
        found = within(x[i], v[i], G[i, i], given.lower[i], given.upper[i], found)
    for b in range(m):
        if some(given.active[b] > 0.0):
            i = u + 3 * b
            j, n = i + 1, i + 2
            after = within(x[n], v[n], G[n, n], none, none + np.inf, found)
            after = on_cone(x[i], x[j], v[i], v[j], given.mu[b] * x[n], 0.5 * (G[i, i] + G[j, j]), after)
            acts = given.active[b] > 0.0
            found = Residual(where(acts, after.complementarity, found.complementarity),
                             where(acts, after.cone, found.cone), where(acts, after.dissipation, found.dissipation),
                             where(acts, after.force, found.force))
    for k in range(len(given.spin_of)):
        i = u + 3 * m + k
        most = given.spin_mu[k] * x[u + 3 * int(given.spin_of[k]) + 2]
        found = on_cone(x[i], none, v[i], none, most, G[i, i], found)
    for k in range(len(given.roll_of)):
        i = u + 3 * m + len(given.spin_of) + 2 * k
        most = given.roll_mu[k] * x[u + 3 * int(given.roll_of[k]) + 2]
        found = on_cone(x[i], x[i + 1], v[i], v[i + 1], most, 0.5 * (G[i, i] + G[i + 1, i + 1]), found)
    return found


@noinline
def measure(given: Cones) -> Scalar:
    """Compute found for x and v. Return 1 where the residuals are at most the bound.

    Each residual is a velocity, in m/s, or rad/s for rows of rotations. COMPLEMENTARITY: the largest |min(G_nn x_n,
    v_n)|, and for rows within bounds |G x - clip(G x - v)|. CONE: the largest G_tt (|x_t| - mu x_n). DISSIPATION: the
    largest G_tt |x_t - y|, with y the point of the disc |y| <= mu x_n closest to x_t - v_t / G_tt: 0 where the contact
    sticks or x_t opposes v_t."""
    found, none = given.found, null(given.found[0])
    now = residual(given)
    found[BOUND] = larger(TOLERANCE * found[SPEED], ROUNDING * now.force)
    worst = sqrt(larger(now.complementarity, larger(now.cone, now.dissipation)))
    found[COMPLEMENTARITY], found[CONE] = sqrt(now.complementarity), sqrt(now.cone)
    found[DISSIPATION] = sqrt(now.dissipation)
    found[DONE] = where(worst <= found[BOUND], none + 1.0, none)
    found[LOST] = where((found[DONE] == 0.0) & (worst > ENOUGH * found[SPEED]), worst, none)
    return found[DONE]


@kernel
def worst(given: Cones) -> Scalar:
    """Return the largest residual."""
    return larger(given.found[COMPLEMENTARITY], larger(given.found[CONE], given.found[DISSIPATION]))
