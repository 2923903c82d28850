"""Sends joint states at a rate and times the answers: a loop on a wait set of its own, light beside what it times."""
import struct
import time
from typing import NamedTuple

import numpy as np
import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from screw_dynamics.ros.node.cdr import joint_state_template

from .ros_processes import STARTING

QOS = QoSProfile(depth=1000)
GRACE = 0.3         # seconds for the last answers
STAMP = struct.Struct("<I")
STAMP_AT = 8        # in the bytes of a JointState: nanoseconds, here the number of the message


class Window(NamedTuple):
    """What was seen in one go: seconds from each message to its answer, messages without one, processor seconds."""

    latencies: np.ndarray
    lost: int
    cpu: float


class Driver:
    """Publishes states of `names` on the topic `source` and awaits a JointState of the same stamp on `target`."""

    def __init__(self, node, names, source, target):
        self._node = node
        self._publisher = node.create_publisher(JointState, source, QOS)
        self._subscription = node.create_subscription(JointState, target, lambda message: None, QOS, raw=True)
        self._message = joint_state_template(names, ["position", "velocity"])
        self._message.fields["position"][:] = 0.1
        self._wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)

    def wait_for_the_first(self, process):
        """Send until an answer comes."""
        end = time.monotonic() + STARTING
        while time.monotonic() < end and process.alive():
            if len(self._run(10.0, 2, GRACE)[0]):
                return
        raise RuntimeError(f"no answer in {STARTING:.0f} s: {process.output()}")

    def window(self, rate, seconds, process):
        """Messages at a rate for some seconds, after a fifth of a second that does not count."""
        self._run(rate, max(2, int(rate / 5)), GRACE)
        before, count = process.cpu(), int(rate * seconds)
        latencies, lost = self._run(rate, count, GRACE)
        return Window(latencies, lost, process.cpu() - before)

    def _run(self, rate, count, grace):
        """Send messages; the latencies of those that are answered, and how many are not."""
        sent, latencies = np.zeros(count, np.int64), np.full(count, np.nan)
        period, k = int(1e9 / rate), 0
        due = time.perf_counter_ns()
        end = due + count * period + int(grace * 1e9)
        while (now := time.perf_counter_ns()) < end and np.isnan(latencies[count - 1]):
            if k < count and now >= due:
                self._message.stamp(0, k)
                sent[k] = time.perf_counter_ns()
                self._publisher.publish(self._message.encode())
                k, due = k + 1, due + period
                continue
            self._await((due if k < count else end) - now)
            now = time.perf_counter_ns()
            while (taken := self._subscription.handle.take_message(JointState, True)) is not None:
                number, = STAMP.unpack_from(taken[0], STAMP_AT)
                if number < k and np.isnan(latencies[number]):
                    latencies[number] = (now - sent[number]) * 1e-9
        answered = latencies[~np.isnan(latencies)]
        return answered, count - len(answered)

    def _await(self, nanoseconds):
        self._wait_set.clear_entities()
        self._wait_set.add_subscription(self._subscription.handle)
        self._wait_set.wait(nanoseconds)


def make_node():
    """A node of this process."""
    rclpy.init()
    return rclpy.create_node("benchmark")
