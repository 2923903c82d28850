"""Forward kinematics: poses of bodies and frames by the product of exponentials, body-fixed and spatial."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, Target, per_body, per_frame
from screw_dynamics.jit.numba_internals.compiler import overload, types
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import Scalar, kernel, null, over
from screw_dynamics.screws.joint import Placement, pose
from screw_dynamics.screws.se3 import Ad, Pose, Twist, exp, identity, inverse


class Poses(NamedTuple):
    """Joint coordinate; pose in the world; for the spatial form the reference pose and the product of exponentials."""

    q: Scalar
    C: Pose
    A: Pose
    f: Pose


@kernel
def body_fixed_poses(links: Link, body: Poses) -> None:
    """Fill body.C with the poses of all bodies: C_i = C_p B_i exp(X_i q_i); [MK] (8)."""
    parent, E = links.parent, links.E
    q, C, A, f = body
    C[0] = identity(q[0])
    for i in range(1, len(parent)):
        C[i] = C[parent[i]] @ pose(E[i], q[i])


def displacement(Ap: Pose, A: Pose, X: Twist, q: Scalar | Placement) -> Pose:
    """Return exp(Y q), Y = Ad_A X: the motion of a joint in the world frame, with its parent in the reference pose Ap.

    For a Placement C it is Ap C A^-1."""
    return Ap @ q.C @ inverse(A) if isinstance(q, Placement) else exp(q * Ad(A, X))


@overload(displacement)
def _displacement(Ap, A, X, q):
    if isinstance(q, types.BaseNamedTuple):
        return lambda Ap, A, X, q: Ap @ q.C @ inverse(A)
    return lambda Ap, A, X, q: exp(q * Ad(A, X))


@kernel
def spatial_poses(links: Link, body: Poses) -> None:
    """Fill body.C with poses C_i = exp(Y_1 q_1) ... exp(Y_i q_i) A_i of all bodies, Y_i = Ad_(A_i) X_i; [MK] (10)."""
    parent, X, E = links.parent, links.X, links.E
    q, C, A, f = body
    A[0] = f[0] = C[0] = identity(q[0])
    for i in range(1, len(parent)):
        p = parent[i]
        A[i] = A[p] @ pose(E[i], null(q[i]))
        f[i] = f[p] @ displacement(A[p], A[i], X[i], q[i])
        C[i] = f[i] @ A[i]


@kernel
def put_pose(matrix: np.ndarray, C: Pose) -> None:
    """Write a pose as a homogeneous matrix."""
    R, p = C.R, C.p
    matrix[0, 0], matrix[0, 1], matrix[0, 2], matrix[0, 3] = R.x.x, R.x.y, R.x.z, p.x
    matrix[1, 0], matrix[1, 1], matrix[1, 2], matrix[1, 3] = R.y.x, R.y.y, R.y.z, p.y
    matrix[2, 0], matrix[2, 1], matrix[2, 2], matrix[2, 3] = R.z.x, R.z.y, R.z.z, p.z
    matrix[3, 3] = 0.0 * p.x + 1.0


@kernel
def body_poses(links: Link, body: Poses, frames: Frame, target: Target, matrices: np.ndarray) -> None:
    """Compute the poses of all bodies' own frames in a reference frame, by the body-fixed product of exponentials."""
    body_fixed_poses(links, body)
    put_poses(frames, body, target, matrices)


@kernel
def body_poses_spatial(links: Link, body: Poses, frames: Frame, target: Target, matrices: np.ndarray) -> None:
    """Compute the poses of all bodies' own frames in a reference frame, by the spatial product of exponentials."""
    spatial_poses(links, body)
    put_poses(frames, body, target, matrices)


@kernel
def put_poses(frames: Frame, body: Poses, target: Target, matrices: np.ndarray) -> None:
    """Write the poses of the bodies' own frames, which are the first ones, in a reference frame."""
    D = inverse(body.C[frames.body[target.reference]] @ frames.C[target.reference])
    for i in range(1, len(body.q)):
        put_pose(matrices[i - 1], D @ body.C[i] @ frames.C[i])


@kernel
def climb(links: Link, frames: Frame, target: Target, q: list, pass_joint: Callable,
          store: Any) -> tuple[Pose, Pose, int]:
    """Climb from a frame and from its reference frame to the body where their branches meet.

    Calls pass_joint(store, links, i, C, of_frame) at each joint: C is the pose in body i of the frame, or of the
    reference if not of_frame. Returns the poses of both in the body where they meet, and its slot."""
    parent, E = links.parent, links.E
    C, D = over(frames.C[target.frame], q[0]), over(frames.C[target.reference], q[0])
    i, j = frames.body[target.frame], frames.body[target.reference]
    while i != j:                                           # a parent's slot is smaller than its child's
        if i > j:
            pass_joint(store, links, i, C, True)
            C, i = pose(E[i], q[i]) @ C, parent[i]
        else:
            pass_joint(store, links, j, D, False)
            D, j = pose(E[j], q[j]) @ D, parent[j]
    return C, D, i


@kernel
def pass_by(store: Any, links: Link, i: int, C: Pose, of_frame: bool) -> None:
    """Do nothing at a joint."""


@kernel
def relative_pose(links: Link, body: Poses, frames: Frame, target: Target, matrix: np.ndarray) -> None:
    """Compute the pose of a frame in a reference frame, by way of the body where their branches meet."""
    C, D, _ = climb(links, frames, target, body.q, pass_by, body)
    put_pose(matrix, inverse(D) @ C)


BODY_POSES = CompiledAlgorithm(body_poses, Poses, "q", per_body, targeted=True)
BODY_POSES_SPATIAL = CompiledAlgorithm(body_poses_spatial, Poses, "q", per_body, targeted=True)
FORWARD_KINEMATICS = CompiledAlgorithm(relative_pose, Poses, "q", per_frame, targeted=True, name="forward_kinematics")
