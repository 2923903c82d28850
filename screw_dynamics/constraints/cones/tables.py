"""Rows within bounds and contacts with friction on a Delassus operator: what is given and found, and their memory.

Rows, in this order:
  u rows within bounds    lower <= x <= upper, and v = 0, or >= 0 where x is at its lower bound, <= 0 at its upper one
  m contacts (t1, t2, n)  x_n >= 0, v_n >= 0, x_n v_n = 0, |x_t| <= mu x_n, and v_t = 0 or x_t = -mu x_n v_t / |v_t|
  spins (1 row each)      torsional friction of a contact about its normal: |x| <= mu x_n, against v
  rolls (2 rows each)     rolling friction of a contact: |x| <= mu x_n, against v"""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import places
from screw_dynamics.numbers.scalars import some
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import kernel, noinline

COMPLEMENTARITY, CONE, DISSIPATION, SPEED, SWEPT, DONE, BOUND, LOST = range(8)      # in found
FOUND = 8
OWN, AXES = 9, 3    # numbers of an Own; of axes of sliding: e, and mu where it slides, else 0


class Cones(NamedTuple):
    """The rows, N = u + 3 m + spins + 2 rolls, in the order of the memory.

    Given: G (N, N); c (N); size (N), inverse inertias that count, G_ii unless other constraints hold the row; bounds
    lower, upper (u); mu (m), >= 0 and finite, active (m), > 0 where a contact acts, and restitution (m), in [0, 1], of
    impacts alone; coefficients of spins and rolls. Found: impulses x (N), v (N), and found (8): the residuals
    COMPLEMENTARITY, CONE and DISSIPATION, see `measure`; SPEED, the largest velocity without impulses that counts;
    SWEPT, steps of the solver; DONE, 1 where the residuals are at most BOUND, else 0; LOST, the largest residual where
    the solver gave up with more than ENOUGH of SPEED, else 0.
    Memory: fresh, free, kept, best, y, z (N); A (N, N); of the m contacts and the rolls own (9 each), axes (3 each)
    and rate, of sliding; of impacts first, before, total, struck (N), may_act (m), bounds (2, u).
    The same on all lanes: the numbers of the contacts of spins and rolls, given; and begins and ends (N), between which
    columns of a row have entries in some place."""

    G: np.ndarray
    c: np.ndarray
    size: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    mu: np.ndarray
    active: np.ndarray
    restitution: np.ndarray
    spin_mu: np.ndarray
    roll_mu: np.ndarray
    x: np.ndarray
    v: np.ndarray
    found: np.ndarray
    fresh: np.ndarray
    free: np.ndarray
    kept: np.ndarray
    best: np.ndarray
    y: np.ndarray
    z: np.ndarray
    A: np.ndarray
    own: np.ndarray
    axes: np.ndarray
    rate: np.ndarray
    first: np.ndarray
    before: np.ndarray
    total: np.ndarray
    struck: np.ndarray
    may_act: np.ndarray
    bounds: np.ndarray
    spin_of: np.ndarray
    roll_of: np.ndarray
    begins: np.ndarray
    ends: np.ndarray


@kernel
def rows(u: int, m: int, spins: int = 0, rolls: int = 0) -> int:
    """Return the number of rows."""
    return u + 3 * m + spins + 2 * rolls


@kernel
def given_numbers(u: int, m: int, spins: int = 0, rolls: int = 0) -> int:
    """Return the number of numbers that are given, from G to the coefficients of rolls."""
    N = rows(u, m, spins, rolls)
    return N * N + 2 * N + 2 * u + 3 * m + spins + rolls


@kernel
def numbers(u: int, m: int, spins: int = 0, rolls: int = 0) -> int:
    """Return the number of numbers of a Cones."""
    N = rows(u, m, spins, rolls)
    own = (OWN + AXES + 1) * (m + rolls)
    return given_numbers(u, m, spins, rolls) + N * N + 12 * N + FOUND + own + m + 2 * u + spins + rolls + 2 * N


@kernel
def cones(like: Any, u: int, m: int, memory: np.ndarray, start: int, spins: int = 0, rolls: int = 0) -> Cones:
    """The Cones in memory from a position on."""
    N, unit, blocks = rows(u, m, spins, rolls), places(like), m + rolls
    c = start + unit * N * N
    lower = c + 2 * unit * N
    mu = lower + 2 * unit * u
    spin_mu = mu + 3 * unit * m
    x = spin_mu + unit * (spins + rolls)
    found = x + 2 * unit * N
    fresh = found + unit * FOUND
    A = fresh + 6 * unit * N
    own = A + unit * N * N
    axes = own + unit * OWN * blocks
    rate = axes + unit * AXES * blocks
    first = rate + unit * blocks
    may_act = first + 4 * unit * N
    spin_of = may_act + unit * (m + 2 * u)
    begins = spin_of + spins + rolls
    return Cones(block(like, (N, N), memory, start), block(like, (N,), memory, c),
                 block(like, (N,), memory, c + unit * N),
                 block(like, (u,), memory, lower), block(like, (u,), memory, lower + unit * u),
                 block(like, (m,), memory, mu), block(like, (m,), memory, mu + unit * m),
                 block(like, (m,), memory, mu + 2 * unit * m),
                 block(like, (spins,), memory, spin_mu), block(like, (rolls,), memory, spin_mu + unit * spins),
                 block(like, (N,), memory, x), block(like, (N,), memory, x + unit * N),
                 block(like, (FOUND,), memory, found), block(like, (N,), memory, fresh),
                 block(like, (N,), memory, fresh + unit * N), block(like, (N,), memory, fresh + 2 * unit * N),
                 block(like, (N,), memory, fresh + 3 * unit * N), block(like, (N,), memory, fresh + 4 * unit * N),
                 block(like, (N,), memory, fresh + 5 * unit * N),
                 block(like, (N, N), memory, A), block(like, (blocks, OWN), memory, own),
                 block(like, (blocks, AXES), memory, axes), block(like, (blocks,), memory, rate),
                 block(like, (N,), memory, first), block(like, (N,), memory, first + unit * N),
                 block(like, (N,), memory, first + 2 * unit * N), block(like, (N,), memory, first + 3 * unit * N),
                 block(like, (m,), memory, may_act), block(like, (2, u), memory, may_act + unit * m),
                 block(0.0, (spins,), memory, spin_of), block(0.0, (rolls,), memory, spin_of + spins),
                 block(0.0, (N,), memory, begins), block(0.0, (N,), memory, begins + N))


@noinline
def velocities(given: Cones, out: np.ndarray) -> None:
    """Fill out with v = c + G x."""
    G, x, begins, ends = given.G, given.x, given.begins, given.ends
    for k in range(len(out)):
        out[k] = given.c[k]
    for i in range(len(x)):
        xi = x[i]
        if some(xi != 0.0):
            for k in range(int(begins[i]), int(ends[i])):
                out[k] += xi * G[i, k]


@kernel
def end_of_block(given: Cones, i: int) -> int:
    """The first row that does not belong to that of row i, which is not of a spin or roll."""
    u = len(given.lower)
    return i + 1 if i < u else u + 3 * ((i - u) // 3) + 3


@noinline
def find_entries(given: Cones) -> None:
    """Fill begins and ends: the same of all rows of a contact, and none before those of a row above; what is solved has
    no more entries, and takes the less time the more bodies are apart. Torsional and rolling friction, whose rows are
    behind those of all contacts, have all columns."""
    G, begins, ends, N, end, begin = given.G, given.begins, given.ends, len(given.x), 0, 0
    if len(given.spin_of) + len(given.roll_of) > 0:
        end = N
    for i in range(N):
        last = N
        while last > max(end, i + 1) and not some(G[i, last - 1] != 0.0):
            last -= 1
        end = N if end == N else max(end, end_of_block(given, last - 1))
        ends[i] = float(end)
    for i in range(N - 2, -1, -1):
        if i + 1 < end_of_block(given, i):
            ends[i] = ends[i + 1]
    for i in range(N):
        while ends[begin] <= i:
            begin += 1
        begins[i] = float(begin)
