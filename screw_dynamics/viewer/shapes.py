"""What a URDF shows of each link: its visual and collision shapes. Dynamics leaves them out, so the text is read again.

A shape that cannot be understood is left out with a note: a picture with a part missing is better than none."""
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lxml import etree

from screw_dynamics.urdf.description import pose
from screw_dynamics.urdf.error import quote
from screw_dynamics.urdf.location import locate_beside, resolve
from screw_dynamics.urdf.source import path_of, read_source
from screw_dynamics.urdf.xml import parse_xml

GREY = (0.80, 0.82, 0.84, 1.0)      # what has no colour of its own


class Shape(NamedTuple):
    """A shape in its link's frame: a box (x, y, z), cylinder (radius, length along z), sphere (radius) or mesh (scale).

    file: of a mesh, as the URDF names it; colour: (r, g, b, a) from 0 to 1, None for that of the mesh."""

    link: str
    kind: str
    size: tuple[float, ...]
    pose: np.ndarray
    colour: tuple[float, float, float, float] | None
    file: str = ""


class Shapes(NamedTuple):
    """The shapes of a robot, and what could not be read."""

    visual: tuple[Shape, ...] = ()
    collision: tuple[Shape, ...] = ()
    notes: tuple[str, ...] = ()


class _Origin(NamedTuple):
    xyz: tuple[float, ...]
    rpy: tuple[float, ...]


def read_shapes(source: str) -> Shapes:
    """The shapes in a URDF, given as text, path or address; UrdfError if it cannot be read at all."""
    robot = parse_xml(read_source(source))
    notes: list[str] = []
    colours = {material.get("name", ""): colour for material in robot.iterfind("material")
               if (colour := _colour(material, {})) is not None}
    found = {kind: tuple(_of_links(robot, kind, colours, notes)) for kind in ("visual", "collision")}
    return Shapes(found["visual"], found["collision"], tuple(notes))


def locate(file: str, source: str | None) -> Path:
    """The path of a mesh that a URDF (its path, address or text) names; UrdfError if there is no such file."""
    return locate_beside(file, _folder(source))


def _folder(source):
    """The folder that a URDF lies in, None for text."""
    path = None if source is None else path_of(source)
    return None if path is None else Path(os.path.abspath(resolve(path))).parent


def _of_links(robot, kind, colours, notes) -> Iterator[Shape]:
    for link in robot.iterfind("link"):
        for element in link.iterfind(kind):
            try:
                shape = _shape(link.get("name", ""), element, colours)
            except (ValueError, TypeError, KeyError) as error:
                notes.append(f"{kind} of link {quote(link.get('name', ''))}: {error}")
                continue
            if shape is not None:
                yield shape


def _shape(link: str, element: etree._Element, colours: Mapping[str, Any]) -> Shape | None:
    geometry = next((part for part in element.iterfind("geometry/*")), None)
    if geometry is None:
        return None
    origin, placed = element.find("origin"), np.eye(4)
    if origin is not None:
        placed = pose(_Origin(_numbers(origin.get("xyz", "0 0 0"), 3), _numbers(origin.get("rpy", "0 0 0"), 3)))
    material = element.find("material")
    colour = None if material is None else _colour(material, colours)
    if geometry.tag == "mesh":
        scale = _numbers(geometry.get("scale", "1 1 1"))
        scale = scale * 3 if len(scale) == 1 else scale[:3]
        return Shape(link, "mesh", scale, placed, colour, geometry.get("filename", ""))
    sizes = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",), "capsule": ("radius", "length")}
    if geometry.tag not in sizes:
        raise ValueError(f"shape {quote(geometry.tag)} is not known")
    size = _numbers(" ".join(geometry.get(name, "") for name in sizes[geometry.tag]), 3 if geometry.tag == "box" else
                    len(sizes[geometry.tag]))
    kind = "cylinder" if geometry.tag == "capsule" else geometry.tag
    return Shape(link, kind, tuple(map(abs, size)), placed, colour or GREY)


def _colour(material, colours):
    """The colour that a material has, or that its name has at the top of the file."""
    colour = material.find("color")
    if colour is None:
        return colours.get(material.get("name", ""))
    try:
        return tuple(min(max(x, 0.0), 1.0) for x in _numbers(colour.get("rgba", ""), 4))
    except ValueError:
        return None


def _numbers(text, size=None):
    numbers = tuple(map(float, text.split()))
    if not all(map(math.isfinite, numbers)) or size is not None and len(numbers) != size or not numbers:
        raise ValueError(f"{quote(text)} is not {size or 'some'} finite numbers")
    return numbers
