"""The displayed state of a live robot: joint states, efforts, and the faults in diagnostics. Pure Python and NumPy;
times are in nanoseconds."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from screw_dynamics.model.floating_base import FloatingBase

from ..node.joint_state import Fault, JointMap, JointStateLike, check_lengths
from ..node.robot_state import RobotState

MOST_FAULTS = 12    # listed faults, at most


class StatusLike(Protocol):
    """A diagnostic_msgs/DiagnosticStatus."""

    name: str
    level: bytes
    message: str
    hardware_id: str


class LiveState:
    """The latest data of one robot. changed: True if data has been received since `taken()`.

    state: that of joints and base. efforts: those of the joints, NaN where unknown; all_efforts (n,): the same after
    zeros for a floating base."""

    def __init__(self, joint_names: Iterable[str], notify: Callable[[Fault], None] = lambda fault: None,
                 base: FloatingBase | None = None, topics: Iterable[str] = (), followers: Iterable[str] = ()):
        self.state = RobotState(tuple(joint_names), base, topics, notify=lambda topic, fault: notify(fault),
                                followers=followers)
        self.cache = self.state.joints
        self._map = JointMap(self.cache.joint_names)
        rates = len(self.state.effort) - len(self.cache.joint_names)
        self.all_efforts = np.concatenate((np.zeros(rates), np.full(len(self.cache.joint_names), np.nan)))
        self.efforts = self.all_efforts[rates:]
        self._from_topic = False
        self._faults: dict[str, str] = {}
        self.changed = False

    def take_state(self, msg: JointStateLike, stamp: int, now: int) -> None:
        """Merge a joint_states message. Its efforts are used until the first message on a topic for efforts. Raises
        Fault for a bad message."""
        if self.cache.update(msg, stamp, now):
            self.changed = True
            if not self._from_topic:
                self.efforts[:] = self.cache.effort

    def take_base(self, take: Callable[[Any, str, Any, int], None], topic: str, msg: Any, now: int) -> None:
        """Apply a message on a topic of the base, with the BaseState method `take`. Raises Fault for a bad message."""
        take(self.state.base, topic, msg, now)
        self.changed = True

    @property
    def missing(self) -> tuple[str, ...]:
        """The joints without a received state; if there are none, the topics of the base without a message."""
        return self.cache.missing or (self.state.base.missing if self.state.base is not None else ())

    def take_efforts(self, msg: JointStateLike) -> None:
        """Store the efforts of joints by their names. Raises Fault for a bad message."""
        check_lengths(msg)
        selection = self._map.select(msg.name)
        if len(msg.effort) and len(selection.target):
            self.efforts[selection.target] = np.asarray(msg.effort)[selection.source]
            self._from_topic = self.changed = True

    def take_status(self, statuses: Iterable[StatusLike]) -> None:
        """Store diagnostics: for each source the last status that was not OK, until it is OK."""
        for status in statuses:
            source = status.hardware_id or status.name
            self._faults.pop(source, None)
            if status.level != b"\x00" and len(self._faults) < MOST_FAULTS:
                self._faults[source] = status.message

    @property
    def faults(self) -> list[str]:
        """The lines of faults, one for each source that is not OK."""
        return [f"{source}: {message}"[:200] for source, message in sorted(self._faults.items())]

    def taken(self) -> bool:
        """Return True if data was received since the last call and the state is complete."""
        changed, self.changed = self.changed, False
        return changed and not self.missing
