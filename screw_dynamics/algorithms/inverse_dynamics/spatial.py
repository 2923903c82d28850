"""Inverse dynamics in spatial twists: all screws in the world frame, on a tree, O(n), for any scalar type."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import composed
from screw_dynamics.screws.se3 import Ad, Pose, Twist, Wrench, ad, dot, identity

from .newton_euler import balance_at


class NewtonEuler(NamedTuple):
    """Data of each body in the recursion, in the world frame: joint coordinate, rate and acceleration; pose, joint
    screw, twist, its derivative, and the wrench through the joint."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    J: Twist
    V: Twist
    Vd: Twist
    W: Wrench


@kernel
def inverse_dynamics(links: Link, body: NewtonEuler, tau: np.ndarray) -> None:
    """Add tau = M(q) q'' + C(q, q') q' + g(q); [MD] (70), (71). Only screws and inertias are transformed.

    The inertia of (71a) is not formed: its factors are applied one by one, by `balance_at`."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, qdd, C, J, V, Vd, W = body
    n = len(parent) - 1
    C[0], V[0], W[0] = identity(q[0]), zero(Twist, q[0]), zero(Wrench, q[0])
    Vd[0] = over(X[0], q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = composed(E[i], q[i], C[p], pose(E[i], q[i]))                           # (70a)
        J[i] = Ad(C[i], X[i])                                                         # (70b)
        Jqd = qd[i] * J[i]
        V[i] = V[p] + Jqd                                                             # (70c)
        Vd[i] = Vd[p] + ad(V[p], Jqd) + qdd[i] * J[i]                                 # (70d)
        W[i] = balance_at(C[i], M[i], V[i], Vd[i])                                    # (71a, b), the body's own part
    for i in range(n, 0, -1):
        tau[k[i]] += dot(W[i], J[i]) + links.armature[i] * qdd[i]                     # (71c)
        W[parent[i]] += W[i]                                                          # (71b), from its subtree
