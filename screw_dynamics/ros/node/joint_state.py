"""From sensor_msgs/JointState to coordinates in model order, and what each fault in a message gets.

Pure Python and NumPy: a message is anything with the fields of JointState, so that this is tested without ROS.
Times are nanoseconds, 0 meaning unstamped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

KNOWN_NAME_LISTS = 32   # name lists remembered by a JointMap; a graph has a handful


class Fault(ValueError):
    """What is wrong with a message: `reason` is a short key to count by, `severity` "debug", "warn" or "error"."""

    def __init__(self, reason: str, text: str, severity: str = "warn"):
        super().__init__(text)
        self.reason = reason
        self.severity = severity


class Selection(NamedTuple):
    """Where the joints of one list of names lie: entry source[k] of the list is joint target[k] of the model."""

    source: np.ndarray
    target: np.ndarray
    extra: tuple[str, ...]     # names that the model does not have
    missing: tuple[str, ...]   # joints of the model that the list does not have

    @property
    def complete(self) -> bool:
        """Whether every joint of the model is there."""
        return not self.missing


class JointMap:
    """From a message's list of joint names to its `Selection`, worked out once for each list that comes by."""

    def __init__(self, joint_names: Sequence[str]):
        self.joint_names = tuple(joint_names)
        self._index = {name: i for i, name in enumerate(self.joint_names)}
        self._selections: dict[tuple[str, ...], Selection] = {}

    def select(self, names: Sequence[str]) -> Selection:
        """The selection of these names; raises `Fault` when a joint of the model is named twice."""
        key = tuple(names)
        known = self._selections.get(key)
        return known if known is not None else self._learn(key)

    def knows(self, names: Sequence[str]) -> bool:
        """Whether this list of names came by before."""
        return tuple(names) in self._selections

    def _learn(self, names: tuple[str, ...]) -> Selection:
        source = [k for k, name in enumerate(names) if name in self._index]
        target = [self._index[names[k]] for k in source]
        if len(set(target)) < len(target):
            twice = next(name for k, name in enumerate(names) if name in self._index and name in names[:k])
            raise Fault("duplicate joint", f"joint '{twice}' is named twice", "error")
        extra = tuple(name for name in names if name not in self._index)
        missing = tuple(name for name in self.joint_names if name not in names)
        if len(self._selections) >= KNOWN_NAME_LISTS:
            self._selections.clear()
        selection = Selection(np.array(source, dtype=np.intp), np.array(target, dtype=np.intp), extra, missing)
        self._selections[names] = selection
        return selection


def check_lengths(msg) -> None:
    """Raise `Fault` unless position, velocity and effort are each empty or as long as the list of names."""
    n = len(msg.name)
    for field in ("position", "velocity", "effort"):
        k = len(getattr(msg, field))
        if k != n and k != 0:
            raise Fault("length mismatch", f"{field} has {k} values for {n} names", "error")


def all_finite(x: np.ndarray) -> bool:
    """Whether no entry is NaN or infinite."""
    return bool(np.isfinite(x).all())


class JointStateCache:
    """The latest position and velocity of every joint of a model, merged from the messages that carry them.

    Nothing is assumed of a joint that was not heard of: until each has been, `complete` is false and `missing` says
    which. The rules for a message, in the order they are applied (`update`):

    * lengths that differ from the names', a joint named twice, no positions, no velocities when `velocity_fallback` is
      "error", a NaN or infinity in the position or velocity of a joint of the model: `Fault`, nothing is changed;
    * other joints (mimic joints too, they follow their leader), and whatever stands in `effort`: ignored;
    * a stamp earlier than the one before of the same joints: everything is forgotten, then the message is taken;
    * velocities that are absent are zero with `velocity_fallback` "zero". So are velocities that are NaN for all joints
      of the model in the message: ros2_control's joint_state_broadcaster writes "not measured" that way.

    `notify` hears of what is ignored but worth a line of log, as a `Fault`.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        velocity_fallback: str = "zero",
        notify: Callable[[Fault], None] = lambda fault: None,
    ):
        self.velocity_fallback = velocity_fallback
        self._notify = notify
        self._map = JointMap(joint_names)
        self.joint_names = self._map.joint_names
        n = len(self.joint_names)
        self.position = np.full(n, np.nan)
        self.velocity = np.full(n, np.nan)
        self.stamps = np.zeros(n, dtype=np.int64)
        self._received = np.zeros(n, dtype=np.int64)
        self.clear()

    def clear(self) -> None:
        """Forget every joint."""
        self.position.fill(np.nan)
        self.velocity.fill(np.nan)
        self.stamps.fill(0)
        self._heard: set[int] | None = set()   # None: all of them, the case that must be fast
        self.stamp = 0
        self._oldest = 0

    @property
    def complete(self) -> bool:
        """Whether every joint was heard of."""
        return self._heard is None

    @property
    def missing(self) -> tuple[str, ...]:
        """The joints that were not heard of yet, in model order."""
        if self._heard is None:
            return ()
        return tuple(name for i, name in enumerate(self.joint_names) if i not in self._heard)

    def age(self, now: int) -> int:
        """Nanoseconds since the joint heard of longest ago was received; only of a complete state."""
        return now - self._oldest

    def update(self, msg, stamp: int, now: int) -> bool:
        """Take a message stamped `stamp` and received at `now`; whether a complete state with news in it came out."""
        check_lengths(msg)
        if not self._map.knows(msg.name):
            self._introduce(msg.name)
        selection = self._map.select(msg.name)
        if not len(selection.target):
            return False
        position, velocity = self._positions(msg, selection), self._velocities(msg, selection)
        self._check_time(stamp, selection)
        target = selection.target
        self.position[target] = position
        self.velocity[target] = velocity
        self.stamps[target] = stamp
        self._received[target] = now
        self.stamp = max(stamp, self.stamp)
        self._hear(selection, now)
        return self.complete

    def _introduce(self, names: Sequence[str]) -> None:
        extra = self._map.select(names).extra
        if extra:
            self._notify(Fault("extra joint", f"joints that the model does not have: {', '.join(extra)}", "debug"))

    def _positions(self, msg, selection: Selection) -> np.ndarray:
        if not len(msg.position):
            raise Fault("no position", "position is empty")
        return self._finite(np.asarray(msg.position)[selection.source], "position", selection)

    def _velocities(self, msg, selection: Selection) -> np.ndarray | float:
        if len(msg.velocity):
            velocity = np.asarray(msg.velocity)[selection.source]
            if all_finite(velocity):
                return velocity
            if not np.isnan(velocity).all():
                return self._finite(velocity, "velocity", selection)
        if self.velocity_fallback == "error":
            raise Fault("no velocity", "velocity is empty (velocity_fallback is 'error')")
        return 0.0

    def _finite(self, values: np.ndarray, field: str, selection: Selection) -> np.ndarray:
        if all_finite(values):
            return values
        bad = np.flatnonzero(~np.isfinite(values))[0]
        name = self.joint_names[selection.target[bad]]
        raise Fault("non-finite value", f"{field} of joint '{name}' is {values[bad]}")

    def _check_time(self, stamp: int, selection: Selection) -> None:
        before = self.stamp if selection.complete else self.stamps[selection.target].max()
        if 0 < stamp < before:
            back = (before - stamp) * 1e-9
            self._notify(Fault("time backwards", f"stamps went back by {back:.6f} s: caches cleared"))
            self.clear()

    def _hear(self, selection: Selection, now: int) -> None:
        if selection.complete:
            self._heard, self._oldest = None, now
            return
        if self._heard is not None:
            self._heard.update(selection.target.tolist())
            if len(self._heard) == len(self._received):
                self._heard = None
        self._oldest = int(self._received.min())
