"""ros2_control as a simulator hears it: JointStateTopicSystem's read() and write(), and controllers between the two.

Written from the sources of joint_state_topic_hardware_interface 1.1; nothing of it can be installed here."""
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

FIELDS = "position", "velocity", "effort"


class Joint(NamedTuple):
    """A joint of the <ros2_control> tag: its command interfaces, and the joint that it mimics with which multiplier."""

    commands: tuple[str, ...] = ()
    mimics: tuple[str, float] | None = None


class TopicSystem:
    """The hardware: values of its state and command interfaces, NaN until there are some.

    threshold: trigger_joint_command_threshold."""

    def __init__(self, joints: dict[str, Joint], threshold: float = 1e-5):
        self.joints, self.threshold = joints, threshold
        self.state = {(joint, field): math.nan for joint in joints for field in FIELDS}
        self.command = {(name, field): math.nan for name, joint in joints.items() for field in joint.commands}

    def read(self, msg: JointState) -> None:
        """Take a state by name, field by field, but what is not finite; mimic joints are computed."""
        for i, name in enumerate(msg.name):
            if name in self.joints and self.joints[name].mimics is None:
                for field in FIELDS:
                    values = getattr(msg, field)
                    if len(values) and math.isfinite(values[i]):
                        self.state[name, field] = values[i]
        for name, joint in self.joints.items():
            if joint.mimics:
                leader, multiplier = joint.mimics
                for field in ("position", "velocity"):
                    self.state[name, field] = multiplier * self.state[leader, field]

    def write(self) -> JointState | None:
        """The command to publish; None while the state is as near to it as the threshold."""
        if sum(abs(self.state[key] - value) for key, value in self.command.items()) <= self.threshold:
            return None                                     # not so with a NaN in the sum
        values = {field: [self.command[name, field] for name, joint in self.joints.items() if field in joint.commands]
                  for field in FIELDS}
        return JointState(name=list(self.joints), **values)


class ControllerManager:
    """Reads, updates controllers and writes, at each state that comes."""

    def __init__(self, driver, hardware: TopicSystem):
        self.hardware, self.sent, self.cycles, self.controllers = hardware, [], 0, []
        self._driver, self._latest = driver, None
        namespace = driver.node.get_namespace()
        driver.node.create_subscription(JointState, f"{namespace}/joint_states", self._take, qos_profile_sensor_data)
        self._publisher = driver.publisher(JointState, f"{namespace}/joint_commands", 1)

    def _take(self, msg):
        self._latest = msg

    def update(self) -> None:
        """A cycle, if there is a new state; before the first one too, as a manager that starts early makes."""
        if self._latest is None and self.cycles:
            return
        if self._latest is not None:
            self.hardware.read(self._latest)
            self._latest = None
        for controller in self.controllers:
            controller(self.hardware)
        self.cycles += 1
        command = self.hardware.write()
        if command is not None:
            self.sent.append(command)
            self._publisher.publish(command)

    def run(self, condition: Callable, what: str):
        """Run until a condition holds; its value."""
        return self._driver.wait(condition, what, self.update)


class EffortTrajectory:
    """As JointTrajectoryController with an effort interface: feedback along a cubic to a goal, and the effort of the
    model as feed-forward. A cycle takes `period` of the trajectory's time, however long it takes on a busy machine."""

    def __init__(self, robot, goal: dict[str, float], duration: float, period: float, bandwidth: float = 6.0):
        self._robot, self._goal, self._period, self._w = robot, goal, period, bandwidth
        self._duration, self._time, self._start = duration, 0.0, None
        self._moved = np.array([name in goal for name in robot.joint_names])

    def __call__(self, hardware: TopicSystem) -> None:
        """Set the efforts."""
        q, qd = (np.array([hardware.state[name, field] for name in self._robot.joint_names]) for field in FIELDS[:2])
        if np.isnan(q).any():
            return
        self._start = q if self._start is None else self._start
        end = np.array([self._goal.get(name, x) for name, x in zip(self._robot.joint_names, q, strict=True)])
        s = min(1.0, self._time / self._duration)
        self._time += self._period
        wanted = self._start + (3 * s**2 - 2 * s**3) * (end - self._start)
        rate = 6 * s * (1 - s) / self._duration * (end - self._start)
        qdd = np.where(self._moved, self._w**2 * (wanted - q) + 2 * self._w * (rate - qd), 0.0)
        effort = self._robot.inverse_dynamics(q, qd, qdd)
        for name, moved, value in zip(self._robot.joint_names, self._moved, effort, strict=True):
            if moved:
                hardware.command[name, "effort"] = value


class Forward:
    """As ForwardCommandController: constant values on one interface."""

    def __init__(self, field: str, values: dict[str, float]):
        self._field, self._values = field, values

    def __call__(self, hardware: TopicSystem) -> None:
        """Set the commands."""
        for name, value in self._values.items():
            hardware.command[name, self._field] = value
