"""Inputs, results and memory of contact problems: rows within bounds and contacts with friction on a Delassus operator.

Rows, in this order:
  u rows within bounds    lower <= x <= upper, and v = 0, or >= 0 where x is at its lower bound, <= 0 at its upper one
  m contacts (t1, t2, n)  x_n >= 0, v_n >= 0, x_n v_n = 0, |x_t| <= mu x_n, and v_t = 0 or x_t = -mu x_n v_t / |v_t|
  spins (1 row each)      torsional friction of a contact about its normal: |x| <= mu x_n, against v
  rolls (2 rows each)     rolling friction of a contact: |x| <= mu x_n, against v"""
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.memory import Shared, arranged, room
from screw_dynamics.numbers.scalars import some
from screw_dynamics.numbers.values import kernel, noinline

COMPLEMENTARITY, CONE, DISSIPATION, SPEED, SWEPT, DONE, BOUND, LOST = range(8)      # indices of found
FOUND = 8
OWN, AXES = 9, 3    # sizes of an Own, and of sliding axes: e, and mu if sliding, else 0


# Numbers of rows within bounds, contacts, spins and rolls; of all rows, and of blocks of friction.
Sizes = namedtuple("Sizes", "u m spins rolls N blocks")


class Cones(NamedTuple):
    """Inputs, results and memory of a contact problem.

    Inputs: Delassus operator G; c, velocities without impulses; size, inverse inertias as scale: G_ii unless other
    constraints hold the row; bounds; mu >= 0 and finite, active > 0 for active contacts, restitution in [0, 1] for
    impacts; coefficients of spins and rolls. Results: impulses x, velocities v, and found: residuals COMPLEMENTARITY,
    CONE and DISSIPATION, see `measure`; SPEED, the velocity scale; SWEPT, steps of the solver; DONE, 1 where the
    residuals are at most BOUND, else 0; LOST, the largest residual where the solver stopped above ENOUGH times SPEED,
    else 0.
    Memory: fresh to z; A; own, axes and rate: sliding of contacts and rolls; first to bounds: impacts.
    Equal on all lanes: contact indices of spins and rolls (input); begins and ends, the range of columns of a row with
    entries on any lane; as input, ends are upper bounds, up to which G is read."""

    G: Annotated[np.ndarray, "N", "N"]
    c: Annotated[np.ndarray, "N"]
    size: Annotated[np.ndarray, "N"]
    lower: Annotated[np.ndarray, "u"]
    upper: Annotated[np.ndarray, "u"]
    mu: Annotated[np.ndarray, "m"]
    active: Annotated[np.ndarray, "m"]
    restitution: Annotated[np.ndarray, "m"]
    spin_mu: Annotated[np.ndarray, "spins"]
    roll_mu: Annotated[np.ndarray, "rolls"]
    x: Annotated[np.ndarray, "N"]
    v: Annotated[np.ndarray, "N"]
    found: Annotated[np.ndarray, FOUND]
    fresh: Annotated[np.ndarray, "N"]
    free: Annotated[np.ndarray, "N"]
    kept: Annotated[np.ndarray, "N"]
    best: Annotated[np.ndarray, "N"]
    y: Annotated[np.ndarray, "N"]
    z: Annotated[np.ndarray, "N"]
    A: Annotated[np.ndarray, "N", "N"]
    own: Annotated[np.ndarray, "blocks", OWN]
    axes: Annotated[np.ndarray, "blocks", AXES]
    rate: Annotated[np.ndarray, "blocks"]
    first: Annotated[np.ndarray, "N"]
    before: Annotated[np.ndarray, "N"]
    total: Annotated[np.ndarray, "N"]
    struck: Annotated[np.ndarray, "N"]
    may_act: Annotated[np.ndarray, "m"]
    bounds: Annotated[np.ndarray, 2, "u"]
    spin_of: Annotated[np.ndarray, Shared, "spins"]
    roll_of: Annotated[np.ndarray, Shared, "rolls"]
    begins: Annotated[np.ndarray, Shared, "N"]
    ends: Annotated[np.ndarray, Shared, "N"]


@kernel
def sizes_of(u: int, m: int, spins: int = 0, rolls: int = 0) -> Sizes:
    """Return the Sizes of a Cones."""
    return Sizes(u, m, spins, rolls, u + 3 * m + spins + 2 * rolls, m + rolls)


@kernel
def numbers(u: int, m: int, spins: int = 0, rolls: int = 0) -> int:
    """Return the memory size of a Cones."""
    return room(Cones, sizes_of(u, m, spins, rolls))


@kernel
def cones(like: Any, u: int, m: int, memory: np.ndarray, start: int, spins: int = 0, rolls: int = 0) -> Cones:
    """Return the Cones in memory from position `start` on."""
    return arranged(Cones, like, sizes_of(u, m, spins, rolls), memory, start)


@noinline
def velocities(given: Cones, out: np.ndarray) -> None:
    """Set out to v = c + G x."""
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
    """Return the first row after the block of row i, which is no spin or roll."""
    u = len(given.lower)
    return i + 1 if i < u else u + 3 * ((i - u) // 3) + 3


@noinline
def find_nonzero_ranges(given: Cones) -> None:
    """Fill begins and ends, the ranges of nonzero columns, from upper bounds in ends. They are equal for all rows of a
    contact and monotonic; factors have the same ranges, which saves time for separate bodies. Torsional and rolling
    friction, whose rows follow those of all contacts, have all columns."""
    G, begins, ends, N, end, begin = given.G, given.begins, given.ends, len(given.x), 0, 0
    if len(given.spin_of) + len(given.roll_of) > 0:
        end = N
    for i in range(N):
        last = int(ends[i])
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
