"""A simulated robot with closed loops: it starts and stays closed, moves as its mechanism does, and its servos, brakes
and stops hold it. No ROS."""
import dataclasses
import re

import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.rollout.integrators import INTEGRATORS
from screw_dynamics.simulator.initial_state import default_modes
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support.loop_robots import LOOP, four_bar, four_bar_cut_at_c
from support.paths import ROOT
from support.simulations import FREE, NAN


@pytest.fixture(scope="module")
def loops():
    return ClosedLoopRobot.from_urdf(four_bar())


def simulate(loops, initial=None, modes=None, **settings):
    return Simulation(loops.robot, Settings(**{"command_timeout": 0.0, **settings}), initial, modes=modes)


def command(loops, **values):
    """A command of some joints."""
    c = np.full(loops.robot.n, NAN)
    for name, value in values.items():
        c[loops.robot.v_slices[name]] = value
    return c


def driven(loops, crank, steps=0, **settings):
    """A simulation under a command of the crank, after some steps."""
    simulation = simulate(loops, **settings)
    simulation.command(command(loops, A=crank))
    simulation.advance(steps)
    return simulation


def closed(loops, simulation):
    return np.abs(loops.residual(simulation.q)).max() < 2e-12 and np.abs(
        loops.jacobian(simulation.q) @ simulation.qd).max() < 1e-10 * max(1.0, np.abs(simulation.qd).max())


@pytest.mark.slow       # compiles the rollouts of mechanisms
def test_without_effort_it_moves_as_the_mechanism_does(loops):
    simulation = simulate(loops, {"A": 0.3}, **FREE)
    start = simulation.q
    assert start[0] == 0.3 and closed(loops, simulation)
    assert simulation.advance(200) == 200
    motion = loops.rollout(start, np.zeros(3), dt=1e-3, steps=200, integrator="semi_implicit_euler")
    assert np.abs(simulation.q - start).max() > 0.05
    np.testing.assert_allclose(simulation.q, motion.q[-1], atol=1e-9)
    np.testing.assert_allclose(simulation.qd, motion.qd[-1], atol=1e-8)
    assert closed(loops, simulation)


@pytest.mark.slow
def test_it_is_held_until_its_motor_is_commanded_and_passive_joints_are_free_then(loops):
    simulation = simulate(loops)
    start = simulation.q
    simulation.advance(20)
    np.testing.assert_array_equal(simulation.q, start)
    simulation.command(command(loops, B=5.0, C=5.0))        # of joints without a motor
    simulation.advance(20)
    np.testing.assert_array_equal(simulation.q, start)
    simulation.command(command(loops, A=1.0))
    expected = loops.forward_dynamics(start, np.zeros(3), (1.0, 0.0, 0.0)).qdd
    np.testing.assert_allclose(simulation.snapshot().effort, (1.0, 0.0, 0.0))
    np.testing.assert_allclose(simulation.snapshot().qdd, expected, rtol=1e-5)    # of a step, at whose end loops close
    simulation.advance(1)
    np.testing.assert_allclose(simulation.qd, 1e-3 * expected, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["position", "velocity"])
def test_servos_do_what_the_mechanism_takes(loops, mode):
    simulation = driven(loops, -0.4, 600, command_mode=mode)
    q, rest = simulation.q, np.zeros(3)
    snapshot = simulation.snapshot()
    if mode == "position":
        assert abs(q[0] + 0.4) < 1e-6
        np.testing.assert_allclose(snapshot.effort, loops.inverse_dynamics(q, rest, rest, actuated="A").tau, atol=1e-4)
    else:
        assert abs(simulation.qd[0] + 0.4) < 1e-6
    np.testing.assert_allclose(snapshot.effort[1:], 0.0, atol=1e-12)
    assert closed(loops, simulation)


@pytest.mark.slow
def test_a_servo_that_is_too_weak_gives_its_limit(loops):
    simulation = driven(loops, -0.5, command_mode="position", servo_bandwidth=400.0)
    assert simulation.snapshot().effort[0] == -30.0
    simulation.advance(3)
    assert simulation.saturated.tolist() == [3, 0, 0]
    np.testing.assert_allclose(simulation.snapshot().effort[1:], 0.0)


@pytest.mark.slow
def test_gravity_compensation_of_all_joints_holds_the_mechanism(loops):
    simulation = simulate(loops, {"A": 0.2}, dict.fromkeys("ABC", "effort"), command_timeout=0.01,
                          on_timeout="gravity_compensation")
    simulation.command(np.zeros(3))
    simulation.advance(10)
    speed = np.abs(simulation.qd).max()
    simulation.advance(100)
    assert 0.0 < np.abs(simulation.qd).max() < 1.5 * speed


@pytest.mark.slow
def test_brakes_stop_it_and_let_it_be(loops):
    simulation = driven(loops, 5.0, 100, command_timeout=0.1, on_timeout="hold")
    assert np.abs(simulation.qd).max() > 0.1
    simulation.advance(2)
    stopped = simulation.q
    simulation.advance(50)
    np.testing.assert_allclose(simulation.q, stopped, atol=1e-12)
    assert not simulation.qd[0] and np.abs(simulation.qd).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("effort", "stop"), [(20.0, 0.5), (-20.0, -0.6)])
def test_a_stop_takes_the_velocity_of_the_whole_mechanism(loops, effort, stop):
    simulation = driven(loops, effort, joint_friction=False)
    energy = []
    for _ in range(24):
        simulation.advance(20)
        energy.append(float(loops.energy(simulation.q, simulation.qd)))
        assert closed(loops, simulation) and -0.6 <= simulation.q[0] <= 0.5
    assert simulation.q[0] == stop and np.abs(simulation.qd).max() < 1e-9
    assert simulation.fault is None and energy[-1] < max(energy)


@pytest.mark.slow       # kernels of each integrator
@pytest.mark.parametrize("method", [name for name in INTEGRATORS if name != "variational"])
def test_simulations_stick_slip_and_stop_too(method):
    """Of 6 N m friction of 3 in each joint leaves nothing, not a bit of motion; 30 bring the crank to its stop."""
    loops = ClosedLoopRobot.from_urdf(four_bar('<dynamics damping="0.1" friction="3"/>'))
    q, rest = loops.project((0.2, 0.0, 0.0), held="A"), np.zeros(3)
    held = loops.rollout(q, rest, (6.0, 0.0, 0.0), 1e-2, 50, method, friction=True)
    assert (held.q == q).all() and not held.qd.any()
    stopped = loops.rollout(q, rest, (30.0, 0.0, 0.0), 1e-2, 60, method, friction=True, limits=True)
    assert stopped.q[-1, 0] == 0.5 and np.abs(stopped.qd[-1]).max() < 1e-12 and stopped.residual.max() < 2e-12


@pytest.mark.slow
def test_a_push_moves_it(loops):
    simulation = simulate(loops, **FREE)
    wrench = np.array((0.0, 1.0, 0.0, 10.0, 0.0, 5.0))
    simulation.push("rocker", wrench, 0.01)
    expected = loops.forward_dynamics(simulation.q, np.zeros(3), np.zeros(3), {"rocker": wrench}).qdd
    np.testing.assert_allclose(simulation.snapshot().qdd, expected, rtol=1e-5)
    simulation.advance(20)
    assert closed(loops, simulation)


@pytest.mark.slow
def test_friction_is_taken_at_the_end_of_the_step():
    loops = ClosedLoopRobot.from_urdf(four_bar('<dynamics damping="1e5" friction="2"/>'))
    simulation = driven(loops, 25.0, 100)
    assert np.abs(simulation.qd).max() < 1e-3 and closed(loops, simulation)


@pytest.mark.slow
def test_a_start_in_motion_is_closed_and_admissible(loops):
    simulation = simulate(loops, **FREE)
    simulation.reset_to(["A"], [-0.3], [1.5])
    assert simulation.q[0] == -0.3 and closed(loops, simulation) and simulation.qd[0] > 0.1
    simulation.reset()
    assert simulation.q[0] == 0.0 and not simulation.qd.any()


@pytest.mark.slow
def test_the_same_commands_give_the_same_bits_however_many_steps_are_made_at_a_time(loops):
    ends = []
    for stride in (1, 7, 60):
        simulation = driven(loops, 3.0, sensor_delay=0.005)
        while simulation.steps < 60:
            simulation.advance(min(stride, 60 - simulation.steps))
        ends.append(simulation.q.tobytes() + simulation.qd.tobytes() + simulation.joint_state().position.tobytes())
    assert len(set(ends)) == 1


@pytest.mark.slow
def test_joints_of_loops_without_an_effort_limit_are_passive_and_modes_say_otherwise(loops):
    assert simulate(loops)._commands.passive.tolist() == [False, True, True]
    assert simulate(loops, modes={"B": "effort"})._commands.passive.tolist() == [False, False, True]
    tree = sd.Robot.from_urdf(four_bar().replace(LOOP, ""))
    assert not Simulation(tree, Settings())._commands.passive.any()
    assert Simulation(tree, Settings(), modes={"C": "passive"})._commands.passive.tolist() == [False, False, True]
    without_limits = dataclasses.replace(loops.robot.model, effort_limit=np.full(3, np.inf))
    assert default_modes(without_limits, "effort") == dict.fromkeys("ABC", "effort")


def test_drives_that_carry_gravity_are_refused(loops):
    with pytest.raises(ValueError, match="drives_compensate has gravity"):
        simulate(loops, drives_compensate=("gravity",))


def test_an_integrator_for_trees_alone_is_refused(loops):
    with pytest.raises(ValueError, match="integrator is variational, must be one of semi_implicit_euler, rk4, "):
        simulate(loops, integrator="variational")


@pytest.mark.slow       # kernels of each integrator for driven motion
@pytest.mark.parametrize("integrator", ["rk4", "implicit_midpoint", "sdirk2"])
def test_integrators_keep_their_order_in_a_driven_mechanism(loops, integrator):
    """The end of 0.24 s under a torque converges as fast as the order says."""
    ends = []
    for dt in (8e-3, 4e-3, 2e-3, 5e-4):
        simulation = driven(loops, 6.0, round(0.24 / dt), integrator=integrator, dt=dt, enforce_limits=False)
        assert closed(loops, simulation)
        ends.append(np.r_[simulation.q, simulation.qd])
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    order = 4 if integrator == "rk4" else 2
    assert errors[0] / errors[1] > 0.8 * 2 ** order and errors[2] < (1e-6 if order == 4 else 1e-3)


@pytest.mark.slow
def test_force_torque_sensors_do_not_know_where_the_loop_is_cut():
    """The same mechanism cut at D and cut at C: what the motor's joint transmits is the same, at rest and in motion."""
    found = []
    for text, names in (four_bar(), "ABC"), (four_bar_cut_at_c(), "ABD"), (four_bar_cut_at_c(turned=True), "ABD"):
        loops = ClosedLoopRobot.from_urdf(text)
        robot = loops.robot
        instrumented = sd.Robot(model_of(text, apart=("A",)), robot.gravity)
        simulation = Simulation(robot, Settings(force_torques=("A",), command_timeout=0.0, enforce_limits=False),
                                modes=dict.fromkeys(names, "effort"), instrumented=instrumented)
        c = np.zeros(3)
        c[robot.v_slices["A"]] = 4.0
        simulation.command(c)
        measured = [simulation.force_torque("A")]
        q = loops.project(np.eye(3)[0] * -0.3, held=["A"])
        v = loops.project_velocity(q, np.eye(3)[0])
        simulation.reset_to(robot.joint_names, q, 1.5 * v / v[0])
        simulation.command(c)
        found.append([*measured, simulation.force_torque("A")])
    at_rest, moving = np.array(found).swapaxes(0, 1)
    assert abs(at_rest[0]).max() > 1.0
    np.testing.assert_allclose(at_rest[1:], at_rest[[0, 0]], atol=1e-4)     # of accelerations over a step
    assert abs(moving[0] - at_rest[0]).max() > 1.0
    np.testing.assert_allclose(moving[1:], moving[[0, 0]], atol=2e-2)       # which differ by dt qd'' between cuts


@pytest.mark.slow
def test_loops_that_cannot_be_closed_are_named():
    far = ClosedLoopRobot.from_urdf(four_bar().replace('xyz="0.8 0 0"/><axis', 'xyz="5 0 0"/><axis'))
    with pytest.raises(ValueError, match="the constraints are inconsistent .* it is left in 'D' .3.26."):
        simulate(far)


@pytest.mark.slow
@pytest.mark.parametrize(("dt", "effort", "says"), [
    (0.9, 1e5, "loops opened in a step, a shorter dt may help: .*'D'"), (1e-3, 1e300, "loops opened|is not finite")])
def test_what_tears_it_apart_is_a_fault(loops, dt, effort, says):
    simulation = driven(loops, effort, dt=dt, servo_bandwidth=0.1, enforce_limits=False)
    assert simulation.advance(5) < 5
    assert re.search(says, simulation.fault), simulation.fault
    assert np.isfinite(simulation.q).all() and np.isfinite(simulation.qd).all()


@pytest.mark.slow       # the kernels of loops on a floating base
def test_a_leg_stands_on_its_servos_in_the_air_and_falls():
    """The base of the leg of docs/closed_loops.md is free: its servos do not hold it."""
    leg = ClosedLoopRobot.from_urdf(ROOT / "urdf" / "closed_loop_leg.urdf", floating_base=True)
    motors = {"hip_roll": 0.0, "hip_yaw": 0.1, "hip_pitch": -0.2, "knee": 0.3, "crank": 0.1}
    simulation = Simulation(leg.robot, Settings(command_mode="position", command_timeout=0.0))
    start = leg.robot.center_of_mass(simulation.q)
    simulation.command(np.r_[[0.0] * 6, [motors.get(name, NAN) for name in simulation.joint_names]])
    simulation.advance(200)
    assert closed(leg, simulation) and simulation.fault is None
    for name, wanted in motors.items():
        assert abs(simulation.q[leg.robot.q_slices[name]][0] - wanted) < 1e-3, name
    fallen = leg.robot.center_of_mass(simulation.q) - start
    np.testing.assert_allclose(fallen, (0, 0, -0.5 * 9.81 * 0.2 ** 2), atol=2e-3)
