"""Three robots in one process, each in a namespace, on one clock."""
import json
import sys

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import GetParameters
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.testing.driver import Driver
from screw_dynamics.testing.processes import Process
from screw_dynamics_interfaces.srv import Step
from support import planar_arm as arm
from support.graph import PATIENCE

pytestmark = pytest.mark.slow

ROBOTS = ("left", "middle", "right")
GEARED = arm.urdf(armature=(2.0, 0.5))
PARAMETERS = {
    "/**/screw_simulator": {"ros__parameters": {
        "robot_description": arm.urdf(), "publish_clock": True, "start_paused": True,
        "hold_until_first_command": False}},
    "/middle/screw_simulator": {"ros__parameters": {"robot_description": GEARED}},
    "/right/screw_simulator": {"ros__parameters": {"gravity": [0.0, 0.0, 0.0], "initial_positions.elbow": 0.5}},
}


@pytest.fixture(scope="module")
def process(ros, tmp_path_factory):
    folder = tmp_path_factory.mktemp("robots")
    (folder / "parameters.yaml").write_text(json.dumps(PARAMETERS))
    process = Process([sys.executable, "-m", "screw_dynamics.ros.simulator.node", "--robots", *ROBOTS, "--ros-args",
                       "--params-file", str(folder / "parameters.yaml")], folder / "log")
    yield process
    process.interrupt()
    process.end()


@pytest.fixture(scope="module")
def driver(process):
    driver = Driver("", (), process.check, patience=PATIENCE)
    for robot in ROBOTS:
        reset = f"/{robot}/screw_simulator/reset"
        driver.wait(lambda reset=reset: driver.ask(Trigger, reset).success, f"robot {robot}")
    yield driver
    driver.close()


def step(driver, robot, steps):
    """Make steps of one robot; its last state."""
    states = []
    subscription = driver.record(JointState, f"/{robot}/joint_states", states)
    driver.wait(lambda: states, "a first state")
    answer = driver.call(Step, f"/{robot}/screw_simulator/step", steps=steps)
    assert answer.success, answer.message
    driver.wait(lambda: any(state.header.stamp == answer.stamp for state in states), "the state after the steps")
    driver.node.destroy_subscription(subscription)
    return answer.stamp.sec * 10**9 + answer.stamp.nanosec, dict(zip(states[-1].name, states[-1].position, strict=True))


def test_each_has_its_services_parameters_and_time(driver):
    before = {robot: step(driver, robot, 0) for robot in ROBOTS}
    assert before["right"][1]["elbow"] == 0.5 and before["left"][1]["elbow"] == 0.0
    time, fallen = step(driver, "left", 200)
    assert time == before["left"][0] + 200_000_000 and fallen["shoulder"] < -0.01
    assert step(driver, "middle", 0) == before["middle"]
    assert step(driver, "right", 200)[1] == before["right"][1]            # no gravity
    values = [driver.call(GetParameters, f"/{robot}/screw_simulator/get_parameters", names=["gravity"]).values[0]
              for robot in ROBOTS]
    assert [value.double_array_value[2] for value in values] == [-9.81, -9.81, 0.0]


def test_one_has_armature_and_falls_as_without_ros(driver):
    _, before = step(driver, "middle", 0)
    _, fallen = step(driver, "middle", 200)
    twin, plain = (Simulation(sd.Robot.from_urdf(text), Settings(hold_until_first_command=False))
                   for text in (GEARED, arm.urdf()))
    assert [before[name] for name in arm.NAMES] == [0.0, 0.0]
    for simulation in (twin, plain):
        simulation.advance(200)
    assert [fallen[name] for name in twin.robot.joint_names] == twin.joint_state().position[:2].tolist()
    assert plain.q[0] < 1.5 * twin.q[0] < -0.01


def test_the_first_one_keeps_the_clock(driver):
    ticks = []
    driver.record(Clock, "/clock", ticks)
    driver.wait(lambda: ticks, "the clock")
    assert [info.node_namespace for info in driver.publishers("/clock")] == ["/left"]
    time, _ = step(driver, "left", 10)
    driver.wait(lambda: ticks[-1].clock.sec * 10**9 + ticks[-1].clock.nanosec == time, "a tick of the first robot's")


def test_each_reports_its_health(driver):
    found, arrays = {}, []
    driver.record(DiagnosticArray, "/diagnostics", arrays)

    def all_reported():
        found.update({status.hardware_id: status.message for array in arrays for status in array.status})
        return len(found) >= 3

    driver.wait(all_reported, "diagnostics of three robots")
    assert found == {f"/{robot}/screw_simulator": "paused" for robot in ROBOTS}


def test_it_ends_by_ctrl_c_without_a_fault(process, driver):
    process.interrupt()
    process.end()
    assert process._process.returncode == 0 and "Traceback" not in process.tail(), process.tail()
