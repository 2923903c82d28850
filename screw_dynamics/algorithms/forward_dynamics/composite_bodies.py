"""Forward dynamics by way of the mass matrix, O(n^3), in hybrid twists."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Square
from screw_dynamics.numbers.values import Scalar, kernel, null, zero
from screw_dynamics.screws.inertia import Inertia, shifted
from screw_dynamics.screws.se3 import Twist, Wrench, dot, shifted_wrench
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Matrix3, Vec3

from ..solvers import solve_symmetric
from .hybrid import rest, rigid_body


class Body(NamedTuple):
    """What the algorithm holds of each body, resolved in the world frame: coordinate, rate, effort and added inertia of
    its joint; the columns of hybrid.Body from R to S; inertia M and bias wrench P of the body with all that it carries;
    for each coordinate its added inertia, and the mass matrix."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    added: Scalar
    R: Rotation
    r: Vec3
    J: Twist
    w: Vec3
    Vd: Twist
    S: Matrix3
    M: Inertia
    P: Wrench
    own: Scalar
    H: Square


@kernel
def composite_bodies(links: Link, body: Body, qdd: np.ndarray) -> None:
    """Set qdd to the joint accelerations, from the mass matrix and the bias efforts; [MD] (80) solved for q''.

    Several joints may share a coordinate, as mimic joints do, which articulated bodies cannot express."""
    rigid_bodies(links, body, qdd)
    solve(links, body, qdd)


@kernel
def rigid_bodies(links: Link, body: Body, qdd: np.ndarray) -> None:
    """Fill the columns from R to P for bodies that no joint connects yet, in the motion with q'' = 0; qdd becomes the
    efforts."""
    rest(links, body.R, body.w, body.Vd, body.S, body.q[0])
    for i in range(1, len(links.parent)):
        body.M[i], body.P[i] = rigid_body(links, i, body.q, body.qd, body.R, body.r, body.J, body.w, body.Vd, body.S)
        qdd[links.coordinate[i]] = body.tau[i]


@kernel
def solve(links: Link, body: Body, qdd: np.ndarray) -> None:
    """Efforts in qdd become accelerations."""
    mass_matrix_and_bias(links, body, qdd)
    solve_symmetric(body.H, qdd)


@kernel
def mass_matrix_and_bias(links: Link, body: Body, tau: np.ndarray) -> None:
    """Set H to the mass matrix with added inertia, and subtract the bias efforts from tau (n), the wrenches P of the
    bodies being those of the motion with q'' = 0.

    [MD] (81) is summed over the pairs of bodies of which one carries the other, each pair once."""
    parent, k, n = links.parent, links.coordinate, len(tau)
    q, added, r, J, M, P, own, H = (body.q, body.added, body.r, body.J, body.M, body.P, body.own, body.H)
    for i in range(n):
        for j in range(n):
            H[i, j] = null(q[0])
    M[0], P[0] = zero(Inertia, q[0]), zero(Wrench, q[0])
    for i in range(1, len(k)):
        own[k[i]] = added[i]
    for i in range(n):
        H[i, i] = own[i]
    for i in range(1, len(k)):
        H[k[i], k[i]] += links.armature[i]
    for i in range(len(k) - 1, 0, -1):
        tau[k[i]] -= dot(P[i], J[i])
        W = M[i] @ J[i]                                     # the momentum of the composite body at unit rate
        H[k[i], k[i]] += dot(W, J[i])
        j = i
        while parent[j] > 0:
            W = shifted_wrench(r[j], W)
            j = parent[j]
            h = dot(W, J[j])
            H[k[i], k[j]] += h
            H[k[j], k[i]] += h
        M[parent[i]] += shifted(r[i], M[i])
        P[parent[i]] += shifted_wrench(r[i], P[i])
