"""Inverse dynamics in mixed twists: rotations resolved in the body, translations in the world, on a tree, O(n), for any
scalar."""
from typing import NamedTuple

from ..entry import Entry, per_joint
from ..joint import pose
from ..se3 import Pose, Twist, Wrench, dot, identity
from ..so3 import Rotation
from ..values import kernel, zero
from ..vectors import Scalar, Vec3, cross


class Body(NamedTuple):
    """What the recursion holds of each body, torques and turning in its frame, forces and translation in the world:
    joint coordinate, rate and acceleration; pose in the parent, orientation, angular velocity, derivative of the twist,
    and the wrench through the joint."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    R: Rotation
    w: Vec3
    Vd: Twist
    W: Wrench


@kernel
def inverse_dynamics(links, body, tau):
    """tau = M(q) q'' + C(q, q') q' + g(q); the recursion of [MD] (66), (67) for the balance of (56), (57).

    The linear velocities do not enter, so they are not summed."""
    parent, k, X, M, E = links
    q, qd, qdd, C, R, w, Vd, W = body
    n = len(parent) - 1
    R[0], w[0], W[0] = identity(q[0]).R, zero(Vec3, q[0]), zero(Wrench, q[0])
    Vd[0] = zero(Twist, q[0]) + X[0]
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        R[i] = R[p] @ C[i].R
        S, A = qd[i] * X[i], qdd[i] * X[i]
        carried = w[p] @ C[i].R                                         # the parent's angular velocity
        w[i] = carried + S.angular
        wd = Vd[p].angular @ C[i].R + cross(carried, S.angular) + A.angular
        orbit = cross(Vd[p].angular, C[i].p) + cross(w[p], cross(w[p], C[i].p))          # resolved in the parent
        slide = cross(carried + w[i], S.linear) + A.linear                               # resolved in the body
        a = Vd[p].linear + R[p] @ orbit + R[i] @ slide
        Vd[i] = Twist(wd, a)
        h, Theta = M[i].moment, M[i].rotational
        W[i] = Wrench(Theta @ wd + cross(w[i], Theta @ w[i]) + cross(h, a @ R[i]),                         # (56)
                      M[i].mass * a + R[i] @ (cross(wd, h) + cross(w[i], cross(w[i], h))))                 # (57)
    for i in range(n, 0, -1):
        p = parent[i]
        local = Wrench(W[i].torque, W[i].force @ R[i])                  # all of it resolved in the body
        tau[k[i]] += dot(local, X[i])
        torque, force = C[i].R @ local.torque, C[i].R @ local.force
        W[p] += Wrench(torque + cross(C[i].p, force), W[i].force)


INVERSE_DYNAMICS_MIXED = Entry(inverse_dynamics, Body, 3, per_joint)
