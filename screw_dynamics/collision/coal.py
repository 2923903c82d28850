"""Collision of meshes, which the compiled kernels do not support, by the library coal. It also handles all other
shapes.

One pair of one state at a time, from Python. For two intersecting meshes coal returns touches of their triangles with
depths, but no distance."""
from typing import Any

import numpy as np

from .colliders import Touch
from .shapes import HeightField, Mesh, Shape

MOST = 64               # touches of a pair
ITERATIONS = 1000
TOLERANCE = 1e-10       # of distances, m


def _library():
    """Return the library. Raises ImportError with installation instructions."""
    try:
        import coal
    except ImportError as error:
        raise ImportError("contacts of meshes are found by coal, which is not installed: pip install coal, or "
                          "screw_dynamics[contact]") from error
    return coal


class Body:
    """A shape as a coal object. Raises ImportError if coal is not installed."""

    def __init__(self, shape: Shape):
        coal = _library()
        self.shape = shape
        self.geometry = _geometry(coal, shape)

    def _at(self, pose):
        return _library().Transform3s(np.array(pose[:3, :3]), np.array(pose[:3, 3]))


def nearest(a: Body, A: np.ndarray, b: Body, B: np.ndarray) -> Touch:
    """Return the touch of shapes at poses (4, 4) at their nearest or deepest points; p and n are arrays (3,). Raises
    ValueError for two intersecting triangle surfaces, which have no distance."""
    coal = _library()
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    gap = coal.distance(a.geometry, a._at(A), b.geometry, b._at(B), request, result)
    p = 0.5 * (np.array(result.getNearestPoint1()) + np.array(result.getNearestPoint2()))
    if gap <= 0.0 and isinstance(a.shape, (Mesh, HeightField)) and isinstance(b.shape, (Mesh, HeightField)):
        names = (body.shape.kind.replace("_", " ") for body in (a, b))
        raise ValueError(f"a {' and a '.join(names)} that intersect have no distance: take their touches, or "
                         "convex hulls")
    return Touch(float(gap), p, -np.array(result.normal))


def touches(a: Body, A: np.ndarray, b: Body, B: np.ndarray, margin: float = 0.0) -> list[Touch]:
    """Return the touches of shapes at poses (4, 4) with a gap < margin, at most MOST; one for two convex shapes."""
    coal = _library()
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.num_max_contacts, request.security_margin = MOST, float(margin)
    request.gjk_max_iterations = request.epa_max_iterations = ITERATIONS
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    coal.collide(a.geometry, a._at(A), b.geometry, b._at(B), request, result)
    return [Touch(float(contact.penetration_depth), np.array(contact.pos), -np.array(contact.normal))
            for contact in result.getContacts()]


def _geometry(coal: Any, shape: Shape) -> Any:
    """Return the coal geometry of a shape."""
    kind: Any = shape
    if shape.kind == "sphere":
        return coal.Sphere(kind.radius)
    if shape.kind in ("capsule", "cylinder"):
        return getattr(coal, shape.kind.capitalize())(kind.radius, kind.length)
    if shape.kind == "box":
        return coal.Box(*kind.size)
    if shape.kind == "plane":
        return coal.Halfspace(np.array((0.0, 0.0, 1.0)), 0.0)
    if shape.kind == "convex_hull":
        return coal.Convex(_points(coal, kind.points), _triangles(coal, kind.faces))
    vertices, faces = (kind.vertices, kind.faces) if shape.kind == "mesh" else surface(kind)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(vertices))
    model.addSubModel(_points(coal, vertices), _triangles(coal, faces))
    model.endModel()
    return model


def surface(field: HeightField) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices and triangles of the surface of a height field."""
    rows, columns = field.heights.shape
    x, y = (np.linspace(-0.5 * size, 0.5 * size, count)
            for size, count in zip(field.size, (columns, rows), strict=True))
    vertices = np.column_stack([np.tile(x, rows), np.repeat(y, columns), field.heights.ravel()])
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    right, up, across = first + 1, first + columns, first + columns + 1
    return vertices, np.concatenate([np.column_stack([first, right, across]), np.column_stack([first, across, up])])


def _points(coal, points):
    found = coal.StdVec_Vec3s()
    found.extend(np.array(x) for x in points)
    return found


def _triangles(coal, faces):
    found = coal.StdVec_Triangle()
    found.extend(coal.Triangle(*map(int, face)) for face in faces)
    return found
