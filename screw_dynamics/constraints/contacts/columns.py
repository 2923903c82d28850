"""Rows of contacts: the columns of Y = D^-1/2 L^-1 J^T, their right-hand sides, and the Delassus operator Y^T Y."""
from typing import Any

import numpy as np

from screw_dynamics.algorithms.group_rates import last_body
from screw_dynamics.compiled.across import at_once, put, taken
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null, zero
from screw_dynamics.screws.se3 import Wrench
from screw_dynamics.screws.vectors import Vec3

from ..cones.tables import Cones
from ..kinematics import put_wrench
from ..min_norm import Problem, measure
from .motion import opening, relative, relative_turn
from .tables import ContactTables


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
def put_contact_targets(body: Any, given: ContactTables, problem: Problem, first: int, h: Scalar, cones: Cones) -> None:
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
def coordinates_of(links: Link, i: int) -> tuple[int, int]:
    """Return the range that contains the coordinates of the joints between the root and body i; empty for the root."""
    low, high = len(links.parent), 0
    while i > 0:
        k = links.coordinate[i]
        low, high, i = min(low, k), max(high, k + 1), links.parent[i]
    return low, high


@noinline
def put_spans(links: Link, body: Any, given: ContactTables, of: np.ndarray, coordinates: np.ndarray, cones: Cones,
              whole: bool) -> None:
    """Fill spans, and rows at the coordinates of an island, and set the ends of cones to upper bounds, which do not
    decrease.

    The span of a block, of a joint in `of` or of a contact, is two ranges of coordinates: outside of them its columns
    of Y have no entries, and are not read. whole: True if columns may have entries everywhere."""
    spans, rows, u, count, N = given.spans, given.rows, len(of), len(cones.mu), len(cones.x)
    n, pair, bodies = len(rows), given.geometry.pair, given.geometry.collider.body
    for at in range(len(coordinates)):
        k = coordinates[at]
        rows[k, 0], rows[k, 1] = (0, N) if whole else (N, 0)
    for b in range(u + count):
        if whole:
            spans[b, 0], spans[b, 1], spans[b, 2], spans[b, 3] = 0, n, 0, 0
            continue
        i = j = 0
        if b < u:
            i = last_body(body.q, of[b])
        else:
            k = given.contact.pair[b - u]
            i, j = bodies[pair.first[k]], bodies[pair.second[k]]
        low, high = coordinates_of(links, i)
        low_2, high_2 = coordinates_of(links, j)
        if low < high_2 and low_2 < high:               # of one tree
            low, high, low_2, high_2 = min(low, low_2), max(high, high_2), 0, 0
        spans[b, 0], spans[b, 1], spans[b, 2], spans[b, 3] = low, high, low_2, high_2
        first, last = (b, b + 1) if b < u else (3 * b - 2 * u, 3 * b - 2 * u + 3)
        for k in range(0, 4, 2):
            for at in range(spans[b, k], spans[b, k + 1]):
                rows[at, 0], rows[at, 1] = min(rows[at, 0], first), max(rows[at, 1], last)
    end = N if whole else 0
    for b in range(u + count):
        first, last = (b, b + 1) if b < u else (3 * b - 2 * u, 3 * b - 2 * u + 3)
        end = max(end, last)
        for k in range(0, 4, 2):
            for at in range(spans[b, k], spans[b, k + 1]):
                end = max(end, rows[at, 1])
        for row in range(first, last):
            cones.ends[row] = float(end)
    for row in range(u + 3 * count, N):
        cones.ends[row] = float(N)


@noinline
def clear_spans(given: ContactTables, coordinates: np.ndarray, u: int, cones: Cones, Y: np.ndarray, first: int) -> None:
    """Clear the entries of Y that are read, if its first columns are none of constraints: those of the u joints, and at
    each of the coordinates those of contacts that may be coupled to one with an entry there."""
    none = null(cones.c[0])
    for at in range(len(coordinates)):
        k = coordinates[at]
        for j in range(first + u):
            Y[k, j] = none
        begin, end = max(given.rows[k, 0], u), given.rows[k, 1]
        if end > 0:
            for j in range(first + begin, first + int(cones.ends[end - 1])):
                Y[k, j] = none


@kernel
def clear_others(given: ContactTables, problem: Problem, first: int, cones: Cones) -> None:
    """Clear the columns from `first` on of contacts that are inactive on some lanes: their rows are 0 there. The
    solution of a state is then bit-identical for any content of the other lanes."""
    u = len(cones.lower)
    for k in range(len(cones.mu)):
        counts = given.contact.gap[k] < given.settings.margin[0]
        if some(given.contact.gap[k] >= given.settings.margin[0]):
            clear_columns(problem, given.spans[u + k], first + 3 * k, 3, counts)
    row = first + 3 * len(cones.mu)
    for k in range(len(cones.spin_of)):
        of = int(cones.spin_of[k])
        clear_columns(problem, given.spans[u + of], row, 1, given.contact.gap[of] < given.settings.margin[0])
        row += 1
    for k in range(len(cones.roll_of)):
        of = int(cones.roll_of[k])
        clear_columns(problem, given.spans[u + of], row, 2, given.contact.gap[of] < given.settings.margin[0])
        row += 2


@noinline
def clear_columns(problem: Problem, span: np.ndarray, first: int, count: int, kept: Any) -> None:
    """Set columns and their right-hand sides to 0 on lanes outside the mask `kept`."""
    Y, b, none = problem.Y, problem.b, null(problem.b[0, 0])
    for j in range(first, first + count):
        b[0, j] = where(kept, b[0, j], none)
        for k in range(0, 4, 2):
            for i in range(span[k], span[k + 1]):
                Y[i, j] = where(kept, Y[i, j], none)


@kernel
def put_sizes(problem: Problem, first: int, cones: Cones) -> None:
    """Set sizes to the inverse inertias of the columns from `first` on, before the loop directions are projected
    out."""
    measure(problem)
    for i in range(len(cones.size)):
        cones.size[i] = problem.squares[0, first + i]


@noinline
def put_three(columns: np.ndarray, span: np.ndarray, G: np.ndarray, i: int, j: int, k: int, end: int) -> None:
    """Set three rows of G, from column i to `end`: the products of columns with the same span."""
    step = at_once(columns)
    for at in range(i - i % step, end, step):
        x = y = z = null(taken(columns, 0, at))
        for part in range(0, 4, 2):
            for row in range(span[part], span[part + 1]):
                w = taken(columns, row, at)
                x, y, z = x + columns[row, i] * w, y + columns[row, j] * w, z + columns[row, k] * w
        put(G, i, at, x)
        put(G, j, at, y)
        put(G, k, at, z)


@noinline
def put_operator(given: ContactTables, problem: Problem, first: int, cones: Cones) -> None:
    """Set G = Y^T Y for the columns from `first` on, in each row up to its end, and c to their residual products;
    without loops also the sizes."""
    N, u, columns, ends, G = len(cones.c), len(cones.lower), problem.Y[:, first:], cones.ends, cones.G
    for i in range(N):
        cones.c[i] = -problem.b[0, first + i]
    for i in range(u):
        put_three(columns, given.spans[i], G, i, i, i, int(ends[i]))
    for i in range(u, N, 3):                # those of spins and rolls have the spans of all blocks
        j, k = min(i + 1, N - 1), min(i + 2, N - 1)
        put_three(columns, given.spans[min(u + (i - u) // 3, u + len(cones.mu) - 1)], G, i, j, k, int(ends[k]))
    begin = 0
    for i in range(N):
        while ends[begin] <= i:
            begin += 1
        for j in range(begin, i):
            G[i, j] = G[j, i]
        if first == 0:
            cones.size[i] = G[i, i]


@noinline
def combine_all(given: ContactTables, coordinates: np.ndarray, problem: Problem, first: int, u: int, x: np.ndarray,
                out: np.ndarray) -> None:
    """Add Y x at these coordinates, of the columns from `first` on, of which u are those of joints, to `out`."""
    Y = problem.Y
    for at in range(len(coordinates)):
        i = coordinates[at]
        for j in range(u):
            out[i] += Y[i, first + j] * x[j]
        for j in range(max(given.rows[i, 0], u), given.rows[i, 1]):
            out[i] += Y[i, first + j] * x[j]
