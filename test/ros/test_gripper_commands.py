"""What goals and parameters of grippers say, which is read without control_msgs, too."""
from types import SimpleNamespace

import pytest
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

import screw_dynamics as sd
from screw_dynamics.model.mimic import Mimic
from screw_dynamics.ros.simulator.gripper_actions import Wanted, read_parallel, read_single
from screw_dynamics.ros.simulator.node import SimulatorNode
from support import planar_arm as arm
from support.floating_robots import hopper

MIMICS = {"finger": Mimic("elbow", -0.5, 0.0), "thumb": Mimic("shoulder", 1.0, 0.0)}


@pytest.mark.parametrize(("position", "effort", "wanted"), [
    (0.3, 2.0, Wanted(0.3, 2.0)), (0.3, -2.0, Wanted(0.3, 2.0)), (-0.3, 0.0, Wanted(-0.3, None))])
def test_an_effort_of_a_gripper_command_has_no_sign_and_zero_is_none(position, effort, wanted):
    assert read_single(SimpleNamespace(position=position, max_effort=effort), "elbow", MIMICS) == wanted


@pytest.mark.parametrize(("fields", "wanted"), [
    ({"position": [0.1]}, Wanted(0.1)),
    ({"name": ["finger", "elbow"], "position": [-0.05, 0.1], "effort": [7.0, 2.0]}, Wanted(0.1, 2.0)),
    ({"name": ["elbow", "finger"], "position": [0.1, -0.05], "velocity": [0.5, 0.25]}, Wanted(0.1, None, 0.5)),
])
def test_a_command_of_a_parallel_gripper_is_what_it_says_of_the_joint(fields, wanted):
    assert read_parallel(JointState(**fields), "elbow", MIMICS) == wanted


@pytest.mark.parametrize(("fields", "says"), [
    ({"name": ["elbow"], "position": [0.1], "effort": [1.0, 2.0]}, "command.effort has 2 values, must have 1"),
    ({"position": [0.1], "velocity": [0.1, 0.1]}, "command.velocity has 2 values, must have 1"),
    ({"name": ["shoulder"], "position": [0.1]}, "command.name: 'shoulder' is not 'elbow', the joint of this gripper"),
    ({"name": ["elbow", "thumb"], "position": [0.1, 0.1]}, "command.name: 'thumb' is not 'elbow', the joint of this "),
    ({"name": ["finger"], "position": [0.1]}, "command.name: 'elbow', the joint of this gripper, is missing"),
])
def test_a_command_of_a_parallel_gripper_is_of_its_joint_alone(fields, says):
    with pytest.raises(ValueError, match=says):
        read_parallel(JointState(**fields), "elbow", MIMICS)


def simulator(**given):
    """A node with these parameters."""
    return SimulatorNode(parameter_overrides=[
        Parameter(name.replace("__", "."), value=value) for name, value in given.items()])


def test_a_gripper_without_a_joint_or_of_a_name_that_is_taken_is_refused(ros):
    for given, says in (({"gripper_groups": ["hand"]}, "hand.joint is empty, must name the joint of this gripper"),
                        ({"gripper_groups": ["joint_trajectory_controller"]}, "gripper_groups: .* is named twice"),
                        ({"gripper_groups": ["a hand"]}, "gripper_groups: 'a hand' must be of letters")):
        with pytest.raises(ValueError, match=says):
            simulator(**given)


@pytest.fixture
def parameters(ros):
    node = simulator(gripper_groups=["hand", "lost", "led"], hand__joint="slide", hand__stall_timout=2.0,
                     hand__stall_timeout=3.0, lost__joint="thumb", led__joint="finger")
    yield node._gripper_parameters
    node.endpoints.close()
    node.end()
    node.destroy_node()


def test_the_joint_of_a_gripper_is_found_among_all_velocities(parameters, rng):
    """Those of a floating base are before it."""
    for floating in False, True:
        robot = sd.Robot.from_urdf(hopper(), floating_base=floating)
        index = parameters.index("hand", robot.model)
        qd = [float(i == index) for i in range(robot.n)]
        twist = robot.jacobian(robot.random_configuration(seed=rng), "shin") @ qd
        assert twist == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def test_settings_that_do_nothing_are_named(parameters):
    of_hopper = parameters.unused(sd.Robot.from_urdf(hopper()).model)
    assert [line.partition(",")[0] for line in of_hopper] == [
        "parameter lost.joint: joint 'thumb' does not exist", "parameter led.joint: joint 'finger' does not exist",
        "parameter hand.stall_timout does not exist"]
    assert "parameter led.joint: joint 'finger' mimics 'elbow', must be one of shoulder, elbow" in parameters.unused(
        sd.Robot.from_urdf(arm.urdf()).model)
    assert parameters.rules("hand").stall_timeout == 3.0
