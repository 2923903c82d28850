"""Tables of contacts, which a step reads in a workspace behind those of constraints, and the memory that it needs."""
from collections import namedtuple
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.contact.colliders import (
    Collider,
    Contact,
    Geometry,
    Pair,
    contact_rows,
    geometry_in,
    geometry_numbers,
)
from screw_dynamics.contact.colliders import pack as packed_geometry
from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.memory import Shared, Words, arranged, room
from screw_dynamics.numbers.tables import packed, table, width
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.vectors import Vec3

from ..cones.tables import numbers as cone_numbers
from ..shortest import Problem
from ..shortest import Sizes as ProblemSizes
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


# Numbers of contacts that are found, and of those kept; of rows, twice the coordinates, and of scalars of a Problem,
# of the solver and of the report.
Sizes = namedtuple("Sizes", "found most rows twice vectors cones report")


class ContactTables(NamedTuple):
    """Geometry and settings, and the workspace; the contacts that are found, those kept; counts; wrenches F of all rows
    of contacts; memory of a Problem for m rows of constraints and up to n + rows further ones, and of the solver; the
    report of the step; bodies: the first ones of joints that act."""

    geometry: Geometry
    settings: Settings
    memory: np.ndarray
    contact: Annotated[Contact, "found"]
    kept: Annotated[Kept, "most"]
    counts: Annotated[np.ndarray, Shared, 3]
    F: Annotated[np.ndarray, 6, "rows"]
    vectors: Annotated[np.ndarray, "vectors"]
    cones: Annotated[np.ndarray, "cones"]
    report: Annotated[np.ndarray, "report"]
    bodies: Annotated[np.ndarray, Words, "twice"]


KEPT, SETTINGS = width(Kept), width(Settings)


def pack(settings: Settings, colliders: Sequence[Collider], pairs: Sequence[Pair], data: np.ndarray) -> np.ndarray:
    """Return the numbers of the tables, for ws.Tables.tables, behind those of tables.pack."""
    return np.concatenate([packed([settings]).ravel(), packed_geometry(colliders, pairs, data)])


@kernel
def sizes_of(n: int, m: int, settings: Settings, found: int) -> Sizes:
    """Return the Sizes of contacts of n coordinates with m constraints."""
    most, turning = settings.most, settings.turning
    rows, joints = 3 * most * (1 + turning), n + settings.servos
    return Sizes(found, most, rows, 2 * n, room(Problem, ProblemSizes(n, m + joints + rows, m)),
                 cone_numbers(joints, most, turning * most, turning * most), report_numbers(most))


@kernel
def report_numbers(most: int) -> int:
    """Return the number of numbers of a report."""
    return RESIDUALS + EXCESS + OF_CONTACT * most


def contact_work(n: int, m: int, settings: Settings, colliders: int, points: int) -> int:
    """Return the number of numbers in the memory of contacts, with that of m constraints of n coordinates, of one
    state."""
    return (work(n, m) + geometry_numbers(colliders)
            + room(ContactTables, sizes_of(n, m, settings, settings.most + points)))


@kernel
def contact_problem(given: ContactTables, like: Any, n: int, m: int, count: int) -> Problem:
    """Return the Problem of m rows of constraints, which are taken out of all columns, and of `count` further ones."""
    return arranged(Problem, like, ProblemSizes(n, m + count, m), given.vectors, 0)


@kernel
def contacts_in(memory: np.ndarray, like: Any) -> ContactTables:
    """Return the contacts in a workspace, with memory for scalars of the kind of `like`."""
    head, unit = ws.header(memory), lane_count(like)
    first, n = head.tables, head.coordinates
    loops, m, terms = int(memory[first]), int(memory[first + 1]), int(memory[first + 2])
    first += COUNTS + LOOP * max(1, loops) + ROW * max(1, m) + TERM * max(1, terms)
    settings = table(Settings, 0.0, 1, memory, first)
    placements = head.work + unit * work(n, m)
    geometry = geometry_in(memory, first + SETTINGS, like, placements)
    one = Settings(settings.most[0], 0.0, 0.0, 0, settings.turning[0], settings.servos[0])
    sizes = sizes_of(n, m, one, contact_rows(geometry, one.most))
    return arranged(ContactTables, like, sizes, memory, placements + unit * geometry_numbers(geometry.colliders),
                    geometry, settings, memory)
