"""examples/demo.py, as make demo runs it: what it shows, and what it says of a robot that has nothing to show."""

import os
import subprocess
import sys

import pytest

from support.graph import PATIENCE
from support.kernels import cache_with
from support.paths import ROOT
from support.real_robots import PATHS

sys.path.insert(0, str(ROOT / "tools"))

from setup_environment import DEMO_KERNELS  # noqa: E402

pytestmark = pytest.mark.slow

ROBOTS = [PATHS["panda_description/urdf/panda.urdf"], ROOT / "urdf" / "double_pendulum.urdf"]
# What the nodes prepare, in the order in which they do, without a warning that a user could not mend.
NODES = """
import sys
import warnings
import screw_dynamics as sd
from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.node.preparation import prepare
from screw_dynamics.ros.simulator.node import SimulatorNode
import rclpy

rclpy.init()
warnings.simplefilter("error", sd.LimitsWarning)        # a panda's joints are beyond limits at 0
robot, simulator = sd.Robot.from_urdf(sys.argv[1]), SimulatorNode()
for steps in (simulator.steps, DynamicsNode.steps, DynamicsNode.rare_steps):
    prepare(steps, robot, print)
"""


def demo(*arguments, timeout=PATIENCE, **environment):
    """The finished process of the demo."""
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False,
                          env={**os.environ, **environment})


@pytest.fixture(scope="module")
def as_set_up(tmp_path_factory):
    """An environment with the kernels that `make demo` compiles, and no others."""
    command = [sys.executable, "-m", "screw_dynamics.prepare", *DEMO_KERNELS]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    listed = subprocess.run([*command, "--list"], check=True, capture_output=True, text=True).stdout.splitlines()
    return cache_with([line.removeprefix("+ ") for line in listed], tmp_path_factory.mktemp("demo") / "cache")


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda path: path.stem)
def test_make_demo_compiles_all_that_its_nodes_prepare(robot, as_set_up, ros_domain):
    done = subprocess.run([sys.executable, "-c", NODES, robot], capture_output=True, text=True, check=False,
                          env={**os.environ, **as_set_up})
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot name='r'><link name='base'></robot>", "line 1"),
        ("<robot name='r'><link name='base'/></robot>", "no movable joint"),
        (None, "does not exist"),
    ],
)
def test_bad_urdf_ends_it_with_one_line_that_names_the_fault(tmp_path, text, message):
    path = tmp_path / "robot.urdf"
    if text is not None:
        path.write_text(text)
    ended = demo(path)
    assert ended.returncode == 1
    assert ended.stderr.strip().startswith("demo: ") and message in ended.stderr and "Traceback" not in ended.stderr


@pytest.mark.parametrize("robot", [None, ROBOTS[1]])
def test_robot_falls_is_held_and_falls_again(tmp_path, robot, as_set_up):
    picture = tmp_path / "demo.png"
    ended = demo(*([robot] if robot else []), "--picture", picture, **as_set_up)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "compiling" not in ended.stdout + ended.stderr
    for line in ("it fell from", "came to rest", "it floats", "fell again", "ended cleanly", "get_jacobian"):
        assert line in ended.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
