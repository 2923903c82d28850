"""The visual and collision shapes of each link in a URDF. Dynamics leaves them out, so the text is read again.

A shape that cannot be understood is left out with a note: a picture with a part missing is better than none."""
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from lxml import etree

from screw_dynamics.urdf.error import quote
from screw_dynamics.urdf.shapes import elements, geometry_of, numbers
from screw_dynamics.urdf.source import read_source
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


def read_shapes(source: str) -> Shapes:
    """The shapes in a URDF, given as text, path or address; UrdfError if it cannot be read at all."""
    robot = parse_xml(read_source(source))
    notes: list[str] = []
    colours = {material.get("name", ""): colour for material in robot.iterfind("material")
               if (colour := _colour(material, {})) is not None}
    found = {kind: tuple(_of_links(robot, kind, colours, notes)) for kind in ("visual", "collision")}
    return Shapes(found["visual"], found["collision"], tuple(notes))


def _of_links(robot, kind, colours, notes) -> Iterator[Shape]:
    for link, element in elements(robot, kind):
        try:
            shape = _shape(link, element, colours)
        except (ValueError, TypeError, KeyError) as error:
            notes.append(f"{kind} of link {quote(link)}: {error}")
            continue
        if shape is not None:
            yield shape


def _shape(link: str, element: etree._Element, colours: Mapping[str, Any]) -> Shape | None:
    geometry = geometry_of(link, element)
    if geometry is None:
        return None
    material = element.find("material")
    colour = None if material is None else _colour(material, colours)
    if geometry.kind == "mesh":
        return Shape(link, "mesh", geometry.size, geometry.pose, colour, geometry.file)
    kind = "cylinder" if geometry.kind == "capsule" else geometry.kind
    return Shape(link, kind, tuple(map(abs, geometry.size)), geometry.pose, colour or GREY)


def _colour(material, colours):
    """The colour that a material has, or that its name has at the top of the file."""
    colour = material.find("color")
    if colour is None:
        return colours.get(material.get("name", ""))
    try:
        return tuple(min(max(x, 0.0), 1.0) for x in numbers(colour.get("rgba", ""), 4))
    except ValueError:
        return None
