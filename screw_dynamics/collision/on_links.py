"""Collision shapes on links, as in robot descriptions."""
from typing import NamedTuple

import numpy as np

from .materials import Material
from .shapes import Shape


class CollisionShape(NamedTuple):
    """A collision shape of a link, at a pose (4, 4) in the link's frame; its material, or None; and its name, or ""."""

    link: str
    shape: Shape
    pose: np.ndarray
    material: Material | None = None
    name: str = ""
