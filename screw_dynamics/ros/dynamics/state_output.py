"""Outputs of dynamics_node for each state of the joints, apart from torques: subclasses of `StateOutput`."""

from collections.abc import Callable

from rclpy.lifecycle import LifecyclePublisher

from screw_dynamics.robot import Robot

from ..node.diagnostics import OK, Report
from ..node.drives import GivenDrives
from ..node.robot_state import RobotState


class StateOutput:
    """The base class of an output that follows the state of the joints. It receives states, robots, changed parameters
    and jumps of time. robot_of(drives, links): returns the output's robot, from that of the links and its drives."""

    robot_of: Callable[[GivenDrives, Robot], Robot] = GivenDrives.without_springs

    def use(self, robot: Robot) -> None:
        """Use another robot."""

    def observe(self, state: RobotState) -> None:
        """Apply a complete state, which is overwritten afterwards. May raise `Fault`."""

    def follow(self, changed: set[str]) -> None:
        """Apply the changed parameters of these names."""

    def clear(self) -> None:
        """Discard past states, for example after a jump of time."""

    def health(self) -> Report:
        """Return level, message (unused if the level is OK) and values for the diagnostics."""
        return OK, "", {}


def subscribed(publisher: LifecyclePublisher) -> bool:
    """Return True if the topic has a subscriber."""
    return publisher.get_subscription_count() > 0
