"""Electric motors in the simulated robot: torques are commanded, and a supply's voltage limits them."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.simulator.windings import Windings, under_current_control

WINDING = sd.drive.Electric(resistance=0.4, inductance=2e-5, torque_constant=0.05, voltage=48.0)
RATIO, INERTIA = 60.0, 1e-4
STALL, NO_LOAD = 0.05 * 48.0 / 0.4 * RATIO, 48.0 / 0.05 / RATIO     # N m, rad/s, at the joint


@pytest.fixture(scope="module")
def robot():
    """A joint about the vertical, without limits of its own."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("waist", "column", "base", (0, 0, 1), mass=1.0, inertia=np.diag((0.1, 0.1, 0.08)))
    return sd.Robot(builder.build())


@pytest.mark.slow
def test_a_motor_that_gives_all_it_can_approaches_its_no_load_speed_as_one_of_direct_current(robot):
    """J w' = k V / R - k^2 / R w, at the joint: w = no-load speed (1 - exp(-t / tau)), without inductance."""
    driven = robot.with_drives({"waist": sd.Drive(INERTIA, RATIO, electric=WINDING)})
    simulation = Simulation(driven, Settings(dt=1e-4, hold_until_first_command=False))
    assert simulation.joint_names == ("waist",)
    simulation.command(np.array([1e6]))
    tau = (0.08 + RATIO**2 * INERTIA) * NO_LOAD / STALL
    for _ in range(3):
        simulation.advance(int(tau / 1e-4))
        t = simulation.steps * 1e-4
        assert simulation.qd[0] == pytest.approx(NO_LOAD * (1.0 - np.exp(-t / tau)), rel=1e-4 / tau)
        (current,), (voltage,) = simulation.windings.state(simulation.snapshot().effort, simulation.qd)
        assert voltage == pytest.approx(48.0, rel=1e-12)
        assert current == pytest.approx(48.0 / 0.4 * (1.0 - simulation.qd[0] / NO_LOAD), rel=1e-12)
    assert simulation.saturated[0] == simulation.steps
    t, _, qd = driven.rollout(np.zeros(2), np.zeros(2), np.array([0.0, 48.0]), dt=1e-5, steps=simulation.steps * 10,
                              every=simulation.steps * 10, integrator="rk4")      # with its inductance
    assert simulation.qd[0] == pytest.approx(qd[-1, 0], rel=2e-5 / 0.4 / tau + 1e-4 / tau)


@pytest.mark.parametrize("ratio", [60.0, -60.0])
def test_a_winding_feels_the_shaft_also_where_the_gear_turns_it_the_other_way(robot, ratio):
    """By the motor's two equations, n the ratio: torque = n k i, voltage = R i + k n q'."""
    i, rate = 2.0, 0.3
    torque, voltage = ratio * 0.05 * i, 0.4 * i + 0.05 * ratio * rate
    by_voltage = robot.with_drives({"waist": sd.Drive(INERTIA, ratio, electric=WINDING)})
    assert by_voltage.drive_torque([0.1, 0.2], [rate, i]) == pytest.approx([torque, -voltage], rel=1e-14)
    by_current = under_current_control(by_voltage)
    assert by_current.joint_names == ("waist",)
    (current,), (needed,) = Windings(by_current.model).state(np.array([torque]), np.array([rate]))
    assert (current, needed) == pytest.approx((i, voltage), rel=1e-14)


def test_within_its_voltage_a_torque_is_what_is_commanded(robot):
    driven = robot.with_drives({"waist": sd.Drive(INERTIA, RATIO, electric=WINDING)})
    simulation = Simulation(driven, Settings(hold_until_first_command=False))
    simulation.command(np.array([3.0]))
    simulation.advance(100)
    assert simulation.qd[0] == pytest.approx(3.0 * 0.1 / (0.08 + RATIO**2 * INERTIA), rel=1e-12)
    assert not simulation.saturated.any()
    low, high = simulation.robot.effort_bounds(simulation.qd)
    assert high[0] == pytest.approx(STALL * (1.0 - simulation.qd[0] / NO_LOAD), rel=1e-12) and low[0] < -STALL


@pytest.mark.slow
def test_behind_a_spring_it_holds_and_brakes_as_other_motors_do(robot):
    driven = robot.with_drives({"waist": sd.Drive(INERTIA, RATIO, 500.0, 1.0, electric=WINDING)})
    simulation = Simulation(driven, Settings(hold_until_first_command=False), modes={"waist": "position"})
    line = sd.drive.TorqueSpeed(STALL / RATIO, NO_LOAD * RATIO)
    plain = Simulation(robot.with_drives({"waist": sd.Drive(INERTIA, RATIO, 500.0, 1.0, torque_speed=line)}),
                       Settings(hold_until_first_command=False), modes={"waist": "position"})
    for each in (simulation, plain):
        each.command(np.array([np.nan, 0.4]))
        each.advance(1500)
    assert simulation.robot.joint_names == ("waist", "waist_motor") and abs(simulation.q - 0.4).max() < 1e-3
    assert np.array_equal(simulation.q, plain.q)


def test_a_drive_says_how_it_is_controlled(robot):
    current = sd.drive.Electric(0.4, 2e-3, 0.05, 48.0, control="current")
    driven = robot.with_drives({"waist": sd.Drive(INERTIA, RATIO, electric=current, thermal=sd.drive.Thermal(
        0.1, 2.0, 30.0))})
    assert driven.joint_names == robot.joint_names
    assert sd.Robot.from_urdf(driven.to_urdf()).model.drives["waist"].electric == current
    with pytest.raises(ValueError, match="control of Electric is 'torque', must be 'voltage' or 'current'"):
        sd.drive.Electric(0.4, 2e-3, 0.05, control="torque")
    arm = sd.Robot.from_urdf("urdf/spherical_arm.urdf")
    turned = sd.Drive(INERTIA, RATIO, electric=WINDING, coupling={"lift": 1.0})
    with pytest.raises(ValueError, match="drive of joint 'waist' is electric and rigid, and several joints turn it"):
        Simulation(arm.with_drives({"waist": turned}))
