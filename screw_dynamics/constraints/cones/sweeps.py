"""A block Gauss-Seidel sweep: rows within bounds, contacts, spins and rolls are solved exactly in turn, with all other
impulses fixed."""
from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .blocks import inverse_of, own_of
from .sliding import Plane, slide
from .tables import Cones


@kernel
def change(given: Cones, i: int, dx: Scalar) -> None:
    """Change impulse i by dx, and update the velocities."""
    G, x, v = given.G, given.x, given.v
    if some(dx != 0.0):
        x[i] += dx
        for k in range(int(given.begins[i]), int(given.ends[i])):
            v[k] += dx * G[i, k]


@noinline
def on_disc(given: Cones, b: int, i: int, n: Scalar, mu: Scalar, v1: Scalar, v2: Scalar, slow: Scalar,
            on: Scalar) -> tuple[Scalar, Scalar]:
    """Return the impulses of rows i and i + 1 that stick, or slide with |y| = mu (n - k . y); v1 and v2 are the
    velocities for unchanged impulses. Returns 0 unless on > 0."""
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
    """Solve each row within its bounds."""
    x, lower, upper = given.x, given.lower, given.upper
    for i in range(len(lower)):
        y = x[i] - given.v[i] * inverse_of(given.G[i, i], given.size[i])
        y = where(y < lower[i], lower[i], where(y > upper[i], upper[i], y))
        change(given, i, where(live > 0.0, y - x[i], null(y)))


@kernel
def sweep_contacts(given: Cones, slow: Scalar, live: Scalar) -> None:
    """Solve each contact, from its velocities with the current impulses."""
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
            for k in range(int(given.begins[i]), int(given.ends[i])):
                v[k] += d1 * G[i, k] + d2 * G[i + 1, k] + dn * G[n, k]


@kernel
def sweep_spins(given: Cones, live: Scalar) -> None:
    """Solve torsional friction with fixed normal impulses."""
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
    """Solve rolling friction with fixed normal impulses."""
    x, v, u, m = given.x, given.v, len(given.lower), len(given.mu)
    first = len(x) - 2 * len(given.roll_of)
    for k in range(len(given.roll_of)):
        i, n = first + 2 * k, x[u + 3 * int(given.roll_of[k]) + 2]
        y1, y2 = on_disc(given, m + k, i, n, given.roll_mu[k], v[i], v[i + 1], slow, live)
        d1, d2 = y1 - x[i], y2 - x[i + 1]
        change(given, i, where(live > 0.0, d1, null(d1)))
        change(given, i + 1, where(live > 0.0, d2, null(d2)))


@noinline
def sweep(given: Cones, slow: Scalar, live: Scalar) -> None:
    """Solve all rows once, on lanes with live > 0."""
    sweep_bounds(given, live)
    sweep_contacts(given, slow, live)
    sweep_spins(given, live)
    sweep_rolls(given, slow, live)
