"""Tables of contacts, which a step reads in a workspace behind those of constraints, and the memory that it needs."""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.contact.colliders import (
    CONTACT,
    Collider,
    Contact,
    Geometry,
    Pair,
    contact_rows,
    geometry_in,
    geometry_numbers,
)
from screw_dynamics.contact.colliders import pack as packed_geometry
from screw_dynamics.numbers.lanes import places
from screw_dynamics.numbers.tables import block, packed, table, width
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.vectors import Vec3

from ..cones.tables import numbers as cone_numbers
from ..shortest import Problem, numbers_of, problem_of
from ..tables import COUNTS, LOOP, ROW, TERM, work


class Settings(NamedTuple):
    """The largest number of contacts at once; gaps (m) up to which touches are looked for; the approach (m/s) below
    which nothing rebounds, and 1 if some pair does; 1 if some pair has torsional or rolling friction; and the number of
    servos for which there is room."""

    most: int
    margin: Scalar
    slow: Scalar
    rebounds: int
    turning: int
    servos: int = 0


class Kept(NamedTuple):
    """Of a contact that a step solves: the axes t and s that make a frame with the normal; of the first collider and of
    the second the vectors from the origins of their bodies to the point; the normal velocity at the begin of the step,
    when in the step it closes, from 0 to 1, or later, and by how much the normal velocity that is asked for differs
    from that before an impact then; and the impulse along t, s and the normal."""

    t: Vec3
    s: Vec3
    a: Vec3
    b: Vec3
    before: Scalar
    closes: Scalar
    differs: Scalar
    x: Vec3


# Numbers of a report: residuals (complementarity, cone, dissipation); since the motion began, how many contacts there
# were at most more than there is room for, and the largest residual of a step that is not solved, UNSOLVED; and of each
# contact its key, or -1, gap, point, normal and force.
RESIDUALS, EXCESS = 3, 2
UNSOLVED = RESIDUALS + 1
OF_CONTACT = 11


# Counts: contacts of the report, those that are found, and more for which there is no room.
REPORTED, FOUND, MISSED = range(3)


class ContactTables(NamedTuple):
    """Geometry and settings; the contacts that are found, those kept; counts; wrenches F (6, rows) of all rows of
    contacts; bodies (2 n): the first ones of joints that act; memory of a Problem for m rows of constraints and up to
    n + rows further ones, and of the solver, and where they begin; the report of the step, and where it begins."""

    geometry: Geometry
    settings: Settings
    contact: Contact
    kept: Kept
    counts: np.ndarray
    F: np.ndarray
    bodies: np.ndarray
    memory: np.ndarray
    vectors: int
    cones: int
    report: np.ndarray
    reports: int


KEPT, SETTINGS = width(Kept), width(Settings)


def pack(settings: Settings, colliders: Sequence[Collider], pairs: Sequence[Pair], data: np.ndarray) -> np.ndarray:
    """The numbers of the tables, for ws.Tables.tables, behind those of tables.pack."""
    return np.concatenate([packed([settings]).ravel(), packed_geometry(colliders, pairs, data)])


def contact_work(n: int, m: int, settings: Settings, colliders: int, points: int) -> int:
    """Return the number of numbers in the memory of contacts, with that of m constraints of n coordinates, of one
    state."""
    most, turning, joints = settings.most, settings.turning, n + settings.servos
    return (work(n, m) + geometry_numbers(colliders) + CONTACT * (most + points) + KEPT * most + 3
            + 6 * _rows(most, turning) + numbers_of(n, m + joints + _rows(most, turning), m)
            + cone_numbers(joints, most, turning * most, turning * most) + report_numbers(most) + 2 * n)


@kernel
def _rows(most: int, turning: int) -> int:
    """Return the largest number of rows of contacts."""
    return 3 * most * (1 + turning)


@kernel
def report_numbers(most: int) -> int:
    """Return the number of numbers of a report."""
    return RESIDUALS + EXCESS + OF_CONTACT * most


@kernel
def contact_problem(given: ContactTables, like: Any, n: int, m: int, count: int) -> Problem:
    """The Problem of m rows of constraints, which are taken out of all columns, and of `count` further ones."""
    return problem_of(like, n, m + count, m, given.memory, given.vectors)


@kernel
def contacts_in(memory: np.ndarray, like: Any) -> ContactTables:
    """The contacts in a workspace, with memory for scalars of the kind of `like`."""
    head, unit = ws.header(memory), places(like)
    first, n = head.tables, head.coordinates
    loops, m, terms = int(memory[first]), int(memory[first + 1]), int(memory[first + 2])
    first = head.tables + COUNTS + LOOP * max(1, loops) + ROW * max(1, m) + TERM * max(1, terms)
    settings = table(Settings, 0.0, 1, memory, first)
    most, turning, placements = settings.most[0], settings.turning[0], head.work + unit * work(n, m)
    rows, joints = _rows(most, turning), n + settings.servos[0]
    geometry = geometry_in(memory, first + SETTINGS, like, placements)
    contact = placements + unit * geometry_numbers(geometry.colliders)
    kept = contact + unit * CONTACT * contact_rows(geometry, most)
    counts = kept + unit * KEPT * most
    F = counts + unit * 3
    vectors = F + unit * 6 * rows
    cones = vectors + unit * numbers_of(n, m + joints + rows, m)
    report = cones + unit * cone_numbers(joints, most, turning * most, turning * most)
    bodies = at(memory) + 8 * (report + unit * report_numbers(most))
    return ContactTables(
        geometry, settings, table(Contact, like, contact_rows(geometry, most), memory, contact),
        table(Kept, like, most, memory, kept), block(0.0, (3,), memory, counts), block(like, (6, rows), memory, F),
        array_at(0, int(bodies), (2 * int(n),)), memory, vectors, cones,
        block(like, (report_numbers(most),), memory, report), report)
