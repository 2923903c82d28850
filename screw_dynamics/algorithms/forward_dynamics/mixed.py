"""Forward dynamics by articulated bodies in mixed twists: rotations in the body, translations in the world, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import IfGiven
from screw_dynamics.numbers.values import kernel, over, zero
from screw_dynamics.screws.inertia import Articulated, articulated_update, through
from screw_dynamics.screws.joint import Joint, Placement, pose
from screw_dynamics.screws.joint_factors import oriented, turned, turned_back, turned_symmetric
from screw_dynamics.screws.se3 import Twist, Wrench, dot, identity
from screw_dynamics.screws.so3 import Rotation, inverse, matrix
from screw_dynamics.screws.vectors import (
    Matrix3,
    Scalar,
    Symmetric3,
    Vec3,
    cross,
    cross_columns,
    full,
    multiple_of_identity,
)


class ArticulatedBodies(NamedTuple):
    """Data of each body in the recursion, torques and rotations in its frame, forces and translation in the world.

    Coordinate, rate, effort and added inertia of its joint; orientation in the parent and in the world, lever in the
    parent of a force on the body, joint screw, angular velocity, velocity-dependent part of the twist's derivative,
    articulated inertia A and bias wrench P; U, d, u of the joint; derivative of the twist."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    added: IfGiven[Scalar]
    C: Rotation
    R: Rotation
    L: Matrix3
    J: Twist
    w: Vec3
    c: Twist
    A: Articulated
    P: Wrench
    U: Wrench
    d: Scalar
    u: Scalar
    Vd: Twist


@kernel
def moved_mixed(E: Joint, q: Scalar | Placement, C: Rotation, L: Matrix3, M: Articulated) -> Articulated:
    """Return T M T^T, T = [[C, L], [0, I]]: the articulated inertia of a body, in the mixed twists of its parent.

    C is the rotation of the joint."""
    B = C @ M.B
    G = B + L @ full(M.D)
    F = B + G
    shift = Symmetric3(L.x @ F.x, L.x @ B.y + G.x @ L.y, L.x @ B.z + G.x @ L.z,             # L B^T + G L^T
                       L.y @ F.y, L.y @ B.z + G.y @ L.z, L.z @ F.z)
    return Articulated(turned_symmetric(E, q, C, M.A) + shift, G, M.D)


@kernel
def articulated_bodies(links: Link, body: ArticulatedBodies, qdd: np.ndarray) -> None:
    """Add to qdd the joint accelerations; [SY] (15) on the mixed twists of [MD] (56), (57).

    The lever L = p~ R^T maps a force in the world to its torque in the parent, and L^T maps an angular velocity of the
    parent to a linear one in the world. Linear velocities are not needed."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, tau, added, C, R, L, J, w, c, A, P, U, d, u, Vd = body
    n = len(parent) - 1
    R[0], w[0] = identity(q[0]).R, zero(Vec3, q[0])
    A[0], P[0] = zero(Articulated, q[0]), zero(Wrench, q[0])
    for i in range(1, n + 1):
        p = parent[i]
        H = pose(E[i], q[i])
        C[i], R[i] = H.R, oriented(E[i], q[i], R[p], H.R)
        L[i] = cross_columns(H.p, matrix(inverse(R[p])))
        J[i] = Twist(over(X[i].angular, q[0]), R[i] @ X[i].linear)
        Xqd = qd[i] * X[i]
        wp = turned_back(E[i], q[i], C[i], w[p])                        # the parent's angular velocity
        w[i] = wp + Xqd.angular                                                         # (1)
        orbit, slide = cross(w[p], cross(w[p], H.p)), cross(wp + w[i], Xqd.linear)
        c[i] = Twist(over(cross(wp, Xqd.angular), q[0]), R[p] @ orbit + R[i] @ slide)
        h, Theta = M[i].moment, M[i].rotational
        A[i] = over(Articulated(Theta, cross_columns(h, matrix(inverse(R[i]))), multiple_of_identity(M[i].mass)), q[0])
        P[i] = Wrench(cross(w[i], Theta @ w[i]), R[i] @ cross(w[i], cross(w[i], h)))
    for i in range(n, 0, -1):
        p = parent[i]
        U[i] = A[i] @ J[i]
        own = added[i] + links.armature[i]
        d[i] = 1.0 / (dot(U[i], J[i]) + own)
        u[i] = tau[i] - dot(P[i], J[i])                                                 # (10)
        Ma = articulated_update(A[i], J[i], U[i], d[i], own)
        Pa = through(P[i] + Ma @ c[i] + (u[i] * d[i]) * U[i], J[i], tau[i], own)
        A[p] += moved_mixed(E[i], q[i], C[i], L[i], Ma)                                 # (13)
        P[p] += Wrench(turned(E[i], q[i], C[i], Pa.torque) + L[i] @ Pa.force, Pa.force)     # (14)
    Vd[0] = over(X[0], q[0])
    for i in range(1, n + 1):
        p = parent[i]
        wd = turned_back(E[i], q[i], C[i], Vd[p].angular)
        Vd[i] = Twist(wd, Vd[p].linear + Vd[p].angular @ L[i]) + c[i]
        a = (u[i] - dot(U[i], Vd[i])) * d[i]                                            # (11)
        Vd[i] += a * J[i]                                                               # (2)
        qdd[k[i]] += a
