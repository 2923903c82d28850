"""What the simulator takes from a joint command, and why it refuses one."""
from types import SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.ros.node.joint_state import Fault
from screw_dynamics.ros.simulator.command_reader import CommandReader

NAN = float("nan")


def command(name=(), position=(), velocity=(), effort=()):
    return SimpleNamespace(name=name, position=position, velocity=velocity, effort=effort)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": ["shoulder"], "effort": [1.0, 2.0]}, "length mismatch"),
        ({"name": ["shoulder", "elbow"], "effort": [1.0, 2.0], "position": [0.0]}, "length mismatch"),
        ({"name": [], "effort": [1.0, 2.0]}, "length mismatch"),
        ({"name": ["shoulder", "shoulder"], "effort": [1.0, 2.0]}, "duplicate joint"),
        ({"name": ["shoulder", "elbow"], "effort": [1.0, float("inf")]}, "non-finite value"),
    ],
)
def test_faulty_command_is_refused_with_its_reason(fields, reason):
    with pytest.raises(Fault) as refused:
        CommandReader(("shoulder", "elbow"), "effort").read(command(**fields))
    assert refused.value.reason == reason


def test_reader_takes_the_field_of_its_mode_in_any_order_and_leaves_the_rest():
    heard = []
    reader = CommandReader(("a", "b", "c"), "effort", heard.append)
    names = ["c", "lamp", "a"]
    for _ in range(3):
        msg = command(names, position=[NAN] * 3, velocity=[float("inf")] * 3, effort=[3.0, float("inf"), NAN])
        given = reader.read(msg)
        assert np.array_equal(given, (NAN, NAN, 3.0), equal_nan=True)
    assert len(heard) == 1 and "lamp" in str(heard[0])
    assert np.isnan(reader.read(command(["a", "b"], position=[1.0, 2.0]))).all()
