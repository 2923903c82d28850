"""The laws of physics in the simulation: energy, periods, damping, pushes and brakes."""
import numpy as np
import pytest
from scipy.special import ellipk

import screw_dynamics as sd
from support import planar_arm as arm
from support.simulations import DT, FREE, NAN, commanded, simulate, track


def energy(simulation):
    robot = simulation.robot
    return robot.kinetic_energy(simulation.q, simulation.qd) + robot.potential_energy(simulation.q)


def energy_error(robot, integrator, dt):
    """How far the total energy strays in a second's fall, as a part of the largest kinetic energy in it."""
    simulation = simulate(robot, {"shoulder": 0.4, "elbow": 0.3}, integrator=integrator, dt=dt, **FREE)
    kinetic, total = [0.0], [energy(simulation)]
    for _ in range(50):
        simulation.advance(round(0.02 / dt))
        kinetic.append(robot.kinetic_energy(simulation.q, simulation.qd))
        total.append(energy(simulation))
    return np.ptp(total) / max(kinetic)


@pytest.mark.parametrize(
    ("integrator", "order", "error"), [("semi_implicit_euler", 1, 0.03), ("rk4", 4, 1e-7)]
)
def test_undamped_fall_keeps_its_energy_to_the_order_of_the_integrator(robot, integrator, order, error):
    coarse, fine = (energy_error(robot, integrator, dt) for dt in (2e-3, 1e-3))
    assert np.log2(coarse / fine) > order - 0.2
    assert fine < error


def test_period_of_a_pendulum_is_the_elliptic_integral():
    mass, length, rotational, amplitude = 1.3, 0.7, 0.02, 1.2
    builder = sd.ModelBuilder("base")
    inertia = np.eye(3) * rotational
    builder.add_screw("hinge", "bob", "base", axis=(0, 1, 0), mass=mass, com=(0, 0, -length), inertia=inertia)
    simulation = simulate(sd.Robot(builder.build()), {"hinge": amplitude}, integrator="rk4", **FREE)
    q = track(simulation, 4000)[:, 0]
    before = np.flatnonzero((q[:-1] > 0) & (q[1:] <= 0))
    crossings = before + q[before] / (q[before] - q[before + 1])
    measured = DT * np.diff(crossings)
    about_hinge = rotational + mass * length**2
    expected = 4 * np.sqrt(about_hinge / (mass * 9.81 * length)) * ellipk(np.sin(amplitude / 2) ** 2)
    assert np.allclose(measured, expected, rtol=1e-7)


def test_damping_brings_the_arm_to_rest_hanging_down(robot):
    simulation = simulate(robot, {"shoulder": 0.5}, hold_until_first_command=False)
    simulation.advance(60_000)
    assert np.allclose(arm.flange(simulation.q), (0, 0, -arm.L1 - arm.L2), atol=5e-2)   # as far as stiction lets it
    assert np.abs(simulation.qd).max() < 1e-3


def test_gravity_torque_as_command_lets_a_moving_arm_coast(robot):
    """Without friction its kinetic energy stays what it was: gravity does no work against what carries it."""
    simulation = simulate(robot, integrator="rk4", dt=1e-4, **FREE)
    simulation.reset_to(("shoulder", "elbow"), (0.1, 0.2), (0.5, -0.3))
    before = robot.kinetic_energy(simulation.q, simulation.qd)
    for _ in range(2000):
        simulation.command(robot.gravity_torque(simulation.q))
        simulation.advance(1)
    assert robot.kinetic_energy(simulation.q, simulation.qd) == pytest.approx(before, rel=1e-3)
    assert np.abs(simulation.q - (0.1, 0.2)).max() > 0.05


def test_a_braked_joint_makes_the_others_move_as_if_it_were_welded(robot):
    welded = sd.Robot.from_urdf(
        arm.urdf().replace('<joint name="elbow" type="revolute">', '<joint name="elbow" type="fixed">')
        .replace('<mimic joint="elbow" multiplier="-0.5"/>', "")
        .replace('<joint name="finger" type="revolute">', '<joint name="finger" type="fixed">')
    )
    simulation = commanded(robot, [0.7, NAN], 0, {"shoulder": 0.3})
    reference = simulate(welded, {"shoulder": 0.3})
    reference.command(np.array([0.7]))
    simulation.advance(400)
    reference.advance(400)
    assert simulation.q[1] == 0.0 and simulation.qd[1] == 0.0
    assert np.allclose((simulation.q[0], simulation.qd[0]), (reference.q[0], reference.qd[0]), rtol=1e-9)


def test_push_is_the_transposed_jacobian_and_ends(robot):
    simulation = simulate(robot, {"shoulder": 0.3, "elbow": 0.4}, **FREE)
    q, qd, wrench = simulation.q, simulation.qd, np.array([0.1, 2.0, 0.3, -4.0, 0.5, 6.0])
    simulation.push("flange", wrench, duration=3 * DT)
    simulation.push("flange", wrench, duration=2 * DT)
    for pushes in (2, 2, 1, 0, 0):
        tau = pushes * robot.jacobian(q, "flange").T @ wrench
        qd = qd + DT * robot.forward_dynamics(q, qd, tau)
        q = q + DT * qd
        simulation.advance(1)
        assert np.allclose(simulation.q, q, atol=1e-14) and np.allclose(simulation.qd, qd, atol=1e-12)


def test_brakes_carry_a_push_and_report_it(robot):
    simulation = simulate(robot, {"shoulder": 0.3})
    simulation.push("flange", (0, 0, 0, 0, 0, -5.0))
    simulation.advance(50)
    assert np.array_equal(simulation.q, (0.3, 0.0))
    expected = arm.gravity(simulation.q) - robot.jacobian(simulation.q, "flange").T @ (0, 0, 0, 0, 0, -5.0)
    assert np.allclose(simulation.joint_state().effort[:2], expected, atol=1e-12)


def test_push_until_a_reset_takes_the_place_of_the_one_before_on_its_link(robot):
    """And adds to those that end by themselves; a zero wrench ends it."""
    simulation = simulate(robot, {"shoulder": 0.3})
    down = np.array([0, 0, 0, 0, 0, -5.0])

    def carried():
        return arm.gravity(simulation.q) - simulation.joint_state().effort[:2]

    def caused(link, wrench):
        return robot.jacobian(simulation.q, link).T @ wrench

    for wrench in (4 * down, down):
        simulation.push("flange", wrench)
    assert np.allclose(carried(), caused("flange", down), atol=1e-12)
    simulation.push("flange", down, 0.01)
    simulation.push("upper_arm", 3 * down)
    simulation.push("flange", 2 * down)
    assert np.allclose(carried(), caused("flange", 3 * down) + caused("upper_arm", 3 * down), atol=1e-12)
    simulation.push("flange", 0 * down)
    assert np.allclose(carried(), caused("flange", down) + caused("upper_arm", 3 * down), atol=1e-12)
    simulation.advance(10)
    simulation.push("upper_arm", 0 * down)
    assert np.allclose(carried(), 0.0, atol=1e-12)
