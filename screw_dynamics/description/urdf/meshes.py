"""Mesh files, read with trimesh, which is an extra."""
import os
from pathlib import Path
from typing import Any

import numpy as np

from .location import locate_beside, resolve
from .source import path_of

LARGEST_FILE = 200e6        # bytes


def locate(file: str, source: str | None) -> Path:
    """Return the path of a mesh named in a URDF (path, URL or text). Raises UrdfError if the file does not exist."""
    path = None if source is None else path_of(source)
    return locate_beside(file, None if path is None else Path(os.path.abspath(resolve(path))).parent)


def meshes_of(path: str | Path) -> list[Any]:
    """Return the trimesh.Trimesh objects of a file, in the file's frame, that have faces and finite vertices.

    Raises ValueError with the reason if the file cannot be read or has no such mesh."""
    try:
        import trimesh
    except ImportError:
        raise ValueError("meshes are read by trimesh, which is not installed: pip install trimesh") from None
    if Path(path).stat().st_size > LARGEST_FILE:
        raise ValueError(f"larger than {LARGEST_FILE / 1e6:g} MB")
    try:
        scene = trimesh.load_scene(str(path))
    except Exception as error:  # noqa: BLE001  whatever a file or the library for it does
        raise ValueError(_reason(path, error)) from None
    found = [mesh for mesh in scene.dump() if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces)
             and np.isfinite(mesh.vertices).all()]
    if not found:
        raise ValueError("it contains no triangles")
    return found


def _reason(path, error):
    if Path(path).suffix.lower() == ".dae":
        try:
            import collada  # noqa: F401
        except ImportError:
            return "COLLADA needs pycollada, which is not installed: pip install pycollada"
    return f"{type(error).__name__}: {str(error)[:120]}"
