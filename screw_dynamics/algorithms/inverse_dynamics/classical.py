"""Inverse dynamics in the body frame by accelerations of points instead of derivatives of twists: fewest operations."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import IfGiven
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import force_to_parent, point_acceleration, turned_back
from screw_dynamics.screws.se3 import Pose, Wrench, dot
from screw_dynamics.screws.vectors import Matrix3, Vec3, cross

from .newton_euler import acceleration_matrix, moment


class NewtonEuler(NamedTuple):
    """Data of each body in the recursion, in its frame: joint coordinate, rate and acceleration; the external wrench
    on it; pose in the parent, angular velocity, its derivative, acceleration of the origin, S = w'~ + w~ w~, and the
    wrench through the joint."""

    q: Scalar
    qd: Scalar
    qdd: IfGiven[Scalar]
    F: IfGiven[Wrench]
    C: Pose
    w: Vec3
    wd: Vec3
    a: Vec3
    S: Matrix3
    W: Wrench


@kernel
def inverse_dynamics(links: Link, body: NewtonEuler, tau: np.ndarray) -> None:
    """Add tau = M(q) q'' + C(q, q') q' + g(q) - J^T F; [MD] (66), (67) with the components (42), (43).

    v and v' enter only as a = v' + w x v, the linear part of the hybrid V'^h resolved in the body; F is W^app of (77).
    In vectors this is the algorithm of Luh, Walker and Paul (1980)."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, C, w, wd, a, S, W = body.q, body.C, body.w, body.wd, body.a, body.S, body.W
    w[0], wd[0], S[0], W[0] = zero(Vec3, q[0]), zero(Vec3, q[0]), zero(Matrix3, q[0]), zero(Wrench, q[0])
    a[0] = over(X[0].linear, q[0])
    for i in range(1, len(parent)):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        Xqd, Xqdd = body.qd[i] * X[i], body.qdd[i] * X[i]
        wp = turned_back(E[i], q[i], C[i].R, w[p])                                    # the parent's angular velocity
        w[i] = wp + Xqd.angular                                                       # (66b)
        wd[i] = turned_back(E[i], q[i], C[i].R, wd[p]) + cross(wp, Xqd.angular) + Xqdd.angular             # (66c)
        S[i], h = acceleration_matrix(w[i], wd[i]), M[i].moment
        ap = point_acceleration(E[i], q[i], C[i], a[p], S[p], S[i])
        a[i] = ap + cross(wp + w[i], Xqd.linear) + Xqdd.linear
        torque = moment(M[i].rotational, S[i]) + cross(h, a[i])                       # (42)
        W[i] = Wrench(torque, M[i].mass * a[i] + S[i] @ h) - body.F[i]                # (43), the body's own part
    for i in range(len(parent) - 1, 0, -1):
        p = parent[i]
        tau[k[i]] += dot(W[i], X[i]) + links.armature[i] * body.qdd[i]                # (67b)
        W[p] += force_to_parent(E[i], q[i], C[i], W[i])                               # (67a), from its subtree
