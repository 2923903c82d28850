"""Shapes as colored triangles: primitives are generated, mesh files are read with trimesh."""
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from screw_dynamics.description.urdf.meshes import meshes_of

from . import glyphs
from .glyphs import Mesh
from .shapes import GRAY, Shape

MOST_FACES = 300_000        # largest number of faces for which edges are detected; beyond, this takes seconds
EDGE = np.radians(35.0)     # angle between faces above which an edge is sharp


class Part(NamedTuple):
    """Triangles in the shape's frame, and their color (r, g, b, a)."""

    mesh: Mesh
    color: tuple[float, float, float, float]


def parts_of(shape: Shape, find: Callable[[str], Path]) -> list[Part]:
    """Return the parts of a shape. Raises ValueError if it has none. find: function from a mesh's name to its path."""
    if shape.kind == "mesh":
        return [Part(Mesh(mesh.vertices * shape.size, mesh.faces), shape.color or color)
                for mesh, color in _file(str(find(shape.file)))]
    make = {"box": lambda *sides: glyphs.box_mesh(sides), "cylinder": glyphs.cylinder_mesh,
            "sphere": glyphs.sphere_mesh}[shape.kind]
    return [Part(make(*shape.size), shape.color or GRAY)]


@lru_cache(maxsize=256)
def _file(path: str) -> list[Part]:
    """Return the parts of a file, one per color. Raises ValueError with the reason if it cannot be read."""
    return [_part(mesh, color) for color, mesh in _by_color(meshes_of(path)).items()]


def _by_color(meshes):
    """Return one mesh per color: a robot's file may have hundreds of parts."""
    import trimesh

    groups: dict = {}
    for mesh in meshes:
        groups.setdefault(_color(mesh), []).append(trimesh.Trimesh(mesh.vertices, mesh.faces))
    return {color: trimesh.util.concatenate(meshes) for color, meshes in groups.items()}


def _color(mesh):
    """Return the mean color of a mesh; gray for trimesh's default color."""
    visual = mesh.visual
    if visual.kind is None or not getattr(visual, "defined", True):
        return GRAY
    try:
        material = getattr(visual, "material", None)
        rgba = np.asarray(visual.main_color if material is None else material.main_color, dtype=float).ravel()
        return tuple((rgba[:4] / 255.0).tolist()) if len(rgba) >= 4 else GRAY
    except Exception:  # noqa: BLE001  a color is not worth a mesh
        return GRAY


def _part(mesh, color):
    if len(mesh.faces) <= MOST_FACES:
        mesh = mesh.smooth_shade(angle=EDGE) if hasattr(mesh, "smooth_shade") else mesh.smooth_shaded
    return Part(Mesh(np.asarray(mesh.vertices, dtype=np.float32), np.asarray(mesh.faces)), color)
