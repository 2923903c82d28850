"""Search for the contacts of a step, and selection of closing ones."""
from typing import Any

import numpy as np

from screw_dynamics.collision.colliders import FAR
from screw_dynamics.collision.narrow_phase import ALL_KINDS, lister
from screw_dynamics.collision.writing import on_second
from screw_dynamics.compiled.native import at, call
from screw_dynamics.jit.numba_internals.compiler import overload
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.vectors import Vec3, cross

from .motion import locate_colliders, relative, tangent
from .tables import EXCESS, FOUND, MISSED, OF_CONTACT, REPORTED, RESIDUALS, ContactTables


@kernel
def reset_report(given: ContactTables) -> None:
    """Reset the report, and forget listed pairs: single states and lanes use the same memory in different layouts."""
    given.counts[REPORTED] = 0.0
    given.geometry.near[0] = 0.0
    for k in range(len(given.report)):
        given.report[k] = null(given.report[0])
    for k in range(given.settings.most[0]):
        given.report[RESIDUALS + EXCESS + OF_CONTACT * k] = null(given.report[0]) - 1.0


def detect_contacts(given: ContactTables, calls: np.ndarray) -> None:
    """Fill the contacts with gaps below the margin on some lane, and count them."""
    given.counts[FOUND], given.counts[MISSED] = lister(ALL_KINDS)(
        given.geometry, given.settings.margin[0], given.contact, given.settings.most[0])


@overload(detect_contacts)
def _detect_contacts(given, calls):
    return lambda given, calls: call(calls[0], (at(given.memory),))


@kernel
def find(body: Any, given: ContactTables, calls: np.ndarray) -> int:
    """Fill the contacts and their frames. Return their number.

    A contact acts on the surface of the second collider, at the landing point of the first: corners that land on a
    plane in the same step can all stick there, whatever their heights were."""
    contact, kept, geometry = given.contact, given.kept, given.geometry
    locate_colliders(body, geometry)
    detect_contacts(given, calls)
    count, missed = int(given.counts[FOUND]), given.counts[MISSED]
    most = given.report[RESIDUALS]                              # maximum over all steps: samples may be far apart
    given.report[RESIDUALS] = where(most > missed, most, null(most) + missed)
    for k in range(count):
        pair = contact.pair[k]
        i, j = geometry.collider.body[geometry.pair.first[pair]], geometry.collider.body[geometry.pair.second[pair]]
        kept.t[k] = tangent(contact.n[k])
        kept.s[k] = cross(contact.n[k], kept.t[k])
        p = on_second(contact, k)
        kept.a[k], kept.b[k] = p - body.p[i], p - body.p[j]
        kept.x[k] = zero(Vec3, body.q[0])
        kept.before[k] = null(body.q[0])
    return count


@kernel
def keep_near(body: Any, given: ContactTables, h: Scalar, count: int) -> int:
    """Remove contacts that on no lane close to within half the margin in a step of length h. Contacts that do so only
    on other lanes get the gap FAR. Return the number of remaining contacts."""
    slack = 0.5 * given.settings.margin[0]
    contact, kept, near = given.contact, given.kept, 0
    for k in range(count):
        c = relative(body, given, k)
        counts = contact.gap[k] + h * where(c.z < 0.0, c.z, null(c.z)) < slack
        if some(counts):
            contact.gap[near] = where(counts, contact.gap[k], null(c.z) + FAR)
            contact.p[near], contact.n[near] = contact.p[k], contact.n[k]
            contact.pair[near], contact.key[near] = contact.pair[k], contact.key[k]
            kept.t[near], kept.s[near], kept.a[near], kept.b[near] = kept.t[k], kept.s[k], kept.a[k], kept.b[k]
            kept.before[near] = kept.before[k]
            near += 1
    return near
