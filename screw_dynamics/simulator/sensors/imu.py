"""An inertial measurement unit at the origin of a link's frame, along its axes."""

from typing import NamedTuple

import numpy as np

from ..settings import Settings
from ..snapshot import Snapshot


class ImuSample(NamedTuple):
    """A sample of an IMU. rotation (3, 3): orientation of the link's frame in the root link's.

    angular_velocity (3,), rad/s, and linear_acceleration (3,), m/s^2, are in the link's frame. The latter is the
    specific force, acceleration minus gravity: +9.81 m/s^2 upward at rest, 0 in free fall. The variances are those of
    the noise per axis."""

    rotation: np.ndarray
    angular_velocity: np.ndarray
    linear_acceleration: np.ndarray
    angular_velocity_variance: float
    linear_acceleration_variance: float


class Imu:
    """The IMU of a link, which may be fixed to another link or be the root; `stream` selects its random numbers."""

    def __init__(self, settings: Settings, link: str, stream: int):
        self._link, self._stream = link, (settings.seed, 4, stream)
        self._bias = np.array([settings.gyroscope_bias, settings.accelerometer_bias])
        densities = np.array([settings.gyroscope_noise, settings.accelerometer_noise])
        deviation = densities * np.sqrt(settings.imu_rate)      # of white noise, sampled at that rate
        self._deviation, self._noisy = deviation[:, None], deviation.any()
        self._variance = tuple((deviation**2).tolist())

    def measure(self, snapshot: Snapshot) -> ImuSample:
        """Return the measurement in a snapshot.

        The body-fixed twist is V = (w, v) = J qd, its derivative (w', v') = J qdd + J' qd, and the acceleration of the
        link's origin, resolved in the link's frame, v' + w x v."""
        robot, q, qd, link = snapshot.robot, snapshot.q, snapshot.qd, self._link
        R = robot.forward_kinematics(q, link)[:3, :3]
        J = robot.jacobian(q, link)
        V, Vd = J @ qd, J @ snapshot.qdd + robot.jacobian_derivative(q, qd, link) @ qd
        (wx, wy, wz, vx, vy, vz), measured = V.tolist(), self._bias.copy()
        measured[0] += V[:3]
        measured[1] += Vd[3:] + (wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx) - R.T @ robot.gravity
        if self._noisy:
            rng = np.random.default_rng([*self._stream, snapshot.step])
            measured += self._deviation * rng.standard_normal((2, 3))
        return ImuSample(R, *measured, *self._variance)
