"""All that presses sticks, to begin with: where cones and bounds allow that, nothing else has to be found.

Contacts may share a load as they like, and strain against each other without an effect. The impulses taken here are
those that change the least from those to begin with; where cones do not allow these, or nothing pressed before, the
least of all: a load is shared evenly, and nothing is strained. Contacts that would have to pull for that are left out,
and the least impulses of the others taken: what lifts a body from the ground shares its weight evenly, too. Sweeps
would leave whatever their order makes of it, and friction that is spent on strain does not hold."""
from typing import Any

from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined

from .admm import factorize_added, solve_added
from .tables import Cones, velocities

ADDED = 1e-10           # to the diagonal, in these units
SOLVES = 2              # the second takes away what the part added to the diagonal leaves


@kernel
def put_units(given: Cones, cold: Any) -> None:
    """Fill free with the units of rows that stick, 1 / sqrt(G_ii), and 0 of the others: of contacts that press, of all
    active ones where cold, and of bounds between these."""
    G, x, free, mu, u, m = given.G, given.x, given.free, given.mu, len(given.lower), len(given.mu)
    none, one = null(given.found[0]), null(given.found[0]) + 1.0
    for i in range(u):
        free[i] = where((x[i] > given.lower[i]) & (x[i] < given.upper[i]), one, none)
    for b in range(m):
        i, n = u + 3 * b, u + 3 * b + 2
        presses = (given.active[b] > 0.0) & ((x[n] > 0.0) | cold)
        free[n] = where(presses, one, none)
        free[i] = free[i + 1] = where(presses & (mu[b] > 0.0), one, none)
    first = u + 3 * m
    for k in range(len(given.spin_of)):
        free[first + k] = free[u + 3 * int(given.spin_of[k]) + 2]
    first += len(given.spin_of)
    for k in range(len(given.roll_of)):
        free[first + 2 * k] = free[first + 2 * k + 1] = free[u + 3 * int(given.roll_of[k]) + 2]
    for i in range(len(free)):
        free[i] *= 1.0 / sqrt(where(G[i, i] > 0.0, G[i, i], one))


@kernel
def allowed(given: Cones) -> Any:
    """Where impulses are within bounds and cones."""
    x, u, m, one = given.x, len(given.lower), len(given.mu), null(given.found[0]) + 1.0
    within = one
    for i in range(u):
        within = where((x[i] >= given.lower[i]) & (x[i] <= given.upper[i]), within, null(one))
    for b in range(m):
        i, n = u + 3 * b, u + 3 * b + 2
        most = given.mu[b] * x[n]
        within = where((x[n] >= 0.0) & (x[i] * x[i] + x[i + 1] * x[i + 1] <= most * most), within, null(one))
    first = u + 3 * m
    for k in range(len(given.spin_of)):
        most = given.spin_mu[k] * x[u + 3 * int(given.spin_of[k]) + 2]
        within = where(absolute(x[first + k]) <= most, within, null(one))
    first += len(given.spin_of)
    for k in range(len(given.roll_of)):
        i, most = first + 2 * k, given.roll_mu[k] * x[u + 3 * int(given.roll_of[k]) + 2]
        within = where(x[i] * x[i] + x[i + 1] * x[i + 1] <= most * most, within, null(one))
    return within > 0.0


@kernel
def leave_out(given: Cones, first: int, count: int, out: Any) -> None:
    """Take rows, in the places of a mask, from those that stick."""
    for i in range(first, first + count):
        given.free[i] = where(out, null(given.x[i]), given.free[i])
        given.x[i] = where(out, null(given.x[i]), given.x[i])


@kernel
def let_go(given: Cones, left: Scalar) -> bool:
    """Take contacts that pull, in places where `left` is not 0, from the rows that stick. Returns whether any do."""
    x, free, u, m, any_of = given.x, given.free, len(given.lower), len(given.mu), False
    for b in range(m):
        pulls = (left > 0.0) & (x[u + 3 * b + 2] < 0.0)
        any_of = any_of or some(pulls)
        leave_out(given, u + 3 * b, 3, pulls)
    first, spins = u + 3 * m, len(given.spin_of)
    for k in range(spins):
        leave_out(given, first + k, 1, (left > 0.0) & (free[u + 3 * int(given.spin_of[k]) + 2] == 0.0))
    for k in range(len(given.roll_of)):
        n = u + 3 * int(given.roll_of[k]) + 2
        leave_out(given, first + spins + 2 * k, 2, (left > 0.0) & (free[n] == 0.0))
    return any_of


@outlined
def stick(given: Cones, level: Scalar) -> None:
    """Take the impulses with which all that presses sticks, on lanes of a level > 0 where they are allowed: those that
    change the least, or else the least, or the least of those that do not pull; else leave them."""
    x, v, unit, before, N = given.x, given.v, given.free, given.z, len(given.x)
    none, pressed = null(level), null(level)
    for b in range(len(given.mu)):
        pressed = where(x[len(given.lower) + 3 * b + 2] > 0.0, pressed + 1.0, pressed)
    put_units(given, pressed == 0.0)
    factorize_added(given, none + ADDED)
    for i in range(N):
        before[i] = x[i]
    left = level
    for anew in range(3):
        if anew == 2:
            if not let_go(given, left):
                break
            factorize_added(given, none + ADDED)
        if anew > 0:
            for i in range(N):
                x[i] = where((left > 0.0) & (unit[i] > 0.0), none, x[i])
            velocities(given, v)
        for _ in range(SOLVES):
            for i in range(N):
                given.fresh[i] = -unit[i] * v[i]
            solve_added(given)
            for i in range(N):
                dx = unit[i] * given.fresh[i]
                x[i] = where((left > 0.0) & (absolute(dx) < 1e300), x[i] + dx, x[i])
            velocities(given, v)
        left = where(allowed(given), none, left)
        if not some(left > 0.0):
            return
    for i in range(N):
        x[i] = where(left > 0.0, before[i], x[i])
    velocities(given, v)
