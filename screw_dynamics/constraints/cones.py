"""Impulses x of rows within bounds and of contacts with dry friction, on a Delassus operator G = J M^-1 J^T,
v = c + G x.

Block Gauss-Seidel: in the order of the rows, always, each row or contact is solved exactly with the impulses of the
others. Lanes converge each for itself, and are left alone then: their numbers do not depend on the other lanes.
Residuals say how far the conditions hold, whatever happened."""
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined

from .cone_tables import DONE, FOUND, SPEED, SWEPT, Cones, cones, numbers, velocities
from .contact_blocks import factorize
from .contact_residuals import TOLERANCE, measure, slowness
from .contact_sweeps import sweep

__all__ = ["FOUND", "Cones", "cones", "numbers", "solve_cones"]

SWEEPS = 200


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
    for _ in range(SWEEPS):
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
