"""Pose, twist and Jacobian of the last body of a chain alone, in each representation; [MK] remark 16.

The results are those of the body's own frame, as seen from the frame of the root."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.jacobian import add_column, put_twist
from screw_dynamics.algorithms.kinematics import Poses, body_fixed_poses, put_pose
from screw_dynamics.algorithms.twists import body_fixed, hybrid, mixed, spatial
from screw_dynamics.algorithms.twists.recursion import Twists
from screw_dynamics.compiled.algorithm import Target, per_frame, per_twist
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import composed, oriented
from screw_dynamics.screws.se3 import Ad, Ad_inv, Pose, Twist, identity, inverse
from screw_dynamics.screws.vectors import Vec3, cross

from . import entry


# ------------------------------------------------------------------------------------------------- pose
@kernel
def last_pose(links: Link, body: Poses, frames: Frame, target: Target, matrix: np.ndarray) -> None:
    """By the body-fixed product of exponentials, [MK] (8); the spatial one is the same of a robot whose reference
    frames are all in one place."""
    body_fixed_poses(links, body)
    i, reference = len(body.q) - 1, body.C[frames.body[target.reference]] @ frames.C[target.reference]
    put_pose(matrix, inverse(reference) @ (body.C[i] @ frames.C[i]))


# ------------------------------------------------------------------------------------------------- twist
def last_twist(place: Callable, screw: Callable, moved: Callable, seen: Callable) -> Callable:
    """The recursion of all twists of a representation, of which the last one is its result."""
    @kernel
    def algorithm(links, body, frames, target, twist):
        q, qd, C, R, r, V = body
        n = len(q) - 1
        C[0], R[0], V[0] = identity(q[0]), identity(q[0]).R, zero(Twist, q[0])
        for i in range(1, n + 1):
            p = links.parent[i]
            place(links, body, i)
            V[i] = moved(body, p, i, V[p]) + qd[i] * screw(links, body, i)
        put_twist(twist, seen(frames, target, body, n, V[n]))
    return algorithm


# ------------------------------------------------------------------------------------------------- Jacobian
class JacobianBody(NamedTuple):
    """Joint coordinate, and pose in the world or of the last body in this one."""

    q: Scalar
    C: Pose


@kernel
def body_fixed_jacobian(links: Link, body: JacobianBody, frames: Frame, target: Target, out: np.ndarray) -> None:
    """J_i = Ad_(C_in)^-1 X_i, from the last body to the first; [MK] (17)."""
    n = len(body.q) - 1
    C = over(frames.C[n], body.q[0])
    for i in range(n, 0, -1):
        add_column(out, links.coordinate[i], Ad_inv(C, links.X[i]))
        C = pose(links.E[i], body.q[i]) @ C


@kernel
def spatial_jacobian(links: Link, body: JacobianBody, frames: Frame, target: Target, out: np.ndarray) -> None:
    """J_i = Ad_(C_i) X_i, from the first body to the last; [MK] (28)."""
    C = inverse(over(frames.C[target.reference], body.q[0]))
    for i in range(1, len(body.q)):
        C = composed(links.E[i], body.q[i], C, pose(links.E[i], body.q[i]))
        add_column(out, links.coordinate[i], Ad(C, links.X[i]))


def jacobian_about_last(turns_back: bool) -> Callable:
    """The algorithm for screws resolved in the world, about the origin of the last body; [MK] (40), (50). turns_back:
    whether their angular parts are resolved in that body. Positions are summed from that of the first body on, since
    differences alone are needed, which would lose digits far from the world's origin."""
    @kernel
    def algorithm(links, body, frames, target, out):
        q, C, n = body.q, body.C, len(body.q) - 1
        first = inverse(over(frames.C[target.reference], q[0])).R
        C[1] = Pose(oriented(links.E[1], q[1], first, pose(links.E[1], q[1]).R), zero(Vec3, q[0]))
        for i in range(2, n + 1):
            C[i] = composed(links.E[i], q[i], C[i - 1], pose(links.E[i], q[i]))
        last = C[n] @ frames.C[n]
        for i in range(1, n + 1):
            w = C[i].R @ links.X[i].angular
            v = C[i].R @ links.X[i].linear + cross(w, last.p - C[i].p)
            add_column(out, links.coordinate[i], Twist(w @ last.R if turns_back else w, v))
    return algorithm


# ------------------------------------------------------------------------------------------------- entry points
LAST_POSE_IN = {"body": entry(last_pose, Poses, "q", per_frame, "last_pose", targeted=True)}
LAST_TWIST_IN = {name: entry(last_twist(form.place, form.screw, form.moved, form.seen), Twists, "q qd",
                             kernel(lambda n, b: (6,)), f"last_twist.{name}", targeted=True)
                 for name, form in (("body", body_fixed), ("spatial", spatial), ("hybrid", hybrid), ("mixed", mixed))}
LAST_JACOBIAN_IN = {name: entry(algorithm, JacobianBody, "q", per_twist, f"last_jacobian.{name}", targeted=True)
                    for name, algorithm in (("body", body_fixed_jacobian), ("spatial", spatial_jacobian),
                                            ("hybrid", jacobian_about_last(False)),
                                            ("mixed", jacobian_about_last(True)))}
