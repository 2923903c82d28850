"""dynamics_node: torques of the robot of `robot_description` at its `joint_states`, and services for everything else.

A managed node; `autostart` makes it active by itself. Every message is decoded, checked, answered with one call of the
core for each torque that somebody listens to, and forgotten. Whatever is wrong with it is counted in /diagnostics.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Sequence

import numpy as np
import rclpy
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile, QoSReliabilityPolicy, qos_profile_sensor_data
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from screw_dynamics.robot import Robot
from screw_dynamics.ros.description import RobotDescription
from screw_dynamics.ros.diagnostics import ERROR, OK, WARN, Diagnostics, Report
from screw_dynamics.ros.dynamics_services import DynamicsServices
from screw_dynamics.ros.dynamics_settings import SETTINGS
from screw_dynamics.ros.joint_state import Fault
from screw_dynamics.ros.loaded_robot import LoadedRobot
from screw_dynamics.ros.parameters import Parameters
from screw_dynamics.ros.preparation import prepare
from screw_dynamics.ros.torque_outputs import TERMS
from screw_dynamics.ros.torque_stream import Motion, TorqueStream

RELIABLE = QoSProfile(depth=10, reliability=QoSReliabilityPolicy.RELIABLE)


class DynamicsNode(LifecycleNode):
    """The node `screw_dynamics`. Topics, services and parameters: README.md and config/dynamics.yaml."""

    def __init__(self, **node_options):
        super().__init__("screw_dynamics", **node_options)
        self.settings = Parameters(self, SETTINGS)
        self._state_label = "unconfigured"
        self._loaded = LoadedRobot()
        self._description: RobotDescription | None = None
        self._stream: TorqueStream | None = None
        self._timer = None
        self._endpoints = contextlib.ExitStack()   # undoes what on_configure did
        self._diagnostics = Diagnostics(self, self._health)

    def start(self) -> None:
        """Configure and activate, if the parameter autostart says so."""
        if self.settings.autostart and self.trigger_configure() == TransitionCallbackReturn.SUCCESS:
            self.trigger_activate()

    # What the services work on

    @property
    def robot(self) -> Robot | None:
        """The robot in use, payloads and gravity included."""
        return self._loaded.robot

    @property
    def root_frame(self) -> str:
        """The name that headers give to the root link's frame."""
        return self.settings.frame_id or self.robot.model.root

    def fresh_state(self) -> Motion:
        """The latest state; ValueError when there is none, or a stale one."""
        if self._state_label != "active":
            raise ValueError(f"no fresh joint_states: the node is {self._state_label}")
        return self._stream.fresh_state()

    def set_payload(self, link: str, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
        """Have a link carry this, in place of what it carried before, in everything; ValueError when not physical."""
        self._loaded.set_payload(link, mass, com, inertia)
        self._stream.use(self.robot)

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Gravity in the root frame, for everything: sets the parameter. ValueError when it is refused."""
        self.settings.assign("gravity", tuple(float(x) for x in gravity))

    # Lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Create topics and services, and wait for a robot from now on."""
        try:
            self._create_endpoints()
        except Exception as error:   # rclpy would swallow it
            self.get_logger().error(f"cannot be configured: {error}")
            self._destroy_endpoints()
            return TransitionCallbackReturn.FAILURE
        self._state_label = "inactive"
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Listen to joint_states and publish."""
        self._state_label = "active"
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ignore joint_states; services go on answering requests that bring their own state."""
        self._state_label = "inactive"
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Only parameters and diagnostics are left: robot and payloads are forgotten."""
        return self._stop("unconfigured")

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop for good."""
        return self._stop("finalized")

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start anew after a transition that failed."""
        return self._stop("unconfigured")

    def _stop(self, label: str) -> TransitionCallbackReturn:
        self._destroy_endpoints()
        self._state_label = label
        return TransitionCallbackReturn.SUCCESS

    # Endpoints

    def _create_endpoints(self) -> None:
        outgoing = {term: self._publisher(JointState, f"~/{term}") for term in TERMS}
        with_commands = self.settings.effort_commands != "none"
        commands = self._publisher(Float64MultiArray, "~/effort_commands") if with_commands else None
        self._stream = TorqueStream(self.settings, self._diagnostics, self._now, outgoing, commands)
        self._subscribe(JointState, "joint_states", self._on_joint_states)
        self._subscribe(JointTrajectory, "~/desired", self._on_desired)
        jumps = self.get_clock().create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1), on_clock_change=True),
            post_callback=lambda jump: self._stream.clear(),
        )
        self._endpoints.callback(jumps.unregister)
        services = DynamicsServices(self)
        self._endpoints.callback(services.destroy)
        self.settings.listen(self._on_parameters)
        self._endpoints.callback(self.settings.forget)
        self._description = RobotDescription(self, self.settings, self._on_robot, prepare)
        self._endpoints.callback(self._description.destroy)
        self._pace()

    def _destroy_endpoints(self) -> None:
        self._endpoints.close()
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None
        self._description = self._stream = None
        self._loaded = LoadedRobot()

    def _publisher(self, kind, topic: str):
        options = QoSOverridingOptions.with_default_policies()
        publisher = self.create_lifecycle_publisher(kind, topic, RELIABLE, qos_overriding_options=options)
        self._endpoints.callback(self.destroy_lifecycle_publisher, publisher)
        return publisher

    def _subscribe(self, kind, topic: str, callback: Callable) -> None:
        options = QoSOverridingOptions.with_default_policies()
        subscription = self.create_subscription(
            kind, topic, self._surviving(topic, callback), qos_profile_sensor_data, qos_overriding_options=options
        )
        self._endpoints.callback(self.destroy_subscription, subscription)

    def _surviving(self, source: str, callback: Callable) -> Callable:
        """The callback, with faults counted and logged: no message stops the node."""

        def survive(*arguments) -> None:
            try:
                callback(*arguments)
            except Fault as fault:
                self._diagnostics.drop(source, fault)
            except Exception:
                if self.context.ok():   # else it is the shutdown that pulls the ground away
                    self._diagnostics.drop(source, Fault("internal error", traceback.format_exc(), "error"))

        return survive

    def _pace(self) -> None:
        """Publish at publish_rate, or with every message when it is 0."""
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None
        if self.settings.publish_rate > 0.0:
            self._timer = self.create_timer(1.0 / self.settings.publish_rate, self._surviving("timer", self._on_timer))

    # Callbacks

    def _now(self) -> int:
        return self.get_clock().now().nanoseconds

    def _on_joint_states(self, msg: JointState) -> None:
        if self._state_label == "active" and self._stream.take_state(msg) and self._timer is None:
            self._stream.publish()

    def _on_desired(self, msg: JointTrajectory) -> None:
        if self._state_label == "active":
            self._stream.take_desired(msg)

    def _on_timer(self) -> None:
        if self._state_label == "active":
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

    def _health(self) -> Report:
        values: dict[str, object] = {"lifecycle state": self._state_label}
        if self._description is None:
            return OK, self._state_label, values
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
        if self._state_label != "active":
            return OK, self._state_label, values
        level, message, more = self._stream.health()
        if level == OK and description.error:
            level, message = WARN, description.state
        return level, message, values | more


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; 0 then, 1 when a parameter is wrong from the start."""
    rclpy.init(args=args)
    try:
        executor = SingleThreadedExecutor()
        node = DynamicsNode()
        executor.add_node(node)
        node.start()
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except ValueError as error:
        print(f"dynamics_node: {error}", file=sys.stderr)
        return 1
    finally:
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
