"""The tables of topics, services and actions are what the nodes have on the graph, and what the documentation shows."""
import re

import pytest
import rclpy
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.dynamics.settings import SETTINGS as DYNAMICS
from screw_dynamics.ros.simulator.node import SimulatorNode
from screw_dynamics.ros.view.markers_node import MarkersNode
from screw_dynamics.ros.view.recorder_node import RecorderNode
from screw_dynamics.ros.view.view_node import ViewNode
from support.graph import Driver
from support.paths import ROOT

PARTS = {"<link>": "wrist", "<joint>": "elbow", "<group>": "arm", "<gripper>": "hand", "<parallel_gripper>": "jaws",
         "<object>": "ball", "<efforts>": "/interface/screw_dynamics/gravity"}
CASES = {   # a node with all that parameters ask for
    DynamicsNode: {"effort_commands": "gravity", "external_torque": True, "jacobian_links": ["wrist"],
                   "publish_mass_matrix": True},
    SimulatorNode: {"publish_clock": True, "imus": ["wrist"], "force_torques": ["elbow"], "ground": True,
                    "bumpers": ["wrist"],
                    "left_wheels": ["l"], "right_wheels": ["r"], "wheel_radius": 0.1, "wheel_separation": 0.3,
                    "trajectory_groups": ["arm"],
                    "gripper_groups": ["hand", "jaws"], "hand.joint": "finger", "jaws.joint": "jaw",
                    "jaws.type": "ParallelGripperCommand"},
    MarkersNode: {},
    ViewNode: {"port": 18080},
}
STANDARD = {    # what every node has, and every lifecycle node
    "describe_parameters", "get_parameter_types", "get_parameters", "get_type_description", "list_parameters",
    "set_parameters", "set_parameters_atomically", "change_state", "get_state", "get_available_states",
    "get_available_transitions", "get_transition_graph", "transition_event"}


def expected(node, rows):
    """{name on the graph: type} of those rows that need no robot, on a floating base or with drives, no file, and no
    package that is missing."""
    found = {}
    for row in rows:
        needs_more = any(need in row.when for need in (
            "a floating base", "drives, by", "parameter `urdf`", "an object that moves"))
        if needs_more or not installed(row):
            continue
        name = row.name
        for part, text in PARTS.items():
            name = name.replace(part, text)
        found[node.resolve_topic_name(name)] = row.kind
    return found


def installed(row):
    """Whether its type is there: a package may be of an older version."""
    try:
        return row.type is not None
    except (ImportError, AttributeError):
        return False


def on_the_graph(pairs, node):
    """{name: type} but of what rclpy gives every node."""
    own = {f"{node.get_fully_qualified_name()}/{name}" for name in STANDARD}
    return {name: kinds[0] for name, kinds in pairs
            if name not in own | {"/parameter_events", "/rosout"} and "/_action/" not in name}


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_a_node_has_what_its_tables_say(ros, kind):
    if kind is ViewNode:
        pytest.importorskip("viser")
    given = [Parameter(name, value=value) for name, value in CASES[kind].items()]
    node = kind(namespace="interface", parameter_overrides=given)
    try:
        node.trigger_configure()
        assert node.state_label == "inactive"
        name, space = node.get_name(), node.get_namespace()
        interface = kind.interface
        for found, rows in ((node.get_publisher_names_and_types_by_node(name, space), interface.publishes),
                            (node.get_subscriber_names_and_types_by_node(name, space), interface.subscribes),
                            (node.get_service_names_and_types_by_node(name, space), interface.serves),
                            (get_action_server_names_and_types_by_node(node, name, space), interface.acts)):
            assert on_the_graph(found, node) == expected(node, rows)
    finally:
        node.end()
        node.endpoints.close()
        node.destroy_node()


def test_the_recorder_has_what_its_table_says(ros, tmp_path):
    """It subscribes to a topic that its parameter names when somebody publishes it, with the type it has there."""
    pytest.importorskip("mcap")
    given = {"file": str(tmp_path / "run.mcap"), "topics": ["joint_states", "nobody"]}
    node = RecorderNode(namespace="interface", parameter_overrides=[
        Parameter(name, value=value) for name, value in given.items()])
    row, = RecorderNode.interface.subscribes
    driver = Driver("interface", node.get_name())
    try:
        def heard():
            found = node.get_subscriber_names_and_types_by_node(node.get_name(), node.get_namespace())
            return on_the_graph(found, node)
        assert heard() == {}
        driver.node.create_publisher(JointState, "joint_states", 1)
        driver.wait(heard, "a subscription", lambda: rclpy.spin_once(node, timeout_sec=0.0))
        assert (row.name, row.kind) == ("<topics>", "any")
        assert heard() == {"/interface/joint_states": "sensor_msgs/msg/JointState"}
        found = node.get_publisher_names_and_types_by_node(node.get_name(), node.get_namespace())
        assert on_the_graph(found, node) == expected(node, RecorderNode.interface.publishes)
        for table in (RecorderNode.interface.serves, RecorderNode.interface.acts):
            assert table == ()
        assert on_the_graph(node.get_service_names_and_types_by_node(node.get_name(), node.get_namespace()), node) == {}
    finally:
        node.end()
        node.destroy_node()
        driver.node.destroy_node()


def test_pages_name_what_there_is():
    """Topics and services as `~/name`, and the parameters that docs/dynamics_node.md explains."""
    names = {row.name for kind in (*CASES, RecorderNode) for table in kind.interface for row in table}
    names |= {f"~/{name}" for name in STANDARD}
    known = re.compile("|".join(re.sub(r"<\w+>", r"[\\w<>]+", name) for name in names))
    pages = {path: path.read_text() for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))}
    named = {name for text in pages.values() for name in re.findall(r"`(~/[\w<>/]+)`", text)}
    assert len(named) > 20 and {name for name in named if not known.fullmatch(name)} == set()
    words = set(re.findall(r"[`( ]((?:external|payload|jacobian|publish)_\w+)", pages[ROOT / "docs/dynamics_node.md"]))
    parameters = {setting.name for setting in DYNAMICS}
    assert {"external_torque_gain", "payload_recording"} <= words <= parameters
