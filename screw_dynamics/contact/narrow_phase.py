"""Narrow phase: the list of touches. Of all pairs of colliders those that are nearer than a margin, in the order of
pairs and their points; bounding spheres first."""
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.values import Scalar, kernel, null
from screw_dynamics.screws.se3 import Pose

from .colliders import FAR, PLANE, Collider, Contact, Geometry, Pair
from .pairs import SIMPLE, TOUCHING, most_points, writer
from .writing import axis_z, choose


def pair_rows(colliders: Sequence[Collider], pairs: Sequence[tuple[int, int]], mu: float = 0.0,
              restitution: float = 0.0, torsion: float = 0.0, rolling: float = 0.0) -> list[Pair]:
    """Return the rows of pairs (i, j) of colliders, in the order given, with these coefficients, which `_replace`
    changes.

    The first of a pair is that of the lower kind, so that i and j may change places. Raises ValueError for a pair whose
    touches no kernel finds."""
    rows, key = [], 0
    for i, j in pairs:
        first, second = (i, j) if colliders[i].kind <= colliders[j].kind else (j, i)
        points = most_points(colliders[first], colliders[second])
        rows.append(Pair(first, second, points, key, mu, restitution, torsion, rolling))
        key += points
    return rows


def kinds_of(colliders: Sequence[Collider], pairs: Sequence[Pair]) -> frozenset[tuple[int, int]]:
    """Return the kinds of pairs that there are."""
    return frozenset((colliders[pair.first].kind, colliders[pair.second].kind) for pair in pairs)


@kernel
def locate(given: Geometry, C: Sequence[Pose]) -> None:
    """Set where the colliders are, from the poses in the world of the bodies in all slots; that of slot 0 is I."""
    for i in range(given.colliders):
        given.place.C[i] = C[given.collider.body[i]] @ given.collider.C[i]


@kernel
def near(given: Geometry, a: int, b: int, margin: Scalar) -> Any:
    """Return True if the bounding spheres of two colliders, or that of the first and a plane, are nearer than the
    margin."""
    A, B, reach = given.place.C[a], given.place.C[b], given.collider.radius[a] + margin
    d = A.p - B.p
    if given.collider.kind[b] == PLANE:
        return axis_z(B.R) @ d < reach
    reach = reach + given.collider.radius[b]
    return d @ d < reach * reach


@kernel
def pack_rows(contact: Contact, first: int, points: int, key: int, margin: Scalar) -> int:
    """Move the touches of one pair with a gap < margin, of rows from the first on, to the first rows, each place by
    itself, and number them. Returns how many rows that takes."""
    rows, taken = 0, null(contact.gap[first])           # by all places together; by each
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
    """Return the kernel list_touches(given, margin, contact, most) for pairs of these kinds, as `kinds_of` tells them.

    Tables are arguments of kernels that are inlined alone: passed to a call, each of their columns is counted as a
    reference, which takes ten times as long as a touch."""
    write_touches = writer(kinds)

    def list_touches(given, margin, contact, most):
        """Write the touches of colliders in their places with a gap < margin to rows of `contact`, from the first on,
        in the order of their keys. Returns how many rows there are, and how many more than `most` would have been.

        The table has contact_rows(given, most) rows; those after the contacts are memory. A pair has as many rows as
        touches in the place where it has the most; in another, rows that it does not need are FAR."""
        count, missed = 0, 0
        for k in range(given.pairs):
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
    """Return True if all kinds of pairs are SIMPLE: hulls touch planes alone, cylinders planes and spheres alone, and
    no height fields touch. With the kernels of the others, compiling takes three times as long as without."""
    return kinds <= SIMPLE.keys()


# Two are compiled: a scene of boxes, spheres and the ground need not wait for all kinds.
SIMPLE_KINDS, ALL_KINDS = frozenset(SIMPLE), frozenset(TOUCHING)
