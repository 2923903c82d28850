"""The launch files at work, by launch_testing, where ROS's launch is and the packages are built: with colcon, say.

A parameter file says another robot and no such file: what is given to the launch file wins."""
import importlib.util
import tempfile
import unittest
from pathlib import Path

import pytest

for module in ("launch", "launch_ros", "launch_testing"):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not on the Python registry; a ROS 2 installation has it", allow_module_level=True)

import launch_testing  # noqa: E402
import launch_testing.actions  # noqa: E402
import launch_testing.asserts  # noqa: E402
import rclpy  # noqa: E402
from ament_index_python.packages import PackageNotFoundError, get_package_prefix  # noqa: E402
from launch.actions import IncludeLaunchDescription  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from launch import LaunchDescription  # noqa: E402
from support import planar_arm as arm  # noqa: E402
from support.graph import LATCHED, Driver  # noqa: E402
from support.paths import ROOT  # noqa: E402

try:
    get_package_prefix("screw_dynamics")
except PackageNotFoundError:
    pytest.skip("screw_dynamics is in no sourced workspace, where launch looks for it", allow_module_level=True)

NODES = {"dynamics": {"screw_dynamics"}, "simulation": {"screw_dynamics", "screw_simulator"}}
PARAMETERS = """
/**:
  ros__parameters: {gravity: [0.0, 0.0, -1.62]}
/**/screw_dynamics:
  ros__parameters: {robot_description: <robot name='nobody'><link name='nothing'/></robot>, base_link: nothing}
/**/screw_simulator:
  ros__parameters: {urdf: /nowhere.urdf, base_link: nothing}
"""


def namespace(name):
    return f"launched_{name}"


@pytest.mark.launch_test
@launch_testing.parametrize("name", list(NODES))
def generate_test_description(name):
    folder = Path(tempfile.mkdtemp(prefix="launch_testing_"))
    xacro, parameters = folder / "arm.urdf.xacro", folder / "parameters.yaml"
    start = arm.urdf(elbow="$(arg elbow)").partition("<robot")[2]
    xacro.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"' + start.replace(
        ">", '><xacro:arg name="elbow" default="joint"/>', 1))
    parameters.write_text(PARAMETERS)
    arguments = {"urdf": str(xacro), "xacro_args": "elbow:=knee", "params_file": str(parameters), "base_link": "base",
                 "namespace": namespace(name)}
    launched = IncludeLaunchDescription(PythonLaunchDescriptionSource(str(ROOT / "launch" / f"{name}.launch.py")),
                                        launch_arguments=arguments.items())
    return LaunchDescription([launched, launch_testing.actions.ReadyToTest()])


class TestNodes(unittest.TestCase):
    """While they run."""

    @classmethod
    def setUpClass(cls):
        rclpy.init()

    @classmethod
    def tearDownClass(cls):
        rclpy.shutdown()

    def test_they_have_the_robot_and_the_gravity_that_they_were_given(self, name):
        driver = Driver(namespace(name), "screw_dynamics")
        driver.wait(lambda: NODES[name] <= set(driver.node.get_node_names()), f"the nodes {NODES[name]}")
        descriptions = driver.collect(String, "robot_description", LATCHED)
        driver.wait(lambda: descriptions, "robot_description")
        assert 'joint="knee"' in descriptions[0].data
        assert driver.get_parameter("robot_description") in ("", descriptions[0].data)
        torques, states = driver.collect(JointState, "~/gravity"), []
        if name == "dynamics":
            publisher = driver.publisher(JointState, "joint_states")
            states = [JointState(name=["shoulder", "knee"], position=[0.0, 0.0])]
        msg = driver.wait(lambda: torques and torques[-1], "gravity", lambda: [publisher.publish(s) for s in states])
        assert list(msg.name) == ["shoulder", "knee"]
        self.assertAlmostEqual(msg.effort[0], arm.gravity([0.0, 0.0], g=1.62)[0], pose_sources=3)
        driver.node.destroy_node()


@launch_testing.post_shutdown_test()
class TestEnd(unittest.TestCase):
    """Once they were told to end."""

    def test_they_end_with_0(self, proc_info):
        launch_testing.asserts.assertExitCodes(proc_info)
