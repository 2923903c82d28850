"""Whatever a message holds, what decodes it raises a `Fault` and changes nothing, or gives what the message says."""

import math
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import screw_dynamics as sd
from screw_dynamics.ros.dynamics.acceleration import DesiredAcceleration
from screw_dynamics.ros.node.cdr import JointStateReader, joint_state_template
from screw_dynamics.ros.node.joint_state import Fault, JointStateCache
from screw_dynamics.ros.simulator.command_reader import CommandReader
from support import planar_arm as arm

pytestmark = pytest.mark.slow

MODEL = sd.Robot.from_urdf(arm.urdf()).model
NAMES = st.lists(st.sampled_from([*arm.NAMES, "finger", "wheel"]) | st.text(max_size=3), max_size=5)
NUMBERS = st.lists(st.floats(), max_size=5).map(np.array)
TIMES = st.integers(-2**63, 2**63 - 1)
STATES = st.builds(SimpleNamespace, name=NAMES, position=NUMBERS, velocity=NUMBERS, effort=NUMBERS)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(STATES, TIMES, TIMES), max_size=4), st.sampled_from(["zero", "error"]))
def test_states_are_merged_or_refused(messages, fallback):
    cache = JointStateCache(arm.NAMES, fallback)
    for message, stamp, now in messages:
        before = cache.position.copy(), cache.velocity.copy(), cache.stamp
        try:
            cache.update(message, stamp, now)
        except Fault as fault:
            assert fault.reason and fault.severity in ("debug", "warn", "error") and str(fault)
            np.testing.assert_array_equal(cache.position, before[0])
            np.testing.assert_array_equal(cache.velocity, before[1])
            assert cache.stamp == before[2]
        else:
            for i, name in enumerate(arm.NAMES):
                if name in message.name:
                    assert cache.position[i] == message.position[message.name.index(name)]
        assert cache.complete == bool(np.isfinite(cache.position).all() and np.isfinite(cache.velocity).all())


@settings(max_examples=300, deadline=None)
@given(st.lists(STATES, max_size=3), st.sampled_from(["position", "velocity", "effort"]))
def test_commands_are_numbers_of_the_message_or_none(messages, interface):
    reader = CommandReader(arm.NAMES, {}, dict.fromkeys(arm.NAMES, interface))
    for message in messages:
        try:
            command = reader.read(message)
        except Fault as fault:
            assert fault.reason and str(fault)
        else:
            for value, name in zip(command, arm.NAMES, strict=True):
                assert math.isnan(value) or name in message.name and value in getattr(message, interface)
                assert not math.isinf(value)


POINTS = st.lists(st.builds(SimpleNamespace, positions=NUMBERS, velocities=NUMBERS, accelerations=NUMBERS), max_size=3)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.builds(SimpleNamespace, joint_names=NAMES, points=POINTS), max_size=4))
def test_desired_accelerations_are_finite_or_refused(messages):
    desired = DesiredAcceleration(arm.NAMES, 10)
    for message in messages:
        try:
            desired.take(message, 5)
        except Fault as fault:
            assert fault.reason and str(fault)
        value = desired.value(6)
        assert value is None or np.isfinite(value).all()


GOOD = joint_state_template(list(arm.NAMES), ["position", "velocity", "effort"]).encode()


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.binary(max_size=8)), max_size=4), st.integers(2, len(GOOD)))
def test_bytes_are_read_or_refused(changes, end):
    data = bytearray(GOOD)
    for place, new in changes:
        data[place:place + len(new)] = new
    assume(data[:2] in (b"\x00\x00", b"\x00\x01"))   # others are left to the middleware
    try:
        message = JointStateReader().read(bytes(data[:end]))
    except Fault as fault:
        assert fault.reason == "malformed" and str(fault)
    else:
        assert all(isinstance(name, str) for name in message.name)
        assert sum(len(field) for field in (message.position, message.velocity, message.effort)) * 8 <= len(data)
        struct.pack("<iI", message.sec, message.nanosec)
