"""The simulator's IMUs, force-torque sensors and faults over real DDS, in a run that its parameters script."""
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
import yaml
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger

import screw_dynamics as sd
from screw_dynamics.ros.node import messages
from screw_dynamics.ros.simulator import outputs
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics_interfaces.srv import ApplyWrench, InjectFault, Step
from support import tool_arm as tool
from support.simulator_driver import MS, Simulator, nanoseconds

pytestmark = pytest.mark.slow

JOINTS = ("shoulder", "elbow", "tool_to_blade")
SENSED = {
    "imus": ["tool", "upper_arm"], "imu_rate": 200.0, "force_torques": ["flange_to_tool"], "force_torque_rate": 500.0,
    "gyroscope_noise": 1e-3, "accelerometer_bias": [0.0, 0.0, 0.5],
    "fault_schedule": ["joint_stuck elbow at 0.2 for 0.1", "sensor_offset tool_to_blade 0.25 at 0.5",
                       "sensor_dropped joint_states 1 at 0.7 for 0.05"],
}


@pytest.fixture(scope="module")
def running(start_for_all, tmp_path_factory):
    """simulator_node with an arm and its tool, its driver, and what the sensors publish."""
    parameters = {"robot_description": tool.urdf(), "publish_clock": True, "start_paused": True, "publish_rate": 100.0,
                  "joint_friction": False, "command_timeout": 0.0, "position_noise": 0.0,
                  "position_bias.elbow": 0.125, "encoder_resolution.knee": 0.1, **SENSED}
    file = tmp_path_factory.mktemp("sensors") / "sensors.yaml"
    file.write_text(yaml.safe_dump({"/**/screw_simulator": {"ros__parameters": parameters}}))
    driver = start_for_all(Simulator, "sensors", params_file=file)
    driver.imu = driver.collect(Imu, "/sensors/imu/tool")
    driver.wrenches = driver.collect(WrenchStamped, "/sensors/force_torque/flange_to_tool")
    driver.wait(lambda: driver.states and driver.imu and driver.wrenches, "states and samples")
    return driver


@pytest.fixture
def arm(running):
    """The arm at the start of its schedule."""
    running.reset()
    return running


@pytest.fixture(scope="module")
def robot():
    """The same without ROS."""
    return sd.Robot.from_urdf(tool.urdf())


def at(samples, stamp):
    """The last sample with a stamp, or None."""
    return next((sample for sample in reversed(samples) if sample.header.stamp == stamp), None)


def inject(driver, kind, target="", value=0.0, seconds=0.0):
    """Inject a fault: its answer."""
    duration = Duration(sec=int(seconds), nanosec=round(seconds % 1 * 1e9))
    return driver.call(InjectFault, "~/inject_fault", kind=kind, target=target, value=value, duration=duration)


def test_at_rest_the_imu_reads_gravity_upwards_and_the_tool_hangs_on_its_joint(arm, robot):
    stamp = arm.step(7).header.stamp
    imu = arm.wait(lambda: at(arm.imu, stamp), "a sample at the end of the steps")
    q = np.zeros(3)
    R = robot.forward_kinematics(q, "tool")[:3, :3]
    measured = messages.vector(imu.linear_acceleration) - (0.0, 0.0, 0.5)
    assert np.allclose(R @ measured, (0, 0, 9.81), atol=1e-9) and imu.header.frame_id == "tool"
    x, y, z, w = messages.quaternion(R)
    assert np.allclose([imu.orientation.x, imu.orientation.y, imu.orientation.z, imu.orientation.w], [x, y, z, w])
    assert imu.angular_velocity_covariance[::4] == pytest.approx([1e-6 * 200] * 3) and not imu.orientation_covariance[1]
    wrench = arm.wait(lambda: at(arm.wrenches, stamp), "a wrench at the end of the steps")
    assert wrench.header.frame_id == "tool"
    expected = tool.weight(robot, q, ("tool", "blade"))
    assert np.allclose(tool.in_root(robot, q, "tool", messages.wrench(wrench.wrench)), expected, atol=1e-9)


def test_samples_come_at_their_rates_of_simulated_time(arm):
    start = nanoseconds(arm.step(0).header.stamp)
    for _ in range(4):
        arm.step(50)
    for samples, period in ((arm.imu, 5), (arm.wrenches, 2)):
        expected = {start + step * MS for step in range(period, 201, period)} | {start + 150 * MS, start + 50 * MS}
        arm.wait(lambda samples=samples, expected=expected: expected == {
            t for s in samples if (t := nanoseconds(s.header.stamp)) > start}, "all samples")


def test_newtons_law_from_what_is_published(arm, robot):
    """Positions and velocities of the robot give the momentum of tool and blade; its change is the impulse of weight,
    push and wrench. Every step is published, and the integrator is of first order."""
    wrench = Wrench(force=Vector3(x=3.0, z=-2.0), torque=Vector3(y=0.4))
    request, links = WrenchStamped(wrench=wrench), ("tool", "blade")
    request.header.frame_id = "tool"
    assert arm.call(ApplyWrench, "~/apply_wrench", wrench=request, duration=Duration(sec=10)).success
    start = np.zeros(3)
    carried = tool.weight(robot, start, links) + tool.in_root(robot, start, "tool", messages.wrench(wrench))

    def is_held():      # samples of one time differ by what acts, and come on a topic of their own
        return np.allclose(tool.in_root(robot, start, "tool", messages.wrench(arm.wrenches[-1].wrench)), carried)

    arm.wait(is_held, "a wrench with the push")
    arm.command(JOINTS, effort=[12.0, 3.0, 0.0])
    arm.fresh(lambda state: state.effort[0] == 12.0)
    arm.wait(lambda: not is_held(), "a wrench with the efforts")
    twin = Simulation(robot, Settings(joint_friction=False, command_timeout=0.0))
    twin.command(np.array([12.0, 3.0, 0.0]))
    twin.push("tool", messages.wrench(wrench), 10.0)
    before, impulse = np.zeros(6), np.zeros(6)
    for k in range(40):
        state = arm.step(1 if k else 0)
        if k:
            twin.advance(1)
        q = np.array(state.position)[:3] - (0.0, 0.125, 0.0)
        assert np.allclose(q, twin.q, atol=1e-15)
        sample = arm.wait(lambda stamp=state.header.stamp: at(arm.wrenches, stamp), "the wrench of a step")
        momentum = tool.momentum(robot, q, np.array(state.velocity)[:3], links)
        pushed = tool.in_root(robot, q, "tool", messages.wrench(wrench))
        measured = tool.in_root(robot, q, "tool", messages.wrench(sample.wrench))
        impulse = impulse + 1e-3 * (tool.weight(robot, q, links) + pushed - measured)
    last = 1e-3 * (tool.weight(robot, q, links) + pushed - measured)     # it acts after the last state
    assert np.allclose(momentum - before, impulse - last, atol=1e-3 * np.abs(momentum).max())
    assert np.abs(momentum[3:]).max() > 0.2


def test_a_scheduled_fault_acts_in_its_time_is_reported_and_starts_anew_after_a_reset(arm):
    for _ in range(2):
        arm.command(JOINTS, effort=[9.0, 3.0, 0.0])
        arm.fresh(lambda state: state.effort[0] == 9.0)
        arm.step(200)
        stuck = arm.step(1).position[1]
        status, values = arm.status(lambda status, values: "active faults" in values)
        assert status.level == b"\x01" and "joint_stuck elbow for another 0.099 s" in status.message
        assert arm.step(98).position[1] == stuck and arm.step(40).position[1] != stuck
        arm.reset()
        arm.status(lambda status, values: "active faults" not in values and status.level == b"\x00")


def test_a_lying_sensor_and_lost_messages_of_the_schedule(arm):
    arm.step(490)
    assert arm.step(5).position[2] == 0.0 and arm.step(10).position[2] == 0.25
    start = nanoseconds(arm.step(185).header.stamp) - 690 * MS      # step 690
    arm.states.clear()
    assert arm.call(Step, "~/step", steps=110).success
    arm.wait(lambda: [s for s in arm.states if nanoseconds(s.header.stamp) == start + 800 * MS], "the last state")
    steps = {(nanoseconds(state.header.stamp) - start) // MS for state in arm.states}
    assert steps - {690} == {750, 760, 770, 780, 790, 800}


def test_injected_faults_end_when_cleared_and_bad_ones_are_refused_by_name(arm):
    answer = inject(arm, InjectFault.Request.JOINT_STUCK, "knee")
    assert not answer.success and "unknown joint 'knee', the robot has shoulder, elbow" in answer.message
    answer = inject(arm, InjectFault.Request.SENSOR_FROZEN, "imu/base")
    assert not answer.success and "imu/tool" in answer.message
    assert inject(arm, InjectFault.Request.SENSOR_DROPPED, "elbow", 1.0).success
    state = arm.step(10)
    assert list(state.name) == ["shoulder", "tool_to_blade"] and len(state.position) == 2
    assert inject(arm, InjectFault.Request.SENSOR_FROZEN, "imu/tool").success
    assert inject(arm, InjectFault.Request.COMMANDS_LATE, value=0.02, seconds=1.5).success
    arm.status(lambda status, values: values.get("active faults") == "3")
    assert arm.call(Trigger, "~/clear_faults").success
    assert list(arm.step(10).name) == [*JOINTS, "finger"]
    arm.status(lambda status, values: "active faults" not in values)


def test_parameters_of_single_joints_are_taken_and_those_of_no_joint_noticed(arm):
    assert arm.step(0).position[1] == 0.125
    assert arm.get_parameter("position_bias.elbow") == 0.125
    assert "encoder_resolution.knee is not used: unknown joint, the robot has shoulder, elbow" in arm.process.output()
    assert "position_bias.elbow is not used" not in arm.process.output()


def test_samples_come_with_the_state_that_steps_end_in_and_with_others_when_they_are_due(monkeypatch, robot):
    monkeypatch.setattr(outputs, "SensorOutputs", MagicMock())
    node, runner = MagicMock(), SimpleNamespace(simulation=Simulation(robot, Settings()))
    node.settings.publish_rate, node.settings.frame_id, node.stamp_ns = 100.0, "base", lambda: 0     # every tenth step
    published = outputs.Outputs(node, Settings(), SimpleNamespace(trigger=""), False)
    published.follow(runner, np.arange(robot.n), np.arange(0))
    found = []
    for steps in (0, 7, 3, 10, 0, 1):
        runner.simulation.advance(steps)
        published.publish()
        found.append([given.kwargs["again"] for given in published._sensors.publish.call_args_list])
        published._sensors.publish.reset_mock()
    assert found == [[False], [False], [], [], [True], [False]]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("imus", "[wing]", "imus: unknown link 'wing', the model has base"),
        ("force_torques", "[wing]", "parameter force_torques: joint 'wing' does not exist"),
        ("fault_schedule", "['joint_stuck knee']", "unknown joint 'knee', the robot has shoulder, elbow"),
    ],
)
def test_what_the_robot_does_not_have_is_refused_with_what_it_has(start, name, value, message):
    parameters = {"robot_description": f"'{tool.urdf()}'", name: value}
    driver = start(Simulator, f"refused_{name}", parameters)
    status, _ = driver.status(lambda status, values: status.level == b"\x02")
    assert message in status.message


def test_lockstep_does_not_wait_for_the_answer_to_a_state_that_is_not_published(start):
    """The samples of all joints that joint_states has are lost, those of other joints are not."""
    parameters = {"robot_description": f"'{tool.urdf()}'", "start_paused": "true", "lockstep": "joint_states",
                  "joints": "[elbow]", "fault_schedule": "['sensor_dropped elbow 1']"}
    driver = start(Simulator, "lost", parameters)
    driver.status(lambda status, values: values.get("paused") == "True")
    answer = driver.call(Step, "~/step", steps=50)
    assert answer.success and not driver.states, answer.message
