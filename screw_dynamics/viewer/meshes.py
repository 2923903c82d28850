"""Shapes as triangles with a colour: primitives are made, the files of meshes read by trimesh."""
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from screw_dynamics.urdf.meshes import meshes_of

from . import glyphs
from .glyphs import Mesh
from .shapes import GREY, Shape

MOST_FACES = 300_000        # of a file whose edges are looked for: beyond, that takes seconds
EDGE = np.radians(35.0)     # between faces; a sharper one is seen as an edge


class Part(NamedTuple):
    """Triangles in the shape's frame, and their colour (r, g, b, a)."""

    mesh: Mesh
    colour: tuple[float, float, float, float]


def parts_of(shape: Shape, find: Callable[[str], Path]) -> list[Part]:
    """The parts of a shape; ValueError says why there are none. find: from the name of a mesh to its path."""
    if shape.kind == "mesh":
        return [Part(Mesh(mesh.vertices * shape.size, mesh.faces), shape.colour or colour)
                for mesh, colour in _file(str(find(shape.file)))]
    make = {"box": lambda *sides: glyphs.box_mesh(sides), "cylinder": glyphs.cylinder_mesh,
            "sphere": glyphs.sphere_mesh}[shape.kind]
    return [Part(make(*shape.size), shape.colour or GREY)]


@lru_cache(maxsize=256)
def _file(path: str) -> list[Part]:
    """The parts of a file, a few for each material; ValueError with the reason if it cannot be read."""
    return [_part(mesh, colour) for colour, mesh in _by_colour(meshes_of(path)).items()]


def _by_colour(meshes):
    """One mesh for each colour: a robot's file may have hundreds of parts."""
    import trimesh

    groups: dict = {}
    for mesh in meshes:
        groups.setdefault(_colour(mesh), []).append(trimesh.Trimesh(mesh.vertices, mesh.faces))
    return {colour: trimesh.util.concatenate(meshes) for colour, meshes in groups.items()}


def _colour(mesh):
    """The mean colour of a mesh; grey for the default that trimesh gives."""
    visual = mesh.visual
    if visual.kind is None or not getattr(visual, "defined", True):
        return GREY
    try:
        material = getattr(visual, "material", None)
        rgba = np.asarray(visual.main_color if material is None else material.main_color, dtype=float).ravel()
        return tuple((rgba[:4] / 255.0).tolist()) if len(rgba) >= 4 else GREY
    except Exception:  # noqa: BLE001  a colour is not worth a mesh
        return GREY


def _part(mesh, colour):
    if len(mesh.faces) <= MOST_FACES:
        mesh = mesh.smooth_shade(angle=EDGE) if hasattr(mesh, "smooth_shade") else mesh.smooth_shaded
    return Part(Mesh(np.asarray(mesh.vertices, dtype=np.float32), np.asarray(mesh.faces)), colour)
