"""Forward dynamics by articulated bodies in body-fixed twists, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Articulated, articulated, moved_articulated, square
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad_dual, Ad_inv, Pose, Twist, Wrench, ad, ad_dual, dot


class Body(NamedTuple):
    """What the recursion holds of each body, in its frame: coordinate, rate, effort and armature of its joint; pose in
    the parent, twist, articulated inertia A and bias wrench P; U, d, u of the joint; derivative of the twist."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    armature: Scalar
    C: Pose
    V: Twist
    A: Articulated
    P: Wrench
    U: Wrench
    d: Scalar
    u: Scalar
    Vd: Twist


@kernel
def articulated_bodies(links: Link, body: Body, qdd: np.ndarray) -> None:
    """Add to qdd the joint accelerations; [SY] (15), Featherstone (2008) table 7.1 on screws.

    Requires a coordinate of its own for every joint."""
    parent, k, X, M, E = links
    q, qd, tau, armature, C, V, A, P, U, d, u, Vd = body
    n = len(parent) - 1
    V[0], A[0], P[0] = zero(Twist, q[0]), zero(Articulated, q[0]), zero(Wrench, q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        Xqd = qd[i] * X[i]
        V[i] = Ad_inv(C[i], V[p]) + Xqd                                                 # (1)
        Vd[i] = over(ad(V[i], Xqd), q[0])                                               # (2): c = X' q'
        A[i] = over(articulated(M[i]), q[0])
        P[i] = -ad_dual(V[i], M[i] @ V[i])
    for i in range(n, 0, -1):
        p = parent[i]
        U[i] = A[i] @ X[i]
        d[i] = 1.0 / (dot(U[i], X[i]) + armature[i])
        u[i] = tau[i] - dot(P[i], X[i])                                                 # (10)
        Ma = A[i] - square(U[i], d[i])
        Pa = P[i] + Ma @ Vd[i] + (u[i] * d[i]) * U[i]
        A[p] += moved_articulated(C[i], Ma)                                             # (13)
        P[p] += Ad_dual(C[i], Pa)                                                       # (14)
    Vd[0] = over(X[0], q[0])
    for i in range(1, n + 1):
        Vd[i] += Ad_inv(C[i], Vd[parent[i]])
        a = (u[i] - dot(U[i], Vd[i])) * d[i]                                            # (11)
        Vd[i] += a * X[i]                                                               # (2)
        qdd[k[i]] += a
