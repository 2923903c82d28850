"""A warning of states far beyond the position limits of the robot, for example of positions in degrees."""

import numpy as np

from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.robot import Robot

from ..node.joint_state import listed

FAR = 0.1       # rad or m, and fraction of the range: smaller excesses result from calibration or compliant stops


def far_beyond_limits(robot: Robot, q: np.ndarray) -> str:
    """Return a warning that names the first joint whose position in q (nq,) is far beyond a limit, or ""."""
    model = robot.model
    moving = np.flatnonzero(model.q_indices >= 0)
    x, lower, upper = q[model.q_indices[moving]], model.lower[moving], model.upper[moving]
    room = np.where(np.isfinite(upper - lower), np.maximum(FAR, FAR * (upper - lower)), FAR)
    beyond = np.flatnonzero((x < lower - room) | (x > upper + room))
    if not len(beyond):
        return ""
    every = velocity_names(model)
    names = [every[i] for i in moving[beyond]]
    least, at, most = (values[beyond[0]] for values in (lower, x, upper))
    unit = "m" if model.kind_of(names[0]) == "prismatic" else "rad"
    turned = unit == "rad" and abs(at) > 2.0 * np.pi and least <= np.radians(at) <= most
    degrees = ": are positions in degrees?" if turned else ""
    return (f"joint_states are far beyond the limits of {listed(names)}: {names[0]} is at {at:.4g} {unit}, its limits "
            f"are {least:.4g} and {most:.4g}{degrees}")
