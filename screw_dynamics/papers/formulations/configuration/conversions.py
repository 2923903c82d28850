"""Conversion of a robot to each description of its configuration, and between descriptions; [MK] 2.3, 2.4."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose, pose_along, screw_axis, times
from screw_dynamics.screws.groups import se3

from .descriptions import BodyFixed, JointFrames, ParentFixed, Spatial
from .tree import along_branches, of_parents, tree_of


def body_fixed(robot: Robot) -> BodyFixed:
    """Return the BodyFixed description of a robot. Screws of mimic joints are per unit of the coordinate they
    follow."""
    return BodyFixed(tree_of(robot), robot.model.relative_poses, robot.model.screws_body)


def parent_fixed(robot: Robot) -> ParentFixed:
    """Return the ParentFixed description of a robot."""
    return parent_fixed_of_body_fixed(body_fixed(robot))


def spatial(robot: Robot) -> Spatial:
    """Return the Spatial description of a robot."""
    return spatial_of_body_fixed(body_fixed(robot))


def joint_frames(robot: Robot, on_body: ArrayLike | None = None) -> JointFrames:
    """Return the JointFrames description of a robot, with joint frames S_(i,i) (b, 4, 4) in the body frames, or the
    default ones."""
    return joint_frames_of_body_fixed(body_fixed(robot), on_body)


def body_fixed_of_joint_frames(frames: JointFrames) -> BodyFixed:
    """Return the BodyFixed description with B_i = S_(i,i-1) S_(i,i)^-1 and X_i = Ad_S(i,i) Z_i; [MK] (4), (5)."""
    return BodyFixed(frames.tree, frames.on_parent @ inverse_pose(frames.on_body),
                     times(Ad_matrix(frames.on_body), frames.screws))


def joint_frames_of_body_fixed(bodies: BodyFixed, on_body: ArrayLike | None = None) -> JointFrames:
    """Return the JointFrames with S_(i,i-1) = B_i S_(i,i) and Z_i = Ad_S(i,i)^-1 X_i, for any S_(i,i) (b, 4, 4).

    By default origin and third axis are those of the joint: [MK], before remark 2."""
    S = usual_joint_frames(bodies.screws) if on_body is None else np.asarray(on_body, dtype=float)
    if S.shape != bodies.relative_poses.shape:
        raise ValueError(f"on_body has the shape {S.shape}, not {bodies.relative_poses.shape}")
    return JointFrames(bodies.tree, bodies.relative_poses @ S, S, se3.Ad_inv(S, bodies.screws))


def parent_fixed_of_body_fixed(bodies: BodyFixed) -> ParentFixed:
    """Return the ParentFixed description with X-bar_i = Ad_B(i) X_i; [MK] (7)."""
    return ParentFixed(bodies.tree, bodies.relative_poses, times(Ad_matrix(bodies.relative_poses), bodies.screws))


def body_fixed_of_parent_fixed(parents: ParentFixed) -> BodyFixed:
    """Return the BodyFixed description with X_i = Ad_B(i)^-1 X-bar_i; [MK] (7)."""
    return BodyFixed(parents.tree, parents.relative_poses, se3.Ad_inv(parents.relative_poses, parents.screws))


def spatial_of_body_fixed(bodies: BodyFixed) -> Spatial:
    """Return the Spatial description with A_i = A_lambda(i) B_i and Y_i = Ad_A(i) X_i; [MK] (11), (12)."""
    A = along_branches(bodies.tree, bodies.relative_poses)
    return Spatial(bodies.tree, A, times(Ad_matrix(A), bodies.screws))


def body_fixed_of_spatial(world: Spatial) -> BodyFixed:
    """Return the BodyFixed description with B_i = A_lambda(i)^-1 A_i and X_i = Ad_A(i)^-1 Y_i; [MK] (11), (12)."""
    A = world.reference_poses
    return BodyFixed(world.tree, inverse_pose(of_parents(world.tree, A)) @ A, se3.Ad_inv(A, world.screws))


def usual_joint_frames(screws: ArrayLike) -> np.ndarray:
    """Return frames (b, 4, 4) on the axes of screws (b, 6), with the third axis along the joint's.

    The origin is the point nearest to the body's. The joint screw is then (0, 0, 1 - s, 0, 0, s + h (1 - s)), s = 1 for
    prismatic joints and 0 else; [MK], before remark 2."""
    axis = screw_axis(np.asarray(screws, dtype=float))
    follows = axis.magnitude[..., None] > 0.0                                               # not 0 times another joint
    return pose_along(np.where(follows, axis.direction, (0.0, 0.0, 1.0)), axis.point)
