"""What nodes that show a robot have in common: its live state, looked at from time to time."""

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

from screw_dynamics.robot import Robot

from ..node.cdr import ReceivedJointState
from ..node.diagnostics import OK, WARN, Report
from ..node.endpoints import STATES, STEADY
from ..node.managed_node import ManagedNode
from ..node.parameters import SHARED, Setting
from ..node.timing import SECOND
from .live_state import LiveState

SETTINGS = (
    *SHARED,
    Setting("rate", 20.0, "how often what is shown follows the robot", unit="Hz", lower=1.0, upper=60.0,
            read_only=True),
    Setting("efforts", "screw_dynamics/gravity", "topic of the efforts that are shown; until some come, and if it is "
            "empty, those of joint_states", read_only=True),
)


class ShowingNode(ManagedNode):
    """A node that shows the latest state, `live`, of a robot at a rate; to be completed by a subclass."""

    def forget(self) -> None:
        """Forget the robot and its state."""
        self.robot: Robot | None = None
        self.live: LiveState | None = None

    def present(self) -> None:
        """Show `live`, which has changed."""
        raise NotImplementedError

    def create_endpoints(self) -> None:
        """Subscribe, and look at a rate of real time at what came."""
        self.subscribe_hot("joint_states", self._on_joint_states, STATES, count_losses=False)
        if self.settings.efforts:
            self.subscribe(JointState, self.settings.efforts, self._on_efforts, qos_profile_sensor_data)
        self.subscribe(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos_profile_sensor_data)
        timer = self.create_timer(1.0 / self.settings.rate, self.guarded("timer", self._look), clock=STEADY)
        self.endpoints.callback(self.destroy_timer, timer)

    def use(self, robot: Robot) -> None:
        """Show another robot; of one with the same joints the state is kept."""
        if self.live is None or self.live.cache.joint_names != robot.joint_names:
            self.live = LiveState(robot.joint_names, lambda fault: self.diagnostics.notice("joint_states", fault))
        self.robot = robot

    def parameters_changed(self, names: set[str]) -> None:
        """Nothing: what can be changed makes another robot."""

    def robot_health(self) -> Report:
        """Level, message and values for the diagnostics while configured."""
        if self.robot is None:
            return WARN, self.description.state, {}
        if not self.live.cache.complete:
            missing = ", ".join(self.live.cache.missing[:5])
            return WARN, f"no joint_states yet of {missing}", {"joints": self.robot.n}
        return OK, "following joint_states", {"joints": self.robot.n, "state age [s]": f"{self.age():.3f}"}

    def age(self) -> float:
        """Seconds since the least recent joint was heard of."""
        return self.live.cache.age(self._now()) / SECOND

    def _now(self) -> int:
        return STEADY.now().nanoseconds

    def _on_joint_states(self, msg: ReceivedJointState) -> None:
        if self.live is not None:
            self.live.take_state(msg, msg.stamp, self._now())

    def _on_efforts(self, msg: JointState) -> None:
        if self.live is not None:
            self.live.take_efforts(msg)

    def _on_diagnostics(self, msg: DiagnosticArray) -> None:
        if self.live is not None:
            own = self.get_fully_qualified_name()
            self.live.take_status(status for status in msg.status[:1000] if status.hardware_id != own)

    def _look(self) -> None:
        if self.state_label == "active" and self.live is not None and self.live.taken():
            self.present()
