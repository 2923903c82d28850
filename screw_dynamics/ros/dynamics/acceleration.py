"""Where the acceleration of `~/inverse_dynamics` comes from, since a JointState has none. Times are nanoseconds.

A source observes every complete state (`observe`) and has the acceleration in model order (`value`), or None while it
cannot be known; `waiting` names what is missing then."""

from collections.abc import Sequence

import numpy as np

from ..node.joint_state import Fault, JointMap, JointStateCache, all_finite
from ..node.timing import SECOND

SOURCES = ("zero", "finite_difference", "topic")


class ZeroAcceleration:
    """Zero: the torque is that which keeps the velocity, gravity and Coriolis."""

    waiting = ""

    def __init__(self, n: int):
        self._zero = np.zeros(n)

    def observe(self, state: JointStateCache) -> None:
        """Do nothing: states do not matter."""

    def value(self, now: int) -> np.ndarray | None:
        """(n,) zeros."""
        return self._zero

    def clear(self) -> None:
        """Do nothing."""


class FiniteDifference:
    """Each joint's last change of velocity over the time between the stamps. No filter: noise comes through, amplified.

    A pause longer than `gap` starts a joint anew, and so does `clear`."""

    waiting = "two stamped joint_states of every joint, close in time"

    def __init__(self, n: int, gap: int):
        self._gap = gap
        self._acceleration = np.full(n, np.nan)
        self._velocity = np.full(n, np.nan)
        self._stamps = np.zeros(n, dtype=np.int64)

    def observe(self, state: JointStateCache) -> None:
        """Take the joints that have a new stamp."""
        elapsed = state.stamps - self._stamps
        new = elapsed != 0
        if not new.any():
            return
        change = (state.velocity - self._velocity)[new] / (elapsed[new] / SECOND)
        self._acceleration[new] = np.where((elapsed[new] > 0) & (elapsed[new] <= self._gap), change, np.nan)
        self._velocity[new] = state.velocity[new]
        self._stamps[new] = state.stamps[new]

    def value(self, now: int) -> np.ndarray | None:
        """(n,) once every joint has been received twice."""
        return self._acceleration if all_finite(self._acceleration) else None

    def clear(self) -> None:
        """Forget every joint."""
        self._acceleration.fill(np.nan)
        self._velocity.fill(np.nan)
        self._stamps.fill(0)


class DesiredAcceleration:
    """The accelerations of the first point of `~/desired`, merged from messages that name some joints each.

    Each is fresh for `timeout` after it was received; a joint that was never named keeps all of them back."""

    waiting = "fresh accelerations of every joint on ~/desired"

    def __init__(self, joint_names: Sequence[str], timeout: int):
        self._map = JointMap(joint_names)
        self._timeout = timeout
        self._acceleration = np.full(len(joint_names), np.nan)
        self._received = np.zeros(len(joint_names), dtype=np.int64)

    def observe(self, state: JointStateCache) -> None:
        """Do nothing: states do not matter."""

    def take(self, msg, now: int) -> None:
        """Take a trajectory_msgs/JointTrajectory received at `now`; raises `Fault` and changes nothing if it is bad."""
        if not msg.points:
            raise Fault("no point", "points is empty", "error")
        accelerations = np.asarray(msg.points[0].accelerations)
        if len(accelerations) != len(msg.joint_names):
            text = f"points[0].accelerations has {len(accelerations)} values for {len(msg.joint_names)} joint_names"
            raise Fault("length mismatch", text, "error")
        selection = self._map.select(msg.joint_names)
        values = accelerations[selection.source]
        self._map.check_finite(values, selection.target, "acceleration")
        self._acceleration[selection.target] = values
        self._received[selection.target] = now

    def value(self, now: int) -> np.ndarray | None:
        """(n,) while every joint's acceleration is fresh."""
        if not all_finite(self._acceleration):
            return None
        return None if now - self._received.min() > self._timeout else self._acceleration

    def clear(self) -> None:
        """Forget every joint."""
        self._acceleration.fill(np.nan)
