"""The simulated robot on a floating base: laws of mechanics, what acts, what is measured. No ROS."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.description.urdf.reader import model_of
from screw_dynamics.model.floating_base import floating_base
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import floating_robots as robots
from support.simulations import FREE, NAN

G = 9.81
POSE = (0.3, -0.2, 5.0, 0.1, -0.2, 0.3, 0.9)     # the quaternion is normalized
TWIST = (1.0, -2.0, 0.5, 0.4, 0.2, 3.0)


@pytest.fixture(scope="module")
def hopper():
    return sd.Robot.from_urdf(robots.hopper(), floating_base=True)


@pytest.fixture(scope="module")
def quadrotor():
    return sd.Robot.from_urdf(robots.quadrotor(), floating_base=True)


def wrench(*values, joints=0):
    """A command of the base alone."""
    return np.array([*values, *[NAN] * joints])


@pytest.mark.parametrize("integrator, digits", [
    pytest.param("rk4", 1e-9, marks=pytest.mark.slow), ("semi_implicit_euler", 5e-3)])
def test_in_free_fall_it_falls_by_g_t_t_over_2_and_keeps_its_angular_momentum(hopper, integrator, digits):
    """The Euler method's error is of the first order in its step, 1 ms."""
    simulation = Simulation(hopper, Settings(
        **FREE, integrator=integrator, initial_base_pose=POSE, initial_base_twist=TWIST))
    q, v = simulation.q, simulation.qd
    velocity = hopper.center_of_mass_jacobian(q) @ v
    assert simulation.advance(500) == 500
    t = 0.5
    expected = hopper.center_of_mass(q) + t * velocity - (0.0, 0.0, 0.5 * G * t * t)
    np.testing.assert_allclose(hopper.center_of_mass(simulation.q), expected, atol=digits)
    np.testing.assert_allclose(hopper.centroidal_momentum(simulation.q, simulation.qd)[:3],
                               hopper.centroidal_momentum(q, v)[:3], atol=digits)
    assert abs(np.linalg.norm(simulation.q[3:7]) - 1.0) < 1e-15


def test_it_is_held_until_anything_is_commanded(hopper):
    simulation = Simulation(hopper, Settings(initial_base_pose=POSE))
    start = simulation.q
    simulation.advance(50)
    np.testing.assert_array_equal(simulation.q, start)
    np.testing.assert_allclose(simulation.snapshot().effort, hopper.gravity_torque(start), atol=1e-9)
    simulation.command(np.array([NAN] * 6 + [0.0, NAN]))    # the hip: the shin is held by its brake, the base is not
    simulation.advance(50)
    assert simulation.q[2] < start[2] - 0.01 and simulation.q[8] == start[8] and simulation.qd[7] == 0.0


def test_the_wrench_on_the_base_is_an_effort(quadrotor):
    simulation = Simulation(quadrotor, Settings(initial_base_pose=POSE))
    efforts = np.array([1e-3, -2e-3, 1e-3, 0.1, 0.2, 12.0])
    simulation.command(efforts)
    start = simulation.q
    simulation.advance(100)
    _, q, v = quadrotor.rollout(start, np.zeros(6), efforts, steps=100)
    np.testing.assert_array_equal(simulation.q, q[-1])
    np.testing.assert_array_equal(simulation.qd, v[-1])


@pytest.mark.parametrize("on_timeout", ["zero", "hold", "gravity_compensation"])
def test_without_wrenches_for_a_while_nothing_acts_on_the_base(quadrotor, on_timeout):
    simulation = Simulation(quadrotor, Settings(command_timeout=0.1, on_timeout=on_timeout))
    weight = wrench(0, 0, 0, 0, 0, quadrotor.total_mass * G)
    simulation.command(weight)
    simulation.advance(99)
    np.testing.assert_allclose(simulation.q[:3], 0.0, atol=1e-12)
    assert not simulation.given_up.any()
    simulation.advance(101)
    assert simulation.given_up.all() and not simulation.at_command
    assert simulation.qd[5] == pytest.approx(-G * 0.1, rel=1e-9)


def test_a_push_on_a_link_is_that_wrench(hopper, rng):
    settings = Settings(**FREE, command_timeout=0.0, initial_base_pose=POSE)
    pushed, driven = Simulation(hopper, settings), Simulation(hopper, settings)
    W = rng.standard_normal(6)
    pushed.push("imu", W)
    driven.command(np.concatenate((pushed.base.wrench(W, "imu"), [NAN, NAN])))
    for simulation in (pushed, driven):
        simulation.advance(100)
    np.testing.assert_allclose(pushed.q, driven.q, atol=1e-12)
    np.testing.assert_allclose(pushed.qd, driven.qd, atol=1e-11)


def test_servos_brakes_and_faults_of_its_joints(hopper):
    """Nothing of it changes the momentum."""
    simulation = Simulation(hopper, Settings(
        command_mode="position", initial_base_pose=POSE, joint_friction=False), {"hip": 0.2})
    simulation.command(np.array([NAN] * 6 + [0.8, 0.1]))
    simulation.inject("joint_stuck", "slide", delay=0.1)
    simulation.advance(100)
    slide = simulation.q[8]
    simulation.advance(200)
    assert simulation.q[7] == pytest.approx(0.8, abs=1e-3) and simulation.q[8] == slide
    np.testing.assert_allclose(
        hopper.centroidal_momentum(simulation.q, simulation.qd),
        (0, 0, 0, 0, 0, -hopper.total_mass * G * 0.3), atol=5e-3)


def test_it_starts_anew_where_it_is_told_to(hopper):
    simulation = Simulation(hopper, Settings(initial_base_pose=POSE), {"hip": 0.2})
    pose, twist = np.array([1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8]), np.array(TWIST)
    simulation.reset_to(["slide"], [0.05], [0.1], base=(pose, twist))
    np.testing.assert_allclose(simulation.q, [*pose, 0.2, 0.05])
    np.testing.assert_array_equal(simulation.qd, [*twist, 0.0, 0.1])
    simulation.advance(10)
    assert simulation.q[2] > 3.0, "a start in motion releases it"
    simulation.reset_to(["hip"], [0.1])
    np.testing.assert_allclose(simulation.q[:7], np.array(POSE) / np.r_[1, 1, 1, [np.linalg.norm(POSE[3:])] * 4])
    noisy = Simulation(hopper, Settings(initial_base_pose=POSE, initial_noise=0.01, seed=3))
    assert 0.0 < hopper.distance(noisy.q, simulation.q) < 0.3 and abs(np.linalg.norm(noisy.q[3:7]) - 1.0) < 1e-15
    with pytest.raises(ValueError, match="unknown joint 'floating_base_x'"):
        simulation.reset_to(["floating_base_x"], [0.1])
    with pytest.raises(ValueError, match="initial_base_pose is .*: the quaternion must not be 0"):
        Settings(initial_base_pose=(0.0,) * 7)


def test_sensors_of_a_flying_robot(hopper):
    """In free fall an IMU feels nothing, nor does a sensor in a joint."""
    sensed = ("trunk_to_imu", "hip")
    settings = Settings(**FREE, imus=("trunk",), force_torques=sensed, initial_base_pose=POSE, sensor_delay=0.01)
    simulation = Simulation(hopper, settings, instrumented=sd.Robot(
        model_of(robots.hopper(), apart=sensed, floating_base=True)))
    pose = simulation.odometry().pose
    simulation.advance(10)
    np.testing.assert_array_equal(simulation.odometry().pose, pose)     # of 10 ms ago
    simulation.advance(100)
    imu = simulation.imu("trunk")
    np.testing.assert_allclose(imu.linear_acceleration, 0.0, atol=1e-9)
    np.testing.assert_allclose(imu.rotation, robots.matrix(simulation.odometry().pose)[:3, :3], atol=1e-12)
    for joint in sensed:
        np.testing.assert_allclose(simulation.force_torque(joint), 0.0, atol=1e-9)
    assert simulation.joint_state().names == robots.JOINTS


def test_odometry_fails_as_other_sensors_do(quadrotor):
    simulation = Simulation(quadrotor, Settings(**FREE, initial_base_twist=TWIST))
    simulation.advance(10)
    frozen = simulation.odometry()
    simulation.inject("sensor_frozen", "odom", duration=0.05)
    simulation.advance(20)
    np.testing.assert_array_equal(simulation.odometry().pose, frozen.pose)
    simulation.clear_faults()
    simulation.inject("sensor_offset", "odom", 0.5)
    np.testing.assert_allclose(simulation.odometry().pose, simulation.q + np.repeat([0.5, 0.0], [3, 4]))
    simulation.inject("sensor_dropped", "odom", 1.0)
    assert simulation.odometry() is None
    with pytest.raises(ValueError, match="unknown joint 'floating_base', the robot has "):
        simulation.inject("joint_stuck", "floating_base")


def test_a_base_may_be_placed_away_from_the_root(rng):
    builder, placement = sd.ModelBuilder("world"), sd.se3.exp(rng.normal(size=6))
    builder.add_group_joint("free", "floating", "trunk", "world", placement, np.eye(6))
    robot = sd.Robot(builder.build())
    base, q = floating_base(robot.model), robot.random_configuration(seed=rng)
    C, pose = robot.forward_kinematics(q, "trunk"), base.pose(q)
    assert np.allclose(pose[:3], C[:3, 3]) and np.allclose(Rotation.from_quat(pose[3:]).as_matrix(), C[:3, :3])
    assert np.allclose(robot.difference(base.numbers(pose), q), 0.0)


def test_other_joints_on_groups_are_refused():
    with pytest.raises(ValueError, match="joint 'drift' is planar: only joints of one degree"):
        Simulation(sd.Robot.from_urdf(robots.hopper(robots.PLANAR)))
