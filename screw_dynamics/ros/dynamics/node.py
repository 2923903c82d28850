"""dynamics_node: torques of the robot of `robot_description` at its `joint_states`, and services for everything else.

Every message is decoded, checked, answered with one call of the core for each torque that somebody listens to, and
forgotten. Whatever is wrong with it is counted in /diagnostics.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.qos import QoSProfile, QoSReliabilityPolicy, qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from screw_dynamics.robot import Robot

from ..node.description import RobotDescription
from ..node.diagnostics import ERROR, OK, WARN, Report
from ..node.managed_node import ManagedNode, run
from ..node.preparation import prepare
from .loaded_robot import LoadedRobot
from .services import DynamicsServices
from .settings import SETTINGS
from .torque_outputs import TERMS
from .torque_stream import Motion, TorqueStream

RELIABLE = QoSProfile(depth=10, reliability=QoSReliabilityPolicy.RELIABLE)


class DynamicsNode(ManagedNode):
    """The node `screw_dynamics`. Topics, services and parameters: README.md and config/dynamics.yaml."""

    def __init__(self, **node_options):
        self.forget()
        super().__init__("screw_dynamics", SETTINGS, "model and state", **node_options)

    def forget(self) -> None:
        """Forget the robot, what it carries, and the state of its joints."""
        self._loaded = LoadedRobot()
        self._description: RobotDescription | None = None
        self._stream: TorqueStream | None = None
        self._timer = None

    # What the services work on

    @property
    def robot(self) -> Robot | None:
        """The robot in use, payloads and gravity included."""
        return self._loaded.robot

    def loaded_robot(self) -> Robot:
        """The robot in use; ValueError when there is none."""
        if self.robot is None:
            raise ValueError(f"no robot yet: {self._description.state}")
        return self.robot

    @property
    def root_frame(self) -> str:
        """The name that headers give to the root link's frame."""
        return self.settings.frame_id or self.robot.model.root

    def fresh_state(self) -> Motion:
        """The latest state; ValueError when there is none, or a stale one."""
        if self.state_label != "active":
            raise ValueError(f"no fresh joint_states: the node is {self.state_label}")
        return self._stream.fresh_state()

    def set_payload(self, link: str, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
        """Have a link carry this, in place of what it carried before, in everything; ValueError when not physical."""
        self._loaded.set_payload(link, mass, com, inertia)
        self._stream.use(self.robot)

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Gravity in the root frame, for everything: sets the parameter. ValueError when it is refused."""
        self.settings.assign("gravity", tuple(float(x) for x in gravity))

    # Endpoints

    def create_endpoints(self) -> None:
        """Topics and services; from now on the description is awaited."""
        outgoing = {term: self.publisher(JointState, f"~/{term}", RELIABLE) for term in TERMS}
        with_commands = self.settings.effort_commands != "none"
        commands = self.publisher(Float64MultiArray, "~/effort_commands", RELIABLE) if with_commands else None
        self._stream = TorqueStream(self.settings, self.diagnostics, self._now, outgoing, commands)
        self.subscribe(JointState, "joint_states", self._on_joint_states, qos_profile_sensor_data)
        self.subscribe(JointTrajectory, "~/desired", self._on_desired, qos_profile_sensor_data)
        jumps = self.get_clock().create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True),
            post_callback=lambda jump: self._stream.clear(),
        )
        self.endpoints.callback(jumps.unregister)
        DynamicsServices(self)
        self._description = RobotDescription(self, self.settings, self._on_robot, prepare)
        self.endpoints.callback(self._description.destroy)
        self.settings.listen(self._on_parameters)
        self.endpoints.callback(self.settings.forget)
        self._pace()
        self.endpoints.callback(self._unpace)

    def _pace(self) -> None:
        """Publish at publish_rate, or with every message when it is 0."""
        self._unpace()
        if self.settings.publish_rate > 0.0:
            self._timer = self.create_timer(1.0 / self.settings.publish_rate, self.surviving("timer", self._on_timer))

    def _unpace(self) -> None:
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None

    # Callbacks

    def _now(self) -> int:
        return self.get_clock().now().nanoseconds

    def _on_joint_states(self, msg: JointState) -> None:
        if self.state_label == "active" and self._stream.take_state(msg) and self._timer is None:
            self._stream.publish()

    def _on_desired(self, msg: JointTrajectory) -> None:
        if self.state_label == "active":
            self._stream.take_desired(msg)

    def _on_timer(self) -> None:
        if self.state_label == "active":
            self._stream.publish()

    def _on_robot(self, robot: Robot) -> None:
        for link in self._loaded.describe(robot):
            self.get_logger().warning(f"the payload of link '{link}' is gone: the new robot has no such link")
        self._stream.use(self.robot)

    def _on_parameters(self, changed: set[str]) -> None:
        if "publish_rate" in changed:
            self._pace()
        if changed & {"velocity_fallback", "acceleration_source", "desired_timeout", "state_timeout"}:
            self._stream.follow_parameters()

    def health(self) -> Report:
        """Level, message and values for the diagnostics."""
        values: dict[str, object] = {"lifecycle state": self.state_label}
        if self._description is None:
            return OK, self.state_label, values
        description, robot = self._description, self.robot
        values["robot_description"] = description.state
        if robot is None:
            return ERROR if description.error else WARN, description.state, values
        values |= {
            "root link": robot.model.root,
            "joints": robot.n,
            "gravity [m/s^2]": ", ".join(f"{x:g}" for x in robot.gravity),
            "payloads [kg]": ", ".join(f"{link}: {mass:g}" for link, mass in self._loaded.payloads.items()) or "none",
            "model warnings": "; ".join(robot.warnings) or "none",
        }
        if self.state_label != "active":
            return OK, self.state_label, values
        level, message, more = self._stream.health()
        if level == OK and description.error:
            level, message = WARN, description.state
        return level, message, values | more


def main(args: Sequence[str] | None = None) -> int:
    """Run dynamics_node; the exit code."""
    return run(DynamicsNode, args)


if __name__ == "__main__":
    sys.exit(main())
