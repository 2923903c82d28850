"""Reports of a step: its residuals and its contacts."""
from screw_dynamics.numbers.scalars import larger, where
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.vectors import Vec3

from ..cones.tables import COMPLEMENTARITY, CONE, DISSIPATION, LOST, Cones
from .tables import EXCESS, OF_CONTACT, REPORTED, RESIDUALS, UNSOLVED, ContactTables


@kernel
def put_touch(given: ContactTables, k: int, force: Vec3) -> None:
    """Write contact k and its force to the report."""
    report, contact, p, n, i = given.report, given.contact, given.contact.p[k], given.contact.n[k], OF_CONTACT * k
    i += RESIDUALS + EXCESS
    none = null(report[0])
    report[i] = where(contact.gap[k] < given.settings.margin[0], contact.key[k], none - 1.0)
    report[i + 1] = contact.gap[k]
    report[i + 2], report[i + 3], report[i + 4] = p.x, p.y, p.z
    report[i + 5], report[i + 6], report[i + 7] = n.x, n.y, n.z
    report[i + 8], report[i + 9], report[i + 10] = force.x, force.y, force.z


@kernel
def note_unsolved(given: ContactTables, lost: Scalar) -> None:
    """Store the largest residual of unsolved problems over all steps: samples may be far apart."""
    given.report[UNSOLVED] = larger(given.report[UNSOLVED], lost)


@kernel
def put_report(given: ContactTables, h: Scalar, cones: Cones, count: int) -> None:
    """Write residuals, and the contacts with their forces, in world axes."""
    report, kept = given.report, given.kept
    report[0], report[1], report[2] = cones.found[COMPLEMENTARITY], cones.found[CONE], cones.found[DISSIPATION]
    note_unsolved(given, cones.found[LOST])
    for k in range(count):
        x = kept.x[k]
        put_touch(given, k, (1.0 / h) * (x.x * kept.t[k] + x.y * kept.s[k] + x.z * given.contact.n[k]))
    for k in range(count, int(given.counts[REPORTED])):
        report[RESIDUALS + EXCESS + OF_CONTACT * k] = null(h) - 1.0
    given.counts[REPORTED] = float(count)
