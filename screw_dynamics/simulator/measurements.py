"""Measurements by the sensors of a simulated robot."""

from typing import Any

import numpy as np

from .environment import Environment, Touch
from .sensors.imu import ImuSample
from .sensors.odometry import OdometrySample
from .sensors.sensors import FORCE_TORQUE, IMU, ODOMETRY, JointState, Sensors
from .snapshot import Snapshot


class Measurements:
    """The measuring methods of a Simulation."""

    steps: int
    sensors: Sensors
    environment: Environment | None

    def joint_state(self) -> JointState:
        """Return the joint state that sensors report.

        Returns
        -------
        JointState
            Names, positions, velocities and efforts. The noise depends on the step: repeated calls agree.
        """
        return self.sensors.joint_state(self.snapshot(), self.steps)

    def imu(self, link: str) -> ImuSample | None:
        """Return the sample of an IMU.

        Parameters
        ----------
        link : str
            Link of the IMU, of the setting ``imus``.

        Returns
        -------
        ImuSample or None
            Orientation, angular velocity and linear acceleration. None if the sample of this step is lost.
        """
        return None if self.sensors.lost(IMU + link, self.steps) else self.sensors.imu(link, self.snapshot())

    def force_torque(self, joint: str) -> np.ndarray | None:
        """Return the sample of a force-torque sensor.

        Parameters
        ----------
        joint : str
            Joint of the sensor, of the setting ``force_torques``.

        Returns
        -------
        ndarray (6,) or None
            Wrench (torque, force) of the joint's child link on the parent, in the child's frame. None if the sample of
            this step is lost.
        """
        lost = self.sensors.lost(FORCE_TORQUE + joint, self.steps)
        return None if lost else self.sensors.force_torque(joint, self.snapshot())

    def odometry(self) -> OdometrySample | None:
        """Return the reported pose and twist of a floating base.

        Returns
        -------
        OdometrySample or None
            Pose and twist. None if the sample of this step is lost.
        """
        return None if self.sensors.lost(ODOMETRY, self.steps) else self.sensors.odometry(self.snapshot())

    def touches(self) -> list[Touch]:
        """Return the measured contacts with their forces.

        Returns
        -------
        list of Touch
            Contacts; empty for a robot without a scene.
        """
        return [] if self.environment is None else self.snapshot().touches

    def snapshot(self: Any) -> Snapshot:
        """Return the quantities that sensors measure now.

        Returns
        -------
        Snapshot
            State at `sensor_delay` ago, but not before the start, and quantities that follow from it.
        """
        step = max(0, self.steps - self._past.depth)
        if step < self.steps:
            q, qd, acting = self._past.at(step)
        else:
            around = self.environment
            q, qd = (self.q, self.qd) if around is None else around.with_robot(self.q, self.qd)
            acting = self._acting()
        time_ns = self.time_ns + (step - self.steps) * self.settings.dt_ns
        return Snapshot(step, time_ns, q, qd, acting, self._actuators, self.settings)
