"""Alternating directions (ADMM) for contacts: x without cones, and y in them, drawn together by multipliers z, which
become the velocities with De Saxce's term mu |v_t| added to normal ones [Carpentier et al., arXiv 2405.17020].

Slow, but it comes near to a solution where sweeps and Newton's method lose their way. In units in which the normal
inverse inertias are about 1."""
import numpy as np

from screw_dynamics.numbers.scalars import some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined

from .tables import Cones

PROXIMAL = 1e-6         # of the inverse inertias, added to those of x


@kernel
def clipped(x: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    """x within bounds."""
    return where(x < lower, lower, where(x > upper, upper, x))


@kernel
def put_unit(given: Cones, first: int, count: int) -> None:
    """Fill free with the unit of rows: 1 / sqrt(G_ii), of their mean, as discs would be ellipses in several units."""
    g = null(given.found[0])
    for i in range(first, first + count):
        g += given.G[i, i]
    one = null(g) + 1.0
    unit = where(g > 0.0, 1.0 / sqrt(where(g > 0.0, g * (1.0 / count), one)), one)
    for i in range(first, first + count):
        given.free[i] = unit


@kernel
def put_units(given: Cones) -> None:
    """The same of all: of each row within bounds and spin, of the three rows of each contact, of both of each roll."""
    u, m, spins = len(given.lower), len(given.mu), len(given.spin_of)
    for i in range(u):
        put_unit(given, i, 1)
    for b in range(m):
        put_unit(given, u + 3 * b, 3)
    for k in range(spins):
        put_unit(given, u + 3 * m + k, 1)
    for k in range(len(given.roll_of)):
        put_unit(given, u + 3 * m + spins + 2 * k, 2)


@outlined
def factorize_added(given: Cones, added: Scalar) -> None:
    """Fill A, from its diagonal on, with the factors L D^-1 of G in these units, and so much on its diagonal."""
    G, A, unit = given.G, given.A, given.free
    N = len(unit)
    for i in range(N):
        for k in range(i, N):
            A[i, k] = G[i, k] * unit[i] * unit[k]
        A[i, i] += added
    for j in range(N):
        inverse = 1.0 / A[j, j]
        for i in range(j + 1, N):
            factor = A[j, i] * inverse
            if some(factor != 0.0):
                for k in range(i, N):
                    A[i, k] -= factor * A[j, k]
        for i in range(j + 1, N):
            A[j, i] *= inverse
        A[j, j] = inverse


@outlined
def solve_added(given: Cones) -> None:
    """Solve for fresh in place."""
    A, b, N = given.A, given.fresh, len(given.fresh)
    for j in range(N):
        bj = b[j]
        for i in range(j + 1, N):
            b[i] -= A[j, i] * bj
    for j in range(N):
        b[j] *= A[j, j]
    for j in range(N - 1, -1, -1):
        bj = b[j]
        for i in range(j + 1, N):
            bj -= A[j, i] * b[i]
        b[j] = bj


@kernel
def on_circle(y: np.ndarray, i: int, most: Scalar) -> None:
    """Put entries i and i + 1 into a disc."""
    size = sqrt(y[i] * y[i] + y[i + 1] * y[i + 1])
    short = where(size > most, most / where(size > 0.0, size, null(size) + 1.0), null(size) + 1.0)
    y[i], y[i + 1] = short * y[i], short * y[i + 1]


@outlined
def into_cones(given: Cones) -> None:
    """Put y into bounds and cones; torsional and rolling friction to what the normal impulses allow."""
    y, unit, u, m = given.y, given.free, len(given.lower), len(given.mu)
    for i in range(u):
        y[i] = clipped(y[i], given.lower[i] / unit[i], given.upper[i] / unit[i])
    for b in range(m):
        i = u + 3 * b
        mu, n, none = given.mu[b], y[i + 2], null(y[i])
        size = sqrt(y[i] * y[i] + y[i + 1] * y[i + 1])
        near = (mu * size + n) / (1.0 + mu * mu)
        n = where(size <= mu * n, n, where(near > 0.0, near, none))
        y[i + 2] = where(given.active[b] > 0.0, n, none)
        on_circle(y, i, mu * y[i + 2])
    for k in range(len(given.spin_of)):
        i, n = u + 3 * m + k, u + 3 * int(given.spin_of[k]) + 2
        most = given.spin_mu[k] * y[n] * unit[n] / unit[i]
        y[i] = clipped(y[i], -most, most)
    for k in range(len(given.roll_of)):
        i, n = u + 3 * m + len(given.spin_of) + 2 * k, u + 3 * int(given.roll_of[k]) + 2
        on_circle(y, i, given.roll_mu[k] * y[n] * unit[n] / unit[i])


@outlined
def alternate(given: Cones, weight: float, steps: int) -> None:
    """Steps of y and z, from where they are; a weight of about 1 draws x and y together."""
    x, y, z, b, unit = given.kept, given.y, given.z, given.fresh, given.free
    u, m = len(given.lower), len(given.mu)
    put_units(given)
    factorize_added(given, null(given.found[0]) + (weight + PROXIMAL))
    for i in range(len(x)):
        x[i] = y[i]
    for _ in range(steps):
        for i in range(len(x)):
            b[i] = weight * y[i] + PROXIMAL * x[i] + z[i] - given.c[i] * unit[i]
        for k in range(m):
            i = u + 3 * k
            b[i + 2] -= given.mu[k] * sqrt(z[i] * z[i] + z[i + 1] * z[i + 1])
        solve_added(given)
        for i in range(len(x)):
            x[i] = b[i]
            y[i] = x[i] - z[i] / weight
        into_cones(given)
        for i in range(len(x)):
            z[i] -= weight * (x[i] - y[i])
