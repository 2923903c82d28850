"""Gravity, mass matrix and Coriolis matrix in representations in which the package does not have them.

In spatial twists all screws and inertias are about one point and on the same axes, so that a pair of bodies takes one
product of a momentum with a screw, where the other forms carry the momentum from body to body."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.coriolis_matrix import Gyration, gyration
from screw_dynamics.algorithms.coriolis_matrix_in_common_frame import add_effects
from screw_dynamics.algorithms.gravity import holding_effort
from screw_dynamics.algorithms.inverse_dynamics import classical
from screw_dynamics.algorithms.mass_matrix import add_mass_matrix
from screw_dynamics.algorithms.solvers import factorize_tree
from screw_dynamics.compiled.entry import per_joint, per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Square, extends
from screw_dynamics.numbers.values import Scalar, kernel, null, over, zero
from screw_dynamics.screws.inertia import Inertia, moved, shifted
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import composed, offset, oriented
from screw_dynamics.screws.se3 import Ad, Pose, Twist, ad, dot, identity, shifted_wrench
from screw_dynamics.screws.so3 import Rotation, rotate_symmetric
from screw_dynamics.screws.vectors import Vec3

from . import entry


# ------------------------------------------------------------------------------------------------- gravity
class GravityInWorld(NamedTuple):
    """Joint coordinate, pose; mass and first moment of the body with all that it carries, about the world's origin."""

    q: Scalar
    C: Pose
    m: Scalar
    h: Vec3


class GravityAboutBodies(NamedTuple):
    """Joint coordinate, orientation, vector from the parent's origin; mass and first moment of the body with all that
    it carries."""

    q: Scalar
    R: Rotation
    r: Vec3
    m: Scalar
    h: Vec3


@kernel
def gravity_spatial(links: Link, body: GravityInWorld, tau: np.ndarray) -> None:
    """By first moments about the world's origin, which only add up."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, C, m, h = body
    a = over(X[0].linear, q[0])
    C[0], m[0], h[0] = identity(q[0]), null(q[0]), zero(Vec3, q[0])
    for i in range(1, len(q)):
        C[i] = composed(E[i], q[i], C[parent[i]], pose(E[i], q[i]))
        m[i], h[i] = over(M[i].mass, q[0]), C[i].R @ M[i].moment + M[i].mass * C[i].p
    for i in range(len(q) - 1, 0, -1):
        tau[k[i]] += holding_effort(Ad(C[i], X[i]), m[i], h[i], a)
        m[parent[i]] += m[i]
        h[parent[i]] += h[i]


@kernel
def gravity_hybrid(links: Link, body: GravityAboutBodies, tau: np.ndarray) -> None:
    """By first moments about the bodies' origins, resolved in the world."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, R, r, m, h = body
    a = over(X[0].linear, q[0])
    R[0], m[0], h[0] = identity(q[0]).R, null(q[0]), zero(Vec3, q[0])
    for i in range(1, len(q)):
        C, p = pose(E[i], q[i]), parent[i]
        R[i] = oriented(E[i], q[i], R[p], C.R)
        r[i] = offset(E[i], q[i], C.p, R[p], R[i])
        m[i], h[i] = over(M[i].mass, q[0]), R[i] @ M[i].moment
    for i in range(len(q) - 1, 0, -1):
        J = Twist(R[i] @ X[i].angular, R[i] @ X[i].linear)
        tau[k[i]] += holding_effort(J, m[i], h[i], a)
        m[parent[i]] += m[i]
        h[parent[i]] += h[i] + m[i] * r[i]


# ------------------------------------------------------------------------------------------------- mass matrix
class MassBody(NamedTuple):
    """Joint coordinate; pose and joint screw in the world; inertia of the body with all that it carries."""

    q: Scalar
    C: Pose
    J: Twist
    M: Inertia


class MassAboutBodies(NamedTuple):
    """Joint coordinate; orientation, vector from the parent's origin, joint screw, inertia of the body with all that it
    carries, resolved in the world."""

    q: Scalar
    R: Rotation
    r: Vec3
    J: Twist
    M: Inertia


@kernel
def mass_matrix_spatial(links: Link, body: MassBody, H: np.ndarray) -> None:
    """H_ij = J_i^T M^c J_j; [MD] (81) in the world frame."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, C, J, Mc = body
    C[0], Mc[0] = identity(q[0]), zero(Inertia, q[0])
    for i in range(1, len(q)):
        C[i] = composed(E[i], q[i], C[parent[i]], pose(E[i], q[i]))
        J[i], Mc[i] = Ad(C[i], X[i]), over(moved(C[i], M[i]), q[0])
    for i in range(len(q) - 1, 0, -1):
        Mc[parent[i]] += Mc[i]
        W = Mc[i] @ J[i]
        H[k[i], k[i]] += dot(W, J[i])
        j = parent[i]
        while j > 0:
            h = dot(W, J[j])
            H[k[i], k[j]] += h
            H[k[j], k[i]] += h
            j = parent[j]


@kernel
def mass_matrix_hybrid(links: Link, body: MassAboutBodies, H: np.ndarray) -> None:
    """[MD] (81) about the bodies' origins, resolved in the world."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, R, r, J, Mc = body
    R[0], Mc[0] = identity(q[0]).R, zero(Inertia, q[0])
    for i in range(1, len(q)):
        C, p = pose(E[i], q[i]), parent[i]
        R[i] = oriented(E[i], q[i], R[p], C.R)
        r[i] = offset(E[i], q[i], C.p, R[p], R[i])
        J[i] = Twist(R[i] @ X[i].angular, R[i] @ X[i].linear)
        Mc[i] = Inertia(over(M[i].mass, q[0]), R[i] @ M[i].moment, rotate_symmetric(R[i], M[i].rotational))
    for i in range(len(q) - 1, 0, -1):
        Mc[parent[i]] += shifted(r[i], Mc[i])
        W = Mc[i] @ J[i]
        H[k[i], k[i]] += dot(W, J[i])
        j = i
        while parent[j] > 0:
            W = shifted_wrench(r[j], W)
            j = parent[j]
            h = dot(W, J[j])
            H[k[i], k[j]] += h
            H[k[j], k[i]] += h


# ------------------------------------------------------------------------------------------------- Coriolis matrix
class CoriolisBody(NamedTuple):
    """Joint coordinate and rate; pose, twist, joint screw and its rate in the world; inertia and gyration of the body
    with all that it carries."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist
    J: Twist
    Jd: Twist
    M: Inertia
    B: Gyration


@kernel
def coriolis_matrix_spatial(links: Link, body: CoriolisBody, H: np.ndarray) -> None:
    """C(q, q') of the Christoffel symbols, [MD] (83) in the world frame; the sums as in the package's."""
    parent, X, M, E = links.parent, links.X, links.M, links.E
    q, qd, C, V, J, Jd, Mc, B = body
    C[0], V[0] = identity(q[0]), zero(Twist, q[0])
    Mc[0], B[0] = zero(Inertia, q[0]), zero(Gyration, q[0])
    for i in range(1, len(q)):
        p = parent[i]
        C[i] = composed(E[i], q[i], C[p], pose(E[i], q[i]))
        J[i], Mc[i] = Ad(C[i], X[i]), over(moved(C[i], M[i]), q[0])
        Jd[i] = ad(V[p], J[i])
        V[i] = V[p] + qd[i] * J[i]
        B[i] = gyration(Mc[i], V[i])
    for i in range(len(q) - 1, 0, -1):
        Mc[parent[i]] += Mc[i]
        B[parent[i]] += B[i]
        add_effects(links, i, J, Jd, Mc[i], B[i], H)


# ------------------------------------------------------------------------------------------------- by mass matrix
@extends(classical.NewtonEuler)
class TreeBody(NamedTuple):
    """As composite_bodies_body_fixed.CompositeBodies, with a row of the right-hand side."""

    tau: Scalar
    M: Inertia
    bias: Scalar
    H: Square


@kernel
def sparse_composite_bodies(links: Link, body: TreeBody, qdd: np.ndarray) -> None:
    """Forward dynamics by the mass matrix in the body frames, whose factors are as sparse as the tree; Featherstone
    (2008) 6.5. For the algorithm of joints that share coordinates, see the package's."""
    parent, n, b, H = links.parent, len(qdd), body.bias, body.H
    classical.inverse_dynamics(links, body, qdd)
    for i in range(1, n + 1):
        b[i] = body.tau[i] - qdd[i - 1]
        for j in range(1, n + 1):
            H[i - 1, j - 1] = null(body.q[0])
    add_mass_matrix(links, body, H)
    factorize_tree(parent, H, n)
    for i in range(n, 0, -1):
        j = parent[i]
        while j > 0:
            b[j] -= H[i - 1, j - 1] * b[i]
            j = parent[j]
    for i in range(1, n + 1):
        b[i] = H[i - 1, i - 1] * b[i]
        j = parent[i]
        while j > 0:
            b[i] -= H[i - 1, j - 1] * b[j]
            j = parent[j]
        qdd[i - 1] = b[i]


GRAVITY_IN = {"spatial": entry(gravity_spatial, GravityInWorld, "q", per_joint, "gravity.spatial"),
              "hybrid": entry(gravity_hybrid, GravityAboutBodies, "q", per_joint, "gravity.hybrid")}
MASS_MATRIX_SPATIAL = entry(mass_matrix_spatial, MassBody, "q", per_pair, "mass_matrix.spatial")
MASS_MATRIX_HYBRID = entry(mass_matrix_hybrid, MassAboutBodies, "q", per_pair, "mass_matrix.hybrid")
CORIOLIS_MATRIX_SPATIAL = entry(coriolis_matrix_spatial, CoriolisBody, "q qd", per_pair, "coriolis_matrix.spatial")
FORWARD_DYNAMICS_SPARSE = entry(sparse_composite_bodies, TreeBody, "q qd tau", per_joint, "forward_dynamics.sparse")
