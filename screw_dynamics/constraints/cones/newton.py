"""Newton's method on the active set of the last iterate: contacts that stick, slide and are open.

In axes (e, f, n) of each sliding contact, e along its impulse x_t: v_n = 0, v_f + s x_f = 0 and x_e = mu x_n, where s
x_t = -v_t. The term s accounts for the rotation of e: this is Newton's method on the angle. A sticking contact has v =
0. Rows at a bound and open contacts keep their impulses. Dependent contacts make the equations singular: a small
multiple of G_ii is added to the diagonal, for a change of impulses of nearly minimal norm. If such contacts cannot all
be closed because their velocities are inconsistent, impulses grow without bound: a step ends where the first contact
opens."""
from typing import Any

from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .blocks import inverse_of
from .tables import Cones, velocities

OPENS = 1e-12           # times a normal impulse: its value where its contact opens


@noinline
def turn(given: Cones, i: int, e1: Scalar, e2: Scalar) -> None:
    """Rotate rows and columns i and i + 1 of A, and the right-hand side, to the axes e and f."""
    A, b, begin, end = given.A, given.fresh, int(given.begins[i]), int(given.ends[i])
    for k in range(begin, end):
        first, second = A[k, i], A[k, i + 1]
        A[k, i], A[k, i + 1] = e1 * first + e2 * second, e1 * second - e2 * first
    for k in range(begin, end):
        first, second = A[i, k], A[i + 1, k]
        A[i, k], A[i + 1, k] = e1 * first + e2 * second, e1 * second - e2 * first
    b[i], b[i + 1] = e1 * b[i] + e2 * b[i + 1], e1 * b[i + 1] - e2 * b[i]


@noinline
def tie(given: Cones, i: int, n: int, factor: Scalar) -> None:
    """Substitute `factor` times the normal impulse n for impulse i."""
    A = given.A
    if some(factor != 0.0):
        for k in range(int(given.begins[i]), int(given.ends[i])):
            A[k, n] += factor * A[k, i]


@noinline
def put_disc(given: Cones, b: int, i: int, n: int, mu: Scalar) -> None:
    """Set up the friction equations of rows i and i + 1, of block b, of a contact with normal row n."""
    x, free, none, one = given.x, given.free, null(mu), null(mu) + 1.0
    slides, held = given.rate[b] > 0.0, mu * x[n] > 0.0
    length = sqrt(x[i] * x[i] + x[i + 1] * x[i + 1])
    slides = slides & (length > 0.0)
    length = where(slides, length, one)
    e1, e2 = where(slides, x[i] / length, one), where(slides, x[i + 1] / length, none)
    given.axes[b, 0], given.axes[b, 1], given.axes[b, 2] = e1, e2, where(slides, mu, none)
    if some(slides):
        turn(given, i, e1, e2)
    free[i], free[i + 1] = where(slides, none, where(held, one, none)), where(held, one, none)
    given.A[i + 1, i + 1] += where(slides, given.rate[b], none)


@noinline
def put_equations(given: Cones) -> None:
    """Set A and fresh to the equations A dx = fresh of the free rows."""
    G, A, x, v, free, b = given.G, given.A, given.x, given.v, given.free, given.fresh
    u, m, spins = len(given.lower), len(given.mu), len(given.spin_of)
    first = u + 3 * m
    for i in range(len(x)):
        b[i] = -v[i]
        for k in range(int(given.begins[i]), int(given.ends[i])):
            A[i, k] = G[i, k]
    for i in range(u):
        inside = (x[i] > given.lower[i]) & (x[i] < given.upper[i])
        free[i] = where(inside, null(x[i]) + 1.0, null(x[i]))
    for c in range(m):
        n = u + 3 * c + 2
        free[n] = where(x[n] > 0.0, null(x[n]) + 1.0, null(x[n]))
        put_disc(given, c, n - 2, n, given.mu[c])
    for k in range(spins):
        i, n = first + k, u + 3 * int(given.spin_of[k]) + 2
        free[i] = where(absolute(x[i]) < given.spin_mu[k] * x[n], null(x[i]) + 1.0, null(x[i]))
    for k in range(len(given.roll_of)):
        put_disc(given, m + k, first + spins + 2 * k, u + 3 * int(given.roll_of[k]) + 2, given.roll_mu[k])


@kernel
def put_ties(given: Cones) -> None:
    """Couple sliding impulses to the normal impulses."""
    u, m, spins = len(given.lower), len(given.mu), len(given.spin_of)
    first = u + 3 * m
    for c in range(m):
        tie(given, u + 3 * c, u + 3 * c + 2, given.axes[c, 2])
    for k in range(spins):
        tie(given, first + k, u + 3 * int(given.spin_of[k]) + 2, sign_of_spin(given, k))
    for k in range(len(given.roll_of)):
        tie(given, first + spins + 2 * k, u + 3 * int(given.roll_of[k]) + 2, given.axes[m + k, 2])


@kernel
def sign_of_spin(given: Cones, k: int) -> Scalar:
    """Return the signed coefficient of a sliding spin; 0 for a sticking spin."""
    i = len(given.lower) + 3 * len(given.mu) + k
    none, most = null(given.x[i]), given.spin_mu[k]
    return where(given.free[i] > 0.0, none, where(given.x[i] > 0.0, most, -most))


@noinline
def factor(given: Cones, added: float) -> None:
    """Factorize A + added diag(G) = L U of the free rows: factors below the diagonal, inverses on it."""
    A, free, N, begins, ends = given.A, given.free, len(given.x), given.begins, given.ends
    for i in range(N):
        none = null(free[i])
        A[i, i] += added * given.G[i, i]
        for k in range(int(begins[i]), int(ends[i])):
            A[i, k] = where((free[i] > 0.0) & (free[k] > 0.0), A[i, k], none)
        A[i, i] = where(absolute(A[i, i]) > 0.0, A[i, i], none + 1.0)
    for j in range(N):
        if some(free[j] > 0.0):
            one, end = null(free[j]) + 1.0, int(ends[j])
            A[j, j] = 1.0 / where(absolute(A[j, j]) > 0.0, A[j, j], one)
            for i in range(j + 1, end):
                A[i, j] *= A[j, j]
                if some(A[i, j] != 0.0):
                    for k in range(j + 1, end):
                        A[i, k] -= A[i, j] * A[j, k]


@noinline
def substitute(given: Cones) -> None:
    """Solve A dx = fresh of the free rows by the factors, in place: fresh becomes dx, 0 for other rows."""
    A, b, free, N, ends = given.A, given.fresh, given.free, len(given.x), given.ends
    for i in range(N):
        b[i] = where(free[i] > 0.0, b[i], null(b[i]))
    for j in range(N):
        if some(free[j] > 0.0):
            for i in range(j + 1, int(ends[j])):
                b[i] -= A[i, j] * b[j]
    for j in range(N - 1, -1, -1):
        if some(free[j] > 0.0):
            for k in range(j + 1, int(ends[j])):
                b[j] -= A[j, k] * b[k]
            b[j] *= A[j, j]


@kernel
def put_back(given: Cones) -> None:
    """Set dx of sliding impulses from the normal ones, in the axes of the rows."""
    b, u, m, spins = given.fresh, len(given.lower), len(given.mu), len(given.spin_of)
    first = u + 3 * m
    for c in range(m):
        back(given, c, u + 3 * c, b[u + 3 * c + 2])
    for k in range(spins):
        b[first + k] += sign_of_spin(given, k) * b[u + 3 * int(given.spin_of[k]) + 2]
    for k in range(len(given.roll_of)):
        back(given, m + k, first + spins + 2 * k, b[u + 3 * int(given.roll_of[k]) + 2])


@noinline
def back(given: Cones, b: int, i: int, dn: Scalar) -> None:
    """Rotate dx of rows i and i + 1, a pair of block b, to the axes of the rows, and add the sliding part due to the
    change dn of the normal impulse."""
    e1, e2, dx = given.axes[b, 0], given.axes[b, 1], given.fresh
    along, across = dx[i] + given.axes[b, 2] * dn, dx[i + 1]
    dx[i], dx[i + 1] = e1 * along - e2 * across, e2 * along + e1 * across


@noinline
def choose_disc(given: Cones, b: int, i: int, most: Scalar, on: Any) -> None:
    """Decide sticking or sliding for the friction of rows i and i + 1, of magnitude at most `most`, and set the sliding
    direction; 0 where not `on`."""
    G, x, v = given.G, given.x, given.v
    none, g = null(most), 0.5 * (G[i, i] + G[i + 1, i + 1])
    one = none + 1.0
    g = where(g > 0.0, g, one)
    z1, z2 = x[i] - v[i] / g, x[i + 1] - v[i + 1] / g
    size = sqrt(z1 * z1 + z2 * z2)
    slides = on & (size > most) & (most > 0.0)
    short = most / where(slides, size, one)
    on = on & (most > 0.0)
    x[i] = where(slides, short * z1, where(on, x[i], none))
    x[i + 1] = where(slides, short * z2, where(on, x[i + 1], none))
    given.rate[b] = where(slides, g * (size / where(slides, most, one) - 1.0), none)


@noinline
def choose(given: Cones) -> None:
    """Decide for all rows and contacts at once whether they stick, slide or open, by x - v / G_ii."""
    G, x, v, u, m, spins = given.G, given.x, given.v, len(given.lower), len(given.mu), len(given.spin_of)
    first = u + 3 * m
    for i in range(u):
        z = x[i] - v[i] * inverse_of(G[i, i], given.size[i])
        x[i] = where(z <= given.lower[i], given.lower[i], where(z >= given.upper[i], given.upper[i], x[i]))
    for b in range(m):
        n = u + 3 * b + 2
        z = x[n] - v[n] * inverse_of(G[n, n], given.size[n])
        on = (z > 0.0) & (given.active[b] > 0.0)
        x[n] = where(on, where(x[n] > 0.0, x[n], z), null(z))
        choose_disc(given, b, n - 2, given.mu[b] * x[n], on)
    for k in range(spins):
        i, most = first + k, given.spin_mu[k] * x[u + 3 * int(given.spin_of[k]) + 2]
        z = x[i] - v[i] * inverse_of(G[i, i], given.size[i])
        x[i] = where(z <= -most, -most, where(z >= most, most, x[i]))
    for k in range(len(given.roll_of)):
        most = given.roll_mu[k] * x[u + 3 * int(given.roll_of[k]) + 2]
        choose_disc(given, m + k, first + spins + 2 * k, most, most > 0.0)
    velocities(given, v)


@kernel
def share(given: Cones) -> Scalar:
    """Return the fraction of the step `fresh`, at most 1, at which the first normal impulse becomes 0."""
    x, dx, u = given.x, given.fresh, len(given.lower)
    most = null(given.found[0]) + 1.0
    for b in range(len(given.mu)):
        n = u + 3 * b + 2
        opens = (x[n] > 0.0) & (x[n] + most * dx[n] < 0.0)
        most = where(opens, -x[n] / where(opens, dx[n], most), most)
    return most


@noinline
def newton(given: Cones, added: float) -> None:
    """Make a step of x, and update its velocities, with `added` times G_ii on the diagonal."""
    put_equations(given)
    put_ties(given)
    factor(given, added)
    substitute(given)
    put_back(given)
    x, dx, u, none = given.x, given.fresh, len(given.lower), null(given.found[0])
    for i in range(len(x)):
        dx[i] = where(absolute(dx[i]) < 1e300, dx[i], none)
    most = share(given)
    for b in range(len(given.mu)):
        n = u + 3 * b + 2
        opens = (x[n] > 0.0) & (x[n] + most * dx[n] <= OPENS * x[n])
        for i in range(n - 2, n + 1):
            x[i], dx[i] = where(opens, none, x[i]), where(opens, none, dx[i])
    for i in range(len(x)):
        x[i] += most * dx[i]
    velocities(given, given.v)
