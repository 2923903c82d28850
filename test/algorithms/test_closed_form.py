"""The robots of urdf/, whose answers are known: every line of `known` is a line of the comment that heads the file."""
from types import SimpleNamespace

import numpy as np
import pytest
from numpy import cos, sin

import screw_dynamics as sd
from support.paths import URDF

GRAVITY = 9.81
STATES = 50


def double_pendulum(q, v):
    (q1, q2), (v1, v2) = q, v
    m1, l1, I1, m2, l2, I2, h = 3, 1.0, 0.25, 1.5, 0.8, 0.08, 2
    c1, c2 = l1 / 2, l2 / 2
    a, b, k = m1 * c1 + m2 * l1, m2 * c2, -m2 * l1 * c2 * sin(q2)
    M12, M22 = I2 + m2 * (c2**2 + l1 * c2 * cos(q2)), I2 + m2 * c2**2
    M = [[I1 + m1 * c1**2 + I2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos(q2)), M12], [M12, M22]]
    return SimpleNamespace(
        M=M, C=[[k * v2, k * (v1 + v2)], [-k * v1, 0]],
        g=[GRAVITY * (a * sin(q1) + b * sin(q1 + q2)), GRAVITY * b * sin(q1 + q2)],
        U=GRAVITY * ((m1 + m2) * h - a * cos(q1) - b * cos(q1 + q2)),
        tip=[-l1 * sin(q1) - l2 * sin(q1 + q2), 0, h - l1 * cos(q1) - l2 * cos(q1 + q2)])


def spherical_arm(q, v):
    (q1, q2, q3), (v1, v2, v3) = q, v
    J, K, m1, Ic, Ia, m2, h = 0.08, 0.02, 3, 0.09, 0.004, 0.5, 0.6
    r1, r2 = 0.5 + q3, 1 + q3
    m, s, e = m1 + m2, m1 * r1 + m2 * r2, m1 * r1**2 + m2 * r2**2
    a2, a3, b3 = -(e + Ic - Ia) * sin(2 * q2), 2 * s * cos(q2) ** 2, 2 * s
    return SimpleNamespace(
        M=np.diag([J + K + (e + Ic) * cos(q2) ** 2 + Ia * sin(q2) ** 2, K + e + Ic, m]),
        C=np.array([[a2 * v2 + a3 * v3, a2 * v1, a3 * v1], [-a2 * v1, b3 * v3, b3 * v2], [-a3 * v1, -b3 * v2, 0]]) / 2,
        g=[0, GRAVITY * s * cos(q2), GRAVITY * m * sin(q2)],
        U=GRAVITY * (m * h + s * sin(q2)) + GRAVITY * (4 * 0.3 + 2 * h),
        tip=np.array([0, 0, h]) + r2 * np.array([cos(q2) * cos(q1), cos(q2) * sin(q1), sin(q2)]))


def assert_equal(ours, known):
    known = np.asarray(known, dtype=float)
    assert np.abs(ours - known).max() <= 1e-13 * max(1.0, np.abs(known).max())


@pytest.mark.parametrize("closed_form, tip", [(double_pendulum, "tip"), (spherical_arm, "gripper")])
def test_robot_of_ours_answers_as_its_closed_form(closed_form, tip):
    robot = sd.Robot.from_urdf(URDF / f"{closed_form.__name__}.urdf", gravity=(0, 0, -GRAVITY))
    assert robot.warnings == ()
    random = np.random.default_rng(11)
    for _ in range(STATES):
        q, v, a = random.uniform(-2, 2, (3, robot.n))
        known = closed_form(q, v)
        M, C, g = map(np.array, (known.M, known.C, known.g))
        assert_equal(robot.mass_matrix(q), M)
        assert_equal(robot.coriolis_matrix(q, v), C)
        assert_equal(robot.coriolis_torque(q, v), C @ v)
        assert_equal(robot.gravity_torque(q), g)
        assert_equal(robot.inverse_dynamics(q, v, a), M @ a + C @ v + g)
        assert_equal(M @ robot.forward_dynamics(q, v, a), a - C @ v - g)
        assert_equal(robot.kinetic_energy(q, v), v @ M @ v / 2)
        assert_equal(robot.potential_energy(q), known.U)
        assert_equal(robot.forward_kinematics(q, tip)[:3, 3], known.tip)


@pytest.mark.parametrize("closed_form, tip", [(double_pendulum, "tip"), (spherical_arm, "gripper")])
def test_hybrid_jacobian_is_the_gradient_of_the_tip(closed_form, tip):
    robot = sd.Robot.from_urdf(URDF / f"{closed_form.__name__}.urdf")
    q = np.linspace(0.3, 0.9, robot.n)
    steps = 1e-6 * np.eye(robot.n)
    gradient = [np.subtract(closed_form(q + d, q).tip, closed_form(q - d, q).tip) / 2e-6 for d in steps]
    np.testing.assert_allclose(robot.jacobian(q, tip, "hybrid")[3:], np.transpose(gradient), atol=1e-9)
