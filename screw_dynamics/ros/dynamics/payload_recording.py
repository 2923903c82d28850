"""Identification of a link's payload from recorded states: the service ~/identify_payload."""

import numpy as np

from screw_dynamics.analysis.estimation import Payload, identify_payload
from screw_dynamics.analysis.estimation.payload_identification import FRICTION
from screw_dynamics.model.floating_base import RATES, floating_base
from screw_dynamics.robot import Robot

from ..node import messages
from ..node.diagnostics import OK, Report
from ..node.drives import GivenDrives
from ..node.parameters import Setting
from ..node.preparation import OnDemand
from ..node.robot_state import RobotState
from ..node.services import Service, serve
from ..timing import SECOND
from .state_output import StateOutput

INTERVAL = SECOND // 500    # between recorded states: for a slow motion, more add no information
APART = SECOND // 20        # largest difference of the stamps in a state, which is extrapolated to the latest

SETTINGS = (
    Setting(
        "payload_recording", 0.0, "duration of the recorded joint states for ~/identify_payload; 0: none",
        unit="s", lower=0.0, upper=600.0, least=1e-3,
    ),
    Setting(
        "payload_friction", "model", "friction in ~/identify_payload: that of the model, estimated together with the "
                                     "payload, or none", choices=FRICTION,
    ),
    Setting(
        "payload_base", "supported", "supported or free floating base in ~/identify_payload: external wrenches act on "
                                     "a supported base, and only the joints determine the payload; the motion of a "
                                     "free base is used, too",
        choices=("supported", "free"),
    ),
)


class PayloadRecording(StateOutput):
    """The recording of states for `node`, a DynamicsNode being configured, and the service ~/identify_payload.

    The record is a ring buffer of rows: stamp and time of reception, position and effort. If a robot has joints of
    several degrees of freedom, the parts of a state are in separate messages: the state is extrapolated to its latest
    stamp with its velocities."""

    robot_of = GivenDrives.before_springs       # efforts are measured there, too

    def __init__(self, node):
        self._node, self._settings = node, node.settings
        self._robot: Robot | None = None
        self._on_demand = OnDemand(node.future, node.log.info)
        self._make_ring()
        serve(node, node.robot_for_batches, [
            Service("identify_payload", self._answer, infinite=["standard_deviations"])])

    def _make_ring(self) -> None:
        capacity, robot = int(self._settings.payload_recording * SECOND / INTERVAL), self._robot
        self._times = np.zeros((capacity, 2), dtype=np.int64)
        self._positions = np.zeros((capacity, robot.nq if robot else 0))
        self._efforts = np.zeros((capacity, robot.n if robot else 0))
        self._count, self._why = 0, "no joint_states"       # nothing was recorded

    def use(self, robot: Robot) -> None:
        """Continue recording; start anew if the joints are different."""
        before, self._robot = self._robot, robot
        if before is None or (before.joint_names, before.model.joint_kinds) != (
                robot.joint_names, robot.model.joint_kinds):
            self._make_ring()

    def follow(self, changed: set[str]) -> None:
        """Restart with another length."""
        if "payload_recording" in changed:
            self._make_ring()

    def clear(self) -> None:
        """Discard the record."""
        self._count = 0

    def observe(self, state: RobotState) -> None:
        """Record a state, unless the previous one is too recent."""
        capacity = len(self._times)
        if capacity == 0:
            return
        if not state.stamps.all():
            self._why = "joint_states are not stamped" if not state.joints.stamps.all() else (
                "the state of what is not on joint_states is not stamped")
            return
        stamp, on_groups = int(state.stamps.min()), self._robot.model.on_groups
        if on_groups:
            stamp, first = int(state.stamps.max()), stamp
            if stamp - first > APART:
                self._why = f"the parts of states are {(stamp - first) / SECOND:g} s apart by their stamps"
                return
        last = self._times[(self._count - 1) % capacity, 0]
        if self._count and 0 <= stamp - last < INTERVAL:
            return
        if self._count and stamp < last:    # time ran backward: the record belongs to another motion
            self._count = 0
        row = self._count % capacity
        self._times[row] = stamp, self._node.get_clock().now().nanoseconds
        self._positions[row] = state.position if not on_groups else self._robot.integrate(
            state.position, state.velocity * ((stamp - state.stamps) / SECOND))
        self._efforts[row] = state.effort
        self._count += 1

    def _recorded(self, window: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return times in s, positions and efforts that were received within the last `window` ns (0: all), in
        order."""
        capacity, count = len(self._times), self._count
        rows = np.arange(max(0, count - capacity), count) % max(capacity, 1)
        times = self._times[rows]
        if window:
            recent = times[:, 1] >= self._node.get_clock().now().nanoseconds - window
            times, rows = times[recent], rows[recent]
        if not len(times):
            raise ValueError(self._nothing(count))
        return (times[:, 0] - times[0, 0]) / SECOND, self._positions[rows], self._efforts[rows]

    def _nothing(self, count: int) -> str:
        """Return the reason for which there are no recorded states."""
        if not self._settings.payload_recording:
            return "nothing is recorded: the parameter payload_recording is 0"
        if count:
            return "window: nothing was recorded within this time"
        return f"nothing was recorded yet: {self._why}"

    async def _answer(self, robot: Robot, request, response) -> None:
        if not request.link:
            raise ValueError("link: empty, must name a link of the robot")
        if robot.model.on_groups:
            await self._on_demand.ready("many states", robot)
        t, q, tau = self._recorded(messages.nanoseconds(request.window))
        if floating_base(robot.model, others=True) is not None and self._settings.payload_base == "supported":
            tau[:, :RATES] = np.nan
        bare = self._node.without_payload(request.link)
        found = identify_payload(bare, request.link, t, q, tau, self._settings.payload_friction)
        found.require_plausible()
        if request.apply:
            try:
                found.require_physical()
                self._node.set_payload(request.link, found.mass, found.com, found.inertia)
            except ValueError as error:
                raise ValueError(f"not applied to link '{request.link}': {error}") from None
        _encode(found, response)

    def health(self) -> Report:
        """Return the report with the number of recorded states."""
        return OK, "", {"recorded states": min(self._count, len(self._times))} if len(self._times) else {}


def _encode(found: Payload, response) -> None:
    response.inertia = messages.inertia_message(found.mass, found.com, found.inertia)
    response.parameters = messages.floats(found.parameters)
    response.standard_deviations = messages.floats(found.standard_deviations)
    response.observable = found.observable.tolist()
    response.samples, response.residual = found.samples, found.residual
