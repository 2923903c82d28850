"""The list of touches: of all pairs those that are nearer than a margin, in the order of pairs and their points."""
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from screw_dynamics.numbers.scalars import some
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.se3 import Pose

from .pairs import TOUCHING, most_points, writer
from .solids import PLANE, Geometry, Pair, Solid
from .writing import axis_z


def pair_rows(solids: Sequence[Solid], pairs: Sequence[tuple[int, int]], mu: float = 0.0, restitution: float = 0.0,
              torsion: float = 0.0, rolling: float = 0.0) -> list[Pair]:
    """The rows of pairs (i, j) of solids, in the order given, with these coefficients, which `_replace` changes.

    The first of a pair is that of the lower kind, so that i and j may change places. ValueError for a pair whose
    touches no kernel finds."""
    rows, key = [], 0
    for i, j in pairs:
        first, second = (i, j) if solids[i].kind <= solids[j].kind else (j, i)
        points = most_points(solids[first], solids[second])
        rows.append(Pair(first, second, points, key, mu, restitution, torsion, rolling))
        key += points
    return rows


def kinds_of(solids: Sequence[Solid], pairs: Sequence[Pair]) -> frozenset[tuple[int, int]]:
    """The kinds of pairs that there are."""
    return frozenset((solids[pair.first].kind, solids[pair.second].kind) for pair in pairs)


@kernel
def locate(given: Geometry, C: Sequence[Pose]) -> None:
    """Set where the solids are, from the poses in the world of the bodies in all slots; that of slot 0 is I."""
    for i in range(given.solids):
        given.place.C[i] = C[given.solid.body[i]] @ given.solid.C[i]


@kernel
def near(given: Geometry, a: int, b: int, margin: Scalar) -> Any:
    """Whether spheres that contain two solids are nearer than the margin."""
    A, B, reach = given.place.C[a], given.place.C[b], given.solid.radius[a] + margin
    d = A.p - B.p
    if given.solid.kind[b] == PLANE:
        return axis_z(B.R) @ d < reach
    reach = reach + given.solid.radius[b]
    return d @ d < reach * reach


@cache
def lister(kinds: frozenset[tuple[int, int]]) -> Callable:
    """The kernel list_touches(given, margin, contact, most) for pairs of these kinds, as `kinds_of` tells them.

    Tables are arguments of kernels that are inlined alone: passed to a call, each of their columns is counted as a
    reference, which takes ten times as long as a touch."""
    write_touches = writer(kinds)

    def list_touches(given, margin, contact, most):
        """Write the touches of solids in their places with a gap < margin in some place to rows of `contact`, from the
        first on, in the order of their keys. Returns how many there are, and how many more than `most` would have been.

        The table has contact_rows(given, most) rows; those after the contacts are memory. Where a touch of another
        place is not near, its gap is >= margin."""
        count, missed = 0, 0
        for k in range(given.pairs):
            a, b = given.pair.first[k], given.pair.second[k]
            if some(near(given, a, b, margin)):
                write_touches(given, a, b, contact, count, margin)
                candidates = count
                for j in range(given.pair.points[k]):
                    row = candidates + j
                    if some(contact.gap[row] < margin):
                        if count < most:
                            contact.gap[count], contact.p[count] = contact.gap[row], contact.p[row]
                            contact.n[count] = contact.n[row]
                            contact.pair[count], contact.key[count] = k, given.pair.key[k] + j
                            count += 1
                        else:
                            missed += 1
        return count, missed
    return kernel(list_touches)


@cache
def detector(kinds: frozenset[tuple[int, int]]) -> Callable:
    """The kernel detect(given, C, margin, contact, most): list_touches, of bodies with the poses C in the world, in all
    slots."""
    list_touches = lister(kinds)

    def detect(given, C, margin, contact, most):
        locate(given, C)
        return list_touches(given, margin, contact, most)
    return kernel(detect)


# For all kinds: a quarter of a minute to compile.
list_touches, detect = lister(frozenset(TOUCHING)), detector(frozenset(TOUCHING))
