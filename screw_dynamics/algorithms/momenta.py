"""Generalized momenta, and the generalized forces that change them: Hamilton's equations of motion, O(n)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over, zero
from screw_dynamics.screws.joint import inner, pose
from screw_dynamics.screws.se3 import Ad_dual, Ad_inv, Pose, Twist, Wrench, ad, dot
from screw_dynamics.screws.vectors import Vec3, cross


class Momenta(NamedTuple):
    """Data of each body in the recursion, in its frame: joint coordinate and rate, pose in the parent, the twist of the
    joint's inner side, the body's twist, the upward acceleration that represents gravity; of the composite body the
    momentum, and the wrench that holds it against gravity."""

    q: Scalar
    qd: Scalar
    C: Pose
    U: Twist
    V: Twist
    a: Vec3
    P: Wrench
    W: Wrench


@kernel
def momenta(links: Link, body: Momenta, out: np.ndarray) -> None:
    """Add to the rows of `out` (3, n): p = M(q) q', dT/dq, and g(q) = dU/dq, by the joint twists, with q' fixed.

    With them p' = dT/dq - g + tau for coordinates, [MD] (79); for a Lie-group joint p' has the additional term ad_V^T
    p. dT/dq_j is the power of the momentum P_j beyond the joint in [U, X_j]: as the joint moves by X_j, the twist U of
    its inner side is resolved in a moving frame."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, C, U, V, a, P, W = body
    n = len(parent) - 1
    U[0], V[0], P[0], W[0] = zero(Twist, q[0]), zero(Twist, q[0]), zero(Wrench, q[0]), zero(Wrench, q[0])
    a[0] = over(X[0].linear, q[0])
    for i in range(1, n + 1):
        p = parent[i]
        C[i] = pose(E[i], q[i])
        V[i] = Ad_inv(C[i], V[p])
        U[i] = Ad_inv(C[i], U[p]) if inner(q[i]) else V[i]
        V[i] += qd[i] * X[i]
        a[i] = a[p] @ C[i].R
        P[i] = M[i] @ V[i]
        W[i] = Wrench(cross(M[i].moment, a[i]), M[i].mass * a[i])
    for i in range(n, 0, -1):
        p = parent[i]
        out[0, k[i]] += dot(P[i], X[i]) + links.armature[i] * qd[i]
        out[1, k[i]] += dot(P[i], over(ad(U[i], X[i]), q[0]))
        out[2, k[i]] += dot(W[i], X[i])
        P[p] += Ad_dual(C[i], P[i])
        W[p] += Ad_dual(C[i], W[i])


MOMENTA = CompiledAlgorithm(momenta, Momenta, "q qd", kernel(lambda n, b: (3, n)), rare=True)
