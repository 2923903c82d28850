"""robot_description on its topic, published by a node that has read it from a file: for RViz, and for nodes without a
file."""

from rclpy.publisher import Publisher
from std_msgs.msg import String

from ..endpoints import LATCHED, OVERRIDABLE_LATCHED, STEADY, own
from .joint_state import listed
from .watches import full_name

LOOK = 1.0      # s from the node's configuration until other publishers of a description are discovered


class PublishedDescription:
    """A publisher of the parameter robot_description of a ManagedNode, whose `endpoints` destroy the objects created
    here.

    A robot has one description: if another node publishes one, for example robot_state_publisher, this node does not,
    and logs that. Two nodes that read files and start at the same moment both publish."""

    def __init__(self, node):
        self._node, self._publisher = node, None
        row = node.interface.row("publishes", "robot_description")
        self._kind, self._topic = row.type, node.resolve_topic_name(row.name)
        self._timer = node.create_timer(LOOK, node.guarded("robot_description", self._begin), clock=STEADY)
        node.endpoints.callback(self._end_timer)
        node.settings.listen(self._on_parameters)

    def _begin(self) -> None:
        self._end_timer()
        others = [full_name(info) for info in self._node.get_publishers_info_by_topic(self._topic)]
        if others:
            self._node.log.info(f"{self._topic} is published by {listed(others)}: this node, which has read "
                                f"{self._node.settings.urdf}, does not publish it")
            return
        self._publisher = self._create()
        self._publish()

    def _create(self) -> Publisher:
        publisher = self._node.create_publisher(
            self._kind, self._topic, own(LATCHED), qos_overriding_options=OVERRIDABLE_LATCHED)
        self._node.endpoints.callback(self._node.destroy_publisher, publisher)
        return publisher

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._node.destroy_timer(self._timer)
            self._timer = None

    def _on_parameters(self, changed: set[str]) -> None:
        if "robot_description" in changed and self._publisher is not None:
            self._publish()

    def _publish(self) -> None:
        self._publisher.publish(String(data=self._node.settings.robot_description))
