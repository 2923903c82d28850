"""inspect prints what a robot is, in lines of a terminal's width; its numbers are those of the file."""
import io
import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.viewer import inspect
from support.floating_robots import FLOATING, hopper
from support.paths import ROOT, URDF
from support.real_robots import LOADED

ARM = URDF / "spherical_arm.urdf"


def section(text, start):
    """The lines below the heading that starts so."""
    return text.split(f"\n\n{start}")[1].split("\n\n")[0].splitlines()[1:]


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADED)
def test_every_real_robot_is_told_in_lines_that_fit_with_the_mass_of_its_file(name):
    model = model_of(LOADED[name])
    text = inspect.report(model, "robot")
    assert max(map(len, text.splitlines())) <= inspect.WIDTH
    in_file = sum(float(mass.get("value")) for mass in ElementTree.parse(LOADED[name]).iterfind("link/inertial/mass"))
    assert float(re.search(r"([\d.e+-]+) kg\n", text)[1]) == pytest.approx(in_file, rel=1e-5)
    tree = " ".join(section(text, "Tree"))
    assert all(re.search(rf"(^|[ ,]){re.escape(link)}($|[ ,])", tree) for link in model.frames)
    assert len(section(text, "Joints")) == 1 + model.n if model.n else "Joints," not in text


def test_the_tables_hold_the_numbers_of_the_model(capsys):
    assert inspect.main([str(ARM)]) == 0
    text = capsys.readouterr().out
    model = model_of(ARM)
    for row, screw in zip(section(text, "Screws")[1:], model.screws_spatial, strict=True):
        assert np.array(row.split()[1:], dtype=float) == pytest.approx(screw)
    assert section(text, "Joints")[1:] == [
        "  0  waist  continuous      -      -         3      50        0         0         0",
        "  1  lift   revolute     -1.2    1.2         2      80        0         0         0",
        "  2  slide  prismatic    -0.2    0.6         1     120        0         0         0"]
    assert section(text, "Bodies")[-1].split() == ["boom", "3.5", "0.5714", "0", "0", "0.004", "0.1971", "0.1971"]
    assert section(text, "Tree")[-2:] == ["  -> boom   prismatic slide", "     + gripper"]


def test_mimic_joints_and_warnings_are_told(capsys):
    joint = ('<joint name="{}" type="prismatic"><parent link="a"/><child link="{}"/><axis xyz="1 0 0"/>'
             '<limit lower="0" upper="1" effort="0" velocity="1"/>{}</joint>')
    text = ('<robot name="hand"><link name="a"/><link name="b"/><link name="c"/>' + joint.format("left", "b", "")
            + joint.format("right", "c", '<mimic joint="left" multiplier="-1" offset="-0.1"/>') + "</robot>")
    report = inspect.report(model_of(text), "hand")
    assert section(report, "Mimic") == ["  right = -1 left - 0.1"]
    assert "limit effort is 0, taken as no limit: 'left', 'right'" in " ".join(section(report, "Warnings"))
    assert section(report, "Tree")[1:] == ["  |- b   prismatic left", "  |- c   prismatic right"]


def test_a_floating_joint_is_one_joint_of_six_degrees_of_freedom():
    report = inspect.report(model_of(hopper(FLOATING)), "hopper")
    assert report.startswith("hopper: 3 joints of 8 degrees of freedom, 3 moving bodies, 5 links, 6.5 kg")
    names = [*(f"drift_{motion}" for motion in ("rx", "ry", "rz", "x", "y", "z")), "hip", "slide"]
    for start, column in (("Joints, in the order of velocities", 4), ("Screws", 0)):
        assert [re.split("  +", row[column:].strip())[0] for row in section(report, start)[1:]] == names
    assert [row.split()[0] for row in section(report, "Bodies")[1:]] == ["map", "trunk", "thigh", "shin"]
    assert section(report, "Tree")[1:3] == ["  -> trunk   free drift", "     + imu"]


def test_a_chain_as_long_as_a_snake_keeps_its_column():
    links = "".join(f'<link name="l{k}"/>' for k in range(60))
    joints = "".join(f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
                     for k in range(59))
    tree = section(inspect.report(model_of(f"<robot name='snake'>{links}{joints}</robot>")), "Tree")
    assert tree[-1] == "  -> l59   continuous j58"


def test_long_names_lose_their_middle_and_stay_apart():
    long = "of_a_name_that_a_generator_made_of_other_names"
    joint = '<joint name="{0}_{1}_joint" type="continuous"><parent link="a"/><child link="{0}_{1}_link"/></joint>'
    text = "<robot name='r'><link name='a'/>" + "".join(
        f"<link name='{side}_{long}_link'/>{joint.format(side, long)}" for side in ("left", "right")) + "</robot>"
    rows = section(inspect.report(model_of(text)), "Joints")[1:]
    assert [row.split()[1] for row in rows] == ["left_of_a_name..er_names_joint", "right_of_a_nam..er_names_joint"]


@pytest.mark.parametrize("location", [str(ARM), f"file://{ARM}", "-"])
def test_a_path_an_address_and_standard_input_give_the_same(location, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ARM.read_bytes())))
    assert inspect.main([location]) == 0
    assert capsys.readouterr().out.startswith("spherical_arm: 3 joints, 3 moving bodies, 5 links, 9.5 kg\n")


def test_xacro_is_expanded(tmp_path, capsys):
    file = tmp_path / "arm.urdf.xacro"
    file.write_text('<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="link${1 + 1}"/></robot>')
    assert inspect.main([str(file)]) == 0
    assert capsys.readouterr().out.startswith("arm: 0 joints, 0 moving bodies, 1 link, 0 kg\n")


def test_arguments_of_a_xacro_file_follow_it_as_with_xacro(tmp_path, capsys):
    file = tmp_path / "arm.urdf.xacro"
    file.write_text('<robot name="$(arg name)" xmlns:xacro="http://www.ros.org/wiki/xacro">'
                    '<xacro:arg name="name" default=""/><link name="link"/></robot>')
    assert inspect.main([str(file), "name:=left arm", "--base-link", "link"]) == 0
    assert capsys.readouterr().out.startswith("left arm: 0 joints")
    for arguments, says in ((["nam:=left", "name:=a"], "no argument 'nam': its arguments are 'name'"),
                            (["name=left"], "must be name:=value"), ([], "Undefined substitution argument name")):
        assert inspect.main([str(file), *arguments]) == 1
        assert says in capsys.readouterr().err
    assert inspect.main(["-", "name:=left"]) == 1
    assert "standard input is read as URDF" in capsys.readouterr().err


def test_part_of_a_robot(capsys):
    assert inspect.main([str(ARM), "--base-link", "column", "--tip-link", "yoke"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("spherical_arm: 1 joint, 1 moving body, 2 links, 6 kg\n")
    assert "- tip_link cuts off joint 'slide' and the 3.5 kg that it moves (lock it, or make it fixed in" in out


@pytest.mark.parametrize("text, says", [
    ("", "the URDF is empty"), ("<robot", "not well-formed XML"), ("<!DOCTYPE r><robot/>", "document type"),
    ("<robot xmlns:xacro='x'><xacro:if value='${'/></robot>", "xacro"),
])
def test_a_bad_file_is_one_line_and_exit_code_1(text, says, tmp_path, capsys):
    for name in "arm.urdf", "arm.urdf.xacro":
        file = tmp_path / name
        file.write_text(text)
        assert inspect.main([str(file)]) == 1
        out, error = capsys.readouterr()
        assert out == "" and error.count("\n") == 1 and error.startswith("inspect_robot: ")
        assert name.endswith("xacro") or says in error


@pytest.mark.slow
def test_the_command_as_a_user_runs_it(tmp_path):
    """A file that does not exist, and a reader that leaves early."""
    command = [sys.executable, "-m", "screw_dynamics.viewer.inspect"]
    done = subprocess.run([*command, tmp_path / "none.urdf"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"inspect_robot: urdf: file {tmp_path}/none.urdf does not exist\n")
    with subprocess.Popen([*command, ARM], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 0)
