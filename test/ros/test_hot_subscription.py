"""The thread that takes joint_states: what it counts, whom it lets have a turn, and that nothing which happens to the
node under a flood of messages stops it, or makes it forget, repeat or reorder one."""
import contextlib
import itertools
import signal
import threading
import time

import numpy as np
import pytest
import rclpy
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.executor.fair_lock import FairLock
from screw_dynamics.ros.executor.guarded import GuardedExecutor
from screw_dynamics.ros.executor.hot_subscription import PUBLISHERS, HotSubscription, Losses
from screw_dynamics_interfaces import srv
from support import planar_arm as arm
from support.arm_driver import ArmDriver
from support.flood import POSITION, flood
from support.node_fixtures import drivers
from support.simulator_driver import nanoseconds

pytestmark = pytest.mark.slow


# --------------------------------------------------------------------------------------------------------- the parts
def info(number, publisher=b"a"):
    return {"publication_sequence_number": number, "publisher_gid": {"data": publisher}}


def test_what_a_publisher_has_numbered_and_did_not_arrive_is_lost():
    losses = Losses(lambda: 1)
    assert [losses.before(info(k)) for k in (7, 8, 9, 12, 13, 13, 11, 14)] == [0, 0, 0, 2, 0, 0, 0, 2]


def test_publishers_are_counted_apart_and_a_late_joiner_has_lost_nothing():
    losses = Losses(lambda: 2)
    assert [losses.before(info(k, p)) for k, p in ((7, b"a"), (1000, b"b"), (8, b"a"), (1002, b"b"))] == [0, 0, 0, 1]


def test_without_a_publisher_id_or_a_number_only_what_is_certain_is_lost():
    publishers = [1]
    losses = Losses(lambda: publishers[0])
    numbered = {"publication_sequence_number": 1}
    assert losses.before(numbered) == 0 and losses.before(numbered | {"publication_sequence_number": 3}) == 1
    publishers[0] = 2
    assert losses.before(numbered | {"publication_sequence_number": 9}) == 0
    assert losses.before({"publication_sequence_number": None}) == losses.before({}) == 0


def test_publishers_that_come_and_go_do_not_fill_the_memory():
    losses = Losses(lambda: 1)
    for k in range(10 * PUBLISHERS):
        losses.before(info(1, b"%d" % k))
    assert len(losses._last) <= PUBLISHERS


def test_who_has_had_a_turn_does_not_overtake_who_waits_for_one():
    lock, order = FairLock(), []

    def wait():
        with lock:
            order.append("waited")

    for _ in range(50):
        thread = threading.Thread(target=wait)
        with lock, lock:   # again, while one has it
            thread.start()
            while not lock._queue.locked():
                time.sleep(1e-4)
        with lock:
            order.append("had it before")
        thread.join()
    assert order == 50 * ["waited", "had it before"]


def test_in_another_executor_the_messages_come_by_it(ros):
    node = DynamicsNode(namespace="guest", parameter_overrides=[Parameter("robot_description", value=arm.urdf())])
    driver, executor = ArmDriver("guest"), SingleThreadedExecutor()
    executor.add_node(node)
    node.start()
    threads = {thread.name for thread in threading.enumerate()}
    assert "joint_states" not in threads
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    np.testing.assert_allclose(driver.answer(), arm.gravity(np.array([0.3, 0.7])), rtol=1e-12)
    executor.shutdown()
    thread.join()
    node.destroy_node()


@pytest.fixture
def paused(ros):
    """make(pause in ns): a subscription, the times and numbers of what came, and what publishes a number."""
    context = contextlib.ExitStack()

    def make(pause):
        node, lock = rclpy.create_node("paused"), FairLock()
        executor = GuardedExecutor(print, lock)
        executor.add_node(node)
        publisher, came = node.create_publisher(Float64, "number", 200), []
        subscription = HotSubscription(
            node, Float64, "number",
            lambda data: came.append((time.monotonic_ns(), deserialize_message(data, Float64).data)), lambda lost: None,
            QoSProfile(depth=200), pause=pause)
        context.callback(node.destroy_node)
        context.callback(subscription.join)
        context.callback(subscription.close)
        wait_until(lambda: publisher.get_subscription_count())
        return subscription, came, lambda number: publisher.publish(Float64(data=float(number)))

    with context:
        yield make


def wait_until(condition):
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(1e-3)


def test_a_pause_leaves_messages_in_the_queue_and_loses_none(paused):
    pause = 300_000_000
    _, came, publish = paused(pause)
    publish(0)
    wait_until(lambda: came)
    for number in range(1, 150):        # more than it takes at once
        publish(number)
    wait_until(lambda: len(came) >= 150)
    assert [number for _, number in came] == list(range(150))
    assert came[1][0] - came[0][0] >= pause


def test_closing_does_not_wait_for_the_end_of_a_pause(paused):
    subscription, came, publish = paused(3600 * 10**9)
    publish(0)
    wait_until(lambda: came)
    subscription.close()
    wait_until(lambda: subscription.ended)


def test_one_that_is_stopped_stays_on_the_graph_until_it_is_closed(paused):
    """So its thread does not destroy it, nor anybody while that waits for it."""
    subscription, came, publish = paused(0)
    subscription.stop()
    subscription.join()
    assert subscription.ended and subscription._subscription in list(subscription._node.subscriptions)
    publish(0)
    time.sleep(0.05)
    assert not came
    subscription.close()
    assert subscription._subscription not in list(subscription._node.subscriptions)


# --------------------------------------------------------------------------------------------------------- the node
@pytest.fixture(scope="module")
def driver(tmp_path_factory, ros):
    # The flood goes on when the signal comes, on which the node has to end quietly.
    with flood("flooded"), drivers(tmp_path_factory) as start:
        driver = start(ArmDriver, "flooded", {"robot_description": f"'{arm.urdf()}'"}, end=signal.SIGTERM)
        driver.wait(lambda: driver.torques["gravity"], "the first torque")
        yield driver


def change(driver, transition):
    assert driver.call(ChangeState, "~/change_state", transition=Transition(id=transition)).success


def torque(driver):
    driver.torques["gravity"].clear()
    driver.wait(lambda: driver.torques["gravity"], "a torque")
    return driver.torques["gravity"][-1].effort


def test_every_state_is_answered_once_and_in_order(driver):
    driver.torques["gravity"].clear()
    driver.wait(lambda: len(driver.torques["gravity"]) > 500, "torques")
    stamps = [nanoseconds(msg.header.stamp) for msg in driver.torques["gravity"]]
    assert all(before < after for before, after in itertools.pairwise(stamps))
    np.testing.assert_allclose(torque(driver), arm.gravity(np.array(POSITION)), rtol=1e-12)


def test_lifecycle_transitions_under_a_flood(driver):
    for _ in range(5):
        change(driver, Transition.TRANSITION_DEACTIVATE)
        published = len(driver.torques["gravity"])
        change(driver, Transition.TRANSITION_CLEANUP)
        assert len(driver.torques["gravity"]) - published < 200, "an inactive node publishes nothing more"
        change(driver, Transition.TRANSITION_CONFIGURE)
        change(driver, Transition.TRANSITION_ACTIVATE)
        np.testing.assert_allclose(torque(driver), arm.gravity(np.array(POSITION)), rtol=1e-12)
    [subscription] = driver.node.get_subscriptions_info_by_topic("joint_states")
    assert subscription.node_name == "screw_dynamics"


def test_services_are_answered_and_the_robot_changes_under_a_flood(driver):
    for mass in (2.0, 3.0, 4.0):
        assert driver.set_parameter("robot_description", arm.urdf(m2=mass)) == ""
        driver.wait(lambda mass=mass: np.allclose(torque(driver), arm.gravity(np.array(POSITION), m2=mass)), "it")
        reply = driver.call(srv.GetGravity, "~/get_gravity")
        np.testing.assert_allclose(reply.effort, arm.gravity(np.array(POSITION), m2=mass), rtol=1e-12)
    assert driver.set_parameter("publish_rate", 50.0) == ""
    torque(driver)
    assert driver.set_parameter("publish_rate", 0.0) == ""
    torque(driver)


def test_what_does_not_arrive_is_counted(driver):
    """The process is stopped until its queue is full many times over."""
    driver.status(lambda status, values: status.message == "publishing")
    received = driver.torques["gravity"]
    driver.process.process.send_signal(signal.SIGSTOP)
    seen = threading.Event()
    counter = driver.node.create_subscription(JointState, "joint_states", lambda msg: seen.set(), 1000)
    try:
        for _ in range(500):
            seen.clear()
            driver.wait(seen.is_set, "a state that the node doesn't take")
    finally:
        driver.process.process.send_signal(signal.SIGCONT)
    received.clear()
    status, values = driver.status(lambda status, values: int(values["lost messages"]) > 0)
    assert values["lost: joint_states"] == values["lost messages"]
    driver.node.destroy_subscription(counter)
    assert "messages were lost" in driver.process.output()
    driver.status(lambda status, values: status.message == "publishing")


def test_simulated_time_under_a_flood(tmp_path_factory, ros):
    """A jump backwards clears the state in the middle of messages; the next one completes it again. SIGINT ends it."""
    parameters = {"robot_description": f"'{arm.urdf()}'", "use_sim_time": "true"}
    with flood("timed"), drivers(tmp_path_factory) as start:
        driver = start(ArmDriver, "timed", parameters)
        clock, times = driver.publisher(Clock, "/clock"), itertools.cycle(range(1000, 900, -1))

        def publish():
            msg = Clock()
            msg.clock.sec = next(times)
            clock.publish(msg)

        driver.wait(lambda: len(driver.torques["gravity"]) > 300, "torques", while_waiting=publish)
        np.testing.assert_allclose(driver.torques["gravity"][-1].effort, arm.gravity(np.array(POSITION)), rtol=1e-12)
    assert rclpy.ok()
