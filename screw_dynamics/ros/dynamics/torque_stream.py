"""From joint_states to torque topics: the hot path of dynamics_node."""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.lifecycle import LifecyclePublisher
from trajectory_msgs.msg import JointTrajectory

from screw_dynamics.robot import Robot

from ..node.cdr import ReceivedJointState
from ..node.description import output_order
from ..node.diagnostics import OK, STALE, WARN, Diagnostics
from ..node.joint_state import Fault, JointStateCache, all_finite, listed
from ..node.latency import Latency
from ..node.parameters import Parameters
from ..node.timing import SECOND, timeout
from .acceleration import DesiredAcceleration, FiniteDifference, ZeroAcceleration
from .torque_outputs import TERMS, Output, command_output, joint_state_output

CLOCKS_AGREE = 10 * SECOND   # a stamp older than that, or in the future, is of another clock


class Motion(NamedTuple):
    """Position and velocity (n,) in model order; the stamp of the joint_states they come from, else zero."""

    position: np.ndarray
    velocity: np.ndarray
    stamp: Time


class TorqueStream:
    """Keeps the state of the robot's joints, and publishes the torques that have subscribers.

    `publishers` has the publisher of each of TERMS, `command_publisher` is None without effort commands, `now()` is the
    node's time in nanoseconds. Nothing is published before a robot is in use (`use`).

    observers: called with the state after each message that changed it, once the torques are out. latency: from a
    message's arrival to its torques; stamp_age: the stamp's age then, by the node's clock, where clocks agree."""

    def __init__(
        self, parameters: Parameters, diagnostics: Diagnostics, now: Callable[[], int],
        publishers: Mapping[str, LifecyclePublisher], command_publisher: LifecyclePublisher | None,
    ):
        self._parameters, self._diagnostics, self._now = parameters, diagnostics, now
        self._publishers, self._command_publisher = publishers, command_publisher
        self._robot: Robot | None = None
        self._state = JointStateCache(())
        self._acceleration = ZeroAcceleration(0)
        self._outputs: dict[str, list[Output]] = {}
        self._withheld: dict[str, str] = {}   # by term, why its subscribers got nothing for the latest state
        self._stamp: Time | ReceivedJointState = Time()   # its sec and nanosec count
        self._received = False
        self.observers: list[Callable[[JointStateCache], None]] = []
        self.latency, self.stamp_age = Latency(), Latency()

    def use(self, robot: Robot) -> None:
        """Compute with another robot. The state is kept if the joints are the same."""
        same_joints = self._robot is not None and robot.joint_names == self._robot.joint_names
        self._robot = robot
        self._withheld.clear()
        if not same_joints:
            self._state = JointStateCache(robot.joint_names, self._parameters.velocity_fallback, self._notice)
            self._received = False
            self._make_outputs()
            self._make_acceleration()

    def follow_parameters(self) -> None:
        """Follow parameters that changed."""
        self._state.velocity_fallback = self._parameters.velocity_fallback
        self._make_acceleration()

    def clear(self) -> None:
        """Forget every joint, as when time jumps."""
        self._state.clear()
        self._acceleration.clear()

    def take_state(self, msg: ReceivedJointState, publish: bool) -> None:
        """Take a message, and publish the torques at the state that it completes; raises `Fault` when it is dropped."""
        arrived, now = time.monotonic_ns(), self._now()
        self._diagnostics.tick("joint_states")
        if not self._state.update(msg, msg.stamp, now):
            return
        self._received = True
        self._stamp = msg
        self._acceleration.observe(self._state)
        if publish:
            self._publish(now)
        self._published(now, time.monotonic_ns() - arrived)

    def take_desired(self, msg: JointTrajectory) -> None:
        """Take the desired acceleration, where the parameter acceleration_source is "topic"; raises `Fault`."""
        if isinstance(self._acceleration, DesiredAcceleration):
            self._diagnostics.tick("desired")
            self._acceleration.take(msg, self._now())

    def publish(self) -> None:
        """Publish the torques at the state unless it is incomplete or stale; `Fault` when some are not finite."""
        self._publish(self._now())

    def _publish(self, now: int) -> None:
        if self._robot is None or not self._state.complete:
            return
        if self._state.age(now) > timeout(self._parameters.state_timeout):
            return
        self._withheld.clear()
        faults = []
        for term, outputs in self._outputs.items():
            subscribed = [output for output in outputs if output.subscribed]
            if subscribed:
                try:
                    self._publish_term(term, subscribed, now)
                except Fault as fault:   # of this term: the others may do
                    self._withheld[term] = str(fault)
                    faults.append(fault)
        if faults:
            raise faults[0]

    def _publish_term(self, term: str, outputs: list[Output], now: int) -> None:
        acceleration = self._acceleration.value(now) if term == "inverse_dynamics" else None
        if term == "inverse_dynamics" and acceleration is None:
            fault = Fault("no acceleration", f"inverse_dynamics waits for {self._acceleration.waiting}")
            self._withheld[term] = str(fault)
            self._diagnostics.notice(term, fault)
            return
        torque = TERMS[term](self._robot, self._state.position, self._state.velocity, acceleration)
        if not all_finite(torque):
            name = self._robot.joint_names[np.flatnonzero(~np.isfinite(torque))[0]]
            raise Fault("non-finite torque", f"{term} of joint '{name}' is not finite at this state", "error")
        self._diagnostics.tick(term)
        for output in outputs:
            output.publish(torque, self._stamp)

    def _published(self, arrived: int, latency: int) -> None:
        """Take note that the torques at the state are out, `latency` after it arrived, and tell observers."""
        self.latency.add(latency)
        age = arrived + latency - self._state.stamp
        if 0 <= age <= CLOCKS_AGREE:
            self.stamp_age.add(age)
        for observe in self.observers:
            observe(self._state)

    def latencies(self) -> dict[str, str]:
        """Percentiles for the diagnostics, of what came since the call before."""
        return self.latency.report("latency") | self.stamp_age.report("stamp age")

    @property
    def withheld(self) -> str:
        """Why subscribers of some torque got none for the latest state, or ""."""
        return "; ".join(self._withheld.values())

    def fresh_state(self) -> Motion:
        """The state, when it is complete and fresh; else ValueError saying why not."""
        level, message, _ = self.health()
        if level != OK:
            raise ValueError(f"no fresh joint_states: {message}")
        stamp = Time(sec=self._stamp.sec, nanosec=self._stamp.nanosec)
        return Motion(self._state.position.copy(), self._state.velocity.copy(), stamp)

    def health(self) -> tuple[bytes, str, dict[str, object]]:
        """Level, message and values for the diagnostics."""
        state = self._state
        if self._robot is not None and self._robot.n == 0:
            return OK, "the robot has no joints", {}
        if self._robot is None or not self._received and len(state.missing) == self._robot.n:
            if state.strangers:
                return WARN, (f"joint_states have no joint of the robot: {listed(state.strangers)} arrive, "
                              f"{listed(state.joint_names)} are expected"), {}
            return WARN, "no joint_states yet", {}
        if not state.complete:
            return WARN, f"joint_states lack {listed(state.missing)}", {"missing joints": listed(state.missing)}
        age = state.age(self._now())
        values = {"state age [s]": f"{age / SECOND:.3f}"}
        limit = self._parameters.state_timeout
        if age > timeout(limit):
            return STALE, f"joint_states are stale: {age / SECOND:.3f} s old, state_timeout is {limit} s", values
        return OK, "publishing", values

    def _notice(self, fault: Fault) -> None:
        self._diagnostics.notice("joint_states", fault)
        if fault.reason == "time backwards":
            self._acceleration.clear()

    def _make_acceleration(self) -> None:
        names, p = self._state.joint_names, self._parameters
        if p.acceleration_source == "finite_difference":
            self._acceleration = FiniteDifference(len(names), timeout(p.state_timeout))
        elif p.acceleration_source == "topic":
            self._acceleration = DesiredAcceleration(names, timeout(p.desired_timeout))
        else:
            self._acceleration = ZeroAcceleration(len(names))

    def _make_outputs(self) -> None:
        names = self._robot.joint_names
        order = output_order(names, self._parameters.joints)
        self._outputs = {term: [joint_state_output(p, names, order)] for term, p in self._publishers.items()}
        if self._command_publisher is not None:
            self._outputs[self._parameters.effort_commands].append(command_output(self._command_publisher, order))
