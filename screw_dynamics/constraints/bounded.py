"""Impulses within bounds: of the rows of a Delassus operator G = J M^-1 J^T each impulse x is within [lower, upper],
and the velocity v = c + G x of its row is 0, or >= 0 where x is at its lower bound, or <= 0 at its upper one.

A stop pushes with [0, inf) or (-inf, 0], a brake holds with all numbers, dry friction f resists for a time h with
[-h f, h f]. Block principal pivoting (Judice and Pires, 1994): guess which rows are at a bound, solve for the others,
and let rows change sides as their signs say; one at a time, the first, if that does not end soon, which does by Murty's
theorem. Exact, as each solution is. Lanes have bounds and guesses of their own."""
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import absolute, some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null

DEPENDENT = 1e-14       # of a row's inverse inertia: less is rounding, of a row that others hold
ROUNDING = 1e-12        # of the largest velocity: a row at its bound that is slower than this stays there
TOGETHER = 8            # how often all rows may change sides at once
LOWER, FREE, UPPER = -1.0, 0.0, 1.0


Sizes = namedtuple("Sizes", "u")     # the number of rows


class Box(NamedTuple):
    """The rows: G, memory A; velocities c without impulses, bounds, inverse inertias that count, and what is found:
    impulses x and on which side each is, LOWER, FREE or UPPER."""

    G: Annotated[np.ndarray, "u", "u"]
    A: Annotated[np.ndarray, "u", "u"]
    c: Annotated[np.ndarray, "u"]
    lower: Annotated[np.ndarray, "u"]
    upper: Annotated[np.ndarray, "u"]
    size: Annotated[np.ndarray, "u"]
    x: Annotated[np.ndarray, "u"]
    side: Annotated[np.ndarray, "u"]


@kernel
def guess(given: Box) -> None:
    """Begin with the rows at a bound of 0 that needs no impulse, and those that have none to give."""
    c, lower, upper, side = given.c, given.lower, given.upper, given.side
    for i in range(len(c)):
        none = null(c[i])
        side[i] = where((upper[i] <= 0.0) & (c[i] <= 0.0), none + UPPER, none)
        side[i] = where((lower[i] >= 0.0) & (c[i] >= 0.0) | (lower[i] >= upper[i]), none + LOWER, side[i])


@kernel
def at_bounds(given: Box) -> None:
    """Set A and x to the equations A x = x of the free rows; others keep the impulses of their bounds."""
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
def solve(given: Box) -> None:
    """Solve A x = x by A = L D L^T; an equation that others hold counts for nothing, and its impulse is 0."""
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
def slowness(given: Box) -> Scalar:
    """Return the velocity that counts as 0."""
    fastest = null(given.c[0])
    for i in range(len(given.c)):
        fastest = where(absolute(given.c[i]) > fastest, absolute(given.c[i]), fastest)
    return ROUNDING * fastest


@kernel
def change_sides(given: Box, one: bool) -> Any:
    """Let rows change sides whose impulse is beyond a bound, or whose velocity has the wrong sign; of each lane the
    first alone if `one`. Returns where any did."""
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
def solve_bounded(given: Box) -> None:
    """Fill x and side from the others."""
    guess(given)
    for k in range(TOGETHER + 4 * len(given.x)):
        at_bounds(given)
        solve(given)
        if not some(change_sides(given, k >= TOGETHER)):
            return
