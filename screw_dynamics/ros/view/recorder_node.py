"""recorder_node: an MCAP file of the topics of this package's nodes, for Foxglove and others. It requires the package
mcap, the extra [record]."""

import contextlib
import errno
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from rclpy.node import Node

from ..endpoints import STEADY
from ..executor.fair_lock import FairLock
from ..node.diagnostics import ERROR, OK, WARN, Diagnostics, Report
from ..node.joint_state import Fault, listed
from ..node.log import BoundedLog
from ..node.managed_node import run
from ..node.parameters import Parameters, Setting
from ..node.process import arguments
from ..signals import end
from .interface import RECORDER
from .mcap_file import McapFile, free_path
from .recorded_topic import RecordedTopic

STATE, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
OURS = {    # topics that are recorded by default, with the types that this package's nodes and their peers use
    "joint_states": STATE, "joint_commands": STATE, "odom": "nav_msgs/msg/Odometry", "base_wrench": WRENCH,
    "robot_description": "std_msgs/msg/String", "/diagnostics": "diagnostic_msgs/msg/DiagnosticArray",
    "/clock": "rosgraph_msgs/msg/Clock", "/tf": "tf2_msgs/msg/TFMessage", "/tf_static": "tf2_msgs/msg/TFMessage",
    **{f"screw_dynamics/{name}": STATE for name in ("gravity", "coriolis", "inverse_dynamics")},
    "screw_dynamics/desired": "trajectory_msgs/msg/JointTrajectory",
    "screw_dynamics/effort_commands": "std_msgs/msg/Float64MultiArray", "screw_dynamics/external_torque": STATE}
DEFAULT_TOPICS = tuple(OURS)
SETTINGS = (
    Setting("file", "recording.mcap", "path of the recording; a number is added to the name of an existing file",
            read_only=True),
    Setting("topics", DEFAULT_TOPICS, "topics that are recorded, of any type that is installed, from their first "
                                      "publisher on; of several types on one topic that of the nodes of this package, "
                                      "or else that with most publishers", read_only=True),
)
LOOK = 0.2      # s between two queries of the publishers
SHOWN = 20      # types in the diagnostics that are not recorded, at most


class RecorderNode(Node):
    """The node `screw_recorder`. A full disk ends the recording, but not the node."""

    interface = RECORDER

    def __init__(self, **node_options):
        super().__init__("screw_recorder", **node_options)
        self.log, self.lock, self.error = BoundedLog(self.get_logger()), FairLock(), ""
        self.settings = Parameters(self, SETTINGS)
        self._refused: set[str] = set()
        self.diagnostics = Diagnostics(self, self.health, "recording")
        self._topics = self._recorded_topics()
        self.create_timer(LOOK, self._look, clock=STEADY)
        try:        # last: an open file is completed by `end`, which needs a complete node
            self._file = McapFile(free_path(Path(self.settings.file).expanduser()))
        except (ImportError, OSError) as error:
            raise ValueError(f"parameter file: {self.settings.file}: {error}") from None

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._file.path.absolute()

    def start(self) -> None:
        """Log where the recording is."""
        self.log.info(f"recording to {self.path}")

    def failed(self, text: str, source: str = "callback") -> None:
        """Count and log an unexpected exception, given with its traceback."""
        self.diagnostics.drop(source, Fault("internal error", text, "error"))

    def health(self) -> Report:
        """Return level, message and values for the diagnostics."""
        recorded = sum(topic.recorded for topic in self._topics.values())
        values = {"file": self._file.path, "messages": self._file.messages, "topics": recorded}
        if self.error:
            return ERROR, self.error, values
        values["size [MB]"] = f"{self._file.size / 1e6:.1f}"
        if refused := self._not_recorded():
            values |= {f"not recorded: {what}": why for what, why in list(refused.items())[:SHOWN]}
            return WARN, f"recording; not recorded: {listed([*refused])}", values
        return OK, "recording", values

    def end(self) -> None:
        """Complete and close the file, and leave the graph."""
        for topic in self._topics.values():
            topic.close()
        for topic in self._topics.values():
            topic.join()
        with self.lock:
            if not self.error:
                with self._stopping_on_errors():
                    self._file.close()
                    print(f"recorded {self._file.messages} messages to {self._file.path}", file=sys.stderr)
        self.destroy_node()

    # --------------------------------------------------------------------------------------------- topics
    def _recorded_topics(self) -> dict[str, RecordedTopic]:
        """Return the topics of the parameter `topics`, by their full names."""
        ours, found = {self.resolve_topic_name(name): kind for name, kind in OURS.items()}, {}
        for topic in filter(None, self.settings.topics):
            try:
                name = self.resolve_topic_name(topic)
            except Exception as error:  # noqa: BLE001  rclpy raises several kinds
                raise ValueError(f"parameter topics: {topic!r} is not the name of a topic: {error}") from None
            found[name] = RecordedTopic(self, name, ours.get(name, ""), self._write, self.diagnostics.lose)
        return found

    def _look(self) -> None:
        """Subscribe to the listed topics that have publishers. A fault of one topic does not affect the others."""
        for name, topic in self._topics.items():
            self._guard(name, topic.look)
        refused = self._not_recorded()
        for what in sorted(refused.keys() - self._refused):
            self.log.warning(f"not recorded: {what}: {refused[what]}")
        self._refused = set(refused)

    def _guard(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # noqa: BLE001  any error of rclpy that the graph causes
            if self.context.ok():
                self.failed(traceback.format_exc(), name)

    def _not_recorded(self) -> dict[str, str]:
        """Return {topic and type: reason} of the publishers' types that are not recorded."""
        return {f"{name} of {kind}": reason for name, topic in self._topics.items()
                for kind, reason in topic.refused.items()}

    # --------------------------------------------------------------------------------------------- messages
    def _write(self, topic: str, kind: type, data: bytes) -> None:
        if not self.error:
            with self._stopping_on_errors():
                self._file.write(topic, kind, data, time.time_ns())

    @contextlib.contextmanager
    def _stopping_on_errors(self):
        try:
            yield
        except Exception as error:  # noqa: BLE001  any error of the disk or the file system
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            self.error = (f"recording to {self._file.path} ended after {self._file.messages} messages: "
                          f"{'the disk is full' if full else error}")
            self.log.error(self.error)


def main(args: Sequence[str] | None = None) -> int:
    """Run recorder_node until SIGINT or SIGTERM. Return 0, or 1 if the file cannot be made or the recording is
    incomplete."""
    arguments("recorder_node", "A recording of a robot's topics.", args)
    nodes: list[RecorderNode] = []

    def make() -> RecorderNode:
        nodes.append(RecorderNode())
        return nodes[0]
    return run(make, args=args) or int(any(node.error for node in nodes))


if __name__ == "__main__":
    end(main())
