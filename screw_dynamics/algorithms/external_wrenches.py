"""Dynamics under external wrenches on bodies, in the recursions: W^app of [MD] (77); and the efforts J^T W."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.algorithm import CompiledAlgorithm, per_joint
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.values import Scalar, kernel, zero
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import force_to_parent
from screw_dynamics.screws.se3 import Wrench, dot

from .forward_dynamics import composite_bodies, hybrid
from .group_rates import forward_on_groups, inverse_on_groups
from .inverse_dynamics import classical


class CarriedWrenches(NamedTuple):
    """Joint coordinate, and the external wrench on the body and its subtree."""

    q: Scalar
    F: Wrench


@kernel
def external_torque(links: Link, body: CarriedWrenches, tau: np.ndarray) -> None:
    """Add to tau the efforts sum J^T W of wrenches F on the bodies."""
    parent, k, X, E = links.parent, links.coordinate, links.X, links.E
    q, F = body
    F[0] = zero(Wrench, q[0])
    for i in range(len(parent) - 1, 0, -1):
        tau[k[i]] += dot(F[i], X[i])
        F[parent[i]] += force_to_parent(E[i], q[i], pose(E[i], q[i]), F[i])


# The last input is wrenches on the bodies, compiled/inputs.py. Forward dynamics is keyed by shared coordinates.
UNDER_LOAD = {
    "external_torque": CompiledAlgorithm(external_torque, CarriedWrenches, "q F", per_joint),
    "inverse_dynamics": CompiledAlgorithm(classical.inverse_dynamics, classical.NewtonEuler, "q qd qdd F", per_joint,
                                          name="inverse_dynamics.under_load",
                                          on_groups=inverse_on_groups(classical.inverse_dynamics)),
}
_FORWARD = {False: ("forward_dynamics.under_load", hybrid.articulated_bodies, hybrid.ArticulatedBodies),
            True: ("forward_dynamics.under_load.mass_matrix", composite_bodies.composite_bodies,
                   composite_bodies.CompositeBodies)}
FORWARD_UNDER_LOAD = {shared: CompiledAlgorithm(algorithm, Table, "q qd tau F", per_joint, name=name,
                                                on_groups=forward_on_groups(algorithm))
                      for shared, (name, algorithm, Table) in _FORWARD.items()}
