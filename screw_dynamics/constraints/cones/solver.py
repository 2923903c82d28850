"""Impulses x of rows within bounds and of contacts with dry friction, on a Delassus operator G = J M^-1 J^T,
v = c + G x.

All that presses sticks, if it can. Else Newton's method finds what sticks, slides and is open, of the least impulses:
where several have the same velocities, as four corners of a box share its load, those are taken that rows have which
yield to their impulses, v = c + (G + p diag(g)) x for p -> 0, with the weights g of `blocks`. So x is a function of the
problem, and as symmetric as that is. Newton's method finds x for p = SOFT, where it is unique for whatever sticks,
slides and is open, then lets rows yield only to what changes of it.

Where that is lost, block Gauss-Seidel (in the order of the rows, always, each row or contact is solved exactly with the
impulses of the others) comes between its steps, and then ADMM before them: loads may be shared in another way then.
Lanes converge each for itself, and are left alone then: their numbers do not depend on the other lanes. Residuals are
how far the conditions hold, whatever happened."""
import numpy as np

from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .admm import alternate, clipped
from .blocks import SOFT, factorize, put_weights
from .newton import choose, newton
from .residuals import ENOUGH, TOLERANCE, measure, slowness, worst
from .sticking import stick
from .sweeps import sweep
from .tables import FOUND, SPEED, SWEPT, Cones, cones, find_entries, numbers, velocities

__all__ = ["FOUND", "Cones", "cones", "numbers", "solve_cones"]

YIELDS = 4              # times, that rows yield to what changes: each leaves a SOFT part of what was left
STEPS = 10              # of Newton's method in a round, and one more for two contacts
WIDE, NARROW = 1e-6, 1e-10      # parts of G_ii that steps add elsewhere
YIELDING, SWEEPING, CHOOSING = range(3)     # kinds of rounds
ROUNDS = 7              # the second with sweeps between the steps, the third and those after it begin with ADMM
FEWEST = 100            # steps of ADMM in the third


@kernel
def begin(given: Cones) -> None:
    """No impulses, but of rows that must have some the least."""
    x = given.x
    for i in range(len(x)):
        x[i] = null(x[i])
    for i in range(len(given.lower)):
        x[i] = clipped(x[i], given.lower[i], given.upper[i])


@noinline
def settle(given: Cones, level: Scalar) -> Scalar:
    """Put x into best where the residuals are the least so far. level: the least so far, or 0 on lanes that are done.
    Returns it as it is now."""
    none, live = null(level), level > 0.0
    done = (measure(given) > 0.0) & live
    better = live & ((worst(given) < level) | done)
    for i in range(len(given.x)):
        given.best[i] = where(better, given.x[i], given.best[i])
    return where(done, none, where(better, worst(given), level))


@kernel
def put_best(given: Cones, level: Scalar) -> None:
    """Go back to the best x, and its velocities."""
    for i in range(len(given.x)):
        given.x[i] = given.best[i]
    velocities(given, given.v)


@kernel
def acting(given: Cones) -> Scalar:
    """Return the number of active contacts: fewer than there are, where other lanes have more."""
    count = null(given.found[0])
    for b in range(len(given.mu)):
        count += where(given.active[b] > 0.0, null(count) + 1.0, null(count))
    return count


@kernel
def steps_of_round(given: Cones, slow: Scalar, level: Scalar, kind: int) -> Scalar:
    """Steps of Newton's method, as many as the contacts of a lane make it, after a choice each, or before a sweep.

    Where rows do not yield, a WIDE part of G_ii is added before sweeps, and else in every second step: with these loads
    stay as they are shared where all that is left is rounding, with NARROW ones a contact opens that cannot be closed
    with the others."""
    none, one, most = null(slow), null(slow) + 1.0, STEPS + 0.5 * acting(given)
    for k in range(STEPS + 1 + len(given.mu) // 2):
        left = most > none + float(k)
        live = where(left, level, none)
        if not some(live > 0.0):
            break
        if kind != SWEEPING:
            choose(given)
        newton(given, 0.0 if kind == YIELDING else WIDE if kind == SWEEPING or k % 2 == 1 else NARROW)
        if kind == SWEEPING:
            sweep(given, slow, one)
            velocities(given, given.v)
        given.found[SWEPT] += where(live > 0.0, one, none)
        level = where(left, settle(given, live), level)
    return level


@kernel
def soften(given: Cones, ahead: bool) -> None:
    """Let rows yield to their impulses, or, if `ahead`, to what these change from now on; G_ii and c are kept in y and
    z."""
    G, c, x, g = given.G, given.c, given.x, given.free
    put_weights(given, g)
    for i in range(len(x)):
        given.y[i], given.z[i] = G[i, i], c[i]
        G[i, i] += SOFT * g[i]
        if ahead:
            c[i] -= SOFT * g[i] * x[i]
    velocities(given, given.v)


@kernel
def harden(given: Cones) -> None:
    """Let them yield no more."""
    for i in range(len(given.x)):
        given.G[i, i], given.c[i] = given.y[i], given.z[i]
    velocities(given, given.v)


@noinline
def least(given: Cones, level: Scalar) -> Scalar:
    """Return the least impulses, on lanes of a level > 0: of rows that yield, first to all of these, then to what they
    change. Lanes where Newton's method does not find them are left with the best that it has seen."""
    none, todo, N = null(level), level, len(given.x)
    for k in range(YIELDS):
        if not some(todo > 0.0):
            break
        for i in range(N):
            given.kept[i] = given.best[i]
        soften(given, k > 0)
        soft = steps_of_round(given, none, where(todo > 0.0, none + np.inf, none), YIELDING)
        put_best(given, soft)
        harden(given)
        for i in range(N):
            given.best[i] = given.kept[i]
        now = settle(given, where(todo > 0.0, level, none))
        level = where(todo > 0.0, now, level)
        todo = where(soft > 0.0, none, where(todo > 0.0, now, none))
    return level


@noinline
def search(given: Cones, slow: Scalar, level: Scalar) -> Scalar:
    """Newton's method, and, where that is lost, ADMM before it."""
    steps, y, z, N = FEWEST, given.y, given.z, len(given.x)
    for k in range(ROUNDS):
        if k >= 3:
            level = where(level > ENOUGH * given.found[SPEED], level, null(level))
        if not some(level > 0.0):
            break
        if k == 0:
            level = least(given, level)
            continue
        if k == 1:
            put_best(given, level)
            factorize(given)            # and how contacts slid is forgotten: lanes that were not live have changed it
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
        level = steps_of_round(given, slow, level, SWEEPING if k == 1 else CHOOSING)
    return level


@noinline
def solve_cones(given: Cones) -> None:
    """Fill x, v and found from the others."""
    found = given.found
    begin(given)
    find_entries(given)
    velocities(given, given.v)
    found[SPEED], found[SWEPT] = slowness(given), null(found[SPEED])
    level = where(measure(given) > 0.0, null(found[SPEED]), worst(given))
    if some(level > 0.0):
        for i in range(len(given.x)):
            given.best[i] = given.x[i]
        stick(given, level)
        level = settle(given, level)
        if some(level > 0.0):
            put_best(given, search(given, TOLERANCE * found[SPEED], level))
            measure(given)
