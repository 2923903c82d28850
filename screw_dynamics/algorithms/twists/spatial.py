"""Spatial twists of all bodies: of the point of the body at the world's origin, resolved in the world frame."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.entry import Entry, Target, per_body_jacobian, per_body_twist
from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.values import kernel, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad, Ad_inv, Pose, Twist, identity
from screw_dynamics.screws.vectors import Scalar

from ..jacobian import add_column, put_twist


class Body(NamedTuple):
    """Joint coordinate and rate; pose in the world; twist."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist


class Columns(NamedTuple):
    """Joint coordinate; pose in the world; column of the Jacobian that belongs to the joint at hand."""

    q: Scalar
    C: Pose
    J: Twist


@kernel
def body_twists(links: Link, body: Body, frames: Frame, target: Target, twists: np.ndarray) -> None:
    """V_i of all bodies, against a frame of the root."""
    parent, _, X, _, E = links
    q, qd, C, V = body
    C[0], V[0] = identity(q[0]), zero(Twist, q[0])
    for i in range(1, len(parent)):
        C[i] = C[parent[i]] @ pose(E[i], q[i])
        V[i] = V[parent[i]] + qd[i] * Ad(C[i], X[i])                                  # (30), (28)
        put_twist(twists[i - 1], Ad_inv(frames.C[target.reference], V[i]))                   # (35)


@kernel
def body_jacobians(links: Link, body: Columns, frames: Frame, target: Target, jacobians: np.ndarray) -> None:
    """J_i of all bodies, V_i = J_i q': column by column, each the same for all bodies that the joint moves."""
    parent, k, X, _, E = links
    q, C, J = body
    C[0], J[0] = identity(q[0]), zero(Twist, q[0])
    for j in range(1, len(parent)):
        C[j] = C[parent[j]] @ pose(E[j], q[j])
    for j in range(1, len(parent)):
        J[j - 1] = zero(Twist, q[0])                                                  # joint j moves no body before it
        J[j] = Ad(C[j], X[j])                                                         # (28)
        for i in range(j + 1, len(parent)):
            J[i] = J[parent[i]]                                                       # (29)
        for i in range(j, len(parent)):
            add_column(jacobians[i - 1], k[j], Ad_inv(frames.C[target.reference], J[i]))     # (35)


BODY_TWISTS = Entry(body_twists, Body, 2, per_body_twist, targeted=True)
BODY_JACOBIANS = Entry(body_jacobians, Columns, 1, per_body_jacobian, targeted=True)
