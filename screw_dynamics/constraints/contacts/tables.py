"""Tables of contacts in a workspace, after those of constraints, and their memory."""
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.collision.colliders import CONTACT, Contact, Geometry, contact_rows, geometry_in, geometry_numbers
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.jit.numba_internals.compiler import overload
from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.memory import Shared, Words, arranged, room
from screw_dynamics.numbers.tables import packed, table, width
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.vectors import Vec3

from ..cones.tables import numbers as cone_numbers
from ..min_norm import Problem
from ..min_norm import Sizes as ProblemSizes
from ..tables import COUNTS, LOOP, ROW, TERM, work


class Settings(NamedTuple):
    """The largest number of contacts at once; largest gap (m) of the contact search; approach velocity (m/s) below
    which contacts do not rebound, and 1 if some pair rebounds; 1 if some pair has torsional or rolling friction;
    maximum number of servos."""

    most: int
    margin: Scalar
    slow: Scalar
    rebounds: int
    turning: int
    servos: int = 0


class Kept(NamedTuple):
    """A contact in a step: the tangents t and s, a frame with the normal; a, b: vectors from the body origins of the
    first and second collider to the point; before: normal velocity at the start of the step; closes: its closing time,
    from 0 to 1 within the step, or later; differs: demanded normal velocity less that before an impact; x: impulse
    along t, s and the normal."""

    t: Vec3
    s: Vec3
    a: Vec3
    b: Vec3
    before: Scalar
    closes: Scalar
    differs: Scalar
    x: Vec3


# Layout of a report: residuals (complementarity, cone, dissipation); over all steps, the largest number of contacts
# beyond the capacity, and UNSOLVED, the largest residual of an unsolved step; for each contact its key, or -1, gap,
# point, normal and force.
RESIDUALS, EXCESS = 3, 2
UNSOLVED = RESIDUALS + 1
OF_CONTACT = 11


# Counts: contacts of the report, contacts found, and contacts beyond the capacity.
REPORTED, FOUND, MISSED = range(3)


# Numbers of selected contacts, of rows, of coordinates, of islands, of coordinates twice, of blocks of rows (a joint's
# or a contact's), and of scalars of a Problem, of the solver and of the report.
Sizes = namedtuple("Sizes", "most rows n islands twice blocks vectors cones report")


class ContactTables(NamedTuple):
    """Geometry and settings, and the workspace; found contacts, selected contacts; counts; wrenches F of all contact
    rows; memory of a Problem for m rows of constraints and up to n + rows further ones, and of the solver; the report
    of the step; sums z of the products of Y and impulses, of velocities and of displacements; bodies: first bodies of
    joints with bounded impulses. spans: see columns.py; rows: for each coordinate, the first row and the end of the
    rows whose columns of Y have an entry there. The others: see islands.py."""

    geometry: Geometry
    settings: Settings
    memory: np.ndarray
    contact: Contact
    kept: Kept
    counts: Annotated[np.ndarray, Shared, 3]
    F: Annotated[np.ndarray, 6, "rows"]
    vectors: Annotated[np.ndarray, "vectors"]
    cones: Annotated[np.ndarray, "cones"]
    report: Annotated[np.ndarray, "report"]
    z: Annotated[np.ndarray, 2, "n"]
    gaps: Annotated[np.ndarray, "most"]
    part: Annotated[np.ndarray, "blocks"]
    bodies: Annotated[np.ndarray, Words, "twice"]
    spans: Annotated[np.ndarray, Words, "blocks", 4]
    rows: Annotated[np.ndarray, Words, "n", 2]
    joints: Annotated[np.ndarray, Words, "twice"]
    reported: Annotated[np.ndarray, Words, "most"]
    moves: Annotated[np.ndarray, Words, "blocks"]
    trees: Annotated[np.ndarray, Words, "n"]
    sets: Annotated[np.ndarray, Words, "n"]
    island_of: Annotated[np.ndarray, Words, "n"]
    coordinates: Annotated[np.ndarray, Words, "n"]
    ends: Annotated[np.ndarray, Words, "islands", 4]


KEPT, SETTINGS = width(Kept), width(Settings)


def pack(settings: Settings, geometry: np.ndarray) -> np.ndarray:
    """Return the packed tables for ws.Tables.tables, to follow those of tables.pack. geometry: from colliders.pack."""
    return np.concatenate([packed([settings]).ravel(), geometry])


@kernel
def sizes_of(n: int, m: int, settings: Settings) -> Sizes:
    """Return the Sizes of contacts of n coordinates with m constraints."""
    most, turning = settings.most, settings.turning
    rows, joints = 3 * most * (1 + turning), n + settings.servos
    return Sizes(most, rows, n, n + 1, 2 * n, joints + most, room(Problem, ProblemSizes(n, m + joints + rows, m)),
                 cone_numbers(joints, most, turning * most, turning * most), report_numbers(most))


@kernel
def report_numbers(most: int) -> int:
    """Return the length of a report."""
    return RESIDUALS + EXCESS + OF_CONTACT * most


def contact_work(n: int, m: int, settings: Settings, colliders: int, pairs: int, points: int) -> int:
    """Return the memory size for contacts and m constraints of n coordinates, for one state."""
    return (work(n, m) + geometry_numbers(colliders, pairs) + CONTACT * (settings.most + points)
            + KEPT * settings.most + room(ContactTables, sizes_of(n, m, settings)))


@kernel
def contact_problem(given: ContactTables, like: Any, n: int, m: int, count: int) -> Problem:
    """Return the Problem of m rows of constraints, which are projected out of all columns, and of `count` further
    ones."""
    return arranged(Problem, like, ProblemSizes(n, m + count, m), given.vectors, 0)


@kernel
def contacts_in(memory: np.ndarray, like: Any, start: int = 0) -> ContactTables:
    """Return the contacts in a workspace from number `start` on, with memory for scalars of the type of `like`."""
    head, unit = ws.header(memory), lane_count(like)
    first, n = head.tables, head.coordinates
    loops, m, terms = int(memory[first]), int(memory[first + 1]), int(memory[first + 2])
    first += COUNTS + LOOP * max(1, loops) + ROW * max(1, m) + TERM * max(1, terms)
    settings = table(Settings, 0.0, 1, memory, first)
    placements = head.work + unit * work(n, m)
    geometry = geometry_in(memory, first + SETTINGS, like, placements)
    one = Settings(settings.most[0], 0.0, 0.0, 0, settings.turning[0], settings.servos[0])
    found = placements + unit * geometry_numbers(geometry.colliders, geometry.pairs)
    kept = found + unit * CONTACT * contact_rows(geometry, one.most)
    row = (CONTACT - 1) * unit + 1                          # of the pair there is one number for all lanes
    contacts = table(Contact, like, contact_rows(geometry, one.most) - start, memory, found + row * start)
    selected = table(Kept, like, one.most - start, memory, kept + unit * KEPT * start)
    return arranged(ContactTables, like, sizes_of(n, m, one), memory, kept + unit * KEPT * one.most, geometry, settings,
                    memory, contacts, selected)


def contacts_from(given: ContactTables, like: Any, start: int) -> ContactTables:
    """Return the contacts from number `start` on."""
    return given._replace(contact=Contact(*(column[start:] for column in given.contact)),
                          kept=Kept(*(column[start:] for column in given.kept)))


@overload(contacts_from)
def _compiled_contacts_from(given, like, start):
    return lambda given, like, start: contacts_in(given.memory, like, start)
