"""Islands: trees of bodies that contacts connect, with the rows of their contacts and joints.

The impulses of an island do not depend on those of others: each is a problem of its own, in memory that the next one
takes again. On lanes an island is one of the contacts of all states together. Where it falls into several in some
state, they are solved one after another, with the rows of the others inactive: the solution of a state does not depend
on the other lanes."""
import numpy as np

from screw_dynamics.collision.colliders import FAR
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.lanes import extract, insert, lane_count
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import kernel, noinline, null

from ..cones.tables import Cones
from .tables import ContactTables

# Columns of ends: of each island the ends of its contacts, of its joints and of its coordinates, each sorted by
# islands, and the number of joints whose rows are not those of servos.
CONTACTS, JOINTS, COORDINATES, PASSIVE = range(4)
NOWHERE = -1


@kernel
def root(sets: np.ndarray, k: int) -> int:
    """Return the first coordinate of the set of coordinate k."""
    while sets[k] != k:
        sets[k] = sets[sets[k]]
        k = sets[k]
    return k


@kernel
def join(sets: np.ndarray, i: int, j: int) -> None:
    """Join the sets of two coordinates."""
    i, j = root(sets, i), root(sets, j)
    sets[max(i, j)] = min(i, j)


@kernel
def sides(links: Link, given: ContactTables, k: int) -> tuple[int, int]:
    """Return coordinates of the bodies of contact k, NOWHERE for the world."""
    pair, bodies = given.contact.pair[k], given.geometry.collider.body
    i, j = bodies[given.geometry.pair.first[pair]], bodies[given.geometry.pair.second[pair]]
    return links.coordinate[i] if i > 0 else NOWHERE, links.coordinate[j] if j > 0 else NOWHERE


@kernel
def join_sides(links: Link, given: ContactTables, k: int) -> None:
    """Join the sets of the bodies of contact k."""
    i, j = sides(links, given, k)
    if i >= 0 and j >= 0:
        join(given.sets, i, j)


@kernel
def set_of(links: Link, given: ContactTables, of: np.ndarray, row: int, count: int) -> int:
    """Return the first coordinate of the set of a row: of `count` contacts, then of the joints of bodies `of`."""
    if row < count:
        i, j = sides(links, given, row)
        return root(given.sets, max(max(i, j), 0))
    return root(given.sets, links.coordinate[of[row - count]])


@noinline
def find_trees(links: Link, given: ContactTables) -> None:
    """Set sets and trees to the first coordinate of the tree of each coordinate.

    Trees whose coordinates are interleaved count as one: spans are ranges of coordinates."""
    sets = given.sets
    for k in range(len(sets)):
        sets[k] = k
    for i in range(1, len(links.parent)):
        if links.parent[i] > 0:
            k, j = links.coordinate[i], links.coordinate[links.parent[i]]
            for at in range(min(k, j), max(k, j)):
                join(sets, at, at + 1)
    for k in range(len(sets)):
        given.trees[k] = root(sets, k)


@kernel
def swap(given: ContactTables, i: int, j: int) -> None:
    """Exchange contacts i and j."""
    contact, kept, of = given.contact, given.kept, given.reported
    of[i], of[j] = of[j], of[i]
    contact.gap[i], contact.gap[j] = contact.gap[j], contact.gap[i]
    contact.p[i], contact.p[j] = contact.p[j], contact.p[i]
    contact.n[i], contact.n[j] = contact.n[j], contact.n[i]
    contact.pair[i], contact.pair[j] = contact.pair[j], contact.pair[i]
    contact.key[i], contact.key[j] = contact.key[j], contact.key[i]
    kept.t[i], kept.t[j] = kept.t[j], kept.t[i]
    kept.s[i], kept.s[j] = kept.s[j], kept.s[i]
    kept.a[i], kept.a[j] = kept.a[j], kept.a[i]
    kept.b[i], kept.b[j] = kept.b[j], kept.b[i]
    kept.before[i], kept.before[j] = kept.before[j], kept.before[i]


@noinline
def find_islands(links: Link, given: ContactTables, of: np.ndarray, passive: int, count: int, whole: bool) -> int:
    """Sort `count` contacts, and to `joints` the bodies `of` joints with rows, of which those after the first `passive`
    are of servos, by islands; within each their order stays. Fill ends, coordinates, and `reported`, the numbers of
    the contacts in the report. Return the number of islands: 1 if `whole`, else 0 without rows."""
    sets, island_of, ends, to = given.sets, given.island_of, given.ends, given.moves
    n, islands = len(sets), 0
    for k in range(count):
        given.reported[k] = k
    if whole:
        for k in range(n):
            given.coordinates[k] = k
        for j in range(len(of)):
            given.joints[j] = of[j]
        ends[0, CONTACTS], ends[0, JOINTS], ends[0, COORDINATES], ends[0, PASSIVE] = count, len(of), n, passive
        return 1
    find_trees(links, given)
    for k in range(count):
        join_sides(links, given, k)
    for k in range(n):
        island_of[k] = NOWHERE
    for row in range(count + len(of)):
        first = set_of(links, given, of, row, count)
        if island_of[first] < 0:
            island_of[first] = islands
            ends[islands, CONTACTS] = ends[islands, JOINTS] = ends[islands, COORDINATES] = ends[islands, PASSIVE] = 0
            islands += 1
        island = to[row] = island_of[first]
        ends[island, CONTACTS if row < count else JOINTS] += 1
        ends[island, PASSIVE] += count <= row < count + passive
    for k in range(n):
        island_of[k] = island_of[root(sets, k)]             # the root is the first of its set
        if island_of[k] >= 0:
            ends[island_of[k], COORDINATES] += 1
    for what in range(3):                                   # from numbers to the first of each island
        total = 0
        for island in range(islands):
            total += ends[island, what]
            ends[island, what] = total - ends[island, what]
    for row in range(count + len(of)):                      # and from these to the ends
        what = CONTACTS if row < count else JOINTS
        at = ends[to[row], what]
        ends[to[row], what] += 1
        if row < count:
            to[row] = at
        else:
            given.joints[at] = of[row - count]
    for k in range(n):
        if island_of[k] >= 0:
            given.coordinates[ends[island_of[k], COORDINATES]] = k
            ends[island_of[k], COORDINATES] += 1
    for k in range(count):
        while to[k] != k:
            j = to[k]
            swap(given, k, j)
            to[k], to[j] = to[j], j
    return islands


@kernel
def ends_of(given: ContactTables, island: int, what: int) -> tuple[int, int]:
    """Return the first contact, joint or coordinate of an island, and the one after its last."""
    return given.ends[island - 1, what] if island > 0 else 0, given.ends[island, what]


# ------------------------------------------------------------------------------------------------- lanes
@noinline
def find_parts(links: Link, given: ContactTables, of: np.ndarray, coordinates: np.ndarray, count: int) -> int:
    """Fill `part` with the number of the island of each state to which a row belongs, within an island of all lanes:
    that of `count` contacts, joints `of` and these coordinates. Return the largest number of islands in a state; 1 for
    a single state."""
    none, most = null(given.report[0]), 1
    lanes = lane_count(none)
    if lanes == 1 or len(coordinates) == 0:
        return 1
    apart = False
    for k in range(len(coordinates)):
        apart |= given.trees[coordinates[k]] != given.trees[coordinates[0]]
    if not apart:
        return 1
    sets, number, part = given.sets, given.island_of, given.part
    for row in range(count + len(of)):
        part[row] = none - 1.0
    for k in range(count):
        given.gaps[k] = given.contact.gap[k]
    for lane in range(lanes):
        parts = 0
        for k in range(len(coordinates)):
            sets[coordinates[k]], number[coordinates[k]] = given.trees[coordinates[k]], NOWHERE
        for row in range(2 * count + len(of)):              # contacts are joined, then all rows numbered
            k = row if row < count else row - count
            if k < count and not extract(given.contact.gap[k], lane) < given.settings.margin[0]:
                continue
            if row < count:
                join_sides(links, given, k)
            else:
                first = set_of(links, given, of, k, count)
                if number[first] < 0:
                    number[first], parts = parts, parts + 1
                part[k] = insert(part[k], lane, float(number[first]))
        most = max(most, parts)
    return most


@kernel
def choose_part(given: ContactTables, which: int, parts: int, count: int) -> None:
    """Make the contacts of other parts FAR."""
    if parts > 1:
        for k in range(count):
            gap = given.gaps[k]
            given.contact.gap[k] = where(given.part[k] == float(which), gap, null(gap) + FAR)


@kernel
def hold_others(given: ContactTables, which: int, parts: int, cones: Cones) -> None:
    """Set the bounds of joints of other parts to 0."""
    if parts > 1:
        for j in range(len(cones.lower)):
            own, none = given.part[len(cones.mu) + j] == float(which), null(cones.lower[j])
            cones.lower[j], cones.upper[j] = where(own, cones.lower[j], none), where(own, cones.upper[j], none)
