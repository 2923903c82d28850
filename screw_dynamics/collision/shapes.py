"""Shapes of bodies, each in its own frame, for collision and for the inertia at uniform density.

Lengths in m. A shape is validated once, here: ValueError names the value that is not finite, not positive or out of
range."""
import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from screw_dynamics.screws.arrays import inertia_matrix
from screw_dynamics.utils import checks

SMALLEST, LARGEST = 1e-6, 1e5       # m: lengths outside this range are taken as a wrong unit or a mistake
FLAT = 1e-9                         # relative to the bounding box: least volume of a hull
MOST_VERTICES = 1000                # of a hull; kernels iterate over vertices


def _length(what, x):
    """Return a length in m, if it is within range."""
    x = checks.positive(what, x)
    if not SMALLEST <= x <= LARGEST:
        raise ValueError(f"{what} {x:g} must be a length between {SMALLEST:g} and {LARGEST:g} m")
    return x


def _points(what, x):
    """Return points (N, 3) in m, if they are within range, as a read-only array."""
    x = np.array(checks.finite_numbers(what, x, 3), dtype=float)
    if x.ndim != 2:
        raise ValueError(f"{what} must be an array (N, 3), not one of shape {x.shape}")
    far = np.argwhere(np.abs(x) > LARGEST)
    if len(far):
        i, j = far[0]
        raise ValueError(f"{what}[{i}, {j}] {x[i, j]:g} is more than {LARGEST:g} m")
    x.flags.writeable = False
    return x


class Shape:
    """The base class of shapes: kind, bounding_radius about the origin of the frame, volume in m^3, and inertia."""

    kind: ClassVar[str]

    @property
    def bounding_radius(self) -> float:
        """The radius in m of a sphere about the frame's origin that contains the shape; inf for a plane."""
        raise NotImplementedError

    @property
    def volume(self) -> float:
        """The volume in m^3. Raises ValueError for a shape without a volume."""
        return self._moments()[0]

    def inertia(self, mass: float) -> np.ndarray:
        """Return the inertia (6, 6) of a body of this shape, of uniform density, about the frame's origin: angular
        first, kg, m.

        Raises ValueError for a mass that is not positive, and for a plane or a height field."""
        mass = checks.positive("mass", mass)
        _, com, second = self._moments()
        return inertia_matrix(mass, com, mass * (np.trace(second) * np.eye(3) - second))

    def _moments(self):
        """Return volume, center (3,), and the mean (3, 3) of r r^T about the center."""
        raise ValueError(f"a {self.kind.replace('_', ' ')} has no volume, mass or inertia")


@dataclass(frozen=True)
class Sphere(Shape):
    """A sphere about the frame's origin."""

    radius: float
    kind: ClassVar[str] = "sphere"

    def __post_init__(self):
        object.__setattr__(self, "radius", _length("radius", self.radius))

    @property
    def bounding_radius(self) -> float:
        """The radius."""
        return self.radius

    def _moments(self):
        return 4.0 / 3.0 * math.pi * self.radius ** 3, np.zeros(3), self.radius ** 2 / 5.0 * np.eye(3)


@dataclass(frozen=True)
class Capsule(Shape):
    """A capsule: all points within `radius` of a segment of this length along z, centered."""

    radius: float
    length: float
    kind: ClassVar[str] = "capsule"

    def __post_init__(self):
        object.__setattr__(self, "radius", _length("radius", self.radius))
        object.__setattr__(self, "length", _length("length", self.length))

    @property
    def bounding_radius(self) -> float:
        """Half the length plus the radius."""
        return 0.5 * self.length + self.radius

    def _moments(self):
        r, length = self.radius, self.length
        cylinder, balls = math.pi * r ** 2 * length, 4.0 / 3.0 * math.pi * r ** 3
        across = cylinder * r ** 2 / 4.0 + balls * r ** 2 / 5.0
        along = cylinder * length ** 2 / 12.0 + balls * (r ** 2 / 5.0 + length ** 2 / 4.0 + 3.0 / 8.0 * length * r)
        volume = cylinder + balls
        return volume, np.zeros(3), np.diag((across, across, along)) / volume


@dataclass(frozen=True)
class Box(Shape):
    """A box with edges of lengths size (x, y, z), centered."""

    size: tuple[float, float, float]
    kind: ClassVar[str] = "box"

    def __post_init__(self):
        size = checks.vector("size", self.size, 3)
        object.__setattr__(self, "size", tuple(_length(f"size[{i}]", float(x)) for i, x in enumerate(size)))

    @property
    def bounding_radius(self) -> float:
        """Half the diagonal."""
        return 0.5 * math.hypot(*self.size)

    def _moments(self):
        return math.prod(self.size), np.zeros(3), np.diag(np.square(self.size)) / 12.0


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder about z of this radius and length, centered."""

    radius: float
    length: float
    kind: ClassVar[str] = "cylinder"

    def __post_init__(self):
        object.__setattr__(self, "radius", _length("radius", self.radius))
        object.__setattr__(self, "length", _length("length", self.length))

    @property
    def bounding_radius(self) -> float:
        """The distance from the center to a rim, m."""
        return math.hypot(self.radius, 0.5 * self.length)

    def _moments(self):
        across = self.radius ** 2 / 4.0
        return (math.pi * self.radius ** 2 * self.length, np.zeros(3),
                np.diag((across, across, self.length ** 2 / 12.0)))


@dataclass(frozen=True, eq=False)
class ConvexHull(Shape):
    """The convex hull of points (N, 3). `points`: only its vertices, in the order given. `faces` (M, 3): triangles of
    these, counter-clockwise seen from outside."""

    points: np.ndarray
    faces: np.ndarray = field(init=False, repr=False)
    kind: ClassVar[str] = "convex_hull"

    def __post_init__(self):
        given = _points("points", self.points)
        extent = np.ptp(given, axis=0) if len(given) else np.zeros(3)
        if len(given) < 4 or extent.min() < SMALLEST:
            raise ValueError(f"points must span a body: {len(given)} points with extents {extent.tolist()} m do not")
        from scipy.spatial import ConvexHull as Hull  # lazy: scipy.linalg is slow to import
        from scipy.spatial import QhullError
        try:
            hull = Hull(given)
        except QhullError:
            raise ValueError(f"points must span a body: {len(given)} points in one plane do not") from None
        if hull.volume <= FLAT * math.prod(extent):
            raise ValueError(f"points must span a body: a hull of {hull.volume:g} m^3 is flat")
        kept = np.sort(hull.vertices)
        if len(kept) > MOST_VERTICES:
            raise ValueError(f"points: a hull of {len(kept)} vertices; at most {MOST_VERTICES} are taken: simplify it")
        number = np.zeros(len(given), dtype=int)
        number[kept] = np.arange(len(kept))
        points = given[kept]
        points.flags.writeable = False
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "faces", _outwards(points, number[hull.simplices]))

    @property
    def bounding_radius(self) -> float:
        """The distance to the farthest vertex, m."""
        return float(np.linalg.norm(self.points, axis=1).max())

    def _moments(self):
        return _moments_of_mesh(self.points, self.faces)


@dataclass(frozen=True)
class Plane(Shape):
    """The half space z <= 0 of the frame."""

    kind: ClassVar[str] = "plane"

    @property
    def bounding_radius(self) -> float:
        """Infinite."""
        return math.inf


@dataclass(frozen=True, eq=False)
class HeightField(Shape):
    """A solid below a surface given by heights on a grid.

    heights (rows, columns): in m above the xy plane of the frame. size (x, y): of the centered grid in m; columns run
    along x, rows along y. Each cell is two triangles. They share the diagonal from the corner with the lowest x and y
    to the opposite corner."""

    heights: np.ndarray
    size: tuple[float, float]
    kind: ClassVar[str] = "height_field"

    def __post_init__(self):
        heights = np.array(checks.finite_numbers("heights", self.heights), dtype=float)
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ValueError(f"heights must be an array (rows, columns) of two each at least, not {heights.shape}")
        if np.abs(heights).max() > LARGEST:
            raise ValueError(f"heights: {np.abs(heights).max():g} is more than {LARGEST:g} m")
        heights.flags.writeable = False
        size = checks.vector("size", self.size, 2)
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "size", tuple(_length(f"size[{i}]", float(x)) for i, x in enumerate(size)))

    @property
    def bounding_radius(self) -> float:
        """An upper bound of the distance to the farthest point of the surface, m."""
        return math.hypot(*(0.5 * x for x in self.size), np.abs(self.heights).max())


@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """A surface of triangles: vertices (N, 3), faces (M, 3) of vertex indices, counter-clockwise seen from outside.
    Only coal supports its collision."""

    vertices: np.ndarray
    faces: np.ndarray
    kind: ClassVar[str] = "mesh"

    def __post_init__(self):
        vertices, faces = _points("vertices", self.vertices), checks.real_numbers("faces", self.faces, 3)
        if faces.ndim != 2 or not len(faces):
            raise ValueError(f"faces must be an array (M, 3) with a triangle at least, not one of shape {faces.shape}")
        wrong = ~np.isin(faces, np.arange(len(vertices))).all(axis=1)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ValueError(f"faces[{i}] {faces[i].tolist()} must be three numbers of {len(vertices)} vertices")
        faces = faces.astype(int)
        faces.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    @property
    def bounding_radius(self) -> float:
        """The distance to the farthest vertex of a face, m."""
        return float(np.linalg.norm(self.vertices[np.unique(self.faces)], axis=1).max())

    def _moments(self):
        return _moments_of_mesh(self.vertices, self.faces)


def _outwards(points, faces):
    """Return the faces of a hull with their corners ordered such that normals point outward."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - points.mean(axis=0)) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    faces.flags.writeable = False
    return faces


def _moments_of_mesh(points, faces):
    """Return volume, center, and mean of r r^T about the center, from the tetrahedra of all faces and an interior
    point."""
    origin = points[np.unique(faces)].mean(axis=0)
    corners = points[faces] - origin
    volumes = np.linalg.det(corners) / 6.0
    volume, sums = volumes.sum(), corners.sum(axis=1)
    size = np.abs(volumes).sum()
    edges = {}
    for triangle in faces.tolist():
        for edge in zip(triangle, (*triangle[1:], triangle[0]), strict=True):
            edges[edge] = edges.get(edge, 0) + 1
    if not volume > FLAT * size or any(edges.get(edge[::-1], 0) != count for edge, count in edges.items()):
        raise ValueError(f"a mesh with a volume is closed, and its faces are seen counter-clockwise from outside; one "
                         f"of {len(faces)} faces and {volume:g} m^3 is not: give the inertia, or take its convex hull")
    center = np.einsum("i,ij->j", volumes, sums) / (4.0 * volume)
    second = (np.einsum("i,ij,ik->jk", volumes, sums, sums)
              + np.einsum("i,icj,ick->jk", volumes, corners, corners)) / (20.0 * volume)
    return float(volume), center + origin, second - np.outer(center, center)
