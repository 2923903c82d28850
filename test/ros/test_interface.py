"""The tables of topics, services and actions are what the nodes have on the graph, and what the documentation shows."""
import importlib.util

import pytest
from rclpy.action import get_action_server_names_and_types_by_node
from rclpy.parameter import Parameter

from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.simulator.node import SimulatorNode
from screw_dynamics.ros.view.markers_node import MarkersNode
from screw_dynamics.ros.view.view_node import ViewNode

PARTS = {"<link>": "wrist", "<joint>": "elbow", "<group>": "arm", "<efforts>": "/interface/screw_dynamics/gravity"}
CASES = {   # a node with all that parameters ask for
    DynamicsNode: {"effort_commands": "gravity", "external_torque": True, "publish_mass_matrix": True,
                   "jacobian_links": ["wrist"]},
    SimulatorNode: {"publish_clock": True, "imus": ["wrist"], "force_torques": ["elbow"], "trajectory_groups": ["arm"]},
    MarkersNode: {},
    ViewNode: {"port": 18080},
}


def expected(node, rows):
    """{name on the graph: type} of those rows that need no robot on a floating base, and no package that is missing."""
    found = {}
    for row in rows:
        if "a floating base" in row.when or importlib.util.find_spec(row.kind.partition("/")[0]) is None:
            continue
        name = row.name
        for part, text in PARTS.items():
            name = name.replace(part, text)
        found[node.resolve_topic_name(name)] = row.kind
    return found


def on_the_graph(pairs, node):
    """{name: type} but of what rclpy gives every node."""
    own = node.get_fully_qualified_name()
    standard = {f"{own}/{name}" for name in (
        "describe_parameters", "get_parameter_types", "get_parameters", "get_type_description", "list_parameters",
        "set_parameters", "set_parameters_atomically", "change_state", "get_state", "get_available_states",
        "get_available_transitions", "get_transition_graph", "transition_event")}
    return {name: kinds[0] for name, kinds in pairs
            if name not in standard | {"/parameter_events", "/rosout"} and "/_action/" not in name}


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
