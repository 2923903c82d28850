"""Derivatives of the joint screws and twists with rotations resolved in the body, translations in the world frame.

The angular rows are those of body_fixed.py, the linear ones those of hybrid.py, also for derivatives of any order;
[MD] 2.4. Arguments and results are as in body_fixed.py."""
import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import joined

from . import body_fixed, hybrid


def joint_screws(robot: Robot, q: ArrayLike) -> np.ndarray:
    """Return J_ij (..., b, b, 6); [MD] (33)."""
    return mixed(body_fixed.joint_screws(robot, q), hybrid.joint_screws(robot, q))


def jacobian_derivatives(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> list[np.ndarray]:
    """Return [J, J', ..., J^(r)] from r derivatives of q."""
    pairs = zip(body_fixed.jacobian_derivatives(robot, q, *rates), hybrid.jacobian_derivatives(robot, q, *rates),
                strict=True)
    return [mixed(body.swapaxes(-1, -2), world.swapaxes(-1, -2)).swapaxes(-1, -2) for body, world in pairs]


def twist_derivatives(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> list[np.ndarray]:
    """Return [V, V', ..., V^(r-1)] from r derivatives of q."""
    pairs = zip(body_fixed.twist_derivatives(robot, q, *rates), hybrid.twist_derivatives(robot, q, *rates), strict=True)
    return [mixed(body, world) for body, world in pairs]


def acceleration(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """Return V' of all bodies, by [MD] (6) and (29)."""
    return mixed(body_fixed.acceleration(robot, q, qd, qdd), hybrid.acceleration(robot, q, qd, qdd))


def jerk(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike) -> np.ndarray:
    """Return V'' of all bodies, by [MD] (13) and (31)."""
    return mixed(body_fixed.jerk(robot, q, qd, qdd, qddd), hybrid.jerk(robot, q, qd, qdd, qddd))


def mixed(body: np.ndarray, world: np.ndarray) -> np.ndarray:
    """Return a screw (..., 6) with the angular part of `body` and the linear part of `world`."""
    return joined(body[..., :3], world[..., 3:])
