"""Initial guess: all pressed contacts stick. If cones and bounds admit this, it is the solution.

Contacts may share a load arbitrarily, and strain against each other without effect. Here the impulses of least weighted
squares are taken: the load is shared evenly without internal strain, as friction spent on strain cannot hold. Contacts
that would have to pull, and rows beyond a bound, are removed from the sticking set; then the least impulses of the
remaining ones are taken. So a force that lifts a body also shares the load evenly. Removed contacts are not added
again, although smaller impulses may require them. Impulses outside the cones are projected onto them, as the starting
point of Newton's method."""
from typing import Any

from screw_dynamics.numbers.scalars import absolute, larger, some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .admm import clipped, factorize_added, on_circle, solve_added
from .blocks import SOFT, put_units
from .residuals import TOLERANCE
from .tables import SPEED, Cones, velocities

SOLVES = 12             # each removes the error that the regularization SOFT leaves in the previous one
TRIALS = 4              # all but the first remove further contacts


@kernel
def choose_rows(given: Cones) -> None:
    """Set free to the units of the sticking rows, and 0 for other rows. Sticking: contacts that do not open faster than
    the velocity scale, and rows whose x is between its bounds or whose v opposes the bound."""
    x, v, free, mu, u, m = given.x, given.v, given.free, given.mu, len(given.lower), len(given.mu)
    none = null(given.found[0])
    put_units(given)
    for i in range(u):
        above = (x[i] > given.lower[i]) | ((v[i] < 0.0) & (given.lower[i] < given.upper[i]))
        below = (x[i] < given.upper[i]) | ((v[i] > 0.0) & (given.lower[i] < given.upper[i]))
        free[i] = where(above & below, free[i], none)
    for b in range(m):
        i, n = u + 3 * b, u + 3 * b + 2
        presses = (given.active[b] > 0.0) & (v[n] <= given.found[SPEED])
        free[n] = where(presses, free[n], none)
        free[i] = free[i + 1] = where(presses & (mu[b] > 0.0), free[i], none)
    exclude_unpressed_friction(given, none + 1.0)


@kernel
def allowed(given: Cones) -> Any:
    """Return the mask of lanes whose impulses are within bounds and cones."""
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
def exclude_rows(given: Cones, first: int, count: int, out: Any) -> None:
    """Remove rows from the sticking set, on the lanes of a mask."""
    for i in range(first, first + count):
        given.free[i] = where(out, null(given.x[i]), given.free[i])
        given.x[i] = where(out, null(given.x[i]), given.x[i])


@kernel
def exclude_unpressed_friction(given: Cones, left: Scalar) -> None:
    """Remove torsional and rolling friction of unpressed contacts from the sticking set, on lanes where `left` is not
    0."""
    free, u, spins = given.free, len(given.lower), len(given.spin_of)
    first = u + 3 * len(given.mu)
    for k in range(spins):
        exclude_rows(given, first + k, 1, (left > 0.0) & (free[u + 3 * int(given.spin_of[k]) + 2] == 0.0))
    for k in range(len(given.roll_of)):
        n = u + 3 * int(given.roll_of[k]) + 2
        exclude_rows(given, first + spins + 2 * k, 2, (left > 0.0) & (free[n] == 0.0))


@kernel
def release_pulling(given: Cones, left: Scalar) -> bool:
    """Remove pulling contacts and rows beyond their bounds from the sticking set, on lanes where `left` is not 0.
    Return True if any were removed."""
    x, free, u, m, any_of = given.x, given.free, len(given.lower), len(given.mu), False
    for i in range(u):
        at = clipped(x[i], given.lower[i], given.upper[i])
        beyond = (left > 0.0) & (x[i] != at)
        any_of = any_of or some(beyond)
        x[i], free[i] = where(beyond, at, x[i]), where(beyond, null(at), free[i])
    for b in range(m):
        pulls = (left > 0.0) & (x[u + 3 * b + 2] < 0.0)
        any_of = any_of or some(pulls)
        exclude_rows(given, u + 3 * b, 3, pulls)
    exclude_unpressed_friction(given, left)
    return any_of


@kernel
def moving(given: Cones) -> Scalar:
    """Return the largest velocity of a sticking row."""
    fastest = null(given.found[0])
    for i in range(len(given.v)):
        fastest = larger(fastest, where(given.free[i] > 0.0, absolute(given.v[i]), null(fastest)))
    return fastest


@kernel
def put_least(given: Cones, left: Scalar) -> None:
    """Set x to the least impulses of the sticking rows, and v to its velocities, on lanes where `left` is not 0."""
    x, v, unit, none = given.x, given.v, given.free, null(left)
    factorize_added(given, none + SOFT)
    for i in range(len(x)):
        x[i] = where((left > 0.0) & (unit[i] > 0.0), none, x[i])
    velocities(given, v)
    for _ in range(SOLVES):
        for i in range(len(x)):
            given.fresh[i] = -unit[i] * v[i]
        solve_added(given)
        for i in range(len(x)):
            dx = unit[i] * given.fresh[i]
            x[i] = where((left > 0.0) & (absolute(dx) < 1e300), x[i] + dx, x[i])
        velocities(given, v)
        left = where(moving(given) > TOLERANCE * given.found[SPEED], left, none)
        if not some(left > 0.0):
            break


@kernel
def put_within(given: Cones, left: Scalar) -> None:
    """Project x onto bounds and cones, on lanes where `left` is not 0."""
    x, y, u, m = given.x, given.y, len(given.lower), len(given.mu)
    for i in range(len(x)):
        y[i] = x[i]
    for i in range(u):
        y[i] = clipped(y[i], given.lower[i], given.upper[i])
    for b in range(m):
        n = u + 3 * b + 2
        y[n] = where(y[n] > 0.0, y[n], null(y[n]))
        on_circle(y, n - 2, given.mu[b] * y[n])
    first, spins = u + 3 * m, len(given.spin_of)
    for k in range(spins):
        most = given.spin_mu[k] * y[u + 3 * int(given.spin_of[k]) + 2]
        y[first + k] = clipped(y[first + k], -most, most)
    for k in range(len(given.roll_of)):
        on_circle(y, first + spins + 2 * k, given.roll_mu[k] * y[u + 3 * int(given.roll_of[k]) + 2])
    for i in range(len(x)):
        x[i] = where(left > 0.0, y[i], x[i])
    velocities(given, given.v)


@noinline
def guess_sticking(given: Cones, level: Scalar) -> None:
    """Compute the least impulses with all pressed contacts sticking, on lanes with level > 0; where these are not
    admissible, project them."""
    choose_rows(given)
    left = level
    for trial in range(TRIALS):
        if trial > 0 and not release_pulling(given, left):
            break
        put_least(given, left)
        left = where(allowed(given), null(left), left)
        if not some(left > 0.0):
            return
    put_within(given, left)
