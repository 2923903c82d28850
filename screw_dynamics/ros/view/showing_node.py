"""The base class of nodes that show a robot: its live state, polled at a rate."""

from collections.abc import Callable
from functools import partial
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import qos_profile_sensor_data

from screw_dynamics.model.floating_base import coordinate_joints, floating_base
from screw_dynamics.robot import Robot

from ..endpoints import STATES, STEADY
from ..node.base_state import BASE_SOURCES
from ..node.cdr import ReceivedJointState
from ..node.diagnostics import OK, WARN, Report
from ..node.managed_node import ManagedNode
from ..node.parameters import SHARED, Setting
from ..timing import SECOND
from .live_state import LiveState

SETTINGS = (
    *SHARED,
    Setting("rate", 20.0, "rate of updates of the display", unit="Hz", lower=1.0, upper=60.0,
            read_only=True),
    Setting("efforts", "screw_dynamics/gravity", "topic of the displayed efforts; those of joint_states if it is "
                                                 "empty, and until the first message", read_only=True),
)
LAG = 0.5       # of the polling period: how long a message may wait in its queue


class ShowingNode(ManagedNode):
    """The base class of a node that shows the latest state, `live`, of a robot at a rate."""

    def forget(self) -> None:
        """Discard the robot and its state."""
        self.robot: Robot | None = None
        self.live: LiveState | None = None
        self._subscribed_to_base = False

    def present(self) -> None:
        """Show the changed state `live`."""
        raise NotImplementedError

    def watched(self) -> bool:
        """Return True if anyone is viewing the output."""
        raise NotImplementedError

    def create_endpoints(self) -> None:
        """Subscribe, and poll at a rate of real time; messages wait for the poll in the queues of the topics."""
        self._pause = LAG / self.settings.rate
        self.subscribe_hot("joint_states", self._on_joint_states, STATES, count_losses=False, pause=self._pause)
        if self.settings.efforts:
            self.subscribe_hot("<efforts>", self._on_efforts, STATES, count_losses=False, pause=self._pause,
                               efforts=self.settings.efforts)
        self.subscribe("/diagnostics", self._on_diagnostics, qos_profile_sensor_data)
        timer = self.create_timer(1.0 / self.settings.rate, self.guarded("timer", self._look), clock=STEADY)
        self.endpoints.callback(self.destroy_timer, timer)

    def use(self, robot: Robot) -> None:
        """Show another robot; if it has the same joints, the state is kept."""
        joints, base = coordinate_joints(robot.model), floating_base(robot.model)
        before = None if self.live is None else self.live.state.base
        if self.live is None or self.live.cache.joint_names != joints or (base is None) != (before is None):
            topics = self._base_topics() if base is not None else ()
            self.live = LiveState(joints, lambda fault: self.diagnostics.notice("state", fault), base, topics,
                                  robot.model.mimics)
        elif base is not None:
            before.base = base
        self.robot = robot

    def _base_topics(self) -> tuple[str, ...]:
        """Return the topics of the state of a floating base; subscribe to them with the first robot that has one."""
        found = {topic: self.resolve_topic_name(topic) for topic in BASE_SOURCES["odometry"]}
        if not self._subscribed_to_base:
            self._subscribed_to_base = True
            for topic, take in BASE_SOURCES["odometry"].items():
                self.subscribe_received(topic, partial(self._on_base, found[topic], take), STATES, self._pause)
        return tuple(found.values())

    def parameters_changed(self, names: set[str]) -> None:
        """Do nothing: the parameters that can be changed make another robot."""

    def robot_health(self) -> Report:
        """Return level, message and values for the diagnostics while configured."""
        if self.robot is None:
            return WARN, self.description.state, {}
        joints = len(self.live.cache.joint_names)
        if self.live.missing:
            missing = ", ".join(self.live.missing[:5])
            what = "joint_states yet of" if self.live.cache.missing else "state of the floating base yet on"
            return WARN, f"no {what} {missing}", {"joints": joints}
        return OK, "following joint_states", {"joints": joints, "state age [s]": f"{self.age():.3f}"}

    def age(self) -> float:
        """Return the seconds since the least recent message of a joint."""
        state = self.live.state
        if not self.live.cache.joint_names:
            return state.base.oldest(self._now())[1]
        return self.live.cache.age(self._now()) / SECOND

    def _now(self) -> int:
        return STEADY.now().nanoseconds

    def _on_joint_states(self, msg: ReceivedJointState) -> None:
        if self.live is not None:
            self.live.take_state(msg, msg.stamp, self._now())

    def _on_base(self, topic: str, take: Callable[[Any, str, Any, int], None], msg: Any) -> None:
        if self.live is not None and self.live.state.base is not None:
            self.live.take_base(take, topic, msg, self._now())

    def _on_efforts(self, msg: ReceivedJointState) -> None:
        if self.live is not None:
            self.live.take_efforts(msg)

    def _on_diagnostics(self, msg: DiagnosticArray) -> None:
        if self.live is not None:
            own = self.get_fully_qualified_name()
            self.live.take_status(status for status in msg.status[:1000] if status.hardware_id != own)

    def _look(self) -> None:
        if self.state_label == "active" and self.live is not None and self.watched() and self.live.taken():
            self.present()
