"""What every managed node has, seen at markers_node, in this process."""
import threading

import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from visualization_msgs.msg import MarkerArray

from screw_dynamics.ros.node.guarded import GuardedExecutor
from screw_dynamics.ros.view.markers_node import MarkersNode
from support.graph import Driver


class Failing(MarkersNode):
    """Its endpoints cannot be made at first, when some are there already."""

    faults = 1

    def create_endpoints(self):
        super().create_endpoints()
        if self.faults:
            self.faults -= 1
            raise RuntimeError("a trial")


@pytest.fixture
def run(ros):
    """run(class, namespace): an unconfigured node that an executor spins."""
    ends = []

    def run(kind, namespace):
        node = kind(namespace=namespace, parameter_overrides=[Parameter("autostart", value=False)])
        executor = GuardedExecutor(node.failed, node.turns)
        executor.add_node(node)
        thread = threading.Thread(target=executor.spin, daemon=True)
        thread.start()
        ends.extend((node.end, lambda: thread.join(60.0), executor.shutdown))
        return node

    yield run
    for end in reversed(ends):
        end()


def change(node, transition):
    with node.turns:
        return getattr(node, f"trigger_{transition}")()


def test_what_fails_to_be_configured_leaves_nothing_and_can_be_configured_again(run):
    """As if nothing had been: the endpoints are those of a node that was configured once."""
    def endpoints(node):
        return [sorted(entity.topic_name.rpartition("/")[2] for entity in entities)
                for entities in (node.publishers, node.subscriptions)], len([*node.timers]), len([*node.services])

    failing, other = run(Failing, "failing"), run(MarkersNode, "other")
    before = endpoints(failing)
    assert change(failing, "configure") == TransitionCallbackReturn.FAILURE
    assert failing.state_label == "unconfigured" and failing.description is None
    assert endpoints(failing) == before == endpoints(other)
    for node in failing, other:
        assert change(node, "configure") == TransitionCallbackReturn.SUCCESS
    assert endpoints(failing) == endpoints(other) != before


@pytest.mark.parametrize("made_before", [True, False])
def test_a_publisher_speaks_while_its_node_is_active_whenever_it_was_made(run, made_before):
    node = run(MarkersNode, f"made_{made_before}".lower())
    driver = Driver(node.get_namespace().strip("/"), "screw_markers")
    received = driver.collect(MarkerArray, "~/markers")
    change(node, "configure")
    if not made_before:
        change(node, "activate")
    with node.turns:
        publisher = node.publisher("~/markers")
    if made_before:
        publisher.publish(MarkerArray())
        change(node, "activate")
    driver.wait(lambda: received, "a message", lambda: publisher.publish(MarkerArray()))
    change(node, "deactivate")
    assert not publisher.is_activated
    driver.node.destroy_node()
