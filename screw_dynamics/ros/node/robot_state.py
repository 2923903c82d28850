"""The state of a robot: that of its joints, and of its base where that floats, in one array each."""

from collections.abc import Callable, Iterable

import numpy as np

from screw_dynamics.model.floating_base import NUMBERS, RATES, FloatingBase

from .base_state import BaseState
from .joint_state import Fault, JointStateCache


class RobotState:
    """The latest configuration `position` (nq,), and velocity, effort and stamps (n,), of the base before the joints.

    joints: the cache that writes the joints' part; base: the one that writes the base's part, None where none floats.
    What is unknown is NaN; the effort of a base is 0. followers: mimic joints. notify(topic, fault): of what is
    ignored. fresh(now, limit): whether all is known, from messages that were received `limit` ago at most."""

    def __init__(self, joint_names: tuple[str, ...], base: FloatingBase | None = None, topics: Iterable[str] = (),
                 velocity_fallback: str = "zero", notify: Callable[[str, Fault], None] = lambda topic, fault: None,
                 followers: Iterable[str] = ()):
        numbers, rates = (NUMBERS, RATES) if base is not None else (0, 0)
        n = rates + len(joint_names)
        self.position, self.velocity, self.effort = np.zeros(numbers + len(joint_names)), np.zeros(n), np.zeros(n)
        self.stamps = np.zeros(n, dtype=np.int64)
        self.joints = JointStateCache(
            joint_names, velocity_fallback, lambda fault: notify("joint_states", fault),
            (self.position[numbers:], self.velocity[rates:], self.effort[rates:], self.stamps[rates:]), followers)
        self.base = None if base is None else BaseState(
            base, topics, self.position[:numbers], self.velocity[:rates], self.stamps[:rates], notify)
        self.fresh = self.joints.fresh if base is None else self._fresh

    def clear(self) -> None:
        """Forget everything."""
        self.joints.clear()
        if self.base is not None:
            self.base.clear()

    def _fresh(self, now: int, limit: int) -> bool:
        joints = self.joints
        return (not joints.joint_names or joints.fresh(now, limit)) and self.base.fresh(now, limit)

    @property
    def stamp(self) -> int:
        """The latest stamp of the joints; without joints of the base."""
        return self.base.stamp if self.base is not None and not self.joints.joint_names else self.joints.stamp
