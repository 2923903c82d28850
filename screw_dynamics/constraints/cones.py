"""PLACEHOLDER of the lead until i29/cones is merged: disc-projected Gauss-Seidel."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import places
from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined


class Cones(NamedTuple):
    u: int
    m: int
    G: np.ndarray
    c: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    mu: np.ndarray
    active: np.ndarray
    x: np.ndarray
    residual: np.ndarray
    velocity: np.ndarray


@kernel
def cone_numbers(u: int, m: int) -> int:
    N = u + 3 * m
    return N * N + 3 * N + 2 * u + 2 * m + 3


@kernel
def cones_in(like: Any, u: int, m: int, memory: np.ndarray, start: int) -> Cones:
    unit, N = places(like), u + 3 * m
    c = start + unit * N * N
    lower = c + unit * N
    upper = lower + unit * u
    mu = upper + unit * u
    active = mu + unit * m
    x = active + unit * m
    return Cones(u, m, block(like, (N, N), memory, start), block(like, (N,), memory, c), block(like, (u,), memory, lower),
                 block(like, (u,), memory, upper), block(like, (m,), memory, mu), block(like, (m,), memory, active),
                 block(like, (N,), memory, x), block(like, (3,), memory, x + unit * N), block(like, (N,), memory, x + unit * (N + 3)))


@kernel
def velocity(g: Cones, i: int) -> Scalar:
    v = g.c[i]
    for j in range(len(g.c)):
        v += g.G[i, j] * g.x[j]
    return v


@outlined
def solve_cones(g: Cones) -> None:
    N = len(g.c)
    for sweep in range(500):
        change, most = null(g.c[0]), null(g.c[0])
        for i in range(g.u):
            old = g.x[i]
            new = old - velocity(g, i) / g.G[i, i]
            new = where(new < g.lower[i], g.lower[i], where(new > g.upper[i], g.upper[i], new))
            g.x[i] = new
            change = where(absolute(new - old) > change, absolute(new - old), change)
            most = where(absolute(new) > most, absolute(new), most)
        for k in range(g.m):
            i = g.u + 3 * k
            on = g.active[k] > 0.0
            old = g.x[i + 2]
            new = old - velocity(g, i + 2) / g.G[i + 2, i + 2]
            new = where(on & (new > 0.0), new, null(new))
            g.x[i + 2] = new
            change = where(absolute(new - old) > change, absolute(new - old), change)
            most = where(absolute(new) > most, absolute(new), most)
            size = where(g.G[i, i] > g.G[i + 1, i + 1], g.G[i, i], g.G[i + 1, i + 1])
            a, b = g.x[i] - velocity(g, i) / size, g.x[i + 1] - velocity(g, i + 1) / size
            length, limit = sqrt(a * a + b * b), g.mu[k] * new
            scale = where(length > limit, limit / where(length > limit, length, null(a) + 1.0), null(a) + 1.0)
            old_a, old_b = g.x[i], g.x[i + 1]
            g.x[i], g.x[i + 1] = scale * a, scale * b
            change = where(absolute(g.x[i] - old_a) > change, absolute(g.x[i] - old_a), change)
            change = where(absolute(g.x[i + 1] - old_b) > change, absolute(g.x[i + 1] - old_b), change)
        if not some(change > 1e-15 * most):
            break
