"""markers_node: the joint screws, centers of mass and efforts of the robot as markers for RViz. They are in the frames
of the links: the transforms of robot_state_publisher move them."""

from collections.abc import Sequence

import numpy as np

from screw_dynamics.robot import Robot

from ..endpoints import STEADY
from ..node.managed_node import run
from ..node.parameters import Setting
from ..node.process import arguments
from ..signals import end
from . import showing_node
from .interface import MARKERS
from .markers import effort_markers, fixed_markers

SETTINGS = (
    *showing_node.SETTINGS,
    Setting("length", 0.0, "length of the arrows of screws, and of efforts at their limit; 0: from the size of the "
                           "robot", "m",
            lower=0.0, upper=100.0, read_only=True),
    Setting("frame_prefix", "", "prefix of the names of links in TF, as of robot_state_publisher", read_only=True),
)
AGAIN = 1.0     # s between repetitions of the constant markers, for late subscribers


class MarkersNode(showing_node.ShowingNode):
    """The node `screw_markers`. Topics: `interface`; parameters: `settings`."""

    interface, steps = MARKERS, {}      # no steps: the node computes nothing

    def __init__(self, **node_options):
        super().__init__("screw_markers", SETTINGS, "markers", **node_options)

    def create_endpoints(self) -> None:
        """Create `~/markers`, and subscribe."""
        self._publisher = self.publisher("~/markers")
        super().create_endpoints()
        timer = self.create_timer(AGAIN, self.guarded("timer", self._repeat), clock=STEADY)
        self.endpoints.callback(self.destroy_timer, timer)

    def use(self, robot: Robot) -> None:
        """Show the markers of another robot."""
        super().use(robot)
        steps = np.linalg.norm(robot.model.relative_poses[:, :3, 3], axis=1)
        reach = float(steps[steps > 1e-3].mean()) if (steps > 1e-3).any() else 0.2
        self._length = self.settings.length or min(max(reach, 0.02), 10.0)
        self._fixed = fixed_markers(robot.model, self._length, self.settings.frame_prefix)
        self._repeat()
        del self._fixed.markers[0]      # the DELETEALL marker for the previous robot

    def watched(self) -> bool:
        """Return True if the markers have a subscriber."""
        return self._publisher.get_subscription_count() > 0

    def present(self) -> None:
        """Publish the efforts."""
        self._publisher.publish(effort_markers(
            self.robot.model, self.live.efforts, self._length, self.settings.frame_prefix))

    def _repeat(self) -> None:
        if self.state_label == "active" and self.robot is not None:
            self._publisher.publish(self._fixed)


def main(args: Sequence[str] | None = None) -> int:
    """Run markers_node and return the exit code."""
    arguments("markers_node", "Markers of a robot for RViz.", args)
    return run(MarkersNode, args=args)


if __name__ == "__main__":
    end(main())
