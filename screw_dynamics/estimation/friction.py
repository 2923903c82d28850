"""The efforts of friction as they are measured: Coulomb friction has no sign at rest."""
import numpy as np

from screw_dynamics.algorithms.friction import STICTION
from screw_dynamics.robot import Robot


def smooth_friction(robot: Robot, qd: np.ndarray) -> np.ndarray:
    """damping qd + friction qd / (|qd| + STICTION), (..., n), as the simulation has it.

    Near rest, up to some STICTION, where a real joint may take anything up to `friction`, it falls to zero: velocity
    noise about zero does not make the estimate jump by twice the friction."""
    return robot.model.damping * qd + robot.model.friction * qd / (np.abs(qd) + STICTION)
