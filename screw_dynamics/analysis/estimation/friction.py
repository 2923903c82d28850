"""The efforts of friction as they are measured: Coulomb friction has no sign at rest."""
import numpy as np

from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.robot import Robot


def smooth_friction(robot: Robot, qd: np.ndarray) -> np.ndarray:
    """Robot.friction_torque (..., n); within STICTION of rest, where a joint may take anything up to its friction, the
    sign is linear."""
    return robot.friction_torque(qd) + robot.model.friction * (smooth_sign(qd) - np.sign(qd))
