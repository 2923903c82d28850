"""Touches of all pairs of colliders with a gap below a margin, in the order of pairs and their points.

Broad phase: the pairs whose bounding spheres are near are listed, with some distance more than the margin, and only
those are tested until a collider has moved by half of that distance."""
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3

from .colliders import FAR, PLANE, Collider, Contact, Geometry, Pair
from .pairs import SIMPLE, TOUCHING, most_points, writer
from .writing import axis_z, choose


def pair_rows(colliders: Sequence[Collider], pairs: Sequence[tuple[int, int]], mu: float = 0.0,
              restitution: float = 0.0, torsion: float = 0.0, rolling: float = 0.0) -> list[Pair]:
    """Return the rows of pairs (i, j) of colliders, in the order given, with these coefficients; change single rows by
    `_replace`.

    The first of a pair has the lower kind: i and j may be exchanged. Raises ValueError for an unsupported pair."""
    rows, key = [], 0
    for i, j in pairs:
        first, second = (i, j) if colliders[i].kind <= colliders[j].kind else (j, i)
        points = most_points(colliders[first], colliders[second])
        rows.append(Pair(first, second, points, key, mu, restitution, torsion, rolling))
        key += points
    return rows


def kinds_of(colliders: Sequence[Collider], pairs: Sequence[Pair]) -> frozenset[tuple[int, int]]:
    """Return the set of kinds among the pairs."""
    return frozenset((colliders[pair.first].kind, colliders[pair.second].kind) for pair in pairs)


AHEAD = 4.0             # margins: additional distance of listed pairs


@kernel
def locate(given: Geometry, C: Sequence[Pose]) -> None:
    """Set the poses of the colliders, from the world poses of the bodies in all slots; that of slot 0 is the
    identity."""
    for i in range(given.colliders):
        given.place.C[i] = C[given.collider.body[i]] @ given.collider.C[i]


@kernel
def near(given: Geometry, a: int, b: int, margin: Scalar) -> Any:
    """Return True if the bounding spheres of two colliders, or that of the first and a plane, are closer than the
    margin."""
    A, B, reach = given.place.C[a], given.place.C[b], given.collider.radius[a] + margin
    d = A.p - B.p
    if given.collider.kind[b] == PLANE:
        return axis_z(B.R) @ d < reach
    reach = reach + given.collider.radius[b]
    return d @ d < reach * reach


@kernel
def are_listed(given: Geometry, margin: Scalar) -> bool:
    """Return True if all near pairs are listed, since no collider has moved far."""
    if given.near[0] == 0.0:
        return False
    far, listed = 0.49 * AHEAD * margin, given.listed
    for i in range(given.colliders):
        d = given.place.C[i].p - Vec3(listed[3 * i], listed[3 * i + 1], listed[3 * i + 2])
        square = d @ d
        if some(where(square < far * far, null(square), null(square) + 1.0) > 0.0):     # also if it is not a number
            return False
    return True


@noinline
def list_pairs(given: Geometry, margin: Scalar) -> None:
    """List the pairs whose bounding spheres are near, and those with planes that move: turning, they reach anywhere."""
    count = 0
    for i in range(given.colliders):
        p = given.place.C[i].p
        given.listed[3 * i], given.listed[3 * i + 1], given.listed[3 * i + 2] = p.x, p.y, p.z
    for k in range(given.pairs):
        a, b = given.pair.first[k], given.pair.second[k]
        turns = given.collider.kind[b] == PLANE and given.collider.body[b] > 0
        if turns or some(near(given, a, b, (1.0 + AHEAD) * margin)):
            count += 1
            given.near[count] = float(k)
    given.near[0] = count + 1.0


@kernel
def pack_rows(contact: Contact, first: int, points: int, key: int, margin: Scalar) -> int:
    """Move the touches of one pair with a gap < margin to the first rows from `first` on, for each lane, and number
    them. Return the number of rows used."""
    rows, taken = 0, null(contact.gap[first])           # rows over all lanes, and rows of each lane
    for j in range(points):
        row = first + j
        gap, p, n = contact.gap[row], contact.p[row], contact.n[row]
        near = gap < margin
        if some(near):
            contact.gap[row] = where(near, null(gap) + FAR, gap)
            if some(near & (taken == float(rows))):
                contact.key[first + rows] = null(gap) - 1.0
                rows += 1
            for i in range(rows):
                here = near & (taken == float(i))
                if some(here):
                    to = first + i
                    contact.gap[to] = where(here, gap, contact.gap[to])
                    contact.p[to], contact.n[to] = choose(here, p, contact.p[to]), choose(here, n, contact.n[to])
                    contact.key[to] = where(here, null(gap) + float(key + j), contact.key[to])
            taken = where(near, taken + 1.0, taken)
    return rows


@cache
def lister(kinds: frozenset[tuple[int, int]]) -> Callable:
    """Return the kernel list_touches(given, margin, contact, most) for pairs of these kinds, from `kinds_of`.

    Only inlined kernels take tables as arguments: in a call, each column of a table is counted as a reference, which
    takes ten times as long as a touch."""
    write_touches = writer(kinds)

    def list_touches(given, margin, contact, most):
        """Write the touches of located colliders with a gap < margin to rows of `contact`, from the first on, in the
        order of their keys. Return the number of rows, and the number of touches beyond `most`.

        The table has contact_rows(given, most) rows; those after the contacts are memory. A pair has as many rows as
        its largest number of touches on any lane; unused rows of other lanes are FAR."""
        count, missed = 0, 0
        if not are_listed(given, margin):
            list_pairs(given, margin)
        for i in range(1, int(given.near[0])):
            k = int(given.near[i])
            a, b = given.pair.first[k], given.pair.second[k]
            if some(near(given, a, b, margin)):
                write_touches(given, a, b, contact, count, margin)
                rows = pack_rows(contact, count, given.pair.points[k], given.pair.key[k], margin)
                kept = min(rows, most - count)
                for j in range(kept):
                    contact.pair[count + j] = k
                count += kept
                missed += rows - kept
        return count, missed
    return kernel(list_touches)


def are_simple(kinds: frozenset[tuple[int, int]]) -> bool:
    """Return True if all kinds of pairs are SIMPLE: hulls only against planes, cylinders only against planes and
    spheres, no height fields. The other kernels triple the compile time."""
    return kinds <= SIMPLE.keys()


# Two variants are compiled: scenes of boxes, spheres and ground do not wait for the kernels of all kinds.
SIMPLE_KINDS, ALL_KINDS = frozenset(SIMPLE), frozenset(TOUCHING)
