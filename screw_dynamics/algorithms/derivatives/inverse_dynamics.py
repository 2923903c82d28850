"""Partial derivatives of inverse dynamics, O(n d) for a tree of depth d: a recursion, without finite differences.

The notation is that of Singh, Russo and Wensing (2022). All screws are in the common frame: composite inertias and
wrenches are plain sums, and nothing is transformed between bodies."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import extends
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.inertia import Inertia, moved
from screw_dynamics.screws.joint import inner
from screw_dynamics.screws.se3 import Ad, Pose, Twist, Wrench, ad, ad_dual, dot
from screw_dynamics.screws.vectors import Vec3

from ..common_frame import place
from ..coriolis_matrix import Gyration, gyration, transposed_torque
from ..inverse_dynamics.newton_euler import balance

three_per_pair = kernel(lambda n, b: (3, n, n))


class MotionDerivatives(NamedTuple):
    """Data of each body in the recursion: the inputs of its joint; in the common frame its pose and joint screw.

    Twist and its derivative, of the body and of the joint's parent body; first and second derivatives of the joint
    screw due to a motion of the parent; X1 plus the derivative due to the joint's own motion; the body's inertia;
    composite inertia, gyration and wrench."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    C: Pose
    J: Twist
    V: Twist
    Vd: Twist
    U: Twist
    Ud: Twist
    X1: Twist
    X2: Twist
    Y: Twist
    own: Inertia
    M: Inertia
    B: Gyration
    W: Wrench


@extends(MotionDerivatives)
class InverseDynamicsDerivatives(NamedTuple):
    """MotionDerivatives, with the momentum P of the composite body at unit joint rate, and the torque T of 2 B^T J."""

    P: Wrench
    T: Vec3


@kernel
def velocities(links: Link, body: MotionDerivatives) -> None:
    """Fill the columns that do not depend on accelerations."""
    parent, n = links.parent, len(links.parent) - 1
    q, C, J, V, U, M, B, like = body.q, body.C, body.J, body.V, body.U, body.M, body.B, body.q[0]
    place(links, q, C)
    V[0], U[0], M[0], B[0] = zero(Twist, like), zero(Twist, like), zero(Inertia, like), zero(Gyration, like)
    for i in range(1, n + 1):
        J[i] = over(Ad(C[i], links.X[i]), like)
        V[i] = V[parent[i]] + body.qd[i] * J[i]
        U[i] = U[parent[i]] if inner(q[i]) else V[parent[i]]
        body.X1[i] = ad(U[i], J[i])
        own = over(moved(C[i], links.M[i]), like)
        body.own[i], M[i], B[i] = own, own, gyration(own, V[i])
    child = V[n]                            # the twist of the joint's child, which is its last body
    for i in range(n, 0, -1):
        last = i == n or not inner(q[i + 1])
        child = V[i] if last else child
        body.Y[i] = 2.0 * body.X1[i] if last and not inner(q[i]) else body.X1[i] + ad(child, J[i])
        M[parent[i]] += M[i]
        B[parent[i]] += B[i]


@kernel
def accelerations(links: Link, body: MotionDerivatives) -> None:
    """Fill the columns that depend on accelerations, from the others; [MD] (70d), (71)."""
    parent, n = links.parent, len(links.parent) - 1
    q, J, V, Vd, Ud, W, like = body.q, body.J, body.V, body.Vd, body.Ud, body.W, body.q[0]
    Vd[0], Ud[0], W[0] = over(links.X[0], like), zero(Twist, like), zero(Wrench, like)
    for i in range(1, n + 1):
        p = parent[i]
        Vd[i] = Vd[p] + ad(V[p], body.qd[i] * J[i]) + body.qdd[i] * J[i]
        Ud[i] = Ud[p] if inner(q[i]) else Vd[p]
        body.X2[i] = ad(Ud[i], J[i]) + ad(body.U[i], body.X1[i])
        W[i] = balance(body.own[i], V[i], Vd[i])
    for i in range(n, 0, -1):
        W[parent[i]] += W[i]


@kernel
def inverse_dynamics_derivatives(links: Link, body: InverseDynamicsDerivatives, out: np.ndarray) -> None:
    """Add to `out` (3, n, n): dtau/dq, dtau/dq' and M."""
    velocities(links, body)
    accelerations(links, body)
    add_by_rates(links, body, out[1], out[2])
    add_by_positions(links, body, out[0])


@kernel
def add_by_rates(links: Link, body: InverseDynamicsDerivatives, by_qd: np.ndarray, H: np.ndarray) -> None:
    """Add dtau/dq' and M to (n, n) each, which do not depend on accelerations.

    A motion of joint i at the unit rate changes the twists of its subtree by J and their derivatives by Y. An effort
    involves M and B of the bodies in the subtrees of both joints."""
    parent, k, J, Y, M, B = links.parent, links.coordinate, body.J, body.Y, body.M, body.B
    for i in range(1, len(parent)):
        momentum, torque = M[i] @ J[i], 2.0 * transposed_torque(B[i], J[i])
        by_rate = M[i] @ Y[i] + 2.0 * (B[i] @ J[i])
        body.P[i], body.T[i] = momentum, torque
        by_qd[k[i], k[i]] += dot(by_rate, J[i])
        H[k[i], k[i]] += dot(momentum, J[i]) + links.armature[i]
        j = parent[i]
        while j > 0:
            by_qd[k[j], k[i]] += dot(by_rate, J[j])                                 # effect of q_i' on joint j ...
            by_qd[k[i], k[j]] += dot(momentum, Y[j]) + torque @ J[j].angular        # ... and of q_j' on joint i
            h = dot(momentum, J[j])
            H[k[i], k[j]] += h
            H[k[j], k[i]] += h
            j = parent[j]


@kernel
def add_by_positions(links: Link, body: InverseDynamicsDerivatives, by_q: np.ndarray) -> None:
    """Add dtau/dq to (n, n), after add_by_rates.

    A motion of joint i at the unit rate rotates the screws of its subtree by J_i, and the wrench there by -ad_J^T W. It
    changes twists and their derivatives by X1 and X2."""
    parent, k, q, J, X1, X2, M, B = links.parent, links.coordinate, body.q, body.J, body.X1, body.X2, body.M, body.B
    for i in range(1, len(parent)):
        momentum, torque, by_position = body.P[i], body.T[i], M[i] @ X2[i] + 2.0 * (B[i] @ X1[i])
        by_q[k[i], k[i]] += dot(by_position, J[i])
        j, own = i, True                                    # is j a body of joint i, whose screws rotate with it?
        while parent[j] > 0:
            if own and not inner(q[j]):
                by_position, own = by_position - ad_dual(J[i], body.W[i]), False
            j = parent[j]
            by_q[k[j], k[i]] += dot(by_position, J[j])
            by_q[k[i], k[j]] += dot(momentum, X2[j]) + torque @ X1[j].angular
