"""Servos that see contacts, as rows of the same problem as these.

Without contacts a servo's effort is that by which its joint gets the acceleration it asks for. What contacts, stops and
others do to that, the row of its joint gives back: v = asked, by an impulse x that leaves the effort within its limit.
So a joint under position control reaches its command against a load, and gives way where its limit is reached. Of acts,
for each joint: SERVO_LOWER and SERVO_UPPER bound the impulse of its servo in the step, which is GIVEN by the effort
without contacts, and becomes what it is with these; LEAD is what the velocity lacks, without contacts, of that asked
for; SHARE what a weakened servo gives of what it would; against a blow that rebounds it gives nothing at once.

The row yields, v + COMPLIANCE g x = asked for an inverse inertia g of the joint: against loads a servo is 1 /
COMPLIANCE times as stiff as its bandwidth says. Where what is asked cannot be, of a leg on rigid ground or a finger on
a wall, its efforts are determined thereby, and grow with what cannot be, up to the limit."""
from typing import Any

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import kernel, null

from ..cones.tables import Cones
from ..impulses import GIVEN, LEAD, LOWER, SERVO_LOWER, SERVO_UPPER, SHARE, UPPER, joints_that_may_act
from ..shortest import Problem
from .tables import ContactTables

COMPLIANCE = 1e-9


@kernel
def servos_that_act(links: Link, acts: np.ndarray, given: ContactTables, of: np.ndarray) -> np.ndarray:
    """Return the first body of each velocity with a servo, of as many as there is room for."""
    if given.settings.servos[0] == 0:
        return of[:0]
    return joints_that_may_act(links, acts[SERVO_LOWER], acts[SERVO_UPPER], of)[:given.settings.servos[0]]


@kernel
def ask_servos(links: Link, acts: np.ndarray, of: np.ndarray, qd: np.ndarray, problem: Problem, first: int) -> None:
    """Ask the columns of servos from `first` on for what their velocities lack: nothing, but where an effort is at its
    limit. None presses its joint into a stop."""
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        lead = acts[LEAD, k]
        lead = where((acts[UPPER, k] == np.inf) & (qd[k] + lead < 0.0), -qd[k], lead)
        lead = where((acts[LOWER, k] == -np.inf) & (qd[k] + lead > 0.0), -qd[k], lead)
        problem.b[0, first + j] = lead


@kernel
def bound_servos(links: Link, acts: np.ndarray, of: np.ndarray, first: int, weak: bool, cones: Cones) -> None:
    """Bound impulses of servos, whose rows begin at `first`, by what their limits leave; those of weakened ones only if
    `weak`: else these give none."""
    least = 0.0 if weak else 1.0
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        given, acting = acts[GIVEN, k], acts[SHARE, k] >= least
        cones.lower[first + j] = where(acting, acts[SERVO_LOWER, k] - given, null(given))
        cones.upper[first + j] = where(acting, acts[SERVO_UPPER, k] - given, null(given))


@kernel
def let_servos_yield(cones: Cones, first: int, last: int) -> None:
    """Let rows from `first` to `last` yield to their impulses."""
    for j in range(first, last):
        cones.G[j, j] += COMPLIANCE * cones.size[j]


@kernel
def weaken_servos(links: Link, acts: np.ndarray, of: np.ndarray, first: int, cones: Cones) -> Any:
    """Hold impulses of weakened servos, whose rows begin at `first`, at the share that they give. Returns whether there
    are any, so that the others are to be found anew."""
    weak = False
    for j in range(len(of)):
        share, given = acts[SHARE, links.coordinate[of[j]]], acts[GIVEN, links.coordinate[of[j]]]
        x = share * (given + cones.x[first + j]) - given
        cones.lower[first + j] = where(share < 1.0, x, cones.lower[first + j])
        cones.upper[first + j] = where(share < 1.0, x, cones.upper[first + j])
        weak = weak or some(share < 1.0)
    return weak


@kernel
def tell(links: Link, acts: np.ndarray, of: np.ndarray, passive: int, x: np.ndarray) -> None:
    """Add impulses x to those GIVEN by servos, and by brakes, among the first `passive` joints."""
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        brake = (acts[LOWER, k] == -np.inf) & (acts[UPPER, k] == np.inf)
        acts[GIVEN, k] += where(brake, x[j], null(x[j])) if j < passive else x[j]
