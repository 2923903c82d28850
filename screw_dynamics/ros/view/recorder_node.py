"""recorder_node: an MCAP file of what our nodes say and hear, for Foxglove and others.

It needs the package mcap, the extra [record]."""

import contextlib
import errno
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSProfile, QoSReliabilityPolicy

from ..node.diagnostics import ERROR, OK, Diagnostics, Report
from ..node.endpoints import STEADY
from ..node.guarded import GuardedExecutor
from ..node.hot_subscription import HotSubscription
from ..node.joint_state import Fault
from ..node.log import BoundedLog
from ..node.parameters import Parameters, Setting
from ..node.process import ros_process
from ..node.turns import Turns
from .interface import RECORDER
from .mcap_file import McapFile, free_path
from .message_definition import type_of

DEFAULT_TOPICS = ("joint_states", "joint_commands", "odom", "base_wrench", "robot_description", "/diagnostics",
                  "/clock", "/tf", "/tf_static",
                  *(f"screw_dynamics/{name}" for name in ("gravity", "coriolis", "inverse_dynamics", "desired",
                                                          "effort_commands", "external_torque")))
SETTINGS = (
    Setting("file", "recording.mcap", "where to record to; where there is a file, a number is added to the name",
            read_only=True),
    Setting("topics", DEFAULT_TOPICS, "topics that are recorded, of any type that is installed, from when somebody "
            "publishes them", read_only=True),
)
LOOK = 0.2      # s between two looks for new topics
DEPTH = 1000    # messages of a topic that wait while the disk is slow; more are lost, and counted


class RecorderNode(Node):
    """The node `screw_recorder`. A disk that is full ends the recording, not the node."""

    interface = RECORDER

    def __init__(self, **node_options):
        super().__init__("screw_recorder", **node_options)
        self.log, self.turns, self.error = BoundedLog(self.get_logger()), Turns(), ""
        self.settings = Parameters(self, SETTINGS)
        self._subscriptions_of: dict[str, HotSubscription] = {}
        self._unknown: set[str] = set()
        try:
            self._file = McapFile(free_path(Path(self.settings.file).expanduser()))
        except (ImportError, OSError) as error:
            raise ValueError(f"parameter file: {self.settings.file}: {error}") from None
        self.log.info(f"recording to {self._file.path.absolute()}")
        self.diagnostics = Diagnostics(self, self.health, "recording")
        self.create_timer(LOOK, self._look, clock=STEADY)

    def failed(self, text: str, source: str = "callback") -> None:
        """Count and log an exception that nobody expected, given with its traceback."""
        self.diagnostics.drop(source, Fault("internal error", text, "error"))

    def health(self) -> Report:
        """Level, message and values for the diagnostics."""
        values = {"file": self._file.path, "messages": self._file.messages, "topics": len(self._subscriptions_of)}
        if self.error:
            return ERROR, self.error, values
        return OK, "recording", values | {"size [MB]": f"{self._file.size / 1e6:.1f}"}

    def end(self) -> None:
        """Close the file, whole."""
        for subscription in self._subscriptions_of.values():
            subscription.close()
        for subscription in self._subscriptions_of.values():
            subscription.join()
        with self.turns:
            if not self.error:
                with self._stopping_on_errors():
                    self._file.close()
                    print(f"recorded {self._file.messages} messages to {self._file.path}", file=sys.stderr)

    # --------------------------------------------------------------------------------------------- topics
    def _look(self) -> None:
        """Subscribe to the topics of the list that somebody publishes by now."""
        wanted = {self.resolve_topic_name(topic) for topic in self.settings.topics if topic}
        for topic, kinds in self.get_topic_names_and_types():
            if topic in wanted and topic not in self._subscriptions_of and topic not in self._unknown:
                publishers = self.get_publishers_info_by_topic(topic)
                if publishers:
                    self._subscribe(topic, kinds[0], [info.qos_profile for info in publishers])

    def _subscribe(self, topic: str, kind_name: str, offered: Sequence[QoSProfile]) -> None:
        try:
            kind = type_of(kind_name)
        except ValueError as error:
            self._unknown.add(topic)
            self.log.warning(f"{topic} is not recorded: {error}")
            return
        # As much as all publishers offer: more, and those that offer less would not be heard.
        reliable = all(qos.reliability == QoSReliabilityPolicy.RELIABLE for qos in offered)
        latched = all(qos.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL for qos in offered)
        qos = QoSProfile(
            depth=DEPTH,
            reliability=QoSReliabilityPolicy.RELIABLE if reliable else QoSReliabilityPolicy.BEST_EFFORT,
            durability=QoSDurabilityPolicy.TRANSIENT_LOCAL if latched else QoSDurabilityPolicy.VOLATILE)
        self._subscriptions_of[topic] = HotSubscription(
            self, kind, topic, partial(self._write, topic, kind), partial(self._lost, topic), qos)

    def _lost(self, topic: str, count: int) -> None:
        self.diagnostics.lose(topic, count)

    # --------------------------------------------------------------------------------------------- messages
    def _write(self, topic: str, kind: type, data: bytes) -> None:
        if not self.error:
            with self._stopping_on_errors():
                self._file.write(topic, kind, data, time.time_ns())

    @contextlib.contextmanager
    def _stopping_on_errors(self):
        try:
            yield
        except Exception as error:  # noqa: BLE001  of the disk, or of whatever stands between it and us
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            self.error = (f"recording to {self._file.path} ended after {self._file.messages} messages: "
                          f"{'the disk is full' if full else error}")
            self.log.error(self.error)


def main(args: Sequence[str] | None = None) -> int:
    """Run recorder_node until SIGINT or SIGTERM; 0 then, 1 when the file cannot be made or the recording is cut."""
    node = None
    try:
        with ros_process(args):
            try:
                node = RecorderNode()
                executor = GuardedExecutor(node.failed, node.turns)
                executor.add_node(node)
                executor.spin()
            finally:
                if node is not None:
                    node.end()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return int(bool(node and node.error))


if __name__ == "__main__":
    sys.exit(main())
