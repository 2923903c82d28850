"""Identification from velocities without accelerations, with friction that falls with speed, and with springs."""
from dataclasses import replace

import numpy as np
import pytest
import scipy.integrate

import screw_dynamics as sd
from screw_dynamics.analysis.estimation.friction import smooth_friction
from screw_dynamics.analysis.identification.falling_friction import VELOCITIES, interpolation
from screw_dynamics.analysis.identification.momentum_equations import weight
from support.episodes import excitation as motion
from support.real_robots import real_robot


@pytest.fixture(scope="module")
def drawn():
    return real_robot("ur_description/urdf/ur5_robot.urdf", tip_link="wrist_3_link")


@pytest.fixture(scope="module")
def built(drawn):
    """The robot with a load at its tip and joints that rub."""
    rng = np.random.default_rng(3)
    model = drawn.with_payload("wrist_3_link", 1.0, (0.02, 0.0, 0.05), 2e-3 * np.eye(3)).model
    return sd.Robot(replace(model, damping=rng.uniform(0.2, 1.0, drawn.n), friction=rng.uniform(0.1, 0.5, drawn.n)))


def truth(found, robot, stiffness=()):
    everything = np.concatenate([robot.inertial_parameters, robot.friction_parameters, stiffness])
    return found.base.of(everything[found.estimated])


def test_the_weight_s_integral_is_one_and_its_ends_are_flat():
    """By SciPy's quadrature, and as differences."""
    half = 0.05
    area = scipy.integrate.quad(lambda t: float(weight(np.array(t / half), half)[0]), -half, half)[0]
    assert area == pytest.approx(1.0, abs=1e-12)
    x, h = np.linspace(-0.9, 0.9, 7), 1e-6
    slope = (weight((x * half + h) / half, half)[0] - weight((x * half - h) / half, half)[0]) / (2.0 * h)
    np.testing.assert_allclose(weight(x, half)[1], slope, rtol=1e-7, atol=1e-4)
    assert np.abs(weight(np.array([-1.0, 1.0]), half)).max() < 1e-12


@pytest.mark.slow
def test_velocities_without_accelerations(drawn, built):
    """Exact to the smoothing of signals without noise, also through turns of joints that rub; surer with noise than
    what positions alone say."""
    t, q, qd, qdd = motion(drawn.n)
    tau = built.inverse_dynamics(q, qd, qdd) + smooth_friction(built, qd)
    found = sd.identify(drawn, t, q, tau, qd)
    np.testing.assert_allclose(found.base_parameters, truth(found, built), atol=3e-4)
    assert (found.residual() < 1e-3).all()
    rng, outside, total, deviations = np.random.default_rng(1), 0, 0, []
    noise = rng.standard_normal((3, *q.shape)) * np.array([1e-5, 1e-3, 0.1])[:, None, None]
    for velocities in (qd + noise[1], None):
        found = sd.identify(drawn, t, q + noise[0], tau + noise[2], velocities)
        error = found.base_parameters - truth(found, built)
        outside, total = outside + np.sum(np.abs(error) > 1.96 * found.base_deviations), total + len(error)
        deviations.append(found.base_deviations)
    assert outside < 0.12 * total
    assert np.median(deviations[0] / deviations[1]) < 0.8
    assert len(found.equations.t) < len(t) / 10


@pytest.mark.slow
def test_white_noise_is_noise_over_any_window(drawn, built, rng):
    """Of the robot's own efforts, whose residuals a long window correlates."""
    t, q, qd, qdd = motion(drawn.n, seconds=60.0, rate=50.0)
    tau = built.inverse_dynamics(q, qd, qdd) + smooth_friction(built, qd) + 0.1 * rng.standard_normal(q.shape)
    assert sd.identify(drawn, t, q, tau, qd, window=1.0).notes == ()


@pytest.mark.slow
def test_a_joint_that_is_stuck_tells_nothing():
    """Held by dry friction, against an effort of the drive."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("spin", "wheel", "base", (0, 0, 1), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    t, sticks = np.arange(5000) / 250.0, (np.pi / 2.0 + 8.0 * np.pi) / 3.0
    at, moves = np.minimum(t, sticks)[:, None], t[:, None] < sticks
    q, qd, qdd = 0.5 * np.sin(3.0 * at), 1.5 * np.cos(3.0 * at), -4.5 * np.sin(3.0 * at) * moves
    real = sd.Robot(replace(model, friction=np.array([2.0])))
    tau = real.inverse_dynamics(q, qd, qdd) + np.where(moves, smooth_friction(real, qd), 1.5)
    found = sd.identify(sd.Robot(model), t, q, tau, qd)
    assert found.residual()[0] < 0.02
    assert found.parameters[found.names.index("spin.friction")] == pytest.approx(2.0, rel=0.01)


def test_columns_between_stribeck_velocities():
    v = np.array([0.0, 0.003, 0.02, 0.1, 0.5, 3.0])
    for own in (0.0021, 0.01, 0.077, 1.3):
        columns = 1.0 / (1.0 + (v[:, None] / VELOCITIES) ** 2)
        np.testing.assert_allclose(columns @ interpolation(own), 1.0 / (1.0 + (v / own) ** 2), atol=3e-4)
    assert interpolation(VELOCITIES[5])[5] == pytest.approx(1.0)


@pytest.mark.slow
def test_friction_that_falls_with_speed(drawn, built, rng):
    t, q, qd, qdd = motion(drawn.n, seconds=40.0)
    expected = np.array([[2.0, 0.05], [3.0, 0.06], [2.0, 0.1], [0.5, 0.08], [0.5, 0.2], [0.3, 0.15]])
    forces = [sd.forces.Friction(joint, breakaway=excess, stribeck=v) for joint, (excess, v) in
              zip(drawn.joint_names, expected, strict=True)]
    falls = built.total_force(forces).efforts(q, qd, t)
    tau = built.inverse_dynamics(q, qd, qdd) + smooth_friction(built, qd) - falls
    noise = rng.standard_normal((3, *q.shape)) * np.array([1e-5, 1e-3, 0.1])[:, None, None]
    found = sd.identify(drawn, t, q + noise[0], tau + noise[2], qd + noise[1], friction="stribeck")
    assert (np.abs(found.falling - expected) < 5.0 * found.falling_deviations).all()
    spread = np.mean(((found.falling - expected) / found.falling_deviations) ** 2, axis=0)
    assert (spread > 0.2).all() and (spread < 2.8).all(), spread    # of six: 99 % of the chi-squared distribution
    assert (found.falling_deviations[2:] < 0.2 * expected[2:]).all()
    plain = sd.identify(drawn, t, q + noise[0], tau + noise[2], qd + noise[1])
    assert (found.residual() < plain.residual()).all() and found.residual().max() < 0.4 * plain.residual().max()
    t, q, qd, qdd = motion(drawn.n, rate=20.0, seed=7)
    expected_efforts = (built.inverse_dynamics(q, qd, qdd) + smooth_friction(built, qd)
                        - built.total_force(forces).efforts(q, qd, t))
    moving = np.abs(qd) > 0.01
    wrong = np.where(moving, found.efforts(q, qd, qdd) - expected_efforts, 0.0)
    assert np.sqrt(np.mean(wrong**2)) < 0.02 * np.sqrt(np.mean(falls**2))
    assert "Stribeck velocity" in str(found)
    assert [force.joint for force in found.robot.forces] == list(drawn.joint_names)
    np.testing.assert_array_equal(found.efforts(q, qd, qdd), found.robot.inverse_dynamics(q, qd, qdd)
                                  + found.robot.friction_torque(qd))


@pytest.mark.slow
def test_a_spring_between_motor_and_link_and_one_to_the_base(rng):
    """A motor drives an arm through a spring, both are measured, and the motor's effort: theta = q + tau / K."""
    builder = sd.ModelBuilder("base")
    builder.add_screw("motor", "rotor", "base", (0, 1, 0), mass=0.1, inertia=1e-3 * np.eye(3), armature=0.2)
    builder.add_screw("lift", "arm", "base", (0, 1, 0), mass=2.0, com=(0.3, 0.0, 0.0), inertia=0.05 * np.eye(3))
    robot = sd.Robot(builder.build())
    t = np.arange(4000) / 250.0
    link, K, K_base, damping = sd.Robot(_arm()), 3000.0, 40.0, 5.0
    slow, fast = np.exp(3j * t[:, None]), np.exp(5j * t[:, None])
    x, xd, xdd = ((3j**k * slow).imag + 0.3 * (5j**k * fast).real for k in range(3))
    effort = link.inverse_dynamics(x, xd, xdd) + K_base * (x - 0.1) + damping * xd
    theta = (x + effort / K)[:, 0]
    rate = np.gradient(theta, t, edge_order=2)
    acceleration = np.gradient(rate, t, edge_order=2)
    q, tau = np.stack([theta, x[:, 0]], axis=1), np.zeros((len(t), 2))
    tau[:, 0] = effort[:, 0] + (0.2 + 1e-3) * acceleration
    springs = [sd.forces.Spring({"lift": 1.0, "motor": -1.0}, 1000.0),
               sd.forces.Spring("lift", 10.0, damping, rest=0.1)]
    noise = rng.standard_normal((2, *q.shape))
    found = sd.identify(robot, t, q + 1e-6 * noise[0], tau + [0.02, 0.0] * noise[1], friction="none", armature=True,
                        springs=springs)
    assert [spring.stiffness for spring in found.springs] == pytest.approx([K, K_base], rel=0.01)
    assert found.names[-2:] == ("lift/motor.stiffness", "lift.stiffness")
    assert found.robot.armature[0] + found.robot.inertial_parameters[6] == pytest.approx(0.201, rel=0.01)
    assert found.residual().max() < 0.1 * found.residual(found.prior_parameters).max()
    moved = q[1000], np.array([rate[1000], xd[1000, 0]]), np.array([acceleration[1000], xdd[1000, 0]])
    np.testing.assert_allclose(found.efforts(*moved), [tau[1000, 0], 0.0], atol=0.02 * np.abs(effort).max())
    for wrong, says in (([3], "springs: 3 must be a screw_dynamics.forces.Spring"),
                        (springs[0], "springs must be a list of screw_dynamics.forces.Spring, or names of joints"),
                        (["lift"], "springs: joint 'lift' has no drive with a linear spring"),
                        ([replace(springs[0], stiffness="x")], "stiffness of Spring.* is 'x', must be"),
                        ([replace(springs[0], stiffness=1e20)], "stiffness=1e\\+20.* must have a stiffness <= 1e")):
        with pytest.raises(ValueError, match=says):
            sd.identify(robot, t, q, tau, springs=wrong)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{}, {"motor_damping": 0.5, "motor_friction": 0.2}])
def test_the_drive_that_was_found_computes_with_all_of_it(rng, given):
    """Spong's equations of a link on a spring, theta = q + tau / K, B theta'' + K (theta - q) = the motor's effort;
    known friction of the motor changes, too. Noise is such that a prior of the stiffness would pull it to its own."""
    link, K, B = sd.Robot(_arm()), 3000.0, 0.4
    prior = link.with_drives({"lift": sd.Drive(1e-4, 50.0, 1000.0, **given)})
    t = np.arange(4000) / 250.0
    slow, fast = np.exp(3j * t[:, None]), np.exp(5j * t[:, None])
    x, xd, xdd, *higher = ((3j**k * slow).imag + 0.3 * (5j**k * fast).real for k in range(5))
    J, weight = 0.05 + 2.0 * 0.3**2, 2.0 * 9.81 * 0.3
    tau, rate, second = (J * xdd - weight * np.cos(x), J * higher[0] + weight * np.sin(x) * xd,
                         J * higher[1] + weight * (np.cos(x) * xd**2 + np.sin(x) * xdd))
    rubs = 0.7 * np.tanh((xd + rate / K) / 1e-2) + 0.9 * (xd + rate / K) if given else 0.0
    q, qd = np.hstack([x, x + tau / K]), np.hstack([xd, xd + rate / K])
    effort = np.hstack([0.0 * tau, tau + B * (xdd + second / K) + rubs])
    found = sd.identify(prior, t, q + 1e-6 * rng.standard_normal(q.shape), effort + [0.0, 0.06] * rng.standard_normal(
        q.shape), friction="estimate" if given else "none", armature=True, springs=["lift"])
    drive = found.robot.model.drives["lift"]
    assert drive.stiffness == pytest.approx(K, rel=0.01) and drive.inertia == pytest.approx(B, rel=0.01)
    assert found.robot.joint_names == prior.joint_names and found.robot.forces == ()
    if given:
        assert (drive.motor_damping, drive.motor_friction) == pytest.approx((0.9, 0.7), rel=0.1)
    k = slice(500, 3500)
    needed = found.robot.inverse_dynamics(q, qd, np.hstack([xdd, xdd + second / K])) - found.robot.drive_torque(q, qd)
    if given:
        needed = needed + found.robot.friction_torque(qd)
    assert np.sqrt(np.mean((needed - effort)[k]**2)) < 0.02 * np.sqrt(np.mean(effort[k]**2))
    read = sd.Robot.from_urdf(found.robot.to_urdf())
    for name in ("armature", "damping", "friction", "inertias"):
        assert np.array_equal(getattr(read.model, name), getattr(found.robot.model, name))
    assert dict(read.model.drives) == dict(found.robot.model.drives)
    feed_forward = sd.elastic_joints.ElasticJoints(found.robot).feed_forward(x, xd, xdd, *higher, friction=bool(given))
    assert np.sqrt(np.mean((feed_forward.torque - effort[:, 1:])[k]**2)) < 0.02 * np.sqrt(np.mean(effort[k]**2))


def _arm():
    builder = sd.ModelBuilder("base")
    builder.add_screw("lift", "arm", "base", (0, 1, 0), mass=2.0, com=(0.3, 0.0, 0.0), inertia=0.05 * np.eye(3))
    return builder.build()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*meshes are found beside")
def test_the_circle_of_simulation_identification_and_urdf(drawn, built, rng, tmp_path):
    """What was found, written and read, computes with the same bits."""
    t, q, qd, qdd = motion(drawn.n, rate=100.0)
    tau = built.inverse_dynamics(q, qd, qdd) + smooth_friction(built, qd) + 0.2 * qdd
    found = sd.identify(drawn, t, q, tau + 0.05 * rng.standard_normal(q.shape), qd, friction="stribeck", armature=True)
    assert found.robot.forces
    found.robot.to_urdf(tmp_path / "found.urdf")
    read = sd.Robot.from_urdf(tmp_path / "found.urdf", tip_link="wrist_3_link")
    assert read.model.digest == found.robot.model.digest and read.armature.all()
    assert np.array_equal(read.friction_torque(qd), found.robot.friction_torque(qd))
    assert np.array_equal(read.inverse_dynamics(q, qd, qdd), found.robot.inverse_dynamics(q, qd, qdd))
    assert np.array_equal(read.friction_torque(qd), found.robot.friction_torque(qd))
    assert np.array_equal(found.efforts(q, qd, qdd), read.inverse_dynamics(q, qd, qdd) + read.friction_torque(qd))
