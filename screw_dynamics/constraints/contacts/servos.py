"""Servos with contacts, as rows of the same problem.

Without contacts a servo's effort produces the demanded acceleration of its joint. The row of the joint compensates
contacts, stops and other forces: v = demanded, by an impulse x that keeps the effort within its limit. So a joint under
position control reaches its command against a load, and yields at its limit. Rows of acts, for each joint: SERVO_LOWER
and SERVO_UPPER bound the servo's impulse in the step. GIVEN is its impulse by the effort without contacts, replaced by
that with contacts. LEAD is the difference of the demanded velocity and the velocity without contacts. SHARE is the
fraction of its effort that a weakened servo applies; in impacts with restitution it applies none.

The row is compliant: v + COMPLIANCE g x = demanded, for an inverse inertia g of the joint. Against loads a servo is 1 /
COMPLIANCE times as stiff as its bandwidth implies. If the demand is infeasible, as for a leg on rigid ground or a
finger on a wall, this determines the efforts, which grow with the infeasible part up to the limit."""
from typing import Any

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import kernel, null

from ..cones.tables import Cones
from ..impulses import GIVEN, LEAD, LOWER, SERVO_LOWER, SERVO_UPPER, SHARE, UPPER, joints_that_may_act
from ..min_norm import Problem
from .tables import ContactTables

COMPLIANCE = 1e-9


@kernel
def servos_that_act(links: Link, acts: np.ndarray, given: ContactTables, of: np.ndarray) -> np.ndarray:
    """Return the first body of each velocity with a servo, at most as many as there is memory for."""
    if given.settings.servos[0] == 0:
        return of[:0]
    return joints_that_may_act(links, acts[SERVO_LOWER], acts[SERVO_UPPER], of)[:given.settings.servos[0]]


@kernel
def put_servo_targets(links: Link, acts: np.ndarray, of: np.ndarray, qd: np.ndarray, problem: Problem, first: int
                      ) -> None:
    """Set the right-hand sides of the servo columns from `first` on to the missing velocities: 0 unless an effort is at
    its limit. No servo presses its joint into a stop."""
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        lead = acts[LEAD, k]
        lead = where((acts[UPPER, k] == np.inf) & (qd[k] + lead < 0.0), -qd[k], lead)
        lead = where((acts[LOWER, k] == -np.inf) & (qd[k] + lead > 0.0), -qd[k], lead)
        problem.b[0, first + j] = lead


@kernel
def bound_servos(links: Link, acts: np.ndarray, of: np.ndarray, first: int, weak: bool, cones: Cones) -> None:
    """Set bounds of the servo rows from `first` on to the remaining range of their limits. Weakened servos have the
    bounds 0 unless `weak`."""
    least = 0.0 if weak else 1.0
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        given, acting = acts[GIVEN, k], acts[SHARE, k] >= least
        cones.lower[first + j] = where(acting, acts[SERVO_LOWER, k] - given, null(given))
        cones.upper[first + j] = where(acting, acts[SERVO_UPPER, k] - given, null(given))


@kernel
def soften_servos(cones: Cones, first: int, last: int) -> None:
    """Make rows from `first` to `last` compliant."""
    for j in range(first, last):
        cones.G[j, j] += COMPLIANCE * cones.size[j]


@kernel
def weaken_servos(links: Link, acts: np.ndarray, of: np.ndarray, first: int, cones: Cones) -> Any:
    """Fix the impulses of weakened servos, whose rows begin at `first`, at their fraction. Return True if there are
    any; the other impulses must then be solved again."""
    weak = False
    for j in range(len(of)):
        share, given = acts[SHARE, links.coordinate[of[j]]], acts[GIVEN, links.coordinate[of[j]]]
        x = share * (given + cones.x[first + j]) - given
        cones.lower[first + j] = where(share < 1.0, x, cones.lower[first + j])
        cones.upper[first + j] = where(share < 1.0, x, cones.upper[first + j])
        weak = weak or some(share < 1.0)
    return weak


@kernel
def record_servo_impulses(links: Link, acts: np.ndarray, of: np.ndarray, passive: int, x: np.ndarray) -> None:
    """Add impulses x to GIVEN for servos, and for brakes among the first `passive` joints."""
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        brake = (acts[LOWER, k] == -np.inf) & (acts[UPPER, k] == np.inf)
        acts[GIVEN, k] += where(brake, x[j], null(x[j])) if j < passive else x[j]
