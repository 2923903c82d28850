"""The outputs of dynamics_node for each state of the joints beside torques; each is a `StateOutput` of its own."""

from collections.abc import Callable

from rclpy.lifecycle import LifecyclePublisher

from screw_dynamics.robot import Robot

from ..node.diagnostics import OK, Report
from ..node.drives import GivenDrives
from ..node.robot_state import RobotState


class StateOutput:
    """Something that follows the state of the joints. It is told of states, robots, parameters and jumps of time.

    robot_of(drives, links): the robot that it computes with, of that of the links with given drives."""

    robot_of: Callable[[GivenDrives, Robot], Robot] = GivenDrives.without_springs

    def use(self, robot: Robot) -> None:
        """Compute with another robot."""

    def observe(self, state: RobotState) -> None:
        """Take a state that is complete; it is overwritten afterwards. May raise `Fault`."""

    def follow(self, changed: set[str]) -> None:
        """Follow parameters of these names, which changed."""

    def clear(self) -> None:
        """Forget past states, as when time jumps."""

    def health(self) -> Report:
        """Level, message (of no use where the level is OK) and values for the diagnostics."""
        return OK, "", {}


def subscribed(publisher: LifecyclePublisher) -> bool:
    """Return True if the topic has a subscriber."""
    return publisher.get_subscription_count() > 0
