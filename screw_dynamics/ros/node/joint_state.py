"""Conversion of sensor_msgs/JointState to coordinates in model order, and the treatment of faults in messages. Pure
Python and NumPy, to be tested without ROS. Times are in nanoseconds; 0 means unstamped."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from ..timing import SECOND
from .plain_text import printable

KNOWN_NAME_LISTS = 32       # name lists cached by a JointMap; a graph has a handful
KNOWN_SIZE = 2_000_000      # bytes of these, about
MOST_NAMES = 10_000         # names in a list, unless the model has as many joints
NAMES_SHOWN = 8             # in a log line
EPOCH = 1_000_000_000 * SECOND      # later stamps, from the year 2001 on, are system time


class JointStateLike(Protocol):
    """A message with the fields of sensor_msgs/JointState."""

    name: Sequence[str]
    position: Sequence[float]
    velocity: Sequence[float]
    effort: Sequence[float]


class Fault(ValueError):
    """A fault of a message. `reason` is a short key for counting; `severity` is "debug", "warn", or "error" for a
    defect of the node itself."""

    def __init__(self, reason: str, text: str, severity: str = "warn"):
        super().__init__(text)
        self.reason = reason
        self.severity = severity


class Selection(NamedTuple):
    """The indices of the joints in one list of names: entry source[k] of the list is joint target[k] of the model.
    listed: the names in the list that are joints of the robot, including mimic joints, in the list's order."""

    source: np.ndarray
    target: np.ndarray
    missing: tuple[str, ...]   # joints of the model that are not in the list
    listed: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """True if the list has every joint of the model."""
        return not self.missing


class JointMap:
    """A map from a message's list of joint names to its `Selection`, which is computed once for each list.

    Lists come from outside: those with far more names than the model are refused, and the cache is bounded. `notify`
    receives a `Fault` for each new list with names that the model does not have. sort: joints of a selection are in the
    order of the model, not of the list. followers: the robot's mimic joints, whose names cause no notice."""

    def __init__(
        self, joint_names: Sequence[str], notify: Callable[[Fault], None] = lambda fault: None, sort: bool = False,
        followers: Iterable[str] = (),
    ):
        self._sort, self._followers = sort, frozenset(followers)
        self.joint_names = tuple(joint_names)
        self._notify = notify
        self._index = {name: i for i, name in enumerate(self.joint_names)}
        self._most = max(MOST_NAMES, 4 * len(self.joint_names))
        self._selections: dict[tuple[str, ...], Selection] = {}
        self._size = 0   # of all cached lists

    def select(self, names: Sequence[str]) -> Selection:
        """Return the selection of these names. Raises `Fault` if a joint of the model is named twice."""
        if len(names) > self._most:
            raise Fault("too many names", f"{len(names)} joint names, at most {self._most} are allowed")
        key = tuple(names)
        known = self._selections.get(key)
        return known if known is not None else self._learn(key)

    def _learn(self, names: tuple[str, ...]) -> Selection:
        source: dict[str, int] = {}   # index of each joint of the model in the list
        for k, name in enumerate(names):
            if name in source:
                raise Fault("duplicate joint", f"joint '{name}' is named twice")
            if name in self._index:
                source[name] = k
        if self._sort:
            source = {name: source[name] for name in self.joint_names if name in source}
        target = [self._index[name] for name in source]
        missing = tuple(name for name in self.joint_names if name not in source)
        listed_names = tuple(dict.fromkeys(name for name in names if name in self._index or name in self._followers))
        selection = Selection(
            np.array([*source.values()], dtype=np.intp), np.array(target, dtype=np.intp), missing, listed_names)
        self._remember(names, selection)
        if extra := [name for name in names if name not in self._index and name not in self._followers]:
            self._notify(Fault("extra joint", f"joints of another robot ignored: {listed(extra)}", "debug"))
        return selection

    def _remember(self, names: tuple[str, ...], selection: Selection) -> None:
        size = sum(len(name) + 100 for name in names)
        if size > KNOWN_SIZE and len(selection.target) < len(names):
            return   # not a list of a robot's joints
        if len(self._selections) >= KNOWN_NAME_LISTS or self._size + size > KNOWN_SIZE:
            self._selections.clear()
            self._size = 0
        self._selections[names] = selection
        self._size += size

    def check_finite(self, values: np.ndarray, joints: np.ndarray, field: str) -> None:
        """Raise `Fault` naming the field and the first of the joints (indices) whose value is NaN or infinite."""
        if not all_finite(values):
            bad = np.flatnonzero(~np.isfinite(values))[0]
            raise Fault("non-finite value", f"{field} of joint '{self.joint_names[joints[bad]]}' is {values[bad]}")


def listed(names: Sequence[str]) -> str:
    """Return names as bounded text for a message: the first few, and the number of the others."""
    shown = ", ".join(printable(name if len(name) <= 80 else name[:77] + "...") for name in names[:NAMES_SHOWN])
    more = len(names) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def check_lengths(msg: JointStateLike) -> None:
    """Raise `Fault` unless position, velocity and effort are each empty or as long as the list of names."""
    n = len(msg.name)
    for field in ("position", "velocity", "effort"):
        k = len(getattr(msg, field))
        if k != n and k != 0:
            raise Fault("length mismatch", f"{field} has {k} values for {n} names")


def went_back(before: int, stamp: int) -> Fault:
    """Return the fault of a stamp that is earlier than the previous one, for which earlier states are discarded."""
    if stamp < EPOCH <= before:
        how = f"stamps changed from the system's time to simulated time, {stamp / SECOND:.3f} s"
    else:
        how = f"stamps went back by {(before - stamp) / SECOND:.6f} s"
    return Fault("time backwards", f"{how}: caches cleared")


def all_finite(x: np.ndarray) -> bool:
    """Return True if no entry is NaN or infinite."""
    return b"\0" not in np.isfinite(x).tobytes()   # takes half the time of all(), for every number of a fast topic


class JointStateCache:
    """The latest position, velocity and effort of every joint of a model, merged from messages.

    A joint has no assumed state before its first message: until every joint had one, `complete` is False and `missing`
    has the names of the other joints. The rules for a message, in the order in which `update` applies them:

    * `Fault`, and no change: lengths that differ from the names', a joint named twice, no positions, no velocities if
      `velocity_fallback` is "error", a NaN or infinity in the position or velocity of a joint of the model;
    * joints of other robots are ignored, and so are the positions of mimic joints, which follow their leader;
    * a stamp earlier than the previous one of the same joints: the state is cleared before the message is applied;
    * absent velocities are zero if `velocity_fallback` is "zero". So are velocities that are NaN for all joints of the
      model in the message: ros2_control's joint_state_broadcaster writes "not measured" that way;
    * efforts are stored unchanged, NaN if a message has none: only some outputs require them, and check them.

    `notify` receives, as a `Fault`, what is ignored but must be logged. arrays: position, velocity, effort and stamps
    (n,), to be written in place. listing: the received joints, `followers` included, in the order of the last message
    that has all of them; if there is no such message, the lists of several messages in sequence."""

    def __init__(
        self,
        joint_names: Sequence[str],
        velocity_fallback: str = "zero",
        notify: Callable[[Fault], None] = lambda fault: None,
        arrays: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None = None,
        followers: Iterable[str] = (),
    ):
        self.velocity_fallback = velocity_fallback
        self._notify = notify
        self._map = JointMap(joint_names, notify, sort=True, followers=followers)
        self.joint_names = self._map.joint_names
        n = len(self.joint_names)
        self.position, self.velocity, self.effort, self.stamps = arrays if arrays is not None else (
            np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64))
        self._received = np.zeros(n, dtype=np.int64)
        self.strangers: tuple[str, ...] = ()   # the names of the last message without any joint of the model
        self.clear()

    def clear(self) -> None:
        """Discard the state of every joint."""
        self.position.fill(np.nan)
        self.velocity.fill(np.nan)
        self.effort.fill(np.nan)
        self.stamps.fill(0)
        self._known: set[int] | None = set()   # joints received; None: all of them, the fast case
        self.stamp = 0
        self._oldest = 0
        self.listing: tuple[str, ...] = ()
        self._selection: Selection | None = None    # the last one that is contained in the listing

    @property
    def complete(self) -> bool:
        """True if every joint has been received."""
        return self._known is None

    @property
    def missing(self) -> tuple[str, ...]:
        """The joints that have not been received yet, in model order."""
        if self._known is None:
            return ()
        return tuple(name for i, name in enumerate(self.joint_names) if i not in self._known)

    def age(self, now: int) -> int:
        """Return the time since the least recently received joint position, in ns. Requires a complete state."""
        return now - self._oldest

    def stale(self, now: int, limit: int) -> tuple[str, ...]:
        """Return the joints that were received more than `limit` ns ago, in model order. Requires a complete state."""
        return tuple(name for name, late in zip(self.joint_names, now - self._received > limit, strict=True) if late)

    def repeated(self, stamps: np.ndarray, since: int) -> tuple[str, ...]:
        """Return the joints that were received after the time `since` with the stamps (n,) that they had before, in
        model order; unstamped ones are not included."""
        same = (self.stamps == stamps) & (stamps > 0) & (self._received > since)
        return tuple(name for name, is_same in zip(self.joint_names, same, strict=True) if is_same)

    def fresh(self, now: int, limit: int) -> bool:
        """Return True if every joint was received at most `limit` ns ago."""
        return self._known is None and now - self._oldest <= limit

    def update(self, msg: JointStateLike, stamp: int, now: int) -> bool:
        """Apply a message with stamp `stamp`, received at `now`. Return True if it changed a complete state."""
        check_lengths(msg)
        selection = self._map.select(msg.name)
        if not len(selection.target):
            self.strangers = tuple(msg.name)
            return False
        position, velocity = self._positions(msg, selection), self._velocities(msg, selection)
        self._check_time(stamp, selection)
        target = slice(None) if selection.complete else selection.target   # the fast case
        self.position[target] = position
        self.velocity[target] = velocity
        self.effort[target] = np.asarray(msg.effort).take(selection.source) if len(msg.effort) else np.nan
        self.stamps[target] = stamp
        self._received[target] = now
        self.stamp = max(stamp, self.stamp)
        self._mark_received(selection, now)
        if selection is not self._selection:
            self._list(selection)
        return self.complete

    def _list(self, selection: Selection) -> None:
        self._selection = selection
        has_all = set(self.listing) <= set(selection.listed)
        listing = selection.listed if has_all else tuple(dict.fromkeys((*self.listing, *selection.listed)))
        if listing != self.listing:
            self.listing = listing

    def _positions(self, msg: JointStateLike, selection: Selection) -> np.ndarray:
        if not len(msg.position):
            raise Fault("no position", "position is empty")
        position = np.asarray(msg.position).take(selection.source)
        self._map.check_finite(position, selection.target, "position")
        return position

    def _velocities(self, msg: JointStateLike, selection: Selection) -> np.ndarray | float:
        if len(msg.velocity):
            velocity = np.asarray(msg.velocity).take(selection.source)
            if all_finite(velocity) or not np.isnan(velocity).all():
                self._map.check_finite(velocity, selection.target, "velocity")
                return velocity
        if self.velocity_fallback == "error":
            raise Fault("no velocity", "velocity is empty (velocity_fallback is 'error')")
        return 0.0

    def _check_time(self, stamp: int, selection: Selection) -> None:
        before = self.stamp if selection.complete else self.stamps[selection.target].max()
        if 0 < stamp < before:
            self._notify(went_back(before, stamp))
            self.clear()

    def _mark_received(self, selection: Selection, now: int) -> None:
        if selection.complete:
            self._known, self._oldest = None, now
            return
        if self._known is not None:
            self._known.update(selection.target.tolist())
            if len(self._known) == len(self._received):
                self._known = None
        self._oldest = int(self._received.min())
