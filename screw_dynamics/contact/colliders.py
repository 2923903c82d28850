"""Tables in a workspace for the kernels of contacts. They read colliders, which are shapes on bodies, and the pairs of
them that may touch; they write touches."""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.tables import block, extends, packed, table, width
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.arrays import pose, vec3
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3

from .polyhedra import polyhedron
from .shapes import Shape

# The numbers of kinds; of a pair of colliders the first has the lower one, or the same.
SPHERE, CAPSULE, BOX, CYLINDER, CONVEX_HULL, PLANE, HEIGHT_FIELD = range(7)
NUMBERS = dict(sphere=SPHERE, capsule=CAPSULE, box=BOX, cylinder=CYLINDER, convex_hull=CONVEX_HULL, plane=PLANE,
               height_field=HEIGHT_FIELD)
FAR = 1e9               # m: the gap of a touch that does not exist


class Collider(NamedTuple):
    """A shape on a body: its kind, the slot of its body (0: the world), and its pose there.

    size: half lengths of a box; (radius, 0, half length) of a sphere, capsule or cylinder; (length x, length y,
    highest) of a height field. radius: of a sphere about the frame's origin that contains it, inf for a plane. Of the
    numbers in `data` that it has the first, and how many: `count` vertices and `columns` faces of a convex shape, as
    polyhedra.py lays them out, vertices first; heights (count, columns). belt: the velocity (m/s) of its surface
    relative to its body, in the shape's frame."""

    kind: int
    body: int
    C: Pose
    size: Vec3
    radius: Scalar
    first: int
    count: int
    columns: int
    belt: Vec3


class Pair(NamedTuple):
    """Two colliders that may touch: how many points they have at most, and the number of the first of these among the
    points of all pairs; coefficients of friction, restitution, and of torsional and rolling friction (m)."""

    first: int
    second: int
    points: int
    key: int
    mu: Scalar
    restitution: Scalar
    torsion: Scalar
    rolling: Scalar


class Touch(NamedTuple):
    """A point where two shapes touch, or come closest: the gap (m, negative inside) along the unit normal n, which
    points from the second to the first, and the point p in the middle of the gap. In world axes. The surface of the
    first is at p + gap n / 2, that of the second at p - gap n / 2."""

    gap: Scalar
    p: Vec3
    n: Vec3


@extends(Touch)
class Contact(NamedTuple):
    """A touch of a pair, and its number among the points of all pairs, which is the same from step to step; each place
    has its own."""

    pair: int
    key: Scalar


class Located(NamedTuple):
    """The pose of a collider in the world."""

    C: Pose


class Geometry(NamedTuple):
    """Tables of colliders and pairs, how many there are, and how many points a pair has at most; the numbers of hulls
    and height fields; place: where the colliders are."""

    collider: Collider
    pair: Pair
    colliders: int
    pairs: int
    most: int
    data: np.ndarray
    place: Located


class Attached(NamedTuple):
    """A shape on the body in a slot (0: the world), at a pose (4, 4) there; belt: the velocity (3,) of its surface
    relative to the body in m/s, in the shape's frame."""

    shape: Shape
    body: int
    pose: np.ndarray
    belt: Sequence[float] = (0.0, 0.0, 0.0)


def rows(attached: Sequence[Attached]) -> tuple[list[Collider], np.ndarray]:
    """Return the rows of colliders, in the order given, and the array `data` of their numbers, which equal shapes
    share."""
    colliders, data, firsts, end = [], [np.empty(0)], {}, 0
    for shape, body, C, belt in attached:
        numbers, count, columns = _numbers(shape)
        first = firsts.setdefault(numbers.tobytes(), end)
        if first == end:
            data.append(numbers)
            end += len(numbers)
        colliders.append(Collider(kind_of(shape), body, pose(np.asarray(C, dtype=float)), vec3(_size(shape)),
                                  shape.bounding_radius, first, count, columns, vec3(belt)))
    return colliders, np.concatenate(data)


def kind_of(shape: Shape) -> int:
    """Return the number of a shape's kind. Raises ValueError for one that kernels do not know."""
    if shape.kind not in NUMBERS:
        raise ValueError(f"a {shape.kind} has no compiled contacts: in motion it cannot touch, at rest "
                         "screw_dynamics.contact.coal finds what touches; take its convex hull")
    return NUMBERS[shape.kind]


def _size(shape):
    """Return the numbers of Collider.size."""
    if shape.kind == "box":
        return [0.5 * x for x in shape.size]
    if shape.kind == "height_field":
        return *shape.size, float(shape.heights.max())
    return getattr(shape, "radius", 0.0), 0.0, 0.5 * getattr(shape, "length", 0.0)


def _numbers(shape):
    """Return the numbers of a shape that `data` holds, and what Collider.count and .columns say of them."""
    if shape.kind == "height_field":
        return shape.heights.ravel(), *shape.heights.shape
    convex = polyhedron(shape)
    return (np.empty(0), 0, 0) if convex is None else (convex.numbers(), len(convex.vertices), len(convex.faces))


# ------------------------------------------------------------------------------------------------- memory
COUNTS = 4          # numbers before the tables: of colliders, pairs, points and data
COLLIDER, PAIR, LOCATED, CONTACT = width(Collider), width(Pair), width(Located), width(Contact)


def pack(colliders: Sequence[Collider], pairs: Sequence[Pair], data: np.ndarray) -> np.ndarray:
    """Return the numbers of the tables, which `geometry_in` reads."""
    most = max((pair.points for pair in pairs), default=0)
    tables = [packed(rows).ravel() for rows in (colliders, pairs) if rows]
    return np.concatenate([(len(colliders), len(pairs), most, len(data)), *tables, data])


@kernel
def geometry_numbers(colliders: int) -> int:
    """Return the size of the memory of a Geometry for one state, in numbers: `places` times as many for lanes."""
    return LOCATED * colliders


@kernel
def geometry_in(memory: np.ndarray, first: int, like: Any, start: int) -> Geometry:
    """Return the Geometry whose packed numbers are in memory from position `first` on, with memory from `start` on."""
    colliders, pairs, most = int(memory[first]), int(memory[first + 1]), int(memory[first + 2])
    numbers = int(memory[first + 3])
    of_colliders = first + COUNTS
    of_pairs = of_colliders + COLLIDER * colliders
    of_data = of_pairs + PAIR * pairs
    return Geometry(table(Collider, 0.0, colliders, memory, of_colliders), table(Pair, 0.0, pairs, memory, of_pairs),
                    colliders, pairs, most, block(0.0, (numbers,), memory, of_data),
                    table(Located, like, colliders, memory, start))


@kernel
def contact_rows(given: Geometry, most: int) -> int:
    """Return the number of rows of a table of at most `most` contacts: candidates of a pair come after those that are
    kept."""
    return most + given.most
