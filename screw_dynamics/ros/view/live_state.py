"""The displayed state of a live robot: the state of its joints, efforts, and the faults that diagnostics report.

Pure Python and NumPy; times are nanoseconds."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from screw_dynamics.model.floating_base import FloatingBase

from ..node.joint_state import Fault, JointMap, JointStateLike, check_lengths
from ..node.robot_state import RobotState

MOST_FAULTS = 12    # that are listed


class StatusLike(Protocol):
    """A diagnostic_msgs/DiagnosticStatus."""

    name: str
    level: bytes
    message: str
    hardware_id: str


class LiveState:
    """The latest of everything, for one robot. changed: whether something came since `taken()`.

    state: of joints and base. efforts: of the joints, NaN where nothing is known; all_efforts (n,): before them zeros
    for a floating base."""

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
        """Merge joint_states; its efforts count until some come on a topic of their own. Fault for a bad message."""
        if self.cache.update(msg, stamp, now):
            self.changed = True
            if not self._from_topic:
                self.efforts[:] = self.cache.effort

    def take_base(self, take: Callable[[Any, str, Any, int], None], topic: str, msg: Any, now: int) -> None:
        """Take a message on a topic of the base, by a method of BaseState. Fault for a bad message."""
        take(self.state.base, topic, msg, now)
        self.changed = True

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the joints that have not come yet; if all have, the topics of the base that have not."""
        return self.cache.missing or (self.state.base.missing if self.state.base is not None else ())

    def take_efforts(self, msg: JointStateLike) -> None:
        """Take the efforts of joints by their names. Fault for a bad message."""
        check_lengths(msg)
        selection = self._map.select(msg.name)
        if len(msg.effort) and len(selection.target):
            self.efforts[selection.target] = np.asarray(msg.effort)[selection.source]
            self._from_topic = self.changed = True

    def take_status(self, statuses: Iterable[StatusLike]) -> None:
        """Take diagnostics: of each source the last that was not OK, until it is OK."""
        for status in statuses:
            source = status.hardware_id or status.name
            self._faults.pop(source, None)
            if status.level != b"\x00" and len(self._faults) < MOST_FAULTS:
                self._faults[source] = status.message

    @property
    def faults(self) -> list[str]:
        """A line for each source that is not OK."""
        return [f"{source}: {message}"[:200] for source, message in sorted(self._faults.items())]

    def taken(self) -> bool:
        """Return True if something came since the last call, and the state is complete."""
        changed, self.changed = self.changed, False
        return changed and not self.missing
