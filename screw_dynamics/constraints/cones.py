"""Impulses x of rows within bounds and of contacts with dry friction, on a Delassus operator G = J M^-1 J^T: v = c + G x.

Rows, in this order:
  u rows within bounds    lower <= x <= upper, and v = 0, or >= 0 where x is at its lower bound, or <= 0 at its upper one
  m contacts (t1, t2, n)  x_n >= 0, v_n >= 0, x_n v_n = 0, |x_t| <= mu x_n, and v_t = 0 or x_t = -mu x_n v_t / |v_t|
  spins (1 row each)      torsional friction of a contact about its normal: |x| <= mu x_n, against v
  rolls (2 rows each)     rolling friction of a contact: |x| <= mu x_n, against v
c_n has the offset that a gap allows, gap / h. A contact that is not active has no impulses.

Block Gauss-Seidel: in this order, always, each row or contact is solved exactly with the impulses of the others. Lanes
converge each for itself, and are left alone then: their numbers do not depend on the other lanes. Residuals say how far
the conditions hold, whatever happened."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import places
from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined

from .sliding import Plane, slide

DEPENDENT = 1e-14       # of a row's inverse inertia: less is rounding, of a direction that others hold
TOLERANCE = 1e-12       # of the largest velocity: residuals at which a lane is done
ROUNDING = 1e-14        # of the largest G_ii x_i: residuals that are rounding
SWEEPS = 200
REFRESH = 16            # sweeps after which velocities are computed anew
COMPLEMENTARITY, CONE, DISSIPATION, SPEED, SWEPT, DONE, BOUND = range(7)
FOUND = 8


class Own(NamedTuple):
    """What a contact needs of its 3 x 3 block: axes (c, s), (-s, c) along which G_tt - G_tn G_nt / G_nn is
    diag(l1, l2); inverses w1, w2, wn of l1, l2, G_nn, 0 for directions that cannot move; k = G_tn / G_nn along these."""

    c: Scalar
    s: Scalar
    l1: Scalar
    l2: Scalar
    w1: Scalar
    w2: Scalar
    wn: Scalar
    k1: Scalar
    k2: Scalar


OWN = 9


class Cones(NamedTuple):
    """The rows, N = u + 3 m + spins + 2 rolls, in the order of the memory.

    Given: G (N, N); c (N); size (N), inverse inertias that count, G_ii unless other constraints hold the row; bounds
    lower, upper (u); mu (m), >= 0 and finite, and active (m), > 0 where a contact acts; coefficients of spins and
    rolls. Given and found: impulses x (N), where to begin and where it ends. Found: v (N); found (8): the residuals
    COMPLEMENTARITY, CONE and DISSIPATION, see `measure`; SPEED, the largest velocity without impulses that counts;
    SWEPT, sweeps; DONE, 1 where the residuals are at most BOUND, else 0.
    Memory: fresh (N), A (N, N), own (m + rolls, 9), rate (m + rolls) of sliding. Given, the same on all lanes: the
    numbers of the contacts of spins and rolls."""

    G: np.ndarray
    c: np.ndarray
    size: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    mu: np.ndarray
    active: np.ndarray
    spin_mu: np.ndarray
    roll_mu: np.ndarray
    x: np.ndarray
    v: np.ndarray
    found: np.ndarray
    fresh: np.ndarray
    A: np.ndarray
    own: np.ndarray
    rate: np.ndarray
    spin_of: np.ndarray
    roll_of: np.ndarray


@kernel
def rows(u: int, m: int, spins: int = 0, rolls: int = 0) -> int:
    """How many rows there are."""
    return u + 3 * m + spins + 2 * rolls


@kernel
def given_numbers(u: int, m: int, spins: int = 0, rolls: int = 0) -> int:
    """How many numbers are given, from G to x."""
    N = rows(u, m, spins, rolls)
    return N * N + 3 * N + 2 * u + 2 * m + spins + rolls


@kernel
def numbers(u: int, m: int, spins: int = 0, rolls: int = 0) -> int:
    """How many numbers a Cones has."""
    N = rows(u, m, spins, rolls)
    return given_numbers(u, m, spins, rolls) + 2 * N + FOUND + N * N + (OWN + 1) * (m + rolls) + spins + rolls


@kernel
def cones(like: Any, u: int, m: int, memory: np.ndarray, start: int, spins: int = 0, rolls: int = 0) -> Cones:
    """The Cones in memory from a position on."""
    N, unit, blocks = rows(u, m, spins, rolls), places(like), m + rolls
    c = start + unit * N * N
    lower = c + 2 * unit * N
    mu = lower + 2 * unit * u
    spin_mu = mu + 2 * unit * m
    x = spin_mu + unit * (spins + rolls)
    found = x + 2 * unit * N
    fresh = found + unit * FOUND
    A = fresh + unit * N
    own = A + unit * N * N
    rate = own + unit * OWN * blocks
    spin_of = rate + unit * blocks
    return Cones(block(like, (N, N), memory, start), block(like, (N,), memory, c), block(like, (N,), memory, c + unit * N),
                 block(like, (u,), memory, lower), block(like, (u,), memory, lower + unit * u),
                 block(like, (m,), memory, mu), block(like, (m,), memory, mu + unit * m),
                 block(like, (spins,), memory, spin_mu), block(like, (rolls,), memory, spin_mu + unit * spins),
                 block(like, (N,), memory, x), block(like, (N,), memory, x + unit * N),
                 block(like, (FOUND,), memory, found), block(like, (N,), memory, fresh),
                 block(like, (N, N), memory, A), block(like, (blocks, OWN), memory, own),
                 block(like, (blocks,), memory, rate),
                 block(0.0, (spins,), memory, spin_of), block(0.0, (rolls,), memory, spin_of + spins))


# ------------------------------------------------------------------------------------------------- what stays the same
@kernel
def inverse_of(g: Scalar, size: Scalar) -> Scalar:
    """1 / g, or 0 where g is rounding."""
    moves = g > DEPENDENT * size
    return where(moves, 1.0 / where(moves, g, null(g) + 1.0), null(g))


@kernel
def axes(given: Cones, b: int, xx: Scalar, xy: Scalar, yy: Scalar, size: Scalar) -> tuple[Scalar, Scalar]:
    """Put the axes (c, s) along which a symmetric matrix is diagonal, its diagonal and the inverse of that in block b
    of own. Returns c and s."""
    own, none = given.own[b], null(size)
    one, half = none + 1.0, 0.5 * (xx - yy)
    width = sqrt(half * half + xy * xy)
    turned = width > 1e-15 * size
    double = 2.0 * where(turned, width, one)
    large = sqrt((width + absolute(half)) / double)
    small = xy / (double * where(turned, large, one))
    c = where(turned, where(half >= 0.0, large, absolute(small)), one)
    s = where(turned, where(half >= 0.0, small, where(xy >= 0.0, large, -large)), none)
    l1 = 0.5 * (xx + yy) + width
    l2 = where(l1 > DEPENDENT * size, (xx * yy - xy * xy) / where(l1 > DEPENDENT * size, l1, one), none)
    own[0], own[1] = c, s
    least = DEPENDENT * size
    own[4], own[5] = inverse_of(l1, size), inverse_of(l2, size)
    own[2], own[3] = where(l1 > least, l1, least), where(l2 > least, l2, least)
    return c, s


@kernel
def factorize(given: Cones) -> None:
    """Fill own, and forget how contacts slid."""
    G, size, own, u = given.G, given.size, given.own, len(given.lower)
    m, first = len(given.mu), len(given.x) - 2 * len(given.roll_of)
    for b in range(m):
        i = u + 3 * b
        j, n = i + 1, i + 2
        wn = inverse_of(G[n, n], size[n])
        k1, k2 = G[n, i] * wn, G[n, j] * wn
        c, s = axes(given, b, G[i, i] - k1 * G[n, i], G[i, j] - k1 * G[n, j], G[j, j] - k2 * G[n, j],
                    0.5 * (size[i] + size[j]))
        own[b, 6], own[b, 7], own[b, 8] = wn, c * k1 + s * k2, c * k2 - s * k1
        given.rate[b] = null(wn)
    for b in range(m, len(own)):
        i = first + 2 * (b - m)
        none = null(G[i, i])
        axes(given, b, G[i, i], G[i, i + 1], G[i + 1, i + 1], 0.5 * (size[i] + size[i + 1]))
        own[b, 6], own[b, 7], own[b, 8] = none, none, none
        given.rate[b] = none


@kernel
def own_of(given: Cones, b: int) -> Own:
    """What block b needs of its own."""
    o = given.own[b]
    return Own(o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8])


# ------------------------------------------------------------------------------------------------- sweeps
@kernel
def slowness(given: Cones) -> Scalar:
    """The largest velocity without impulses that counts: of a contact that opens its tangential ones alone."""
    c, u, m = given.c, len(given.lower), len(given.mu)
    fastest = null(c[0])
    for i in range(len(c)):
        speed = absolute(c[i])
        if u <= i < u + 3 * m:
            if (i - u) % 3 == 2:
                speed = -c[i]
            speed = where(given.active[(i - u) // 3] > 0.0, speed, null(speed))
        fastest = where(speed > fastest, speed, fastest)
    return fastest


@kernel
def change(given: Cones, i: int, dx: Scalar) -> None:
    """Change impulse i, and the velocities by it."""
    G, x, v = given.G, given.x, given.v
    if some(dx != 0.0):
        x[i] += dx
        for k in range(len(v)):
            v[k] += dx * G[i, k]


@kernel
def velocities(given: Cones, out: np.ndarray) -> None:
    """Fill out with v = c + G x."""
    G, x = given.G, given.x
    for k in range(len(out)):
        out[k] = given.c[k]
    for i in range(len(x)):
        xi = x[i]
        if some(xi != 0.0):
            for k in range(len(out)):
                out[k] += xi * G[i, k]


@kernel
def begin(given: Cones) -> None:
    """Clear impulses of contacts that are not active, and put those of rows within their bounds."""
    x, u, m = given.x, len(given.lower), len(given.mu)
    for i in range(u):
        x[i] = where(x[i] < given.lower[i], given.lower[i], where(x[i] > given.upper[i], given.upper[i], x[i]))
    for b in range(m):
        for i in range(u + 3 * b, u + 3 * b + 3):
            x[i] = where(given.active[b] > 0.0, x[i], null(x[i]))


@kernel
def on_disc(given: Cones, b: int, i: int, n: Scalar, mu: Scalar, v1: Scalar, v2: Scalar, slow: Scalar,
            on: Scalar) -> tuple[Scalar, Scalar]:
    """The impulses of rows i and i + 1 that stick, or slide with |y| = mu (n - k . y), where velocities v1 and v2 are
    left if they stay as they are; 0 unless on > 0."""
    own, none = own_of(given, b), null(n)
    c, s, w1, w2 = own.c, own.s, own.w1, own.w2
    x1, x2 = c * given.x[i] + s * given.x[i + 1], c * given.x[i + 1] - s * given.x[i]
    v1, v2 = c * v1 + s * v2, c * v2 - s * v1
    n = n + own.k1 * x1 + own.k2 * x2
    k1, k2, p = mu * own.k1, mu * own.k2, mu * n
    y1 = x1 - where((w1 > 0.0) | (absolute(v1) <= slow), v1 * w1, v1 / own.l1)
    y2 = x2 - where((w2 > 0.0) | (absolute(v2) <= slow), v2 * w2, v2 / own.l2)
    on = where(n > 0.0, on, none)
    sticks = sqrt(y1 * y1 + y2 * y2) + k1 * y1 + k2 * y2 <= p
    slides = where(sticks | (p <= 0.0), none, on)
    rate = none
    if some(slides > 0.0):
        plane = Plane(own.l1, own.l2, k1, k2)
        z1, z2, rate = slide(plane, v1 - own.l1 * x1, v2 - own.l2 * x2, p, given.rate[b], slides)
        size = sqrt(z1 * z1 + z2 * z2)
        size = where(size > 0.0, size, none + 1.0)
        e1, e2 = z1 / size, z2 / size
        length = p / where(slides > 0.0, 1.0 + k1 * e1 + k2 * e2, none + 1.0)
        y1, y2 = where(slides > 0.0, length * e1, y1), where(slides > 0.0, length * e2, y2)
    acts = (on > 0.0) & (sticks | (p > 0.0))
    y1, y2 = where(acts, y1, none), where(acts, y2, none)
    given.rate[b] = where(slides > 0.0, rate, none)
    return c * y1 - s * y2, s * y1 + c * y2


@kernel
def sweep_bounds(given: Cones, live: Scalar) -> None:
    """Each row within its bounds."""
    x, lower, upper = given.x, given.lower, given.upper
    for i in range(len(lower)):
        y = x[i] - given.v[i] * inverse_of(given.G[i, i], given.size[i])
        y = where(y < lower[i], lower[i], where(y > upper[i], upper[i], y))
        change(given, i, where(live > 0.0, y - x[i], null(y)))


@kernel
def sweep_contacts(given: Cones, slow: Scalar, live: Scalar) -> None:
    """Each contact, from its velocities with the impulses that it has."""
    G, x, v, u = given.G, given.x, given.v, len(given.lower)
    for b in range(len(given.mu)):
        i = u + 3 * b
        none, going = null(x[i]), where(given.active[b] > 0.0, live, null(x[i]))
        if not some(going > 0.0):
            continue
        own, mu, n = own_of(given, b), given.mu[b], i + 2
        vn = v[n]
        K1, K2 = own.c * own.k1 - own.s * own.k2, own.s * own.k1 + own.c * own.k2       # G_tn / G_nn
        alone = x[n] - vn * own.wn
        y1, y2 = on_disc(given, b, i, alone, mu, v[i] - K1 * vn, v[i + 1] - K2 * vn, slow, going)
        yn = alone - K1 * (y1 - x[i]) - K2 * (y2 - x[i + 1])
        closed = (yn > 0.0) & (own.wn > 0.0) & (alone + K1 * x[i] + K2 * x[i + 1] > 0.0)
        d1 = where(going > 0.0, where(closed, y1, none) - x[i], none)
        d2 = where(going > 0.0, where(closed, y2, none) - x[i + 1], none)
        dn = where(going > 0.0, where(closed, yn, none) - x[n], none)
        if some((d1 != 0.0) | (d2 != 0.0) | (dn != 0.0)):
            x[i], x[i + 1], x[n] = x[i] + d1, x[i + 1] + d2, x[n] + dn
            for k in range(len(v)):
                v[k] += d1 * G[i, k] + d2 * G[i + 1, k] + dn * G[n, k]


@kernel
def sweep_spins(given: Cones, live: Scalar) -> None:
    """Torsional friction, with the normal impulses as they are."""
    x, u = given.x, len(given.lower)
    first = u + 3 * len(given.mu)
    for k in range(len(given.spin_of)):
        i = first + k
        most = given.spin_mu[k] * x[u + 3 * int(given.spin_of[k]) + 2]
        y = x[i] - given.v[i] * inverse_of(given.G[i, i], given.size[i])
        y = where(y < -most, -most, where(y > most, most, y))
        change(given, i, where(live > 0.0, y - x[i], null(y)))


@kernel
def sweep_rolls(given: Cones, slow: Scalar, live: Scalar) -> None:
    """Rolling friction, with the normal impulses as they are."""
    x, v, u, m = given.x, given.v, len(given.lower), len(given.mu)
    first = len(x) - 2 * len(given.roll_of)
    for k in range(len(given.roll_of)):
        i, n = first + 2 * k, x[u + 3 * int(given.roll_of[k]) + 2]
        y1, y2 = on_disc(given, m + k, i, n, given.roll_mu[k], v[i], v[i + 1], slow, live)
        d1, d2 = y1 - x[i], y2 - x[i + 1]
        change(given, i, where(live > 0.0, d1, null(d1)))
        change(given, i + 1, where(live > 0.0, d2, null(d2)))


@outlined
def sweep(given: Cones, slow: Scalar, live: Scalar) -> None:
    """All rows once, on lanes that are live > 0."""
    sweep_bounds(given, live)
    sweep_contacts(given, slow, live)
    sweep_spins(given, live)
    sweep_rolls(given, slow, live)


# ------------------------------------------------------------------------------------------------- residuals
class Residual(NamedTuple):
    """Squares of the largest of each kind, and the largest G_ii x_i."""

    complementarity: Scalar
    cone: Scalar
    dissipation: Scalar
    force: Scalar


@kernel
def larger(a: Scalar, b: Scalar) -> Scalar:
    """The larger of two numbers."""
    return where(a > b, a, b)


@kernel
def within(x: Scalar, v: Scalar, g: Scalar, lower: Scalar, upper: Scalar, so_far: Residual) -> Residual:
    """The residual of a row within bounds: g (x - clip(x - v / g)), in the unit of v."""
    at, z = g * x, g * x - v
    low, high = g * lower, g * upper
    miss = at - where(z < low, low, where(z > high, high, z))
    return Residual(larger(so_far.complementarity, miss * miss), so_far.cone, so_far.dissipation,
                    larger(so_far.force, absolute(at)))


@kernel
def on_cone(x1: Scalar, x2: Scalar, v1: Scalar, v2: Scalar, most: Scalar, g: Scalar, so_far: Residual) -> Residual:
    """Residuals of friction with |x| <= most: by how much x is longer, and g (x - y), y the point of the disc next to
    x - v / g, which is x where x sticks or opposes v; in the unit of v."""
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
    """The residuals of x and v."""
    G, x, v, u, m = given.G, given.x, given.v, len(given.lower), len(given.mu)
    none = null(x[0])
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


@outlined
def measure(given: Cones) -> Scalar:
    """Fill found, of x and v. Returns 1 where the residuals are at most the bound.

    Each residual is a velocity, in m/s, or rad/s for rows of turns: COMPLEMENTARITY the largest |min(G_nn x_n, v_n)|,
    of rows within bounds |G x - clip(G x - v)|; CONE the largest G_tt (|x_t| - mu x_n); DISSIPATION the largest
    G_tt |x_t - y|, where y is the point of the disc |y| <= mu x_n next to x_t - v_t / G_tt: 0 where the contact sticks
    or x_t opposes v_t."""
    found, none = given.found, null(given.x[0])
    now = residual(given)
    bound = larger(TOLERANCE * found[SPEED], ROUNDING * now.force)
    worst = sqrt(larger(now.complementarity, larger(now.cone, now.dissipation)))
    found[COMPLEMENTARITY], found[CONE] = sqrt(now.complementarity), sqrt(now.cone)
    found[DISSIPATION], found[BOUND] = sqrt(now.dissipation), bound
    return where(worst <= bound, none + 1.0, none)


@kernel
def settle(given: Cones, live: Scalar) -> Scalar:
    """Measure; on lanes that seem to be done, of velocities computed anew. Returns what is still live."""
    none = null(live)
    done = where(live > 0.0, measure(given), none)
    if some(done > 0.0):
        velocities(given, given.fresh)
        for k in range(len(given.v)):
            given.v[k] = where(done > 0.0, given.fresh[k], given.v[k])
        done = where(done > 0.0, measure(given), none)
    return where(done > 0.0, none, live)


@outlined
def solve_cones(given: Cones) -> None:
    """Fill x, v and found from the others, beginning with x."""
    none = null(given.x[0])
    one = none + 1.0
    begin(given)
    factorize(given)
    velocities(given, given.v)
    given.found[SPEED], given.found[SWEPT] = slowness(given), none
    slow, live = TOLERANCE * given.found[SPEED], one
    for k in range(SWEEPS):
        live = settle(given, live)
        if not some(live > 0.0):
            break
        sweep(given, slow, live)
        given.found[SWEPT] += live
    if some(live > 0.0):
        velocities(given, given.fresh)
        for k in range(len(given.v)):
            given.v[k] = where(live > 0.0, given.fresh[k], given.v[k])
    measure(given)
    given.found[DONE] = where(live > 0.0, none, one)
