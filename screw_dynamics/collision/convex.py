"""Convex shapes for kernels: a polyhedron of polyhedra.py, swept by a disc or a ball.

All in the frame of the second shape of a pair, where numbers stay small even far from the origin."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.numbers.scalars import sqrt
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.se3 import Pose
from screw_dynamics.screws.vectors import Vec3

from .colliders import CAPSULE, CYLINDER, FAR, SPHERE, Geometry
from .polyhedra import BEFORE_FACES, EDGE, FACE
from .writing import TINY

NONE = -1               # index of a nonexistent face


class Convex(NamedTuple):
    """A convex shape at a pose: the numbers of vertices, faces and edges of its polyhedron, and the indices of their
    first numbers in `data`; the radii of the disc about the z axis, and of the ball, that sweep the polyhedron."""

    C: Pose
    vertices: int
    faces: int
    edges: int
    first: int
    of_faces: int
    of_edges: int
    of_corners: int
    disc: Scalar
    ball: Scalar


class Face(NamedTuple):
    """A face: outward normal, height above the frame's origin, index of its first corner in `data`, and number of
    corners, 0 for a disc."""

    n: Vec3
    height: Scalar
    first: int
    count: int


class Edge(NamedTuple):
    """An edge: indices of its vertices, and of the faces on both sides."""

    start: int
    end: int
    left: int
    right: int


@kernel
def convex(given: Geometry, i: int, C: Pose) -> Convex:
    """Return collider i as a Convex at pose C."""
    collider, data = given.collider, given.data
    first, vertices, faces, kind = collider.first[i], collider.count[i], collider.columns[i], collider.kind[i]
    of_faces = first + 3 * vertices + BEFORE_FACES
    edges = int(data[of_faces - 1])
    of_edges = of_faces + FACE * faces
    radius = collider.size[i].x
    return Convex(C, vertices, faces, edges, first, of_faces, of_edges, of_edges + EDGE * edges,
                  radius if kind == CYLINDER else 0.0, radius if kind == SPHERE or kind == CAPSULE else 0.0)


@kernel
def placed(of: Convex, C: Pose) -> Convex:
    """Return the shape at a pose C."""
    return Convex(C, of.vertices, of.faces, of.edges, of.first, of.of_faces, of.of_edges, of.of_corners, of.disc,
                  of.ball)


@kernel
def local_vertex(data: np.ndarray, of: Convex, i: int) -> Vec3:
    """Return vertex i in the shape's own frame."""
    j = of.first + 3 * i
    return Vec3(data[j], data[j + 1], data[j + 2])


@kernel
def vertex(data: np.ndarray, of: Convex, i: int) -> Vec3:
    """Return vertex i."""
    return of.C @ local_vertex(data, of, i)


@kernel
def center(data: np.ndarray, of: Convex) -> Vec3:
    """Return an interior point of the shape."""
    return vertex(data, of, of.vertices)


@kernel
def face_of(data: np.ndarray, of: Convex, i: int) -> Face:
    """Return face i."""
    j = of.of_faces + FACE * i
    n = of.C.R @ Vec3(data[j], data[j + 1], data[j + 2])
    return Face(n, data[j + 3] + n @ of.C.p, of.of_corners + int(data[j + 4]), int(data[j + 5]))


@kernel
def height_over(data: np.ndarray, of: Convex, i: int, x: Vec3) -> Scalar:
    """Return the height of a point of the shape's own frame above face i."""
    j = of.of_faces + FACE * i
    return data[j] * x.x + data[j + 1] * x.y + data[j + 2] * x.z - data[j + 3]


@kernel
def local(of: Convex, x: Vec3) -> Vec3:
    """Return a point in the shape's own frame."""
    return (x - of.C.p) @ of.C.R


@kernel
def edge_of(data: np.ndarray, of: Convex, i: int) -> Edge:
    """Return edge i."""
    j = of.of_edges + EDGE * i
    return Edge(int(data[j]), int(data[j + 1]), int(data[j + 2]), int(data[j + 3]))


@kernel
def axis_of(of: Convex) -> Vec3:
    """Return the axis of a disc."""
    return Vec3(of.C.R.x.z, of.C.R.y.z, of.C.R.z.z)


@kernel
def farthest(data: np.ndarray, of: Convex, n: Vec3) -> int:
    """Return the index of the vertex farthest along n, the first one within rounding."""
    m, best, at, j = n @ of.C.R, -FAR, 0, of.first
    for i in range(of.vertices):
        height = m.x * data[j] + m.y * data[j + 1] + m.z * data[j + 2]
        if height > best:
            best, at = height, i
        j += 3
    return at


@kernel
def disc_towards(of: Convex, n: Vec3) -> Vec3:
    """Return the point of the disc about the origin farthest along n."""
    m = n @ of.C.R                      # in its frame: for n close to the axis, the point is still in the disc's plane
    length = m.x * m.x + m.y * m.y
    if of.disc == 0.0 or length <= TINY:
        return Vec3(0.0, 0.0, 0.0)
    length = sqrt(length)
    return of.C.R @ Vec3(of.disc * m.x / length, of.disc * m.y / length, 0.0)


@kernel
def towards(data: np.ndarray, of: Convex, n: Vec3) -> Vec3:
    """Return the support point of the shape, without its ball, along n."""
    return vertex(data, of, farthest(data, of, n)) + disc_towards(of, n)


@kernel
def separation(data: np.ndarray, A: Convex, B: Convex, n: Vec3) -> Scalar:
    """Return the gap of the shapes, without balls, along a unit vector n that points from the second to the first."""
    return n @ (towards(data, A, -1.0 * n) - towards(data, B, n))
