"""The tables of a robot for the recursions: a row per body (Link) and a row per frame (Frame).

Slot 0 of both is the world, so that loops need no special case for the root; body i of a Model has slot i + 1."""
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from screw_dynamics.screws import arrays
from screw_dynamics.screws.inertia import Inertia, moved
from screw_dynamics.screws.joint import AxialJoint, axial_joint, on_axis
from screw_dynamics.screws.se3 import Axial, Pose, Twist, inverse


class Link(NamedTuple):
    """A body and the joint that moves it, in a body frame with z on the joint axis: four entries of the screw are zero,
    and operations with them are omitted.

    parent: slot. coordinate: index of the coordinate that drives the joint. X, M: joint screw and inertia in the body
    frame. E: pose of that frame in the parent's as a function of q. armature: rotor inertia times gear ratio squared,
    kg m^2 or kg, which adds 1/2 armature q'^2 to the kinetic energy; 0 for all but the first body of a shared
    coordinate. X of the world is its acceleration (0, -g), which introduces gravity. Its z-axis is along X too:
    slot 0 is not the root frame, which is a Frame."""

    parent: int
    coordinate: int
    X: Axial
    M: Inertia
    E: AxialJoint
    armature: float = 0.0


Links: TypeAlias = Sequence[Link]                   # of a robot: the world, then the bodies


class Placed(NamedTuple):
    """A body in an arbitrary body frame: slot of the parent, coordinate, joint screw and inertia in that frame, B, its
    pose in the parent at q = 0, and armature; the world as in Link."""

    parent: int
    coordinate: int
    X: Twist
    M: Inertia
    B: Pose
    armature: float = 0.0


class Structure(NamedTuple):
    """The properties for which algorithms are specialized: coordinates that drive several bodies, as with mimic joints,
    and Lie-group joints."""

    shares_coordinates: bool = False
    on_groups: bool = False


class Frame(NamedTuple):
    """A frame fixed to a body: the body's slot, and the pose of the frame in the body frame of its Link."""

    body: int
    C: Pose


def placed(parent: int, coordinate: int, X: np.ndarray, M: np.ndarray, B: np.ndarray, armature: float = 0.0) -> Placed:
    """Return the Placed body from arrays X (6,), M (6, 6), B (4, 4)."""
    return Placed(int(parent), int(coordinate), arrays.twist(X), arrays.inertia(M), arrays.pose(B), float(armature))


def on_axes(bodies: Sequence[Placed]) -> list[Link]:
    """Return the Link of each Placed body, for any scalar type."""
    frames = [on_axis(body.X) for body in bodies]
    return [Link(parent, coordinate, X, moved(inverse(T), M), axial_joint(inverse(frames[parent][0]) @ B @ T, X), a)
            for (parent, coordinate, _, M, B, a), (T, X) in zip(bodies, frames, strict=True)]


def axis_frames(bodies: Sequence[Placed]) -> list[Pose]:
    """Return the poses of the Link frames in the body frames."""
    return [on_axis(body.X)[0] for body in bodies]
