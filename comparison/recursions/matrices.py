"""Gravity and mass matrix in representations in which the package does not have them.

In spatial twists all screws and inertias are about one point and on the same axes, so that a pair of bodies takes one
product of a momentum with a screw, where the other forms carry the momentum from body to body. In mixed twists
rotations and torques are resolved in the body, translations and forces in the world: inertias stay rigid, and are held
by their numbers in the body, of which J = (e, R v) makes momenta (torque, R force)."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.gravity import holding_effort
from screw_dynamics.algorithms.inverse_dynamics import classical
from screw_dynamics.algorithms.mass_matrix import add_mass_matrix
from screw_dynamics.algorithms.solvers import factorize_tree
from screw_dynamics.compiled.algorithm import per_joint, per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Square, extends
from screw_dynamics.numbers.values import Scalar, kernel, null, over, zero
from screw_dynamics.screws.inertia import Inertia, moved, shifted
from screw_dynamics.screws.joint import Joint, Placement, pose
from screw_dynamics.screws.joint_factors import composed, inertia_to_parent, offset, oriented, turned, turned_back
from screw_dynamics.screws.se3 import Ad, Pose, Twist, Wrench, dot, identity, shifted_wrench
from screw_dynamics.screws.so3 import Rotation, inverse, matrix, rotate_symmetric
from screw_dynamics.screws.vectors import Matrix3, Vec3, cross, cross_columns

from . import entry
from .places import about_world, near


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


class GravityMixed(NamedTuple):
    """Joint coordinate, pose in the parent, orientation in the world, upward acceleration in the body; mass and first
    moment, in the body, of the body with all that it carries."""

    q: Scalar
    C: Pose
    R: Rotation
    a: Vec3
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


@kernel
def gravity_mixed(links: Link, body: GravityMixed, tau: np.ndarray) -> None:
    """By first moments about the bodies' origins: torques h x a resolved in the body, forces m a in the world."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, C, R, a, m, h = body
    up = over(X[0].linear, q[0])
    R[0], a[0], m[0], h[0] = identity(q[0]).R, up, null(q[0]), zero(Vec3, q[0])
    for i in range(1, len(q)):
        C[i], p = pose(E[i], q[i]), parent[i]
        R[i] = oriented(E[i], q[i], R[p], C[i].R)
        a[i] = turned_back(E[i], q[i], C[i].R, a[p])
        m[i], h[i] = over(M[i].mass, q[0]), over(M[i].moment, q[0])
    for i in range(len(q) - 1, 0, -1):
        p = parent[i]
        tau[k[i]] += h[i] @ cross(a[i], X[i].angular) + m[i] * (up @ (R[i] @ X[i].linear))
        m[p] += m[i]
        h[p] += m[i] * C[i].p
        h[p] += turned(E[i], q[i], C[i].R, h[i])


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


class MassMixed(NamedTuple):
    """Joint coordinate; pose in the parent, orientation in the world, lever in the parent of a force on the body, joint
    screw; inertia, in the body, of the body with all that it carries."""

    q: Scalar
    C: Pose
    R: Rotation
    L: Matrix3
    J: Twist
    M: Inertia


def mass_matrix_spatial(place: Callable) -> Callable:
    """The algorithm in a frame that `place` chooses."""
    @kernel
    def algorithm(links: Link, body: MassBody, H: np.ndarray) -> None:
        """H_ij = J_i^T M^c J_j; [MD] (81) in the world frame."""
        parent, k, X, M = links.parent, links.coordinate, links.X, links.M
        q, C, J, Mc = body
        place(links, q, C)
        Mc[0] = zero(Inertia, q[0])
        for i in range(1, len(q)):
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
    return algorithm


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


@kernel
def through_lever(E: Joint, q: Scalar | Placement, C: Pose, L: Matrix3, W: Wrench) -> Wrench:
    """A mixed wrench of a body in the mixed twists of its parent, by the joint's pose C and the lever L."""
    return Wrench(turned(E, q, C.R, W.torque) + L @ W.force, W.force)


@kernel
def mass_matrix_mixed(links: Link, body: MassMixed, H: np.ndarray) -> None:
    """[MD] (81) in mixed twists: a force in the world does not change on its way, its torque is taken by the lever
    L = p~ R^T of the parent."""
    parent, k, X, M, E = links.parent, links.coordinate, links.X, links.M, links.E
    q, C, R, L, J, Mc = body
    R[0], Mc[0] = identity(q[0]).R, zero(Inertia, q[0])
    for i in range(1, len(q)):
        C[i], p = pose(E[i], q[i]), parent[i]
        R[i] = oriented(E[i], q[i], R[p], C[i].R)
        L[i] = cross_columns(C[i].p, matrix(inverse(R[p])))
        J[i] = Twist(over(X[i].angular, q[0]), R[i] @ X[i].linear)
        Mc[i] = over(M[i], q[0])
    for i in range(len(q) - 1, 0, -1):
        Mc[parent[i]] += inertia_to_parent(E[i], q[i], C[i], Mc[i])
        own = Mc[i] @ X[i]
        W = Wrench(own.torque, R[i] @ own.force)
        H[k[i], k[i]] += dot(own, X[i])
        j = i
        while parent[j] > 0:
            W = through_lever(E[j], q[j], C[j], L[j], W)
            j = parent[j]
            h = dot(W, J[j])
            H[k[i], k[j]] += h
            H[k[j], k[i]] += h


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
              "hybrid": entry(gravity_hybrid, GravityAboutBodies, "q", per_joint, "gravity.hybrid"),
              "mixed": entry(gravity_mixed, GravityMixed, "q", per_joint, "gravity.mixed")}
MASS_MATRIX_IN = {
    "spatial": entry(mass_matrix_spatial(about_world), MassBody, "q", per_pair, "mass_matrix.spatial"),
    "spatial, near": entry(mass_matrix_spatial(near), MassBody, "q", per_pair, "mass_matrix.near"),
    "hybrid": entry(mass_matrix_hybrid, MassAboutBodies, "q", per_pair, "mass_matrix.hybrid"),
    "mixed": entry(mass_matrix_mixed, MassMixed, "q", per_pair, "mass_matrix.mixed")}
FORWARD_DYNAMICS_SPARSE = entry(sparse_composite_bodies, TreeBody, "q qd tau", per_joint, "forward_dynamics.sparse")
