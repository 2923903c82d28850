"""Parameters of simulator_node that name joints: those of joints that a robot does not have refuse it."""
import contextlib

import pytest
from rclpy.parameter import Parameter

import screw_dynamics as sd
from screw_dynamics.ros.simulator.node import SimulatorNode
from support import planar_arm as arm

HAS = "joint 'knee' does not exist, the robot has shoulder, elbow"


@pytest.fixture
def configured(ros):
    """configured(parameter, value): a node without a robot."""
    with contextlib.ExitStack() as nodes:
        def make(name, value):
            node = SimulatorNode(namespace="joint_parameters", parameter_overrides=[Parameter(name, value=value)])
            for end in (node.destroy_node, node.endpoints.close, node.end):
                nodes.callback(end)
            node.trigger_configure()
            node.trigger_activate()
            return node

        yield make


@pytest.mark.parametrize(("name", "value", "message"), [
    ("initial_positions.knee", 0.1, HAS),
    ("command_interfaces.knee", "effort", HAS),
    ("position_noise.knee", 0.1, HAS),
    ("encoder_resolution.knee", 0.1, HAS),
    ("joint_trajectory_controller.joints", ["elbow", "knee"], HAS),
    ("joint_trajectory_controller.constraints.knee.goal", 0.1, HAS),
    ("initial_positions.finger", 0.1, "joint 'finger' mimics 'elbow', and has none of its own"),
    ("encoder_resolution.finger", 0.1, "joint 'finger' mimics 'elbow', and has none of its own"),
])
def test_a_joint_that_the_robot_does_not_have_refuses_it(configured, name, value, message):
    node = configured(name, value)
    with pytest.raises(ValueError, match=f"^parameter {name}: {message}$"):
        node.use(sd.Robot.from_urdf(arm.urdf()))
    with pytest.raises(ValueError, match="no robot yet"):
        node.runner()


def test_the_robot_before_stays_in_use_with_its_parameters(configured):
    node = configured("initial_positions.elbow", 0.4)
    node.use(sd.Robot.from_urdf(arm.urdf()))
    running = node._runner
    with pytest.raises(ValueError, match="^parameter initial_positions.elbow: joint 'elbow' does not exist, the robot has "
                                         "shoulder, knee$"):
        node.use(sd.Robot.from_urdf(arm.urdf(elbow="knee")))
    assert node._runner is running and not node.has_parameter("initial_positions.knee")
    assert node.set_parameters([Parameter("initial_positions.elbow", value=0.6)])[0].successful
    assert running.simulation.home.position[1] == 0.6
