"""Hybrid twists of all bodies: of the body frame's origin, resolved in the world frame."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.entry import Entry, Target, per_body_jacobian, per_body_twist
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Pose, Twist, identity, shifted_twist
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Scalar, Vec3

from ..jacobian import add_column, put_twist


class Body(NamedTuple):
    """Joint coordinate and rate; orientation; twist."""

    q: Scalar
    qd: Scalar
    R: Rotation
    V: Twist


class Columns(NamedTuple):
    """Joint coordinate; orientation; vector from the parent's origin; column of the Jacobian that belongs to the
    joint at hand."""

    q: Scalar
    R: Rotation
    r: Vec3
    J: Twist


@kernel
def seen(F: Pose, R: Rotation, root: Pose, V: Twist) -> Twist:
    """The hybrid twist V of a body of orientation R as that of its frame F, resolved in the root's frame."""
    V = shifted_twist(R @ F.p, V)
    return Twist(V.angular @ root.R, V.linear @ root.R)


@kernel
def body_twists(links: Link, body: Body, frames: Frame, target: Target, twists: np.ndarray) -> None:
    """V_i of all bodies, against a frame of the root."""
    parent, _, X, _, E = links
    q, qd, R, V = body
    R[0], V[0] = identity(q[0]).R, zero(Twist, q[0])
    for i in range(1, len(parent)):
        p, C = parent[i], pose(E[i], q[i])
        R[i] = R[p] @ C.R
        J = Twist(R[i] @ X[i].angular, R[i] @ X[i].linear)                            # (38)
        V[i] = shifted_twist(R[p] @ C.p, V[p]) + qd[i] * J                            # (42), where r_(i,i-1) is -r
        put_twist(twists[i - 1], seen(frames.C[i], R[i], frames.C[target.reference], V[i]))


@kernel
def body_jacobians(links: Link, body: Columns, frames: Frame, target: Target, jacobians: np.ndarray) -> None:
    """J_i of all bodies, V_i = J_i q': column by column, each from body to body."""
    parent, k, X, _, E = links
    q, R, r, J = body
    R[0], J[0] = identity(q[0]).R, zero(Twist, q[0])
    for j in range(1, len(parent)):
        p, C = parent[j], pose(E[j], q[j])
        R[j], r[j] = R[p] @ C.R, R[p] @ C.p
    for j in range(1, len(parent)):
        J[j - 1] = zero(Twist, q[0])                                                  # joint j moves no body before it
        J[j] = Twist(R[j] @ X[j].angular, R[j] @ X[j].linear)                         # (41), i = j
        for i in range(j + 1, len(parent)):
            J[i] = shifted_twist(r[i], J[parent[i]])                                  # (41), j < i
        for i in range(j, len(parent)):
            add_column(jacobians[i - 1], k[j], seen(frames.C[i], R[i], frames.C[target.reference], J[i]))


BODY_TWISTS = Entry(body_twists, Body, 2, per_body_twist, targeted=True)
BODY_JACOBIANS = Entry(body_jacobians, Columns, 1, per_body_jacobian, targeted=True)
