"""Descriptions of a configuration: their data, the poses from them, and conversions; [MK] 2.

  JointFrames   joint_frames(robot)   two frames for each joint                       (1)-(3)
  BodyFixed     body_fixed(robot)     screws in the frames of the bodies they move    (4), (5), (8)
  ParentFixed   parent_fixed(robot)   screws in the frames of the parent bodies       (6)-(8)
  Spatial       spatial(robot)        screws in the world frame at q = 0              (9)-(12)

  multi_dof     exp(Z_1 q_1 + ... + Z_k q_k) or exp(Z_1 q_1) ... exp(Z_k q_k) of one joint   remark 4

They describe the same robot: `description.poses(q)` are the poses (..., b, 4, 4) of all its bodies."""
from . import multi_dof
from .conversions import (
    body_fixed,
    body_fixed_of_joint_frames,
    body_fixed_of_parent_fixed,
    body_fixed_of_spatial,
    joint_frames,
    joint_frames_of_body_fixed,
    parent_fixed,
    parent_fixed_of_body_fixed,
    spatial,
    spatial_of_body_fixed,
    usual_joint_frames,
)
from .descriptions import BodyFixed, JointFrames, ParentFixed, Spatial
from .tree import Tree

__all__ = [
    "BodyFixed", "JointFrames", "ParentFixed", "Spatial", "Tree", "body_fixed", "body_fixed_of_joint_frames",
    "body_fixed_of_parent_fixed", "body_fixed_of_spatial", "joint_frames", "joint_frames_of_body_fixed",
    "multi_dof", "parent_fixed", "parent_fixed_of_body_fixed", "spatial", "spatial_of_body_fixed", "usual_joint_frames"]
