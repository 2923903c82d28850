"""Efforts and their time derivatives in body-fixed twists: the differentiated recursive Newton-Euler algorithm."""
from collections.abc import Callable
from typing import NamedTuple

from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import inner, pose
from screw_dynamics.screws.se3 import Ad_dual, Pose, Twist, Wrench, ad_dual, dot

from ..inverse_dynamics.newton_euler import balance
from .twist import passed_on, third


class NewtonEulerDerivatives(NamedTuple):
    """Data of each body in the recursion, in its frame: joint coordinate and its derivatives; pose in the parent;
    twist and wrench through the joint, with the derivatives of their components."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    qddd: Scalar
    qdddd: Scalar
    C: Pose
    V: Twist
    Vd: Twist
    Vdd: Twist
    Vddd: Twist
    W: Wrench
    Wd: Wrench
    Wdd: Wrench


def recursion(second: bool) -> Callable:
    """Return the algorithm for tau and tau', and tau'' if `second`."""
    @kernel
    def inverse_dynamics_time_derivatives(links, body, tau):
        """Compute [MD] (66), (67), and their derivatives.

        X_i is constant, and A = Ad_C^-1 has A' = -ad_(X q') A. The world has the constant acceleration (0, -g), and
        currently no velocity."""
        parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
        q, qd, qdd, qddd, qdddd, C, V, Vd, Vdd, Vddd, W, Wd, Wdd = body
        n, none = len(parent) - 1, zero(Wrench, q[0])
        V[0], Vd[0], Vdd[0], Vddd[0] = zero(Twist, q[0]), over(X[0], q[0]), zero(Twist, q[0]), zero(Twist, q[0])
        W[0], Wd[0], Wdd[0] = none, none, none
        for i in range(1, n + 1):
            p = parent[i]
            C[i] = pose(E[i], q[i])
            V[i], Vd[i], Vdd[i] = passed_on(C[i], X[i], qd[i], qdd[i], qddd[i], V[p], Vd[p], Vdd[p])
            H, Hd, Hdd = M[i] @ V[i], M[i] @ Vd[i], M[i] @ Vdd[i]                       # the momentum
            W[i] = balance(M[i], V[i], Vd[i])                                           # H' - ad_V^T H
            Wd[i] = Hdd - ad_dual(Vd[i], H) - ad_dual(V[i], Hd)
            if second:
                Vddd[i] = third(C[i], X[i], qd[i], qdd[i], qddd[i], qdddd[i], V[p], Vd[p], Vdd[p], Vddd[p])
                Wdd[i] = M[i] @ Vddd[i] - ad_dual(Vdd[i], H) - 2.0 * ad_dual(Vd[i], Hd) - ad_dual(V[i], Hdd)
        Fd, Fdd = none, none            # the derivatives in the frame of the joint's child, which is its last body
        for i in range(n, 0, -1):
            p, K, Kd = parent[i], qd[i] * X[i], qdd[i] * X[i]
            carries = i < n and inner(q[i + 1])
            tau[0, k[i]] += dot(W[i], X[i]) + links.armature[i] * qdd[i]
            Fd = Ad_dual(C[i + 1], Fd) if carries else Wd[i]
            tau[1, k[i]] += dot(Fd, X[i]) + links.armature[i] * qddd[i]
            Wid = Wd[i] - ad_dual(K, W[i])                                              # (A^T W)' = A^T Wid
            W[p] += Ad_dual(C[i], W[i])
            Wd[p] += Ad_dual(C[i], Wid)
            if second:
                Fdd = Ad_dual(C[i + 1], Fdd) if carries else Wdd[i]
                tau[2, k[i]] += dot(Fdd, X[i]) + links.armature[i] * qdddd[i]
                Wdd[p] += Ad_dual(C[i], Wdd[i] - ad_dual(Kd, W[i]) - ad_dual(K, Wd[i] + Wid))
    return inverse_dynamics_time_derivatives
