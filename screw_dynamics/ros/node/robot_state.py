"""The state of a robot: that of its joints and of a floating base, each quantity in one array."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from screw_dynamics.model.floating_base import NUMBERS, RATES, FloatingBase
from screw_dynamics.model.multi_dof_joints import MultiDofJoint

from .base_state import BaseState
from .joint_state import Fault, JointStateCache, JointStateLike
from .multi_dof_state import TOPIC, MultiDofState


class RobotState:
    """The latest configuration `position` (nq,), and velocity, effort and stamps (n,), in model order; a floating base
    is first.

    joints: the cache of the joints of one degree of freedom; base: the state of a floating base, None without one;
    others: the state of joints of several degrees of freedom, None without any. Unknown values are NaN; the effort of a
    base is 0. followers: mimic joints. notify(topic, fault): called for ignored faults. fresh(now, limit): True if all
    values are known from messages received at most `limit` ns ago. indices: the indices of the joints of one degree of
    freedom in position and in velocity; required with others."""

    def __init__(self, joint_names: tuple[str, ...], base: FloatingBase | None = None, topics: Iterable[str] = (),
                 velocity_fallback: str = "zero", notify: Callable[[str, Fault], None] = lambda topic, fault: None,
                 followers: Iterable[str] = (), others: Sequence[MultiDofJoint] = (),
                 indices: tuple[np.ndarray, np.ndarray] | None = None):
        numbers, rates = (NUMBERS, RATES) if base is not None else (0, 0)
        n = rates + len(joint_names) + sum(joint.v.stop - joint.v.start for joint in others)
        nq = numbers + len(joint_names) + sum(joint.q.stop - joint.q.start for joint in others)
        self.position, self.velocity, self.effort = np.zeros(nq), np.zeros(n), np.zeros(n)
        self.stamps = np.zeros(n, dtype=np.int64)
        self._indices = indices if others else None
        arrays = None if others else (
            self.position[numbers:], self.velocity[rates:], self.effort[rates:], self.stamps[rates:])
        self.joints = JointStateCache(
            joint_names, velocity_fallback, lambda fault: notify("joint_states", fault), arrays, followers)
        self.base = None if base is None else BaseState(
            base, topics, self.position[:numbers], self.velocity[:rates], self.stamps[:rates], notify)
        self.others = MultiDofState(
            others, self.position, self.velocity, self.effort, self.stamps, velocity_fallback,
            lambda fault: notify(TOPIC, fault)) if others else None
        self.fresh = self.joints.fresh if base is None and not others else self._fresh
        self._spread()

    def update(self, msg: JointStateLike, stamp: int, now: int) -> bool:
        """Apply a message with joints of one degree of freedom, as JointStateCache.update does."""
        changed = self.joints.update(msg, stamp, now)
        if self._indices is not None:
            self._spread()
        return changed

    def _spread(self) -> None:
        """Copy the joints' part to its indices in the robot's arrays, if these are not contiguous."""
        if self._indices is not None:
            in_q, in_v = self._indices
            self.position[in_q] = self.joints.position
            for array, values in ((self.velocity, self.joints.velocity), (self.effort, self.joints.effort),
                                  (self.stamps, self.joints.stamps)):
                array[in_v] = values

    def clear(self) -> None:
        """Discard the state."""
        for part in (self.joints, self.base, self.others):
            if part is not None:
                part.clear()
        self._spread()

    def _fresh(self, now: int, limit: int) -> bool:
        joints = self.joints
        return (not joints.joint_names or joints.fresh(now, limit)) and all(
            part is None or part.fresh(now, limit) for part in (self.base, self.others))

    @property
    def stamp(self) -> int:
        """The latest stamp of the joints; without joints that of the base; without a base that of the other joints."""
        return next((part.stamp for part in (self.joints if self.joints.joint_names else None, self.base, self.others)
                     if part is not None), 0)
