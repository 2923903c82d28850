"""Rows of contacts: the columns of Y = D^-1/2 L^-1 J^T, their right-hand sides, and the Delassus operator Y^T Y."""
from typing import Any

import numpy as np

from screw_dynamics.compiled.across import at_once, put, taken
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null, zero
from screw_dynamics.screws.se3 import Wrench
from screw_dynamics.screws.vectors import Vec3

from ..cones.tables import Cones
from ..kinematics import put_wrench
from ..shortest import Problem, measure
from .motion import opening, relative, relative_turn
from .tables import ContactTables

FEW = 12            # entries of a column


@kernel
def put_forces(given: ContactTables, count: int) -> None:
    """Set F to unit forces along t, s and the normal of each contact, then unit torques of torsional friction about
    normals, and of rolling friction about t and s."""
    F, none = given.F, zero(Vec3, given.report[0])
    for k in range(count):
        put_wrench(F, 3 * k, Wrench(none, given.kept.t[k]))
        put_wrench(F, 3 * k + 1, Wrench(none, given.kept.s[k]))
        put_wrench(F, 3 * k + 2, Wrench(none, given.contact.n[k]))
    row = 3 * count
    for k in range(count):
        if given.geometry.pair.torsion[given.contact.pair[k]] > 0.0:
            put_wrench(F, row, Wrench(given.contact.n[k], none))
            row += 1
    for k in range(count):
        if given.geometry.pair.rolling[given.contact.pair[k]] > 0.0:
            put_wrench(F, row, Wrench(given.kept.t[k], none))
            put_wrench(F, row + 1, Wrench(given.kept.s[k], none))
            row += 2


@kernel
def turning(given: ContactTables, count: int) -> tuple[int, int]:
    """Return the numbers of contacts with torsional and with rolling friction."""
    spins = rolls = 0
    if given.settings.turning[0] != 0:
        for k in range(count):
            spins += given.geometry.pair.torsion[given.contact.pair[k]] > 0.0
            rolls += given.geometry.pair.rolling[given.contact.pair[k]] > 0.0
    return spins, rolls


@kernel
def ask_contacts(body: Any, given: ContactTables, problem: Problem, first: int, h: Scalar, cones: Cones) -> None:
    """Set the right-hand sides of contact columns: the products that cancel their velocities, up to the gaps."""
    count = len(cones.mu)
    for k in range(count):
        c = relative(body, given, k)
        problem.b[0, first + 3 * k], problem.b[0, first + 3 * k + 1] = -c.x, -c.y
        problem.b[0, first + 3 * k + 2] = -(c.z + opening(given, k) / h)
    row = first + 3 * count
    for k in range(len(cones.spin_of)):
        problem.b[0, row] = -relative_turn(body, given, int(cones.spin_of[k])).x
        row += 1
    for k in range(len(cones.roll_of)):
        w = relative_turn(body, given, int(cones.roll_of[k]))
        problem.b[0, row], problem.b[0, row + 1] = -w.y, -w.z
        row += 2


@kernel
def clear_others(given: ContactTables, problem: Problem, first: int, cones: Cones) -> None:
    """Clear the columns from `first` on of contacts that are inactive on some lanes: their rows are 0 there. The
    solution of a state is then bit-identical for any content of the other lanes."""
    for k in range(len(cones.mu)):
        counts = given.contact.gap[k] < given.settings.margin[0]
        if some(given.contact.gap[k] >= given.settings.margin[0]):
            clear_columns(problem, first + 3 * k, 3, counts)
    row = first + 3 * len(cones.mu)
    for k in range(len(cones.spin_of)):
        clear_columns(problem, row, 1, given.contact.gap[int(cones.spin_of[k])] < given.settings.margin[0])
        row += 1
    for k in range(len(cones.roll_of)):
        clear_columns(problem, row, 2, given.contact.gap[int(cones.roll_of[k])] < given.settings.margin[0])
        row += 2


@noinline
def clear_columns(problem: Problem, first: int, count: int, kept: Any) -> None:
    """Set columns and their right-hand sides to 0 on lanes outside the mask `kept`."""
    Y, b, none = problem.Y, problem.b, null(problem.b[0, 0])
    for j in range(first, first + count):
        b[0, j] = where(kept, b[0, j], none)
        for i in range(len(Y)):
            Y[i, j] = where(kept, Y[i, j], none)


@kernel
def entries(Y: np.ndarray, first: int, last: int) -> tuple[int, int]:
    """Return the range of nonzero entries of columns `first` to `last`.

    It is short for contacts of one body among many. Columns with at most FEW entries are taken whole: a search would
    take as long."""
    begin, end = 0, len(Y)
    if end <= FEW:
        return begin, end
    while begin < end and not any_entry(Y[begin], first, last):
        begin += 1
    while begin < end and not any_entry(Y[end - 1], first, last):
        end -= 1
    return begin, end


@kernel
def any_entry(row: np.ndarray, first: int, last: int) -> bool:
    """Return True if a row has nonzero entries in columns from the first to the last."""
    found = False
    for j in range(first, last + 1):
        found = found or some(row[j] != 0.0)
    return found


@kernel
def put_sizes(problem: Problem, first: int, cones: Cones) -> None:
    """Set sizes to the inverse inertias of the columns from `first` on, before the loop directions are projected
    out."""
    measure(problem)
    for i in range(len(cones.size)):
        cones.size[i] = problem.squares[0, first + i]


@noinline
def put_operator(problem: Problem, first: int, cones: Cones) -> None:
    """Set G = Y^T Y for the columns from `first` on, and c to their residual products; without loops also the sizes."""
    N, columns, step = len(cones.c), problem.Y[:, first:], at_once(problem.Y)
    for i in range(N):
        cones.c[i] = -problem.b[0, first + i]
    for i in range(0, N, 3):                # three rows at once; the last ones again if fewer remain
        j, k = min(i + 1, N - 1), min(i + 2, N - 1)
        begin, end = entries(columns, i, k)
        for at in range(i - i % step, N, step):
            x = y = z = null(taken(columns, 0, at))
            for row in range(begin, end):
                w = taken(columns, row, at)
                x, y, z = x + columns[row, i] * w, y + columns[row, j] * w, z + columns[row, k] * w
            put(cones.G, i, at, x)
            put(cones.G, j, at, y)
            put(cones.G, k, at, z)
    for i in range(N):
        for j in range(i):
            cones.G[i, j] = cones.G[j, i]
        if first == 0:
            cones.size[i] = cones.G[i, i]


@kernel
def combine_all(problem: Problem, first: int, x: np.ndarray) -> None:
    """Add Y x, of the columns from `first` on, to problem.x."""
    Y = problem.Y
    for i in range(len(Y)):
        for j in range(len(x)):
            problem.x[i] += Y[i, first + j] * x[j]
