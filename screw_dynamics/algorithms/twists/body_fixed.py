"""Body-fixed twists of all bodies: measured and resolved in the body frame."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.entry import Entry, Target, per_body_jacobian, per_body_twist
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad_inv, Pose, Twist
from screw_dynamics.screws.vectors import Scalar

from ..jacobian import add_column, put_twist


class Body(NamedTuple):
    """Joint coordinate and rate; twist."""

    q: Scalar
    qd: Scalar
    V: Twist


class Columns(NamedTuple):
    """Joint coordinate; pose in the parent; column of the Jacobian that belongs to the joint at hand."""

    q: Scalar
    C: Pose
    J: Twist


@kernel
def body_twists(links: Link, body: Body, frames: Frame, target: Target, twists: np.ndarray) -> None:
    """V_i of all bodies, against a frame of the root."""
    parent, _, X, _, E = links
    q, qd, V = body
    V[0] = zero(Twist, q[0])
    for i in range(1, len(parent)):
        V[i] = Ad_inv(pose(E[i], q[i]), V[parent[i]]) + qd[i] * X[i]                  # (14)
        put_twist(twists[i - 1], Ad_inv(frames.C[i], V[i]))                            # (20)


@kernel
def body_jacobians(links: Link, body: Columns, frames: Frame, target: Target, jacobians: np.ndarray) -> None:
    """J_i of all bodies, V_i = J_i q': column by column, each from body to body."""
    parent, k, X, _, E = links
    q, C, J = body
    J[0] = zero(Twist, q[0])
    for j in range(1, len(parent)):
        C[j] = pose(E[j], q[j])
    for j in range(1, len(parent)):
        J[j - 1] = zero(Twist, q[0])                                                  # joint j moves no body before it
        J[j] = over(X[j], q[0])                                                       # (19), i = j
        for i in range(j + 1, len(parent)):
            J[i] = Ad_inv(C[i], J[parent[i]])                                         # (19), j < i
        for i in range(j, len(parent)):
            add_column(jacobians[i - 1], k[j], Ad_inv(frames.C[i], J[i]))             # (20)


BODY_TWISTS = Entry(body_twists, Body, 2, per_body_twist, targeted=True)
BODY_JACOBIANS = Entry(body_jacobians, Columns, 1, per_body_jacobian, targeted=True)
