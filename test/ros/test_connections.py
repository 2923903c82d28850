"""Who exchanges messages is told once all of them have found each other."""
import time

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Float64

from screw_dynamics.ros.simulator.connections import ANSWER, connect
from support.graph import PATIENCE


@pytest.fixture
def nodes(ros):
    found = [rclpy.create_node(name) for name in ("asking", "asked")]
    yield found
    for node in found:
        node.destroy_node()


def spin(executor, seconds, until=lambda: False):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        executor.spin_once(timeout_sec=0.05)


def test_a_view_of_topics_comes_when_the_others_have_answered(nodes):
    asking, asked = nodes
    asked.create_subscription(Float64, "shared", print, 1)
    executor = SingleThreadedExecutor()
    executor.add_node(asking)
    spin(executor, PATIENCE, lambda: asking.count_subscribers("shared"))
    view = executor.create_task(connect, asking, ["shared"])
    spin(executor, 0.1 * ANSWER, view.done)
    assert not view.done()          # nobody answers for the other
    executor.add_node(asked)
    spin(executor, PATIENCE, view.done)
    assert view.result() == {"/shared": [[], ["/asked"]]}
    executor.shutdown()
