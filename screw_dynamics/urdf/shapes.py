"""The shapes that a URDF has of its links, visual and collision ones, as it says: what shows and what touches are made
of them."""
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from lxml import etree

from .description import pose
from .error import quote

SIZES = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",), "capsule": ("radius", "length")}


class Geometry(NamedTuple):
    """A shape in its link's frame: a box (x, y, z), cylinder or capsule (radius, length along z, of a capsule without
    its caps), sphere (radius) or mesh (scale). Sizes are finite, but may be 0 or negative.

    file: of a mesh, as the URDF names it."""

    link: str
    kind: str
    size: tuple[float, ...]
    pose: np.ndarray
    file: str = ""


class UnknownShape(ValueError):
    """A kind of shape that is none of those of a URDF."""


class _Origin(NamedTuple):
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]


def elements(robot: etree._Element, kind: str) -> Iterator[tuple[str, etree._Element]]:
    """Yield the elements <visual> or <collision> of a robot, with the names of their links, in the order of the
    file."""
    for link in robot.iterfind("link"):
        for element in link.iterfind(kind):
            yield link.get("name", ""), element


def geometry_of(link: str, element: etree._Element) -> Geometry | None:
    """Return the geometry of an element; None where it has none. Raises ValueError for what is no number, or not
    finite, and UnknownShape."""
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
    """Finite numbers of a text, `size` of them if that is given."""
    found = tuple(map(float, text.split()))
    if not all(map(math.isfinite, found)) or size is not None and len(found) != size or not found:
        raise ValueError(f"{quote(text)} is not {size or 'some'} finite numbers")
    return found
