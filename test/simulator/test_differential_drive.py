"""A base on two wheels: its kinematics are those of a rolling body, and in a scene its wheels drive it."""
import numpy as np
import pytest
from scipy.linalg import expm

import screw_dynamics as sd
from screw_dynamics.rollout.conservation import momentum_and_moment
from screw_dynamics.simulator.differential_drive import DifferentialDrive, Traveled
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support.touching_robots import CAR, RADIUS, SEPARATION, STANDING, WHEELS

DRIVE = DifferentialDrive(WHEELS[:1], WHEELS[1:], RADIUS, SEPARATION)


@pytest.mark.parametrize("turn", [0.0, 1e-8, 1e-3, 0.7, -2.5])
def test_an_arc_is_the_exponential_of_a_planar_twist(turn):
    start = Traveled(0.3, -0.2, 0.4)
    end = start.along(1.3, turn)

    def pose(x, y, yaw):
        return np.array([[np.cos(yaw), -np.sin(yaw), x], [np.sin(yaw), np.cos(yaw), y], [0, 0, 1]])
    moved = pose(*start) @ expm(np.array([[0, -turn, 1.3], [turn, 0, 0], [0, 0, 0]]))
    np.testing.assert_allclose(pose(*end), moved, atol=1e-12)


def test_speeds_and_what_they_move_are_inverse():
    speeds = DRIVE.speeds(0.7, -0.3)
    np.testing.assert_allclose(DRIVE.moved([speeds[wheel] for wheel in WHEELS]), (0.7, -0.3), rtol=1e-12)
    with pytest.raises(ValueError, match=r"angular.z is nan"):
        DRIVE.speeds(0.0, np.nan)
    with pytest.raises(ValueError, match="wheel 'a' is on both sides"):
        DifferentialDrive(("a",), ("a",), 0.1, 0.4)
    with pytest.raises(ValueError, match="radius of the wheels is 0"):
        DifferentialDrive(("a",), ("b",), 0.0, 0.4)


def momentum(simulation):
    """Along x of the world, in N s."""
    return momentum_and_moment(simulation.robot, simulation.q, simulation.qd)[0][3]


@pytest.mark.slow          # kernels of contacts take a minute to compile
def test_wheels_drive_a_base_without_slip_and_spin_on_ice():
    robot = sd.Robot.from_urdf(CAR, floating_base=True)
    scene = sd.Scene(robot, ground=True, materials={"caster": 0.0})
    simulation = Simulation(robot, Settings(initial_base_pose=STANDING, command_timeout=0.0),
                            modes=dict.fromkeys(WHEELS, "velocity"), scene=scene)

    def drive(forward, turning, steps):
        command = np.full(robot.n, np.nan)
        for wheel, speed in DRIVE.speeds(forward, turning).items():
            command[robot.v_slices[wheel]] = speed
        simulation.command(command)
        simulation.advance(steps)
        return simulation.q[:7]

    drive(0.5, 0.0, 1000)
    assert simulation.qd[3] == pytest.approx(0.5, abs=1e-2)
    before, wheels = simulation.q[:7], simulation.q[7:]
    after = drive(0.5, 0.0, 500)
    distance, turn = DRIVE.moved(simulation.q[7:] - wheels)
    assert after[0] - before[0] == pytest.approx(distance, abs=1e-6) and abs(turn) < 1e-9      # it rolls
    simulation.inject("surface_slippery", "ground", 0.0)
    coasting = momentum(simulation)
    drive(-0.5, 0.0, 400)
    assert simulation.qd[robot.v_slices[WHEELS[0]]] == pytest.approx(-5.0, rel=1e-6)
    assert momentum(simulation) == pytest.approx(coasting, abs=1e-5)       # but for the error of the steps
