"""Arguments of a xacro file reach it from a node's parameters, and from the fixture."""
import pytest
from rclpy.parameter import Parameter

from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.testing import RobotSimulator
from support import planar_arm as arm


@pytest.fixture
def file(tmp_path):
    """The planar arm, whose elbow has the name that the argument `elbow` gives it."""
    text = arm.urdf(elbow="$(arg elbow)")
    argument = ' xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="elbow" default="e"/>'
    text = text[text.index("<robot"):].replace(">", argument, 1)
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(text)
    return file


def made(**given):
    """A dynamics_node with these parameters; what it has read."""
    node = DynamicsNode(parameter_overrides=[Parameter(name, value=str(value)) for name, value in given.items()])
    text = node.settings.robot_description
    node.end()
    node.destroy_node()
    return text


def test_a_node_expands_its_file_with_its_arguments(ros, file):
    assert model_of(made(urdf=file, xacro_args="elbow:=knee")).joint_names == ("shoulder", "knee")
    assert model_of(made(urdf=file)).joint_names == ("shoulder", "e")


@pytest.mark.parametrize("urdf, xacro_args, says", [
    (True, "elbo:=knee", "no argument 'elbo': its arguments are 'elbow'"),
    (True, "knee", "'knee', must be name:=value"),
    (False, "elbow:=knee", "parameter xacro_args requires the parameter urdf")])
def test_a_node_refuses_arguments_that_would_do_nothing(ros, file, urdf, xacro_args, says):
    with pytest.raises(ValueError, match=says):
        made(urdf=file if urdf else "", xacro_args=xacro_args)


def test_the_fixture_expands_its_file_with_its_arguments(file, tmp_path):
    simulator = RobotSimulator(file, xacro_args={"elbow": "knee"}, folder=tmp_path)
    assert simulator.robot.joint_names == model_of(simulator.urdf).joint_names == ("shoulder", "knee")
    with pytest.raises(ValueError, match="xacro_args are given, but XML text is not the path of a xacro file"):
        RobotSimulator(arm.urdf(), xacro_args={"elbow": "knee"}, folder=tmp_path)
