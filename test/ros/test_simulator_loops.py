"""simulator_node and dynamics_node with a robot_description that closes a loop, over real DDS."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support.arm_driver import ArmDriver
from support.loop_robots import four_bar
from support.simulator_driver import Simulator

pytestmark = pytest.mark.slow
SETTINGS = {"command_timeout": 0.0}
PARAMETER = "'{}'".format(four_bar().replace("'", '"'))


@pytest.fixture(scope="module")
def simulator(start_for_all):
    simulator = start_for_all(Simulator, "four_bar", {
        "robot_description": PARAMETER, "start_paused": "true", "initial_positions.A": "0.2", "command_timeout": "0.0"})
    simulator.fresh()
    return simulator


def test_the_simulator_closes_the_loop_and_says_how_well(simulator):
    robot = sd.Robot(model_of(four_bar()))
    twin = Simulation(robot, Settings(**SETTINGS), {"A": 0.2})
    start = simulator.fresh()
    np.testing.assert_allclose(start.position, twin.q, atol=1e-15)
    simulator.command(["A", "B"], effort=[3.0, 9.0])
    simulator.fresh(lambda state: state.effort[0] == 3.0)
    twin.command(np.array((3.0, np.nan, np.nan)))
    twin.advance(100)
    state = simulator.step(100)
    assert list(state.name) == ["A", "B", "C"] and abs(state.position[0] - 0.2) > 0.005
    np.testing.assert_array_equal(state.position, twin.q)
    np.testing.assert_array_equal(state.velocity, twin.qd)
    assert np.abs(ClosedLoopRobot(robot).residual(np.array(state.position))).max() < 2e-12
    _, values = simulator.status(lambda status, values: values["steps since the last reset"] == "100")
    assert 0.0 <= float(values["constraint residual: D [m or rad]"]) < 2e-12
    assert simulator.get_parameter("command_interfaces.A") == "effort"
    assert simulator.get_parameter("command_interfaces.B") == "passive"
    said = simulator.process.output()
    assert "left open" not in said and "closed loops and gears: D\n" in said


def test_a_joint_of_the_loop_may_be_driven_instead(simulator):
    assert simulator.set_parameter("command_interfaces.C", "position") == ""
    simulator.reset()
    start = simulator.fresh()
    simulator.command(["C"], position=[start.position[2] - 0.1])
    simulator.command(["A"], effort=[0.0])
    simulator.fresh(lambda state: state.effort[2] != 0.0 and state.effort[1] == 0.0)
    state = simulator.step(300)
    assert abs(state.position[2] - start.position[2] + 0.1) < 1e-3 and abs(state.position[0] - start.position[0]) > 0.01
    assert simulator.set_parameter("command_interfaces.C", "passive") == ""


def test_dynamics_node_names_the_loop_that_it_leaves_open(start):
    driver = start(ArmDriver, "open_loop", {"robot_description": PARAMETER})
    said = "loops and gears left open, this node computes with the tree alone: 'D'"
    driver.status(lambda status, values: said in values.get("model warnings", ""))
    assert driver.process.output().count(said) == 1
