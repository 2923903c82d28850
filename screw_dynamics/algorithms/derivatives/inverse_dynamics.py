"""Partial derivatives of inverse dynamics, O(n d) for a tree of depth d: a recursion, no finite differences.

In the notation of Singh, Russo and Wensing (2022), who found it for spatial vectors; here in body-fixed twists."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Inertia, moved
from screw_dynamics.screws.joint import inner, pose
from screw_dynamics.screws.se3 import Ad, Ad_dual, Ad_inv, Pose, Twist, Wrench, ad, ad_dual, dot

from ..coriolis_matrix import Gyration, gyration, moved_gyration, transposed_torque
from ..inverse_dynamics.balance import balance

three_per_pair = kernel(lambda n, b: (3, n, n))


class Body(NamedTuple):
    """What the recursion holds of each body, in its frame: the inputs of its joint; pose in the parent; twist and its
    derivative, of the body and of the one that carries its joint; of the joint screw the derivatives that a motion of
    the carrier causes, first and second, and X1 plus the derivative that the joint's own motion causes; inertia,
    gyration and wrench of the body with all that it carries."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    V: Twist
    Vd: Twist
    U: Twist
    Ud: Twist
    X1: Twist
    X2: Twist
    Y: Twist
    M: Inertia
    B: Gyration
    W: Wrench


@kernel
def motion(links: Link, body: Body) -> None:
    """Fill the columns from C to Ud, and M, B and W for each body alone."""
    parent, X, M, E = links.parent, links.X, links.M, links.E
    q, qd, qdd, C, V, Vd, U, Ud = body.q, body.qd, body.qdd, body.C, body.V, body.Vd, body.U, body.Ud
    like = q[0]
    V[0], Vd[0], U[0], Ud[0] = zero(Twist, like), over(X[0], like), zero(Twist, like), zero(Twist, like)
    body.M[0], body.B[0], body.W[0] = zero(Inertia, like), zero(Gyration, like), zero(Wrench, like)
    for i in range(1, len(parent)):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        Xqd, V_p, Vd_p = qd[i] * X[i], Ad_inv(C[i], V[p]), Ad_inv(C[i], Vd[p])
        V[i] = V_p + Xqd
        Vd[i] = Vd_p - ad(Xqd, V[i]) + qdd[i] * X[i]
        U[i], Ud[i] = (Ad_inv(C[i], U[p]), Ad_inv(C[i], Ud[p])) if inner(q[i]) else (V_p, Vd_p)
        body.M[i], body.B[i], body.W[i] = over(M[i], like), gyration(M[i], V[i]), balance(M[i], V[i], Vd[i])


@kernel
def composites(links: Link, body: Body) -> None:
    """Fill the columns from X1 to Y; M, B and W become those of a body with all that it carries."""
    parent, X = links.parent, links.X
    q, C, U, M, B, W, n = body.q, body.C, body.U, body.M, body.B, body.W, len(links.parent) - 1
    child = body.V[n]                       # the twist of the child of the joint, which the last of its bodies has
    for i in range(n, 0, -1):
        p = parent[i]
        child = Ad(C[i + 1], child) if i < n and inner(q[i + 1]) else body.V[i]
        X1 = over(ad(U[i], X[i]), q[0])
        body.X1[i], body.X2[i], body.Y[i] = X1, ad(body.Ud[i], X[i]) + ad(U[i], X1), X1 + ad(child, X[i])
        M[p] += moved(C[i], M[i])
        B[p] += moved_gyration(C[i], B[i])
        W[p] += Ad_dual(C[i], W[i])


@kernel
def inverse_dynamics_derivatives(links: Link, body: Body, out: np.ndarray) -> None:
    """Add to `out` (3, n, n): dtau/dq, dtau/dq' and M."""
    motion(links, body)
    composites(links, body)
    add_derivatives(links, body, out)


@kernel
def add_derivatives(links: Link, body: Body, out: np.ndarray) -> None:
    """Add to `out` (3, n, n): dtau/dq, dtau/dq' and M, from the columns.

    A motion of joint i, at the rate 1, turns the screws of what it carries by X_i, so that the wrench there turns too,
    by -ad_X^T W, and changes twists and their derivatives by X1 and X2; an effort takes M and B of what both carry."""
    parent, k, X = links.parent, links.coordinate, links.X
    q, C, M, B, X1, X2, Y = body.q, body.C, body.M, body.B, body.X1, body.X2, body.Y
    by_q, by_qd, H = out[0], out[1], out[2]
    for i in range(1, len(parent)):
        momentum, by_rate = over(M[i] @ X[i], q[0]), M[i] @ Y[i] + 2.0 * (B[i] @ X[i])
        by_position, torque = M[i] @ X2[i] + 2.0 * (B[i] @ X1[i]), over(2.0 * transposed_torque(B[i], X[i]), q[0])
        turned = over(-ad_dual(X[i], body.W[i]), q[0])
        by_q[k[i], k[i]] += dot(by_position, X[i])
        by_qd[k[i], k[i]] += dot(by_rate, X[i])
        H[k[i], k[i]] += dot(momentum, X[i])
        j, own = i, True                                    # is j a body of the joint of i, whose screws turn with it?
        while parent[j] > 0:
            if own and not inner(q[j]):
                by_position, own = by_position + turned, False
            by_position, by_rate, momentum = Ad_dual(C[j], by_position), Ad_dual(C[j], by_rate), Ad_dual(C[j], momentum)
            torque = C[j].R @ torque
            if own:
                turned = Ad_dual(C[j], turned)
            j = parent[j]
            by_q[k[j], k[i]] += dot(by_position, X[j])                                  # effect of q_i on joint j ...
            by_q[k[i], k[j]] += dot(momentum, X2[j]) + torque @ X1[j].angular           # ... and of q_j on joint i
            by_qd[k[j], k[i]] += dot(by_rate, X[j])
            by_qd[k[i], k[j]] += dot(momentum, Y[j]) + torque @ X[j].angular
            h = dot(momentum, X[j])
            H[k[i], k[j]] += h
            H[k[j], k[i]] += h
