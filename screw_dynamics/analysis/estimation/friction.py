"""The efforts of friction as they are measured: Coulomb friction has no sign at rest."""
import numpy as np

from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.robot import Robot


def smooth_friction(robot: Robot, qd: np.ndarray) -> np.ndarray:
    """damping qd + friction sign(qd), (..., n); within STICTION of rest, where a joint may take anything up to
    `friction`, the sign is linear."""
    return robot.model.damping * qd + robot.model.friction * smooth_sign(qd)
