"""Shapes on links, as descriptions of robots have them."""
from typing import NamedTuple

import numpy as np

from .materials import Material
from .shapes import Shape


class CollisionShape(NamedTuple):
    """A shape that a link touches with, at a pose (4, 4) in the link's frame; its material, None where the description
    has none; and its name, "" where it has none."""

    link: str
    shape: Shape
    pose: np.ndarray
    material: Material | None = None
    name: str = ""
