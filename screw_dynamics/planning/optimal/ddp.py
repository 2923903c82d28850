"""Differential dynamic programming with gaps and bounds, for many motions at once.

An iteration computes the optimal feedback of the motion's linear model and of the cost to second order
(rollout/recursions/riccati.py), in some rounds, until each limit is on the side on which it binds after the change.
A line search then applies the largest fraction a = 1, 1/2, 1/4, ... of the change that decreases the merit J + nu
sum |gap| by at least a share of the expected decrease. Gaps are multiplied by 1 - a. If no fraction does, or if the
change is not determined, the cost of efforts is regularized by a larger `shift`."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.threads import thread_count
from screw_dynamics.constraints.box_lcp import FREE
from screw_dynamics.rollout.feedback import Motion
from screw_dynamics.rollout.recursions.entries import riccati
from screw_dynamics.rollout.recursions.matrix_products import padded
from screw_dynamics.rollout.recursions.riccati import FLAT
from screw_dynamics.rollout.recursions.riccati_memory import CHANGE, LEAST_PIVOT, Feedback, Motions

from .dynamics import Dynamics
from .objective import Objective
from .terms import run

# Share of the expected decrease of the merit that the line search requires. A smaller one lets motions jump from one
# side of a valley to the other, where the cost is more curved than the sum of squares.
SHARE = 0.25
PARTS = 0.5 ** np.arange(10)
SHIFTS = 1e-6, 100.0, 1e12           # shift: first, factor of growth, largest
ROUNDS = 10             # number of rounds in which limits change sides
AT_ONCE = 16            # motions per thread
ROUNDING = 1e-13        # relative rounding error of differences of the merit


class Iterate(NamedTuple):
    """Iterate of P motions.

    Gaps (P, N + 1, 2 n), costs (P,) without and with limits, shift (P,). Of the last iteration: feedback K (P, N, m,
    padded(2 n)), sides of bounds at which efforts are (P, N, m), and cached values of the terms, {indices of motions:
    values}."""

    motion: Motion
    gaps: np.ndarray
    cost: np.ndarray
    value: np.ndarray
    shift: np.ndarray
    K: np.ndarray
    side: np.ndarray
    known: dict


class Bounds(NamedTuple):
    """Bounds of the efforts, (1, 1, m)."""

    lower: np.ndarray
    upper: np.ndarray


class Outcome(NamedTuple):
    """Result of an iteration.

    Expected decrease of costs (P,); the fraction of the change that was applied, 0 if none; True if the change was
    limited by a shift that earlier changes required (P,)."""

    expected: np.ndarray
    part: np.ndarray
    held: np.ndarray


def begin(dynamics: Dynamics, objective: Objective, motion: Motion, gaps: np.ndarray) -> Iterate:
    """Return the Iterate of motions with gaps."""
    P, N, m = motion.u.shape
    cost, value, _ = objective.take(motion, np.arange(P))
    return Iterate(motion, gaps, cost, value, np.zeros(P), np.zeros((P, N, m, padded(2 * dynamics.robot.n))),
                   np.full((P, N, m), FREE), {})


def in_parts(function: Callable, which: np.ndarray, threads: int | None) -> list[np.ndarray]:
    """Call a function on batches of motions, which are small enough for a cache. Return its arrays, concatenated over
    all batches."""
    size = AT_ONCE * thread_count(threads)
    parts = [function(which[k:k + size]) for k in range(0, len(which), size)]
    return parts[0] if len(parts) == 1 else [*map(np.concatenate, zip(*parts, strict=True))]


def best_feedback(dynamics: Dynamics, objective: Objective, bounds: Bounds, at: Iterate, which: np.ndarray
                  ) -> tuple[Feedback, np.ndarray, np.ndarray]:
    """Return the second-order optimal feedback of the motions `which`, its shifts (P,), and the expected decreases of
    costs (P,). Its K are those of `at` if the motions are consecutive."""
    some, values = run(which), at.known.get(tuple(which))
    motion, shift, side = Motion(*(x[some] for x in at.motion)), at.shift[which], at.side[some]
    F = dynamics.derivatives(motion, False)
    values = objective.take(motion, which, True).values if values is None else values
    sides = objective.sides(values, which)
    for _ in range(ROUNDS):
        added, *squares = objective.derivatives(values, which, sides)
        given = Motions(F, *squares, at.gaps[some], bounds.lower - motion.u, bounds.upper - motion.u, shift,
                        dynamics.h)
        found = _determined(given, side, dynamics.threads, bool(objective.limits), at.K[some])
        if not objective.limits:
            break
        side, before, sides = found.side, sides, objective.sides(values, which, found.z)
        if all((x == y).all() for x, y in zip(sides, before, strict=True)):
            break
    return found, shift, at.value[which] - at.cost[which] - added - found.told[:, CHANGE]


def expected_alone(dynamics: Dynamics, objective: Objective, bounds: Bounds, at: Iterate, which: np.ndarray
                   ) -> np.ndarray:
    """Return the expected decreases of costs (P,) of the change without a shift."""
    alone = at._replace(shift=np.zeros_like(at.shift), K=np.zeros_like(at.K))
    found = in_parts(lambda some: best_feedback(dynamics, objective, bounds, alone, some)[2:], which, dynamics.threads)
    return found[0]


def _determined(given, side, threads, change, K):
    """Return the Feedback of Motions. Their `shift` is increased as far as required. Other arguments are those of
    riccati."""
    found, shift = riccati(given, side, threads, change, K), given.shift
    while True:
        flat = ~(found.told[:, LEAST_PIVOT] > FLAT) & (shift < SHIFTS[2])
        if not flat.any():
            return found
        shift[flat] = np.maximum(SHIFTS[0], SHIFTS[1] * shift[flat])
        some = Motions(*(x if len(x) < len(flat) else x[flat] for x in given[:-1]), given.h)
        some = riccati(some, side[flat], threads, change)
        for whole, part in zip(found, some, strict=True):
            whole[flat] = part


def iterate(dynamics: Dynamics, objective: Objective, bounds: Bounds, at: Iterate, which: np.ndarray) -> Outcome:
    """Iterate the motions `which` in place, and return the Outcome. Other motions stay."""
    known = {}
    found = in_parts(lambda some: _iterate(dynamics, objective, bounds, at, some, known), which, dynamics.threads)
    at.known.clear()
    at.known.update(known)
    return Outcome(*found)


def _iterate(dynamics, objective, bounds, at, which, known):
    """Return the Outcome of a batch of motions. The values of the terms are stored in `known`."""
    found, shift, expected = best_feedback(dynamics, objective, bounds, at, which)
    apart = np.abs(at.gaps[run(which)]).sum(axis=(-2, -1))
    nu = np.where(apart > 0.0, np.maximum(0.0, -2.0 * expected / np.maximum(apart, 1e-300)), 0.0)
    before = at.value[which] + nu * apart
    slope = np.minimum(-expected - nu * apart, 0.0)     # limits whose sides are not settled expect an increase
    held = at.shift[which] > 0.0
    part, left = np.zeros(len(which)), np.arange(len(which))
    for a in PARTS:
        k, some = which[left], run(left)
        tried = dynamics.follow(Motion(*(x[run(k)] for x in at.motion)), *bounds, at.gaps[run(k)],
                                found.d[some], found.K[some], a)
        cost, value, values = objective.take(tried, k, bool(a == 1.0))
        merit = value + nu[left] * (1.0 - a) * apart[left]
        good = merit <= before[left] + SHARE * a * slope[left] + ROUNDING * np.abs(before[left])    # false for NaN
        part[left[good]] = a
        every = bool(good.all())
        taken, where = (slice(None), run(k)) if every else (good, k[good])
        for whole, new in zip((*at.motion, at.gaps, at.cost, at.value),
                              (*tried, (1.0 - a) * at.gaps[run(k)], cost, value), strict=True):
            whole[where] = new[taken]
        if a == 1.0 and every:
            known[tuple(which)] = values
        left = left[~good]
        if not len(left):
            break
    less = np.where(shift > SHIFTS[0], shift / SHIFTS[1], 0.0)
    more = np.maximum(SHIFTS[0], SHIFTS[1] * shift)
    at.shift[which] = np.where(part == 1.0, less, np.where(part == 0.0, more, shift))
    some = run(which)
    at.side[some] = found.side
    if not isinstance(some, slice):
        at.K[some] = found.K
    return expected, part, held
