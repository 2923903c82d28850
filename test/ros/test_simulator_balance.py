"""What the diagnostics of simulator_node say of energy and momentum, over real DDS."""
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped

import screw_dynamics as sd
from screw_dynamics.description.urdf.error import UrdfWarning
from screw_dynamics.rollout.conservation import momentum_and_moment
from screw_dynamics.ros.simulator.health import conserved
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import floating_robots as robots
from support import planar_arm as arm
from support.simulator_driver import Simulator

POSE, TWIST = (0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0), (1.0, -2.0, 0.5, 0.4, 0.2, 3.0)
SETTINGS = {"initial_base_pose": POSE, "initial_base_twist": TWIST, "integrator": "rk4", "enforce_limits": True,
            "command_timeout": 0.0, "energy_balance": True}
STEPS = 50      # before the shin is at its stop
WRENCH = np.array([0.3, 0.2, -0.1, 1.0, -2.0, 60.0])


@pytest.fixture(scope="module")
def hopper(start_for_all):
    parameters = {name: str(list(value)) if isinstance(value, tuple) else str(value).lower()
                  for name, value in SETTINGS.items()}
    parameters |= {"robot_description": f"'{robots.hopper()}'", "floating_base": "true", "start_paused": "true"}
    return start_for_all(Simulator, "balanced", parameters)


def numbers(text):
    return np.array(text.split(), dtype=float)


@pytest.mark.slow       # the kernels of rk4 on a floating base
def test_energy_and_momentum_and_what_is_left_of_them_are_in_the_diagnostics(hopper):
    robot = sd.Robot.from_urdf(robots.hopper(), floating_base=True)
    twin = Simulation(robot, Settings(**SETTINGS))
    hopper.fresh()
    message = WrenchStamped()
    message.header.frame_id = "trunk"
    for vector, values in ((message.wrench.torque, WRENCH[:3]), (message.wrench.force, WRENCH[3:])):
        vector.x, vector.y, vector.z = values.tolist()
    hopper.publisher(WrenchStamped, "base_wrench", 1).publish(message)
    hopper.status(lambda status, values: float(values.get("command rate [Hz]", 0)) > 0)
    twin.command(np.array([*WRENCH, np.nan, np.nan]))
    hopper.step(STEPS)
    twin.advance(STEPS)
    status, values = hopper.status(lambda status, values: values["steps since the last reset"] == str(STEPS))
    momentum, account = momentum_and_moment(robot, twin.q, twin.qd)[0], twin.account()
    for name, expected in {
            "kinetic energy [J]": robot.kinetic_energy(twin.q, twin.qd),
            "potential energy [J]": robot.potential_energy(twin.q),
            "angular momentum [N m s]": momentum[:3], "linear momentum [N s]": momentum[3:],
            "work of efforts and pushes [J]": account.work, "taken by friction [J]": 0.0,
            "constraint residual: position limits [rad or m]": 0.0}.items():
        np.testing.assert_allclose(numbers(values[name]), np.atleast_1d(expected), rtol=1e-5, atol=1e-9, err_msg=name)
    assert account.work > 0.5 and account.stops == 0.0
    assert abs(float(values["energy balance residual [J]"])) < 1e-6
    assert np.abs(numbers(values["angular momentum residual [N m s]"])).max() < 1e-6
    assert np.abs(numbers(values["linear momentum residual [N s]"])).max() < 1e-6


def test_contacts_that_are_not_solved_are_in_the_diagnostics_of_a_scene(monkeypatch):
    robot = sd.Robot.from_urdf(arm.urdf())
    with pytest.warns(UrdfWarning, match="touches nothing"):
        simulation = Simulation(robot, Settings(), scene=sd.Scene(robot, ground=True))
    monkeypatch.setattr(simulation, "unsolved", 0.3)
    assert conserved(simulation)["contacts not solved [m/s]"] == "0.3"
    assert "contacts not solved [m/s]" not in conserved(Simulation(robot, Settings()))


def test_what_is_left_of_a_momentum_is_said_angular_first(monkeypatch):
    simulation = Simulation(sd.Robot.from_urdf(arm.urdf()), Settings())
    monkeypatch.setattr(simulation, "account", lambda: SimpleNamespace(
        work=1.0, friction=2.0, stops=3.0, energy_residual=4.0, momentum_residual=np.arange(5.0, 11.0)))
    values = conserved(simulation)
    assert values["angular momentum residual [N m s]"] == "5 6 7"
    assert values["linear momentum residual [N s]"] == "8 9 10"
    assert [values[name] for name in ("work of efforts and pushes [J]", "taken by friction [J]",
                                      "taken by stops and brakes [J]", "energy balance residual [J]")] == [*"1234"]
