"""simulator_node over real DDS, in two processes: one that simulates an arm, one that waits for its description."""

import signal
import subprocess
import sys

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from std_srvs.srv import SetBool, Trigger

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics_interfaces.srv import ApplyWrench, ResetTo, Step
from support import planar_arm as arm
from support.graph import Driver, NodeProcess
from support.paths import ROOT

CONFIG = ROOT / "config" / "simulator.yaml"
START = {"shoulder": 0.3, "elbow": -0.4}
SEEDED = {"seed": 7, "initial_noise": 0.01, "position_noise": 1e-3}
NAN = float("nan")
MS = 1_000_000


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Both, started at the same time to save some."""
    logs = tmp_path_factory.mktemp("simulator_node")
    overrides = {
        "robot_description": f"'{arm.urdf()}'", "publish_clock": "true", "use_sim_time": "true",
        "initial_positions.shoulder": START["shoulder"], "initial_positions.elbow": START["elbow"],
        "initial_positions.knee": 1, **SEEDED,
    }   # after the file of defaults, which they would else lose against
    arguments = [part for name, value in overrides.items() for part in ("-p", f"{name}:={value}")]
    module = "screw_dynamics.ros.simulator.node"
    simulating = NodeProcess(module, "arm", logs / "arm", arguments=["--params-file", str(CONFIG), *arguments])
    late = {"autostart": "false", "initial_positions.elbow": "2", "command_mode": "position"}
    waiting = NodeProcess(module, "late", logs / "late", late)
    rclpy.init()
    yield {"arm": simulating, "late": waiting}
    rclpy.shutdown()
    assert simulating.stop(signal.SIGINT) == 0
    assert waiting.stop(signal.SIGTERM) == 0
    for process in (simulating, waiting):
        assert "Traceback" not in process.output() and "internal error" not in process.output()


class Simulator(Driver):
    """The driver of a simulator: it collects states, and sends commands."""

    def __init__(self, namespace):
        super().__init__(namespace, "screw_simulator")
        self.states = self.collect(JointState, f"/{namespace}/joint_states")

    def fresh(self, accept=lambda state: True):
        """The next state that is accepted."""
        self.states.clear()
        return self.wait(lambda: next(filter(accept, self.states), None), "a state")

    def command(self, name=arm.NAMES, **values):
        """Publish a command."""
        self.publisher(JointState, "joint_commands", 1).publish(JointState(name=list(name), **values))

    def effort(self, *values):
        """Command efforts while paused, and wait until they are what acts."""
        self.command(effort=list(values))
        self.fresh(lambda state: list(state.effort[:2]) == list(values))

    def pause(self, paused=True):
        """Pause or run on."""
        answer = self.call(SetBool, "~/set_pause", data=paused)
        assert answer.success, answer.message

    def step(self, steps):
        """Make steps, and return the state after them: the one with the stamp of the answer."""
        answer = self.call(Step, "~/step", steps=steps)
        assert answer.success, answer.message
        return self.wait(lambda: next((s for s in self.states if s.header.stamp == answer.stamp), None), "a state")

    def reset(self):
        """Back to the start."""
        answer = self.call(Trigger, "~/reset")
        assert answer.success, answer.message
        return self.fresh()

    def reset_to(self, **state):
        """To another state."""
        return self.call(ResetTo, "~/reset_to", state=JointState(**state))

    def drops(self, reason, at_least):
        """Wait until messages were dropped for a reason."""
        self.status(lambda status, values: int(values.get(f"dropped: {reason}", 0)) >= at_least)


@pytest.fixture(scope="module")
def running(processes):
    simulator = Simulator("arm")
    simulator.clock = simulator.collect(Clock, "/clock")
    simulator.wait(lambda: simulator.states, "the first state")
    return simulator


@pytest.fixture
def simulator(running):
    """Paused, at its start."""
    running.set_parameter("real_time_factor", 1.0)
    running.pause()
    running.reset()
    return running


def nanoseconds(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def twin(**settings):
    """The same simulation without ROS, and the command that `effort` sends it."""
    simulation = Simulation(sd.Robot.from_urdf(arm.urdf()), Settings(**SEEDED, **settings), START)
    return simulation


# States and time


def test_states_name_every_joint_mimics_too_and_come_reliably(simulator):
    state = simulator.fresh()
    assert list(state.name) == ["shoulder", "elbow", "finger"] and state.header.frame_id == "base"
    assert state.position[2] == pytest.approx(-0.5 * state.position[1], abs=1e-15)
    offered = simulator.node.get_publishers_info_by_topic("/arm/joint_states")[0].qos_profile
    assert offered.reliability == ReliabilityPolicy.RELIABLE and offered.durability == DurabilityPolicy.VOLATILE
    wanted = simulator.node.get_subscriptions_info_by_topic("/arm/joint_commands")[0].qos_profile
    assert wanted.reliability == ReliabilityPolicy.RELIABLE


def test_states_come_at_every_tenth_step_with_the_time_of_the_clock(simulator):
    simulator.pause(False)
    simulator.wait(lambda: len(simulator.states) > 30)
    simulator.pause()
    simulator.states.clear()
    simulator.clock.clear()
    start = nanoseconds(simulator.step(1000).header.stamp)
    stamps = sorted({nanoseconds(state.header.stamp) for state in simulator.states} - {start - 1000 * MS})
    first = stamps[0]
    assert 0 < first - (start - 1000 * MS) <= 10 * MS
    assert set(np.diff(stamps[:-1])) == {10 * MS} and stamps[-1] == start
    simulator.wait(lambda: {nanoseconds(clock.clock) for clock in simulator.clock} >= set(stamps), "the clock")


def test_it_never_follows_simulated_time_itself(simulator):
    assert simulator.get_parameter("use_sim_time") is False
    assert "use_sim_time" in simulator.set_parameter("use_sim_time", True)


def test_paused_time_stands_still_and_the_state_is_told_all_the_same(simulator):
    simulator.states.clear()
    simulator.wait(lambda: len(simulator.states) > 3)
    assert len({nanoseconds(state.header.stamp) for state in simulator.states}) == 1
    simulator.pause(False)
    before = nanoseconds(simulator.fresh().header.stamp)
    simulator.fresh(lambda state: nanoseconds(state.header.stamp) > before + 50 * MS)


def test_clock_goes_on_over_resets(simulator):
    simulator.clock.clear()
    for _ in range(3):
        simulator.step(15)
        simulator.reset()
        assert simulator.reset_to(name=["elbow"], position=[0.1]).success
    simulator.pause(False)
    simulator.reset()
    simulator.fresh()
    times = [nanoseconds(clock.clock) for clock in simulator.clock]
    assert times == sorted(times) and times[-1] > times[0]


def test_clock_restarts_at_a_reset_if_so_wished(simulator):
    with simulator.parameter("reset_clock", True, afterwards=False):
        simulator.step(20)
        assert nanoseconds(simulator.reset().header.stamp) == 0
    assert nanoseconds(simulator.step(3).header.stamp) == 3 * MS


# Steps


def test_step_is_refused_while_it_runs(simulator):
    simulator.pause(False)
    answer = simulator.call(Step, "~/step", steps=1)
    assert not answer.success and "running" in answer.message


def test_lockstep_gives_the_bits_of_the_simulation_without_ros(simulator):
    for _ in range(2):   # and the same again after a reset
        simulator.reset()
        reference = twin()
        for k in range(8):
            efforts = (np.cos(k) * 9, np.sin(k) * 3)
            simulator.effort(*efforts)
            reference.command(np.array(efforts))
            state = simulator.step(37 + k)
            reference.advance(37 + k)
            expected = reference.joint_state()
            assert np.array_equal(state.position, expected.position)
            assert np.array_equal(state.velocity, expected.velocity)


def test_many_steps_block_only_their_caller(simulator):
    steps = simulator.node.create_client(Step, "/arm/screw_simulator/step")
    simulator.wait(steps.service_is_ready)
    endless = steps.call_async(Step.Request(steps=4_000_000_000))
    simulator.status(lambda status, values: status.message == "stepping")
    answer = simulator.call(SetBool, "~/set_pause", data=False)
    assert not answer.success and "under way" in answer.message
    simulator.reset()
    simulator.wait(endless.done, "the end of the steps")
    assert not endless.result().success and "~/reset was called" in endless.result().message
    assert np.array_equal(simulator.fresh().velocity, (0, 0, 0))


# Commands


def test_arm_is_held_until_its_first_command_and_then_falls(simulator):
    start = simulator.step(200)
    assert np.array_equal(start.velocity, (0, 0, 0))
    assert np.allclose(start.effort[:2], arm.gravity(twin().q), atol=1e-9)
    simulator.effort(0.0, 0.0)
    fallen = simulator.step(300)
    assert fallen.position[0] < start.position[0] - 0.1


def test_commands_in_any_order_with_extra_joints_nan_and_empty_fields(simulator):
    simulator.command(["lamp", "elbow"], effort=[NAN, 1.5], position=[NAN, NAN], velocity=[float("inf")] * 2)
    simulator.fresh(lambda state: state.effort[1] == 1.5)
    simulator.command(["elbow", "shoulder"], effort=[NAN, -2.5])
    simulator.fresh(lambda state: list(state.effort[:2]) == [-2.5, 1.5])
    simulator.command(position=[9.0, 9.0])   # not what commands in this mode
    simulator.command(effort=[-2.0, NAN])
    simulator.fresh(lambda state: list(state.effort[:2]) == [-2.0, 1.5])


def test_faulty_commands_are_dropped_and_counted_by_reason(simulator):
    simulator.effort(3.0, 1.0)
    faults = {
        "length mismatch": {"effort": [1.0]},
        "duplicate joint": {"name": ["elbow", "elbow"], "effort": [9.0, 9.0]},
        "non-finite value": {"effort": [float("inf"), 0.0]},
    }
    for reason, fault in faults.items():
        simulator.command(**fault)
        simulator.drops(reason, 1)
    assert list(simulator.fresh().effort[:2]) == [3.0, 1.0]


def test_stale_command_ends_at_its_step(simulator):
    simulator.effort(3.0, 1.0)
    assert list(simulator.step(499).effort[:2]) == [3.0, 1.0]
    assert list(simulator.step(1).effort[:2]) == [0.0, 0.0]


def test_efforts_beyond_the_limit_are_cut_and_counted(simulator):
    simulator.command(effort=[1e4, 0.0])
    simulator.fresh(lambda state: state.effort[0] == 100.0)
    simulator.step(10)
    status, values = simulator.status(lambda status, values: "saturated: shoulder" in values)
    assert int(values["saturated: shoulder"]) >= 10


# Services


def test_reset_to_a_state_of_some_joints(simulator):
    assert simulator.reset_to(name=["elbow", "finger"], position=[0.5, 0.0]).success
    state = simulator.step(5)
    assert state.position[1] == pytest.approx(0.5, abs=0.01) and state.position[0] == pytest.approx(0.3, abs=0.01)
    assert simulator.reset_to(position=[0.1, 0.2], velocity=[0.5, 0.0]).success
    assert simulator.fresh().velocity[0] == 0.5


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"name": ["knee"], "position": [0.0]}, "knee"),
        ({"name": ["elbow"], "position": [3.5]}, "elbow"),
        ({"name": ["elbow"], "position": [NAN]}, "elbow"),
        ({"name": ["elbow", "elbow"], "position": [0.0, 0.0]}, "elbow"),
        ({"name": ["elbow"], "position": [0.0, 1.0]}, "position"),
        ({"name": ["elbow"]}, "position"),
        ({"name": ["elbow"], "position": [0.0], "velocity": [NAN]}, "elbow"),
        ({"position": [0.0]}, "position"),
    ],
)
def test_reset_to_a_bad_state_changes_nothing_and_names_what_is_wrong(simulator, state, message):
    before = simulator.step(3)
    answer = simulator.reset_to(**state)
    assert not answer.success and message in answer.message
    assert simulator.fresh().header.stamp == before.header.stamp


def test_wrench_pushes_a_link_for_its_duration(simulator):
    def push(link, duration_ms=0, **vectors):
        wrench = WrenchStamped(header=Header(frame_id=link), wrench=Wrench(**vectors))
        request = ApplyWrench.Request(wrench=wrench)
        request.duration.nanosec = duration_ms * MS
        return simulator.call(ApplyWrench, "~/apply_wrench", wrench=wrench, duration=request.duration)

    force = {"force": Vector3(x=2.0, z=-5.0), "torque": Vector3(y=0.5)}
    assert push("flange", 20, **force).success
    simulator.effort(1.0, 2.0)
    reference = twin()
    reference.push("flange", (0, 0.5, 0, 2, 0, -5), 0.02)
    reference.command(np.array([1.0, 2.0]))
    reference.advance(50)
    assert np.array_equal(simulator.step(50).velocity, reference.joint_state().velocity)
    assert "frame_id" in push("", **force).message
    assert "wing" in push("wing", **force).message
    assert "finite" in push("flange", force=Vector3(x=NAN)).message


def test_state_that_is_not_finite_stops_it_until_a_reset(simulator):
    wrench = WrenchStamped(header=Header(frame_id="flange"), wrench=Wrench(force=Vector3(z=-1.7e308)))
    wrench.wrench.torque.y = 1.7e308   # and their sum at a joint overflows
    simulator.effort(0.0, 0.0)
    assert simulator.call(ApplyWrench, "~/apply_wrench", wrench=wrench).success
    answer = simulator.call(Step, "~/step", steps=100)
    assert not answer.success and "not finite" in answer.message
    status, values = simulator.status(lambda status, values: status.level == DiagnosticStatus.ERROR)
    assert "not finite" in status.message
    assert np.isfinite(simulator.fresh().position).all()
    simulator.reset()
    simulator.step(10)
    simulator.status(lambda status, values: status.level == DiagnosticStatus.OK)


def test_other_gravity_acts_at_once_and_the_arm_stays_where_it_is(simulator):
    simulator.effort(0.0, 0.0)
    before = simulator.step(1)
    with simulator.parameter("gravity", [0.0, 0.0, 0.0], afterwards=[0.0, 0.0, -9.81]):
        assert np.allclose(simulator.step(200).velocity, before.velocity, atol=0.02)


def test_initial_positions_can_be_changed_within_the_limits(simulator):
    assert "elbow" in simulator.set_parameter("initial_positions.elbow", 3.1)
    with simulator.parameter("initial_positions.elbow", 1.0, afterwards=START["elbow"]):
        assert simulator.reset().position[1] == pytest.approx(1.0, abs=0.1)


def test_override_for_a_joint_that_is_not_there_is_told(processes, running):
    assert "initial_positions.knee" in processes["arm"].output()


# Pace and diagnostics


def test_it_keeps_pace_with_the_wall_clock(simulator):
    simulator.pause(False)
    status, values = simulator.status(lambda status, values: 0.9 < float(values["real-time factor"]) < 1.1)
    assert status.message in ("running", "cannot keep the real-time factor 1.0")


def test_as_fast_as_possible_still_answers_and_steps_are_the_same(simulator):
    simulator.pause(False)
    assert simulator.set_parameter("real_time_factor", 0.0) == ""
    simulator.status(lambda status, values: float(values["real-time factor"]) > 2.0)
    simulator.pause()
    simulator.reset()
    simulator.effort(1.0, 0.5)
    reference = twin()
    reference.command(np.array([1.0, 0.5]))
    reference.advance(300)
    assert np.array_equal(simulator.step(300).position, reference.joint_state().position)


def test_structural_parameters_are_read_only(simulator):
    for name, value in (("dt", 0.002), ("command_mode", "velocity"), ("seed", 3)):
        assert simulator.set_parameter(name, value) != ""


@pytest.mark.parametrize(
    ("parameter", "message"),
    [("dt:=-0.001", "parameter dt"), ("command_mode:=torque", "command_mode"), ("servo_bandwidth:=1e3", "servo")],
)
def test_bad_parameter_ends_it_at_once_with_its_name(parameter, message):
    command = [sys.executable, "-m", "screw_dynamics.ros.simulator.node", "--ros-args", "-p", parameter]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and message in ended.stderr and "Traceback" not in ended.stderr


# Lifecycle and description: one story, told in order


def test_life_of_a_simulator_whose_description_comes_late(processes):
    node = Simulator("late")

    def change(transition):
        return node.call(ChangeState, "~/change_state", transition=Transition(id=transition)).success

    def told(level, text):
        return node.status(lambda status, values: status.level == level and text in status.message)

    told(DiagnosticStatus.OK, "unconfigured")
    assert change(Transition.TRANSITION_CONFIGURE)
    answer = node.call(Step, "~/step", steps=1)
    assert not answer.success and "inactive" in answer.message
    assert change(Transition.TRANSITION_ACTIVATE)
    told(DiagnosticStatus.WARN, "waiting for robot_description")
    assert "no robot" in node.call(Trigger, "~/reset").message

    node.describe("<robot name='broken'><link name='base'></robot>")
    told(DiagnosticStatus.ERROR, "refused")
    tight = '<limit lower="-3" upper="1" effort="50"'
    node.describe(arm.urdf().replace('<limit lower="-3" upper="3" effort="50"', tight))
    told(DiagnosticStatus.ERROR, "'elbow'")          # initial_positions.elbow is 2
    assert not node.states
    assert node.set_parameter("initial_positions.elbow", 0.5) == ""
    assert node.fresh().position[1] == 0.5

    stamp = nanoseconds(node.fresh().header.stamp)
    assert abs(stamp - node.node.get_clock().now().nanoseconds) < 10_000 * MS   # the system's time: no /clock here
    node.command(position=[0.2, 0.1])
    node.fresh(lambda state: np.allclose(state.position[:2], (0.2, 0.1), atol=1e-3))

    node.describe("<robot name='broken'/>")
    told(DiagnosticStatus.WARN, "the robot before stays in use")
    assert np.allclose(node.fresh().position[:2], (0.2, 0.1), atol=1e-3)
    massless = arm.urdf().replace('<mimic joint="elbow" multiplier="-0.5"/>', "")
    node.describe(massless)
    told(DiagnosticStatus.WARN, "'finger'")          # no longer a mimic, and it moves a link without mass
    node.describe(arm.urdf(elbow="hinge"))           # another robot starts at its own initial positions
    state = node.fresh(lambda state: "hinge" in state.name)
    assert dict(zip(state.name, state.position, strict=True)) == {"shoulder": 0.0, "hinge": 0.0, "finger": 0.0}
    told(DiagnosticStatus.OK, "running")

    assert change(Transition.TRANSITION_DEACTIVATE)
    node.states.clear()
    assert "inactive" in node.call(Trigger, "~/reset").message
    told(DiagnosticStatus.OK, "inactive")
    assert not node.states
    assert change(Transition.TRANSITION_ACTIVATE)
    assert "hinge" in node.fresh().name
    assert change(Transition.TRANSITION_DEACTIVATE) and change(Transition.TRANSITION_CLEANUP)
    told(DiagnosticStatus.OK, "unconfigured")
    assert change(Transition.TRANSITION_CONFIGURE) and change(Transition.TRANSITION_ACTIVATE)
    assert "hinge" in node.fresh().name               # latched
    assert "WARN" in processes["late"].output()
