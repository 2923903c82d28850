"""Shapes as triangles with a colour: primitives are made, the files of meshes read by trimesh."""
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from . import glyphs
from .glyphs import Mesh
from .shapes import GREY, Shape

LARGEST_FILE = 200e6        # bytes
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
    import trimesh

    if Path(path).stat().st_size > LARGEST_FILE:
        raise ValueError(f"larger than {LARGEST_FILE / 1e6:g} MB")
    try:
        scene = trimesh.load_scene(path)
    except Exception as error:  # noqa: BLE001  whatever a file or the library for it does
        raise ValueError(_reason(path, error)) from None
    parts = [_part(mesh, colour) for colour, mesh in _by_colour(scene).items()]
    if not parts:
        raise ValueError("it contains no triangles")
    return parts


def _reason(path, error):
    if Path(path).suffix.lower() == ".dae":
        try:
            import collada  # noqa: F401
        except ImportError:
            return "COLLADA needs pycollada, which is not installed: pip install pycollada"
    return f"{type(error).__name__}: {str(error)[:120]}"


def _by_colour(scene):
    """One mesh for each colour of a scene, in the scene's frame: a robot's file may have hundreds of parts."""
    import trimesh

    groups: dict = {}
    for mesh in scene.dump():
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces) and np.isfinite(mesh.vertices).all():
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
