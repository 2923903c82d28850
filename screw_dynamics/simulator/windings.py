"""Current-controlled electric motors of a simulated robot."""
from dataclasses import replace

import numpy as np

from screw_dynamics.model.drive_numbers import undriven
from screw_dynamics.model.drives import motor_coordinates
from screw_dynamics.model.model import Model
from screw_dynamics.robot import Robot


def under_current_control(robot: Robot) -> Robot:
    """Return the robot with current loops on its windings: commands, servos, brakes and faults are motor torques."""
    if not any(drive.winding for drive in robot.model.drives.values()):
        return robot
    links = Robot(undriven(robot.model), robot.gravity, robot.representation, robot.source)
    drives = {joint: drive if drive.winding is None else replace(drive, electric=replace(
        drive.winding, control="current")) for joint, drive in robot.model.drives.items()}
    driven = links.with_drives(drives)
    return driven.with_forces([x for x in robot.forces if set(x.joints).issubset(driven.joint_names)])


class Windings:
    """The windings of current-controlled motors; `names`: the motors' coordinates."""

    def __init__(self, model: Model):
        own = [(name, k, drive.ratio, drive.electric) for joint, drive in model.drives.items()
               if drive.electric is not None and (drive.is_elastic or not drive.coupling)
               for name, k in motor_coordinates(model, joint)]
        self.names = tuple(name for name, *_ in own)
        self._at = np.array([k for _, k, *_ in own], dtype=np.intp)
        self._constant = np.array([it.torque_constant * ratio for *_, ratio, it in own])
        self._resistance = np.array([it.resistance for *_, it in own])

    def state(self, effort: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return currents (m,), A, and voltages, V, under efforts (n,) at velocities (n,): i = torque / k,
        R i + k omega."""
        current = effort[self._at] / self._constant
        return current, self._resistance * current + self._constant * qd[self._at]
