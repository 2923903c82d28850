"""Inverse dynamics in body-fixed twists: the recursive Newton-Euler algorithm on a tree, O(n), for any scalar type."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import force_to_parent, motion_to_child
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, ad, dot

from .newton_euler import balance


class NewtonEuler(NamedTuple):
    """Data of each body in the recursion, in its frame: joint coordinate, rate and acceleration; pose in the parent,
    twist, its derivative, and the wrench through the joint."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    V: Twist
    Vd: Twist
    W: Wrench


@kernel
def newton_euler(links: Link, body: NewtonEuler, acceleration: Twist, tau: np.ndarray) -> None:
    """Add to tau the joint efforts of the motion in an accelerated world; [MD] (66), (67)."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, qdd, C, V, Vd, W = body
    n = len(parent) - 1
    V[0], Vd[0], W[0] = zero(Twist, q[0]), over(acceleration, q[0]), zero(Wrench, q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        Xqd = qd[i] * X[i]
        V[i] = motion_to_child(E[i], q[i], C[i], V[p]) + Xqd                              # (66b)
        Vd[i] = motion_to_child(E[i], q[i], C[i], Vd[p]) - ad(Xqd, V[i]) + qdd[i] * X[i]  # (66c)
        W[i] = balance(M[i], V[i], Vd[i])                                                 # (67a), the body's own part
    for i in range(n, 0, -1):
        p = parent[i]
        tau[k[i]] += dot(W[i], X[i]) + links.armature[i] * qdd[i]                         # (67b)
        W[p] += force_to_parent(E[i], q[i], C[i], W[i])                                   # (67a), from its subtree


@kernel
def inverse_dynamics(links: Link, body: NewtonEuler, tau: np.ndarray) -> None:
    """Add tau = M(q) q'' + C(q, q') q' + g(q). Gravity enters as the world's acceleration (0, -g)."""
    newton_euler(links, body, links.X[0], tau)


@kernel
def without_gravity(links: Link, body: NewtonEuler, tau: np.ndarray) -> None:
    """Add tau = M(q) q'' + C(q, q') q'."""
    newton_euler(links, body, zero(Twist, body.q[0]), tau)
