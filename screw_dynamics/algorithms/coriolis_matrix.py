"""Coriolis matrix C(q, q') from the Christoffel symbols (M' - 2 C is skew-symmetric), in the body frames, O(n d)."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, infix, kernel, linear, over, zero
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.joint import Joint, Placement, inner, pose
from screw_dynamics.screws.joint_factors import force_to_parent, inertia_to_parent, turned, turned_matrix
from screw_dynamics.screws.se3 import Ad, Ad_inv, Pose, Twist, Wrench, ad, dot
from screw_dynamics.screws.vectors import Matrix3, Vec3, cross, cross_rows, full, multiple_of_identity, outer


@linear
class Gyration(NamedTuple):
    """B of a body with inertia M and twist V: M J' + B J enters the Coriolis matrix, with the inertial derivative J'.

    B = (N - ad_V^T M - M ad_V) / 2 with N X = -ad_X^T M V. Of all B with B V = -ad_V^T M V, it is the one that yields
    the Christoffel symbols (Echeandia and Wensing 2021). In any frame B X = (P w, w x p) for X = (w, v), with the
    linear momentum p."""

    P: Matrix3
    p: Vec3


@infix("@")
def apply(B: Gyration, X: Twist) -> Wrench:
    """Return B X."""
    return Wrench(B.P @ X.angular, cross(X.angular, B.p))


@kernel
def transposed_torque(B: Gyration, X: Twist) -> Vec3:
    """Return the torque of B^T X, whose force vanishes."""
    return X.angular @ B.P + cross(B.p, X.linear)


@kernel
def gyration(M: Inertia, V: Twist) -> Gyration:
    """Return B of one rigid body."""
    w, v, h, Theta = V.angular, V.linear, M.moment, M.rotational
    a, d = (0.5 * (Theta.xx + Theta.yy + Theta.zz)) * w - Theta @ w, h @ v
    skew = Matrix3(Vec3(d, -a.z, a.y), Vec3(a.z, d, -a.x), Vec3(-a.y, a.x, d))          # a~ + d I
    P = skew - outer(v, h) - cross_rows(full(Theta), w)                                 # d I - v h^T = -h~ v~
    return Gyration(P, (M @ V).force)


@kernel
def gyration_to_parent(E: Joint, q: Scalar | Placement, C: Pose, B: Gyration) -> Gyration:
    """Return Ad_C^-T B Ad_C^-1 for the pose C of a joint."""
    p = turned(E, q, C.R, B.p)
    shift = full(multiple_of_identity(C.p @ p)) - outer(p, C.p)                         # -r~ p~, r from C
    return Gyration(turned_matrix(E, q, C.R, B.P) + shift, p)


class Gyrations(NamedTuple):
    """Data of each body in the recursion, in its frame: joint coordinate and rate, pose in the parent, twist, rate of
    the joint screw, and composite inertia and gyration."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist
    Xd: Twist
    M: Inertia
    B: Gyration


@kernel
def coriolis_matrix(links: Link, body: Gyrations, H: np.ndarray) -> None:
    """Add C(q, q') to H: the sum over the bodies of J^T (M J' + B J); [MD] (83) with the B of `gyration`."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, qd, C, V, Xd, Mc, B = body
    n = len(parent) - 1
    V[0], Mc[0], B[0] = zero(Twist, q[0]), zero(Inertia, q[0]), zero(Gyration, q[0])
    for i in range(1, n + 1):
        C[i] = pose(E[i], q[i])
        V[i] = Ad_inv(C[i], V[parent[i]]) + qd[i] * X[i]
        Mc[i] = over(M[i], q[0])
        B[i] = gyration(M[i], V[i])
    child = V[n]                            # the twist of the joint's child, which is its last body
    for i in range(n, 0, -1):
        child = Ad(C[i + 1], child) if i < n and inner(q[i + 1]) else V[i]
        Xd[i] = over(ad(child, X[i]), q[0])
        Mc[parent[i]] += inertia_to_parent(E[i], q[i], C[i], Mc[i])
        B[parent[i]] += gyration_to_parent(E[i], q[i], C[i], B[i])
    for i in range(1, n + 1):
        rate, momentum = Mc[i] @ Xd[i] + B[i] @ X[i], over(Mc[i] @ X[i], q[0])
        torque = over(transposed_torque(B[i], X[i]), q[0])
        H[k[i], k[i]] += dot(rate, X[i])
        j = i
        while parent[j] > 0:
            rate, momentum = (force_to_parent(E[j], q[j], C[j], rate), force_to_parent(E[j], q[j], C[j], momentum))
            torque = turned(E[j], q[j], C[j].R, torque)
            j = parent[j]
            H[k[j], k[i]] += dot(rate, X[j])                                # effect of q_i' on joint j ...
            H[k[i], k[j]] += dot(momentum, Xd[j]) + torque @ X[j].angular   # ... and of q_j' on joint i


CORIOLIS_MATRIX = CompiledAlgorithm(coriolis_matrix, Gyrations, "q qd", per_pair, name="coriolis_matrix.body")
