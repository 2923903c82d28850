"""Tables of constraints in a workspace, which the recursions read, and the memory that they need."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled import workspace as ws
from screw_dynamics.numbers.lanes import places
from screw_dynamics.numbers.tables import block, packed, table, width
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.se3 import Pose, Wrench, identity

from .bounded import Box, box, box_numbers
from .shortest import Problem, numbers, problem

COUPLING = -1           # the kind of constraints without links; those of others are in rows.py


class Loop(NamedTuple):
    """A constraint: its kind, its first row and their number; the slots of the bodies of its link and of the other, and
    the poses of its frames in these bodies; the pose of its frame in its link; a number of its kind, or the offset of
    a coupling, which has no links."""

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
    """A row of a subgroup, in the frame of the link, and what a turn about its axis slides, or 0."""

    P: Wrench
    lead: Scalar


class Term(NamedTuple):
    """A term of a coupling: its row, where in q its coordinate is, the slot of a body whose joint this moves, ratio."""

    row: int
    place: int
    slot: int
    ratio: Scalar


class ConstraintTables(NamedTuple):
    """Tables of loops, rows and terms, with a row at least, and how many there are.

    Memory: wrenches F (6, m); h (m), a number for each row; effort (n,), which is also efforts (n, 1); free (n,); most
    (1,), the rank that is not exceeded; a Problem of m vectors of n numbers, of_joints, which is also one of n + m,
    damped; one of m vectors of m, of_rows; and a Box for rows of joints. Rows of joints come after these m: see
    with_joints."""

    loop: Loop
    row: Row
    term: Term
    loops: int
    m: int
    terms: int
    F: np.ndarray
    h: np.ndarray
    effort: np.ndarray
    efforts: np.ndarray
    free: np.ndarray
    most: np.ndarray
    of_joints: Problem
    damped: Problem
    of_rows: Problem
    memory: np.ndarray
    vectors: int
    rows: int
    bounds: int


COUNTS = 3          # numbers before the tables: of loops, rows and terms


def pack(loops: list[Loop], rows: list[Row], terms: list[Term]) -> np.ndarray:
    """The numbers of the tables, for ws.Tables.tables."""
    one = identity(0.0)
    tables = (loops or [Loop(COUPLING, 0, 0, 0, 0, one, one, one, 0.0)],
              rows or [Row(Wrench(one.p, one.p), 0.0)], terms or [Term(0, 0, 0, 0.0)])
    return np.concatenate([(len(loops), len(rows), len(terms)), *(packed(rows).ravel() for rows in tables)])


@kernel
def work(n: int, m: int) -> int:
    """Return the number of scalars in the memory of m constraints of n coordinates for one state."""
    return 7 * m + 2 * n + 1 + _vectors(n, m) + _rows(n, m) + box_numbers(n)


@kernel
def _vectors(n: int, m: int) -> int:
    """Return the largest number of scalars in the problems of the joints."""
    return max(numbers(n + m, m), numbers(n, m + n))


@kernel
def _rows(n: int, m: int) -> int:
    """Return the largest number of scalars in the problems of the rows."""
    return max(numbers(m, m), numbers(n, n))


LOOP, ROW, TERM = width(Loop), width(Row), width(Term)


@kernel
def constraints_in(memory: np.ndarray, like: Any) -> ConstraintTables:
    """The constraints in a workspace, with memory for scalars of the kind of `like`."""
    head, unit = ws.header(memory), places(like)
    first, n = head.tables, head.coordinates
    loops, m, terms = int(memory[first]), int(memory[first + 1]), int(memory[first + 2])
    first += COUNTS
    of_rows = first + LOOP * max(1, loops)
    of_terms = of_rows + ROW * max(1, m)
    start = head.work
    h = start + unit * 6 * m
    effort = h + unit * m
    free = effort + unit * n
    most = free + unit * n
    vectors = most + unit
    rows = vectors + unit * _vectors(n, m)
    return ConstraintTables(
        table(Loop, 0.0, max(1, loops), memory, first), table(Row, 0.0, max(1, m), memory, of_rows),
        table(Term, 0.0, max(1, terms), memory, of_terms), loops, m, terms, block(like, (6, m), memory, start),
        block(like, (m,), memory, h), block(like, (n,), memory, effort), block(like, (n, 1), memory, effort),
        block(like, (n,), memory, free), block(like, (1,), memory, most),
        problem(like, n, m, memory, vectors), problem(like, n + m, m, memory, vectors),
        problem(like, m, m, memory, rows), memory, vectors, rows, rows + unit * _rows(n, m))


@kernel
def with_joints(given: ConstraintTables, like: Any, count: int) -> Problem:
    """The Problem of the m rows of the constraints and of `count` joints after them; in the memory of of_joints."""
    return problem(like, len(given.effort), given.m + count, given.memory, given.vectors)


@kernel
def of_joint_rows(given: ConstraintTables, like: Any, count: int, directions: int) -> Problem:
    """A Problem of `directions` vectors with a number for each of `count` joints; in the memory of of_rows."""
    return problem(like, count, directions, given.memory, given.rows)


@kernel
def box_of(given: ConstraintTables, like: Any, count: int) -> Box:
    """The Box of the rows of `count` joints."""
    return box(like, count, given.memory, given.bounds)
