"""The wrench at a link from joint torques: J^T back, and what cannot be told."""

import numpy as np
import pytest

import screw_dynamics as sd
from support import planar_arm as arm
from support.real_robots import real_robot

WRENCH = np.array([0.4, -0.2, 0.3, 5.0, -8.0, 12.0])


@pytest.mark.parametrize("floating_base", [False, True])
@pytest.mark.parametrize("urdf, tip", [
    ("panda_description/urdf/panda.urdf", "panda_hand"), ("ur_description/urdf/ur5_robot.urdf", "tool0")])
def test_the_wrench_comes_back(urdf, tip, floating_base, rng):
    robot = real_robot(urdf, floating_base=floating_base)
    q = rng.uniform(0.3, 0.9, robot.nq)
    found = sd.estimation.contact_wrench(robot, q, robot.external_torque(q, {tip: WRENCH}), tip)
    np.testing.assert_allclose(found.wrench, WRENCH, rtol=1e-9)
    assert found.rank == 6 and 1.0 < found.condition < 100.0 and found.residual < 1e-12
    torque = robot.external_torque(q, {tip: WRENCH})
    for share, rank in ((0.99, 6), (1.01, 5)):              # of the largest singular value, whatever that is
        assert sd.estimation.contact_wrench(robot, q, torque, tip, share / found.condition).rank == rank


def test_two_joints_feel_two_directions():
    robot = sd.Robot.from_urdf(arm.urdf())
    q = np.array([0.3, 0.7])
    torque = robot.external_torque(q, {"flange": WRENCH})
    found = sd.estimation.contact_wrench(robot, q, torque, "flange")
    assert found.rank == 2 and found.hidden.shape == (4, 6)
    np.testing.assert_allclose(robot.external_torque(q, {"flange": found.wrench}), torque, rtol=1e-12)
    unit = found.hidden * [0.1, 0.1, 0.1, 1, 1, 1]
    np.testing.assert_allclose(robot.jacobian(q, "flange").T @ unit.T, 0, atol=1e-15)
    # Forces across the plane, and torques in it, move no joint.
    for component in (0, 2, 4):
        assert abs(found.wrench[component]) < 1e-12


def test_at_a_singular_position_the_lost_direction_is_hidden():
    robot = real_robot("ur_description/urdf/ur5_robot.urdf")
    q = np.array([0.3, -0.8, 0.0, 0.4, 0.9, 0.2])      # the arm is stretched
    found = sd.estimation.contact_wrench(robot, q, robot.external_torque(q, {"tool0": WRENCH}), "tool0")
    assert found.rank == 5 and found.condition < 100.0


def test_joints_beyond_the_link_are_what_no_wrench_explains():
    robot = sd.Robot.from_urdf(arm.urdf())
    found = sd.estimation.contact_wrench(robot, [0.3, 0.7], [2.0, 1.0], "upper_arm")
    assert found.rank == 1 and found.residual == pytest.approx(np.sqrt(0.5))
    found = sd.estimation.contact_wrench(robot, [0.3, 0.7], [2.0, 1.0], "base")
    assert found.rank == 0 and not found.wrench.any() and found.condition == np.inf


@pytest.mark.parametrize("changed, says", [
    (dict(q=[np.nan, 0.0]), r"q must be 2 finite numbers, not \[nan, 0.0\]"),
    (dict(q=np.zeros((3, 2))), "q must be 2 finite numbers"),
    (dict(torque=np.zeros((3, 2))), r"torque must be of one state, \(2,\), not of shape \(3, 2\)"),
    (dict(tolerance=1.5), "tolerance 1.5 must be < 1"), (dict(tolerance=-0.1), "tolerance -0.1 must be finite and >")])
def test_what_is_no_state_is_refused(changed, says):
    with pytest.raises(ValueError, match=says):
        sd.estimation.contact_wrench(**dict(robot=sd.Robot.from_urdf(arm.urdf()), q=[0.3, 0.7], torque=[2.0, 1.0],
                                            link="flange") | changed)


def test_joints_without_an_estimate_are_left_out(rng):
    robot = real_robot("panda_description/urdf/panda.urdf")
    q = rng.uniform(0.3, 0.9, robot.n)
    torque = robot.external_torque(q, {"panda_hand": WRENCH})
    torque[-2:] = np.nan    # the fingers
    np.testing.assert_allclose(sd.estimation.contact_wrench(robot, q, torque, "panda_hand").wrench, WRENCH, rtol=1e-9)
