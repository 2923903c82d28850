"""~/retime_trajectory of dynamics_node, over real DDS: within the limits by the closed form, and refusals."""
import re
import signal
from types import SimpleNamespace

import numpy as np
import pytest
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import screw_dynamics as sd
from screw_dynamics.ros.dynamics import retiming
from screw_dynamics.ros.node.messages import nanoseconds
from screw_dynamics_interfaces import srv
from support import planar_arm as arm
from support.arm_driver import ArmDriver

POINTS = np.array([[0.1, 0.3], [0.9, -0.5], [0.3, 1.2]])           # shoulder, elbow
VELOCITY, EFFORT = np.array([5.0, 5.0]), np.array([100.0, 50.0])   # of the URDF


@pytest.fixture(scope="module")
def driver(start_for_all):
    parameters = {"robot_description": f"'{arm.urdf()}'", "state_timeout": 0, "retime_acceleration": 12.0}
    driver = start_for_all(ArmDriver, "retiming", parameters, end=signal.SIGTERM)
    driver.answer()
    driver.wait(lambda: retimed(driver).success, "what takes many states")
    return driver


def trajectory(points=POINTS, names=("elbow", "shoulder"), order=(1, 0)):
    """In another order than that of the model, by default."""
    return JointTrajectory(joint_names=list(names), points=[
        JointTrajectoryPoint(positions=point[list(order)].tolist()) for point in np.asarray(points)])


def retimed(driver, given=None, **fields):
    return driver.call(srv.RetimeTrajectory, "~/retime_trajectory", trajectory=given or trajectory(), **fields)


def columns(answer, field):
    """A field of the points (k, 2), as (shoulder, elbow)."""
    assert list(answer.trajectory.joint_names) == ["elbow", "shoulder"]
    return np.array([getattr(point, field) for point in answer.trajectory.points])[:, ::-1]


def test_motors_whose_torque_falls_with_speed_stay_below_their_lines():
    drive = sd.Drive(0.0, ratio=50.0, torque_speed=sd.drive.TorqueSpeed(stall_torque=1.0, no_load_speed=150.0))
    robot, service = sd.Robot.from_urdf(arm.urdf()).with_drives({"shoulder": drive}), object.__new__(retiming.Retiming)
    service._node = SimpleNamespace(settings=SimpleNamespace(retime_acceleration=0.0, retime_jerk=0.0))
    for scaling in (0.0, 0.7):          # 0: 1
        request = srv.RetimeTrajectory.Request(trajectory=trajectory(), effort_scaling=scaling)
        found, _ = retiming.retimed(robot, POINTS, 0.0, service._limits(robot, request), ["shoulder", "elbow"], 0.01)
        low, high = (bound * (scaling or 1.0) for bound in robot.effort_bounds(found.qd))
        assert (found.tau < high + 0.2).all() and (found.tau > low - 0.2).all()
        assert "torque over speed" in str(found.binding)


@pytest.mark.parametrize("upper", [1.7, np.nextafter(1.7, 0.0), 1.7 - 1e-12])
def test_a_joint_may_go_to_its_limit_and_another_may_rest_beyond(upper):
    """Rounding may take waypoints and splines beyond a limit; a joint that no trajectory names does not move."""
    robot = sd.Robot.from_urdf(arm.urdf().replace('upper="3" effort="100"', f'upper="{float(upper)!r}" effort="100"'))
    q, limits = np.array([[1.7, 3.0001], [0.33, 3.0001], [1.7, 3.0001]]), {"acceleration": 1.0, "effort": np.inf}
    assert robot.model.upper.tolist() == [upper, 3.0]
    found, _ = retiming.retimed(robot, q, 0.0, limits, ["shoulder"], 0.1)
    assert found.q[-1] == pytest.approx(q[-1], abs=1e-12)
    for names, by in (["shoulder", "elbow"], 0.0), (["shoulder"], 1e-6):
        with pytest.raises(ValueError, match=f"joint '{names[-1]}' reaches"):
            retiming.retimed(robot, q + by, 0.0, limits, names, 0.1)


def test_the_fastest_motion_is_within_the_limits_of_urdf_and_parameters(driver):
    answer = retimed(driver, velocity_scaling=0.4, effort_scaling=0.3, sample_period=0.004)
    assert answer.success and answer.message == ""
    q, qd, qdd, tau = (columns(answer, x) for x in ("positions", "velocities", "accelerations", "effort"))
    t = np.array([nanoseconds(point.time_from_start) for point in answer.trajectory.points]) / 1e9
    assert np.diff(t)[:-1] == pytest.approx(0.004, abs=2e-9) and t[-1] == pytest.approx(answer.duration, abs=1e-8)
    assert q[[0, -1]] == pytest.approx(POINTS[[0, -1]]) and abs(qd[[0, -1]]).max() < 1e-9
    assert min(np.abs(q - POINTS[1]).max(axis=1)) < 0.01
    for x, limit in ((qd, 0.4 * VELOCITY), (qdd, 12.0), (tau, 0.3 * EFFORT)):
        assert (abs(x) / limit).max() < 1.002
    robot = sd.Robot.from_urdf(arm.urdf())
    expected = robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
    assert tau[1:-1] == pytest.approx(expected[1:-1], abs=1e-9)
    assert answer.limiting and answer.limiting_time[0] == max(answer.limiting_time)
    assert sum(answer.limiting_time) == pytest.approx(answer.duration, rel=0.05)


def test_half_the_velocity_takes_longer_and_limits_of_the_request_come_first(driver):
    fast, slow = retimed(driver).duration, retimed(driver, velocity_scaling=0.2).duration
    assert fast < 0.8 * slow
    gentle = retimed(driver, max_acceleration=[2.0, 2.0])
    assert 1.5 * fast < gentle.duration and abs(columns(gentle, "accelerations")).max() < 2.0 * 1.002


@pytest.mark.slow
def test_jerk_and_rounded_corners(driver):
    answer = retimed(driver, max_jerk=[200.0, 200.0], deviation=0.02)
    assert answer.success, answer.message
    qdd = columns(answer, "accelerations")
    assert abs(np.diff(qdd, axis=0)[:-1]).max() < 200.0 * 0.01 * 1.01 and abs(qdd[[0, -1]]).max() < 1e-6
    q = columns(answer, "positions")
    assert 0.01 < np.abs(q - POINTS[1]).max(axis=1).min() < 0.04


def test_joints_that_are_not_named_stay_where_they_are(driver):
    driver.answer(position=[0.3, 0.7])
    answer = retimed(driver, trajectory([[0.1, 0.3], [0.9, -0.5]], ["elbow"], [1]))
    assert answer.success, answer.message
    robot = sd.Robot.from_urdf(arm.urdf())
    point = answer.trajectory.points[0]
    expected = robot.inverse_dynamics([0.3, 0.3], [0.0, 0.0], [0.0, point.accelerations[0]])[1]
    assert point.effort[0] == pytest.approx(expected - 0.1, abs=1e-6)       # dry friction of the elbow, downwards


@pytest.mark.parametrize("fields, message", [
    ({"given": trajectory(POINTS[:1])}, "trajectory.points: 1, must contain two different positions"),
    ({"given": trajectory(POINTS, ["wheel", "shoulder"])}, "trajectory.joint_names: 'wheel' is not a joint of the mod"),
    ({"given": trajectory(POINTS + [3.0, 0.0])}, "joint 'shoulder' reaches 3.9.* at s = .*, its limits are -3 and 3"),
    ({"velocity_scaling": -1.0}, "velocity_scaling: -1.0, must be finite and >= 0"),
    ({"max_acceleration": [1.0]}, "max_acceleration has 1 entries for 2"),
    ({"max_jerk": [1.0, -1.0]}, "max_jerk of joint 'shoulder' is -1.0"),
    ({"deviation": float("nan")}, "deviation: nan"),
    ({"sample_period": 1e-9}, "sample_period: 1e-09 s for a motion of .* requires too many points"),
    ({"effort_scaling": 0.02}, "gravity and dry friction alone take .* of the effort of 'shoulder', whose limit is 2"),
])
def test_what_is_refused(driver, fields, message):
    answer = retimed(driver, **fields)
    assert not answer.success and not answer.trajectory.points
    assert re.search(message, answer.message), answer.message
