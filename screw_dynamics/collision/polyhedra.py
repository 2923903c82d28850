"""Shapes as polyhedra for the kernels of convex shapes: vertices, plane faces, their corners, and edges.

A sphere is one vertex and a capsule an edge, swept by a ball. A cylinder is an edge, its axis, swept by a disc; its two
caps are faces without corners. Kernels add the ball and the disc."""
from typing import Any, NamedTuple

import numpy as np

from .shapes import Shape

FLAT = 1e-6             # relative to the size of a hull: triangles within this distance of a plane are one face
FACE, EDGE = 6, 4       # numbers of a face and of an edge
BEFORE_FACES = 4        # numbers between vertices and faces: an interior point, and the number of edges


class Polyhedron(NamedTuple):
    """Vertices (N, 3); faces [(unit outward normal (3,), corners, counter-clockwise seen from outside)], a disc if
    without corners; edges (M, 4): two vertices and the two adjacent faces, left one first seen from outside, -1 for
    none; loop: corners of the whole shape if no face has corners."""

    vertices: np.ndarray
    faces: list[tuple[np.ndarray, list[int]]]
    edges: np.ndarray
    loop: tuple[int, ...] = ()

    def numbers(self) -> np.ndarray:
        """Return the packed numbers: vertices; an interior point and the number of edges; faces: normal, height above
        the origin, first corner and number of corners; edges; and corners of all faces."""
        faces, first = [], 0
        for normal, corners in self.faces:
            faces.append([*normal, (self.vertices @ normal).max(), first, len(corners)])
            first += len(corners)
        loops = [*(corner for _, corners in self.faces for corner in corners), *self.loop]
        return np.concatenate([self.vertices.ravel(), self.vertices.mean(axis=0), [len(self.edges)],
                               np.ravel(faces), self.edges.ravel(), loops]).astype(float)


def polyhedron(shape: Shape) -> Polyhedron | None:
    """Return the Polyhedron of a shape; None if it is not convex."""
    kind: Any = shape
    if shape.kind == "sphere":
        return Polyhedron(np.zeros((1, 3)), [], np.empty((0, 4)), (0,))
    if shape.kind in ("capsule", "cylinder"):
        z = np.array((0.0, 0.0, 1.0))
        caps = [(-z, []), (z, [])] if shape.kind == "cylinder" else []
        ends = 0.5 * kind.length * np.array([-z, z])
        return Polyhedron(ends, caps, np.array([(0, 1, -1, -1)]), (0, 1))
    if shape.kind == "box":
        return _of_box(0.5 * np.array(kind.size))
    return of_triangles(kind.points, kind.faces) if shape.kind == "convex_hull" else None


def _of_box(half):
    """Return the polyhedron of a box. Corner k has bit 0 set where x is positive, bit 1 for y and bit 2 for z."""
    vertices = half * np.array([[1.0 if k >> i & 1 else -1.0 for i in range(3)] for k in range(8)])
    faces = []
    for i in range(3):
        u, v = 1 << (i + 1) % 3, 1 << (i + 2) % 3
        faces.append((-np.eye(3)[i], [0, v, u | v, u]))
        faces.append((np.eye(3)[i], [k | 1 << i for k in (0, u, u | v, v)]))
    return Polyhedron(vertices, faces, _edges([corners for _, corners in faces], range(6)))


def _edges(polygons, face_of):
    """Return the edges between polygons of different faces. The first (left) polygon has the vertices in this order."""
    left = _lefts(polygons)
    return np.array([(i, j, face_of[f], face_of[left[j, i]]) for (i, j), f in left.items()
                     if i < j and face_of[f] != face_of[left[j, i]]])


def _lefts(polygons):
    """Return {(i, j): number of the polygon in which vertex j comes after vertex i}."""
    return {(i, j): f for f, corners in enumerate(polygons)
            for i, j in zip(corners, [*corners[1:], corners[0]], strict=True)}


def of_triangles(points: np.ndarray, triangles: np.ndarray) -> Polyhedron:
    """Return the Polyhedron of a convex hull with these vertices (N, 3) and triangles (M, 3), counter-clockwise seen
    from outside.

    Coplanar triangles become one face."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    areas = np.linalg.norm(normals, axis=1)
    left = _lefts(triangles.tolist())
    near, face_of = FLAT * np.ptp(points, axis=0).max(), np.full(len(triangles), -1)
    faces: list[tuple[np.ndarray, list[int]]] = []
    for seed in np.argsort(-areas, kind="stable"):
        if face_of[seed] >= 0:
            continue
        normal, group, waiting = normals[seed] / areas[seed], [], [seed]
        while waiting:                                      # neighbors in the plane of the seed
            f = waiting.pop()
            if face_of[f] >= 0 or np.abs((points[triangles[f]] - a[seed]) @ normal).max() > near:
                continue
            face_of[f] = len(faces)
            group.append(f)
            waiting += [left[j, i] for i, j in _sides(triangles[f])]
        corners = _around(points, triangles[group])
        area = _area(points[corners])
        faces.append((area / np.linalg.norm(area), corners))
    return Polyhedron(points, faces, _edges(triangles.tolist(), face_of))


def _sides(corners):
    a, b, c = map(int, corners)
    return (a, b), (b, c), (c, a)


def _around(points, triangles):
    """Return the ordered corners of a face of these triangles: the outer one of its boundary loops."""
    sides = {side for corners in triangles for side in _sides(corners)}
    following = dict(side for side in sides if side[::-1] not in sides)
    lines = []
    while following:
        corners = [min(following)]
        while corners[-1] in following:
            corners.append(following.pop(corners[-1]))
        lines.append(corners[:-1])
    return max(lines, key=lambda corners: np.linalg.norm(_area(points[corners])))


def _area(corners):
    """Return the area vector of a polygon."""
    arms = corners[1:] - corners[0]
    return np.cross(arms[:-1], arms[1:]).sum(axis=0)
