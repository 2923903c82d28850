"""The floating base of a robot as the simulator and the nodes take it: the first joint, free, from the root link, while
all other joints have one degree of freedom. Its pose and twist are those of its link."""
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from screw_dynamics.screws import arrays

from .configuration_space import product, quaternion, rotated
from .group_joints import GROUPS, motions
from .model import Model

NUMBERS, RATES = 7, 6       # that it has in q, and in velocities: both begin with them


class FloatingBase(NamedTuple):
    """joint: its name; link: that it moves; names: of its six velocities, angular ones first.

    placement (4, 4): the pose in the root link of the frame in which q has the link's pose. fixed {link: pose (4, 4)}:
    the links fixed to the base, itself too, in its frame."""

    joint: str
    link: str
    names: tuple[str, ...]
    placement: np.ndarray
    fixed: Mapping[str, np.ndarray]

    def numbers(self, pose: np.ndarray, link: str = "") -> np.ndarray:
        """Return the numbers in q (7,) for a pose x y z, quaternion x y z w (7,) of a link fixed to the base, in the
        root link; "": of the base. The quaternion has any length but 0."""
        q = pose.copy()
        q[3:] /= np.linalg.norm(q[3:])
        if link and link != self.link:
            q = _composed(q, _numbers(arrays.inverse_pose(self.fixed[link])))
        if not np.array_equal(self.placement, np.eye(4)):
            q = _composed(_numbers(arrays.inverse_pose(self.placement)), q)
        return q

    def pose(self, q: np.ndarray) -> np.ndarray:
        """Return the pose x y z, quaternion x y z w (7,) of the base in the root link, for its numbers in q (7,)."""
        if np.array_equal(self.placement, np.eye(4)):
            return q
        return _composed(_numbers(self.placement), q)

    def twist(self, twist: np.ndarray, link: str = "") -> np.ndarray:
        """Return the base's twist (6,), for that of a link fixed to it in this link's frame; "": of the base."""
        return twist if link in ("", self.link) else arrays.Ad_matrix(self.fixed[link]) @ twist

    def wrench(self, wrench: np.ndarray, link: str = "") -> np.ndarray:
        """Return the wrench (6,) on the base, torque first, for one on a link fixed to it in this link's frame."""
        return wrench if link in ("", self.link) else arrays.Ad_matrix(arrays.inverse_pose(self.fixed[link])).T @ wrench


def floating_base(model: Model, others: bool = False) -> FloatingBase | None:
    """Return the floating base of a model; None where none floats. Raises ValueError naming another Lie-group joint,
    unless there may be others."""
    base = None
    for i, (joint, frame) in enumerate(model.joint_frames.items()):
        parent = model.parents[model.body_joints.index(joint)]
        at_root = i == 0 and joint == model.joint_names[0] and parent < 0 and np.array_equal(frame, np.eye(4))
        if model.kind_of(joint) == "free" and at_root:
            base = joint
        elif not others:
            raise ValueError(
                f"joint '{joint}' is {model.kind_of(joint)}: only joints of one degree of freedom are taken here, and "
                f"a floating one as the first joint, from the root link '{model.root}'")
    if base is None:
        return None
    last = RATES - 1
    fixed = {link: C for link, (body, C) in model.frames.items() if body == last}
    names = velocity_names(model)[:RATES]
    return FloatingBase(base, model.body_names[last], names, model.relative_poses[0], fixed)


def velocity_names(model: Model) -> tuple[str, ...]:
    """Return a name for each velocity (n,): the joint's, or <joint>_<motion> of Lie-group joints, as add_macro_joint
    has."""
    return tuple(name for joint in model.joint_names for name in motion_names(model, joint))


def motion_names(model: Model, joint: str) -> tuple[str, ...]:
    """Return the names of the velocities of one joint, which may be a mimic joint."""
    kind = model.kind_of(joint)
    return tuple(f"{joint}_{motion}" for motion in motions(kind)) if kind in GROUPS else (joint,)


def coordinate_joints(model: Model) -> tuple[str, ...]:
    """Return the joints of one degree of freedom, in the order of the model."""
    return tuple(joint for joint in model.joint_names if joint not in model.joint_frames)


def coordinates(q: np.ndarray, n: int) -> np.ndarray:
    """Return the coordinate (..., n) of each velocity, for configurations (..., nq): 0 for those of a floating base."""
    if q.shape[-1] == n:
        return q
    return np.concatenate((np.zeros((*q.shape[:-1], RATES)), q[..., NUMBERS:]), axis=-1)


def in_numbers(mask: np.ndarray, nq: int) -> np.ndarray:
    """Return a mask (..., nq) of numbers in q, for one (..., n) of velocities; of the base's none or all, by its
    first."""
    if mask.shape[-1] == nq:
        return mask
    return np.concatenate((np.repeat(mask[..., :1], NUMBERS, axis=-1), mask[..., RATES:]), axis=-1)


def _composed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pose a b (7,) of two."""
    return np.concatenate((a[:3] + rotated(a[3:], b[:3]), product(a[3:], b[3:])))


def _numbers(C: np.ndarray) -> np.ndarray:
    """Return the numbers (7,) of a pose (4, 4)."""
    return np.concatenate((C[:3, 3], quaternion(C[:3, :3])))
