"""Mixed twists of all bodies: rotation resolved in the body frame, velocity of its origin in the world frame."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.entry import Entry, Target, per_body_jacobian, per_body_twist
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Pose, Twist, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Scalar, cross

from ..jacobian import add_column, put_twist


class Body(NamedTuple):
    """Joint coordinate and rate; orientation; twist."""

    q: Scalar
    qd: Scalar
    R: Rotation
    V: Twist


class Columns(NamedTuple):
    """Joint coordinate; pose in the parent; orientation; column of the Jacobian that belongs to the joint at hand."""

    q: Scalar
    C: Pose
    R: Rotation
    J: Twist


@kernel
def moved_twist(C: Pose, R: Rotation, V: Twist) -> Twist:
    """The mixed twist of a parent of orientation R, as that of a frame fixed to it at the relative pose C.

    The matrix of (51) and (52), where the paper prints R_i for R_(i-1): the parent's angular velocity is resolved in
    the parent."""
    return Twist(V.angular @ C.R, V.linear + R @ cross(V.angular, C.p))


@kernel
def seen(F: Pose, R: Rotation, root: Pose, V: Twist) -> Twist:
    """The mixed twist V of a body of orientation R as that of its frame F, velocities resolved in the root's frame."""
    V = moved_twist(F, R, V)
    return Twist(V.angular, V.linear @ root.R)


@kernel
def body_twists(links: Link, body: Body, frames: Frame, target: Target, twists: np.ndarray) -> None:
    """V_i of all bodies, against a frame of the root."""
    parent, _, X, _, E = links
    q, qd, R, V = body
    R[0], V[0] = identity(q[0]).R, zero(Twist, q[0])
    for i in range(1, len(parent)):
        p, C = parent[i], pose(E[i], q[i])
        R[i] = R[p] @ C.R
        J = Twist(X[i].angular, R[i] @ X[i].linear)                                   # (50), i = j
        V[i] = moved_twist(C, R[p], V[p]) + qd[i] * J                                 # (52)
        put_twist(twists[i - 1], seen(frames.C[i], R[i], frames.C[target.reference], V[i]))


@kernel
def body_jacobians(links: Link, body: Columns, frames: Frame, target: Target, jacobians: np.ndarray) -> None:
    """J_i of all bodies, V_i = J_i q': column by column, each from body to body."""
    parent, k, X, _, E = links
    q, C, R, J = body
    R[0], J[0] = identity(q[0]).R, zero(Twist, q[0])
    for j in range(1, len(parent)):
        C[j] = pose(E[j], q[j])
        R[j] = R[parent[j]] @ C[j].R
    for j in range(1, len(parent)):
        J[j - 1] = zero(Twist, q[0])                                                  # joint j moves no body before it
        J[j] = over(Twist(X[j].angular, R[j] @ X[j].linear), q[0])                    # (51), i = j
        for i in range(j + 1, len(parent)):
            J[i] = moved_twist(C[i], R[parent[i]], J[parent[i]])                          # (51), j < i
        for i in range(j, len(parent)):
            add_column(jacobians[i - 1], k[j], seen(frames.C[i], R[i], frames.C[target.reference], J[i]))


BODY_TWISTS = Entry(body_twists, Body, 2, per_body_twist, targeted=True)
BODY_JACOBIANS = Entry(body_jacobians, Columns, 1, per_body_jacobian, targeted=True)
