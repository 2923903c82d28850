"""What every managed node has, seen at markers_node, in this process."""
import threading
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from rclpy.action import CancelResponse
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from visualization_msgs.msg import MarkerArray

from screw_dynamics.ros.executor.guarded import GuardedExecutor
from screw_dynamics.ros.node import actions
from screw_dynamics.ros.node.actions import Action
from screw_dynamics.ros.node.interface import Endpoint
from screw_dynamics.ros.view.interface import MARKERS
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
    """run(class, namespace, parameters): an unconfigured node that an executor spins, until run.end()."""
    ends = []

    def run(kind, namespace, **parameters):
        node = kind(namespace=namespace, parameter_overrides=[
            Parameter(name, value=value) for name, value in {"autostart": False, **parameters}.items()])
        executor = GuardedExecutor(node.failed, node.lock)
        executor.add_node(node)
        thread = threading.Thread(target=executor.spin, daemon=True)
        thread.start()
        ends.extend((node.end, lambda: thread.join(60.0), executor.shutdown))
        return node

    def end():
        while ends:
            ends.pop()()
    run.end = end
    yield run
    end()


def change(node, transition):
    with node.lock:
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
    with node.lock:
        publisher = node.publisher("~/markers")
    if made_before:
        publisher.publish(MarkerArray())
        change(node, "activate")
    driver.wait(lambda: received, "a message", lambda: publisher.publish(MarkerArray()))
    change(node, "deactivate")
    assert not publisher.is_activated
    driver.node.destroy_node()


def test_no_thread_of_a_subscription_outlives_its_node(run):
    before = set(threading.enumerate())
    node = run(MarkersNode, "threads", efforts="gravity")
    change(node, "configure")
    names = {thread.name for thread in set(threading.enumerate()) - before}
    assert {"joint_states", "gravity"} <= names
    run.end()
    assert set(threading.enumerate()) <= before


def test_a_goal_that_is_over_is_not_cancelled(run, monkeypatch):
    """Nor in the moment between its end and the delivery of its result. No type of an action need be installed."""
    monkeypatch.setattr(actions, "ActionServer", MagicMock())

    class Acting(MarkersNode):
        interface = MARKERS._replace(acts=(Endpoint("~/act", "std_msgs/msg/String", "a trial"),))
    node, begun, cancelled = run(Acting, "acting"), [], []
    handle = SimpleNamespace(goal_id=SimpleNamespace(uuid=bytes(16)), request=None, execute=lambda: None)
    with node.lock:
        action = Action(node, "~/act", begun.append, cancelled.append)
        action._on_accepted(handle)
        assert action._on_cancel(handle) == CancelResponse.ACCEPT and begun == cancelled
        begun[0].finish(True, None)
        assert action._on_cancel(handle) == CancelResponse.REJECT and len(cancelled) == 1
