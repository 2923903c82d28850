"""Forward dynamics by the mass matrix, O(n^3), in hybrid twists."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Square, extends
from screw_dynamics.numbers.values import kernel, null, over, zero
from screw_dynamics.screws.inertia import Inertia, shifted
from screw_dynamics.screws.se3 import dot, shifted_wrench

from ..solvers import solve_symmetric
from .hybrid import RigidBodies, rest, rigid_body


@extends(RigidBodies)
class CompositeBodies(NamedTuple):
    """RigidBodies, whose P becomes the bias wrench of the composite body; the composite inertia; and the mass
    matrix."""

    M: Inertia
    H: Square


@kernel
def composite_bodies(links: Link, body: CompositeBodies, qdd: np.ndarray) -> None:
    """Set qdd to the joint accelerations, from the mass matrix and the bias efforts; [MD] (80) solved for q''.

    Joints may share a coordinate, as mimic joints do. Articulated bodies do not support that."""
    rigid_bodies(links, body, qdd)
    mass_matrix_and_bias(links, body, qdd)
    solve_symmetric(body.H, qdd)


@kernel
def rigid_bodies(links: Link, body: CompositeBodies, tau: np.ndarray) -> None:
    """Fill the columns of RigidBodies, and M, for bodies without joint constraints. tau (n) becomes the efforts."""
    rest(links, body)
    body.M[0] = zero(Inertia, body.q[0])
    for i in range(1, len(links.parent)):
        body.M[i] = rigid_body(links, body, i)
        tau[links.coordinate[i]] = body.tau[i]


@kernel
def mass_matrix_and_bias(links: Link, body: CompositeBodies, tau: np.ndarray) -> None:
    """Set H to the mass matrix with added inertia, and subtract the bias efforts from tau (n).

    The wrenches P of the bodies are those of the motion with q'' = 0. [MD] (81) is summed over the pairs of bodies of
    which one is an ancestor of the other, each pair once."""
    parent, k, n = links.parent, links.coordinate, len(tau)
    r, J, M, P, H, like = body.r, body.J, body.M, body.P, body.H, body.q[0]
    for i in range(n):
        for j in range(n):
            H[i, j] = null(like)
    for i in range(1, len(k)):
        H[k[i], k[i]] = over(body.added[i], like)           # of a coordinate: the same in all its bodies
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
