"""Friction efforts for comparison with measurements: the sign of Coulomb friction is smooth at rest."""
import numpy as np

from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.robot import Robot


def smooth_friction(robot: Robot, qd: np.ndarray) -> np.ndarray:
    """Return Robot.friction_torque (..., n) with a sign that is linear within STICTION of rest, where the friction of a
    joint is undetermined."""
    return robot.friction_torque(qd) + robot.model.friction * (smooth_sign(qd) - np.sign(qd))
