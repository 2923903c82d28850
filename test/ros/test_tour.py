"""docs/tour.md, as a newcomer goes through it: its program prints what it shows, the arm is held, falls, comes up."""
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sensor_msgs.msg import JointState

from support.graph import PATIENCE, Driver
from support.paths import ROOT

pytestmark = pytest.mark.slow
PAGE = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
COMMANDS = [line.replace(".venv/bin", str(Path(sys.executable).parent))
            for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
            for line in block.splitlines() if line.startswith(".venv/bin")]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def command(part):
    """The command of the page that contains this."""
    found, = (line for line in COMMANDS if part in line)
    return found


@pytest.fixture
def start():
    """Starts commands, whose process groups end with the test."""
    running = []

    def begin(part, **options):
        running.append(subprocess.Popen(command(part), shell=True, cwd=ROOT, env=ENVIRONMENT, text=True,
                                        start_new_session=True, **options))
        return running[-1]
    yield begin
    for process in running:
        end(process)


def end(process):
    """As Ctrl-C in its terminal does."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(PATIENCE)


def until(watching, holds):
    """Read lines of watch.py until a pair of positions is as asked for."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and watching.poll() is None:
        words = watching.stdout.readline().split()
        if words and holds(*map(float, words[1::2])):
            return
    raise AssertionError("the arm did not do what the page says")


def test_the_program_prints_what_the_page_shows():
    program, shown = re.search(r"^```python\n(.*?)^```\n```\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE).groups()
    done = subprocess.run([sys.executable, "-"], input=program, cwd=ROOT, env=ENVIRONMENT, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


def test_the_arm_is_held_falls_and_comes_up(ros, start):
    driver = Driver("", "dynamics_node")
    commands = driver.collect(JointState, "joint_commands")
    start("simulator_node")
    watching = start("watch.py", stdout=subprocess.PIPE)
    until(watching, lambda shoulder, elbow: shoulder == 0.4)
    torques = start("dynamics_node")
    driver.wait(lambda: commands, "torques instead of brakes, which hold the arm as well")
    driver.node.destroy_node()
    for _ in range(5):
        until(watching, lambda shoulder, elbow: abs(shoulder - 0.4) < 1e-3 and abs(elbow) < 1e-3)
    end(torques)
    until(watching, lambda shoulder, elbow: shoulder < 0.0)
    start("gravity_controller.py")
    until(watching, lambda shoulder, elbow: abs(shoulder) < 1e-2 and abs(elbow) < 1e-2)
