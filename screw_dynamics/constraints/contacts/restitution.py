"""Impacts with restitution in a step: closing contacts rebound at their time of impact in the step."""
import numpy as np

from screw_dynamics.algorithms.space import put_vector, vector_at
from screw_dynamics.numbers.scalars import some, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null

from ..cones.tables import LOST, Cones
from ..min_norm import Problem
from .motion import opening
from .problem import solve
from .reports import note_unsolved
from .tables import ContactTables

WAVES = 20                  # of impacts in a step; the remaining impacts follow in the next step


@kernel
def before_impacts(given: ContactTables, problem: Problem, first: int, h: Scalar, share: float, cones: Cones) -> None:
    """Set the normal velocities in c to those at the time of closing in the step, or else those at its start, and store
    this time. Clear the impact impulses, problem.b from `first` on. share: see add_impulses_to; for 1 bodies move with
    the final velocities, else with constant acceleration."""
    for i in range(len(cones.c)):
        problem.b[0, first + i] = null(h)
    for k in range(len(cones.mu)):
        n, gap, before = len(cones.lower) + 3 * k + 2, opening(given, k), given.kept.before[k]
        none = null(gap)
        end = cones.c[n] - gap / h
        v, a = before, (end - before) / h
        if share == 1.0:
            v, a = end, none
        square = v * v - 2.0 * a * gap
        speed = sqrt(where(square > 0.0, square, none)) - v         # gap + v t + a t^2 / 2 = 0 at t = 2 gap / speed
        reaches = (square >= 0.0) & (speed > 0.0)
        closes = where(gap > 0.0, where(reaches, 2.0 * gap / where(reaches, h * speed, none + 1.0), none + 2.0), none)
        velocity = where(closes <= 1.0, before + closes * (end - before), before)
        given.kept.closes[k], given.kept.differs[k] = closes, cones.c[n] - velocity
        cones.c[n] = velocity


@kernel
def approach(given: ContactTables, h: Scalar, reach: Scalar, cones: Cones) -> tuple[Scalar, Scalar]:
    """Activate the contacts that close in the step: by their motion, or after the last impact, at the time `reach`.
    Return 1 on lanes with rebounds, and the time of the last rebound."""
    any_of, last = null(h), reach
    for k in range(len(cones.mu)):
        gap, v, time = opening(given, k), cones.c[len(cones.lower) + 3 * k + 2], given.kept.closes[k]
        one = null(gap) + 1.0
        near = given.contact.gap[k] < given.settings.margin[0]
        closing = near & ((time <= 1.0) | (gap + (1.0 - reach) * h * v < 0.0))
        cones.active[k] = where(closing, one, null(one))
        rebounds = closing & (v < -given.settings.slow[0]) & (cones.restitution[k] > 0.0)
        after = reach + gap / where(rebounds, -h * v, one)
        time = where(rebounds & (time > 1.0), where(after < 1.0, after, one), time)
        given.kept.closes[k] = time
        last = where(rebounds & (time > last), time, last)
        any_of = where(rebounds, one, any_of)
    for k in range(len(cones.mu)):                              # pushed contacts strike no earlier than the push
        time, v = given.kept.closes[k], cones.c[len(cones.lower) + 3 * k + 2]
        given.kept.closes[k] = where((time < last) & (v >= -given.settings.slow[0]), last, time)
    return any_of, last


@kernel
def strike(given: ContactTables, problem: Problem, first: int, calls: np.ndarray, h: Scalar, share: float,
           cones: Cones) -> bool:
    """Solve impacts with restitution: set problem.b from `first` on to their impulses, and update c and bounds for the
    remaining problem. Return True if there are any.

    A contact that closes within the step takes part with its velocity at that time; a closed contact takes part with
    its velocity at the start, as the effect of gravity in a step is no approach."""
    before_impacts(given, problem, first, h, share, cones)
    reach, struck, impulses = null(h), False, problem.b[0, first:]
    for _ in range(WAVES):
        any_of, reach = approach(given, h, reach, cones)
        if not some(any_of > 0.0):
            break
        struck = True
        solve(given, cones, calls, True)
        note_unsolved(given, where(any_of > 0.0, cones.found[LOST], null(h)))
        for i in range(len(cones.c)):
            impulses[i] += where(any_of > 0.0, cones.x[i], null(h))
            cones.c[i] = where(any_of > 0.0, cones.v[i], cones.c[i])
    for k in range(len(cones.mu)):
        cones.c[len(cones.lower) + 3 * k + 2] += given.kept.differs[k]
        near = given.contact.gap[k] < given.settings.margin[0]
        cones.active[k] = where(near, null(h) + 1.0, null(h))
    for j in range(len(cones.lower)):
        cones.lower[j], cones.upper[j] = cones.lower[j] - impulses[j], cones.upper[j] - impulses[j]
    return struck


@kernel
def after_impacts(given: ContactTables, impulses: np.ndarray, share: float, cones: Cones) -> None:
    """Add the impact impulses to those of the contacts. Set cones.first to their part in the displacement of the step
    beyond `share`, as an impulse acts from its time on."""
    u = len(cones.lower)
    for i in range(len(cones.first)):
        cones.first[i] = null(impulses[i])
    for k in range(len(cones.mu)):
        i = u + 3 * k
        x, time = vector_at(impulses, i), given.kept.closes[k]
        given.kept.x[k] = given.kept.x[k] + x
        put_vector(cones.first, i, where(time < 1.0, 1.0 - share - time, null(time) - share) * x)
