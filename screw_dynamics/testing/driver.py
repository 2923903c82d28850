"""The nodes of a test: its own, which calls services, finds endpoints, records topics, and spins while it waits, and
those of control laws."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from screw_dynamics.control import Loop
from screw_dynamics.ros.node.process import keep_logs
from screw_dynamics.ros.simulator.connections import AGAIN, Greeting, endpoints

from .errors import LockstepError

DEPTH = 10_000   # queue length of a recording's subscription


class Driver:
    """A node `test_driver` in a namespace, and the nodes of the test that are spun with it.

    check(): called while waiting; raises if waiting cannot succeed. patience: wall time in seconds without progress."""

    def __init__(self, namespace: str, nodes: Iterable[Node], check: Callable[[], None], patience: float):
        self._owns_context = not rclpy.ok()
        if self._owns_context:
            keep_logs()
            rclpy.init(signal_handler_options=SignalHandlerOptions.NO)   # pytest handles Ctrl-C
        self.node = Node("test_driver", namespace=namespace)
        self._executor = SingleThreadedExecutor()
        for node in (self.node, *nodes):
            self._executor.add_node(node)
        self._check, self._patience = check, patience
        self._clients: dict[str, Any] = {}

    def close(self) -> None:
        """Remove the node; the test's nodes are kept."""
        self._executor.shutdown()
        self.node.destroy_node()
        if self._owns_context:
            rclpy.try_shutdown()

    def wait(self, condition: Callable[[], Any], what: str | Callable[[], str],
             progress: Callable[[], Any] = lambda: None) -> Any:
        """Spin until the condition is true, and return its value. Raises LockstepError, with the text `what`, after
        `patience` without a change of `progress()`."""
        seen, end = progress(), time.monotonic() + self._patience
        while not (value := condition()):
            if (now := progress()) != seen:
                seen, end = now, time.monotonic() + self._patience
            if time.monotonic() > end:
                raise LockstepError(f"waited {self._patience:g} s of wall time for "
                                    + (what if isinstance(what, str) else what()))
            self._executor.spin_once(0.05)
            self._check()
        return value

    def client(self, kind: type, name: str) -> Any:
        """Return a client of a service, created once and after the service is available."""
        if name not in self._clients:
            client = self._clients[name] = self.node.create_client(kind, name)
            self.wait(client.service_is_ready, f"the service {client.srv_name}")
        return self._clients[name]

    def request(self, kind: type, name: str, /, **fields: Any) -> Any:
        """Return the future of a service's response."""
        return self.client(kind, name).call_async(kind.Request(**fields))

    def call(self, kind: type, name: str, /, **fields: Any) -> Any:
        """Return the response of a service."""
        future = self.request(kind, name, **fields)
        self.wait(future.done, f"an answer of the service {self.node.resolve_service_name(name)}")
        return future.result()

    def ask(self, kind: type, name: str, /, **fields: Any) -> Any:
        """Return the response of a service that may be called repeatedly: a response to a new client can get lost."""
        futures, asked = [], 0.0

        def answered():
            nonlocal asked
            if time.monotonic() > asked + AGAIN:
                futures.append(self.request(kind, name, **fields))
                asked = time.monotonic()
            return any(future.done() for future in futures)

        self.wait(answered, f"an answer of the service {self.node.resolve_service_name(name)}")
        return next(future.result() for future in futures if future.done())

    # --------------------------------------------------------------------------------------------- topics
    def publishers(self, topic: str) -> list:
        """Return the publishers of a topic."""
        return self.node.get_publishers_info_by_topic(self.node.resolve_topic_name(topic))

    def subscriptions(self, topic: str) -> list:
        """Return the subscriptions of a topic by other nodes."""
        found = self.node.get_subscriptions_info_by_topic(self.node.resolve_topic_name(topic))
        return [info for info in found if info.node_name != self.node.get_name()]

    def record(self, kind: type, topic: str, messages: list) -> Any:
        """Append every message of a topic to a list. The subscription is reliable if all current publishers are."""
        offered = [info.qos_profile.reliability for info in self.publishers(topic)]
        best_effort = ReliabilityPolicy.BEST_EFFORT in offered
        qos = QoSProfile(
            depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT if best_effort else ReliabilityPolicy.RELIABLE)
        return self.node.create_subscription(kind, topic, messages.append, qos)

    def greet(self, topics: Sequence[str]) -> None:
        """Wait until every node of these topics has discovered this node's subscriptions."""
        greeting = Greeting(self.node, endpoints(self.node, topics))
        try:
            self.wait(greeting.answered, "answers of all nodes")
        finally:
            greeting.close()


class LawNode(Node):
    """A node that makes a cycle of a `Loop` for each message on joint_states, and publishes on joint_commands. A state
    that does not come after the one before starts the law anew, as after a reset."""

    def __init__(self, loop: Loop, namespace: str = ""):
        super().__init__(f"law_{loop.law.name}", namespace=namespace)
        self._loop, self._last = loop, -np.inf
        self._commands = self.create_publisher(JointState, "joint_commands", 1)
        self.create_subscription(JointState, "joint_states", self._answer, 1)

    def _answer(self, state: JointState) -> None:
        t = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        if t <= self._last:
            self._loop.reset()
        self._last, names = t, self._loop.robot.joint_names
        order = [state.name.index(name) for name in names]
        q, qd = (np.array(x)[order] for x in (state.position, state.velocity))
        command = JointState(name=names, effort=self._loop(t, q, qd).tolist())
        command.header.stamp = state.header.stamp
        self._commands.publish(command)
