"""Measurements by the sensors of a simulated robot."""

from typing import Any

import numpy as np

from .environment import Environment, Touch
from .sensors.imu import ImuSample
from .sensors.odometry import OdometrySample
from .sensors.sensors import FORCE_TORQUE, IMU, ODOMETRY, JointState, Sensors
from .snapshot import Snapshot


class Measurements:
    """The methods of a Simulation that measure."""

    steps: int
    sensors: Sensors
    environment: Environment | None

    def joint_state(self) -> JointState:
        """Return the state as sensors report it. Noise is that of the step: repeated calls return the same."""
        return self.sensors.joint_state(self.snapshot(), self.steps)

    def imu(self, link: str) -> ImuSample | None:
        """Return the sample that the IMU of a link reports; None when the sample of this step is lost."""
        return None if self.sensors.lost(IMU + link, self.steps) else self.sensors.imu(link, self.snapshot())

    def force_torque(self, joint: str) -> np.ndarray | None:
        """Return the wrench (6,), (torque, force), that the child link of a joint exerts on its parent, in the child's
        frame, as the sensor in the joint reports it; None when the sample of this step is lost."""
        lost = self.sensors.lost(FORCE_TORQUE + joint, self.steps)
        return None if lost else self.sensors.force_torque(joint, self.snapshot())

    def odometry(self) -> OdometrySample | None:
        """Pose and twist of a floating base, as reported; None when the sample of this step is lost."""
        return None if self.sensors.lost(ODOMETRY, self.steps) else self.sensors.odometry(self.snapshot())

    def touches(self) -> list[Touch]:
        """Return the contacts, and their forces, as sensors measure them; none of a robot alone."""
        return [] if self.environment is None else self.snapshot().touches

    def snapshot(self: Any) -> Snapshot:
        """Return the Snapshot that sensors measure now: the state as it was `sensor_delay` ago, at the start if that is
        later."""
        step = max(0, self.steps - self._past.depth)
        if step < self.steps:
            q, qd, acting = self._past.at(step)
        else:
            around = self.environment
            q, qd = (self.q, self.qd) if around is None else around.with_robot(self.q, self.qd)
            acting = self._acting()
        time_ns = self.time_ns + (step - self.steps) * self.settings.dt_ns
        return Snapshot(step, time_ns, q, qd, acting, self._actuators, self.settings)
