"""Inverse dynamics in hybrid twists: about the bodies' origins, resolved in the world, on a tree, O(n), for any
scalar."""
from typing import NamedTuple

from ..entry import Entry, per_joint
from ..joint import pose
from ..se3 import Twist, Wrench, dot, identity
from ..so3 import Rotation, rotate_symmetric
from ..values import kernel, zero
from ..vectors import Scalar, Vec3, cross


class Body(NamedTuple):
    """What the recursion holds of each body, resolved in the world frame: joint coordinate, rate and acceleration;
    orientation, way from the parent's origin, joint screw, angular velocity, derivative of the twist, and the wrench
    through the joint."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    R: Rotation
    r: Vec3
    J: Twist
    w: Vec3
    Vd: Twist
    W: Wrench


@kernel
def inverse_dynamics(links, body, tau):
    """tau = M(q) q'' + C(q, q') q' + g(q); [MD] (75), (76). Twists and wrenches only change their point.

    Of the linear velocities (75c) only their difference rd to the parent's enters, so they are not summed."""
    parent, k, X, M, E = links
    q, qd, qdd, R, r, J, w, Vd, W = body
    n = len(parent) - 1
    R[0], w[0], W[0] = identity(q[0]).R, zero(Vec3, q[0]), zero(Wrench, q[0])
    Vd[0] = zero(Twist, q[0]) + X[0]
    for i in range(1, n + 1):
        p = parent[i]
        C = pose(E[i], q[i])
        R[i], r[i] = R[p] @ C.R, R[p] @ C.p                                           # (75a)
        J[i] = Twist(R[i] @ X[i].angular, R[i] @ X[i].linear)                         # (75b)
        S = qd[i] * J[i]
        w[i] = w[p] + S.angular                                                       # (75c)
        rd = cross(w[p], r[i]) + S.linear
        Vd[i] = Vd[p] + Twist(cross(w[p], S.angular), cross(Vd[p].angular, r[i]) + cross(w[p], rd)
                              + cross(w[i], S.linear)) + qdd[i] * J[i]                # (75d)
        h, Theta = R[i] @ M[i].moment, rotate_symmetric(R[i], M[i].rotational)        # (76a)
        wd, a = Vd[i].angular, Vd[i].linear
        W[i] = Wrench(Theta @ wd + cross(w[i], Theta @ w[i]) + cross(h, a),
                      M[i].mass * a + cross(wd, h) + cross(w[i], cross(w[i], h)))     # (54), (55): its own part
    for i in range(n, 0, -1):
        p = parent[i]
        tau[k[i]] += dot(W[i], J[i])                                                  # (76c)
        W[p] += Wrench(W[i].torque + cross(r[i], W[i].force), W[i].force)             # (76b), what it carries


INVERSE_DYNAMICS_HYBRID = Entry(inverse_dynamics, Body, 3, per_joint)
