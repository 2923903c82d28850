"""The sources of the acceleration in `~/inverse_dynamics`, which a JointState does not contain. Times are in
nanoseconds."""

from collections.abc import Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from ..node.joint_state import Fault, JointMap, all_finite
from ..node.robot_state import RobotState
from ..timing import SECOND

SOURCES = ("zero", "finite_difference", "topic")


class Source:
    """Accelerations in model order, NaN if unknown. `waiting` names the missing input."""

    waiting = ""

    def __init__(self, n: int):
        self._acceleration = np.full(n, np.nan)

    def observe(self, state: RobotState) -> None:
        """Store the data of a complete state."""

    def value(self, now: int) -> np.ndarray | None:
        """Return the accelerations (n,), or None if any is unknown."""
        return self._acceleration if all_finite(self._acceleration) else None

    def clear(self) -> None:
        """Discard the data of every joint."""
        self._acceleration.fill(np.nan)


class ZeroAcceleration(Source):
    """Zero acceleration: the torque maintains the velocity and compensates gravity and Coriolis terms."""

    def __init__(self, n: int):
        super().__init__(n)
        self._zero = np.zeros(n)

    def value(self, now: int) -> np.ndarray | None:
        """Return zeros (n,)."""
        return self._zero


class FiniteDifference(Source):
    """Finite differences: the last change of each velocity over the time between its stamps. They are not filtered, so
    noise is amplified.

    A joint starts anew after a pause longer than `gap`, and after `clear`."""

    waiting = "two stamped joint_states of every joint, close in time, and of a floating base"

    def __init__(self, n: int, gap: int):
        super().__init__(n)
        self._gap = gap
        self._velocity = np.full(n, np.nan)
        self._stamps = np.zeros(n, dtype=np.int64)

    def observe(self, state: RobotState) -> None:
        """Store the velocities with a new stamp."""
        elapsed = state.stamps - self._stamps
        new = elapsed != 0
        if not new.any():
            return
        change = (state.velocity - self._velocity)[new] / (elapsed[new] / SECOND)
        self._acceleration[new] = np.where((elapsed[new] > 0) & (elapsed[new] <= self._gap), change, np.nan)
        self._velocity[new] = state.velocity[new]
        self._stamps[new] = state.stamps[new]

    def clear(self) -> None:
        """Discard the data of every joint."""
        super().clear()
        self._velocity.fill(np.nan)
        self._stamps.fill(0)


class DesiredAcceleration(Source):
    """The accelerations of the first point of `~/desired`, merged from messages that name some joints each.

    Each is fresh for `timeout` after its reception; all are unknown until every joint has been named. indices: their
    indices among the n velocities, of which all others have acceleration 0; None: there are no others."""

    waiting = "fresh accelerations of every joint on ~/desired"

    def __init__(self, joint_names: Sequence[str], timeout: int, indices: np.ndarray | None = None, n: int = 0):
        super().__init__(len(joint_names) if indices is None else n)
        self._indices = np.arange(len(joint_names)) if indices is None else indices
        self.clear()
        self._map = JointMap(joint_names)
        self._timeout = timeout
        self._received = np.zeros(len(joint_names), dtype=np.int64)

    def take(self, msg: JointTrajectory, now: int) -> None:
        """Apply a message received at `now`. Raises `Fault`, without a change, if it is bad."""
        if not msg.points:
            raise Fault("no point", "points is empty")
        accelerations = np.asarray(msg.points[0].accelerations)
        if len(accelerations) != len(msg.joint_names):
            text = f"points[0].accelerations has {len(accelerations)} values for {len(msg.joint_names)} joint_names"
            raise Fault("length mismatch", text)
        selection = self._map.select(msg.joint_names)
        values = accelerations[selection.source]
        self._map.check_finite(values, selection.target, "acceleration")
        self._acceleration[self._indices[selection.target]] = values
        self._received[selection.target] = now

    def clear(self) -> None:
        """Discard the data of every joint."""
        self._acceleration.fill(0.0)
        self._acceleration[self._indices] = np.nan

    def value(self, now: int) -> np.ndarray | None:
        """Return the accelerations (n,), or None if any is unknown or stale."""
        fresh = now - self._received.min(initial=now) <= self._timeout
        return super().value(now) if fresh else None
