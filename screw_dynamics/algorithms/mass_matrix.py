"""Joint-space mass matrix by the composite rigid body algorithm, O(n d) for a tree of depth d."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_pair
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, over
from screw_dynamics.screws.inertia import Inertia
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import force_to_parent, inertia_to_parent
from screw_dynamics.screws.se3 import Pose, dot


class CompositeInertias(NamedTuple):
    """Data of each body in the recursion, in its frame: joint coordinate, pose in the parent, and the composite
    inertia."""

    q: Scalar
    C: Pose
    M: Inertia


@kernel
def mass_matrix(links: Link, body: CompositeInertias, H: np.ndarray) -> None:
    """Add M(q) to H: H_kl = X_l^T Ad^T M^c X_k, with the composite inertia M^c; [MD] (81) summed from the leaves.

    A coordinate of several bodies collects the terms of all of them."""
    for i in range(1, len(links.parent)):
        body.C[i] = pose(links.E[i], body.q[i])
    add_mass_matrix(links, body, H)


@kernel
def add_mass_matrix(links: Link, body: CompositeInertias, H: np.ndarray) -> None:
    """Add M(q) to H, from the poses in the parents."""
    parent, k, X, E, q, C, Mc = links.parent, links.coordinate, links.X, links.E, body.q, body.C, body.M
    for i in range(len(parent)):
        Mc[i] = over(links.M[i], q[0])
    for i in range(len(parent) - 1, 0, -1):
        Mc[parent[i]] += inertia_to_parent(E[i], q[i], C[i], Mc[i])
    for i in range(1, len(parent)):
        W = over(Mc[i] @ X[i], q[0])               # the momentum of the composite body at unit rate
        H[k[i], k[i]] += dot(W, X[i]) + links.armature[i]
        j = i
        while parent[j] > 0:
            W = force_to_parent(E[j], q[j], C[j], W)
            j = parent[j]
            h = dot(W, X[j])
            H[k[i], k[j]] += h
            H[k[j], k[i]] += h


MASS_MATRIX = CompiledAlgorithm(mass_matrix, CompositeInertias, "q", per_pair)
