"""Forward dynamics by articulated bodies in body-fixed twists, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import IfGiven
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Articulated, articulated, articulated_update, through
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import articulated_to_parent, force_to_parent, motion_to_child, turned_back
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dot
from screw_dynamics.screws.vectors import Vec3, cross


class ArticulatedBodies(NamedTuple):
    """Data of each body in the recursion, in its frame: coordinate, rate, effort and added inertia of its joint;
    pose in the parent, angular velocity, articulated inertia A and bias wrench P; U, d, u of the joint; angular
    acceleration, and linear acceleration of the frame's origin."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    added: IfGiven[Scalar]
    C: Pose
    w: Vec3
    A: Articulated
    P: Wrench
    U: Wrench
    d: Scalar
    u: Scalar
    a: Twist


@kernel
def articulated_bodies(links: Link, body: ArticulatedBodies, qdd: np.ndarray) -> None:
    """Add to qdd the joint accelerations; [SY] (15) with the components [MD] (42), (43) of the balance.

    Like the classical recursion of inverse dynamics it uses accelerations of points, v' + w x v, instead of v', and no
    linear velocities. Every joint must have its own coordinate."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, tau, added, C, w, A, P, U, d, u, a = body
    n = len(parent) - 1
    w[0], A[0], P[0] = zero(Vec3, q[0]), zero(Articulated, q[0]), zero(Wrench, q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        Xqd, wp = qd[i] * X[i], turned_back(E[i], q[i], C[i].R, w[p])   # the parent's angular velocity
        w[i] = wp + Xqd.angular                                                         # (1)
        orbit = turned_back(E[i], q[i], C[i].R, cross(w[p], cross(w[p], C[i].p)))
        a[i] = over(Twist(cross(wp, Xqd.angular), orbit + cross(wp + w[i], Xqd.linear)), q[0])  # (2): what q' adds
        A[i] = over(articulated(M[i]), q[0])
        P[i] = Wrench(cross(w[i], M[i].rotational @ w[i]), cross(w[i], cross(w[i], M[i].moment)))
    for i in range(n, 0, -1):
        p = parent[i]
        U[i] = A[i] @ X[i]
        own = added[i] + links.armature[i]
        d[i] = 1.0 / (dot(U[i], X[i]) + own)
        u[i] = tau[i] - dot(P[i], X[i])                                                 # (10)
        Ma = articulated_update(A[i], X[i], U[i], d[i], own)
        Pa = through(P[i] + Ma @ a[i] + (u[i] * d[i]) * U[i], X[i], tau[i], own)
        A[p] += articulated_to_parent(E[i], q[i], C[i], Ma)                             # (13)
        P[p] += force_to_parent(E[i], q[i], C[i], Pa)                                   # (14)
    a[0] = over(X[0], q[0])
    for i in range(1, n + 1):
        a[i] += motion_to_child(E[i], q[i], C[i], a[parent[i]])
        joint = (u[i] - dot(U[i], a[i])) * d[i]                                         # (11)
        a[i] += joint * X[i]                                                            # (2)
        qdd[k[i]] += joint
