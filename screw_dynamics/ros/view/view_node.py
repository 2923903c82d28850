"""view_node: a live web page of the robot, with its efforts, energy, and the faults in diagnostics. The page is that of
screw_dynamics.view: it requires viser, the extra [view]."""

from collections.abc import Sequence

from screw_dynamics.robot import Robot
from screw_dynamics.viewer.page import View
from screw_dynamics.viewer.scene import preload

from ..endpoints import STEADY
from ..node.managed_node import run
from ..node.parameters import FLOATING_BASE, Setting
from ..node.preparation import STEPS
from ..node.process import arguments
from ..signals import end
from . import showing_node
from .interface import VIEW

SETTINGS = (
    *showing_node.SETTINGS,
    FLOATING_BASE,
    Setting("host", "127.0.0.1", "address of the page; 0.0.0.0: accessible from other machines", read_only=True),
    Setting("port", 8080, "port of the page; the first free one from here on", lower=1024, upper=65535, read_only=True),
)
SILENCE = 1.0   # s without joint_states after which the page reports it


class ViewNode(showing_node.ShowingNode):
    """The node `screw_view`. Topics: `interface`; parameters: `settings`."""

    interface = VIEW
    steps = {
        "gravity torque": STEPS["gravity torque"],
        "poses of bodies": lambda robot, q, v, link: robot.body_poses(q),
        "energy": lambda robot, q, v, link: robot.potential_energy(q) + robot.kinetic_energy(q, v),
        "shapes": lambda robot, q, v, link: preload(robot),
    }

    def __init__(self, **node_options):
        super().__init__("screw_view", SETTINGS, "web page", **node_options)

    def create_endpoints(self) -> None:
        """Open the page, and subscribe."""
        self._view = View(self.settings.host, self.settings.port, "screw_dynamics, live", live=True)
        self.endpoints.callback(self._view.close)
        self.log.info(f"page: {self._view.url}")
        super().create_endpoints()
        timer = self.create_timer(0.5, self.guarded("timer", self._tell), clock=STEADY)
        self.endpoints.callback(self.destroy_timer, timer)

    def use(self, robot: Robot) -> None:
        """Show another robot."""
        super().use(robot)
        self._view.use(robot)
        for note in self._view.notes:
            self.log.warning(f"view: {note}")

    def watched(self) -> bool:
        """Return True if a page is open in a browser."""
        return self._view.watched

    def present(self) -> None:
        """Update the robot on the page."""
        state = self.live.state
        self._view.show(state.position, state.velocity, self.live.all_efforts)

    def _tell(self) -> None:
        if self.live is not None and self.watched():
            faults = (f"**fault:** {plain(line)}" for line in self.live.faults)
            self._view.status("\n\n".join([self._state_of_topic(), *faults]))

    def _state_of_topic(self) -> str:
        if self.state_label != "active":
            return f"view_node is {self.state_label}"
        if self.live.missing:
            what = "joint_states of" if self.live.cache.missing else "the state of the base on"
            return f"waiting for {what} {plain(', '.join(self.live.missing[:5]))}"
        age = self.age()
        return f"**no joint_states for {age:.0f} s**" if age > SILENCE else f"live, {len(self.live.faults)} faults"


def plain(text: str) -> str:
    """Return untrusted text as Markdown that shows it literally."""
    return "".join(f"&#{ord(c)};" if not c.isalnum() and c not in " ,.:/_-" else c for c in text)


def main(args: Sequence[str] | None = None) -> int:
    """Run view_node and return the exit code."""
    arguments("view_node", "A robot on a web page.", args)
    return run(ViewNode, args=args)


if __name__ == "__main__":
    end(main())
