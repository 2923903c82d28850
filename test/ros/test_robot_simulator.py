"""The simulator of the pytest plugin: real processes over real DDS, in lockstep with what answers them."""
import subprocess
import sys
import tempfile
import time
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.task import Future
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

import screw_dynamics as sd
from screw_dynamics import control
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.testing import DeadlineError, LockstepError, RobotSimulator
from screw_dynamics.testing.driver import Driver
from screw_dynamics.testing.processes import LONG, Process
from support import planar_arm as arm
from support.paths import ROOT

pytestmark = pytest.mark.slow

START = {"shoulder": 0.3, "elbow": -0.4}
TOOL = ROOT / "tools" / "repeat_lockstep.py"


class Spring(Node):
    """Answers each state, or by a timer, in the test's process; `gain` and `silent_from` [s] may be changed."""

    def __init__(self, namespace="", commands="joint_commands", timer=None, **options):
        super().__init__("spring", namespace=namespace, **options)
        self.gain, self.silent_from, self.answered = 20.0, np.inf, 0
        self.commands = self.create_publisher(JointState, commands, 1)
        self.create_subscription(JointState, "joint_states", self.answer if timer is None else self.keep, 1)
        if timer is not None:
            self.create_timer(timer, lambda: self.answer(self.last))
        self.estimates = self.create_publisher(Float64, "energy", 1)

    def effort(self, position, velocity):
        return [-self.gain * q - 0.5 * qd for q, qd in zip(position, velocity, strict=True)]

    def keep(self, state):
        self.last = state

    def answer(self, state):
        if state.header.stamp.sec + state.header.stamp.nanosec * 1e-9 >= self.silent_from:
            return
        self.answered += 1
        self.commands.publish(JointState(
            name=state.name[:2], effort=self.effort(state.position[:2], state.velocity[:2])))
        self.estimates.publish(Float64(data=float(self.answered)))


@pytest.fixture(scope="module")
def spring(ros_domain, ros):
    node = Spring()
    yield node
    node.destroy_node()


@pytest.fixture(scope="module")
def shared(spring, tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulator")
    with RobotSimulator(arm.urdf(), [spring], initial_positions=START, awaits={"energy": Float64}, folder=folder,
                        patience=30.0) as simulator:
        yield simulator


@pytest.fixture
def simulator(shared, spring):
    spring.silent_from, spring.answered = np.inf, 0
    shared.reset()
    return shared


def same_state(recording, k, twin):
    """The state of a simulation without ROS, once the recorded one has the same bits."""
    state = twin.joint_state()
    for i, joint in enumerate(twin.robot.joint_names):
        assert recording.position(joint)[k] == state.position[i]
        assert recording.velocity(joint)[k] == state.velocity[i]
    return state


def test_the_loop_is_that_of_the_core_bit_for_bit(simulator, spring):
    """A command acts from the very step on whose state it answers."""
    recording = simulator.advance(0.3)
    twin = Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(), START)
    for k in range(31):
        state = same_state(recording, k, twin)
        efforts = dict(zip(state.names, spring.effort(state.position[:2], state.velocity[:2]), strict=False))
        for joint in efforts:
            assert recording.command(joint)[k] == efforts[joint]
        twin.command(np.array([efforts[joint] for joint in twin.robot.joint_names]))
        twin.advance(10)
    assert np.allclose(np.diff(recording.time), 0.01) and np.array_equal(recording.commands.time, recording.time)
    assert spring.answered == 31 and len(recording.topics["energy"]) == 31


def test_it_advances_until_a_condition_holds_or_the_deadline_is_over(simulator):
    begin = simulator.time
    moving = simulator.advance_until(lambda recording: recording.max_abs("elbow", "velocity") > 0.5, deadline=2.0)
    assert moving and 0.0 < simulator.recording.time[-1] - simulator.recording.time[0] < 2.0
    simulator.reset()

    def never(recording):
        return False

    with pytest.raises(DeadlineError, match=r"never does not hold within 0\.05 s of simulated time; 6 states"):
        simulator.advance_until(never, deadline=0.05)
    assert simulator.recording.time[-1] - simulator.recording.time[0] == pytest.approx(0.05) and begin < simulator.time


def test_who_does_not_answer_is_named_with_the_time(simulator, spring, monkeypatch):
    simulator.advance(0.1)
    spring.silent_from = simulator.time + 0.045
    monkeypatch.setattr(simulator._driver, "_patience", 1.0)
    with pytest.raises(LockstepError, match=rf"1 command\(s\) on /joint_commands that answer the state of "
                                            rf"t = {simulator.time + 0.05:g} s; the topic has 1 publisher"):
        simulator.advance(0.2)


def test_states_to_start_from_and_pushes(simulator, spring, monkeypatch):
    monkeypatch.setattr(spring, "gain", 0.0)
    simulator.reset({"elbow": 0.5}, {"elbow": 0.2})
    recording = simulator.advance(0.0)
    assert (recording.position("elbow")[0], recording.velocity("elbow")[0]) == (0.5, 0.2)
    assert recording.position("shoulder")[0] == START["shoulder"]
    recording = simulator.advance(0.1)
    fallen = recording.position("elbow")[-1]
    simulator.reset({"elbow": 0.5}, {"elbow": 0.2})
    simulator.push("forearm", torque=(0.0, -10.0, 0.0))
    assert simulator.advance(0.1).position("elbow")[-1] > fallen + 0.1
    with pytest.raises(LockstepError, match="unknown link 'wing'"):
        simulator.push("wing")


@pytest.mark.parametrize("duration", [0.005, -0.01])
def test_only_whole_periods(simulator, duration):
    with pytest.raises(ValueError, match=r"seconds is .* s, must be a multiple of 0\.01 s"):
        simulator.advance(duration)


@pytest.mark.parametrize("trigger", ["joint_states", "clock"])
def test_runs_give_the_same_bits(trigger):
    """With a controller that remembers how often it was called, in a process of its own each time."""
    done = subprocess.run([sys.executable, TOOL, "--runs", "4", "--jobs", "2", "--trigger", trigger],
                          capture_output=True, text=True)
    assert done.returncode == 0 and "1 different: [4]" in done.stdout, done.stdout


@pytest.mark.parametrize("arguments, options, says", [
    ([[[sys.executable, "-c", "import sys; print('no motor found'); sys.exit(3)"]]], {},
     "has ended with exit code 3:\nno motor found"),
    ([["no_such_controller --fast"]], {}, "no_such_controller does not start: .*No such file.*A list has one"),
    ([], {"initial_positions": {"shoulder": 9.0}}, "robot_description refused: .*joint 'shoulder'")],
    ids=["a process that ends", "a command that is not there", "a robot"])
def test_what_does_not_start_is_named(tmp_path, arguments, options, says):
    with pytest.raises(LockstepError, match=says):
        RobotSimulator(arm.urdf(), *arguments, folder=tmp_path, namespace="not_there", **options).start()


def test_a_single_command_line_is_one_controller(tmp_path):
    with pytest.raises(LockstepError, match="no_such_controller does not start: .*No such file"):
        RobotSimulator(arm.urdf(), "no_such_controller --fast", folder=tmp_path, namespace="alone").start()
    assert [log.name for log in tmp_path.glob("controller_*.log")] == ["controller_0.log"]


def test_nothing_outlives_a_run_that_is_killed(tmp_path):
    """Or it would answer in the next run's domain."""
    script = tmp_path / "run.py"
    script.write_text(f"""
import os, sys, time
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from screw_dynamics.testing.processes import Process
process = Process([sys.executable, "-c", "import os, time; print(os.getpid()); time.sleep(600)"], Path("log"))
while not process.tail():
    time.sleep(0.01)
print(process.tail(), flush=True)
time.sleep(600)
""")
    with subprocess.Popen([sys.executable, script], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as run:
        child = int(run.stdout.readline())
        run.kill()
    end = time.monotonic() + 60.0
    while lives(child) and time.monotonic() < end:
        time.sleep(0.01)
    assert not lives(child)


def lives(process):
    status = Path(f"/proc/{process}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def test_a_long_command_line_is_cut(tmp_path):
    process = Process([sys.executable, "-c", "pass", 2 * LONG * "x"], tmp_path / "log")
    process.end()
    assert str(process).endswith("xxx...") and len(str(process)) == LONG + len("...")


def test_a_service_whose_answer_is_lost_is_asked_again(ros, monkeypatch):
    driver, lost, second = Driver("asking", [], lambda: None, 10.0), Future(), Future()
    second.set_result("an answer")
    futures = chain([lost], repeat(second))
    monkeypatch.setattr(driver, "request", lambda *given, **fields: next(futures))
    assert driver.ask(Trigger, "connected") == "an answer"
    driver.close()


class Late:
    """A driver for whom the states of a request come one by one, after its answer."""

    def __init__(self, recording):
        self.recording, self.coming = recording, 0

    def request(self, kind, name, steps):
        self.coming += max(1, steps // 10)
        answer = Future()
        answer.set_result(SimpleNamespace(success=True))
        return answer

    def wait(self, condition, what, progress=None):
        while not condition():
            assert self.coming, what()
            self.coming -= 1
            self.recording.states.messages.append(JointState())


def test_time_has_advanced_when_every_state_is_recorded():
    simulator = RobotSimulator(arm.urdf(), answers=0)
    simulator._driver = Late(simulator.recording)
    for _ in range(3):
        simulator.advance(0.2)
        assert simulator._driver.coming == 0
    assert len(simulator.recording.states.messages) == 61


def test_a_reader_of_states_that_commands_nothing(tmp_path, ros):
    """Each state is published once all the same; the awaited topic answers it."""
    node = Spring("reader", "nowhere")
    with RobotSimulator(arm.urdf(), [node], answers=0, awaits={"energy": Float64}, folder=tmp_path, namespace="reader"
                        ) as simulator:
        recording = simulator.advance(0.2)
        assert recording.array("energy", lambda message: message.data).tolist() == list(range(1, 22))
        assert not recording.commands.messages and np.ptp(recording.position("elbow")) == 0.0   # held by its brakes
    node.destroy_node()


def test_sensors_measure_the_first_state_too(tmp_path, ros):
    parameters = {"imus": ["forearm"], "imu_rate": 100.0}
    with RobotSimulator(arm.urdf(), [], awaits={"imu/forearm": Imu}, parameters=parameters, namespace="first",
                        folder=tmp_path) as simulator:
        recording = simulator.advance(0.1)
        stamps = recording.array("imu/forearm", lambda message: message.header.stamp.nanosec * 1e-6)
    assert stamps.tolist() == list(range(0, 101, 10))


def test_a_temporary_folder_goes_with_a_run_that_ends_well(monkeypatch, tmp_path, ros):
    """One that fails leaves its logs."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    with RobotSimulator(arm.urdf(), answers=0, namespace="well"):
        assert len(list(tmp_path.iterdir())) == 1
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZeroDivisionError), RobotSimulator(arm.urdf(), answers=0, namespace="badly"):
        raise ZeroDivisionError
    assert "robot of 2 joints" in next(tmp_path.glob("*/simulator.log")).read_text()


def test_a_timer_on_simulated_time_acts_on_the_state_of_its_tick(tmp_path, ros):
    """The first tick is one period after the start; until then brakes hold the robot."""
    node = Spring("timer", timer=0.02, parameter_overrides=[Parameter("use_sim_time", value=True)])
    with RobotSimulator(arm.urdf(), [node], trigger="clock", period=0.02, namespace="timer", folder=tmp_path,
                        initial_positions=START) as simulator:
        recording = simulator.advance(0.4)
    twin = Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(), START)
    for k in range(21):
        state = same_state(recording, k, twin)
        if k > 0:
            twin.command(np.array(node.effort(state.position[:2], state.velocity[:2])))
        twin.advance(20)
    assert len(recording.commands.messages) == 20
    node.destroy_node()


def test_rclpy_is_left_as_it_was(ros):
    assert rclpy.ok()


# ------------------------------------------------------------------------------------------------- control laws
def test_a_law_answers_the_states_as_in_a_simulation_without_ros(ros_domain, ros, tmp_path):
    robot, reference = sd.Robot.from_urdf(arm.urdf()), {"position": [0.3, -0.4], "velocity": [0.0, 0.0]}
    loops = [control.collision_reaction.loop(robot, 0.01, None, reference) for _ in range(2)]
    twin = Simulation(robot, Settings(), START)
    with RobotSimulator(arm.urdf(), loops[0], initial_positions=START, folder=tmp_path, namespace="law",
                        keeps_clock=False) as simulator:
        for _ in range(2):
            recording = simulator.advance(0.3)
            for k, t in enumerate(recording.time):
                same_state(recording, k, twin)
                twin.command(loops[1](t, twin.q, twin.qd))
                twin.advance(10)
            simulator.reset()                       # and the law with it
            twin.reset()
            loops[1].reset()


def test_a_law_for_other_joints_is_refused_before_anything_starts():
    loop = control.gravity_compensation.loop(sd.Robot.from_urdf(arm.urdf(elbow="knee")), 0.01)
    with pytest.raises(ValueError, match="law gravity_compensation has the joints knee"):
        RobotSimulator(arm.urdf(), loop)
