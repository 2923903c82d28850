"""Alternating direction method of multipliers (ADMM) for contacts: x without cones and y in the cones, coupled by
multipliers z. These converge to the velocities with De Saxce's term mu |v_t| added to normal velocities [Carpentier et
al., arXiv 2405.17020].

Slow, but it approaches a solution where Gauss-Seidel and Newton's method fail. In units with normal inverse inertias of
about 1."""
import numpy as np

from screw_dynamics.numbers.scalars import some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .blocks import put_units
from .tables import Cones

PROXIMAL = 1e-6         # times the inverse inertias: regularization of x


@kernel
def clipped(x: Scalar, lower: Scalar, upper: Scalar) -> Scalar:
    """Return x clipped to its bounds."""
    return where(x < lower, lower, where(x > upper, upper, x))


@noinline
def factorize_added(given: Cones, added: Scalar) -> None:
    """Compute the LDL^T factors of the scaled G plus `added` on its diagonal.

    The upper triangle of A stores L^T, and its diagonal D^-1."""
    G, A, unit, ends = given.G, given.A, given.free, given.ends
    N = len(unit)
    for i in range(N):
        for k in range(i, int(ends[i])):
            A[i, k] = G[i, k] * unit[i] * unit[k]
        A[i, i] += added
    for j in range(N):
        inverse, end = 1.0 / A[j, j], int(ends[j])
        for i in range(j + 1, end):
            factor = A[j, i] * inverse
            if some(factor != 0.0):
                for k in range(i, end):
                    A[i, k] -= factor * A[j, k]
        for i in range(j + 1, end):
            A[j, i] *= inverse
        A[j, j] = inverse


@noinline
def solve_added(given: Cones) -> None:
    """Solve A x = fresh in place, with the LDL^T factors of A."""
    A, b, N, ends = given.A, given.fresh, len(given.fresh), given.ends
    for j in range(N):
        bj = b[j]
        for i in range(j + 1, int(ends[j])):
            b[i] -= A[j, i] * bj
    for j in range(N):
        b[j] *= A[j, j]
    for j in range(N - 1, -1, -1):
        bj = b[j]
        for i in range(j + 1, int(ends[j])):
            bj -= A[j, i] * b[i]
        b[j] = bj


@kernel
def on_circle(y: np.ndarray, i: int, most: Scalar) -> None:
    """Project entries i and i + 1 onto a disc of radius `most`."""
    size = sqrt(y[i] * y[i] + y[i + 1] * y[i + 1])
    short = where(size > most, most / where(size > 0.0, size, null(size) + 1.0), null(size) + 1.0)
    y[i], y[i + 1] = short * y[i], short * y[i + 1]


@noinline
def into_cones(given: Cones) -> None:
    """Project y onto bounds and friction cones. Normal impulses set the bounds of torsional and rolling friction."""
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


@noinline
def alternate(given: Cones, weight: float, steps: int) -> None:
    """Make steps of y and z from their current values. A weight of about 1 couples x and y strongly."""
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
