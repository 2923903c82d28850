"""Euler-Jourdain equations: the Newton-Euler equations of all bodies, projected by the system Jacobian; [MD] 5.1.

The wrench of a body's motion is the sum of its weight, applied wrenches, the drives of its joints, and constraint
wrenches; (77). Constraint wrenches have no power on the variations J dq' of the twists, hence J^T (W - W^app) = tau for
the wrenches W of the bodies without their weight; (78). This holds in every representation, with its system Jacobian,
twists and Newton-Euler equations: "body", "spatial", "hybrid" or "mixed". Others raise ValueError."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import checked, transpose_times
from screw_dynamics.screws.groups import se3

from .. import newton_euler as bodies
from ..geometric_jacobian import joint_screws
from ..recursions import drive_wrenches
from ..screw_derivatives import body_fixed, hybrid, mixed, spatial
from ..system_jacobian import twist_map


class Quantities(NamedTuple):
    """Functions of a representation: derivatives of twists, inertias from those in the body frame, and wrenches."""

    twist_derivatives: Callable[..., list[np.ndarray]]
    inertia: Callable[..., np.ndarray]
    wrench: Callable[..., np.ndarray]


QUANTITIES = {
    "body": Quantities(body_fixed.twist_derivatives, lambda M, C: M,
                       lambda M, V, Vd, C: bodies.body_fixed.wrench(M, V, Vd)),
    "spatial": Quantities(spatial.twist_derivatives, bodies.spatial.inertia, bodies.spatial.wrench),
    "hybrid": Quantities(hybrid.twist_derivatives, bodies.hybrid.inertia, bodies.hybrid.wrench),
    "mixed": Quantities(mixed.twist_derivatives, bodies.mixed.inertia, bodies.mixed.wrench)}


def euler_jourdain(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, representation: str = "body",
                   applied: ArrayLike | None = None) -> np.ndarray:
    """Return the efforts tau (..., n) = J^T (W - W^app) of a motion, including those of armature; [MD] (78) with (41),
    (38), (53) or (56), (57).

    applied: W^app (..., b, 6), wrenches on the bodies except weight and joints, in the representation."""
    J = robot.body_jacobians(q, representation)
    efforts = np.einsum("...ixk,...ix->...k", J, needed_wrenches(robot, q, qd, qdd, representation, applied))
    return efforts + robot.model.joint_inertia * checked(qdd=(qdd, robot.n))[0]


def needed_wrenches(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, representation: str = "body",
                    applied: ArrayLike | None = None) -> np.ndarray:
    """Return the wrenches (..., b, 6) of each body's joints in a motion: M V' - ad_V^T M V - W^app.

    V' includes the weight. This is the left side of [MD] (77) without W^c."""
    V, Vd = twists(robot, q, qd, qdd, representation)
    W = QUANTITIES[representation].wrench(robot.model.inertias, V, Vd, robot.body_poses(q))
    return W if applied is None else W - checked(applied=(applied, *W.shape[-2:]))[0]


def constraint_wrenches(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, representation: str = "body",
                        applied: ArrayLike | None = None) -> np.ndarray:
    """Return W^c (..., b, 6) of [MD] (77), the constraint wrench of all joints of a body on it: J^T W^c = 0.

    W^app of (77) includes the drives, of the body's own joint and, reversed, of its children's. These are
    `recursions.drive_wrenches`, with the effort of each joint."""
    needed = needed_wrenches(robot, q, qd, qdd, representation, applied)
    efforts = np.einsum("...ijx,...ix->...j", joint_screws(robot, q, representation), needed)
    maps = twist_map(robot.body_poses(q), representation, "spatial")
    drives = drive_wrenches(robot, q, efforts, "spatial")
    children = (np.asarray(robot.model.parents)[None, :] == np.arange(len(robot.model.parents))[:, None]).astype(float)
    return needed - transpose_times(maps, drives - children @ drives)


def mass_matrix(robot: Robot, q: ArrayLike, representation: str = "body") -> np.ndarray:
    """Return J^T M J, (..., n, n), with the system Jacobian and the bodies' inertias in the representation, plus
    armature on its diagonal; [MD] (81)."""
    J = robot.body_jacobians(q, representation)
    M = QUANTITIES[representation].inertia(robot.model.inertias, robot.body_poses(q))
    return np.einsum("...ixk,...ixl->...kl", J, M @ J) + np.diag(robot.model.joint_inertia)


def twists(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
           representation: str) -> tuple[np.ndarray, np.ndarray]:
    """Return V and V' (..., b, 6) of all bodies, V' in a world that accelerates by (0, -g), which represents
    gravity."""
    V, Vd = QUANTITIES[representation].twist_derivatives(robot, q, qd, qdd)
    g = np.r_[0.0, 0.0, 0.0, robot.gravity]
    return V, Vd - (se3.Ad_inv(robot.body_poses(q), g) if representation == "body" else g)
