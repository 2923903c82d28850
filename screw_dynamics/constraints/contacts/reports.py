"""Reports of a step: its residuals and its contacts."""
from typing import Any

import numpy as np

from screw_dynamics.numbers.scalars import larger, where
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.vectors import Vec3

from ..cones.tables import COMPLEMENTARITY, CONE, DISSIPATION, LOST, Cones
from .tables import EXCESS, OF_CONTACT, REPORTED, RESIDUALS, UNSOLVED, ContactTables


@kernel
def put_touch(given: ContactTables, k: int, number: int, force: Vec3) -> None:
    """Write contact k and its force to the report, by its number there, on lanes where it counts."""
    report, gap, p, n = given.report, given.contact.gap[k], given.contact.p[k], given.contact.n[k]
    i = RESIDUALS + EXCESS + OF_CONTACT * number
    counts = gap < given.settings.margin[0]
    report[i], report[i + 1] = where(counts, given.contact.key[k], report[i]), where(counts, gap, report[i + 1])
    put(report, i + 2, p, counts)
    put(report, i + 5, n, counts)
    put(report, i + 8, force, counts)


@kernel
def put(report: np.ndarray, i: int, a: Vec3, counts: Any) -> None:
    """Write a vector from number i on, on lanes where it counts."""
    report[i] = where(counts, a.x, report[i])
    report[i + 1], report[i + 2] = where(counts, a.y, report[i + 1]), where(counts, a.z, report[i + 2])


@kernel
def note_unsolved(given: ContactTables, lost: Scalar) -> None:
    """Store the largest residual of unsolved problems over all steps: samples may be far apart."""
    given.report[UNSOLVED] = larger(given.report[UNSOLVED], lost)


@kernel
def begin_report(given: ContactTables, count: int) -> None:
    """Begin the report of a step with `count` contacts, none of which counts yet."""
    report = given.report
    for k in range(RESIDUALS):
        report[k] = null(report[k])
    for k in range(max(count, int(given.counts[REPORTED]))):
        report[RESIDUALS + EXCESS + OF_CONTACT * k] = null(report[0]) - 1.0
    given.counts[REPORTED] = float(count)


@kernel
def put_report(given: ContactTables, h: Scalar, cones: Cones, numbers: np.ndarray) -> None:
    """Add the residuals of an island, and its contacts with their forces, in world axes, by their numbers in the
    report."""
    report, kept = given.report, given.kept
    report[0] = larger(report[0], cones.found[COMPLEMENTARITY])
    report[1] = larger(report[1], cones.found[CONE])
    report[2] = larger(report[2], cones.found[DISSIPATION])
    note_unsolved(given, cones.found[LOST])
    for k in range(len(numbers)):
        x = kept.x[k]
        put_touch(given, k, numbers[k], (1.0 / h) * (x.x * kept.t[k] + x.y * kept.s[k] + x.z * given.contact.n[k]))
