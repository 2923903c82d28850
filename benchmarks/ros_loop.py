"""A closed loop of four processes: simulator, dynamics node, and two plain ones, a relay and a listener."""
import time
from contextlib import ExitStack

import rclpy
from diagnostic_msgs.msg import DiagnosticArray

from .ros_processes import STARTING, node, plain

NAMESPACE = "loop"


class Diagnostics:
    """The latest values of our nodes, with the time at which they were sent."""

    def __init__(self, ros_node):
        self._node, self._latest = ros_node, {}
        ros_node.create_subscription(DiagnosticArray, "/diagnostics", self._take, 10)

    def _take(self, message):
        stamp = message.header.stamp.sec + message.header.stamp.nanosec * 1e-9
        for status in message.status:
            name = status.hardware_id.rpartition("/")[2]
            self._latest[name] = stamp, {entry.key: entry.value for entry in status.values}

    def next(self, *names, accept=lambda values: True):
        """The first values of each of these nodes that are sent from now on: older ones may wait in the queue."""
        begin, end = time.time(), time.monotonic() + STARTING
        while not all(name in self._latest and self._latest[name][0] > begin and accept(self._latest[name][1])
                      for name in names):
            if time.monotonic() > end:
                raise RuntimeError(f"the loop does not run: {self._latest}")
            rclpy.spin_once(self._node, timeout_sec=0.1)
        return [self._latest[name] for name in names]


def closed_loop(ros_node, urdf, rate, seconds):
    """Run it, and return {what: number}: how many messages were heard at each place, lost before it, and the pace."""
    names, diagnostics = ("screw_simulator", "screw_dynamics"), Diagnostics(ros_node)
    with ExitStack() as stack:
        dynamics = stack.enter_context(node("dynamics", NAMESPACE, robot_description=urdf))
        relay = stack.enter_context(plain(
            f"/{NAMESPACE}/screw_dynamics/gravity", f"/{NAMESPACE}/joint_commands", "relay"))
        listener = stack.enter_context(plain(f"/{NAMESPACE}/joint_states", f"/{NAMESPACE}/echo", "listener"))
        simulator = stack.enter_context(node(
            "simulator", NAMESPACE, robot_description=urdf, publish_rate=float(rate), dt=0.001))
        processes = {"simulator": simulator, "dynamics node": dynamics, "relay": relay, "listener": listener}
        diagnostics.next(*names, accept=lambda values: float(values.get("command rate [Hz]", 1)) > 0
                         and float(values.get("gravity rate [Hz]", 1)) > 0)
        time.sleep(2.0)
        first = diagnostics.next(*names), relay.counts(), listener.counts()
        cpu = {name: process.cpu() for name, process in processes.items()}
        begin = time.monotonic()
        time.sleep(seconds)
        elapsed = time.monotonic() - begin
        cpu = {name: (process.cpu() - cpu[name]) / elapsed for name, process in processes.items()}
        last = diagnostics.next(*names), relay.counts(), listener.counts()
    return summary(first, last, cpu)


def summary(first, last, cpu):
    """The differences between two looks at the loop."""
    (simulator, dynamics), relay, listener = (
        _pair(a, b) for a, b in ((list(zip(first[0], last[0], strict=True)), None), (first[1], last[1]),
                                 (first[2], last[2])))
    elapsed = simulator[1][0] - simulator[0][0]
    advanced = _change("simulated time [s]", simulator)
    return {
        "real-time factor": advanced / elapsed,
        "behind real time [s]": _change("behind real time [s]", simulator),
        "lost": {
            "simulator": int(_change("lost messages", simulator)),
            "dynamics node": int(_change("lost messages", dynamics)),
            "relay": relay["lost"], "listener": listener["lost"]},
        "heard by the relay [Hz]": relay["messages"] / elapsed,
        "heard by the listener [Hz]": listener["messages"] / elapsed,
        "share of a core": cpu,
    }


def _pair(first, last):
    return first if last is None else {key: last[key] - first[key] for key in first}


def _change(key, pair):
    return float(pair[1][1][key]) - float(pair[0][1][key])
