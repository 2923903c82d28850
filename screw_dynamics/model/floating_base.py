"""The floating base of a robot in the simulator and the nodes: a free joint on the root link that is the first joint,
with only single-DoF joints after it. Its pose and twist are those of its link."""
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from screw_dynamics.screws import arrays

from .configuration_space import product, rotated
from .group_joints import GROUPS, motions
from .model import Model

NUMBERS, RATES = 7, 6       # its entries in q and in the velocities, the first ones of both


class FloatingBase(NamedTuple):
    """The floating base: its joint, the link that it moves, and the names of its six velocities, angular first.

    placement (4, 4): the pose, in the root link, of the frame in which q expresses the link's pose. fixed {link: pose
    (4, 4)}: poses of the links fixed to the base, including its own, in its frame."""

    joint: str
    link: str
    names: tuple[str, ...]
    placement: np.ndarray
    fixed: Mapping[str, np.ndarray]

    def numbers(self, pose: np.ndarray, link: str = "") -> np.ndarray:
        """Return the entries of q (7,) for a pose x y z, quaternion x y z w (7,), in the root link, of a link fixed to
        the base; "": of the base. The quaternion may have any length except 0."""
        q = pose.copy()
        q[3:] /= np.linalg.norm(q[3:])
        if link and link != self.link:
            q = _composed(q, _numbers(arrays.inverse_pose(self.fixed[link])))
        if not np.array_equal(self.placement, np.eye(4)):
            q = _composed(_numbers(arrays.inverse_pose(self.placement)), q)
        return q

    def pose(self, q: np.ndarray) -> np.ndarray:
        """Return the pose x y z, quaternion x y z w (7,) of the base in the root link from its entries of q (7,)."""
        if np.array_equal(self.placement, np.eye(4)):
            return q
        return _composed(_numbers(self.placement), q)

    def twist(self, twist: np.ndarray, link: str = "") -> np.ndarray:
        """Return the base's twist (6,) from that of a link fixed to it, in the link's frame; "": the base itself."""
        return twist if link in ("", self.link) else arrays.Ad_matrix(self.fixed[link]) @ twist

    def wrench(self, wrench: np.ndarray, link: str = "") -> np.ndarray:
        """Return the wrench (6,) on the base, torque first, from one on a link fixed to it, in the link's frame."""
        return wrench if link in ("", self.link) else arrays.Ad_matrix(arrays.inverse_pose(self.fixed[link])).T @ wrench


def floating_base(model: Model, others: bool = False) -> FloatingBase | None:
    """Return the floating base of a model, None if it has none. Raises ValueError for other Lie-group joints, unless
    `others` is True."""
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
    """Return a name for each velocity (n,): the joint's, or <joint>_<motion> for Lie-group joints, as in
    add_macro_joint."""
    return tuple(name for joint in model.joint_names for name in motion_names(model, joint))


def motion_names(model: Model, joint: str) -> tuple[str, ...]:
    """Return the names of the velocities of one joint, which may be a mimic joint."""
    kind = model.kind_of(joint)
    return tuple(f"{joint}_{motion}" for motion in motions(kind)) if kind in GROUPS else (joint,)


def coordinate_joints(model: Model) -> tuple[str, ...]:
    """Return the joints of one degree of freedom, in the order of the model."""
    return tuple(joint for joint in model.joint_names if joint not in model.joint_frames)


def coordinates(q: np.ndarray, n: int) -> np.ndarray:
    """Return the coordinates (..., n) of the velocities from q (..., nq): 0 for those of a floating base."""
    if q.shape[-1] == n:
        return q
    return np.concatenate((np.zeros((*q.shape[:-1], RATES)), q[..., NUMBERS:]), axis=-1)


def in_numbers(mask: np.ndarray, nq: int) -> np.ndarray:
    """Return a mask (..., nq) of entries of q from one (..., n) of velocities. The first velocity of the base selects
    all of its entries."""
    if mask.shape[-1] == nq:
        return mask
    return np.concatenate((np.repeat(mask[..., :1], NUMBERS, axis=-1), mask[..., RATES:]), axis=-1)


def _composed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the composition a b (7,) of two poses (7,)."""
    return np.concatenate((a[:3] + rotated(a[3:], b[:3]), product(a[3:], b[3:])))


def _numbers(C: np.ndarray) -> np.ndarray:
    """Return position and quaternion (7,) of a pose (4, 4)."""
    return np.concatenate((C[:3, 3], arrays.quaternion(C[:3, :3])))
