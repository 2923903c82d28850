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
def velocities(links: Link, body: Body) -> None:
    """Fill the columns that do not depend on accelerations."""
    parent, X, M, E, n = links.parent, links.X, links.M, links.E, len(links.parent) - 1
    q, C, V, U, Mc, B, like = body.q, body.C, body.V, body.U, body.M, body.B, body.q[0]
    V[0], U[0], Mc[0], B[0] = zero(Twist, like), zero(Twist, like), zero(Inertia, like), zero(Gyration, like)
    for i in range(1, n + 1):
        C[i] = pose(E[i], q[i])
        carried = Ad_inv(C[i], V[parent[i]])
        V[i] = carried + body.qd[i] * X[i]
        U[i] = Ad_inv(C[i], U[parent[i]]) if inner(q[i]) else carried
        Mc[i], B[i] = over(M[i], like), gyration(M[i], V[i])
    child = V[n]                            # the twist of the child of the joint, which the last of its bodies has
    for i in range(n, 0, -1):
        child = Ad(C[i + 1], child) if i < n and inner(q[i + 1]) else V[i]
        body.X1[i] = over(ad(U[i], X[i]), like)
        body.Y[i] = body.X1[i] + ad(child, X[i])
        Mc[parent[i]] += moved(C[i], Mc[i])
        B[parent[i]] += moved_gyration(C[i], B[i])


@kernel
def accelerations(links: Link, body: Body) -> None:
    """Fill the columns that depend on accelerations, from the others; [MD] (66c), (67a)."""
    parent, X, M, n = links.parent, links.X, links.M, len(links.parent) - 1
    q, C, V, Vd, Ud, W, like = body.q, body.C, body.V, body.Vd, body.Ud, body.W, body.q[0]
    Vd[0], Ud[0], W[0] = over(X[0], like), zero(Twist, like), zero(Wrench, like)
    for i in range(1, n + 1):
        carried = Ad_inv(C[i], Vd[parent[i]])
        Vd[i] = carried - ad(body.qd[i] * X[i], V[i]) + body.qdd[i] * X[i]
        Ud[i] = Ad_inv(C[i], Ud[parent[i]]) if inner(q[i]) else carried
        body.X2[i] = ad(Ud[i], X[i]) + ad(body.U[i], body.X1[i])
        W[i] = balance(M[i], V[i], Vd[i])
    for i in range(n, 0, -1):
        W[parent[i]] += Ad_dual(C[i], W[i])


@kernel
def inverse_dynamics_derivatives(links: Link, body: Body, out: np.ndarray) -> None:
    """Add to `out` (3, n, n): dtau/dq, dtau/dq' and M."""
    velocities(links, body)
    accelerations(links, body)
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
