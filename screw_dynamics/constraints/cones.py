"""Impulses x of rows within bounds and of contacts with dry friction, on a Delassus operator G = J M^-1 J^T,
v = c + G x.

Block Gauss-Seidel: in the order of the rows, always, each row or contact is solved exactly with the impulses of the
others. Lanes converge each for itself, and are left alone then: their numbers do not depend on the other lanes.
Residuals say how far the conditions hold, whatever happened."""
from typing import Any

import numpy as np

from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined

from .cone_tables import DONE, FOUND, SPEED, SWEPT, Cones, cones, numbers, velocities
from .contact_blocks import factorize
from .contact_newton import newton
from .contact_residuals import TOLERANCE, measure, slowness, worst
from .contact_sweeps import sweep

__all__ = ["FOUND", "Cones", "cones", "numbers", "solve_cones"]

SWEEPS = 200
TRIES = 3               # steps of Newton's method without gain before they are undone
FIRST = 3               # sweeps before Newton's method is tried
LEAST_ADDED, MOST_ADDED = 1e-10, 1.0        # to the diagonals of Newton's equations, of G_ii


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
def refresh(given: Cones, chosen: Any) -> None:
    """Velocities computed anew, on the lanes of a mask."""
    velocities(given, given.fresh)
    for k in range(len(given.v)):
        given.v[k] = where(chosen, given.fresh[k], given.v[k])


@kernel
def settle(given: Cones, live: Scalar) -> Scalar:
    """Measure; on lanes that seem to be done, of velocities computed anew. Returns what is still live."""
    none = null(live)
    done = where(live > 0.0, measure(given), none)
    if some(done > 0.0):
        refresh(given, done > 0.0)
        done = where(done > 0.0, measure(given), none)
    return where(done > 0.0, none, live)


@kernel
def keep(given: Cones, chosen: Any) -> None:
    """Keep the impulses of the lanes of a mask."""
    for i in range(len(given.x)):
        given.kept[i] = where(chosen, given.x[i], given.kept[i])


@kernel
def restore(given: Cones, chosen: Any) -> None:
    """Go back to the impulses that were kept, on the lanes of a mask."""
    for i in range(len(given.x)):
        given.x[i] = where(chosen, given.kept[i], given.x[i])
    refresh(given, chosen)


@outlined
def solve_cones(given: Cones) -> None:
    """Fill x, v and found from the others, beginning with x."""
    found, none = given.found, null(given.x[0])
    one = none + 1.0
    begin(given)
    factorize(given)
    velocities(given, given.v)
    found[SPEED], found[SWEPT] = slowness(given), none
    slow, live = TOLERANCE * found[SPEED], one
    added, wait, pause, tries, level = none + LEAST_ADDED, none + FIRST, one, none, none + np.inf
    for _ in range(SWEEPS):
        live = settle(given, live)
        if not some(live > 0.0):
            break
        now = worst(given)
        better = (live > 0.0) & (wait <= 0.0) & (now < level)
        if some(better):
            keep(given, better)
        added = where(better & (tries > 0.0), added * 1e-3, added)
        pause, tries, level = where(better, one, pause), where(better, none, tries), where(better, now, level)
        lost = (live > 0.0) & (tries >= TRIES)
        if some(lost):
            restore(given, lost)
        pause, added = where(lost, 2.0 * pause, pause), where(lost, 1e3 * added, added)
        added = where(added > MOST_ADDED, none + MOST_ADDED, where(added < LEAST_ADDED, none + LEAST_ADDED, added))
        wait, tries, level = where(lost, pause, wait), where(lost, none, tries), where(lost, none + np.inf, level)
        steps = where((wait <= 0.0) & (live > 0.0), one, none)
        if some(steps > 0.0):
            tries += steps
            newton(given, added, steps)
        sweep(given, slow, live)
        wait, found[SWEPT] = wait - 1.0, found[SWEPT] + live
    if some(live > 0.0):
        refresh(given, live > 0.0)
        measure(given)
    found[DONE] = where(live > 0.0, none, one)
