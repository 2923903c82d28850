"""Visual and collision shapes of a URDF's links, unprocessed, for visualization and contact."""
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from lxml import etree

from .description import pose
from .error import quote

SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",), "capsule": ("radius", "length")}


class Geometry(NamedTuple):
    """A shape in its link's frame.

    size: box (x, y, z), cylinder (radius, length along z), capsule (radius, length along z without the caps), sphere
    (radius), mesh (scale). Sizes are finite, but may be 0 or negative. file: of a mesh, as named in the URDF."""

    link: str
    kind: str
    size: tuple[float, ...]
    pose: np.ndarray
    file: str = ""


class UnknownShape(ValueError):
    """Error: a kind of shape that URDF does not define."""


class _Origin(NamedTuple):
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]


def elements(robot: etree._Element, kind: str) -> Iterator[tuple[str, etree._Element]]:
    """Yield (link, element) for the <visual> or <collision> elements of a robot, in file order."""
    for link in robot.iterfind("link"):
        for element in link.iterfind(kind):
            yield link.get("name", ""), element


def geometry_of(link: str, element: etree._Element) -> Geometry | None:
    """Return the geometry of an element, or None.

    Raises ValueError for a value that is not a finite number, and UnknownShape."""
    geometry = next((part for part in element.iterfind("geometry/*")), None)
    if geometry is None:
        return None
    origin, placed = element.find("origin"), np.eye(4)
    if origin is not None:
        placed = pose(_Origin(numbers(origin.get("xyz", "0 0 0"), 3), numbers(origin.get("rpy", "0 0 0"), 3)))
    kind = geometry.tag
    if kind == "mesh":
        scale = numbers(geometry.get("scale", "1 1 1"))
        scale = scale * 3 if len(scale) == 1 else scale[:3]
        return Geometry(link, kind, scale, placed, geometry.get("filename", ""))
    if kind not in SIZES:
        raise UnknownShape(f"shape {quote(kind)} is not known")
    size = numbers(" ".join(geometry.get(name, "") for name in SIZES[kind]), 3 if kind == "box" else len(SIZES[kind]))
    return Geometry(link, kind, size, placed)


def numbers(text: str, size: int | None = None) -> tuple[float, ...]:
    """Return the finite numbers in a text. Raises ValueError if there are not `size` of them, or none."""
    found = tuple(map(float, text.split()))
    if not all(map(math.isfinite, found)) or size is not None and len(found) != size or not found:
        raise ValueError(f"{quote(text)} is not {size or 'some'} finite numbers")
    return found
