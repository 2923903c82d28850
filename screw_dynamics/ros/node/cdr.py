"""Reading and writing the serialized bytes of sensor_msgs/JointState, nav_msgs/Odometry, geometry_msgs/WrenchStamped
and std_msgs/Float64MultiArray.

The encoding is CDR (OMG DDS-XTypes 7.4.1, "plain CDR 1"): four bytes of encapsulation, then the fields in order, each
aligned to its own size, counted from the end of the encapsulation. A sequence is its length, 4 bytes, and its elements;
a string's length includes the terminating zero byte. Padding bytes are arbitrary.

Pure Python and NumPy, to be tested without ROS."""

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..timing import SECOND
from .joint_state import Fault

ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}   # by the identifier of the encapsulation
ORIGIN = 4                                      # bytes of encapsulation; alignment is counted from its end
KNOWN_BLOCKS, KNOWN_BYTES = 4, 65536            # lists of names that a reader caches, and their largest size
NOTHING = np.zeros(0)
ANGULAR_FIRST = np.array([3, 4, 5, 0, 1, 2])


class ReceivedJointState(NamedTuple):
    """The fields of a sensor_msgs/JointState. The arrays are read-only views of the bytes."""

    sec: int
    nanosec: int
    frame_id: str
    name: tuple[str, ...]
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray

    @property
    def stamp(self) -> int:
        """The stamp in nanoseconds; 0 for an unstamped message."""
        return self.sec * SECOND + self.nanosec


class JointStateReader:
    """A reader of one topic's messages. It caches the names of the last messages by their bytes, and does not decode
    them again."""

    def __init__(self):
        self._known: list[tuple[bytes, tuple[str, ...]]] = []   # the bytes of a list of names, and the names

    def read(self, data: bytes) -> ReceivedJointState | None:
        """Return the message; None for another encoding. Raises `Fault` if the bytes are not a JointState."""
        return _read(data, "a JointState", self._after_header)

    def _after_header(self, header: tuple, data: bytes, at: int, order: str) -> ReceivedJointState:
        name, at = self._names(data, at, order)
        position, at = _numbers(data, at + -at % 4, order)
        velocity, at = _numbers(data, at, order)
        effort, at = _numbers(data, at, order)
        return ReceivedJointState(*header, name, position, velocity, effort)

    def _names(self, data: bytes, start: int, order: str) -> tuple[tuple[str, ...], int]:
        for block, names in self._known:
            if data.startswith(block, start):
                return names, start + len(block)
        count, at, found = *struct.unpack_from(order + "I", data, start), start + 4, []
        if 4 * count > len(data) - at:
            raise ValueError(f"{count} names in {len(data) - at} bytes")
        length_of = struct.Struct(order + "I").unpack_from
        for _ in range(count):
            at += -at % 4
            text, at = _string(data, at + 4, *length_of(data, at))
            found.append(text)
        names = tuple(found)
        if at - start <= KNOWN_BYTES:
            self._known = [(data[start:at], names), *self._known[:KNOWN_BLOCKS - 1]]
        return names, at


def _read(data: bytes, kind: str, after_header: Callable) -> Any:
    """Return a message that begins with a header, read by after_header((sec, nanosec, frame_id), data, at, order).
    Returns None or raises `Fault` as JointStateReader does."""
    order = ORDERS.get(data[:2])
    if order is None:
        return None
    try:
        sec, nanosec, length = struct.unpack_from(order + "iII", data, ORIGIN)
        frame_id, at = _string(data, 16, length)
        return after_header((sec, nanosec, frame_id), data, at + -at % 4, order)
    except (struct.error, ValueError) as error:
        raise Fault("malformed", f"{len(data)} bytes are not {kind}: {error}") from None


def _string(data: bytes, at: int, length: int) -> tuple[str, int]:
    """Return the string of `length` bytes at `at`, and the position of its end."""
    end = at + length
    if end > len(data):
        raise ValueError(f"a string of {length} bytes at byte {at}")
    return data[at:end].partition(b"\0")[0].decode("utf-8", "replace"), end


def _numbers(data: bytes, at: int, order: str) -> tuple[np.ndarray, int]:
    """Return the sequence of float64 whose length is at `at`, and the position of its end."""
    count, = struct.unpack_from(order + "I", data, at)
    at += 4
    if not count:
        return NOTHING, at
    at += (ORIGIN - at) % 8
    end = at + 8 * count
    if end > len(data):
        raise ValueError(f"{count} numbers at byte {at}")
    return np.frombuffer(data, order + "f8", count, at), end


class ReceivedOdometry(NamedTuple):
    """The used fields of a nav_msgs/Odometry: stamp, frames, pose x y z, quaternion x y z w (7,), and twist (6,),
    angular part first."""

    sec: int
    nanosec: int
    frame_id: str
    child_frame_id: str
    pose: np.ndarray
    twist: np.ndarray

    @property
    def stamp(self) -> int:
        """The stamp in nanoseconds; 0 for an unstamped message."""
        return self.sec * SECOND + self.nanosec


def read_odometry(data: bytes) -> ReceivedOdometry | None:
    """Return the message; None for another encoding. Raises `Fault` if the bytes are not an Odometry."""
    return _read(data, "an Odometry", _odometry_after_header)


def _odometry_after_header(header: tuple, data: bytes, at: int, order: str) -> ReceivedOdometry:
    child_frame_id, at = _string(data, at + 4, *struct.unpack_from(order + "I", data, at))
    at += (ORIGIN - at) % 8
    numbers = np.frombuffer(data, order + "f8", 2 * 36 + 7 + 6, at)    # pose and twist, each with its covariance
    twist = numbers[7 + 36:]
    return ReceivedOdometry(*header, child_frame_id, numbers[:7], twist[ANGULAR_FIRST])


class Template:
    """A message that is encoded once, and then published repeatedly with other numbers.

    `fields` has an array (n,) for each float64 sequence of the message, to be written in place. The encapsulation
    declares little-endian, which every machine can read."""

    def __init__(self):
        self._bytes = bytearray(b"\x00\x01\x00\x00")
        self._places: dict[str, tuple[int, int]] = {}   # starts and lengths of the sequences
        self.fields: dict[str, np.ndarray] = {}

    def stamp(self, sec: int, nanosec: int) -> None:
        """Write the stamp of a message that begins with a header."""
        struct.pack_into("<iI", self._memory, ORIGIN, sec, nanosec)

    def encode(self) -> bytes:
        """Return the current message."""
        return self._memory.tobytes()

    def _add_word(self, value: int) -> None:
        self._bytes += bytes(-len(self._bytes) % 4) + struct.pack("<I", value)

    def _add_string(self, text: str) -> None:
        encoded = text.encode() + b"\0"
        self._add_word(len(encoded))
        self._bytes += encoded

    def _add_numbers(self, field: str, length: int) -> None:
        self._add_word(length)
        if length:
            self._bytes += bytes((ORIGIN - len(self._bytes)) % 8)
        self._places[field] = len(self._bytes), length
        self._bytes += bytes(8 * length)

    def _add_floats(self, field: str, count: int) -> None:
        """Add a fixed number of float64, without a length before them."""
        self._bytes += bytes((ORIGIN - len(self._bytes)) % 8)
        self._places[field] = len(self._bytes), count
        self._bytes += bytes(8 * count)

    def _finish(self) -> "Template":
        # Start four bytes into an aligned block, so that the numbers are aligned.
        self._memory = np.zeros(len(self._bytes) + ORIGIN, dtype=np.uint8)[ORIGIN:]
        self._memory[:] = self._bytes
        self.fields = {field: self._memory[at:at + 8 * n].view("<f8") for field, (at, n) in self._places.items()}
        return self


def joint_state_template(names: Sequence[str], fields: Sequence[str], frame_id: str = "") -> Template:
    """Return a template of a sensor_msgs/JointState with numbers in these of its fields "position", "velocity",
    "effort"; the other fields are empty."""
    template = _with_header(frame_id)
    template._add_word(len(names))
    for name in names:
        template._add_string(name)
    for field in ("position", "velocity", "effort"):
        template._add_numbers(field, len(names) if field in fields else 0)
    return template._finish()


def wrench_template(frame_id: str) -> Template:
    """Return a template of a geometry_msgs/WrenchStamped. Its field is "wrench", force (3) and torque (3)."""
    template = _with_header(frame_id)
    template._add_floats("wrench", 6)
    return template._finish()


def _with_header(frame_id: str) -> Template:
    template = Template()
    template._bytes += bytes(8)
    template._add_string(frame_id)
    return template


def float64_array_template(n: int) -> Template:
    """Return a template of a std_msgs/Float64MultiArray of n numbers without a layout. Its field is "data"."""
    template = Template()
    template._add_word(0)
    template._add_word(0)
    template._add_numbers("data", n)
    return template._finish()
