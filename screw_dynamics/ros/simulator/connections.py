"""Discovery between nodes that exchange messages. Each process discovers endpoints by itself. A message of a volatile
publisher is lost if its process has not discovered the subscription, whatever other processes have discovered.

Two facts together ensure that no message is lost between this node and another one:

* This node's view of the graph: endpoints of other nodes in it are matched with those of this node.
* A client of this node, created after its subscriptions, has a response from the other node. Endpoints are discovered
  in the order of their creation, so the other node has discovered this node's subscriptions before the client."""

import time
from collections.abc import Iterable

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.task import Future

from ..endpoints import STEADY
from ..node.watches import is_name, names

TOPICS = ("joint_states", "joint_commands", "/clock")   # topics of the simulator
ANSWER = 10.0    # seconds of wall time to wait for a response: some nodes have no parameter services
AGAIN = 1.0      # seconds between requests: a response to an undiscovered client is lost
INTERVAL = 0.02  # seconds between two polls for a response


def endpoints(node: Node, topics: Iterable[str]) -> dict[str, list[list[str]]]:
    """Return a node's view of topics, {topic: [publishing nodes, subscribing nodes]}, with sorted full names."""
    found = {}
    for topic in sorted(node.resolve_topic_name(topic) for topic in topics):
        found[topic] = [names(query, topic) for query in (
            node.get_publishers_info_by_topic, node.get_subscriptions_info_by_topic)]
    return found


class Greeting:
    """Requests from `node` to all other nodes of a view. `answered()` returns True once each has responded. Call
    `close` afterwards.

    A node without a response after ANSWER seconds is skipped: it may have no such service."""

    def __init__(self, node: Node, view: dict[str, list[list[str]]]):
        self._node, self._end = node, time.monotonic() + ANSWER
        others = {name for sides in view.values() for side in sides for name in side}
        others = {name for name in others if is_name(name) and name != node.get_fully_qualified_name()
                  and "_UNKNOWN_" not in name}
        self._clients = [node.create_client(GetParameters, f"{name}/get_parameters") for name in sorted(others)]
        self._futures = {client: [] for client in self._clients}
        self._asked = 0.0

    def answered(self) -> bool:
        """Return True if all nodes have responded or the time is over; repeat the requests to the others."""
        now = time.monotonic()
        silent = [client for client in self._clients if not any(future.done() for future in self._futures[client])]
        again, self._asked = now > self._asked + AGAIN, now if now > self._asked + AGAIN else self._asked
        for client in silent:
            if client.service_is_ready() and (again or not self._futures[client]):
                self._futures[client].append(client.call_async(GetParameters.Request()))
        return not silent or now > self._end

    def close(self) -> None:
        """Remove the clients."""
        for client in self._clients:
            self._node.destroy_client(client)


async def connect(node: Node, topics: Iterable[str]) -> dict[str, list[list[str]]]:
    """Return the node's view of topics when all nodes in it have responded to a request."""
    greeting, answered = Greeting(node, endpoints(node, topics)), Future()

    def look():
        if not answered.done() and greeting.answered():
            answered.set_result(True)

    timer = node.create_timer(INTERVAL, look, clock=STEADY)
    try:
        await answered
    finally:
        node.destroy_timer(timer)
        greeting.close()
    return endpoints(node, topics)
