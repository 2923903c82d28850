"""Every executable, and every script that starts nodes, ends in order however many signals come, and whenever."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from mcap.reader import make_reader
from sensor_msgs.msg import JointState

from screw_dynamics.ros.executables import MODULES
from screw_dynamics.ros.executor.hot_subscription import RCLError
from screw_dynamics.ros.signals import put_off
from screw_dynamics_interfaces.srv import Step
from support import planar_arm as arm
from support.graph import Driver
from support.paths import ROOT
from support.shared_memory import left_in_memory

pytestmark = pytest.mark.slow

INT, TERM = signal.SIGINT, signal.SIGTERM
VOLLEYS = (INT, INT), (TERM, TERM), (INT, TERM), (INT, INT, TERM, INT)
GAP = 1e-3      # s, as ros2 launch sends them
READY = {       # what an executable says when it is there
    "dynamics_node": "robot of 2 joints", "simulator_node": "robot of 2 joints", "markers_node": "robot of 2 joints",
    "view_node": "robot of 2 joints", "recorder_node": "recording to"}
BIN = Path(sys.executable).parent


@pytest.fixture(autouse=True)
def nothing_is_left():
    """What a test that failed has not ended would answer the next one."""
    yield
    for run in Run.begun:
        run.process.kill()
        run.process.wait()
    Run.begun.clear()


class Run:
    """A command as a process, its output in a file, that takes signals."""

    begun = []

    def __init__(self, command, log, environment=None):
        self.log, self._began = log, time.time()
        with open(log, "w") as output:
            self.process = subprocess.Popen([str(part) for part in command], stdout=output, stderr=output,
                                            env={**os.environ, **(environment or {})})
        self.begun.append(self)

    def wait_for(self, what, condition):
        while not condition():
            assert self.process.poll() is None, f"ended before {what}: {self.log.read_text()}"
            time.sleep(1e-3)

    def says(self, text):
        self.wait_for(text, lambda: text in self.log.read_text())

    def takes_signals(self):
        """Wait until it has handlers of both signals, by which its own first line has come."""
        status = Path(f"/proc/{self.process.pid}/status")

        def taken():
            mask = int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16)
            return mask >> INT - 1 & mask >> TERM - 1 & 1
        self.wait_for("it takes signals", taken)

    def ends(self, volley=(INT, INT), code=0, memory=True):
        """Send signals, and see it end in order; memory: without shared memory left behind."""
        maps = Path(f"/proc/{self.process.pid}/maps").read_text()
        shared = set(re.findall(r"/dev/shm/fastdds_[0-9a-f]{16}$", maps, re.MULTILINE))
        for number in volley:
            self.process.send_signal(number)
            time.sleep(GAP)
        ended, said = self.process.wait(240.0), self.log.read_text()
        assert ended == code, f"exit code {ended} after {volley}: {said}"
        for word in "Traceback", "terminate called", "Exception", "internal error":
            assert word not in said, f"after {volley}: {said}"
        assert not (memory and left_in_memory(shared, self._began))


def executable(name, folder, namespace, **parameters):
    """One that has all that it needs to be ready."""
    if name == "recorder_node":
        parameters = {"file": folder / "run.mcap", **parameters}
    else:
        parameters = {"robot_description": f"'{arm.urdf()}'", **parameters}
    settings = [part for key, value in parameters.items() for part in ("-p", f"{key}:={value}")]
    return [BIN / name, "--ros-args", "-r", f"__ns:=/{namespace}", *settings]


def whole(path):
    """The number of messages of a recording, by its summary, which is written last."""
    with open(path, "rb") as file:
        summary = make_reader(file).get_summary()
        assert summary is not None, f"{path} is cut"
        return summary.statistics.message_count if summary.statistics else 0


def at_moments(name, folder, moments):
    """Start it, and end it: first when it is ready, to know how long that takes, then after parts of it, by a volley
    each. Shared memory is not looked at: beside the whole suite a simulator has left a file, thrice, for a reason that
    is not known."""
    run = Run(executable(name, folder, "moments"), folder / "log")
    run.takes_signals()
    began = time.monotonic()
    run.says(READY[name])
    needed = time.monotonic() - began
    run.ends(memory=False)
    for k, (moment, volley) in enumerate(moments):
        run = Run(executable(name, folder, "moments"), folder / f"log{k}")
        run.takes_signals()
        time.sleep(needed * moment)
        run.ends(volley, memory=False)
    for path in folder.glob("*.mcap"):
        whole(path)


@pytest.mark.parametrize("k, name", enumerate(MODULES))
def test_signals_at_all_moments_end_an_executable_in_order(k, name, tmp_path, ros_domain):
    """From its first line on, each at others: imports, which all have, take most of the time until it is ready."""
    at_moments(name, tmp_path, [(0.05 + 0.1 * k + 0.5 * j, VOLLEYS[(k + j) % len(VOLLEYS)]) for j in range(3)])


def test_signals_while_it_compiles(tmp_path, ros_domain):
    """The compiler's thread is left alone: nothing waits for it, and it aborts nothing."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    run = Run(executable("dynamics_node", tmp_path, "compiling"), tmp_path / "log",
              {"SCREW_DYNAMICS_CACHE_DIR": str(cache)})
    run.says("compiling")
    run.ends()


def test_signals_while_a_service_runs(tmp_path, ros):
    run = Run(executable("simulator_node", tmp_path, "serving", start_paused=True), tmp_path / "log")
    driver = Driver("serving", "screw_simulator")
    driver.status(lambda status, values: "steps since the last reset" in values)
    future = driver.begin(Step, "~/step", steps=1_000_000_000)
    driver.status(lambda status, values: int(values["steps since the last reset"]) > 0)
    assert not future.done()
    run.ends()


def flood(publisher, message, count):
    """Publish as fast as it goes: on a busy machine the middleware does not take each."""
    for _ in range(count):
        with contextlib.suppress(RCLError):
            publisher.publish(message)


@pytest.mark.parametrize("volley", VOLLEYS, ids=lambda volley: "".join(number.name[3] for number in volley))
def test_a_recording_is_whole_whatever_comes_while_it_is_written(tmp_path, ros, volley):
    run = Run(executable("recorder_node", tmp_path, "written", topics="['joint_states']"), tmp_path / "log")
    driver = Driver("written", "screw_recorder")
    states = driver.publisher(JointState, "joint_states", 1000)
    message = JointState(name=["a"] * 500, position=[1.0] * 500)
    driver.status(lambda status, values: int(values["messages"]) > 100,
                  lambda: flood(states, message, 20))
    flood(states, message, 500)
    run.ends(volley)
    said = re.search(r"recorded (\d+) messages to", run.log.read_text())
    assert whole(tmp_path / "run.mcap") == int(said[1]) > 100


def test_an_example_ends_in_order(tmp_path, ros):
    run = Run([sys.executable, ROOT / "examples" / "watch.py", "--ros-args", "-r", "__ns:=/watch"], tmp_path / "log")
    driver = Driver("watch", "watch")
    states = driver.publisher(JointState, "joint_states")
    driver.wait(lambda: "a  1.000" in run.log.read_text() or run.process.poll() is not None, "a line",
                lambda: states.publish(JointState(name=["a"], position=[1.0])))
    run.ends()


@pytest.mark.parametrize("number", [INT, TERM])
def test_a_signal_that_is_put_off_does_at_the_end_what_it_would_have_done(number):
    """Once: what was begun in the block is there, and so is the handler."""
    came, begun = [], False

    def handler(number, frame):
        came.append((number, begun))
    before = signal.signal(number, handler)
    try:
        with put_off():
            for _ in range(3):
                signal.raise_signal(number)
            assert not came
            begun = True
        assert came == [(number, True)] and signal.getsignal(number) is handler
        with put_off():
            pass
        assert len(came) == 1
    finally:
        signal.signal(number, before)


def test_a_thread_that_gets_no_signals_puts_off_none():
    before, found = [signal.getsignal(number) for number in (INT, TERM)], []

    def work():
        with put_off():
            found.append([signal.getsignal(number) for number in (INT, TERM)])
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before] and [signal.getsignal(number) for number in (INT, TERM)] == before


def test_an_interrupted_demo_leaves_no_node_behind(tmp_path, ros_domain):
    """It says by its exit code that it has not shown what it claims."""
    run = Run([sys.executable, ROOT / "examples" / "demo.py", "--picture", tmp_path / "demo.png"], tmp_path / "log")
    run.says("3  Starting simulator_node")
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children")
    run.wait_for("both nodes", lambda: len(children.read_text().split()) == 2)
    started = children.read_text().split()
    run.ends((INT, INT, TERM), code=130)
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
