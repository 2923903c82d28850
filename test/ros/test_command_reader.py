"""What the simulator takes from a joint command, and why it refuses one."""
from types import SimpleNamespace

import numpy as np
import pytest

from screw_dynamics.model.mimic import Mimic
from screw_dynamics.ros.node.joint_state import Fault
from screw_dynamics.ros.simulator.command_reader import CommandReader

NAN = float("nan")


def command(name=(), position=(), velocity=(), effort=()):
    return SimpleNamespace(name=name, position=position, velocity=velocity, effort=effort)


MODEL = SimpleNamespace(joint_names=("shoulder", "elbow"), mimics={}, joint_frames={})
HAND = SimpleNamespace(joint_names=("a", "b", "grip"), mimics={"finger": Mimic("grip", -1.0, 0.0)}, joint_frames={})
MIXED = {"a": "effort", "b": "effort", "grip": "position"}


def reader(model=MODEL, mode="effort", heard=None, references=False, **interfaces):
    interfaces = {**dict.fromkeys(model.joint_names, mode), **interfaces}
    return CommandReader(model.joint_names, model.mimics, interfaces, *(() if heard is None else (heard.append,)),
                         references=references)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"name": ["shoulder"], "effort": [1.0, 2.0]}, "length mismatch"),
        ({"name": ["shoulder", "elbow"], "effort": [1.0]}, "length mismatch"),
        ({"name": [], "effort": [1.0, 2.0]}, "length mismatch"),
        ({"name": ["shoulder", "shoulder"], "effort": [1.0, 2.0]}, "duplicate joint"),
        ({"name": ["shoulder", "elbow"], "effort": [1.0, float("inf")]}, "non-finite value"),
    ],
)
def test_faulty_command_is_refused_with_its_reason(fields, reason):
    with pytest.raises(Fault) as refused:
        reader().read(command(**fields))
    assert refused.value.reason == reason


def test_reader_takes_the_field_of_its_mode_in_any_order_and_leaves_the_rest():
    heard = []
    taking = reader(SimpleNamespace(joint_names=("a", "b", "c"), mimics={}, joint_frames={}), heard=heard)
    names = ["c", "lamp", "a"]
    for _ in range(3):
        msg = command(names, position=[NAN] * 3, velocity=[float("inf")] * 3, effort=[3.0, float("inf"), NAN])
        assert np.array_equal(taking.read(msg), (NAN, NAN, 3.0), equal_nan=True)
    assert [fault.reason for fault in heard] == 3 * ["unknown joint", "no command"] and "lamp" in str(heard[0])
    assert np.isnan(taking.read(command(["a", "b"], position=[1.0, 2.0]))).all()


def test_field_that_commands_no_joint_may_have_any_length():
    taken = reader().read(command(["shoulder", "elbow"], effort=[1.0, 2.0], position=[0.0], velocity=[1.0] * 7))
    assert taken.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("names", "position", "effort"),
    [
        (["a", "b", "grip"], [9.0, 9.0, 0.04], [1.0, 2.0, 9.0]),             # a value for each name
        (["a", "b", "grip"], [NAN, NAN, 0.04], [1.0, 2.0, NAN]),
        (["a", "b", "grip"], [0.04], [1.0, 2.0]),                            # one for each joint with the interface
        (["grip", "b", "a"], [0.04], [2.0, 1.0]),
        (["a", "b", "grip", "finger"], [0.04], [1.0, 2.0]),                  # a mimic joint has no interface,
        (["finger", "a", "grip", "b"], [9.0, 0.04], [1.0, 2.0]),             # or that of its leader
        (["finger", "a", "grip", "b"], [9.0, 9.0, 0.04, 9.0], [1.0, 2.0]),
        (["a", "b", "grip", "lamp"], [9.0, 9.0, 0.04, 9.0], [1.0, 2.0]),     # nor has a joint of something else
    ],
)
def test_each_joint_takes_its_own_interface_from_arrays_of_different_lengths(names, position, effort):
    assert reader(HAND, **MIXED).read(command(names, position=position, effort=effort)).tolist() == [1.0, 2.0, 0.04]


def test_some_joints_of_an_interface_and_nothing_for_another():
    taking = reader(HAND, **MIXED)
    given = taking.read(command(["b", "grip"], effort=[2.0]))
    assert np.array_equal(given, (NAN, 2.0, NAN), equal_nan=True)
    given = taking.read(command(["b", "grip"], effort=[], position=[0.01]))
    assert np.array_equal(given, (NAN, NAN, 0.01), equal_nan=True)
    assert np.isnan(taking.read(command(["a", "b", "grip"], position=[NAN], effort=[NAN, NAN]))).all()


def test_length_that_does_not_fit_names_the_field_its_length_and_those_that_would_do():
    with pytest.raises(Fault) as refused:
        reader(HAND, **MIXED).read(command(["a", "b", "grip", "lamp"], effort=[1.0, 2.0, 3.0]))
    assert refused.value.reason == "length mismatch" and str(refused.value) == (
        "effort has 3 values, must have 0 or 2 or 4, for 4 names and the joints whose command interface it is: a, b; "
        "the robot does not have lamp")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"position": [0.1, 0.2, 0.3]}, "position is given for a, b, whose command interface is effort: not used"),
        ({"position": [0.1, 0.2, 0.3], "effort": [1.0, NAN]}, "position is given for b, whose"),
        ({"velocity": [0.1]}, "velocity is given for a, b, grip, whose command interface is effort or position"),
    ],
)
def test_command_in_another_field_than_that_of_the_interface_is_noticed(fields, says):
    heard = []
    reader(HAND, heard=heard, **MIXED).read(command(["a", "b", "grip"], **fields))
    assert [fault.severity for fault in heard] == ["warn"] and says in str(heard[0])


@pytest.mark.parametrize("made, names, fields", [
    ({}, ["shoulder", "elbow"], {"position": [1, 2], "velocity": [0, 0], "effort": [3.0, 4.0]}),
    ({"model": HAND, **MIXED}, ["a", "b", "grip", "finger"], {"effort": [1.0, 2.0], "position": [0.04]})],
    ids=["position and velocity beside an effort", "the robot's own mimic joints"])
def test_there_is_nothing_to_notice(made, names, fields):
    heard = []
    reader(heard=heard, **made).read(command(names, **fields))
    assert not heard


def test_a_reference_of_which_efforts_alone_act_is_noticed_once_where_it_is_asked_for():
    heard = []
    taking = reader(HAND, heard=heard, references=True, **MIXED)
    taking.read(command(["a", "b", "grip"], effort=[3.0, 4.0, 0.0]))
    for effort in ([3.0, NAN, 0.0], [3.0, 4.0, 0.0]):
        taking.read(command(["a", "b", "grip"], position=[1.0, 2.0, 0.04], velocity=[0.0] * 3, effort=effort))
    found, = (str(fault) for fault in heard if fault.reason == "not followed")
    assert found.startswith("position and velocity of a are not followed")


def test_names_of_another_robot_are_noticed_in_each_message():
    heard = []
    taking = reader(heard=heard)
    for _ in range(3):
        assert np.isnan(taking.read(command(["left_shoulder"], effort=[1.0]))).all()
    assert [(fault.reason, fault.severity, str(fault)) for fault in heard] == 3 * [
        ("unknown joint", "warn", "joint left_shoulder does not exist, the robot has shoulder, elbow")]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"effort": [1.0, NAN], "position": [0.04]}, ["effort of b is nan: not commanded"]),
        ({"effort": [1.0, 2.0]}, ["position of grip is empty: not commanded"]),
        ({"effort": [NAN, NAN], "position": [NAN]},
         ["position of grip is nan: not commanded", "effort of a, b is nan: not commanded"]),
    ],
)
def test_named_joints_without_a_command_are_noticed(fields, says):
    heard = []
    reader(HAND, heard=heard, **MIXED).read(command(["a", "b", "grip"], **fields))
    assert [(fault.reason, str(fault)) for fault in heard] == [("no command", text) for text in says]
