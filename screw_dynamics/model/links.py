"""The tables that the recursions read of a robot: a row of numbers for each body (Link) and for each frame (Frame).

Slot 0 of both is the world, so that no loop has a case for the root; body i of a Model has slot i + 1."""
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from screw_dynamics.screws import arrays
from screw_dynamics.screws.inertia import Inertia, moved
from screw_dynamics.screws.joint import AxialJoint, axial_joint, on_axis
from screw_dynamics.screws.se3 import Axial, Pose, Twist, inverse


class Link(NamedTuple):
    """A body and the joint that moves it, in a body frame with z on the joint axis: four numbers of the screw are zero,
    and operations with them are omitted.

    Slot of the parent, index of the coordinate that drives the joint, joint screw X and inertia M in the body frame,
    that frame's pose in the parent's as a function of q, and armature: the inertia of the joint's rotor times its gear
    ratio squared, kg m^2 or kg, which adds 1/2 armature q'^2 to the kinetic energy; 0 of all but the first of bodies
    that share a coordinate. The world's X is its acceleration (0, -g), by which gravity enters; its z axis too lies
    along X, so slot 0 is not the root frame: that is a Frame."""

    parent: int
    coordinate: int
    X: Axial
    M: Inertia
    E: AxialJoint
    armature: float = 0.0


Links: TypeAlias = Sequence[Link]                   # of a robot: one for each body, and the world's first


class Placed(NamedTuple):
    """A body in a body frame placed anywhere: slot of the parent, coordinate, joint screw and inertia in the body
    frame, B, the body's pose in its parent at q = 0, and armature; the world as in Link."""

    parent: int
    coordinate: int
    X: Twist
    M: Inertia
    B: Pose
    armature: float = 0.0


class Structure(NamedTuple):
    """The properties that algorithms are compiled for: a coordinate may drive several bodies, as with mimic joints;
    configurations of some joints are elements of Lie groups."""

    shares_coordinates: bool = False
    on_groups: bool = False


class Frame(NamedTuple):
    """A frame fixed to a body: the body's slot, and the frame's pose in the body frame of its Link."""

    body: int
    C: Pose


def placed(parent: int, coordinate: int, X: np.ndarray, M: np.ndarray, B: np.ndarray, armature: float = 0.0) -> Placed:
    """Return the Placed body of arrays: X (6,), M (6, 6), B (4, 4)."""
    return Placed(int(parent), int(coordinate), arrays.twist(X), arrays.inertia(M), arrays.pose(B), float(armature))


def on_axes(bodies: Sequence[Placed]) -> list[Link]:
    """Return the Link of each body. The numbers may be of any kind."""
    frames = [on_axis(body.X) for body in bodies]
    return [Link(parent, coordinate, X, moved(inverse(T), M), axial_joint(inverse(frames[parent][0]) @ B @ T, X), a)
            for (parent, coordinate, _, M, B, a), (T, X) in zip(bodies, frames, strict=True)]


def axis_frames(bodies: Sequence[Placed]) -> list[Pose]:
    """Return the poses of the frames of Links in those of the bodies."""
    return [on_axis(body.X)[0] for body in bodies]
