"""Data of each description of a configuration, and the poses of all bodies from them; [MK] 2.2 to 2.4."""
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import inverse_pose

from .tree import Tree, along_branches, motions


class JointFrames(NamedTuple):
    """Two joint frames for each joint, which coincide at q = 0, as in Sheth and Uicker's convention; [MK] 2.2."""

    tree: Tree
    on_parent: np.ndarray       # (b, 4, 4) S_(i,i-1): pose of the joint frame in the parent's body frame
    on_body: np.ndarray         # (b, 4, 4) S_(i,i): pose of the joint frame in the body frame
    screws: np.ndarray          # (b, 6) iZ_i: joint screw in the joint frame

    def poses(self, q: ArrayLike) -> np.ndarray:
        """Return C_i (..., b, 4, 4) at q (..., n): C_i = C_lambda(i) S_(i,i-1) exp(Z_i q_i) S_(i,i)^-1; [MK] (3)."""
        return along_branches(
            self.tree, self.on_parent @ motions(self.tree, self.screws, q) @ inverse_pose(self.on_body))


class BodyFixed(NamedTuple):
    """Joint screws in the frames of the bodies that they move, without joint frames; [MK] 2.3."""

    tree: Tree
    relative_poses: np.ndarray  # (b, 4, 4) B_i: pose in the parent at q = 0
    screws: np.ndarray          # (b, 6) X_i: joint screw in the body frame

    def poses(self, q: ArrayLike) -> np.ndarray:
        """Return C_i (..., b, 4, 4) at q (..., n): C_i = C_lambda(i) B_i exp(X_i q_i); [MK] (8), first form."""
        return along_branches(self.tree, self.relative_poses @ motions(self.tree, self.screws, q))


class ParentFixed(NamedTuple):
    """Joint screws in the frames of the parent bodies: the other body-fixed description; [MK] 2.3."""

    tree: Tree
    relative_poses: np.ndarray  # (b, 4, 4) B_i: pose in the parent at q = 0
    screws: np.ndarray          # (b, 6) X-bar_i: joint screw in the parent's body frame

    def poses(self, q: ArrayLike) -> np.ndarray:
        """Return C_i (..., b, 4, 4) at q (..., n): C_i = C_lambda(i) exp(X-bar_i q_i) B_i; [MK] (8), second form."""
        return along_branches(self.tree, motions(self.tree, self.screws, q) @ self.relative_poses)


class Spatial(NamedTuple):
    """Joint screws in the world frame at q = 0, without body-fixed frames in the product; [MK] 2.4."""

    tree: Tree
    reference_poses: np.ndarray     # (b, 4, 4) A_i: pose in the world at q = 0
    screws: np.ndarray              # (b, 6) Y_i: joint screw in the world frame at q = 0

    def poses(self, q: ArrayLike) -> np.ndarray:
        """Return C_i (..., b, 4, 4) at q (..., n): C_i = ... exp(Y_lambda(i) q_lambda(i)) exp(Y_i q_i) A_i; [MK]
        (10)."""
        return along_branches(self.tree, motions(self.tree, self.screws, q)) @ self.reference_poses
