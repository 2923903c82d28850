"""The sensors of joints: their errors, delay and losses, the same bits however the simulation is advanced."""
import numpy as np
import pytest

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import floating_robots as robots
from support.simulations import DT, FREE, simulate, track


def falling(robot, **settings):
    """The arm falls freely, so that each step has another state."""
    return simulate(robot, {"shoulder": 0.3, "elbow": -0.4}, **FREE, **settings)


def test_exact_sensors_report_the_state_itself(robot):
    simulation = falling(robot)
    simulation.advance(50)
    state = simulation.joint_state()
    assert np.array_equal(state.position[:2], simulation.q) and np.array_equal(state.velocity[:2], simulation.qd)
    assert not state.lost.any()


@pytest.mark.parametrize("joints", [2, 0])
def test_joints_of_a_floating_robot_are_reported_without_its_base(joints):
    """Whose numbers, seven, and velocities, six, come first; also of a robot that has no joint."""
    floating = sd.Robot.from_urdf(robots.hopper() if joints else robots.quadrotor(), floating_base=True)
    simulation = Simulation(floating, Settings(**FREE, initial_base_twist=(1.0, -2.0, 0.5, 0.4, 0.2, 3.0)))
    simulation.command(np.append(np.full(6, np.nan), [2.0, -3.0][:joints]))
    simulation.advance(100)
    state = simulation.joint_state()
    assert state.position.tolist() == simulation.q[7:].tolist() and len(state.position) == joints
    assert state.velocity.tolist() == simulation.qd[6:].tolist()
    assert state.effort.tolist() == [2.0, -3.0][:joints]


def test_a_joint_has_its_own_errors_and_others_those_of_the_settings(robot):
    own = {"elbow": {"position_bias": 0.5, "velocity_bias": -1.0, "encoder_resolution": 0.2}}
    simulation = Simulation(robot, Settings(position_bias=0.1, velocity_bias=0.2), joint_sensors=own)
    state = simulation.joint_state()
    assert np.allclose(state.position, (0.1, 0.4, -0.2), atol=1e-15)    # 0.5 in steps of 0.2; the finger mimics that
    assert np.allclose(state.velocity, (0.2, -1.0, 0.5), atol=1e-15)


def test_encoder_reports_whole_steps_of_its_resolution_nearest_to_the_position(robot):
    simulation = falling(robot, encoder_resolution=0.01)
    seen = []
    for _ in range(200):
        simulation.advance(1)
        seen.append(simulation.joint_state().position[:2] - simulation.q)
        counts = simulation.joint_state().position[:2] / 0.01
        assert np.allclose(counts, np.round(counts), atol=1e-9)
    assert 0.004 < np.abs(seen).max() <= 0.005 + 1e-12


def test_noise_of_efforts_has_its_size(robot):
    simulation = simulate(robot, effort_noise=0.3, effort_bias=2.0)
    reported, true = [], simulate(robot).joint_state().effort[:2]
    for _ in range(2000):
        reported.append(simulation.joint_state().effort[:2] - true)
        simulation.advance(1)
    assert np.allclose(np.std(reported, axis=0), 0.3, rtol=0.1)
    assert np.allclose(np.mean(reported, axis=0), 2.0, atol=0.03)


@pytest.mark.parametrize("chunks", [(1,), (200,), (7, 64, 3)])
def test_delay_reports_what_was_so_many_steps_ago_however_it_is_advanced(robot, chunks):
    true = falling(robot)
    positions = track(true, 200)
    simulation = falling(robot, sensor_delay=25 * DT)
    k = 0
    while simulation.steps < 200:
        simulation.advance(min(chunks[k % len(chunks)], 200 - simulation.steps))
        k += 1
        assert np.array_equal(simulation.joint_state().position[:2], positions[max(0, simulation.steps - 25)])


def test_delayed_efforts_are_those_that_acted_then(robot):
    simulation = falling(robot, sensor_delay=10 * DT, command_timeout=0.0)
    for torque in range(40):
        simulation.command(np.array([torque, 0.0]))
        assert simulation.joint_state().effort[0] == max(0, torque - 10)
        simulation.advance(1)


def test_delay_starts_anew_with_a_reset(robot):
    simulation = falling(robot, sensor_delay=0.02)
    start = simulation.q
    simulation.advance(100)
    simulation.reset()
    simulation.advance(15)
    assert np.array_equal(simulation.joint_state().position[:2], start)


def test_a_delay_over_a_time_in_which_all_joints_are_held(robot):
    simulation = simulate(robot, {"shoulder": 0.3}, sensor_delay=0.1)
    simulation.advance(1000)
    assert simulation.joint_state().position[0] == 0.3
    simulation.command(np.zeros(2))
    before = simulation.q
    simulation.advance(50)
    assert np.array_equal(simulation.joint_state().position[:2], before) and not np.array_equal(simulation.q, before)


def test_dropped_messages_are_a_share_and_belong_to_the_step(robot):
    lost = []
    simulation = simulate(robot, sensor_dropout=0.3, seed=4)
    for _ in range(3000):
        state = simulation.joint_state()
        assert state.lost.all() == state.lost.any() and np.array_equal(state.lost, simulation.joint_state().lost)
        lost.append(state.lost[0])
        simulation.advance(1)
    assert 0.27 < np.mean(lost) < 0.33


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"knee": {"position_noise": 0.1}}, "position_noise of joint 'knee': unknown joint, .* shoulder, elbow"),
        ({"elbow": {"color": 0.1}}, "joint 'elbow': color must be one of position_noise, "),
        ({"elbow": {"position_noise": -0.1}}, "position_noise of joint 'elbow' is -0.1, must be >= 0"),
        ({"elbow": {"effort_bias": float("nan")}}, "effort_bias of joint 'elbow' is nan, must be finite"),
    ],
)
def test_bad_sensor_of_a_joint_is_refused_by_name(robot, own, message):
    with pytest.raises(ValueError, match=message):
        Simulation(robot, joint_sensors=own)
