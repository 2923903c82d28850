"""Kinetic and potential energy."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, single
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.se3 import Ad_inv, Pose, Twist, dot, identity


class Energies(NamedTuple):
    """Joint coordinate and rate, the body's pose in the world, and its twist in its own frame."""

    q: Scalar
    qd: Scalar
    C: Pose
    V: Twist


@kernel
def kinetic_energy(links: Link, body: Energies, kinetic: np.ndarray) -> None:
    """Add the kinetic energy T = sum (V^T M V + armature q'^2) / 2 over the bodies, J."""
    parent, X, M, E = links.parent, links.X, links.M, links.E
    q, qd, C, V = body
    V[0] = zero(Twist, q[0])
    for i in range(1, len(parent)):
        V[i] = Ad_inv(pose(E[i], q[i]), V[parent[i]]) + qd[i] * X[i]
        kinetic[0] += 0.5 * (dot(M[i] @ V[i], V[i]) + links.armature[i] * qd[i] * qd[i])


@kernel
def potential_energy(links: Link, body: Energies, potential: np.ndarray) -> None:
    """Add the potential energy U = -sum m g . r of the bodies and the root link, J.

    r is the center of mass. U is 0 for a mass at the root frame's origin."""
    parent, X, M, E = links.parent, links.X, links.M, links.E
    q, qd, C, V = body
    up = X[0].linear                                        # -g
    potential[0] += up @ M[0].moment
    C[0] = identity(q[0])
    for i in range(1, len(parent)):
        C[i] = C[parent[i]] @ pose(E[i], q[i])
        potential[0] += up @ (M[i].mass * C[i].p + C[i].R @ M[i].moment)


KINETIC_ENERGY = CompiledAlgorithm(kinetic_energy, Energies, "q qd", single)
POTENTIAL_ENERGY = CompiledAlgorithm(potential_energy, Energies, "q", single)
