"""The state of joints of several degrees of freedom, from sensor_msgs/MultiDOFJointState. Times are in nanoseconds; a
stamp of 0 means unstamped."""

from collections.abc import Callable, Sequence

import numpy as np
from sensor_msgs.msg import MultiDOFJointState

from screw_dynamics.model.multi_dof_joints import MultiDofJoint

from ..timing import SECOND
from . import messages
from .base_state import checked_pose, read_twist
from .joint_state import Fault, JointMap, went_back

TOPIC = "multi_dof_joint_states"
OFF = 1e-3          # m and rad: largest deviation of a pose from those that a joint allows


class MultiDofState:
    """The latest state of joints, merged from messages that contain some joints each. It is written into configuration
    (nq,), velocities, efforts and stamps (n,) of a robot.

    transforms: of the child in the joint's origin on the parent; twist: of the child relative to the parent; wrench: on
    the child by the joint's actuators. Twist and wrench are in the child's frame. If twist is empty, joints are at rest
    if `velocity_fallback` is "zero"; if wrench is empty, efforts are NaN. `Fault`, and no change: a list whose length
    differs from that of the names, a joint named twice, no transform, a number that is not finite, a quaternion whose
    length is not 1, a pose that the joint does not allow, no twist with velocity_fallback "error". If the stamp is
    earlier than the joint's last one, the state is cleared before the message is applied. Other joints are ignored."""

    def __init__(self, joints: Sequence[MultiDofJoint], position: np.ndarray, velocity: np.ndarray, effort: np.ndarray,
                 stamps: np.ndarray, velocity_fallback: str = "zero",
                 notify: Callable[[Fault], None] = lambda fault: None):
        self.joints = tuple(joints)
        self.velocity_fallback, self._notify = velocity_fallback, notify
        self._map = JointMap([joint.name for joint in joints], notify)
        self._into = position, velocity, effort
        self._stamps = stamps
        self.clear()

    def clear(self) -> None:
        """Discard the state."""
        for joint in self.joints:
            for array, where in zip((*self._into, self._stamps), (joint.q, joint.v, joint.v, joint.v), strict=True):
                array[where] = 0 if array is self._stamps else np.nan
        self._received = np.full(len(self.joints), -1, dtype=np.int64)

    @property
    def missing(self) -> tuple[str, ...]:
        """The joints without a message yet."""
        return tuple(joint.name for joint, time in zip(self.joints, self._received, strict=True) if time < 0)

    def fresh(self, now: int, limit: int) -> bool:
        """Return True if every joint was received at most `limit` ns ago."""
        return not self.missing and bool(now - self._received.min(initial=now) <= limit)

    def age(self, now: int) -> float:
        """Return the seconds since the least recently received joint. Requires that none is missing."""
        return (now - int(self._received.min(initial=now))) / SECOND

    @property
    def stamp(self) -> int:
        """The latest stamp."""
        return max((int(self._stamps[joint.v.start]) for joint in self.joints), default=0)

    def take(self, msg: MultiDOFJointState, now: int) -> bool:
        """Apply a message received at a time `now`. Return True if it changed a complete state."""
        count = len(msg.joint_names)
        for field in ("transforms", "twist", "wrench"):
            k = len(getattr(msg, field))
            if k != count and (k or field == "transforms" and count):
                raise Fault("length mismatch", f"{field} has {k} values for {count} joint_names")
        selection = self._map.select(msg.joint_names)
        if not len(selection.target):
            return False
        if not len(msg.twist) and self.velocity_fallback == "error":
            raise Fault("no velocity", "twist is empty (velocity_fallback is 'error')")
        found = [self._read(msg, k, self.joints[i]) for k, i in zip(selection.source, selection.target, strict=True)]
        stamp, joints = messages.nanoseconds(msg.header.stamp), [self.joints[i] for i in selection.target]
        before = max(int(self._stamps[joint.v.start]) for joint in joints)
        if 0 < stamp < before:
            self._notify(went_back(before, stamp))
            self.clear()
        for joint, values in zip(joints, found, strict=True):
            for array, where, value in zip(self._into, (joint.q, joint.v, joint.v), values, strict=True):
                array[where] = value
            self._stamps[joint.v] = stamp
        self._received[selection.target] = now
        return not self.missing

    def _read(self, msg, k, joint):
        """Return numbers, velocities and efforts of a joint from entry k of a message."""
        transform, name = msg.transforms[k], f"of joint '{joint.name}'"
        p, q = transform.translation, transform.rotation
        placement = checked_pose(np.array([p.x, p.y, p.z, q.x, q.y, q.z, q.w]), f"transform {name}")
        numbers, off = joint.numbers(placement)
        if off > OFF:
            raise Fault("impossible pose", f"transform {name} is {off:.3g} m or rad off what a {joint.kind} joint "
                                           "allows")
        velocities = joint.velocities(read_twist(msg.twist[k], f"twist {name}")) if len(msg.twist) else 0.0
        efforts = joint.efforts(messages.wrench(msg.wrench[k])) if len(msg.wrench) else np.nan
        return numbers, velocities, efforts
