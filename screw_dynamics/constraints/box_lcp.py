"""Impulses within bounds (box LCP): each impulse x of a row of a Delassus operator G = J M^-1 J^T is within [lower,
upper], and the velocity v = c + G x of its row is 0, or >= 0 where x is at its lower bound, or <= 0 at its upper one.

Bounds of a stop are [0, inf) or (-inf, 0]; of a brake (-inf, inf); of dry friction f during a time h [-h f, h f]. Block
principal pivoting (Judice and Pires, 1994): guess which rows are at a bound, solve for the other rows, and let rows
change sides by their signs. If this does not end soon, only the first such row changes, which terminates by Murty's
theorem. Solutions are exact. Each lane has its own bounds and guesses."""
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import absolute, some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

DEPENDENT = 1e-14       # times a row's inverse inertia: a smaller pivot is rounding, of a dependent row
ROUNDING = 1e-12        # times the largest velocity: a slower row at its bound stays there
TOGETHER = 8            # iterations in which all rows may change sides at once
LOWER, FREE, UPPER = -1.0, 0.0, 1.0


Sizes = namedtuple("Sizes", "u")     # number of rows


class BoxLcp(NamedTuple):
    """The rows of a box LCP: G, memory A, velocities c without impulses, bounds, inverse inertias as scale (size).
    Results: impulses x, and side: LOWER, FREE or UPPER."""

    G: Annotated[np.ndarray, "u", "u"]
    A: Annotated[np.ndarray, "u", "u"]
    c: Annotated[np.ndarray, "u"]
    lower: Annotated[np.ndarray, "u"]
    upper: Annotated[np.ndarray, "u"]
    size: Annotated[np.ndarray, "u"]
    x: Annotated[np.ndarray, "u"]
    side: Annotated[np.ndarray, "u"]


@kernel
def guess(given: BoxLcp) -> None:
    """Set the initial sides: at a bound for rows with a bound of 0 that need no impulse, and for rows without a
    range."""
    c, lower, upper, side = given.c, given.lower, given.upper, given.side
    for i in range(len(c)):
        none = null(c[i])
        side[i] = where((upper[i] <= 0.0) & (c[i] <= 0.0), none + UPPER, none)
        side[i] = where((lower[i] >= 0.0) & (c[i] >= 0.0) | (lower[i] >= upper[i]), none + LOWER, side[i])


@kernel
def at_bounds(given: BoxLcp) -> None:
    """Set A and x to the equations A x = x of the free rows; other rows keep the impulses of their bounds."""
    G, A, x, side = given.G, given.A, given.x, given.side
    for i in range(len(x)):
        x[i] = where(side[i] < 0.0, given.lower[i], where(side[i] > 0.0, given.upper[i], -given.c[i]))
    for i in range(len(x)):
        none = null(x[i])
        for j in range(len(x)):
            A[i, j] = where(absolute(side[i]) + absolute(side[j]) > 0.0, none, G[i, j])
        A[i, i] = where(side[i] != 0.0, none + 1.0, G[i, i])
    for i in range(len(x)):
        for j in range(len(x)):
            if j != i:
                x[i] -= where(side[i] != 0.0, null(x[i]), where(side[j] != 0.0, G[i, j] * x[j], null(x[i])))


@kernel
def solve(given: BoxLcp) -> None:
    """Solve A x = x by A = L D L^T. A dependent equation is skipped, with impulse 0."""
    A, x, size, u = given.A, given.x, given.size, len(given.x)
    for j in range(u):
        none = null(x[j])
        holds = (given.side[j] != 0.0) | (A[j, j] > DEPENDENT * size[j])
        A[j, j] = where(holds, 1.0 / where(holds, A[j, j], none + 1.0), none)
        for i in range(j + 1, u):
            factor = A[j, i] * A[j, j]
            x[i] -= factor * x[j]
            for k in range(i, u):
                A[i, k] -= factor * A[j, k]
    for j in range(u - 1, -1, -1):
        for i in range(j + 1, u):
            x[j] -= A[j, i] * x[i]
        x[j] *= A[j, j]


@kernel
def slowness(given: BoxLcp) -> Scalar:
    """Return the velocity threshold that counts as 0."""
    fastest = null(given.c[0])
    for i in range(len(given.c)):
        fastest = where(absolute(given.c[i]) > fastest, absolute(given.c[i]), fastest)
    return ROUNDING * fastest


@kernel
def change_sides(given: BoxLcp, one: bool) -> Any:
    """Move rows to another side if their impulse is beyond a bound or their velocity has the wrong sign; with `one`
    only the first row of each lane. Return the mask of lanes with changes."""
    G, c, x, side, u = given.G, given.c, given.x, given.side, len(given.x)
    slow, changed = slowness(given), null(x[0])
    for i in range(u):
        v, none = c[i], null(x[i])
        for j in range(u):
            v += G[i, j] * x[j]
        narrow = given.upper[i] <= given.lower[i]
        free = where(x[i] < given.lower[i], none + LOWER, where(x[i] > given.upper[i], none + UPPER, none))
        lower = where(v < -slow, where(narrow, none + LOWER, none), none + LOWER)
        upper = where(v > slow, where(narrow, none + UPPER, none), none + UPPER)
        after = where(side[i] < 0.0, lower, where(side[i] > 0.0, upper, free))
        if one:
            after = where(changed > 0.0, side[i], after)
        changed = where(after != side[i], none + 1.0, changed)
        given.A[i, 0] = after
    for i in range(u):
        side[i] = given.A[i, 0]
    return changed > 0.0


@noinline
def solve_box_lcp(given: BoxLcp) -> None:
    """Compute x and side from the other fields."""
    guess(given)
    for k in range(TOGETHER + 4 * len(given.x)):
        at_bounds(given)
        solve(given)
        if not some(change_sides(given, k >= TOGETHER)):
            return
