"""Discovery of the nodes that are to exchange messages. It runs in each process by itself, and what a volatile
publisher sends before it has found a subscription is lost, whoever else sees both.

Two facts, which together ensure that nothing will be lost between this node and another one:

* This node's view of the graph: an endpoint of another node that is in it has been matched with those of this node.
* A client of this node, made after its subscriptions, has an answer from the other node. Endpoints become known in the
  order in which they were made, so the other node knew this one's subscriptions when it found the client."""

import time
from collections.abc import Iterable

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.task import Future

from ..endpoints import STEADY
from ..node.watches import is_name, names

TOPICS = ("joint_states", "joint_commands", "/clock")   # of the simulator
ANSWER = 10.0    # seconds of wall time within which a node answers: some offer no services of parameters
AGAIN = 1.0      # after which it is asked again: an answer to a client that its node has not found yet is lost
INTERVAL = 0.02  # between two looks at an answer


def endpoints(node: Node, topics: Iterable[str]) -> dict[str, list[list[str]]]:
    """Return a node's view of topics: {topic: [nodes that publish, nodes that subscribe]}, full names, sorted."""
    found = {}
    for topic in sorted(node.resolve_topic_name(topic) for topic in topics):
        found[topic] = [names(query, topic) for query in (
            node.get_publishers_info_by_topic, node.get_subscriptions_info_by_topic)]
    return found


class Greeting:
    """Requests from `node`, made now, to all other nodes of a view; `answered()` once each has answered.

    Who has not after ANSWER seconds is passed over: it may offer no service. To be closed."""

    def __init__(self, node: Node, view: dict[str, list[list[str]]]):
        self._node, self._end = node, time.monotonic() + ANSWER
        others = {name for sides in view.values() for side in sides for name in side}
        others = {name for name in others if is_name(name) and name != node.get_fully_qualified_name()
                  and "_UNKNOWN_" not in name}
        self._clients = [node.create_client(GetParameters, f"{name}/get_parameters") for name in sorted(others)]
        self._futures = {client: [] for client in self._clients}
        self._asked = 0.0

    def answered(self) -> bool:
        """Return True if all have answered, or had the time to; ask those that have not."""
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
    """The node's view of topics, once all nodes in it have answered a greeting."""
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
