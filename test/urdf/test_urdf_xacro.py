"""A xacro file, with its arguments, is read as the URDF that the package xacro makes of it."""
import pickle
import subprocess
import sys

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.description.urdf import read_urdf
from screw_dynamics.description.urdf.file import read_urdf_file
from screw_dynamics.description.urdf.location import with_located_meshes
from screw_dynamics.description.urdf.meshes import locate
from screw_dynamics.description.urdf.xacro_file import xacro_arguments
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.viewer.shapes import read_shapes
from support.paths import URDF

XACRO = """<?xml version="1.0"?>
<robot name="$(arg name)" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="name" default="arm"/><xacro:arg name="mass" default=""/>
  <link name="base"/>
  <link name="boom"><inertial><mass value="$(arg mass)"/><origin xyz="0.5 0 0"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="meshes/boom.stl"/></geometry></visual></link>
  <joint name="$(arg name)_joint" type="continuous"><parent link="base"/><child link="boom"/>
    <axis xyz="0 -1 0"/></joint>
</robot>"""
ARGUMENTS = {"name": "left", "mass": "2.5"}


@pytest.fixture
def file(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "boom.stl").touch()
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(XACRO)
    return file


def test_a_robot_of_a_xacro_file_is_that_of_the_text_that_the_command_xacro_writes(file):
    pairs = [f"{name}:={value}" for name, value in ARGUMENTS.items()]
    text = subprocess.run([sys.executable, "-c", "import xacro; xacro.main()", str(file), *pairs],
                          capture_output=True, text=True, check=True).stdout
    by_command = sd.Robot.from_urdf(text)
    for source in (str(file), file, f"file://{file}"):
        robot = sd.Robot.from_urdf(source, xacro_args=ARGUMENTS)
        assert robot.joint_names == by_command.joint_names == ("left_joint",)
        np.testing.assert_array_equal(robot.mass_matrix([0.3]), by_command.mass_matrix([0.3]))
    assert robot.mass_matrix([0.3])[0, 0] == pytest.approx(0.1 + 2.5 * 0.5**2)
    loops = ClosedLoopRobot.from_urdf(file, xacro_args=ARGUMENTS)
    assert loops.robot.joint_names == ("left_joint",)
    assert read_urdf(file, xacro_args=ARGUMENTS).joint_names == ("left_joint",)


def test_a_robot_of_a_xacro_file_is_shown_with_its_meshes_from_what_it_keeps(file, monkeypatch, tmp_path):
    """Neither the arguments nor the folder are needed again."""
    robot = pickle.loads(pickle.dumps(sd.Robot.from_urdf(file, xacro_args=ARGUMENTS)))
    monkeypatch.chdir("/")
    shape, = read_shapes(robot.source).visual
    assert locate(shape.file, robot.source).samefile(tmp_path / "meshes" / "boom.stl")
    assert sd.Robot.from_urdf(robot.source).joint_names == robot.joint_names


@pytest.mark.parametrize("arguments, says", [
    ({"name": "left", "mas": "2.5"}, r"the file has no argument 'mas': its arguments are 'mass', 'name'"),
    ({"mas": "2.5"}, r"argument name; .*; it had not asked for the argument 'mas' until then"),
    ({"mass": "2.5"}, r"xacro refuses it: .*argument name; xacro_args gives a file its arguments"),
    ({"name": "left"}, r"arm\.urdf\.xacro: line \d+: link 'boom': <inertial>: <mass>: value=''"),
])
def test_arguments_that_do_not_fit_are_named(file, arguments, says):
    with pytest.raises(sd.UrdfError, match=says):
        sd.Robot.from_urdf(file, xacro_args=arguments)


@pytest.mark.parametrize("source, options, says", [
    (str(URDF / "spherical_arm.urdf"), {"xacro_args": ARGUMENTS}, "xacro_args are given, but .* is not the path"),
    ((URDF / "spherical_arm.urdf").read_text(), {"xacro_args": ARGUMENTS}, "xacro_args are given, but .* not the path"),
    ("nowhere/none.urdf.xacro", {}, "none.urdf.xacro does not exist")], ids=["a file", "text", "no file"])
def test_what_is_no_xacro_file_is_refused(source, options, says):
    with pytest.raises(sd.UrdfError, match=says):
        sd.Robot.from_urdf(source, **options)


def test_arguments_are_read_as_on_the_command_line_of_xacro():
    assert xacro_arguments("") == {}
    assert xacro_arguments(" name:=ur  ur_type:=ur5e tf:= 'pose:=0 0 1' prefix:=\"a b\" url:=a:=b") == {
        "name": "ur", "ur_type": "ur5e", "tf": "", "pose": "0 0 1", "prefix": "a b", "url": "a:=b"}


@pytest.mark.parametrize("text, says", [
    ("ur5e", "'ur5e', must be name:=value"), (":=ur5e", "':=ur5e', must be"), ("a:=1 a:=2", "'a' twice"),
    ("a:='1", "No closing quotation"), ("a=1", "'a=1', must be name:=value")])
def test_arguments_in_another_form_are_refused(text, says):
    with pytest.raises(ValueError, match=says):
        xacro_arguments(text)


def test_meshes_beside_a_urdf_are_named_so_that_its_text_is_enough(tmp_path, monkeypatch):
    """In the file's folder, and of a package that lies around it; what is found already, or nowhere, is not touched."""
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    installed, package = tmp_path / "ws" / "share" / "hand", tmp_path / "src" / "arm & co"
    for folder in (installed, package / "urdf"):
        folder.mkdir(parents=True)
        (folder / "a.stl").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ws"))
    (tmp_path / "src" / "arm").symlink_to(package)
    path = package / "urdf" / "arm.urdf"
    text = """<robot>
      <mesh scale='1 1 1'
            filename = "a.stl"/><mesh filename='package://arm/urdf/a.stl'/><mesh filename="%s"/>
      <mesh filename="package://hand/a.stl"/><mesh filename="package://nobody/a.stl"/><mesh filename="b.stl"/>
      <texture filename="a.stl"/><mesh/> <!-- <mesh filename="a.stl"> --></robot>"""
    path.write_text(text % "../urdf/a.stl")
    found = read_urdf_file(str(path))
    assert found.count("\n") == text.count("\n")
    names = [shape for shape in found.split('"') if "stl" in shape]
    beside = (package / "urdf" / "a.stl").as_uri()
    assert names[0] == names[-1] == beside
    assert all(locate(name, None).samefile(package / "urdf" / "a.stl") for name in names[:3])
    assert names[3:-1] == ["package://hand/a.stl", "package://nobody/a.stl", "b.stl", "a.stl"]
    assert with_located_meshes(found, path) == found
