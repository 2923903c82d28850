"""The state of a floating base, from the messages that contain it, and the treatment of faults in them. Times are in
nanoseconds; a stamp of 0 means unstamped."""

from collections.abc import Callable, Iterable

import numpy as np
from geometry_msgs.msg import Pose, PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry

from screw_dynamics.model.configuration_space import rotated
from screw_dynamics.model.floating_base import FloatingBase

from ..timing import SECOND
from . import messages
from .cdr import ReceivedOdometry
from .joint_state import Fault, all_finite, listed, went_back

UNIT = 1e-3     # largest deviation of a quaternion's length from 1
TO_BODY = (-1.0, -1.0, -1.0, 1.0)


def read_pose(pose: Pose, field: str) -> np.ndarray:
    """Return a pose as x y z, quaternion x y z w (7,). Raises `Fault` that names the field if the pose is not finite or
    the quaternion is not of unit length."""
    return checked_pose(messages.placement(pose), field)


def checked_pose(numbers: np.ndarray, field: str) -> np.ndarray:
    """Return a pose as x y z, quaternion x y z w (7,) unchanged. Raises `Fault` as `read_pose` does."""
    if not all_finite(numbers):
        raise Fault("non-finite value", f"{field} is {numbers.tolist()} (x y z, quaternion x y z w)")
    length = np.linalg.norm(numbers[3:])
    if abs(length - 1.0) > UNIT:
        raise Fault("no unit quaternion", f"{field}: the quaternion {numbers[3:].tolist()} (x y z w) has length "
                    f"{length:.6g}, must have 1")
    return numbers


def read_twist(twist: Twist, field: str) -> np.ndarray:
    """Return a twist (6,), angular part first. Raises `Fault` that names the field if it is not finite."""
    return _checked_twist(messages.twist(twist), field)


def _checked_twist(numbers: np.ndarray, field: str) -> np.ndarray:
    if not all_finite(numbers):
        raise Fault("non-finite value", f"{field} is {numbers.tolist()} (angular, linear)")
    return numbers


def fixed_link(base: FloatingBase, name: str, field: str) -> str:
    """Return the name of the link if it is fixed to the base; "" stands for the base. Raises `Fault` that names the
    field for any other link."""
    if name and name not in base.fixed:
        raise Fault("unknown frame", f"{field} is '{listed([name])}', must be '{base.link}', a link fixed to it, or "
                    "empty")
    return name


def received_odometry(msg: Odometry) -> ReceivedOdometry:
    """Return the used fields of a message."""
    stamp = msg.header.stamp
    return ReceivedOdometry(stamp.sec, stamp.nanosec, msg.header.frame_id, msg.child_frame_id,
                            messages.placement(msg.pose.pose), messages.twist(msg.twist.twist))


class BaseState:
    """The latest pose and twist of a floating base, merged from the messages of `topics`, each of which contains a
    part.

    The state is written into numbers (7,), twist (6,) and stamps (6,), the base's parts of a robot's configuration,
    velocities and their stamps. The rules for a message, in this order: `Fault`, and no change, for a frame that is not
    fixed to the base, a number that is not finite, or a quaternion whose length is not 1. If the stamp is earlier than
    the topic's previous one, the state is cleared before the message is applied. Covariances are not read.

    `notify` receives, as a `Fault`, what is accepted but must be logged."""

    def __init__(self, base: FloatingBase, topics: Iterable[str], numbers: np.ndarray, twist: np.ndarray,
                 stamps: np.ndarray, notify: Callable[[str, Fault], None] = lambda topic, fault: None):
        self.base, self._notify = base, notify
        self.numbers, self.twist, self._stamps = numbers, twist, stamps
        self._topics = tuple(topics)
        self.clear()

    def clear(self) -> None:
        """Discard the state."""
        self.numbers.fill(np.nan)
        self.twist.fill(np.nan)
        self._stamps.fill(0)
        self._received = dict.fromkeys(self._topics, -1)
        self._stamped = dict.fromkeys(self._topics, 0)
        self._pose_frame = ""
        self._in_pose_frame: np.ndarray | None = None   # the twist, if it is resolved in the frame of poses

    # --------------------------------------------------------------------------------------------- how old it is
    @property
    def missing(self) -> tuple[str, ...]:
        """The topics without a message yet."""
        return tuple(topic for topic, time in self._received.items() if time < 0)

    def fresh(self, now: int, limit: int) -> bool:
        """Return True if every part was received at most `limit` ns ago."""
        oldest = min(self._received.values())
        return oldest >= 0 and now - oldest <= limit

    def oldest(self, now: int) -> tuple[str, float]:
        """Return the topic of the part received least recently, and its age in s. Requires that no part is missing."""
        topic = min(self._received, key=self._received.__getitem__)
        return topic, (now - self._received[topic]) / SECOND

    @property
    def stamp(self) -> int:
        """The latest stamp."""
        return max(self._stamped.values())

    # --------------------------------------------------------------------------------------------- messages
    def take_odometry(self, topic: str, received: ReceivedOdometry, now: int) -> None:
        """Apply the pose of the child frame, and its twist, which is resolved in the child frame (REP 105)."""
        link = fixed_link(self.base, received.child_frame_id, "child_frame_id")
        pose, twist = checked_pose(received.pose, "pose"), _checked_twist(received.twist, "twist")
        self._stamps[:] = self._admit(topic, received.stamp, now)
        self.numbers[:], self.twist[:] = self.base.numbers(pose, link), self.base.twist(twist, link)

    def take_pose(self, topic: str, msg: PoseStamped, now: int) -> None:
        """Apply the pose of the base."""
        pose = read_pose(msg.pose, "pose")
        self._admit(topic, messages.nanoseconds(msg.header.stamp), now)
        self.numbers[:], self._pose_frame = self.base.numbers(pose), msg.header.frame_id
        self._resolve()

    def take_twist(self, topic: str, msg: TwistStamped, now: int) -> None:
        """Apply the twist of a link that is fixed to the base, in the link's frame, or the twist of the base, resolved
        in the frame of poses."""
        frame = msg.header.frame_id
        twist = read_twist(msg.twist, "twist")
        in_pose_frame = bool(frame) and frame == self._pose_frame and frame not in self.base.fixed
        link = "" if in_pose_frame else fixed_link(self.base, frame, "header.frame_id")
        self._stamps[:] = self._admit(topic, messages.nanoseconds(msg.header.stamp), now)
        self._in_pose_frame = twist if in_pose_frame else None
        self.twist[:] = self.base.twist(twist, link)
        self._resolve()

    def _resolve(self) -> None:
        """Resolve a twist given in the frame of poses in the base's frame."""
        if self._in_pose_frame is not None:
            to_body = self.base.pose(self.numbers)[3:] * TO_BODY
            self.twist[:3], self.twist[3:] = (rotated(to_body, part) for part in self._in_pose_frame.reshape(2, 3))

    def _admit(self, topic: str, stamp: int, now: int) -> int:
        """Store the time of reception and the stamp of a message. Return the stamp."""
        before = self._stamped[topic]
        if 0 < stamp < before:
            self._notify(topic, went_back(before, stamp))
            self.clear()
        self._received[topic], self._stamped[topic] = now, stamp
        return stamp


# By the parameter base_state_source: the topics, and the method for the messages of each.
BASE_SOURCES = {
    "odometry": {"odom": BaseState.take_odometry},
    "pose_and_twist": {"base_pose": BaseState.take_pose, "base_twist": BaseState.take_twist},
}
