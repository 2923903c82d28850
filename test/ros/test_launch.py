"""The launch files, where ROS's launch is there to read them, and where the URDF they are given may come from."""

import ast
import importlib.util
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from screw_dynamics.description.urdf.file import read_urdf_file
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


HAS_LAUNCH = importlib.util.find_spec("launch_ros") is not None     # our folder launch looks like a package launch
needs_launch = pytest.mark.skipif(
    not HAS_LAUNCH, reason="ROS's launch and launch_ros are not on the Python registry; a ROS 2 installation has them")


@pytest.mark.parametrize("name", ["dynamics", "simulation", "ros2_control"])
def test_a_launch_file_defines_what_launch_calls(name):
    """Where launch is not installed, this is all that is looked at."""
    file = ast.parse((ROOT / "launch" / f"{name}.launch.py").read_text())
    assert "generate_launch_description" in {node.name for node in file.body if isinstance(node, ast.FunctionDef)}


@needs_launch
@pytest.mark.parametrize("name", ["dynamics", "simulation", "ros2_control"])
def test_a_launch_file_describes_its_arguments(name):
    from launch.launch_description_sources import get_launch_description_from_python_launch_file

    description = get_launch_description_from_python_launch_file(str(ROOT / "launch" / f"{name}.launch.py"))
    given = description.get_launch_arguments_with_include_launch_description_actions()
    assert {argument.name for argument, _ in given} == {
        "urdf", "xacro_args", "params_file", "namespace", "use_sim_time", "joint_states_topic", "base_link", "tip_link",
        "log_level", "record", "rviz", "view", "floating_base"}
    assert all(argument.default_value is not None for argument, _ in given)


@pytest.fixture
def launching(monkeypatch):
    """The module, where launch need not be installed: what programs are asked for is found without it."""
    if not HAS_LAUNCH:
        for name in ("launch", "launch.actions", "launch.events.process", "launch.substitutions", "launch_ros.actions",
                     "launch_ros.substitutions"):
            monkeypatch.setitem(sys.modules, name, MagicMock())
    module = importlib.import_module("screw_dynamics.ros.launching")
    yield module
    if not HAS_LAUNCH:
        del sys.modules[module.__name__]


@pytest.mark.parametrize("executable, options, given, expected", [
    ("dynamics_node", {}, {}, {}),
    ("dynamics_node", {}, {"floating_base": "true", "base_link": "arm", "tip_link": "hand", "use_sim_time": "true"},
     {"floating_base": True, "base_link": "arm", "tip_link": "hand", "use_sim_time": True}),
    ("dynamics_node", {}, {"floating_base": "false", "use_sim_time": "0"},
     {"floating_base": False, "use_sim_time": False}),
    ("markers_node", {}, {"floating_base": "true", "base_link": "arm"}, {"base_link": "arm"}),
    ("recorder_node", {"values": {"file": "record"}}, {"record": "run.mcap"}, {"file": "run.mcap"}),
    ("simulator_node", {"clock_parameter": "publish_clock"}, {"use_sim_time": "true"}, {"publish_clock": True}),
    ("simulator_node", {"reads_urdf": True}, {"urdf": "a.urdf", "xacro_args": "b:=1"},
     {"urdf": "a.urdf", "xacro_args": "b:=1", "robot_description": ""}),
    ("dynamics_node", {}, {"urdf": "a.urdf"}, {"robot_description": "<robot/>", "urdf": "", "xacro_args": ""}),
    ("robot_state_publisher", {"package": "robot_state_publisher"}, {"urdf": "a.urdf", "tip_link": "hand"},
     {"robot_description": "<robot/>", "tip_link": "hand"})])
def test_launch_arguments_are_the_parameters_of_a_node(launching, executable, options, given, expected):
    defaults = {name: default for name, (default, _) in launching.ARGUMENTS.items()}
    arguments = launching.Given({**defaults, **given}, "share", "<robot/>" if "urdf" in given else "")
    program, = launching.node(executable, "some.yaml", **options)(arguments)
    file, *written = program.options["parameters"]
    found = [section for path in written for section in json.loads(Path(path).read_text()).values()]
    assert (program.executable, file) == (executable, "share/config/some.yaml")
    assert found == [{"ros__parameters": expected}] * bool(expected)


LAUNCH = """
import sys
from launch import LaunchService
from launch.actions import SetLaunchConfiguration
from launch import LaunchDescription
from screw_dynamics.ros import launching

def launch(*parts, **arguments):
    service = LaunchService()
    given = [SetLaunchConfiguration(name, str(value)) for name, value in arguments.items()]
    service.include_launch_description(LaunchDescription([*given, launching.description(*parts)]))
    sys.exit(service.run())

simulator = launching.node("simulator_node", "simulator.yaml", reads_urdf=True)
dynamics = launching.node("dynamics_node", "dynamics.yaml")
"""


@pytest.fixture
def launch():
    """Launches parts, in a process of their own; its exit code, what it said, and the names of those it started."""
    if not HAS_LAUNCH or not prefix_of("screw_dynamics"):
        pytest.skip("needs ROS's launch, and screw_dynamics in a sourced workspace")

    def run(call):
        done = subprocess.run([sys.executable, "-c", f"{LAUNCH}\nlaunch({call})"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd="/")
        started = set(re.findall(r"\[(\w+)-\d+\]: process started", done.stdout))
        ended = set(re.findall(r"\[(\w+)-\d+\]: process has (?:died|finished cleanly)", done.stdout))
        assert started == ended, f"{started - ended} live on: {done.stdout}"
        return done.returncode, done.stdout, started
    return run


def prefix_of(package):
    from ament_index_python.packages import PackageNotFoundError, get_package_prefix
    try:
        return get_package_prefix(package)
    except PackageNotFoundError:
        return None


def test_nothing_is_started_when_a_part_does_not_exist(launch):
    code, said, started = launch('simulator, launching.node("nobody", "markers.yaml", package="no_such_package"), '
                                 'launching.spawner(["a"], "markers.yaml"), launching.node("nobody", "markers.yaml")')
    assert code == 1 and started == set()
    assert "nothing was started: the sourced workspaces do not have nobody (package no_such_package), " in said
    assert "nobody (package screw_dynamics)" in said and "sudo apt install ros-$ROS_DISTRO-no-such-package" in said


@pytest.mark.parametrize("arguments, says", [
    ("urdf='nowhere.urdf'", "file nowhere.urdf does not exist"), ("params_file='nowhere.yaml'", "nowhere.yaml"),
    ("xacro_args='a:=1'", "xacro_args requires the argument urdf")])
def test_nothing_is_started_when_a_file_does_not_exist(launch, arguments, says):
    code, said, started = launch(f"simulator, dynamics, {arguments}")
    assert code == 1 and started == set() and says in said


def test_all_end_when_a_part_fails_and_it_is_named(launch, tmp_path):
    code, said, started = launch(
        f"simulator, dynamics, *launching.sight(), urdf={str(ROOT / 'urdf' / 'double_pendulum.urdf')!r}, "
        f"record={str(tmp_path / 'nowhere' / 'run.mcap')!r}")
    assert code == 1 and started == {"simulator_node", "dynamics_node", "recorder_node"}
    assert "recorder_node failed with exit code 1: the launch is shut down" in said


def test_what_only_watches_ends_alone_where_it_is_not_vital(launch, tmp_path):
    """A recorder that cannot write does not take the torques away; a signal ends the rest, without failure."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"{LAUNCH}\nlaunch(dynamics, *launching.sight(vital=False), "
                               f"urdf={str(ROOT / 'urdf' / 'double_pendulum.urdf')!r}, "
                               f"record={str(tmp_path / 'nowhere' / 'run.mcap')!r})"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/")
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "recorder_node has ended with exit code 1; the others run on" in line:
            process.send_signal(signal.SIGINT)
    said = "".join(lines)
    assert process.wait() == 0 and "the others run on" in said, said
    assert re.search(r"run on.*dynamics_node-\d+\]: process has finished cleanly", said, re.DOTALL), said
