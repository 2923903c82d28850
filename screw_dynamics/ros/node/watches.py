"""Checks of a node's clock and of the graph. Each watch returns a warning, or "" if there is none."""

from collections.abc import Callable, Collection, Sequence

from rclpy.exceptions import InvalidTopicNameException
from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rclpy.validate_full_topic_name import validate_full_topic_name

from ..timing import SECOND
from .joint_state import listed
from .plain_text import printable

UNREADABLE = "(a node whose name or type is not text)"


class ClockWatch:
    """A watch that warns while the simulated time of the node does not advance between two calls."""

    def __init__(self, node: Node):
        self._node = node
        self._before: int | None = None

    def __call__(self) -> str:
        """Return the warning, or "" without one."""
        clock = self._node.get_clock()
        before, self._before = self._before, clock.now().nanoseconds
        if not clock.ros_time_is_active:
            self._before = None
            return ""
        if before != self._before:
            return ""
        if before == 0:
            return "use_sim_time is true, and no time has come on /clock"
        return f"simulated time stands still at {before / SECOND:.3f} s: /clock has stopped, or its source is paused"


def namesakes(node: Node) -> str:
    """Return a warning if several nodes have this node's name: they share its topics and services. Otherwise return
    ""."""
    own = node.get_name(), node.get_namespace()
    count = node.get_node_names_and_namespaces().count(own)
    if count < 2:
        return ""
    return f"{count} nodes are named {node.get_fully_qualified_name()}: they share topics and services"


def rivals(node: Node, published: str, subscribed: str) -> str:
    """Return a warning if other nodes publish the topic `published` and subscribe to `subscribed`, as this one does;
    else "" is returned."""
    takers = subscribers(node, subscribed)
    others = [name for name in publishers(node, published)
              if name in takers and name not in (node.get_fully_qualified_name(), UNREADABLE)]
    if not others:
        return ""
    return f"{listed(others)} simulates on {node.resolve_topic_name(published)} too"


def runs(node: Node, name: str) -> bool:
    """Return True if a node of this name runs, in any namespace, in this node's view of the graph; False if the graph
    is unreadable."""
    try:
        return name in node.get_node_names()
    except UnicodeDecodeError:      # some node's name is not valid text
        return False


def publishers(node: Node, topic: str, gids: Collection[bytes] | None = None) -> list[str]:
    """Return the full names of the nodes that publish a topic; [UNREADABLE] if this node cannot read them. gids: those
    of the publishers that count, all by default."""
    def found(resolved: str) -> list[TopicEndpointInfo]:
        return [info for info in node.get_publishers_info_by_topic(resolved)
                if gids is None or bytes(info.endpoint_gid) in gids]
    return sorted(set(names(found, node.resolve_topic_name(topic))))


def subscribers(node: Node, topic: str) -> list[str]:
    """Return the full names of the nodes that subscribe to a topic; [UNREADABLE] if this node cannot read them."""
    return sorted(set(names(node.get_subscriptions_info_by_topic, node.resolve_topic_name(topic))))


def names(query: Callable[[str], Sequence[TopicEndpointInfo]], topic: str) -> list[str]:
    """Return the full names, sorted, of the nodes of all endpoints that a query method of a node finds for a topic;
    [UNREADABLE] if the type or node name of any endpoint is not valid text, for which rclpy fails as a whole."""
    try:
        return sorted(full_name(info) for info in query(topic))
    except UnicodeDecodeError:
        return [UNREADABLE]


def full_name(info: TopicEndpointInfo) -> str:
    """Return the full name of an endpoint's node, escaped for display."""
    return printable(f"{info.node_namespace.rstrip('/')}/{info.node_name}")


def is_name(text: str) -> bool:
    """Return True if a full name is valid for a node in ROS; names reported by other nodes may be invalid."""
    try:
        return bool(validate_full_topic_name(text))
    except InvalidTopicNameException:
        return False
