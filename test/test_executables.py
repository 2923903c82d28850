"""Where a ROS package is missing, each executable says so in one line, with what installs or builds it."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

from screw_dynamics.ros.executables import MODULES
from screw_dynamics.ros.missing import advice, build_command
from support.paths import ROOT
from support.ros import needs_ros

HIDING = """
import os, sys
from importlib.machinery import PathFinder
from importlib.metadata import entry_points

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        found = PathFinder.find_spec(name, path, target)
        # In place of what is installed a folder of that name, if there is one: an empty namespace package.
        return PathFinder.find_spec(name, path or [os.getcwd()], target) if name.partition(".")[0] in hidden else found
"""
RUN = HIDING + """
hidden = sys.argv.pop().split(",")
program, = entry_points(group="console_scripts", name=sys.argv.pop())
sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
sys.exit(program.load()())
"""
SETUP = HIDING + """
import runpy
hidden = sys.argv.pop()
sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
sys.argv[:] = ["setup.py", sys.argv.pop(), "--help"]
runpy.run_path("setup.py", run_name="__main__")
"""


def run(program, *hidden, folder="/"):
    """An executable, as pip installs it, without some packages."""
    return subprocess.run([sys.executable, "-c", RUN, program, ",".join(hidden)], cwd=folder, capture_output=True,
                          text=True)


@pytest.mark.slow
@pytest.mark.parametrize("program", MODULES)
def test_an_executable_without_ros_says_what_to_install(program):
    done = run(program, "rclpy", "builtin_interfaces", "screw_dynamics_interfaces")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (
        f"{program} needs ROS 2, and there is no rclpy: source the workspace where screw_dynamics was built, or take "
        "the .venv of make setup (docs/installation.md)\n")


@pytest.mark.slow
@needs_ros
@pytest.mark.parametrize("program", ["dynamics_node", "simulator_node"])
def test_a_node_without_its_services_says_what_builds_them(program):
    done = run(program, "screw_dynamics_interfaces")
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"{program} needs the package screw_dynamics_interfaces, which is not built: ")


@pytest.mark.slow
@needs_ros
def test_a_folder_of_that_name_is_not_taken_for_the_services(tmp_path):
    """In a checkout Python takes it for a namespace package, which is empty."""
    (tmp_path / "screw_dynamics_interfaces").mkdir()
    done = run("dynamics_node", "screw_dynamics_interfaces", folder=tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "screw_dynamics_interfaces, which is not built: " in done.stderr


@pytest.mark.slow
@needs_ros
def test_a_message_package_that_is_missing_is_named():
    done = run("dynamics_node", "nav_msgs")
    assert done.returncode == 1
    assert done.stderr == ("dynamics_node needs the ROS package nav_msgs, which is not installed: "
                           "sudo apt install ros-$ROS_DISTRO-nav-msgs\n")


@needs_ros
def test_services_of_another_version_are_told_from_missing_ones():
    with pytest.raises(ImportError) as raised:
        from screw_dynamics_interfaces.srv import NoSuchService  # noqa: F401
    text = advice("dynamics_node", raised.value)
    assert "screw_dynamics_interfaces, which is of another version (cannot import name 'NoSuchService'" in text


def test_a_ros_for_another_python_and_faults_that_are_not_of_ros():
    error = ModuleNotFoundError("No module named 'rclpy._rclpy_pybind11'\nmore", name="rclpy._rclpy_pybind11")
    assert advice("view_node", error).endswith(": No module named 'rclpy._rclpy_pybind11'")
    assert "whose package rclpy does not work with this Python 3." in advice("view_node", error)
    for name in ("screw_dynamics.ros.nothing", "numba", None):
        assert advice("view_node", ImportError("no", name=name)) == ""


def test_the_command_builds_both_packages_of_a_checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    for folder in ("clone/screw_dynamics_interfaces", "tree/screw_dynamics_interfaces"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "package.xml").touch()
    clone = tmp_path / "clone"
    assert build_command(clone) == f"colcon build --paths {clone} {clone / 'screw_dynamics_interfaces'}"
    assert build_command(tmp_path / "tree" / "screw_dynamics") == f"colcon build --base-paths {tmp_path / 'tree'}"
    paths = "src/screw_dynamics src/screw_dynamics/screw_dynamics_interfaces"
    assert build_command(tmp_path) == f"colcon build --paths {paths}, where the clone is src/screw_dynamics"
    (tmp_path / "setup.json").touch()
    assert build_command(ROOT) == "make interfaces"


@pytest.mark.parametrize("command, hidden, says", [
    ("install", "screw_dynamics_interfaces", True),
    pytest.param("install", "nothing", False, marks=needs_ros), ("bdist_wheel", "screw_dynamics_interfaces", False)])
def test_a_build_by_colcon_says_which_package_it_leaves_out(command, hidden, says):
    """colcon runs these commands of setup.py; --help stops them."""
    if not (ROOT / "screw_dynamics_interfaces").is_dir():
        pytest.skip("a tree in which tools find both packages")
    done = subprocess.run([sys.executable, "-c", SETUP, command, hidden], cwd=ROOT, text=True, check=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": ""})
    line = (f"screw_dynamics_interfaces, without which no node of screw_dynamics starts, is not built, as colcon stops "
            f"at the first package.xml: colcon build --paths {ROOT} {Path(ROOT, 'screw_dynamics_interfaces')}\n")
    assert (line in done.stderr) == says, done.stderr
