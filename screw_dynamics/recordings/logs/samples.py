"""Conversion of messages to columns, one by one, for each supported type."""
from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

NS = 10**9


class Samples:
    """Messages of one topic as numeric columns.

    `add` takes a message and its number in the log; it raises ValueError if the message is invalid. Messages with
    different columns are stored in separate layouts."""

    def __init__(self, topic: str):
        self.topic = topic
        self.layouts: dict[Any, Layout] = {}

    def layout(self, key: Any, width: int) -> Layout:
        """Return the layout of a key; create it at the first call."""
        found = self.layouts.get(key)
        if found is None:
            found = self.layouts[key] = Layout(key, width)
        return found


class Layout:
    """Messages with the same columns."""

    def __init__(self, key: Any, width: int):
        self.key, self.width = key, width
        self._numbers, self._stamps, self._values = array("q"), array("q"), bytearray()
        self.number, self.stamp = self._numbers.append, self._stamps.append
        self.values = self._values.extend

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Message numbers (k,), stamps (k,) in ns, and values (k, width)."""
        numbers, stamps = (np.array(x, dtype=np.int64) for x in (self._numbers, self._stamps))
        return numbers, stamps, np.frombuffer(self._values).reshape(len(numbers), self.width)


class JointStates(Samples):
    """Messages of sensor_msgs/JointState.

    The key of a layout is (names, counts of positions, velocities and efforts)."""

    def __init__(self, topic: str):
        super().__init__(topic)
        self._names: list[str] | None = None
        self._counts = -1, -1, -1
        self._layout: Any = None

    def add(self, number: int, message: Any) -> None:
        """Append a message."""
        p, v, e = message.position, message.velocity, message.effort
        if message.name != self._names or self._counts != (len(p), len(v), len(e)):
            self._layout = None
            self._layout = self._other(message.name, (len(p), len(v), len(e)))
        layout, stamp = self._layout, message.header.stamp
        layout.stamp(stamp.sec * NS + stamp.nanosec)
        layout.values(p)
        layout.values(v)
        layout.values(e)
        layout.number(number)

    def _other(self, given, counts):
        self._names = None
        names = tuple(given)
        for field, count in zip(("position", "velocity", "effort"), counts, strict=True):
            if count not in (0, len(names)):
                raise ValueError(f"{len(names)} names, but {count} numbers in {field}")
        if len(set(names)) < len(names):
            raise ValueError(f"joint {next(name for name in names if names.count(name) > 1)!r} is named twice")
        self._names, self._counts = list(given), counts
        return self.layout((names, counts), sum(counts))


class Numbers(Samples):
    """Messages with a fixed set of numbers: `fields(message)` returns floats, `key(message)` the layout's key."""

    def __init__(self, topic: str, fields: Callable[[Any], tuple[float, ...]], key: Callable[[Any], Any],
                 stamped: bool = True):
        super().__init__(topic)
        self._fields, self._key, self._stamped = fields, key, stamped

    def add(self, number: int, message: Any) -> None:
        """Append a message."""
        values, stamp = array("d", self._fields(message)), message.header.stamp if self._stamped else None
        layout = self.layout((self._key(message), len(values)), len(values))
        layout.stamp(stamp.sec * NS + stamp.nanosec if stamp else 0)
        layout.values(values)
        layout.number(number)


def odometry(topic: str) -> Numbers:
    """Return columns for nav_msgs/Odometry; key (frame, link).

    Pose x y z, quaternion x y z w, and body-fixed twist, angular part first."""
    return Numbers(topic, lambda m: (*_xyz(m.pose.pose.position), *_xyz(m.pose.pose.orientation),
                                     m.pose.pose.orientation.w, *_xyz(m.twist.twist.angular),
                                     *_xyz(m.twist.twist.linear)), lambda m: (m.header.frame_id, m.child_frame_id))


def wrench(topic: str) -> Numbers:
    """Return columns for geometry_msgs/WrenchStamped: torque, then force; key: the frame."""
    return Numbers(topic, lambda m: (*_xyz(m.wrench.torque), *_xyz(m.wrench.force)), lambda m: m.header.frame_id)


def imu(topic: str) -> Numbers:
    """Return columns for sensor_msgs/Imu: angular velocity and linear acceleration; key: the frame.

    A covariance of -1 means no data and gives NaN."""
    nothing = (np.nan,) * 3
    return Numbers(topic, lambda m: (
        *(nothing if m.angular_velocity_covariance[0] == -1.0 else _xyz(m.angular_velocity)),
        *(nothing if m.linear_acceleration_covariance[0] == -1.0 else _xyz(m.linear_acceleration))),
        lambda m: m.header.frame_id)


def multi_array(topic: str) -> Numbers:
    """Return columns for std_msgs/Float64MultiArray, which has neither names nor stamps."""
    return Numbers(topic, lambda m: tuple(m.data), lambda m: "", stamped=False)


class Texts(Samples):
    """Strings of std_msgs/String, in `texts`; repeated ones are dropped."""

    def __init__(self, topic: str):
        super().__init__(topic)
        self.texts: list[str] = []

    def add(self, number: int, message: Any) -> None:
        """Append a message."""
        if not self.texts or self.texts[-1] != message.data:
            self.texts.append(message.data)


def _xyz(v):
    return v.x, v.y, v.z
