"""Processing of joint_states into torque topics: the time-critical path of dynamics_node."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.lifecycle import LifecyclePublisher
from sensor_msgs.msg import MultiDOFJointState
from trajectory_msgs.msg import JointTrajectory

from screw_dynamics.model.floating_base import coordinate_joints, floating_base, velocity_names
from screw_dynamics.model.multi_dof_joints import coordinate_indices, multi_dof_joints
from screw_dynamics.robot import Robot

from ..node.cdr import ReceivedJointState, ReceivedOdometry
from ..node.diagnostics import OK, STALE, WARN, Diagnostics, Report
from ..node.joint_state import Fault, all_finite, listed
from ..node.latency import Latency
from ..node.multi_dof_state import TOPIC
from ..node.parameters import Parameters
from ..node.robot_state import RobotState
from ..timing import SECOND, timeout
from .acceleration import DesiredAcceleration, FiniteDifference, ZeroAcceleration
from .output_joints import follows_states, listed_joints, output_joints
from .position_limits import far_beyond_limits
from .state_output import subscribed
from .torque_outputs import TERMS, MultiDofOutput, Output, base_output, command_output, joint_state_output

CLOCKS_AGREE = 10 * SECOND   # a stamp older than that, or in the future, belongs to another clock
RECENT = SECOND              # ns for which the diagnostics report dropped messages, and publishers of the same joints
REPEATED = SECOND // 5       # ns after which a stamp that has not changed is reported


class StampedState(NamedTuple):
    """Position (nq,) and velocity (n,) in model order, and the stamp of their joint_states, else zero."""

    position: np.ndarray
    velocity: np.ndarray
    stamp: Time


class TorqueStream:
    """The state of the robot's joints and its base, and the publication of the torques that have subscribers.

    `publishers` has the publisher of each of TERMS. `command_publisher` is None without effort commands. `now()` is the
    node's time in nanoseconds. Nothing is published before a robot is in use (`use`).

    topic: that of joint_states; base_topics: those of the state of a floating base; base_publishers(): the publishers
    of the wrench on it, by term; other_publishers(): those of the wrenches of joints of several degrees of freedom.
    Torques are published for each message on joint_states. If the robot has no joints of one degree of freedom, they
    are published for each message on a topic of its base, or else on multi_dof_joint_states.

    observers: called with the state after each message that changed it, when the torques are published. latency: from a
    message's arrival to the publication of its torques; stamp_age: the stamp's age then, by the node's clock, if the
    clocks agree."""

    def __init__(
        self, parameters: Parameters, diagnostics: Diagnostics, now: Callable[[], int], topic: str,
        publishers: Mapping[str, LifecyclePublisher], command_publisher: LifecyclePublisher | None,
        base_topics: Iterable[str], base_publishers: Callable[[], Mapping[str, LifecyclePublisher]],
        other_publishers: Callable[[], Mapping[str, LifecyclePublisher]],
    ):
        self._parameters, self._diagnostics, self._now = parameters, diagnostics, now
        self._publishers, self._command_publisher = publishers, command_publisher
        self._topic, self._base_topics, self._base_publishers = topic, tuple(base_topics), base_publishers
        self._other_publishers = other_publishers
        self._robot: Robot | None = None
        self._state = RobotState(())
        self._acceleration = ZeroAcceleration(0)
        self._outputs: dict[str, list[Output | MultiDofOutput]] = {}
        self._withheld: dict[str, str] = {}   # by term: the reason for which the latest state has no output
        self._stamp: Time | ReceivedJointState | ReceivedOdometry = Time()   # only its sec and nanosec are used
        self._received = False
        self._follows_states, self._listing = follows_states(parameters), ()     # joints of the outputs
        self._dropped = -RECENT, ""             # the time and the reason of the last dropped joint_states
        self._senders: dict[bytes, tuple[int, Sequence[str]]] = {}   # by publisher: time and joints of its last message
        self._looked, self._stamps, self._repeating = 0, np.zeros(0, dtype=np.int64), ""    # see `repeating`
        self.observers: list[Callable[[RobotState], None]] = []
        self.latency, self.stamp_age = Latency(), Latency()

    def use(self, robot: Robot) -> None:
        """Use another robot. The state is kept if the joints are the same."""
        base, before = floating_base(robot.model, others=True), self._state.base
        others = multi_dof_joints(robot.model)
        same_joints = self._robot is not None and joints_of(robot) == joints_of(self._robot) and (
            base is None or before is not None and base.link == before.base.link)
        if self._robot is None and coordinate_joints(robot.model):
            self._diagnostics.log("waiting", f"waiting for joint_states on {self._topic}", "info")
        self._robot = robot
        self._withheld.clear()
        if same_joints and base is not None:
            before.base = base      # other links may be fixed to it
        if same_joints and others:
            self._state.others.joints = others
            self._make_outputs()
        if not same_joints:
            self._state = RobotState(
                coordinate_joints(robot.model), base, self._base_topics, self._parameters.velocity_fallback,
                self._notice, robot.model.mimics, others, coordinate_indices(robot.model))
            self._received = False
            self._make_outputs()
            self._make_acceleration()

    def follow_parameters(self) -> None:
        """Apply changed parameters."""
        for part in (self._state.joints, self._state.others):
            if part is not None:
                part.velocity_fallback = self._parameters.velocity_fallback
        self._make_acceleration()

    def clear(self) -> None:
        """Discard the state of every joint, for example after a jump of time."""
        self._state.clear()
        self._acceleration.clear()

    def take_state(self, msg: ReceivedJointState, publish: bool, publisher: bytes | None = None) -> None:
        """Apply a message, and publish the torques at the completed state. Raises `Fault` if the message is dropped.
        publisher: its identifier, if it is known."""
        arrived, now = time.monotonic_ns(), self._now()
        self._diagnostics.tick("joint_states")
        if publisher is not None:
            self._senders[publisher] = arrived, msg.name
        try:
            changed = self._state.update(msg, msg.stamp, now)
        except Fault as fault:
            self._dropped = arrived, str(fault)
            raise
        if not changed:
            return
        self._received = True
        if self._follows_states and self._state.joints.listing is not self._listing:
            self._make_outputs()
        self._take(msg, publish, arrived, now)

    def take_base(self, topic: str, take: Callable[[Any, str, Any, int], None], msg: Any, publish: bool) -> None:
        """Apply a message on a topic of the floating base, with the BaseState method `take`. Raises `Fault` if it is
        dropped."""
        arrived, now, base = time.monotonic_ns(), self._now(), self._state.base
        if base is None:    # a late message, for the previous robot
            return
        self._diagnostics.tick(topic)
        take(base, topic, msg, now)
        if not self._state.joints.joint_names:
            self._take(msg if isinstance(msg, ReceivedOdometry) else msg.header.stamp, publish, arrived, now)

    def take_others(self, msg: MultiDOFJointState, publish: bool) -> None:
        """Apply a message with joints of several degrees of freedom. Raises `Fault` if it is dropped."""
        arrived, now, state = time.monotonic_ns(), self._now(), self._state
        if state.others is None:    # a late message, for the previous robot
            return
        self._diagnostics.tick(TOPIC)
        if state.others.take(msg, now) and not state.joints.joint_names and state.base is None:
            self._take(msg.header.stamp, publish, arrived, now)

    def _take(self, stamp: Time | ReceivedJointState | ReceivedOdometry, publish: bool, arrived: int, now: int) -> None:
        """Publish the torques at the state completed by a message with this stamp."""
        self._stamp = stamp
        self._acceleration.observe(self._state)
        if publish:
            self._publish(now)
        self._published(now, time.monotonic_ns() - arrived)

    def take_desired(self, msg: JointTrajectory) -> None:
        """Apply the desired acceleration, if the parameter acceleration_source is "topic". Raises `Fault` for a bad
        message."""
        if isinstance(self._acceleration, DesiredAcceleration):
            self._diagnostics.tick("desired")
            self._acceleration.take(msg, self._now())

    def publish(self) -> None:
        """Publish the torques at the state unless it is incomplete or stale. Raises `Fault` if any torque is not
        finite."""
        self._publish(self._now())

    def _publish(self, now: int) -> None:
        if self._robot is None or not self._state.fresh(now, timeout(self._parameters.state_timeout)):
            return
        self._withheld.clear()
        faults = []
        for term, outputs in self._outputs.items():
            wanted = [output for output in outputs if subscribed(output.publisher)]
            if wanted:
                try:
                    self._publish_term(term, wanted, now)
                except Fault as fault:   # of this term only: other terms may be finite
                    self._withheld[term] = str(fault)
                    faults.append(fault)
        if faults:
            raise faults[0]

    def _publish_term(self, term: str, outputs: list[Output | MultiDofOutput], now: int) -> None:
        acceleration = self._acceleration.value(now) if term == "inverse_dynamics" else None
        if term == "inverse_dynamics" and acceleration is None:
            fault = Fault("no acceleration", f"inverse_dynamics waits for {self._acceleration.waiting}")
            self._withheld[term] = str(fault)
            self._diagnostics.notice(term, fault)
            return
        torque = TERMS[term](self._robot, self._state.position, self._state.velocity, acceleration)
        if not all_finite(torque):
            name = velocity_names(self._robot.model)[np.flatnonzero(~np.isfinite(torque))[0]]
            raise Fault("non-finite torque", f"{term} of joint '{name}' is not finite at this state")
        self._diagnostics.tick(term)
        for output in outputs:
            output.publish(torque, self._stamp)

    def _published(self, arrived: int, latency: int) -> None:
        """Record that the torques of a state were published `latency` ns after its arrival, and notify the
        observers."""
        self.latency.add(latency)
        age = arrived + latency - self._state.stamp
        if 0 <= age <= CLOCKS_AGREE:
            self.stamp_age.add(age)
        limit = timeout(self._parameters.state_timeout)
        if (self._state.base or self._state.others) and not self._state.fresh(self._now(), limit):
            return
        for observe in self.observers:
            observe(self._state)

    def latencies(self) -> dict[str, str]:
        """Return percentiles for the diagnostics, of the durations since the previous call."""
        return self.latency.report("latency") | self.stamp_age.report("stamp age")

    @property
    def withheld(self) -> str:
        """The reasons for which subscribers of some torques got none for the latest state, or ""."""
        return "; ".join(self._withheld.values())

    def fresh_state(self, joints: bool = True, base: bool = True) -> StampedState:
        """Return the state. Raises ValueError with the reason if it is incomplete or stale. joints, base: True if that
        part is required; other parts may be unknown."""
        for needed, what, report in ((joints, "joint_states", self._joints_health),
                                     (base, "base state", self._base_health), (True, TOPIC, self._others_health)):
            level, message, _ = report() if needed else (OK, "", {})
            if level != OK:
                raise ValueError(f"no fresh {what}: {message}")
        stamp = Time(sec=self._stamp.sec, nanosec=self._stamp.nanosec)
        return StampedState(self._state.position.copy(), self._state.velocity.copy(), stamp)

    def health(self) -> Report:
        """Return level, message and values for the diagnostics."""
        level, message, values = self._joints_health()
        if self._robot is not None and not self._robot.n:
            level, message = WARN, "the robot has no joints: there are no torques"
        for report in (self._base_health, self._others_health):
            other_level, other_message, more = report()
            if level == OK and other_level != OK:
                level, message = other_level, other_message
            values = {**values, **more}
        return level, message, values

    def shared_joints(self) -> tuple[tuple[str, ...], tuple[bytes, ...]]:
        """Return the joints of the robot that several publishers have sent lately, and these publishers."""
        since = time.monotonic_ns() - RECENT
        self._senders = {publisher: sent for publisher, sent in self._senders.items() if sent[0] > since}
        counts = Counter(name for _, names in self._senders.values() for name in set(names))
        shared = tuple(name for name in self._state.joints.joint_names if counts[name] > 1)
        return shared, tuple(publisher for publisher, (_, names) in self._senders.items() if {*shared} & {*names})

    def repeating(self) -> str:
        """Return a warning of joint_states that arrive with the stamps that they had REPEATED ago, or ""."""
        now, joints = self._now(), self._state.joints
        if now - self._looked >= REPEATED or now < self._looked:
            same = joints.repeated(self._stamps, self._looked) if len(self._stamps) == len(joints.stamps) else ()
            self._repeating = (f"joint_states of {listed(same)} arrive with an unchanged stamp: does the driver repeat "
                               "an old state?") if same else ""
            self._looked, self._stamps = now, joints.stamps.copy()
        return self._repeating

    def beyond_limits(self) -> str:
        """Return a warning of a state far beyond position limits, or ""."""
        return far_beyond_limits(self._robot, self._state.position)

    def _others_health(self) -> Report:
        """Return the report on the state of multi-DoF joints."""
        others = self._state.others
        if others is None:
            return OK, "", {}
        if others.missing:
            return WARN, f"nothing on {TOPIC} yet of {listed(others.missing)}", {}
        return self._aged(TOPIC, TOPIC, others.age(self._now()))

    def _base_health(self) -> Report:
        """Return the report on the state of a floating base."""
        base = self._state.base
        if base is None:
            return OK, "", {}
        if base.missing:
            return WARN, f"nothing on {' and '.join(base.missing)} yet, where the state of the floating base comes", {}
        topic, age = base.oldest(self._now())
        return self._aged(topic, "base state", age)

    def _aged(self, topic: str, what: str, age: float) -> Report:
        """Return the report on the age, in s, of the state from a topic."""
        limit, values = self._parameters.state_timeout, {f"{what} age [s]": f"{age:.3f}"}
        if age * SECOND > timeout(limit):
            return STALE, f"{topic} is stale: {age:.3f} s old, state_timeout is {limit} s", values
        return OK, "", values

    def _joints_health(self) -> Report:
        """Return the report on the state of the joints, with the reason if messages were dropped lately."""
        level, message, values = self._joints_state()
        at, reason = self._dropped
        if level != OK and time.monotonic_ns() - at < RECENT:
            message += f"; messages are dropped, the last: {reason}"
        return level, message, values

    def _joints_state(self) -> Report:
        """Return the report on the state of the joints."""
        state = self._state.joints
        if self._robot is not None and not state.joint_names:
            return OK, "publishing", {}
        if self._robot is None or not self._received and len(state.missing) == len(state.joint_names):
            if state.strangers:
                return WARN, (f"joint_states have no joint of the robot: {listed(state.strangers)} arrive, "
                              f"{listed(state.joint_names)} are expected"), {}
            return WARN, f"no joint_states yet on {self._topic}", {}
        if not state.complete:
            return WARN, f"joint_states lack {listed(state.missing)}", {"missing joints": listed(state.missing)}
        now, limit = self._now(), self._parameters.state_timeout
        age = state.age(now)
        values = {"state age [s]": f"{age / SECOND:.3f}"}
        if age > timeout(limit):
            stale, fresh = state.stale(now, timeout(limit)), ""
            if others := len(state.joint_names) - len(stale):
                fresh = f" ({others} other joint{'s are' if others > 1 else ' is'} fresh)"
            return STALE, (f"joint_states {f'of {listed(stale)} ' * bool(fresh)}are stale: {age / SECOND:.3f} s old"
                           f"{fresh}, state_timeout is {limit} s"), values
        return OK, "publishing", values

    def _notice(self, topic: str, fault: Fault) -> None:
        self._diagnostics.notice(topic, fault)
        if fault.reason == "time backwards":
            self._acceleration.clear()

    def _make_acceleration(self) -> None:
        names, n, p = self._state.joints.joint_names, len(self._state.velocity), self._parameters
        if p.acceleration_source == "finite_difference":
            self._acceleration = FiniteDifference(n, timeout(p.state_timeout))
        elif p.acceleration_source == "topic":
            where = np.arange(0) if self._robot is None else coordinate_indices(self._robot.model)[1]
            self._acceleration = DesiredAcceleration(names, timeout(p.desired_timeout), where, n)
        else:
            self._acceleration = ZeroAcceleration(n)

    def _make_outputs(self) -> None:
        base, model = self._state.base, self._robot.model
        fixed, self._listing = output_joints(model, self._parameters.joints), self._state.joints.listing
        joints = listed_joints(model, self._listing) if self._follows_states else fixed
        self._outputs = {term: [joint_state_output(p, joints)] for term, p in self._publishers.items()}
        if base is not None:
            for term, publisher in self._base_publishers().items():
                self._outputs[term].append(base_output(publisher, base.base.link))
        if self._state.others is not None:
            for term, publisher in self._other_publishers().items():
                self._outputs[term].append(MultiDofOutput(publisher, self._state.others.joints))
        if self._command_publisher is not None:
            self._outputs[self._parameters.effort_commands].append(command_output(self._command_publisher, fixed.order))


def joints_of(robot: Robot) -> tuple[tuple, ...]:
    """Return the joints whose states are read, kinds and frames of joints of several degrees of freedom, and mimic
    joints."""
    kinds = tuple((robot.model.kind_of(joint), frame.tobytes()) for joint, frame in robot.model.joint_frames.items())
    return robot.joint_names, kinds, tuple(robot.model.mimics)
