"""Impulses x of rows within bounds and of contacts with dry friction, on a Delassus operator G = J M^-1 J^T,
v = c + G x.

Impulses to begin with stay where they serve. Else all that presses sticks, if it can; else Newton's method finds what
sticks, slides and is open, with block Gauss-Seidel (in the order of the rows, always, each row or contact is solved
exactly with the impulses of the others) before it, where it is lost between its steps, and then ADMM. Lanes converge
each for itself, and are left alone then: their numbers do not depend on the other lanes. Residuals say how far the
conditions hold, whatever happened."""
from typing import Any

from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, outlined

from .admm import alternate
from .blocks import factorize
from .newton import choose, newton
from .residuals import TOLERANCE, measure, slowness, worst
from .sticking import stick
from .sweeps import sweep
from .tables import ANEW, BOUND, DONE, FOUND, ROUNDED, SPEED, SWEPT, Cones, cones, numbers, velocities

__all__ = ["FOUND", "Cones", "cones", "numbers", "solve_cones"]

SWEEPS = 2              # before Newton's method
STEPS = 10              # of Newton's method in a round, and one more for two contacts
WIDE, NARROW = 1e-6, 1e-10      # parts of G_ii that steps add
FIRST = 6               # steps of the first round with the WIDE part
ROUNDS = 7              # the second with sweeps between the steps, the third and those after it begin with ADMM
FEWEST = 100            # steps of ADMM in the third
ENOUGH = 1e-9           # of the largest velocity: residuals that are left where both methods are lost, and told


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


@outlined
def settle(given: Cones, level: Scalar) -> Scalar:
    """Put x into best where the residuals are the least so far; these, of velocities computed anew on lanes that seem
    to be done. level: the least so far, or 0 on lanes that are done. Returns it as it is now."""
    none, found, live = null(level), given.found, level > 0.0
    done = (measure(given) > 0.0) & live
    if some(done):
        refresh(given, done)
        done = (measure(given) > 0.0) & done
    better = live & ((worst(given) < level) | done)
    for i in range(len(given.x)):
        given.best[i] = where(better, given.x[i], given.best[i])
    found[DONE] = where(done, none + 1.0, found[DONE])
    return where(done, none, where(better, worst(given), level))


@kernel
def put_best(given: Cones, level: Scalar) -> None:
    """Go back to the best x, and its velocities."""
    for i in range(len(given.x)):
        given.x[i] = given.best[i]
    velocities(given, given.v)


@outlined
def sweep_first(given: Cones, slow: Scalar, level: Scalar) -> Scalar:
    """Sweeps, as long as lanes are not done."""
    one = null(slow) + 1.0
    for _ in range(SWEEPS):
        if not some(level > 0.0):
            break
        live = where(level > 0.0, one, null(slow))
        sweep(given, slow, live)
        given.found[SWEPT] += live
        level = settle(given, level)
    return level


@kernel
def acting(given: Cones) -> Scalar:
    """How many contacts are active: fewer than there are, where other lanes have more."""
    count = null(given.found[0])
    for b in range(len(given.mu)):
        count += where(given.active[b] > 0.0, null(count) + 1.0, null(count))
    return count


@kernel
def steps_of_round(given: Cones, slow: Scalar, level: Scalar, wide: int, sweeps: bool) -> Scalar:
    """Steps of Newton's method, as many as the contacts of a lane make it, after a choice each, or before a sweep. The
    first `wide` of them add a WIDE part of G_ii, then NARROW and WIDE ones take turns: with these loads stay as they
    are shared where all that is left is rounding, with those a contact opens that cannot be closed with the others."""
    none, one, most = null(slow), null(slow) + 1.0, STEPS + 0.5 * acting(given)
    for k in range(STEPS + 1 + len(given.mu) // 2):
        left = most > none + float(k)
        live = where(left, level, none)
        if not some(live > 0.0):
            break
        if not sweeps:
            choose(given)
        newton(given, WIDE if k < wide or (k - wide) % 2 == 1 else NARROW)
        if sweeps:
            sweep(given, slow, one)
        given.found[SWEPT] += where(live > 0.0, one, none)
        level = where(left, settle(given, live), level)
    return level


@outlined
def search(given: Cones, slow: Scalar, level: Scalar) -> Scalar:
    """Newton's method, and, where that is lost, ADMM before it."""
    steps, y, z, N = FEWEST, given.y, given.z, len(given.x)
    for k in range(ROUNDS):
        if k >= 3:
            level = where(level > ENOUGH * given.found[SPEED], level, null(level))
        if not some(level > 0.0):
            break
        if k == 1:
            put_best(given, level)
            for b in range(len(given.rate)):            # which lanes that were not live have changed, too
                given.rate[b] = null(slow)
        if k == 2:
            for i in range(N):
                y[i], z[i] = null(slow), null(slow)
        if k >= 2:
            alternate(given, 0.1 if k % 2 == 0 else 1.0, steps)
            for i in range(N):
                given.x[i] = y[i] * given.free[i]
            velocities(given, given.v)
            steps += FEWEST * (k % 2)
            level = settle(given, level)
        level = steps_of_round(given, slow, level, FIRST if k == 0 else N if k == 1 else 0, k == 1)
    return level


@outlined
def solve_cones(given: Cones) -> None:
    """Fill x, v and found from the others, beginning with x.

    Impulses that were found anew have stopped what moved, too. The same again would push what now rests by as much, if
    only by a rounding, and be found anew in every second step; found anew once more they carry its weight, and stay."""
    found, none = given.found, null(given.found[0])
    begin(given)
    velocities(given, given.v)
    found[SPEED], found[SWEPT] = slowness(given), none
    found[DONE] = measure(given)
    level = where(worst(given) <= where(found[ANEW] > 0.0, found[ROUNDED], found[BOUND]), none, worst(given))
    if some(level > 0.0):
        for i in range(len(given.x)):
            given.best[i] = given.x[i]
        stick(given, level)
        level = settle(given, level)
        if some(level > 0.0):
            slow = TOLERANCE * found[SPEED]
            factorize(given)
            level = search(given, slow, sweep_first(given, slow, level))
            put_best(given, level)
        measure(given)
