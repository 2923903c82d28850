"""Dynamics under external wrenches on bodies, in the recursions: W^app of [MD] (77); and the efforts J^T W alone."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.entry import Entry, per_joint
from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import Square
from screw_dynamics.numbers.values import Scalar, kernel, zero
from screw_dynamics.screws.inertia import Articulated, Inertia
from screw_dynamics.screws.joint import pose
from screw_dynamics.screws.joint_factors import carried_wrench
from screw_dynamics.screws.se3 import Pose, Twist, Wrench, dot
from screw_dynamics.screws.so3 import Rotation
from screw_dynamics.screws.vectors import Matrix3, Vec3

from .columns import clear
from .forward_dynamics import composite_bodies, hybrid
from .group_rates import caused, prescribed
from .inverse_dynamics import classical


class Carried(NamedTuple):
    """Joint coordinate, and the external wrench on the body with all that it carries."""

    q: Scalar
    F: Wrench


@kernel
def external_torque(links: Link, body: Carried, tau: np.ndarray) -> None:
    """Add to tau the efforts sum J^T W that are equivalent to wrenches F on the bodies."""
    parent, k, X, E = links.parent, links.coordinate, links.X, links.E
    q, F = body
    F[0] = zero(Wrench, q[0])
    for i in range(len(parent) - 1, 0, -1):
        tau[k[i]] += dot(F[i], X[i])
        F[parent[i]] += carried_wrench(E[i], q[i], pose(E[i], q[i]), F[i])


class Moving(NamedTuple):
    """The inputs of classical.Body, the external wrench on the body, and its other columns."""

    q: Scalar
    qd: Scalar
    qdd: Scalar
    F: Wrench
    C: Pose
    w: Vec3
    wd: Vec3
    a: Vec3
    S: Matrix3
    W: Wrench


@kernel
def inverse_dynamics(links: Link, body: Moving, tau: np.ndarray) -> None:
    """Add to tau the efforts that a motion requires under wrenches F on the bodies."""
    q, qd, qdd, F, C, w, wd, a, S, W = body
    moving = classical.Body(q, qd, qdd, C, w, wd, a, S, W)
    classical.balance_bodies(links, moving)
    for i in range(1, len(W)):
        W[i] -= F[i]
    classical.add_efforts(links, moving, tau)


class Driven(NamedTuple):
    """The inputs of hybrid.Body, the external wrench on the body, and its other columns."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    F: Wrench
    added: Scalar
    R: Rotation
    r: Vec3
    J: Twist
    w: Vec3
    Vd: Twist
    S: Matrix3
    A: Articulated
    P: Wrench
    U: Wrench
    d: Scalar
    u: Scalar


@kernel
def relieve(R: list, F: list, P: list) -> None:
    """Subtract wrenches F on the bodies, in their frames, from their bias wrenches P in the world frame."""
    for i in range(1, len(P)):
        P[i] -= Wrench(R[i] @ F[i].torque, R[i] @ F[i].force)


@kernel
def articulated_bodies(links: Link, body: Driven, qdd: np.ndarray) -> None:
    """Add to qdd the accelerations that efforts cause under wrenches F on the bodies."""
    q, qd, tau, F, added, R, r, J, w, Vd, S, A, P, U, d, u = body
    driven = hybrid.Body(q, qd, tau, added, R, r, J, w, Vd, S, A, P, U, d, u)
    clear(added)
    hybrid.rigid_bodies(links, driven)
    relieve(R, F, P)
    hybrid.articulate(links, driven)
    hybrid.accelerate(links, driven, Vd, qdd)


class Coupled(NamedTuple):
    """The inputs of composite_bodies.Body, the external wrench on the body, and its other columns."""

    q: Scalar
    qd: Scalar
    tau: Scalar
    F: Wrench
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
def by_mass_matrix(links: Link, body: Coupled, qdd: np.ndarray) -> None:
    """The same where joints share coordinates."""
    q, qd, tau, F, added, R, r, J, w, Vd, S, M, P, own, H = body
    coupled = composite_bodies.Body(q, qd, tau, added, R, r, J, w, Vd, S, M, P, own, H)
    clear(added)
    composite_bodies.rigid_bodies(links, coupled, qdd)
    relieve(R, F, P)
    composite_bodies.solve(links, coupled, qdd)


# The last input is wrenches on the bodies, compiled/wrenches.py. Forward dynamics by whether joints share coordinates.
UNDER_LOAD = {
    "external_torque": Entry(external_torque, Carried, 2, per_joint),
    "inverse_dynamics": Entry(inverse_dynamics, Moving, 4, per_joint, name="inverse_dynamics.under_load",
                              on_groups=prescribed(inverse_dynamics), reads_armature=True),
}
FORWARD_UNDER_LOAD = {
    False: Entry(articulated_bodies, Driven, 4, per_joint, name="forward_dynamics.under_load",
                 on_groups=caused(articulated_bodies), reads_armature=True),
    True: Entry(by_mass_matrix, Coupled, 4, per_joint, name="forward_dynamics.under_load.mass_matrix",
                on_groups=caused(by_mass_matrix), reads_armature=True),
}
