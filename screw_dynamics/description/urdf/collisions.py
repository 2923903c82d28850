"""Conversion of the <collision> elements of a URDF to collision shapes of its links."""
from collections.abc import Collection
from functools import lru_cache

import numpy as np

from screw_dynamics.collision.hulls import simplified
from screw_dynamics.collision.on_links import CollisionShape
from screw_dynamics.collision.shapes import LARGEST, Box, Capsule, ConvexHull, Cylinder, Shape, Sphere
from screw_dynamics.utils.checks import whole

from .error import LONGEST_LIST, UrdfError, fault, issue, quote
from .file import opened
from .meshes import locate, meshes_of
from .shapes import Geometry, UnknownShape, elements, geometry_of
from .source import Source, path_of, read_source
from .xml import parse_xml

VERTICES = 64       # default largest number of a hull's vertices


def read_collisions(source: Source, links: Collection[str] | None = None,
                    vertices: int = VERTICES) -> tuple[CollisionShape, ...]:
    """Return the collision shapes of a URDF (a path, XML text or an open file), in file order.

    Boxes, spheres, cylinders and capsules (length without the caps) keep their type. A mesh becomes the convex hull of
    its scaled vertices with at most `vertices` vertices (collision/hulls.py); a negative scale mirrors it. Meshes are
    located as in Robot.view. links: read only the shapes of these links.

    Raises UrdfError with line, link and value if a size is not a number, not finite, negative, or more than 1e5 m.
    Shapes that cannot be in contact are omitted with a UrdfWarning: sizes of 0, flat meshes, missing or unreadable
    files, and shapes that URDF does not define."""
    shapes, texts = collisions_of(source, links, vertices)
    path = path_of(source)
    issue(texts if path is None else [f"{path}: {text}" for text in texts])
    return shapes


def collisions_of(source: Source, links: Collection[str] | None = None,
                  vertices: int = VERTICES) -> tuple[tuple[CollisionShape, ...], list[str]]:
    """Return the shapes of read_collisions and the texts of its warnings."""
    whole("vertices", vertices, 4)
    path = path_of(source)
    try:
        return _read(opened(source), path, links, vertices)
    except UrdfError as error:
        raise UrdfError(f"{path}: {error}") from None if path is not None else error


def _read(source, path, links, vertices):
    found: list[CollisionShape] = []
    left_out: list[str] = []
    for link, element in elements(parse_xml(read_source(source)), "collision"):
        if links is not None and link not in links:
            continue
        geometry = _geometry(link, element, left_out)
        if geometry is None:
            continue
        try:
            shape = _shape(geometry, path, vertices)
        except (ValueError, OSError) as error:
            left_out.append(f"{quote(link)} ({geometry.kind}{geometry.file and ' ' + geometry.file}: {error})")
        else:
            found.append(CollisionShape(link, shape, geometry.pose, name=element.get("name", "")))
    more = len(left_out) - LONGEST_LIST
    text = "collision shapes that are left out: " + ", ".join(left_out[:LONGEST_LIST])
    return tuple(found), [text + (f" and {more} more" if more > 0 else "")] if left_out else []


def _geometry(link, element, left_out):
    """Return the validated geometry of an element; None without a shape, or for a shape noted in left_out."""
    try:
        geometry = geometry_of(link, element)
        if geometry is not None:
            _check(geometry)
        return geometry
    except UnknownShape as error:
        left_out.append(f"{quote(link)} ({error})")
        return None
    except ValueError as error:
        raise fault(f"collision of link {quote(link)}: {error}", element.sourceline) from None


def _check(geometry: Geometry) -> None:
    """Raise ValueError for an invalid size, scale or position."""
    if max(map(abs, geometry.pose[:3, 3])) > LARGEST:
        raise ValueError(f"{geometry.kind} at {geometry.pose[:3, 3].tolist()} is farther than {LARGEST:g} m")
    if geometry.kind == "mesh":
        if len(geometry.size) != 3:
            raise ValueError(f"scale of {len(geometry.size)} numbers, not 3, of mesh {quote(geometry.file)}")
        return
    for x in geometry.size:
        if x < 0.0:
            raise ValueError(f"{geometry.kind} of size {' '.join(f'{x:g}' for x in geometry.size)}: {x:g} is negative")
        if x > LARGEST:
            raise ValueError(f"{geometry.kind} of size {' '.join(f'{x:g}' for x in geometry.size)}: {x:g} is more than "
                             f"{LARGEST:g} m")


def _shape(geometry: Geometry, source: str | None, vertices: int) -> Shape:
    if geometry.kind == "mesh":
        path = locate(geometry.file, source)
        points = _points(str(path), path.stat().st_mtime_ns)
        return ConvexHull(simplified(points * np.array(geometry.size), vertices))
    if geometry.kind == "box":
        x, y, z = geometry.size
        return Box((x, y, z))
    return {"sphere": Sphere, "cylinder": Cylinder, "capsule": Capsule}[geometry.kind](*geometry.size)


@lru_cache(maxsize=64)
def _points(path: str, changed: int) -> np.ndarray:
    """Return the vertices (N, 3) of all meshes in a file; cached by its modification time `changed`."""
    return np.concatenate([mesh.vertices for mesh in meshes_of(path)])
