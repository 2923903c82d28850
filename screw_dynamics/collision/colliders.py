"""Tables in a workspace for the contact kernels. Inputs: colliders, which are shapes on bodies, and pairs of colliders.
Results: touches."""
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import lane_count
from screw_dynamics.numbers.tables import block, extends, packed, table, width
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.arrays import pose, vec3
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3

from .polyhedra import polyhedron
from .shapes import Shape

# Numbers of the kinds. The first collider of a pair has the lower or the same number.
SPHERE, CAPSULE, BOX, CYLINDER, CONVEX_HULL, PLANE, HEIGHT_FIELD = range(7)
NUMBERS = dict(sphere=SPHERE, capsule=CAPSULE, box=BOX, cylinder=CYLINDER, convex_hull=CONVEX_HULL, plane=PLANE,
               height_field=HEIGHT_FIELD)
FAR = 1e9               # m: the gap of a nonexistent touch


class Collider(NamedTuple):
    """A shape on a body: its kind, the slot of its body (0: the world), and its pose in the body.

    size: half lengths of a box; (radius, 0, half length) of a sphere, capsule or cylinder; (length x, length y,
    highest) of a height field. radius: bounding sphere about the frame's origin, inf for a plane. first: index of its
    numbers in `data`: `count` vertices and `columns` faces of a convex shape, in the layout of polyhedra.py, vertices
    first; or heights (count, columns). belt: velocity (m/s) of its surface relative to its body, in the shape's
    frame."""

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
    """Two colliders that may touch: their largest number of points, and the index of the first point among the points
    of all pairs; coefficients of friction, restitution, and of torsional and rolling friction (m)."""

    first: int
    second: int
    points: int
    key: int
    mu: Scalar
    restitution: Scalar
    torsion: Scalar
    rolling: Scalar


class Touch(NamedTuple):
    """A contact point, or the nearest points, of two shapes, in world axes: the gap (m, negative if penetrating) along
    the unit normal n from the second to the first, and the point p at the middle of the gap. The surface of the first
    is at p + gap n / 2, that of the second at p - gap n / 2."""

    gap: Scalar
    p: Vec3
    n: Vec3


@extends(Touch)
class Contact(NamedTuple):
    """A touch of a pair, and its number among the points of all pairs, constant from step to step; each lane has its
    own."""

    pair: int
    key: Scalar


class Located(NamedTuple):
    """The pose of a collider in the world."""

    C: Pose


class Geometry(NamedTuple):
    """Tables of colliders and pairs, their numbers, and the largest number of points of a pair; data of hulls and
    height fields; place: poses of the colliders. near (1 + pairs): one more than the number of pairs that may touch
    while no collider moves far, 0 if they are not known, and these pairs; listed: the positions for which they are."""

    collider: Collider
    pair: Pair
    colliders: int
    pairs: int
    most: int
    data: np.ndarray
    place: Located
    near: np.ndarray
    listed: np.ndarray


class Attached(NamedTuple):
    """A shape on the body in a slot (0: the world), at a pose (4, 4) in the body. belt: velocity (3,) of its surface
    relative to the body in m/s, in the shape's frame."""

    shape: Shape
    body: int
    pose: np.ndarray
    belt: Sequence[float] = (0.0, 0.0, 0.0)


def rows(attached: Sequence[Attached]) -> tuple[list[Collider], np.ndarray]:
    """Return the rows of colliders, in the order given, and their array `data`, shared by equal shapes."""
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
    """Return the number of a shape's kind. Raises ValueError for a shape that kernels do not support."""
    if shape.kind not in NUMBERS:
        raise ValueError(f"a {shape.kind} has no compiled contacts: in motion it cannot touch, at rest "
                         "screw_dynamics.collision.coal finds what touches; take its convex hull")
    return NUMBERS[shape.kind]


def _size(shape):
    """Return the numbers of Collider.size."""
    if shape.kind == "box":
        return [0.5 * x for x in shape.size]
    if shape.kind == "height_field":
        return *shape.size, float(shape.heights.max())
    return getattr(shape, "radius", 0.0), 0.0, 0.5 * getattr(shape, "length", 0.0)


def _numbers(shape):
    """Return a shape's numbers for `data`, and its Collider.count and .columns."""
    if shape.kind == "height_field":
        return shape.heights.ravel(), *shape.heights.shape
    convex = polyhedron(shape)
    return (np.empty(0), 0, 0) if convex is None else (convex.numbers(), len(convex.vertices), len(convex.faces))


# ------------------------------------------------------------------------------------------------- memory
COUNTS = 4          # numbers before the tables: of colliders, pairs, points and data
COLLIDER, PAIR, LOCATED, CONTACT = width(Collider), width(Pair), width(Located), width(Contact)


def pack(colliders: Sequence[Collider], pairs: Sequence[Pair], data: np.ndarray) -> np.ndarray:
    """Return the packed tables for `geometry_in`."""
    most = max((pair.points for pair in pairs), default=0)
    tables = [packed(colliders).ravel()] if colliders else []
    rows = np.array(pairs, dtype=float).reshape(-1, PAIR)       # takes a tenth of the time of `packed`
    rows.view(np.int64)[:, :4] = rows[:, :4]                    # the whole numbers come first
    return np.concatenate([(len(colliders), len(pairs), most, len(data)), *tables, rows.ravel(), data])


@kernel
def geometry_numbers(colliders: int, pairs: int) -> int:
    """Return the memory size of a Geometry for one state, in numbers; multiply by the number of lanes."""
    return (LOCATED + 3) * colliders + 1 + pairs


@kernel
def geometry_in(memory: np.ndarray, first: int, like: Any, start: int) -> Geometry:
    """Return the Geometry whose packed tables start at position `first` of memory; its own memory starts at `start`."""
    colliders, pairs, most = int(memory[first]), int(memory[first + 1]), int(memory[first + 2])
    numbers = int(memory[first + 3])
    of_colliders = first + COUNTS
    of_pairs = of_colliders + COLLIDER * colliders
    of_data = of_pairs + PAIR * pairs
    listed = start + lane_count(like) * LOCATED * colliders
    near = listed + lane_count(like) * 3 * colliders
    return Geometry(table(Collider, 0.0, colliders, memory, of_colliders), table(Pair, 0.0, pairs, memory, of_pairs),
                    colliders, pairs, most, block(0.0, (numbers,), memory, of_data),
                    table(Located, like, colliders, memory, start), block(0.0, (1 + pairs,), memory, near),
                    block(like, (3 * colliders,), memory, listed))


@kernel
def contact_rows(given: Geometry, most: int) -> int:
    """Return the number of rows of a table of at most `most` contacts; candidates of a pair follow the stored
    contacts."""
    return most + given.most
