"""The rows of a parameter table: what converts, what is refused, and what `ros2 param describe` shows."""

import pytest
from rcl_interfaces.msg import ParameterType
from rclpy.parameter import Parameter

from screw_dynamics.ros.dynamics.settings import SETTINGS as DYNAMICS
from screw_dynamics.ros.node.parameters import Setting, convert, descriptor
from screw_dynamics.ros.simulator.node import SimulatorNode
from screw_dynamics.ros.simulator.settings import SETTINGS as SIMULATOR
from screw_dynamics.ros.timing import timeout

RATE = Setting("rate", 0.0, "how often", unit="Hz", lower=0.0, upper=100.0, least=1e-3)
COUNT = Setting("count", 1, "how many", lower=0)
MODE = Setting("mode", "zero", "which", choices=("zero", "error"))
GRAVITY = Setting("gravity", (0.0, 0.0, -9.81), "down", length=3)
CONTACTS = next(setting for setting in SIMULATOR if setting.name == "max_contacts")
JOINTS = Setting("joints", (), "which", read_only=True)


@pytest.mark.parametrize(
    "setting, value, expected",
    [(RATE, 5, 5.0), (COUNT, 5, 5), (MODE, "error", "error"), (GRAVITY, [0, 0, -1], (0.0, 0.0, -1.0)),
     (JOINTS, ["a"], ("a",)), (JOINTS, [], ())],
)
def test_a_value_of_the_right_kind_is_taken(setting, value, expected):
    result = convert(setting, value)
    assert result == expected and type(result) is type(expected)


@pytest.mark.parametrize(
    "setting, value, says",
    [
        (RATE, -1.0, "parameter rate is -1.0, must be >= 0.0"),
        (RATE, 101, "parameter rate is 101.0, must be <= 100.0"),
        (RATE, 1e-12, "parameter rate is 1e-12, must be 0 or >= 0.001"),
        (RATE, float("nan"), "parameter rate is nan, must be finite"),
        (RATE, "fast", "parameter rate is 'fast', must be of type DOUBLE"),
        (RATE, True, "parameter rate is True, must be of type DOUBLE"),
        (CONTACTS, 10_001, "parameter max_contacts is 10001, must be <= 10000"),     # 14 GB, by their square
        (COUNT, 1.5, "parameter count is 1.5, must be of type INTEGER"),
        (MODE, "maybe", "parameter mode is 'maybe', must be one of zero, error"),
        (GRAVITY, [0.0, 0.0], "parameter gravity has 2 values, must have 3"),
        (GRAVITY, [0.0, 0.0, float("inf")], "parameter gravity is inf, must be finite"),
        (GRAVITY, -9.81, "parameter gravity is -9.81, must be of type DOUBLE_ARRAY"),
        (JOINTS, ["a", 1], "must be of type STRING_ARRAY"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_naming_both(setting, value, says):
    with pytest.raises(ValueError, match=says):
        convert(setting, value)


def test_parameters_that_a_node_does_not_have_are_named_with_what_may_be_meant(ros):
    """Not those that it has once it knows the robot."""
    given = {"comand_timeout": 0.5, "gains.p": 3.0, "initial_position.elbow": 0.3, "command_timeout": 0.4,
             "initial_positions.elbow": 0.1, "use_sim_time": False, "qos_overrides./joint_states.publisher.depth": 3,
             "joint_trajectory_controller.constraints.elbow.goal": 0.2}
    node = SimulatorNode(parameter_overrides=[Parameter(name, value=value) for name, value in given.items()])
    try:
        assert node.settings.unknown(node.families) == [
            "parameter comand_timeout is not one of this node, and not used: is command_timeout meant?",
            "parameter gains.p is not one of this node, and not used",
            "parameter initial_position.elbow is not one of this node, and not used: is initial_positions.elbow meant?"]
    finally:
        node.end()
        node.destroy_node()


def test_descriptors():
    rate = descriptor(RATE)
    assert rate.type == ParameterType.PARAMETER_DOUBLE and rate.description == "how often [Hz]" and not rate.read_only
    assert (rate.floating_point_range[0].from_value, rate.floating_point_range[0].to_value) == (0.0, 100.0)
    assert rate.additional_constraints == "0, or from 0.001"
    assert descriptor(COUNT).integer_range[0].from_value == 0
    assert descriptor(MODE).additional_constraints == "one of: zero, error"
    assert descriptor(JOINTS).type == ParameterType.PARAMETER_STRING_ARRAY and descriptor(JOINTS).read_only


@pytest.mark.parametrize("table", [DYNAMICS, SIMULATOR])
def test_no_number_of_a_time_or_rate_leaves_what_integers_and_timers_can_hold(table):
    """At the largest and smallest values that a row takes, and at those beyond, which it refuses."""
    for row in table:
        if row.unit in ("s", "Hz") or row.name == "real_time_factor":
            assert row.upper is not None and row.lower is not None, row.name
            for value in (row.lower, row.least or row.lower, row.upper):
                assert convert(row, value) == value
                assert timeout(value) < 2**63 if row.unit == "s" else value == 0.0 or 1.0 / value < 1e9
            for value in (5e-324, 1e-310, 1e300, float("nan")):
                with pytest.raises(ValueError, match=row.name):
                    convert(row, value)
