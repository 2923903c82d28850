"""Conversion of messages to columns, message by message, for each type that is read."""
from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

NS = 10**9


class Samples:
    """Messages of one topic as columns of numbers. `add` takes a message, and its number in the log; ValueError
    says what is wrong with it.

    A message's layout is what its columns are; messages of several layouts are gathered apart."""

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
        """Numbers (k,), stamps (k,) in ns, and values (k, width)."""
        numbers, stamps = (np.array(x, dtype=np.int64) for x in (self._numbers, self._stamps))
        return numbers, stamps, np.frombuffer(self._values).reshape(len(numbers), self.width)


class JointStates(Samples):
    """sensor_msgs/JointState; the key of a layout is (names, numbers of positions, velocities and efforts)."""

    def __init__(self, topic: str):
        super().__init__(topic)
        self._names: list[str] | None = None
        self._counts = -1, -1, -1
        self._layout: Any = None

    def add(self, number: int, message: Any) -> None:
        """Gather a message."""
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
    """Types that are a fixed set of numbers: `fields(message)` makes a tuple of floats, `key(message)` the layout's."""

    def __init__(self, topic: str, fields: Callable[[Any], tuple[float, ...]], key: Callable[[Any], Any],
                 stamped: bool = True):
        super().__init__(topic)
        self._fields, self._key, self._stamped = fields, key, stamped

    def add(self, number: int, message: Any) -> None:
        """Gather a message."""
        values, stamp = array("d", self._fields(message)), message.header.stamp if self._stamped else None
        layout = self.layout((self._key(message), len(values)), len(values))
        layout.stamp(stamp.sec * NS + stamp.nanosec if stamp else 0)
        layout.values(values)
        layout.number(number)


def odometry(topic: str) -> Numbers:
    """nav_msgs/Odometry: pose x y z, quaternion x y z w, body-fixed twist, angular part first; (frame, link)."""
    return Numbers(topic, lambda m: (*_xyz(m.pose.pose.position), *_xyz(m.pose.pose.orientation),
                                     m.pose.pose.orientation.w, *_xyz(m.twist.twist.angular),
                                     *_xyz(m.twist.twist.linear)), lambda m: (m.header.frame_id, m.child_frame_id))


def wrench(topic: str) -> Numbers:
    """geometry_msgs/WrenchStamped: torque, then force; its frame."""
    return Numbers(topic, lambda m: (*_xyz(m.wrench.torque), *_xyz(m.wrench.force)), lambda m: m.header.frame_id)


def imu(topic: str) -> Numbers:
    """sensor_msgs/Imu: angular velocity and linear acceleration, NaN where a covariance of -1 says that it has none."""
    nothing = (np.nan,) * 3
    return Numbers(topic, lambda m: (
        *(nothing if m.angular_velocity_covariance[0] == -1.0 else _xyz(m.angular_velocity)),
        *(nothing if m.linear_acceleration_covariance[0] == -1.0 else _xyz(m.linear_acceleration))),
        lambda m: m.header.frame_id)


def multi_array(topic: str) -> Numbers:
    """std_msgs/Float64MultiArray, which has neither names nor stamps."""
    return Numbers(topic, lambda m: tuple(m.data), lambda m: "", stamped=False)


class Texts(Samples):
    """std_msgs/String: the texts that differ from the one before, in `texts`."""

    def __init__(self, topic: str):
        super().__init__(topic)
        self.texts: list[str] = []

    def add(self, number: int, message: Any) -> None:
        """Gather a message."""
        if not self.texts or self.texts[-1] != message.data:
            self.texts.append(message.data)


def _xyz(v):
    return v.x, v.y, v.z
