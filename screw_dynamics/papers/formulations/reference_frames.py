"""Robots with other body frames, or without body frames; [MD] 4.4.

Efforts, energies and the poses and Jacobians of links do not depend on body frames. The arrays of `robot.model` and
`robot.body_poses` do."""
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.checks import pose as checked_pose
from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix, inverse_pose

RIGID = 1e-9        # largest entry of R R^T - I that is a rounding error


def reframed(robot: Robot, poses: ArrayLike) -> Robot:
    """Return the robot whose body i has the frame C_i D_i instead of C_i: poses D (b, 4, 4), in the old body frames.

    X_i becomes Ad_D_i^-1 X_i, B_i becomes D_parent^-1 B_i D_i and M_i becomes Ad_D_i^T M_i Ad_D_i. Raises ValueError if
    a D_i is not a pose."""
    model = robot.model
    D = _checked(poses, model.body_names)
    to_new = [inverse_pose(d) for d in D]
    parents = [np.eye(4) if p < 0 else to_new[p] for p in model.parents]
    moved = zip(parents, model.relative_poses, D, strict=True)
    frames = {link: (body, C if body < 0 else to_new[body] @ C) for link, (body, C) in model.frames.items()}
    Ad = Ad_matrix(D)
    return Robot(replace(
        model, frames=frames,
        screws_body=np.einsum("bij,bj->bi", Ad_matrix(np.reshape(to_new, (-1, 4, 4))), model.screws_body),
        relative_poses=np.reshape([new @ B @ d for new, B, d in moved], (-1, 4, 4)),
        inertias=np.swapaxes(Ad, -1, -2) @ model.inertias @ Ad), robot.gravity, robot.representation)


def in_construction_frame(robot: Robot) -> Robot:
    """Return the robot with every body frame equal to the world frame at q = 0: A_i = B_i = I, X_i = Y_i; [MD] 4.4.

    All inertias are about the world's origin, as in a drawing, and only the axes remain of the geometry: a direction
    and a point for each joint. Both products of exponentials become exp(Y_1 q_1) ... exp(Y_i q_i), which removes the
    factors A_i of the spatial one. Recursions with B_i exp(X_i q_i) as a single function of q_i, as in this package,
    are not shorter, and screws and moments that were zero in frames on the axes no longer are."""
    poses = [inverse_pose(A) for A in robot.model.reference_poses]
    moved = reframed(robot, np.reshape(poses, (-1, 4, 4)))
    here = np.broadcast_to(np.eye(4), (len(poses), 4, 4)).copy()                # free of rounding
    return Robot(replace(moved.model, relative_poses=here), robot.gravity, robot.representation)


def _checked(poses, names):
    """Return the poses as an array, each checked; `names`: of the bodies."""
    D = np.asarray(poses, dtype=float)
    D = D if D.size else D.reshape(-1, 4, 4)                                    # no bodies, as an empty list
    if D.shape != (len(names), 4, 4):
        raise ValueError(f"poses has the shape {D.shape}, not ({len(names)}, 4, 4)")
    return np.reshape([checked_pose(f"body {name!r}", C, RIGID) for name, C in zip(names, D, strict=True)], (-1, 4, 4))
