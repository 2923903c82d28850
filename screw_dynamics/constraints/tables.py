"""Tables of constraints in a workspace, and the memory of the recursions."""
from collections import namedtuple
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.numbers.memory import arranged, room
from screw_dynamics.numbers.tables import packed, table, width
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.se3 import Pose, Wrench, identity

from .box_lcp import BoxLcp
from .box_lcp import Sizes as LcpSizes
from .min_norm import Problem, numbers, problem

COUPLING = -1           # the kind of constraints without links; other kinds are in rows.py


class Loop(NamedTuple):
    """A constraint: its kind, first row and number of rows; body slots of its link and of the other link, and the poses
    of its frames in these bodies; the pose of its frame in its link; a number specific to its kind, or the offset of a
    coupling, which has no links."""

    kind: int
    first: int
    count: int
    link: int
    on: int
    C: Pose
    B: Pose
    F: Pose
    size: Scalar


class Row(NamedTuple):
    """A row of a subgroup, in the frame of the link, and the translation per rotation about its axis, or 0."""

    P: Wrench
    lead: Scalar


class Term(NamedTuple):
    """A term of a coupling: its row, the index of its coordinate in q, the slot of a body that this joint moves,
    ratio."""

    row: int
    place: int
    slot: int
    ratio: Scalar


# Numbers of coordinates, rows of constraints, and scalars of problems of joints, of rows, and of a BoxLcp.
Sizes = namedtuple("Sizes", "n m of_joints of_rows of_lcp")


class ConstraintTables(NamedTuple):
    """Tables of loops, rows and terms, with at least one row each, and their numbers.

    Memory: wrenches F of the rows; h, a number for each row; effort and free, for each coordinate; most, the upper
    bound of the rank; Problems of joints and of rows, and a BoxLcp for rows of joints. Rows of joints follow the m rows
    of constraints: see with_joints."""

    loop: Loop
    row: Row
    term: Term
    loops: int
    m: int
    terms: int
    F: Annotated[np.ndarray, 6, "m"]
    h: Annotated[np.ndarray, "m"]
    effort: Annotated[np.ndarray, "n"]
    free: Annotated[np.ndarray, "n"]
    most: Annotated[np.ndarray, 1]
    of_joints: Annotated[np.ndarray, "of_joints"]
    of_rows: Annotated[np.ndarray, "of_rows"]
    of_lcp: Annotated[np.ndarray, "of_lcp"]


COUNTS = 3          # numbers before the tables: counts of loops, rows and terms


def pack(loops: list[Loop], rows: list[Row], terms: list[Term]) -> np.ndarray:
    """Return the packed tables for ws.Tables.tables."""
    one = identity(0.0)
    tables = (loops or [Loop(COUPLING, 0, 0, 0, 0, one, one, one, 0.0)],
              rows or [Row(Wrench(one.p, one.p), 0.0)], terms or [Term(0, 0, 0, 0.0)])
    return np.concatenate([(len(loops), len(rows), len(terms)), *(packed(rows).ravel() for rows in tables)])


@kernel
def sizes_of(n: int, m: int) -> Sizes:
    """Return the Sizes of m constraints of n coordinates."""
    return Sizes(n, m, max(numbers(n + m, m), numbers(n, m + n)), max(numbers(m, m), numbers(n, n)),
                 room(BoxLcp, LcpSizes(n)))


@kernel
def work(n: int, m: int) -> int:
    """Return the memory size of m constraints of n coordinates for one state."""
    return room(ConstraintTables, sizes_of(n, m))


LOOP, ROW, TERM = width(Loop), width(Row), width(Term)


@kernel
def constraints_in(memory: np.ndarray, like: Any) -> ConstraintTables:
    """Return the constraints in a workspace, with memory for scalars of the type of `like`."""
    head = ws.header(memory)
    first = head.tables
    loops, m, terms = int(memory[first]), int(memory[first + 1]), int(memory[first + 2])
    first += COUNTS
    of_rows = first + LOOP * max(1, loops)
    of_terms = of_rows + ROW * max(1, m)
    return arranged(ConstraintTables, like, sizes_of(head.coordinates, m), memory, head.work,
                    table(Loop, 0.0, max(1, loops), memory, first), table(Row, 0.0, max(1, m), memory, of_rows),
                    table(Term, 0.0, max(1, terms), memory, of_terms), loops, m, terms)


@kernel
def effort_column(given: ConstraintTables) -> np.ndarray:
    """Return the efforts as a matrix (n, 1)."""
    return array_at(given.most[0], at(given.effort), (len(given.effort), 1))


@kernel
def of_constraints(given: ConstraintTables, like: Any) -> Problem:
    """Return the Problem of the m rows of the constraints, with one entry for each coordinate."""
    return with_joints(given, like, 0)


@kernel
def damped(given: ConstraintTables, like: Any) -> Problem:
    """Return the Problem of the constraint rows with m additional entries each, in the same memory."""
    return problem(like, len(given.effort) + given.m, given.m, given.of_joints, 0)


@kernel
def with_joints(given: ConstraintTables, like: Any, count: int) -> Problem:
    """Return the Problem of the constraint rows and of `count` joints after them, in the same memory."""
    return problem(like, len(given.effort), given.m + count, given.of_joints, 0)


@kernel
def of_joint_rows(given: ConstraintTables, like: Any, count: int, directions: int) -> Problem:
    """Return a Problem of `directions` vectors with one entry for each of `count` rows."""
    return problem(like, count, directions, given.of_rows, 0)


@kernel
def lcp_of(given: ConstraintTables, like: Any, count: int) -> BoxLcp:
    """Return the BoxLcp of the rows of `count` joints."""
    return arranged(BoxLcp, like, LcpSizes(count), given.of_lcp, 0)
