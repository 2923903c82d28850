"""Messages as bytes: what rclpy makes of them, we make of them; and no bytes do harm."""

import struct

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from hypothesis import given, settings
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from screw_dynamics.ros.node import messages
from screw_dynamics.ros.node.base_state import received_odometry
from screw_dynamics.ros.node.cdr import (
    KNOWN_BLOCKS,
    KNOWN_BYTES,
    JointStateReader,
    float64_array_template,
    joint_state_template,
    read_odometry,
    wrench_template,
)
from screw_dynamics.ros.node.joint_state import Fault

TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=9)
NUMBERS = st.lists(st.floats(), max_size=6)
FIELDS = ("position", "velocity", "effort")


@st.composite
def joint_states(draw):
    numbers = {field: draw(NUMBERS) for field in FIELDS}
    msg = JointState(name=draw(st.lists(TEXT, max_size=5)), **numbers)
    msg.header.frame_id = draw(TEXT)
    msg.header.stamp.sec = draw(st.integers(-2**31, 2**31 - 1))
    msg.header.stamp.nanosec = draw(st.integers(0, 2**32 - 1))
    return msg


def assert_same(read, msg):
    assert (read.sec, read.nanosec) == (msg.header.stamp.sec, msg.header.stamp.nanosec)
    assert read.frame_id == msg.header.frame_id and list(read.name) == list(msg.name)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(read, field), getattr(msg, field))


def big_endian(msg):
    """The same message as a machine with the other byte order sends it."""
    data = bytearray(b"\x00\x00\x00\x00" + struct.pack(">iI", msg.header.stamp.sec, msg.header.stamp.nanosec))

    def word(value):
        data.extend(bytes(-len(data) % 4) + struct.pack(">I", value))

    def string(text):
        word(len(text.encode()) + 1)
        data.extend(text.encode() + b"\0")

    string(msg.header.frame_id)
    word(len(msg.name))
    for name in msg.name:
        string(name)
    for field in FIELDS:
        word(len(getattr(msg, field)))
        data.extend(bytes((4 - len(data)) % 8 if len(getattr(msg, field)) else 0))
        data.extend(struct.pack(f">{len(getattr(msg, field))}d", *getattr(msg, field)))
    return bytes(data)


@settings(deadline=None)    # the first message loads what rclpy reads it with
@given(st.lists(joint_states(), min_size=1, max_size=6))
def test_a_reader_reads_what_rclpy_reads(messages):
    reader = JointStateReader()
    for msg in [*messages, *messages]:
        assert_same(reader.read(serialize_message(msg)), msg)
        assert_same(reader.read(big_endian(msg)), msg)
        assert_same(msg=deserialize_message(big_endian(msg), JointState), read=reader.read(serialize_message(msg)))


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x00\x01\x00\x00", b"\x00\x00\x00\x00"]))
def test_any_bytes_are_a_message_or_a_fault(data, encapsulation):
    read_or_fault(encapsulation + data)


@given(joint_states(), st.data())
def test_a_message_with_other_bytes_in_it_is_a_message_or_a_fault(msg, data):
    whole = bytearray(serialize_message(msg))
    for at in data.draw(st.lists(st.integers(4, len(whole) - 1), min_size=1, max_size=4)):
        whole[at] = data.draw(st.integers(0, 255))
    read = read_or_fault(bytes(whole))
    if read is not None and max(map(len, (read.name, *read[4:]))) < 1000:
        assert_same(read, deserialize_message(bytes(whole), JointState))


def read_or_fault(data):
    try:
        return JointStateReader().read(data)
    except Fault as fault:
        assert fault.reason == "malformed" and f"{len(data)} bytes are not a JointState" in str(fault)
        return None


@given(joint_states())
def test_every_truncation_is_a_fault(msg):
    template = joint_state_template(msg.name, FIELDS, msg.header.frame_id)
    data, reader = template.encode(), JointStateReader()
    reader.read(data)
    for length in range(2, len(data)):
        with pytest.raises(Fault, match=f"{length} bytes are not a JointState"):
            reader.read(data[:length])
    assert reader.read(data[:1]) is None


def test_another_encapsulation_is_left_to_rclpy():
    assert JointStateReader().read(b"\x00\x07\x00\x00" + bytes(40)) is None


@pytest.mark.parametrize("word", [2**32 - 1, 2**31, 2**28])
@pytest.mark.parametrize("at", [12, 20, 24, 28, 32])
def test_lengths_that_no_memory_holds_are_faults(word, at):
    data = bytearray(serialize_message(JointState()))
    struct.pack_into("<I", data, at, word)
    with pytest.raises(Fault, match="not a JointState"):
        JointStateReader().read(bytes(data))


def test_a_reader_remembers_few_and_small_lists_of_names():
    reader = JointStateReader()
    for k in range(3 * KNOWN_BLOCKS):
        reader.read(serialize_message(JointState(name=[f"joint{k}"])))
    assert len(reader._known) == KNOWN_BLOCKS
    assert reader.read(serialize_message(JointState(name=["x" * KNOWN_BYTES]))).name == ("x" * KNOWN_BYTES,)
    assert sum(len(block) for block, _ in reader._known) < KNOWN_BLOCKS * 100


@given(st.lists(TEXT, max_size=5), st.sets(st.sampled_from(FIELDS)), TEXT, st.data())
def test_what_a_template_encodes_is_what_rclpy_reads(names, fields, frame, data):
    template = joint_state_template(names, fields, frame)
    for _ in range(2):
        sec, nanosec = data.draw(st.integers(-2**31, 2**31 - 1)), data.draw(st.integers(0, 10**9 - 1))
        template.stamp(sec, nanosec)
        for field in fields:
            values = data.draw(st.lists(st.floats(), min_size=len(names), max_size=len(names)))
            template.fields[field][:] = values
        msg = deserialize_message(template.encode(), JointState)
        assert (msg.header.stamp.sec, msg.header.stamp.nanosec, msg.header.frame_id) == (sec, nanosec, frame)
        assert list(msg.name) == names
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(msg, field), template.fields[field] if field in fields else [])
        assert all(array.flags.aligned for array in template.fields.values())


@given(NUMBERS)
def test_an_array_of_numbers_is_what_rclpy_reads(numbers):
    template = float64_array_template(len(numbers))
    template.fields["data"][:] = numbers
    msg = deserialize_message(template.encode(), Float64MultiArray)
    np.testing.assert_array_equal(msg.data, numbers)
    assert not msg.layout.dim and msg.layout.data_offset == 0


@given(TEXT, TEXT, st.lists(st.floats(), min_size=13, max_size=13))
def test_an_odometry_is_what_rclpy_writes_and_every_truncation_is_a_fault(frame_id, child, numbers):
    msg = Odometry(child_frame_id=child)
    msg.header.frame_id, msg.header.stamp.sec, msg.header.stamp.nanosec = frame_id, 7, 8
    msg.pose.pose = messages.placement_message(np.array(numbers[:7]))
    msg.twist.twist = messages.twist_message(numbers[7:])
    msg.pose.covariance[0] = msg.twist.covariance[35] = 9.0
    data = serialize_message(msg)
    got, expected = read_odometry(data), received_odometry(msg)
    assert got[:4] == expected[:4] == (7, 8, frame_id, child) and got.stamp == 7_000_000_008
    np.testing.assert_array_equal(got.pose, expected.pose)
    np.testing.assert_array_equal(got.twist, expected.twist)
    for end in range(4, len(data) - 7, 5):
        with pytest.raises(Fault, match="not an Odometry"):
            read_odometry(data[:end])
    assert read_odometry(b"\x00\x07" + data[2:]) is None


@given(TEXT, st.lists(st.floats(), min_size=6, max_size=6))
def test_a_wrench_is_what_rclpy_reads(frame_id, numbers):
    template = wrench_template(frame_id)
    template.stamp(7, 8)
    template.fields["wrench"][:] = numbers
    msg = deserialize_message(template.encode(), WrenchStamped)
    assert (msg.header.frame_id, msg.header.stamp.sec, msg.header.stamp.nanosec) == (frame_id, 7, 8)
    np.testing.assert_array_equal(messages.wrench(msg.wrench), [*numbers[3:], *numbers[:3]])
