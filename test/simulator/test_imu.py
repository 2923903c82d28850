"""IMUs: what they read at rest, in free fall and on a turning link, and against Pinocchio and MuJoCo."""
import numpy as np
import pinocchio as pin
import pytest

import screw_dynamics as sd
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from support import planar_arm as arm
from support.real_robots import PATHS, real_robot
from support.simulations import DT, FREE, NAN, simulate

UR5 = "ur_description/urdf/ur5_robot.urdf"


def test_at_rest_it_reads_gravity_upwards_in_its_own_axes(robot):
    simulation = simulate(robot, {"shoulder": 0.3, "elbow": 0.4}, imus=("flange", "table", "base"))
    simulation.advance(10)
    for link in ("flange", "table", "base"):
        sample = simulation.imu(link)
        assert np.allclose(sample.rotation @ sample.linear_acceleration, (0, 0, 9.81), atol=1e-12)
        assert np.allclose(sample.rotation, robot.forward_kinematics(simulation.q, link)[:3, :3])
        assert not sample.angular_velocity.any()


def test_a_body_that_falls_and_spins_reads_zero_at_its_center_of_mass():
    builder = sd.ModelBuilder("world")
    builder.add_macro_joint("free", "float", "body", "world", inertia=np.diag([0.2, 0.2, 0.2, 3.0, 3.0, 3.0]))
    robot = sd.Robot(builder.build())
    simulation = simulate(robot, imus=("body",), **FREE)
    simulation.reset_to(robot.joint_names, np.linspace(0.1, 0.6, 6), (1, 2, 3, 0.4, 0.5, 0.6))
    for _ in range(5):
        simulation.advance(20)
        sample = simulation.imu("body")
        assert np.allclose(sample.linear_acceleration, 0.0, atol=1e-10)
        assert np.linalg.norm(sample.angular_velocity) > 0.5


def test_a_turning_link_reads_the_centripetal_acceleration_of_its_offset():
    radius, rate = 0.7, 3.0
    builder = sd.ModelBuilder("world")
    builder.add_screw("hinge", "disc", "world", axis=(0, 0, 1), mass=2.0, inertia=np.eye(3))
    placement = np.eye(4)
    placement[0, 3] = radius
    builder.add_fixed("rim", "disc", placement)
    simulation = simulate(sd.Robot(builder.build()), imus=("rim",), **FREE)
    simulation.reset_to(("hinge",), (0.2,), (rate,))
    simulation.advance(100)
    sample = simulation.imu("rim")
    assert np.allclose(sample.linear_acceleration, (-rate**2 * radius, 0, 9.81), atol=1e-9)
    assert np.allclose(sample.angular_velocity, (0, 0, rate), atol=1e-12)


def test_a_joint_driven_into_its_stop_reads_the_impact_and_then_rest(robot):
    simulation = simulate(robot, {"shoulder": 2.9}, imus=("upper_arm",), hold_until_first_command=False)
    simulation.inject("joint_stuck", "elbow")
    simulation.command(np.array([100.0, 0.0]))
    while simulation.q[0] < 3.0:
        before = simulation.qd[0], simulation.snapshot().qdd[0]
        simulation.advance(1)
    assert before[1] == pytest.approx(-before[0] / DT) or simulation.snapshot().qdd[0] == 0.0
    simulation.advance(10)
    sample = simulation.imu("upper_arm")
    assert np.allclose(sample.rotation @ sample.linear_acceleration, (0, 0, 9.81), atol=1e-9)


def moving_ur5(steps, **settings):
    """A UR5 that moves under efforts, with an IMU on each link."""
    robot = real_robot(UR5)
    simulation = Simulation(robot, Settings(imus=robot.link_names, **FREE, **settings))
    simulation.reset_to(robot.joint_names, np.linspace(-1.0, 1.0, 6), np.linspace(1.0, -2.0, 6))
    tau = robot.gravity_torque(simulation.q) + np.array([5.0, -8.0, 4.0, 1.0, -0.5, 0.3])
    simulation.command(tau)
    simulation.advance(steps)
    return robot, simulation, tau


def test_ur5_in_motion_agrees_with_pinocchio():
    robot, simulation, tau = moving_ur5(150)
    model = pin.buildModelFromUrdf(str(PATHS[UR5]))
    data = model.createData()
    q, qd = simulation.q, simulation.qd
    assert tuple(model.names[1:]) == robot.joint_names
    qdd = pin.aba(model, data, q, qd, tau)
    pin.forwardKinematics(model, data, q, qd, qdd)
    pin.updateFramePlacements(model, data)
    for link in robot.link_names:
        frame = model.getFrameId(link, pin.FrameType.BODY)
        if link == "world":
            continue
        sample, R = simulation.imu(link), data.oMf[frame].rotation
        a = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL).linear
        w = pin.getFrameVelocity(model, data, frame, pin.LOCAL).angular
        assert np.allclose(sample.linear_acceleration, a - R.T @ model.gravity.linear, atol=1e-9), link
        assert np.allclose(sample.angular_velocity, w, atol=1e-12)
        assert np.allclose(sample.rotation, R, atol=1e-12)


def test_planar_arm_in_motion_agrees_with_mujoco(robot):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(f"""
<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <body><joint name="shoulder" axis="0 -1 0"/>
    <inertial pos="{arm.L1 / 2} 0 0" mass="{arm.M1}" diaginertia="0.01 {arm.I1} {arm.I1}"/>
    <body pos="{arm.L1} 0 0"><joint name="elbow" axis="0 -1 0"/>
      <inertial pos="{arm.L2 / 2} 0 0" mass="{arm.M2}" diaginertia="0.01 {arm.I2} {arm.I2}"/>
      <site name="flange" pos="{arm.L2} 0 0"/>
    </body></body></worldbody>
  <sensor><accelerometer site="flange"/><gyro site="flange"/></sensor></mujoco>""")
    data = mujoco.MjData(model)
    simulation = simulate(robot, {"shoulder": 0.3, "elbow": -0.4}, imus=("flange",), command_timeout=0.0, **FREE)
    for k in range(20):
        simulation.command(np.array([20.0 - k, 5.0 - k]))
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = simulation.q, simulation.qd, (20.0 - k, 5.0 - k)
        mujoco.mj_forward(model, data)
        sample = simulation.imu("flange")
        assert np.allclose(sample.linear_acceleration, data.sensordata[:3], atol=1e-9)
        assert np.allclose(sample.angular_velocity, data.sensordata[3:], atol=1e-12)
        simulation.advance(13)


def test_noise_of_a_density_grows_with_the_root_of_the_rate(robot):
    simulation = simulate(robot, imus=("flange", "base"), imu_rate=400.0, gyroscope_noise=0.01,
                          accelerometer_noise=0.02, gyroscope_bias=(0.1, 0.0, 0.0), accelerometer_bias=(0.0, 0.0, -0.5))
    seen = {"flange": [], "base": []}
    for _ in range(1500):
        for link in seen:
            sample = simulation.imu(link)
            assert np.array_equal(sample.linear_acceleration, simulation.imu(link).linear_acceleration)
            seen[link].append((*sample.angular_velocity, *sample.linear_acceleration))
        simulation.advance(1)
    deviation = [0.01 * 20] * 3 + [0.02 * 20] * 3
    for values in seen.values():
        assert np.allclose(np.std(values, axis=0), deviation, rtol=0.1)
        assert np.allclose(np.mean(values, axis=0), (0.1, 0, 0, 0, 0, 9.31), atol=0.05)
    assert not np.allclose(seen["flange"], seen["base"])
    assert sample.angular_velocity_variance == pytest.approx(0.04)
    assert sample.linear_acceleration_variance == pytest.approx(0.16)


def test_faults_of_an_imu(robot):
    simulation = simulate(robot, imus=("flange",), fault_schedule=("sensor_offset imu/flange 0.5 for 0.01",), **FREE)
    exact = simulate(robot, imus=("flange",), **FREE)
    assert np.allclose(simulation.imu("flange").linear_acceleration, exact.imu("flange").linear_acceleration + 0.5)
    simulation.advance(20)
    simulation.inject("sensor_frozen", "imu/flange")
    frozen = simulation.imu("flange").linear_acceleration
    simulation.advance(20)
    assert np.array_equal(simulation.imu("flange").linear_acceleration, frozen)
    simulation.inject("sensor_dropped", "imu/flange", 1.0)
    assert simulation.imu("flange") is None


def test_unknown_link_is_refused_with_what_the_model_has(robot):
    with pytest.raises(ValueError, match="imus: unknown link 'wing', the model has base, .*flange"):
        simulate(robot, imus=("flange", "wing"))


@pytest.mark.parametrize("setting", [{"gyroscope_bias": (0.0, 0.0)}, {"accelerometer_noise": -1.0},
                                     {"accelerometer_bias": (0.0, NAN, 0.0)}])
def test_bad_settings_are_refused_by_name(setting):
    with pytest.raises(ValueError, match=f"{next(iter(setting))} (is|has)"):
        Settings(**setting)
