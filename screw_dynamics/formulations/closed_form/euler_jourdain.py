"""The Euler-Jourdain equations: Newton and Euler's of all bodies, projected by the system Jacobian; [MD] 5.1.

Constraint wrenches have no power on the variations J dq' of the twists, hence J^T W = tau for the wrenches W that the
bodies need; [MD] (78). It holds in every representation, with the system Jacobian, the twists and the Newton-Euler
equations of that representation: "body", "spatial", "hybrid" or "mixed"; ValueError for any other."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot

from .. import newton_euler as bodies
from ..newton_euler.screws import Ad_inv
from ..screw_derivatives import body_fixed, hybrid, mixed, spatial


class Form(NamedTuple):
    """The derivatives of twists, inertias from those in the body frame, and wrenches of a representation."""

    twist_derivatives: Callable[..., list[np.ndarray]]
    inertia: Callable[..., np.ndarray]
    wrench: Callable[..., np.ndarray]


FORMS = {
    "body": Form(body_fixed.twist_derivatives, lambda M, C: M, lambda M, V, Vd, C: bodies.body_fixed.wrench(M, V, Vd)),
    "spatial": Form(spatial.twist_derivatives, bodies.spatial.inertia, bodies.spatial.wrench),
    "hybrid": Form(hybrid.twist_derivatives, bodies.hybrid.inertia, bodies.hybrid.wrench),
    "mixed": Form(mixed.twist_derivatives, bodies.mixed.inertia, bodies.mixed.wrench)}


def euler_jourdain(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                   representation: str = "body") -> np.ndarray:
    """The efforts tau (..., n) = J^T W(V, V') that a motion takes; [MD] (78) with (41), (38), (53) or (56), (57)."""
    J = robot.body_jacobians(q, representation)
    V, Vd = twists(robot, q, qd, qdd, representation)
    W = FORMS[representation].wrench(robot.model.inertias, V, Vd, robot.body_poses(q))
    return np.einsum("...ixk,...ix->...k", J, W)


def mass_matrix(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """J^T M J, (..., n, n), with the system Jacobian and the bodies' inertias in the representation; [MD] (81)."""
    J = robot.body_jacobians(q, representation)
    M = FORMS[representation].inertia(robot.model.inertias, robot.body_poses(q))
    return np.einsum("...ixk,...ixl->...kl", J, M @ J)


def twists(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
           representation: str) -> tuple[np.ndarray, np.ndarray]:
    """V and V' (..., b, 6) of all bodies, V' in a world that accelerates by (0, -g), which is how gravity enters."""
    V, Vd = FORMS[representation].twist_derivatives(robot, q, qd, qdd)
    g = np.r_[0.0, 0.0, 0.0, robot.gravity]
    return V, Vd - (Ad_inv(robot.body_poses(q), g) if representation == "body" else g)
