"""Inverse dynamics in mixed twists: rotations resolved in the body, translations in the world, on a tree, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import force_to_parent, oriented, turned_back
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dot, identity
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Matrix3, Vec3, cross

from .newton_euler import acceleration_matrix, moment


class NewtonEuler(NamedTuple):
    """Data of each body in the recursion, rotations and torques in its frame, translations and forces in the world:
    joint coordinate, rate and acceleration; pose in the parent, orientation, angular velocity, derivative of the twist,
    S = w'~ + w~ w~ in the body frame, and the wrench through the joint."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    R: Rotation
    w: Vec3
    Vd: Twist
    S: Matrix3
    W: Wrench


@kernel
def inverse_dynamics(links: Link, body: NewtonEuler, tau: np.ndarray) -> None:
    """Add tau = M(q) q'' + C(q, q') q' + g(q), by the balance of [MD] (56), (57).

    The paper omits the recursion. It is (66) for rotations and (75) for translations, without velocities."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, qdd, C, R, w, Vd, S, W = body
    n = len(parent) - 1
    R[0], w[0], S[0], W[0] = identity(q[0]).R, zero(Vec3, q[0]), zero(Matrix3, q[0]), zero(Wrench, q[0])
    Vd[0] = over(X[0], q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        R[i] = oriented(E[i], q[i], R[p], C[i].R)
        Xqd, Xqdd = qd[i] * X[i], qdd[i] * X[i]
        wp = turned_back(E[i], q[i], C[i].R, w[p])                                    # the parent's angular velocity
        w[i] = wp + Xqd.angular                                                       # (66b)
        wd = turned_back(E[i], q[i], C[i].R, Vd[p].angular) + cross(wp, Xqd.angular) + Xqdd.angular     # (66c)
        slide = cross(wp + w[i], Xqd.linear) + Xqdd.linear
        a = Vd[p].linear + R[p] @ (S[p] @ C[i].p) + R[i] @ slide                      # (75d)
        Vd[i], S[i] = Twist(wd, a), acceleration_matrix(w[i], wd)
        h = M[i].moment
        torque = moment(M[i].rotational, S[i]) + cross(h, a @ R[i])                   # (56)
        W[i] = Wrench(torque, M[i].mass * a + R[i] @ (S[i] @ h))                      # (57), the body's own part
    for i in range(n, 0, -1):
        p = parent[i]
        local = Wrench(W[i].torque, W[i].force @ R[i])                                # the total, in the body frame
        tau[k[i]] += dot(local, X[i]) + links.armature[i] * qdd[i]
        torque = force_to_parent(E[i], q[i], C[i], local).torque
        W[p] += Wrench(torque, W[i].force)                                            # from its subtree
