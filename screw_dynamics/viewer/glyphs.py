"""Geometry of a robot's dynamics: joint screw axes, inertia boxes, arrows. Uses only NumPy.

A Mesh is vertices (v, 3) and triangles (f, 3)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.model import Model
from screw_dynamics.screws import arrays

SMALLEST_SIDE = 5e-3    # m, of an inertia box
STRAIGHT = 1e-9         # m/rad; a screw with a smaller pitch counts as a rotation


class Mesh(NamedTuple):
    """Vertices (v, 3) and triangles (f, 3) of vertex indices."""

    vertices: np.ndarray
    faces: np.ndarray


def kind_of(axis: arrays.ScrewAxis) -> str:
    """Return the type of motion about an axis: "turns" (rotation), "slides" (translation) or "helical"."""
    return "slides" if np.isinf(axis.pitch) else "turns" if abs(axis.pitch) < STRAIGHT else "helical"


def inertia_box(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sides (3,) and the pose (4, 4) of the homogeneous box with the inertia (6, 6) of a body.

    From the principal moments I of a box of mass m with sides a: a_1^2 = 6 (I_2 + I_3 - I_1) / m. Sides are at least
    SMALLEST_SIDE, also where the moments are impossible; without mass all sides are SMALLEST_SIDE."""
    M, C = arrays.inertia(matrix), np.eye(4)
    if M.mass <= 0.0:
        return np.full(3, SMALLEST_SIDE), C
    C[:3, 3] = np.array(M.moment) / M.mass
    shift = arrays.tilde(C[:3, 3])
    moments, R = np.linalg.eigh(matrix[:3, :3] + M.mass * shift @ shift)
    C[:3, :3] = R * np.sign(np.linalg.det(R))
    squares = 6.0 * (moments.sum() - 2.0 * moments) / M.mass
    return np.sqrt(np.maximum(squares, SMALLEST_SIDE**2)), C


# ------------------------------------------------------------------------------------------------- meshes
def screw_mesh(kind: str, size: float) -> Mesh:
    """Return an arrow along z for a joint axis.

    It has a ring for "turns", a square shaft with two heads for "slides", and a helix for "helical". These marks are
    near the head, outside the link."""
    r = 0.022 * size
    if kind == "slides":
        profile = (0.0, 1.0), (3.0, 0.76), (1.2, 0.76), (1.2, 0.54), (3.0, 0.54), (1.0, 0.3), (1.0, -0.3), (0.0, -0.3)
        return revolved([(k * r, z * size) for k, z in profile], sides=4)
    arrow = revolved([(0.0, size), (2.6 * r, 0.8 * size), (r, 0.8 * size), (r, -0.3 * size), (0.0, -0.3 * size)])
    turns, pitch = (1.0, 0.0) if kind == "turns" else (2.5, 0.12 * size)
    angle = np.linspace(0.0, 2 * np.pi * turns, int(32 * turns) + 1)
    outwards = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    heights = (0.56 if kind == "turns" else 0.45) * size + (angle / (2 * np.pi) - turns / 2) * pitch
    return merged(arrow, tube(0.17 * size * outwards + heights[:, None] * np.eye(3)[2], outwards, 0.8 * r))


def arrow_mesh(size: float) -> Mesh:
    """Return a thick arrow along z from the origin, of length `size`."""
    profile = (0.0, 1.0), (0.13, 0.62), (0.055, 0.62), (0.055, 0.0), (0.0, 0.0)
    return revolved([(r * size, z * size) for r, z in profile])


def box_mesh(sides: np.ndarray) -> Mesh:
    """Return a box about the origin with separate corners for each side: flat shading."""
    faces = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            a, b, c = np.eye(3)[axis] * sign, np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3] * sign
            faces.append([a - b - c, a + b - c, a + b + c, a - b + c])
    corners = np.array(faces).reshape(-1, 3) * np.asarray(sides) / 2.0
    return Mesh(corners, np.concatenate([[[k, k + 1, k + 2], [k, k + 2, k + 3]] for k in range(0, 24, 4)]))


def cylinder_mesh(radius: float, length: float) -> Mesh:
    """Return a cylinder along z about the origin."""
    half = length / 2.0
    return revolved([(0.0, half), (radius, half), (radius, -half), (0.0, -half)], sides=40)


def sphere_mesh(radius: float) -> Mesh:
    """Return a sphere about the origin."""
    angle = np.linspace(0.0, np.pi, 19)
    return revolved([(radius * np.sin(a), radius * np.cos(a)) for a in angle], sides=32, sharp=False)


def revolved(profile: list[tuple[float, float]], sides: int = 20, sharp: bool = True) -> Mesh:
    """Return the surface of revolution about z of a polyline of points (radius, z), from the top down.

    sharp: each profile edge has its own vertices and is shaded as an edge."""
    rings = np.array(profile)
    if sharp:
        rings = np.repeat(rings, 2, axis=0)[1:-1]
    angle = np.linspace(0.0, 2 * np.pi, sides + 1)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    flat = rings[:, :1, None] * circle
    heights = np.broadcast_to(rings[:, 1:, None], (*flat.shape[:2], 1))
    grid = np.concatenate([flat, heights], axis=2)
    return _grid_mesh(grid, skip=2 if sharp else 1)


def tube(path: np.ndarray, normals: np.ndarray, radius: float, sides: int = 10) -> Mesh:
    """Return a tube around a curve (k, 3) about z; `normals` (k, 3) point away from z."""
    angle = np.linspace(0.0, 2 * np.pi, sides + 1)
    around = np.cos(angle)[:, None] * normals[:, None] + np.sin(angle)[:, None] * np.eye(3)[2]
    return _grid_mesh(path[:, None] + radius * around, skip=1)


def _grid_mesh(grid, skip):
    """Return a mesh on a grid of vertices (rows, columns, 3): triangles from every `skip`-th row to the next."""
    rows, columns = grid.shape[:2]
    i, j = np.meshgrid(np.arange(0, rows - 1, skip), np.arange(columns - 1), indexing="ij")
    a, b = (i * columns + j).ravel(), ((i + 1) * columns + j).ravel()
    return Mesh(grid.reshape(-1, 3), np.concatenate([np.stack([a, b, b + 1], 1), np.stack([a, b + 1, a + 1], 1)]))


def merged(*meshes: Mesh) -> Mesh:
    """Return one mesh with all vertices and triangles."""
    counts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]),
                np.concatenate([mesh.faces + count for mesh, count in zip(meshes, counts, strict=True)]))


def way_out(mesh: Mesh, point: np.ndarray, direction: np.ndarray) -> float:
    """Return the distance from a point (3,) along a unit direction to the last intersected triangle; 0 without any.

    Moeller and Trumbore, Fast, minimum storage ray/triangle intersection, 1997."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]].astype(float) for k in range(3))
    e, f = b - a, c - a
    h = np.cross(direction, f)
    det = np.einsum("ij,ij->i", e, h)
    scale = np.where(np.abs(det) > 1e-15, det, np.inf)
    s = point - a
    u = np.einsum("ij,ij->i", s, h) / scale
    g = np.cross(s, e)
    v, t = g @ direction / scale, np.einsum("ij,ij->i", f, g) / scale
    met = t[(u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & np.isfinite(scale)]
    return float(max(0.0, met.max(initial=0.0)))


# ------------------------------------------------------------------------------------------------- of a model
def centers(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the bodies' masses (b,) and centers of mass (b, 3) in body frames; the origin for mass 0."""
    inertias = [arrays.inertia(M) for M in model.inertias]
    masses = np.array([M.mass for M in inertias])
    moments = np.array([M.moment for M in inertias]).reshape(-1, 3)
    return masses, np.divide(moments, masses[:, None], out=np.zeros_like(moments), where=masses[:, None] > 0.0)
