"""Gravity compensation: the joint efforts that hold a robot at rest, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_joint
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, null, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import turned, turned_back
from screw_dynamics.screws.se3 import Pose, Twist
from screw_dynamics.screws.vectors import Vec3, cross


class Statics(NamedTuple):
    """Data of each body in the recursion, in its frame: joint coordinate, pose in the parent, the upward acceleration
    that represents gravity; mass and first moment of the composite body."""

    q: Scalar
    C: Pose
    a: Vec3
    m: Scalar
    h: Vec3


@kernel
def holding_effort(X: Twist, m: Scalar, h: Vec3, a: Vec3) -> Scalar:
    """Return X^T M (0, a), the effort of a joint of screw X that holds an inertia M against gravity, -a.

    M has mass m and first moment h. The component h x a of the torque takes few operations with a sparse X in this
    form."""
    return h @ cross(a, X.angular) + m * (a @ X.linear)


@kernel
def gravity_torque(links: Link, body: Statics, tau: np.ndarray) -> None:
    """Add g(q) = d(potential energy)/dq to tau: [MD] (66), (67) at rest, where only -g propagates.

    All bodies have the same acceleration. The wrench through a joint is M^c (0, a), with the composite inertia M^c of
    (81): only its mass and first moment are propagated to the root."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, C, a, m, h = body
    a[0], m[0], h[0] = over(X[0].linear, q[0]), null(q[0]), zero(Vec3, q[0])
    for i in range(1, len(parent)):
        C[i] = pose(E[i], q[i])
        a[i] = turned_back(E[i], q[i], C[i].R, a[parent[i]])
        m[i], h[i] = over(M[i].mass, q[0]), over(M[i].moment, q[0])
    for i in range(len(parent) - 1, 0, -1):
        p = parent[i]
        tau[k[i]] += holding_effort(X[i], m[i], h[i], a[i])
        m[p] += m[i]
        h[p] += m[i] * C[i].p
        h[p] += turned(E[i], q[i], C[i].R, h[i])


GRAVITY_TORQUE = CompiledAlgorithm(gravity_torque, Statics, "q", per_joint)
