"""The pytest plugin: it starts and imports nothing that a test does not ask for, and shows how a test failed."""
import os
import re
import subprocess
import sys

import pytest
import yaml

from support.paths import ROOT
from support.ros import needs_ros

EXAMPLE = ROOT / "examples" / "ci"
TEST_OF_ANOTHER_PROJECT = """
import sys

def test_anything():
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & {"rclpy", "screw_dynamics", "numba", "numpy", "matplotlib"}
"""


def run(folder, *arguments):
    """pytest with the plugin in a folder, in a process with a DDS domain of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ROS_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "pytest_screw_dynamics", "-p", "no:cacheprovider", *arguments],
        cwd=folder, env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)


def test_who_does_not_use_it_pays_nothing(tmp_path):
    (tmp_path / "test_other.py").write_text(TEST_OF_ANOTHER_PROJECT)
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@needs_ros
def test_the_tests_of_the_example_pass():
    done = run(EXAMPLE)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout


SIGN_ERROR = """
from test_gravity_controller import START, URDF, controller

def test_it_moves_the_arm_to_zero_and_holds_it(robot_simulator):
    arm = robot_simulator(URDF, [controller(gravity_sign=-1.0)], initial_positions=START)
    arm.advance(4.0).assert_settled("shoulder", 0.0, tolerance=0.01, by=3.0)
"""


@pytest.mark.slow
@needs_ros
def test_the_example_catches_a_sign_error_and_shows_it(tmp_path):
    """The test fails with joint, value and time; the report has a picture of the run and the end of each log."""
    for file in EXAMPLE.iterdir():
        if file.suffix in (".py", ".urdf"):
            (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "test_sign.py").write_text(SIGN_ERROR)
    done = run(tmp_path, "test_sign.py", "--robot-report", "report")
    assert done.returncode == 1 and "1 failed" in done.stdout, done.stdout
    assert "AssertionError: position of shoulder is -" in done.stdout
    assert "at the end, t = 4 s: " in done.stdout and "off 0, tolerance 0.01" in done.stdout
    assert "robot simulator" in done.stdout and "401 states from t = 0 to 4 s, 401 commands" in done.stdout
    (picture,) = (tmp_path / "report").rglob("run.png")
    assert picture.stat().st_size > 10_000 and "picture: " in done.stdout
    assert "--- " in done.stdout and "gravity_controller.py" in done.stdout
    assert {path.name for path in picture.parent.iterdir()} == {"run.png", "simulator.log", "controller_0.log"}


def test_the_workflow_and_the_image_call_what_there_is():
    workflow = yaml.safe_load((EXAMPLE / "workflow.yml").read_text())
    called = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    instructions = [line.partition(" ")[2] for line in (EXAMPLE / "Dockerfile").read_text().splitlines()
                    if line.startswith(("RUN", "CMD"))]
    text = "\n".join([*called, *instructions])
    assert "make setup PYTHON=" in text and re.search("^setup:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for option in "-p pytest_screw_dynamics", "--robot-report":
        assert option in text or option.replace(" ", '", "') in text
