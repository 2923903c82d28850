"""Statics: the joint efforts that hold a robot still under gravity, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.entry import Entry, per_joint
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad_dual, Pose, Wrench, dot
from screw_dynamics.screws.vectors import Vec3, cross


class Body(NamedTuple):
    """What the recursion holds of each body, in its frame: joint coordinate, pose in the parent, the upward
    acceleration that stands for gravity, and the wrench through the joint."""

    q: Scalar
    C: Pose
    a: Vec3
    W: Wrench


@kernel
def gravity_torque(links: Link, body: Body, tau: np.ndarray) -> None:
    """tau = g(q) = d(potential energy)/dq: [MD] (66), (67) at rest, where twists vanish and only -g propagates."""
    parent, k, X, M, E = links
    q, C, a, W = body
    n = len(parent) - 1
    a[0], W[0] = over(X[0].linear, q[0]), zero(Wrench, q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        a[i] = a[p] @ C[i].R
        W[i] = Wrench(cross(M[i].moment, a[i]), M[i].mass * a[i])                             # M (0, a)
    for i in range(n, 0, -1):
        p = parent[i]
        tau[k[i]] += dot(W[i], X[i])
        W[p] += Ad_dual(C[i], W[i])


GRAVITY_TORQUE = Entry(gravity_torque, Body, 1, per_joint)
