"""dynamics_node: torques of the robot of `robot_description` at its `joint_states`, and services for all other
quantities.

Every message is decoded, checked, and answered with one call of the core for each torque with a subscriber. Faults are
counted in /diagnostics."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from rclpy.clock import ClockChange, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.lifecycle import LifecyclePublisher
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import MultiDOFJointState
from trajectory_msgs.msg import JointTrajectory

from screw_dynamics.model.floating_base import coordinate_joints, floating_base
from screw_dynamics.robot import Robot

from ..endpoints import STATES, STEADY
from ..node.base_state import BASE_SOURCES
from ..node.cdr import ReceivedJointState
from ..node.diagnostics import ERROR, OK, STALE, WARN, Report
from ..node.drives import GivenDrives
from ..node.joint_state import Fault, listed
from ..node.loaded_robot import LoadedRobot, payload_of
from ..node.managed_node import ManagedNode, run
from ..node.multi_dof_state import TOPIC
from ..node.preparation import BATCH_STEPS, BATCHES_OF_SPRINGS, SPRING_STEPS, STEPS, Step
from ..node.process import arguments
from ..node.watches import publishers
from ..signals import end
from ..timing import SECOND
from .external_torque import ExternalTorque, validate
from .interface import INTERFACE
from .matrix_outputs import MatrixOutputs
from .motor_feed_forward import MotorFeedForward
from .output_joints import follows_states
from .payload_recording import PayloadRecording
from .retiming import Retiming
from .services import DynamicsServices
from .settings import SETTINGS
from .state_output import StateOutput
from .torque_outputs import TERMS
from .torque_stream import StampedState, TorqueStream
from .trajectory_efforts import TrajectoryEfforts

LOOK = 0.25                     # s between two checks of the age of states
LEAP = Duration(seconds=1)      # a larger step of simulated time counts as a jump


class DynamicsNode(ManagedNode):
    """The node `screw_dynamics`. Topics and services: `interface`; parameters: `settings`."""

    interface, multi_dof = INTERFACE, True

    def __init__(self, **node_options):
        super().__init__("screw_dynamics", SETTINGS, "model and state", **node_options)
        follows_states(self.settings)       # raises an error for contradictory parameters at the start
        self.drives = GivenDrives(self.settings.drives)
        self.steps, self.rare_steps = (
            {**{name: self._of(GivenDrives.without_springs, step) for name, step in steps.items()},
             **{name: self._of(GivenDrives.before_springs, step, True) for name, step in of_springs.items()}}
            for steps, of_springs in ((STEPS, SPRING_STEPS), (BATCH_STEPS, BATCHES_OF_SPRINGS)))
        self.diagnostics.watches.append(self._several_publishers)

    def _of(self, robot_of: Callable[[GivenDrives, Robot], Robot], step: Step, elastic: bool = False) -> Step:
        """Return the preparation step for a robot with its drives. elastic: run it only if a drive has a spring."""
        def prepared(robot, q, v, link):
            if not elastic or self.drives.elastic(robot):
                own = robot_of(self.drives, robot)      # may have other coordinates
                step(own, own.neutral(), np.zeros(own.n), own.link_names[-1])
        return prepared

    def forget(self) -> None:
        """Discard the robot, its payloads except that of the parameters, and the state of its joints."""
        self._loaded = LoadedRobot(payload_of(self.settings))       # the robot of the links
        self._robot: Robot | None = None            # the same robot with its motors
        self._stream: TorqueStream | None = None
        self._outputs: list[StateOutput] = []
        self._timer, self._stale = None, False
        self._base_publishers: dict[str, LifecyclePublisher] = {}
        self._other_publishers: dict[str, LifecyclePublisher] = {}

    # --------------------------------------------------------------------------------------------- for the services
    def robot(self) -> Robot:
        """Return the robot in use, including payloads, gravity and motors. Raises ValueError while there is none."""
        if self._robot is None:
            raise ValueError(f"no robot yet: {self.description.state}")
        return self._robot

    def robot_for_batches(self) -> Robot:
        """Return `robot()` if the kernels for batches are ready. Raises ValueError before that, because compiling would
        delay the torques."""
        robot = self.robot()
        if not self.description.finished:
            raise ValueError("not ready yet: kernels for batches of states are being loaded or compiled")
        return robot

    @property
    def root_frame(self) -> str:
        """The name of the root link's frame in headers."""
        return self.settings.frame_id or self.robot().model.root

    def fresh_state(self, joints: bool = True, base: bool = True) -> StampedState:
        """Return the latest state. joints, base: True if their state is required. Raises ValueError if there is no
        state, or it is stale."""
        if self.state_label != "active":
            raise ValueError(f"no fresh joint_states: the node is {self.state_label}")
        return self._stream.fresh_state(joints, base)

    def set_payload(self, link: str, mass: float, com: np.ndarray, inertia: np.ndarray) -> None:
        """Set the payload of a link for all results from now on. Raises ValueError if it is not physical."""
        self._loaded.set_payload(link, mass, com, inertia)
        self._compute_with(self._loaded.robot)

    def without_payload(self, link: str) -> Robot:
        """Return the robot for measured efforts, without the payload of a link."""
        return self.drives.before_springs(self._loaded.without(link))

    def set_gravity(self, gravity: Sequence[float]) -> None:
        """Set the gravity vector (3,) in the root frame through the parameter. Raises ValueError if it is refused."""
        self.settings.assign("gravity", tuple(float(x) for x in gravity))

    # --------------------------------------------------------------------------------------------- endpoints
    def create_endpoints(self) -> None:
        """Create topics and services."""
        outgoing = {term: self.publisher(f"~/{term}") for term in TERMS}
        with_commands = self.settings.effort_commands != "none"
        commands = self.publisher("~/effort_commands") if with_commands else None
        base_topics = [self.resolve_topic_name(topic) for topic in BASE_SOURCES[self.settings.base_state_source]]
        self._stream = TorqueStream(
            self.settings, self.diagnostics, self._now, self.resolve_topic_name("joint_states"), outgoing, commands,
            base_topics, self._base_endpoints, self._other_endpoints)
        kinds = [MatrixOutputs, PayloadRecording] + [ExternalTorque] * self.settings.external_torque
        if not self.settings.external_torque:
            validate(self.settings, lambda: self._robot)        # else ExternalTorque does
        motors = MotorFeedForward(self)
        self._outputs = [*(kind(self) for kind in kinds), TrajectoryEfforts(self, motors), motors]
        self._stream.observers += [self.guarded("joint_states", output.observe) for output in self._outputs]
        self._states = self.subscribe_hot("joint_states", self._on_joint_states, STATES)
        self.subscribe("~/desired", self._on_desired, qos_profile_sensor_data)
        jumps = self.get_clock().create_jump_callback(
            JumpThreshold(min_forward=LEAP, min_backward=Duration(nanoseconds=-1), on_clock_change=True),
            post_callback=self._on_jump,
        )
        self.endpoints.callback(jumps.unregister)
        watch = self.create_timer(LOOK, self.guarded("timer", self._report_stale), clock=STEADY)
        self.endpoints.callback(self.destroy_timer, watch)
        DynamicsServices(self)
        Retiming(self)
        self._pace()
        self.endpoints.callback(self._unpace)

    def _base_endpoints(self) -> Mapping[str, LifecyclePublisher]:
        """Return the publishers of wrenches on a floating base, by term. They and the subscriptions to its state are
        created with the first robot that has a floating base."""
        if not self._base_publishers:
            self._base_publishers = {term: self.publisher("~/<term>/base_wrench", term=term) for term in TERMS}
            for topic, take in BASE_SOURCES[self.settings.base_state_source].items():
                callback = partial(self._on_base, self.resolve_topic_name(topic), take)
                self.subscribe_received(topic, callback, STATES)
        return self._base_publishers

    def _other_endpoints(self) -> Mapping[str, LifecyclePublisher]:
        """Return the publishers of wrenches of joints of several degrees of freedom, by term. They and the subscription
        to their state are created with the first robot that has such joints."""
        if not self._other_publishers:
            self._other_publishers = {term: self.publisher("~/<term>/multi_dof_joints", term=term) for term in TERMS}
            self.subscribe(TOPIC, self._on_others, STATES)
        return self._other_publishers

    def _on_jump(self, jump: TimeJump) -> None:
        """Count a jump on /clock, and discard past states unless the jump was forward."""
        now, delta = self._now(), jump.delta.nanoseconds
        same_clock = jump.clock_change == ClockChange.ROS_TIME_NO_CHANGE
        if same_clock and now > delta:      # else it is the first received time
            reason = "clock went ahead" if delta > 0 else "clock went back"
            self.diagnostics.notice("/clock", Fault(
                reason, f"time jumped by {delta / SECOND:+.3f} s, to {now / SECOND:.3f} s"))
        if not (same_clock and delta > 0):
            self._clear()

    def _report_stale(self) -> None:
        """Report stale states at once, so that the log has them in time."""
        stale = self.state_label == "active" and self._robot is not None and self._stream.health()[0] == STALE
        if stale and not self._stale:
            self.diagnostics.publish()
        self._stale = stale

    def _several_publishers(self) -> str:
        """Return a warning if several publishers send states of the same joints; else ""."""
        joints, gids = self._stream.shared_joints() if self._stream is not None else ((), ())
        if not joints:
            return ""
        nodes = ", ".join(publishers(self, "joint_states", gids)) or "nodes that are gone"
        return f"{len(gids)} publishers send joint_states of {listed(joints)}: {nodes}"

    def _clear(self) -> None:
        """Discard past states after a jump of time."""
        for part in (self._stream, *self._outputs):
            part.clear()

    def _pace(self) -> None:
        """Publish at publish_rate, or with every message if it is 0."""
        self._unpace()
        if self.settings.publish_rate > 0.0:
            self._timer = self.create_timer(1.0 / self.settings.publish_rate, self.guarded("timer", self._on_timer))

    def _unpace(self) -> None:
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None

    # --------------------------------------------------------------------------------------------- callbacks
    def _now(self) -> int:
        clock = self.get_clock()
        # The same time, at a fraction of the cost of rclpy's objects.
        return clock.now().nanoseconds if clock.ros_time_is_active else time.time_ns()

    def _on_joint_states(self, msg: ReceivedJointState) -> None:
        if self.state_label == "active":
            self._stream.take_state(msg, publish=self._timer is None, publisher=self._states.publisher)

    def _on_base(self, topic: str, take: Callable[[Any, str, Any, int], None], msg: Any) -> None:
        if self.state_label == "active":
            self._stream.take_base(topic, take, msg, publish=self._timer is None)

    def _on_others(self, msg: MultiDOFJointState) -> None:
        if self.state_label == "active":
            self._stream.take_others(msg, publish=self._timer is None)

    def _on_desired(self, msg: JointTrajectory) -> None:
        if self.state_label == "active":
            self._stream.take_desired(msg)

    def _on_timer(self) -> None:
        if self.state_label == "active":
            self._stream.publish()

    def complete(self, robot: Robot) -> Robot:
        """Return the robot of a description, with its drives."""
        return robot

    def use(self, robot: Robot) -> None:
        """Use another robot; payloads stay on links that it also has. Raises ValueError that names a drive that does
        not fit it, or the link of the first payload if the first robot has no such link."""
        self.drives.on(robot)
        if self._robot is None and (link := self.settings.payload_link) not in ("", *robot.link_names):
            raise ValueError(f"parameter payload_link: '{link}' is not a link of the robot")
        for link in self._loaded.describe(robot):
            self.log.warning(f"payload of link '{link}' removed: the new robot has no such link")
        self._compute_with(self._loaded.robot)

    def _compute_with(self, links: Robot) -> None:
        self._robot = self.drives.without_springs(links)
        self._stream.use(self._robot)
        for output in self._outputs:
            output.use(type(output).robot_of(self.drives, links))

    def parameters_changed(self, names: set[str]) -> None:
        """Apply parameters that changed while configured."""
        if "publish_rate" in names:
            self._pace()
        if names & {"velocity_fallback", "acceleration_source", "desired_timeout", "state_timeout"}:
            self._stream.follow_parameters()
        for output in self._outputs:
            output.follow(names)

    def robot_health(self) -> Report:
        """Return level, message and values for the diagnostics while configured."""
        description, robot = self.description, self._robot
        if robot is None:
            return ERROR if description.error else WARN, description.state, {}
        values = {
            "root link": robot.model.root,
            "joints": len(coordinate_joints(robot.model)),
            "gravity [m/s^2]": ", ".join(f"{x:g}" for x in robot.gravity),
            "payloads [kg]": ", ".join(f"{link}: {mass:g}" for link, mass in self._loaded.payloads.items()) or "none",
            "model warnings": "; ".join(robot.warnings) or "none",
        }
        if (base := floating_base(robot.model, others=True)) is not None:
            values["floating base"] = base.link
        if self.state_label != "active":
            return WARN, self.state_label, values
        level, message, more = self._stream.health()
        if level == OK and (text := (
                self._stream.beyond_limits() or self._stream.withheld or description.error and description.state
                or self._stream.repeating())):
            level, message = WARN, text
        values |= more | self._stream.latencies()
        for output in self._outputs:
            output_level, output_message, more = output.health()
            values |= more
            if level == OK:
                level, message = output_level, output_message or message
        return level, message, values


def main(args: Sequence[str] | None = None) -> int:
    """Run dynamics_node and return the exit code."""
    arguments("dynamics_node", "Torques of a robot at its joint_states, and services.", args)
    return run(DynamicsNode, args=args)


if __name__ == "__main__":
    end(main())
