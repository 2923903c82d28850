"""The account of a simulation: what work, impulses and losses do not explain is the error of the integrator."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from support import floating_robots as robots
from support.loop_robots import four_bar
from support.simulations import FREE, NAN, simulate

SPAN = 0.3
TWIST = (1.0, -2.0, 0.5, 0.4, 0.2, 3.0)
OPEN = {"enforce_limits": False, "command_timeout": 0.0, "energy_balance": True}


def commanded(robot, **settings):
    """A simulation in motion under a command and a push."""
    simulation = simulate(robot, {"shoulder": 0.4, "elbow": -0.3}, **OPEN, **settings)
    simulation.reset_to(["shoulder"], [0.4], [1.0])
    simulation.command(np.array([0.7, -0.4]))
    simulation.push(robot.link_names[-1], (0.0, 0.5, 0.0, 3.0, 0.0, 1.0))
    return simulation


@pytest.fixture(scope="module")
def hopper():
    return sd.Robot.from_urdf(robots.hopper(), floating_base=True)


@pytest.mark.slow
@pytest.mark.parametrize("integrator, order", [("semi_implicit_euler", 1), ("rk4", 4)])
@pytest.mark.parametrize("mode", ["effort", "velocity", "position"])
@pytest.mark.parametrize("friction", [False, True])
def test_what_is_left_of_energy_falls_with_the_order_of_the_integrator(robot, mode, integrator, order, friction):
    """Under pushes, servos and friction; with dry friction, which holds a joint for a while, that is 1."""
    left = []
    for dt in (4e-3, 2e-3, 1e-3):
        simulation = commanded(robot, dt=dt, integrator=integrator, command_mode=mode, joint_friction=friction)
        simulation.advance(round(SPAN / dt))
        account = simulation.account()
        assert abs(account.work) > 0.1 and (account.friction > 1e-3) == friction and account.stops == 0.0
        assert account.momentum_residual is None
        left.append(abs(account.energy_residual))
    assert np.log2(left[0] / left[-1]) > 2 * (min(order, 1 if friction else 4) - 0.3), left
    assert left[-1] < (1.0 if order == 1 else 1e-4 if friction else 1e-6), left


@pytest.mark.slow       # compiles kernels that no other test needs
def test_what_is_left_of_momentum_under_a_wrench_and_a_push(hopper):
    for on_base, off in ((True, 1e-6), (False, 1e-8)):
        simulation = simulate(hopper, integrator="rk4", initial_base_twist=TWIST, **OPEN)
        wrench = [0.3, 0.2, -0.1, 1.0, -2.0, 60.0]
        simulation.command(np.array([*wrench, NAN, NAN] if on_base else [NAN] * 6 + [1.0, -3.0]))
        if on_base:
            simulation.push("shin", (0.1, 0.0, 0.2, 1.0, 2.0, 3.0), 0.1)
        simulation.advance(300)
        account = simulation.account()
        assert np.abs(account.momentum_residual).max() < off and abs(account.energy_residual) < 10 * off
        assert np.abs(hopper.centroidal_momentum(simulation.q, simulation.qd)[3:]).max() > 0.5


@pytest.mark.slow
def test_an_error_of_the_integrator_is_seen(hopper):
    left = []
    for dt in (2e-3, 1e-3):
        simulation = simulate(hopper, dt=dt, initial_base_twist=TWIST, **FREE, energy_balance=True)
        start = simulation.robot.centroidal_momentum(simulation.q, simulation.qd)
        simulation.advance(round(SPAN / dt))
        end = simulation.robot.centroidal_momentum(simulation.q, simulation.qd)
        left.append(simulation.account().momentum_residual)
        weight = np.array([0.0, 0.0, 9.81 * hopper.total_mass])
        np.testing.assert_allclose(left[-1][3:], end[3:] - start[3:] + SPAN * weight, atol=1e-9)
    assert 1.7 < np.linalg.norm(left[0]) / np.linalg.norm(left[1]) < 2.3


def test_stops_and_brakes_are_counted(robot):
    """The elbow falls against its stop; then the brake catches both joints, as no command comes."""
    simulation = simulate(robot, {"elbow": 1.0}, integrator="rk4", energy_balance=True, on_timeout="hold",
                          command_timeout=SPAN, joint_friction=False)
    simulation.command(np.zeros(2))
    simulation.advance(round(SPAN / 1e-3))
    before = robot.kinetic_energy(simulation.q, simulation.qd)
    taken = simulation.account().stops
    simulation.advance(10)
    account = simulation.account()
    assert not simulation.qd.any() and before > 0.01
    np.testing.assert_allclose(account.stops - taken, before, rtol=0.05)
    assert abs(account.energy_residual) < 1e-6


@pytest.mark.slow     # half a minute to compile, for this alone
def test_closed_loops_do_no_work():
    """Of a four-bar under an effort of its motor."""
    left = []
    for dt in (2e-3, 1e-3):
        simulation = simulate(ClosedLoopRobot.from_urdf(four_bar()).robot, {"A": 0.3}, dt=dt, **OPEN)
        simulation.command(np.array([2.0, NAN, NAN]))
        simulation.advance(round(SPAN / dt))
        account = simulation.account()
        assert abs(account.work) > 0.1 and account.stops == 0.0
        left.append(abs(account.energy_residual) / abs(account.work))
    assert left[1] < 0.1 and 1.7 < left[0] / left[1] < 2.3, left


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["effort", "position"])
def test_it_changes_no_bit_of_the_motion_and_does_not_depend_on_how_many_steps_are_made_at_once(robot, mode):
    counted, plain, single = (commanded(robot, command_mode=mode) for _ in range(3))
    plain._balance = None
    for simulation, steps in ((counted, 300), (plain, 300), *[(single, 1)] * 300):
        simulation.advance(steps)
        if simulation.steps % 60 == 0:
            simulation.account()            # which may be asked for at any time
    np.testing.assert_array_equal(counted.q, plain.q)
    np.testing.assert_array_equal(counted.qd, plain.qd)
    np.testing.assert_allclose(counted.account()[:4], single.account()[:4], rtol=1e-9, atol=1e-9)
    assert plain.account() is None


@pytest.mark.slow
def test_it_begins_anew_with_a_reset_and_with_other_gravity(robot):
    simulation = commanded(robot)
    simulation.advance(100)
    assert simulation.account().work
    simulation.robot = robot.with_gravity((0.0, 0.0, -1.6))
    assert simulation.account()[:4] == (0.0, 0.0, 0.0, 0.0)
    simulation.advance(100)
    assert abs(simulation.account().energy_residual) < 0.1
    simulation.reset()
    assert simulation.account()[:4] == (0.0, 0.0, 0.0, 0.0)


def test_what_constrains_configurations(robot):
    """Limits, and what whoever makes a simulation adds."""
    simulation = simulate(robot, {"elbow": 0.5})
    simulation.residuals["a loop [m]"] = lambda q: float(abs(q.sum() - 0.5))
    assert {name: of(simulation.q) for name, of in simulation.residuals.items()} == {
        "position limits [rad or m]": 0.0, "a loop [m]": 0.0}
    assert not simulate(robot, enforce_limits=False).residuals
