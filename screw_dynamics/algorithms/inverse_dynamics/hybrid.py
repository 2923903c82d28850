"""Inverse dynamics in hybrid twists: about the bodies' origins, resolved in the world, on a tree, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import offset, oriented
from screw_dynamics.screws.se3 import Twist, Wrench, dot, identity, shifted_wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Matrix3, Vec3, cross

from .newton_euler import acceleration_matrix, euler


class NewtonEuler(NamedTuple):
    """Data of each body in the recursion, resolved in the world frame: joint coordinate, rate and acceleration;
    orientation, vector from the parent's origin, joint screw, angular velocity, derivative of the twist,
    S = w'~ + w~ w~, and the wrench through the joint."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    R: Rotation
    r: Vec3
    J: Twist
    w: Vec3
    Vd: Twist
    S: Matrix3
    W: Wrench


@kernel
def inverse_dynamics(links: Link, body: NewtonEuler, tau: np.ndarray) -> None:
    """Add tau = M(q) q'' + C(q, q') q' + g(q); [MD] (75), (76).

    Screws are only rotated; twists and wrenches change their reference point. Linear velocities are not needed: those
    of (75d) are differences, w_p x r + J q' between a body and its parent. The rotated inertia of (76a) is not formed:
    its factors R, Theta, R^T are applied one by one."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, qdd, R, r, J, w, Vd, S, W = body
    n = len(parent) - 1
    R[0], w[0], S[0], W[0] = identity(q[0]).R, zero(Vec3, q[0]), zero(Matrix3, q[0]), zero(Wrench, q[0])
    Vd[0] = over(X[0], q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C = pose(E[i], q[i])
        R[i] = oriented(E[i], q[i], R[p], C.R)                                        # (75a)
        r[i] = offset(E[i], q[i], C.p, R[p], R[i])
        J[i] = Twist(R[i] @ X[i].angular, R[i] @ X[i].linear)                         # (75b)
        Jqd = qd[i] * J[i]
        w[i] = w[p] + Jqd.angular                                                     # (75c)
        Vd[i] = Vd[p] + qdd[i] * J[i] + Twist(
            cross(w[p], Jqd.angular), S[p] @ r[i] + cross(w[p] + w[i], Jqd.linear))   # (75d)
        wd, a, h = Vd[i].angular, Vd[i].linear, R[i] @ M[i].moment
        S[i] = acceleration_matrix(w[i], wd)
        torque = R[i] @ euler(M[i].rotational, w[i] @ R[i], wd @ R[i]) + cross(h, a)  # (54)
        W[i] = Wrench(torque, M[i].mass * a + S[i] @ h)                               # (55), the body's own part
    for i in range(n, 0, -1):
        p = parent[i]
        tau[k[i]] += dot(W[i], J[i]) + links.armature[i] * qdd[i]                     # (76c)
        W[p] += shifted_wrench(r[i], W[i])                                            # (76b), from its subtree
