"""The topics of the simulated robot's IMUs and force-torque sensors."""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rclpy.lifecycle import LifecyclePublisher
from sensor_msgs.msg import Imu

from screw_dynamics.simulator.runner import Runner
from screw_dynamics.simulator.sensors.sensors import FORCE_TORQUE, IMU
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation

from ..node import messages
from ..node.managed_node import ManagedNode


class Sensor(NamedTuple):
    """An IMU of a link, or a force-torque sensor in a joint: its location, publisher and message. The message is
    published every `every` steps if `fill(message, simulation, target)` returns True, for a sample."""

    target: str
    publisher: LifecyclePublisher
    every: int
    message: Imu | WrenchStamped
    fill: Callable[[Imu | WrenchStamped, Simulation, str], bool]


def topic(name: str) -> str:
    """Return the topic of a sensor: its name, in which _ replaces the characters that a topic name cannot contain."""
    kind, _, target = name.partition("/")
    token = re.sub(r"[^A-Za-z0-9_]", "_", target)
    return f"{kind}/{'_' if token[:1].isdigit() else ''}{token}"


class SensorOutputs:
    """The publishers of a simulation's sensors: sensor_msgs/Imu on imu/<link>, geometry_msgs/WrenchStamped on
    force_torque/<joint>. Raises ValueError if two sensors have the same topic."""

    def __init__(self, node: ManagedNode, settings: Settings):
        self._sensors: dict[str, Sensor] = {}
        for part, prefix, targets, kind, rate, fill in (
                ("link", IMU, settings.imus, Imu, settings.imu_rate, fill_imu),
                ("joint", FORCE_TORQUE, settings.force_torques, WrenchStamped, settings.force_torque_rate,
                 fill_wrench)):
            for target in filter(None, targets):
                name = topic(prefix + target)
                if name in self._sensors:
                    raise ValueError(f"two sensors, of '{self._sensors[name].target}' and '{target}', would publish on "
                                     f"{name}")
                publisher = node.publisher(f"{prefix}<{part}>", **{part: name.removeprefix(prefix)})
                self._sensors[name] = Sensor(target, publisher, settings.every(rate), kind(), fill)
        self._published: dict[str, int] = {}    # simulated time of the last sample

    def follow(self, runner: Runner, stamp: Callable[[], Time]) -> None:
        """Publish at the steps of a runner with the current stamp."""
        self._simulation, self._stamp = runner.simulation, stamp
        for name, sensor in self._sensors.items():
            runner.watches[partial(self._publish, name)] = sensor.every

    def publish(self, again: bool) -> None:
        """Publish the sensors not yet published for the current state; with `again`, publish all of them."""
        for name in self._sensors:
            if again or self._published.get(name) != self._simulation.time_ns:
                self._publish(name)

    def _publish(self, name: str) -> None:
        sensor, simulation = self._sensors[name], self._simulation
        self._published[name] = simulation.time_ns
        if sensor.fill(sensor.message, simulation, sensor.target):
            sensor.message.header.stamp = self._stamp()
            sensor.publisher.publish(sensor.message)


def fill_imu(message: Imu, simulation: Simulation, link: str) -> bool:
    """Write the sample of a link's IMU into a new or reused message. Return False if the sample is lost.

    The frame is that of the link, the orientation is relative to the root link's frame. Exact quantities have
    covariance 0."""
    sample = simulation.imu(link)
    if sample is None:
        return False
    if message.header.frame_id != link:     # the first time only: covariances take long
        message.header.frame_id = link
        message.angular_velocity_covariance = _covariance(sample.angular_velocity_variance)
        message.linear_acceleration_covariance = _covariance(sample.linear_acceleration_variance)
    message.orientation = messages.quaternion_message(messages.quaternion(sample.rotation))
    message.angular_velocity = messages.vector_message(sample.angular_velocity)
    message.linear_acceleration = messages.vector_message(sample.linear_acceleration)
    return True


def fill_wrench(message: WrenchStamped, simulation: Simulation, joint: str) -> bool:
    """Write the sample of the force-torque sensor in a joint. Return False if the sample is lost. The frame is that of
    the child link."""
    wrench = simulation.force_torque(joint)
    if wrench is None:
        return False
    message.wrench = messages.wrench_message(wrench)
    message.header.frame_id = simulation.sensors.child_link(joint)
    return True


def _covariance(variance: float) -> tuple[float, ...]:
    return tuple(variance if i in (0, 4, 8) else 0.0 for i in range(9))
