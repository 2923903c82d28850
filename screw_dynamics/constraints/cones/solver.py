"""Impulses x of rows within bounds and of contacts with dry friction, on a Delassus operator G = J M^-1 J^T, v = c + G
x.

First all pressed contacts are tried as sticking. Otherwise Newton's method finds the active set (sticking, sliding,
open) with the least impulses. Where several impulses have the same velocities, as four corners of a box share its load,
the solution is the limit of compliant rows, v = c + (G + p diag(g)) x for p -> 0, with the weights g of `blocks`.
Thereby x is a function of the problem with the symmetry of the problem. Newton's method finds x for p = SOFT, where it
is unique for a given active set; then compliance applies only to changes of x.

If Newton's method fails, its steps alternate with block Gauss-Seidel: in fixed order, each row or contact is solved
exactly with the impulses of the other ones. After that ADMM precedes the steps; loads may then be shared in another
way. Lanes converge independently and are then frozen: their numbers do not depend on other lanes. Residuals are those
of the returned impulses in all cases."""
import numpy as np

from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

from .admm import alternate, clipped
from .blocks import SOFT, factorize, put_weights
from .newton import choose, newton
from .residuals import ENOUGH, TOLERANCE, measure, slowness, worst
from .sticking import guess_sticking
from .sweeps import sweep
from .tables import FOUND, SPEED, SWEPT, Cones, cones, find_nonzero_ranges, numbers, velocities

__all__ = ["FOUND", "Cones", "cones", "numbers", "solve_cones"]

YIELDS = 4              # rounds of compliance to changes: each leaves a fraction SOFT of the remainder
STEPS = 10              # of Newton's method in a round, plus one for every two contacts
WIDE, NARROW = 1e-6, 1e-10      # multiples of G_ii added to the diagonal in other rounds
YIELDING, SWEEPING, CHOOSING = range(3)     # kinds of rounds
ROUNDS = 7              # 2nd: with sweeps between the steps; 3rd and later: begin with ADMM
FEWEST = 100            # steps of ADMM in the third round


@kernel
def begin(given: Cones) -> None:
    """Set impulses to 0, or to the bound closest to 0."""
    x = given.x
    for i in range(len(x)):
        x[i] = null(x[i])
    for i in range(len(given.lower)):
        x[i] = clipped(x[i], given.lower[i], given.upper[i])


@noinline
def keep_best(given: Cones, level: Scalar) -> Scalar:
    """Copy x to best where the residuals are the least so far. level: the least residual so far, or 0 on converged
    lanes. Return the new level."""
    none, live = null(level), level > 0.0
    done = (measure(given) > 0.0) & live
    better = live & ((worst(given) < level) | done)
    for i in range(len(given.x)):
        given.best[i] = where(better, given.x[i], given.best[i])
    return where(done, none, where(better, worst(given), level))


@kernel
def restore_best(given: Cones, level: Scalar) -> None:
    """Restore the best x and its velocities."""
    for i in range(len(given.x)):
        given.x[i] = given.best[i]
    velocities(given, given.v)


@kernel
def active_contacts(given: Cones) -> Scalar:
    """Return the number of active contacts, which may differ between lanes."""
    count = null(given.found[0])
    for b in range(len(given.mu)):
        count += where(given.active[b] > 0.0, null(count) + 1.0, null(count))
    return count


@kernel
def steps_of_round(given: Cones, slow: Scalar, level: Scalar, kind: int) -> Scalar:
    """Make steps of Newton's method, as many as the contacts of a lane require, each after a choice of the active set
    or before a sweep. Return the new level.

    Where rows are not compliant, WIDE times G_ii is added before sweeps, and else in every second step: this preserves
    load sharing where only rounding remains. With NARROW a contact opens that cannot be closed together with the
    others."""
    none, one, most = null(slow), null(slow) + 1.0, STEPS + 0.5 * active_contacts(given)
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
        level = where(left, keep_best(given, live), level)
    return level


@kernel
def soften(given: Cones, ahead: bool) -> None:
    """Make rows compliant to their impulses, or, if `ahead`, to later changes of impulses. Saves G_ii and c in y and
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
    """Restore the rigid rows."""
    for i in range(len(given.x)):
        given.G[i, i], given.c[i] = given.y[i], given.z[i]
    velocities(given, given.v)


@noinline
def least(given: Cones, level: Scalar) -> Scalar:
    """Compute the least impulses on lanes with level > 0: with rows compliant first to all impulses, then to their
    changes. Lanes on which Newton's method fails keep the best iterate. Return the new level."""
    none, todo, N = null(level), level, len(given.x)
    for k in range(YIELDS):
        if not some(todo > 0.0):
            break
        for i in range(N):
            given.kept[i] = given.best[i]
        soften(given, k > 0)
        soft = steps_of_round(given, none, where(todo > 0.0, none + np.inf, none), YIELDING)
        restore_best(given, soft)
        harden(given)
        for i in range(N):
            given.best[i] = given.kept[i]
        now = keep_best(given, where(todo > 0.0, level, none))
        level = where(todo > 0.0, now, level)
        todo = where(soft > 0.0, none, where(todo > 0.0, now, none))
    return level


@noinline
def search(given: Cones, slow: Scalar, level: Scalar) -> Scalar:
    """Run the rounds: Newton's method, and where it fails Gauss-Seidel between its steps, then ADMM before them. Return
    the new level."""
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
            restore_best(given, level)
            factorize(given)            # resets sliding directions, changed on lanes that were not live
        if k == 2:
            for i in range(N):
                y[i], z[i] = null(slow), null(slow)
        if k >= 2:
            alternate(given, 0.1 if k % 2 == 0 else 1.0, steps)
            for i in range(N):
                given.x[i] = y[i] * given.free[i]
            velocities(given, given.v)
            steps += FEWEST * (k % 2)
            level = keep_best(given, level)
        level = steps_of_round(given, slow, level, SWEEPING if k == 1 else CHOOSING)
    return level


@noinline
def solve_cones(given: Cones) -> None:
    """Compute x, v and found from the other fields."""
    found = given.found
    begin(given)
    find_nonzero_ranges(given)
    velocities(given, given.v)
    found[SPEED], found[SWEPT] = slowness(given), null(found[SPEED])
    level = where(measure(given) > 0.0, null(found[SPEED]), worst(given))
    if some(level > 0.0):
        for i in range(len(given.x)):
            given.best[i] = given.x[i]
        guess_sticking(given, level)
        level = keep_best(given, level)
        if some(level > 0.0):
            restore_best(given, search(given, TOLERANCE * found[SPEED], level))
            measure(given)
