"""Conversion of multi-DoF joints between messages and models. Messages have the pose of the child in the joint's origin
on the parent, and the twist of the child and the wrench on it in the child's frame."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.screws import arrays

from .floating_base import coordinate_joints, floating_base, motion_names
from .model import Model

IN_TWIST = {"spherical": [0, 1, 2], "planar": [2, 3, 4], "free": [0, 1, 2, 3, 4, 5]}     # of a twist, angular first


class MultiDofJoint(NamedTuple):
    """A joint of several degrees of freedom: its name; kind, of GROUPS; joint frame (4, 4) in the child's frame; slices
    of q and of the velocities; names of its velocities; and child link."""

    name: str
    kind: str
    frame: np.ndarray
    q: slice
    v: slice
    names: tuple[str, ...]
    link: str

    def numbers(self, placement: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the entries of q for a pose x y z, quaternion x y z w (7,) of the child, and the violation of the
        joint's constraint by that pose, in m and rad."""
        T = arrays.pose_matrix((arrays.rotation_matrix(placement[3:]), placement[:3]))
        g = arrays.inverse_pose(self.frame) @ T @ self.frame
        R, p = g[:3, :3], g[:3, 3]
        if self.kind == "free":
            return np.concatenate((p, arrays.quaternion(R))), 0.0
        if self.kind == "spherical":
            return arrays.quaternion(R), float(np.linalg.norm(p))
        return np.array([p[0], p[1], np.arctan2(R[1, 0], R[0, 0])]), float(abs(p[2]) + np.hypot(R[0, 2], R[1, 2]))

    def velocities(self, twist: np.ndarray) -> np.ndarray:
        """Return the joint velocities for a twist (6,) of the child, without components that the joint constrains."""
        return (arrays.Ad_matrix(arrays.inverse_pose(self.frame)) @ twist)[IN_TWIST[self.kind]]

    def efforts(self, wrench: np.ndarray) -> np.ndarray:
        """Return the joint efforts equivalent to a wrench (6,), torque first, on the child."""
        return (arrays.Ad_matrix(self.frame).T @ wrench)[IN_TWIST[self.kind]]

    def wrench(self, efforts: np.ndarray) -> np.ndarray:
        """Return the wrench (6,) on the child equivalent to joint efforts, without a constraint wrench."""
        at_joint = np.zeros(6)
        at_joint[IN_TWIST[self.kind]] = efforts
        return arrays.Ad_matrix(arrays.inverse_pose(self.frame)).T @ at_joint


def multi_dof_joints(model: Model) -> tuple[MultiDofJoint, ...]:
    """Return the multi-DoF joints of a model in its order, without a floating base."""
    base = floating_base(model, others=True)
    found = []
    for joint, frame in model.joint_frames.items():
        if base is None or joint != base.joint:
            last = max(i for i, name in enumerate(model.body_joints) if name == joint)
            found.append(MultiDofJoint(joint, model.kind_of(joint), frame, model.q_slices[joint], model.v_slices[joint],
                                       motion_names(model, joint), model.body_names[last]))
    return tuple(found)


def coordinate_indices(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices in q and in the velocities of the joints of one degree of freedom."""
    joints = coordinate_joints(model)
    in_q, in_v = (np.array([where[joint].start for joint in joints], dtype=np.intp)
                  for where in (model.q_slices, model.v_slices))
    return in_q, in_v


def without_joints(model: Model) -> np.ndarray:
    """Return the indices of all other velocities: of a floating base and of multi-DoF joints."""
    return np.setdiff1d(np.arange(model.n), coordinate_indices(model)[1])
