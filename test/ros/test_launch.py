"""The launch files, where ROS's launch is there to read them, and where the URDF they are given may come from."""

import importlib.util

import pytest

from screw_dynamics.urdf.file import read_urdf_file
from support.paths import ROOT


def test_a_urdf_is_read_from_a_path_or_a_file_address(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text("<robot name='arm'/>")
    for location in (str(file), f"file://{file}"):
        assert read_urdf_file(location) == "<robot name='arm'/>"


def test_a_package_address_is_looked_up_in_the_ament_index(tmp_path, monkeypatch):
    share = tmp_path / "share"
    (share / "ament_index" / "resource_index" / "packages").mkdir(parents=True)
    (share / "ament_index" / "resource_index" / "packages" / "arm_description").touch()
    (share / "arm_description" / "urdf").mkdir(parents=True)
    (share / "arm_description" / "urdf" / "arm.urdf").write_text("<robot name='arm'/>")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    assert read_urdf_file("package://arm_description/urdf/arm.urdf") == "<robot name='arm'/>"


def test_xacro_is_expanded(tmp_path):
    file = tmp_path / "arm.urdf.xacro"
    file.write_text('<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="link${1 + 1}"/></robot>')
    assert '<link name="link2"/>' in read_urdf_file(str(file))


@pytest.mark.parametrize(
    "location, says",
    [
        ("/nowhere/arm.urdf", "file /nowhere/arm.urdf does not exist"),
        ("package://nobodys_description/arm.urdf", "package 'nobodys_description' does not exist"),
        ("package://", "package '' does not exist"),
    ],
)
def test_a_urdf_that_does_not_exist_is_named(location, says):
    with pytest.raises(ValueError, match=says):
        read_urdf_file(location)


@pytest.mark.parametrize("name", ["dynamics", "simulation", "ros2_control"])
def test_a_launch_file_describes_nodes_and_arguments(name):
    if importlib.util.find_spec("launch") is None or importlib.util.find_spec("launch_ros") is None:
        compile((ROOT / "launch" / f"{name}.launch.py").read_text(), name, "exec")   # its syntax at least
        pytest.skip("ROS's launch and launch_ros are not on the Python registry; a ROS 2 installation has them")
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    description = get_launch_description_from_python_launch_file(str(ROOT / "launch" / f"{name}.launch.py"))
    given = description.get_launch_arguments_with_include_launch_description_actions()
    assert {argument.name for argument, _ in given} == {
        "urdf", "params_file", "namespace", "use_sim_time", "joint_states_topic", "base_link", "tip_link", "log_level",
        "record", "rviz", "view", "floating_base"}
