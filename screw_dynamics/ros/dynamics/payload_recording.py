"""What a link carries, from the states that were recorded: the service ~/identify_payload."""

import numpy as np

from screw_dynamics.analysis.estimation import Payload, identify_payload
from screw_dynamics.analysis.estimation.payload_identification import FRICTION
from screw_dynamics.checks import coordinates_alone
from screw_dynamics.robot import Robot

from ..node import messages
from ..node.diagnostics import OK, Report
from ..node.drives import GivenDrives
from ..node.parameters import Setting
from ..node.robot_state import RobotState
from ..node.services import Service, serve
from ..timing import SECOND
from .state_output import StateOutput

INTERVAL = SECOND // 500    # between recorded states: of a slow motion, more say no more

SETTINGS = (
    Setting(
        "payload_recording", 0.0, "how long the states of the joints are kept for ~/identify_payload; 0: not at all",
        unit="s", lower=0.0, upper=600.0, least=1e-3,
    ),
    Setting(
        "payload_friction", "model", "friction in ~/identify_payload: that of the model, one that is estimated along, "
        "or none", choices=FRICTION,
    ),
)


class PayloadRecording(StateOutput):
    """Records for `node`, a DynamicsNode being configured, and serves ~/identify_payload.

    A ring of rows: stamp and time of reception, position and effort."""

    robot_of = GivenDrives.before_springs       # what measures efforts is there, too

    def __init__(self, node):
        self._node, self._settings = node, node.settings
        self._joint_names: tuple[str, ...] = ()
        self._unstamped = self._floating = False
        self._make_ring()
        serve(node, node.robot_for_batches, [
            Service("identify_payload", self._answer, infinite=["standard_deviations"])])

    def _make_ring(self) -> None:
        capacity = 0 if self._floating else int(self._settings.payload_recording * SECOND / INTERVAL)
        self._times = np.zeros((capacity, 2), dtype=np.int64)
        self._values = np.zeros((capacity, 2, len(self._joint_names)))
        self._count = 0

    def use(self, robot: Robot) -> None:
        """Go on recording, unless the joints are others."""
        if robot.joint_names != self._joint_names or robot.model.on_groups != self._floating:
            self._joint_names, self._floating = robot.joint_names, robot.model.on_groups
            self._make_ring()

    def follow(self, changed: set[str]) -> None:
        """Start anew with another length."""
        if "payload_recording" in changed:
            self._make_ring()

    def clear(self) -> None:
        """Forget what was recorded."""
        self._count = 0

    def observe(self, state: RobotState) -> None:
        """Record a state, if the last is long enough ago."""
        capacity = len(self._times)
        if capacity == 0:
            return
        stamp = int(state.stamps.min())
        self._unstamped = stamp == 0
        last = self._times[(self._count - 1) % capacity, 0]
        if self._unstamped or self._count and 0 <= stamp - last < INTERVAL:
            return
        if self._count and stamp < last:    # time ran backwards: what was recorded is of another motion
            self._count = 0
        row = self._count % capacity
        self._times[row] = stamp, self._node.get_clock().now().nanoseconds
        self._values[row] = state.position, state.effort
        self._count += 1

    def _recorded(self, window: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times in s, positions and efforts that were received within the window (ns, 0: any) before now, in order."""
        capacity, count = len(self._times), self._count
        rows = np.arange(max(0, count - capacity), count) % max(capacity, 1)
        times, values = self._times[rows], self._values[rows]
        if window:
            recent = times[:, 1] >= self._node.get_clock().now().nanoseconds - window
            times, values = times[recent], values[recent]
        if not len(times):
            raise ValueError(self._nothing(count))
        return (times[:, 0] - times[0, 0]) / SECOND, values[:, 0], values[:, 1]

    def _nothing(self, count: int) -> str:
        """Why there is nothing to identify from."""
        if not self._settings.payload_recording:
            return "nothing is recorded: the parameter payload_recording is 0"
        if count:
            return "window: nothing was recorded within this time"
        return f"nothing was recorded yet: {'joint_states are not stamped' if self._unstamped else 'no joint_states'}"

    def _answer(self, robot: Robot, request, response) -> None:
        if not request.link:
            raise ValueError("link: empty, must name a link of the robot")
        coordinates_alone("identify_payload", robot.model)
        t, q, tau = self._recorded(messages.nanoseconds(request.window))
        bare = self._node.without_payload(request.link)
        found = identify_payload(bare, request.link, t, q, tau, self._settings.payload_friction)
        if request.apply:
            try:
                found.require_physical()
                self._node.set_payload(request.link, found.mass, found.com, found.inertia)
            except ValueError as error:
                raise ValueError(f"not applied to link '{request.link}': {error}") from None
        _encode(found, response)

    def health(self) -> Report:
        """How much is recorded."""
        return OK, "", {"recorded states": min(self._count, len(self._times))} if len(self._times) else {}


def _encode(found: Payload, response) -> None:
    response.inertia = messages.inertia_message(found.mass, found.com, found.inertia)
    response.parameters = messages.floats(found.parameters)
    response.standard_deviations = messages.floats(found.standard_deviations)
    response.observable = found.observable.tolist()
    response.samples, response.residual = found.samples, found.residual
