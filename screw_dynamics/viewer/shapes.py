"""The visual and collision shapes of each link in a URDF, read from its text again, because the model has none.

An invalid shape is omitted with a note."""
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from lxml import etree

from screw_dynamics.description.urdf.error import quote
from screw_dynamics.description.urdf.shapes import elements, geometry_of, numbers
from screw_dynamics.description.urdf.source import read_source
from screw_dynamics.description.urdf.xml import parse_xml

GRAY = (0.80, 0.82, 0.84, 1.0)      # default color


class Shape(NamedTuple):
    """A shape in its link's frame.

    size: box (x, y, z), cylinder (radius, length along z), sphere (radius) or mesh (scale). file: of a mesh, as named
    in the URDF. color: (r, g, b, a) from 0 to 1, None for that of the mesh."""

    link: str
    kind: str
    size: tuple[float, ...]
    pose: np.ndarray
    color: tuple[float, float, float, float] | None
    file: str = ""


class Shapes(NamedTuple):
    """The shapes of a robot, and notes on unreadable ones."""

    visual: tuple[Shape, ...] = ()
    collision: tuple[Shape, ...] = ()
    notes: tuple[str, ...] = ()


def read_shapes(source: str) -> Shapes:
    """Return the shapes in a URDF, given as text, path or URL. Raises UrdfError if the URDF is invalid."""
    robot = parse_xml(read_source(source))
    notes: list[str] = []
    colors = {material.get("name", ""): color for material in robot.iterfind("material")
               if (color := _color(material, {})) is not None}
    found = {kind: tuple(_of_links(robot, kind, colors, notes)) for kind in ("visual", "collision")}
    return Shapes(found["visual"], found["collision"], tuple(notes))


def _of_links(robot, kind, colors, notes) -> Iterator[Shape]:
    for link, element in elements(robot, kind):
        try:
            shape = _shape(link, element, colors)
        except (ValueError, TypeError, KeyError) as error:
            notes.append(f"{kind} of link {quote(link)}: {error}")
            continue
        if shape is not None:
            yield shape


def _shape(link: str, element: etree._Element, colors: Mapping[str, Any]) -> Shape | None:
    geometry = geometry_of(link, element)
    if geometry is None:
        return None
    material = element.find("material")
    color = None if material is None else _color(material, colors)
    if geometry.kind == "mesh":
        return Shape(link, "mesh", geometry.size, geometry.pose, color, geometry.file)
    kind = "cylinder" if geometry.kind == "capsule" else geometry.kind
    return Shape(link, kind, tuple(map(abs, geometry.size)), geometry.pose, color or GRAY)


def _color(material, colors):
    """Return the color of a material, or of the named material at the top of the file; None without a valid color."""
    color = material.find("color")
    if color is None:
        return colors.get(material.get("name", ""))
    try:
        return tuple(min(max(x, 0.0), 1.0) for x in numbers(color.get("rgba", ""), 4))
    except ValueError:
        return None
