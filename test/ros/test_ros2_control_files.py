"""What is shipped for ros2_control: the xacro macro, and the YAML of controllers, whose gains drive a simulated UR5."""
import re

import numpy as np
import pytest
import yaml

import screw_dynamics as sd
from screw_dynamics.description.urdf.file import read_urdf_file
from screw_dynamics.ros.dynamics.settings import SETTINGS as DYNAMICS
from screw_dynamics.ros.simulator.settings import COMMAND_INTERFACES
from screw_dynamics.ros.simulator.settings import SETTINGS as SIMULATOR
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support.paths import ROOT
from support.real_robots import real_robot

MACRO = ROOT / "urdf" / "ros2_control.xacro"
SECTIONS = yaml.safe_load((ROOT / "config" / "ros2_control.yaml").read_text())
CONFIG = {key.removeprefix("/**/"): section for key, section in SECTIONS.items()}      # by node
LAUNCH = (ROOT / "launch" / "ros2_control.launch.py").read_text()
UR5 = "ur_description/urdf/ur5_robot.urdf"


@pytest.fixture
def expand(tmp_path):
    """The <ros2_control> element of the macro with these arguments, in a robot that is read as any other."""
    from lxml import etree

    def expanded(**arguments):
        call = " ".join(f'{name}="{value}"' for name, value in arguments.items())
        file = tmp_path / "robot.urdf.xacro"
        file.write_text(f"""<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
            <xacro:include filename="{MACRO}"/><link name="base"/>
            <xacro:screw_dynamics_ros2_control {call}/></robot>""")
        text = read_urdf_file(str(file))
        with pytest.warns(sd.UrdfWarning, match="a robot without joints"):     # of the tag it says nothing
            assert sd.Robot.from_urdf(text).n == 0
        element, = etree.fromstring(text.encode()).findall("ros2_control")
        return element
    return expanded


def interfaces(element, kind):
    return {joint.get("name"): [i.get("name") for i in joint.findall(kind)] for joint in element.findall("joint")}


def test_macro_lists_each_joint_with_its_command_interface_and_all_states(expand):
    element = expand(effort="shoulder elbow", position="grip", velocity="rail", mimic="finger")
    assert interfaces(element, "command_interface") == {
        "shoulder": ["effort"], "elbow": ["effort"], "grip": ["position"], "rail": ["velocity"], "finger": []}
    assert set(map(tuple, interfaces(element, "state_interface").values())) == {("position", "velocity", "effort")}
    hardware = element.find("hardware")
    assert hardware.findtext("plugin") == "joint_state_topic_hardware_interface/JointStateTopicSystem"
    assert {param.get("name"): param.text for param in hardware.findall("param")} == {
        "joint_commands_topic": "/simulator/joint_commands", "joint_states_topic": "/simulator/joint_states",
        "trigger_joint_command_threshold": "-1"}
    assert (element.get("name"), element.get("type")) == ("simulated_robot", "system")


def test_macro_call_of_the_documentation_expands(expand):
    page = (ROOT / "docs" / "ros2_control.md").read_text()
    calls = re.findall(r"<xacro:screw_dynamics_ros2_control\s+([^>]*)/>", page)
    assert len(calls) == 2
    for call in calls:
        arguments = dict(re.findall(r'(\w+)="([^"]*)"', call))
        assert set(interfaces(expand(**arguments), "command_interface")) == set(" ".join(arguments.values()).split())


def test_macro_takes_other_topics_and_another_threshold(expand):
    element = expand(name="left", effort="a", joint_commands_topic="/l/c", joint_states_topic="/l/s", threshold="0.01")
    assert element.get("name") == "left"
    assert [param.text for param in element.iter("param")] == ["/l/c", "/l/s", "0.01"]


def test_yaml_is_for_nodes_in_any_namespace():
    """ros2_control's spawner takes a section `name` for the root namespace alone, and `/**/name` for all."""
    assert all(key.startswith("/**/") and key.count("/") == 2 for key in SECTIONS)


def test_no_action_of_the_simulator_has_the_name_of_the_controllers():
    """`/joint_trajectory_controller/follow_joint_trajectory` would have two servers."""
    groups = CONFIG["screw_simulator"]["ros__parameters"]["trajectory_groups"]
    assert [name for name in groups if name] == []


def test_yaml_names_parameters_that_the_nodes_have():
    for section, settings in (("screw_simulator", SIMULATOR), ("screw_dynamics", DYNAMICS)):
        names = {setting.name for setting in (*settings, COMMAND_INTERFACES)}
        assert set(CONFIG[section]["ros__parameters"]) <= names
    Settings(**{name: value for name, value in CONFIG["screw_simulator"]["ros__parameters"].items()
                if name in Settings.__dataclass_fields__})


def test_yaml_and_launch_file_agree_on_joints_controllers_and_rates():
    controllers = {name: CONFIG[name]["ros__parameters"] for name in CONFIG if not name.startswith("screw_")}
    manager = controllers.pop("controller_manager")
    assert all(name in LAUNCH and "/" in settings["type"] for name, settings in controllers.items())
    joints = [controllers[name]["joints"] for name in ("gravity_compensation", "joint_trajectory_controller")]
    dynamics = CONFIG["screw_dynamics"]["ros__parameters"]
    assert joints[0] == joints[1] == dynamics["joints"] == list(real_robot(UR5).joint_names)
    assert list(controllers["joint_trajectory_controller"]["gains"]) == joints[0]
    assert CONFIG["screw_simulator"]["ros__parameters"]["publish_rate"] >= manager["update_rate"]


@pytest.mark.parametrize("delay", [1, 2])
def test_gains_bring_a_ur5_to_its_goal(delay):
    """By the PID law of JointTrajectoryController, at its rate, with states and efforts that are some cycles late."""
    robot, rate = real_robot(UR5), CONFIG["controller_manager"]["ros__parameters"]["update_rate"]
    gains = CONFIG["joint_trajectory_controller"]["ros__parameters"]["gains"]
    p, i, d = (np.array([gains[joint][term] for joint in robot.joint_names]) for term in "pid")
    simulation = Simulation(robot, Settings(), {"shoulder_lift_joint": -0.6, "elbow_joint": 0.9})
    start, goal = simulation.q, np.array([0.5, -1.2, 1.4, -0.6, -0.4, 0.3])
    late, integral, error = [robot.gravity_torque(start)] * delay, np.zeros(6), []
    for cycle in range(4 * rate):
        s = min(1.0, cycle / (2 * rate))
        error.append(start + (3 * s**2 - 2 * s**3) * (goal - start) - simulation.q)
        integral += error[-1] / rate
        late.append(p * error[-1] + i * integral + d * (3 * s * (1 - s) * (goal - start) - simulation.qd))
        simulation.command(late.pop(0))
        simulation.advance(round(1.0 / (rate * simulation.settings.dt)))
    assert np.abs(error).max() < 0.05 and np.abs(error[-1]).max() < 1e-4 and not simulation.saturated.any()
