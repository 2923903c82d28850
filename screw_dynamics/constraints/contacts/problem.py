"""Inputs and results of the cone solver in a step: active rows, bounds, coefficients and impulses."""
import numpy as np

from screw_dynamics.algorithms.space import vector_at
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null

from ..cones.at_address import solve_contacts_at, solve_impacts_at
from ..cones.tables import Cones
from ..impulses import LOWER, UPPER
from .motion import opening
from .tables import ContactTables

TOUCHING = 1e-12            # m: a smaller penetration is rounding


@kernel
def put_bounds(links: Link, of: np.ndarray, acts: np.ndarray, cones: Cones) -> None:
    """Fill the bounds of stops and dry friction."""
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        cones.lower[j], cones.upper[j] = acts[LOWER, k], acts[UPPER, k]


@kernel
def put_friction(given: ContactTables, cones: Cones) -> None:
    """Fill the active contacts, coefficients of friction, and contact indices of torsional and rolling friction."""
    pair, none, spins, rolls = given.geometry.pair, null(given.report[0]), 0, 0
    for k in range(len(cones.mu)):
        which = given.contact.pair[k]
        cones.mu[k], cones.restitution[k] = none + pair.mu[which], none + pair.restitution[which]
        cones.active[k] = where(given.contact.gap[k] < given.settings.margin[0], none + 1.0, none)
        if len(cones.spin_of) > 0 and pair.torsion[which] > 0.0:
            cones.spin_of[spins], cones.spin_mu[spins] = float(k), none + pair.torsion[which]
            spins += 1
        if len(cones.roll_of) > 0 and pair.rolling[which] > 0.0:
            cones.roll_of[rolls], cones.roll_mu[rolls] = float(k), none + pair.rolling[which]
            rolls += 1


@kernel
def store_impulses(given: ContactTables, cones: Cones) -> None:
    """Store the impulses of the contacts."""
    row = len(cones.lower)
    for k in range(len(cones.mu)):
        given.kept.x[k] = vector_at(cones.x, row)
        row += 3


@kernel
def solve(given: ContactTables, cones: Cones, calls: np.ndarray, impacts: bool) -> None:
    """Solve for the contact impulses, or for those of impacts."""
    if impacts:
        solve_impacts_at(calls[1], cones, given.settings.slow[0])
    else:
        solve_contacts_at(calls[1], cones)


@kernel
def hold_joints(links: Link, of: np.ndarray, acts: np.ndarray, cones: Cones) -> None:
    """Set the bounds of stops such that they hold, and those of friction and of the servos after them to 0."""
    none = null(cones.c[0])
    for j in range(len(of)):
        k = links.coordinate[of[j]]
        cones.lower[j] = where(acts[LOWER, k] > -np.inf, none, acts[LOWER, k])
        cones.upper[j] = where(acts[UPPER, k] < np.inf, none, acts[UPPER, k])
    for j in range(len(of), len(cones.lower)):
        cones.lower[j] = cones.upper[j] = none


@kernel
def penetrates(given: ContactTables, cones: Cones, u: int, h: Scalar, share: float, struck: bool, count: int
               ) -> bool:
    """Set c to the gaps at the end of a step, divided by h, and to 0 for tangents and joints. Displacements are `share`
    h times the velocities after the step plus (1 - share) h times those before, plus those of cones.first if `struck`.
    Return True if some gap is below 0."""
    below = null(h)
    for j in range(len(cones.c)):
        cones.c[j] = null(h)
    for k in range(count):
        gap, i = given.contact.gap[k], u + 3 * k
        v = cones.v[i + 2] - opening(given, k) / h
        end = gap + h * (share * v + (1.0 - share) * given.kept.before[k])
        if struck:
            for j in range(int(cones.begins[i]), int(cones.ends[i])):
                end += h * (cones.G[i + 2, j] * cones.first[j])
        counts = gap < given.settings.margin[0]
        cones.c[i + 2] = where(counts, end / h, null(h))
        below = where(counts & (end < -TOUCHING), null(h) + 1.0, below)
    for k in range(count):                                  # do not correct rounding; independent of other lanes
        i = u + 3 * k + 2
        cones.c[i] = where((below > 0.0) | (cones.c[i] > 0.0), cones.c[i], null(h))
    return some(below > 0.0)
