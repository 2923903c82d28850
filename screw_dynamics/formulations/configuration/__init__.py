"""The descriptions of a configuration, [MK] section 2: what data each needs, the poses from it, and how to convert it.

`joint_frames(robot)`, `body_fixed(robot)`, `parent_fixed(robot)` and `spatial(robot)` describe the same robot;
`description.poses(q)` are the poses of all its bodies."""
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
    "parent_fixed", "parent_fixed_of_body_fixed", "spatial", "spatial_of_body_fixed", "usual_joint_frames"]
