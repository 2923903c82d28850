"""Poses and hulls for tests of contacts."""
import numpy as np
from scipy.spatial.transform import Rotation

from screw_dynamics.collision.shapes import ConvexHull

CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])     # of a cube of 1 m


def at(x=0.0, y=0.0, z=0.0, turn=(0.0, 0.0, 0.0)):
    """The pose (4, 4) at a point, turned by a rotation vector."""
    C = np.eye(4)
    C[:3, :3], C[:3, 3] = Rotation.from_rotvec(turn).as_matrix(), (x, y, z)
    return C


def block(*size):
    """The hull of the corners of a box."""
    return ConvexHull(CORNERS * size)


def prism(sides, radius, height):
    """The hull of a prism about the z axis."""
    turn = 2.0 * np.pi * np.arange(sides) / sides
    return ConvexHull([(radius * np.cos(t), radius * np.sin(t), side * height) for t in turn for side in (-0.5, 0.5)])
