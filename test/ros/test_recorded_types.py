"""What recorder_node makes of publishers of several types on one topic, and of types whose names are anything."""
import itertools
import subprocess
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("mcap", reason="recording needs mcap, the extra [record]")
pytest.importorskip("mcap_ros2", reason="reading a recording needs mcap-ros2-support, the extra [record]")

from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Twist  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Float64, String  # noqa: E402

from screw_dynamics.ros.dynamics.interface import INTERFACE as DYNAMICS  # noqa: E402
from screw_dynamics.ros.simulator.interface import INTERFACE as SIMULATOR  # noqa: E402
from screw_dynamics.ros.view.message_definition import type_of  # noqa: E402
from screw_dynamics.ros.view.recorded_topic import Offer, chosen, offers  # noqa: E402
from screw_dynamics.ros.view.recorder_node import OURS  # noqa: E402
from support.foreign_types import Stranger, participant  # noqa: E402
from support.graph import Driver, NodeProcess  # noqa: E402
from support.recordings import messages  # noqa: E402

pytestmark = pytest.mark.slow

GRIP = "gripper_msgs" + "/msg/Grip"      # of no package that these tests import
MODULE = "screw_dynamics.ros.view.recorder_node"
BEST_EFFORT = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Recording:
    """recorder_node in a namespace, its driver, and the file once it has ended."""

    def __init__(self, namespace, folder, **parameters):
        self.path, self.namespace = folder / "run.mcap", namespace
        self.process = NodeProcess(MODULE, namespace, folder / "log", {"file": self.path, **parameters})

    def __enter__(self):
        self.process.__enter__()
        self.driver = Driver(self.namespace, "screw_recorder")
        return self

    def __exit__(self, *failure):
        self.process.__exit__(*failure)
        self.driver.node.destroy_node()

    def until_recorded(self, publisher, message, count=1):
        """Publish until so many messages more are in the file."""
        recorded = lambda: int(self.driver.status()[1]["messages"])  # noqa: E731
        before = recorded()
        self.driver.wait(lambda: recorded() >= before + count, "messages in the file",
                         lambda: publisher.publish(message))

    def says(self, text):
        """Wait for a status that says so."""
        return self.driver.status(lambda status, values: text in status.message)


def test_a_stranger_of_another_type_on_joint_states_hides_no_state(ros, tmp_path):
    """The stranger is there first, and is recorded until ours comes, as the type of our nodes is known."""
    with participant("stranger") as stranger, \
            Recording("foreign", tmp_path, topics="['joint_states']") as recording:
        twists = [stranger.create_publisher(Twist, "/foreign/joint_states", 10) for _ in range(3)]
        recording.until_recorded(twists[0], Twist())
        states = recording.driver.node.create_publisher(JointState, "joint_states", LATCHED)
        recording.says("not recorded: /foreign/joint_states of geometry_msgs/msg/Twist")
        recording.until_recorded(states, JointState(name=["a"], position=[1.0]), 5)
        assert recording.driver.status()[0].level == DiagnosticStatus.WARN
    found = messages(recording.path)["/foreign/joint_states"]
    assert any(hasattr(message, "linear") for message in found)
    assert sum(getattr(message, "position", []) == [1.0] for message in found) >= 5
    said = recording.process.output()
    assert said.count("not recorded: /foreign/joint_states of geometry_msgs/msg/Twist: 3 publish it, while "
                      "sensor_msgs/msg/JointState is recorded") == 1


def test_of_a_topic_of_others_the_type_with_most_publishers_is_recorded(ros, tmp_path):
    with participant("few") as few, Recording("most", tmp_path, topics="['number']") as recording:
        one = few.create_publisher(String, "/most/number", 10)
        recording.until_recorded(one, String(data="x"))
        many = [recording.driver.node.create_publisher(Float64, "number", 10) for _ in range(2)]
        recording.says("not recorded: /most/number of std_msgs/msg/String")
        recording.until_recorded(many[1], Float64(data=2.0))
    assert {type(message.data) for message in messages(recording.path)["/most/number"]} == {str, float}


NAMES = {   # of types, as a stranger on the network gives them, and how they are shown
    (b"this::msg", b"X"): "this/msg/X", (b"", b""): "", (b".::msg", b"X"): "./msg/X", (b"os", b"path"): "os/path",
    (b"\x1b[31m::msg", b"X"): "\\x1b[31m/msg/X", (b"a\xff", b"X"): "(not text)"}


def test_types_of_any_name_are_refused_and_the_others_recorded(ros, tmp_path):
    """`import this` prints a poem. Ours of that topic, and the topics after it in the list, are recorded."""
    topics = [f"t{k}" for k in range(len(NAMES))]
    with participant("stranger") as node, Stranger(node) as stranger, \
            Recording("malformed", tmp_path, topics=str([*topics, "joint_states", "number"])) as recording:
        for topic, (namespace, name) in zip(topics, NAMES, strict=True):
            stranger.publish(f"/malformed/{topic}", namespace, name)
        stranger.publish("/malformed/joint_states", b"a\xff", b"X")
        _, values = recording.says("/malformed/joint_states of (not text)")
        assert {f"not recorded: /malformed/{topic} of {NAMES[name]}" for topic, name in zip(topics, NAMES, strict=True)
                } <= values.keys()
        for name, message in (("joint_states", JointState(name=["a"], position=[1.0])), ("number", Float64(data=1.0))):
            recording.until_recorded(recording.driver.node.create_publisher(type(message), name, 10), message)
    found, said = messages(recording.path), recording.process.output()
    assert found.keys() == {"/malformed/joint_states", "/malformed/number"}
    assert "Zen" not in said and "\x1b" not in said


def test_a_publisher_that_offers_less_is_heard_too(ros, tmp_path):
    """A reliable subscription would not match it."""
    with Recording("less", tmp_path, topics="['number']") as recording:
        node = recording.driver.node
        recording.until_recorded(node.create_publisher(Float64, "number", LATCHED), Float64(data=1.0))
        recording.until_recorded(node.create_publisher(Float64, "number", BEST_EFFORT), Float64(data=2.0))
    assert {message.data for message in messages(recording.path)["/less/number"]} == {1.0, 2.0}


def test_a_name_that_is_no_topic_is_told_at_the_start(tmp_path):
    done = subprocess.run([sys.executable, "-m", MODULE, "--ros-args", "-p", f"file:={tmp_path}/run.mcap", "-p",
                           "topics:=['no topic']"], capture_output=True, text=True)
    assert done.returncode == 1 and "'no topic' is not the name of a topic" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


# ------------------------------------------------------------------------------------------------- without a graph
def test_only_messages_of_interface_packages_are_imported():
    assert type_of("sensor_msgs/msg/JointState") is JointState
    for name in ("this/msg/X", "json/msg/JSONDecoder", "sensor_msgs/msg/_joint_state", "sensor_msgs/JointState",
                 "../msg/X", "", "/msg/", "sensor_msgs/msg/Nothing", "std_srvs/srv/Trigger", "sensor_msgs/msg/\n"):
        with pytest.raises(ValueError, match="is not the name of a message type|is not installed"):
            type_of(name)
    assert "this" not in sys.modules


def test_the_index_of_a_workspace_is_that_of_ament_prefix_path(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=f"message type {GRIP} is not installed"):
        type_of(GRIP)
    index = tmp_path / "share" / "ament_index" / "resource_index" / "rosidl_interfaces"
    index.mkdir(parents=True)
    (index / "gripper_msgs").write_text("msg/Grip.idl\nmsg/Grip.msg\n")
    (tmp_path / "gripper_msgs").mkdir()
    (tmp_path / "gripper_msgs" / "msg.py").write_text("class Grip: pass\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    monkeypatch.syspath_prepend(tmp_path)
    assert type_of(GRIP).__name__ == "Grip"
    assert type_of("sensor_msgs/msg/JointState") is JointState


def test_the_type_of_our_nodes_comes_first_then_the_one_with_most_publishers_then_the_one_recorded():
    a, b, c = Offer("std_msgs/msg/A", 1), Offer("std_msgs/msg/B", 2), Offer("std_msgs/msg/C", 2)
    assert chosen([a, b, c], "std_msgs/msg/A", "std_msgs/msg/C") is a
    assert chosen([a, c, b], "", "std_msgs/msg/B") is b and chosen([a, b, c], "", "std_msgs/msg/C") is c
    assert chosen([], "std_msgs/msg/A", "") is None


def test_types_of_topics_are_those_of_our_nodes():
    rows = {row.name.replace("~/", "screw_dynamics/"): row.kind
            for table in (DYNAMICS, SIMULATOR) for row in (*table.publishes, *table.subscribes)}
    assert {name: kind for name, kind in OURS.items() if not name.startswith("/tf")} == {
        name: rows[name] for name in OURS if not name.startswith("/tf")}


RELIABLE, LATE = ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL


@pytest.mark.parametrize("reliability", itertools.product([RELIABLE, ReliabilityPolicy.BEST_EFFORT], repeat=2))
@pytest.mark.parametrize("durability", itertools.product([LATE, DurabilityPolicy.VOLATILE], repeat=2))
def test_what_is_asked_of_publishers_every_one_offers_and_as_much_as_that(reliability, durability):
    """DDS matches no subscription that asks for more than a publisher offers. Another type counts for itself."""
    def info(kind, *offered):
        return SimpleNamespace(topic_type=kind, qos_profile=QoSProfile(
            depth=1, reliability=offered[0], durability=offered[1]))

    infos = [info("a", *offered) for offered in zip(reliability, durability, strict=True)]
    found, other = offers([infos[0], info("b", ReliabilityPolicy.BEST_EFFORT, LATE), infos[1]])
    assert found == Offer("a", 2, set(reliability) == {RELIABLE}, set(durability) == {LATE})
    assert other == Offer("b", 1, False, True)
