"""The package of ros2_control around an export: its law in C++, what it refuses, and texts that ROS's readers take.

Controller and solver themselves need ROS: docs/c_export.md tells how they were built and run."""
import ctypes
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import yaml

import screw_dynamics as sd
from screw_dynamics.c_code.ros2_control import NEEDED
from screw_dynamics.c_code.template import filled
from screw_dynamics.export_c import main
from support.c_exports import STRICT, pointer, run
from support.pinocchio_oracle import oracle_of_urdf
from support.random_trees import model_of, random_tree
from support.real_robots import PATHS, real_robot

UR5 = "ur_description/urdf/ur5_robot.urdf"
LIMITS = 150.0, 150.0, 150.0, 28.0, 28.0, 28.0      # N m, in its URDF
CALLS = """
#include <cstring>
#include "held/law.hpp"
#include "ur5/ur5.hpp"

extern "C" std::size_t law(const double *numbers, double *efforts) {
  held::Law law;
  held::Array q, qd, tau{};
  for (held::Array *x : {&law.kp, &law.kd, &law.reference, &q, &qd}) {
    std::memcpy(x->data(), numbers, sizeof *x);
    numbers += held::n;
  }
  const std::size_t faulty = law(q, qd, tau);
  std::memcpy(efforts, tau.data(), sizeof tau);
  return faulty;
}

// What is said of names and of numbers in their order, which are put into that of the export.
extern "C" void order(const char *names, double *numbers, std::size_t count, char *said) {
  std::vector<std::string> found(1);
  for (; *names; names++) {
    if (*names == ' ') {
      found.emplace_back();
    } else {
      found.back() += *names;
    }
  }
  try {
    const auto kp = held::ordered("kp", std::vector<double>(numbers, numbers + count), held::order_among(found), 0.0);
    std::memcpy(numbers, kp.data(), sizeof kp);
  } catch (const std::invalid_argument &error) {
    std::strcpy(said, error.what());
  }
}
"""


@pytest.fixture(scope="module")
def arm():
    return real_robot(UR5)


@pytest.fixture(scope="module")
def folder(arm, tmp_path_factory):
    folder = tmp_path_factory.mktemp("package") / "held"
    paths = arm.export_c(folder, "ur5", NEEDED, ros2_control="held")
    assert sorted(paths) == sorted(path for path in folder.rglob("*") if path.is_file())
    return folder


def built(folder):
    """The law of a package as a library."""
    (folder.parent / "calls.cpp").write_text(CALLS)
    c = folder / "ur5"
    run("gcc", "-O2", *STRICT, "-fPIC", "-I", c / "include", "-c", c / "src" / "ur5.c", "-o", folder.parent / "ur5.o")
    run("g++", "-O2", "-std=c++17", *STRICT[1:], "-fPIC", "-shared", "-I", folder / "include", "-I", c / "include",
        folder.parent / "calls.cpp", folder.parent / "ur5.o", "-o", folder.parent / "law.so", "-lm")
    return ctypes.CDLL(str(folder.parent / "law.so"))


@pytest.fixture(scope="module")
def library(folder):
    return built(folder)


def efforts(library, kp, kd, reference, q, qd):
    """(the first joint that is not finite or n, efforts)."""
    numbers, found = np.r_[kp, kd, reference, q, qd], np.full(len(q), np.nan)
    return library.law(pointer(numbers.ctypes.data), pointer(found.ctypes.data)), found


def said(library, names, numbers):
    """(what is said of names and numbers, the numbers in the order of the export)."""
    numbers, text = np.array(numbers, dtype=float), ctypes.create_string_buffer(1000)
    library.order(" ".join(names).encode(), pointer(numbers.ctypes.data), ctypes.c_size_t(len(numbers)), text)
    return text.value.decode(), numbers


@pytest.mark.slow
def test_efforts_are_gravity_of_pinocchio_and_pd_within_limits(arm, library):
    oracle, rng = oracle_of_urdf(PATHS[UR5], arm), np.random.default_rng(1)
    reached = 0
    for gain in (0.0, 10.0, 300.0):
        q, qd, reference = rng.uniform(-2.0, 2.0, (3, 6))
        kp, kd = gain * rng.uniform(0.0, 1.0, (2, 6))
        expected = oracle.gravity_torque(q) + kp * (reference - q) - kd * qd
        faulty, found = efforts(library, kp, kd, reference, q, qd)
        assert faulty == 6
        np.testing.assert_allclose(found, np.clip(expected, -np.array(LIMITS), LIMITS), rtol=0.0, atol=1e-11)
        reached += (abs(expected) > LIMITS).any()
    assert reached


@pytest.mark.slow
def test_an_arm_that_is_held_stays_at_rest_and_comes_back(arm, library):
    """By the forward dynamics of Robot, over two seconds."""
    zero, reference = np.zeros(6), np.array([0.3, -1.2, 0.8, 0.2, 0.4, -0.1])
    kp, kd = np.array([400.0, 400.0, 200.0, 20.0, 10.0, 5.0]), np.array([60.0, 60.0, 30.0, 3.0, 1.5, 0.8])
    holding = efforts(library, kp, kd, reference, reference, zero)[1]
    np.testing.assert_allclose(arm.forward_dynamics(reference, zero, holding), zero, atol=1e-10)
    q, qd = reference + 0.1, zero
    energies = []
    for _ in range(2000):
        tau = efforts(library, kp, kd, reference, q, qd)[1]
        energies.append(arm.kinetic_energy(q, qd) + 0.5 * kp @ (q - reference) ** 2)
        q, qd = arm.step(q, qd, tau, 1e-3)
    assert np.diff(energies).max() <= 1e-3 * energies[0]    # damping takes energy, but for what the step adds
    assert abs(q - reference).max() < 1e-2


def test_what_is_not_finite_is_told_by_its_joint_and_moves_nothing(library):
    one = np.ones(6)
    for bad in (np.nan, np.inf, -np.inf):
        for joint in range(6):
            x = one.copy()
            x[joint] = bad
            assert efforts(library, one, one, one, x, one)[0] == joint
            faulty, found = efforts(library, one, one, one, one, x)
            assert faulty == joint and not found.any()


def test_an_effort_that_overflows_is_told_and_is_not_the_limit(library):
    one, far = np.ones(6), np.array([1.0, 1.0, -1e300, 1.0, 1.0, 1.0])
    for q, qd in ((far, one), (one, far), (far, far)):
        faulty, found = efforts(library, 1e10 * one, 1e10 * one, one, q, qd)
        assert faulty == 2 and not found.any()


def test_names_in_any_order_are_mapped_and_others_are_refused(arm, library):
    names = arm.joint_names
    order = [3, 0, 5, 1, 4, 2]
    text, found = said(library, [names[i] for i in order], order)
    assert not text and found.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    for given, expected in ((names[:5], f" missing: {names[5]};"), ((*names, "tail"), " unknown: tail;"),
                            ((*names, names[2]), f" twice: {names[2]};"),
                            ((*names[:5], "tail"), f" unknown: tail; missing: {names[5]};")):
        text, _ = said(library, given, np.ones(6))
        assert text == f"joints differ from those of the exported robot:{expected}"


def test_numbers_that_cannot_be_gains_are_refused_by_their_joint(arm, library):
    for bad, told in ((-1.0, "-1.000000"), (np.nan, "nan"), (np.inf, "inf")):
        gains = np.ones(6)
        gains[4] = bad
        assert said(library, arm.joint_names, gains)[0] == f"kp of {arm.joint_names[4]} is {told}"
    assert said(library, arm.joint_names, np.ones(5))[0] == "kp has 5 numbers, not 6"


def wheel_of(joint="spin", base="base"):
    return sd.Robot.from_urdf(
        f'<robot name="wheel"><link name="{base}"/><link name="rim"><inertial><mass value="1"/><inertia ixx="1" '
        f'iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="{joint}" type="continuous"><parent '
        f'link="{base}"/><child link="rim"/><axis xyz="0 0 1"/></joint></robot>')


@pytest.mark.slow
def test_continuous_joints_take_the_shorter_way_and_have_no_limit(tmp_path):
    """A wheel on a vertical axis, where gravity is nothing."""
    wheel = wheel_of()
    wheel.export_c(tmp_path / "held", "ur5", NEEDED, ros2_control="held")
    library = built(tmp_path / "held")
    for reference, q, way in ((3.0, -3.0, 6.0 - 2.0 * np.pi), (0.5, 0.2, 0.3), (0.0, 4.0 * np.pi + 0.1, -0.1)):
        _, found = efforts(library, [1e4], [0.0], [reference], [q], [0.0])
        np.testing.assert_allclose(found, 1e4 * way, rtol=1e-10)


def test_readers_of_ros_take_the_files(arm, folder):
    package = pytest.importorskip("catkin_pkg.package")
    warnings: list[str] = []
    found = package.parse_package(str(folder), warnings=warnings)
    assert found.name == "held" and not warnings
    found.evaluate_conditions({})
    assert {x.name for x in found.build_depends if x.evaluated_condition} == {
        "controller_interface", "hardware_interface", "pluginlib", "rclcpp", "rclcpp_lifecycle"}
    found.evaluate_conditions({"INVERSE_DYNAMICS_SOLVER": "yes"})
    assert all(x.evaluated_condition for x in found.build_depends)
    cmake = (folder / "CMakeLists.txt").read_text()
    for name in ("controller", "solver"):
        library = ElementTree.parse(folder / f"held_{name}.xml").getroot()
        plugin, = library
        assert f"add_plugin({library.get('path')} src/{name}.cpp" in cmake
        assert f"PLUGINLIB_EXPORT_CLASS({plugin.get('type')}, {plugin.get('base_class_type')})" in (
            folder / "src" / f"{name}.cpp").read_text()
    parameters = yaml.safe_load((folder / "config" / "controllers.yaml").read_text())
    assert parameters["controller_manager"]["ros__parameters"]["gravity_compensation"]["type"] == (
        "held/GravityCompensation")
    own = parameters["gravity_compensation"]["ros__parameters"]
    assert own == {"joints": list(arm.joint_names), "kp": [0.0] * 6, "kd": [0.0] * 6}
    assert "| elbow_joint | revolute | 150 N m |" in (folder / "README.md").read_text()


def test_a_name_of_which_there_is_no_part_is_told():
    parts = {"title": "of none", "package": "held"}
    assert filled("ros2_control/controller.xml", parts).startswith("<!-- of none -->\n")
    with pytest.raises(ValueError, match="template ros2_control/controllers.yaml: .* for @joints@, @zeros@$"):
        filled("ros2_control/controllers.yaml", parts)


def test_names_of_a_robot_are_not_filled_in(tmp_path):
    wheel = wheel_of(joint="@zeros@", base="@rows@")
    wheel.export_c(tmp_path / "held", "ur5", NEEDED, ros2_control="held")
    parameters = yaml.safe_load((tmp_path / "held" / "config" / "controllers.yaml").read_text())
    assert parameters["gravity_compensation"]["ros__parameters"]["joints"] == ["@zeros@"]
    readme = (tmp_path / "held" / "README.md").read_text()
    assert "in the frame of `@rows@`" in readme and "| @zeros@ | continuous |" in readme


@pytest.mark.parametrize("joint", ["\u00fcber 'x'", "\U0001f916", "a\\b", "#:, [", "\u2028\u0085\x7f", "yes"])
def test_names_in_yaml_are_those_of_the_robot(tmp_path, joint):
    wheel_of(joint).export_c(tmp_path / "held", quantities=NEEDED, ros2_control="held")
    parameters = yaml.safe_load((tmp_path / "held" / "config" / "controllers.yaml").read_text())
    assert parameters["gravity_compensation"]["ros__parameters"]["joints"] == [joint]


def test_no_text_keeps_a_name_to_fill_in(folder):
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".in" and path.parent != folder / "ur5":
            assert not re.findall(r"@\w+@", path.read_text().replace("unknown@example.com", "")), path


@pytest.mark.parametrize("options, told", [
    ({"ros2_control": "Held"}, "ros2_control 'Held' must be the name of a ROS package"),
    ({"ros2_control": "a__b"}, "ros2_control 'a__b' must be"), ({"ros2_control": "a"}, "ros2_control 'a' must be"),
    ({"ros2_control": 5}, "ros2_control 5 must be"), ({"ros2_control": "rclcpp"}, "'rclcpp' is a keyword of C"),
    ({"ros2_control": "ament_cmake"}, "'ament_cmake' is a keyword of C"),
    ({"ros2_control": "class"}, "'class' is a keyword of C"),
    ({"name": "held_solver"}, "name 'held_solver' is that of package 'held' or of one of its libraries"),
    ({"name": "held"}, "name 'held' is that of package 'held' or"),
    ({"precision": "float"}, "ros2_control with precision 'float'"),
    ({"external": ["tool0"]}, "ros2_control with external"), ({"payload": ["tool0"]}, "ros2_control with payload"),
    ({"gravity": True}, "ros2_control with gravity"),
    ({"quantities": ["gravity_torque"]}, "ros2_control needs the quantities ['coriolis_torque', 'mass_matrix', ")])
def test_what_cannot_be_a_package_is_refused_and_writes_nothing(arm, tmp_path, options, told):
    with pytest.raises(ValueError) as raised:
        arm.export_c(tmp_path / "held", **{"name": "ur5", "quantities": NEEDED, "ros2_control": "held"} | options)
    assert told in str(raised.value) and not list(tmp_path.iterdir())


def test_by_default_the_c_is_named_after_the_package(tmp_path):
    paths = wheel_of().export_c(tmp_path / "src" / "held", quantities=NEEDED, ros2_control="held")
    assert tmp_path / "src" / "held" / "held_dynamics" / "src" / "held_dynamics.c" in paths


def test_joints_with_several_degrees_of_freedom_are_refused(tmp_path):
    robot = sd.Robot(model_of(random_tree(np.random.default_rng(8), 1, of=("spherical",))))
    with pytest.raises(ValueError, match=f"joint '{robot.joint_names[0]}' is spherical, but"):
        robot.export_c(tmp_path / "held", ros2_control="held")


def test_command_writes_the_package(folder, tmp_path, capsys):
    arguments = [str(PATHS[UR5]), str(tmp_path / "held"), "--name", "ur5", "--quantities", *NEEDED]
    assert main([*arguments, "--ros2-control", "held"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 18
    for path in folder.rglob("*"):
        if path.is_file():
            assert (tmp_path / "held" / path.relative_to(folder)).read_bytes() == path.read_bytes()
    assert main([*arguments, "--ros2-control", "Held"]) == 1
    assert "must be the name of a ROS package" in capsys.readouterr().err


TRAP = """
#include <cstdio>
#include <cstdlib>
#include <new>
#include "held/law.hpp"
static bool armed = false;
void *operator new(std::size_t size) { if (armed) std::abort(); return std::malloc(size); }
void operator delete(void *old) noexcept { if (armed) std::abort(); std::free(old); }
void operator delete(void *old, std::size_t) noexcept { if (armed) std::abort(); std::free(old); }
int main(int count, char **) {
  held::Law law;
  held::Array q{}, qd{}, tau{};
  armed = true;
  for (double &x : q) { x = count > 1 ? std::stod(std::string(100, '1')) : 0.5; }
  const bool all = law(q, qd, tau) == held::n;
  armed = false;
  return all ? 0 : 1;
}
"""


def test_the_law_takes_no_memory(folder, tmp_path):
    """A program in which new aborts: one that calls the law, and one that does take memory."""
    (tmp_path / "trap.cpp").write_text(TRAP)
    c = folder / "ur5"
    run("gcc", "-O1", "-I", c / "include", "-c", c / "src" / "ur5.c", "-o", tmp_path / "ur5.o")
    run("g++", "-O1", "-std=c++17", "-I", folder / "include", "-I", c / "include", tmp_path / "trap.cpp",
        tmp_path / "ur5.o", "-o", tmp_path / "trap", "-lm")
    run(tmp_path / "trap")
    assert subprocess.run([tmp_path / "trap", "take"], capture_output=True).returncode < 0
