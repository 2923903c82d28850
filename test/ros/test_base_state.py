"""The state of a floating base from the messages that carry it, without a node."""
import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation

import screw_dynamics as sd
from screw_dynamics.model.floating_base import floating_base, velocity_names
from screw_dynamics.ros.node import messages
from screw_dynamics.ros.node.base_state import received_odometry
from screw_dynamics.ros.node.joint_state import Fault
from screw_dynamics.ros.node.robot_state import RobotState
from support import floating_robots as robots

S = 1_000_000_000
NAN = float("nan")


@pytest.fixture
def robot():
    return sd.Robot.from_urdf(robots.hopper(), floating_base=True)


@pytest.fixture
def faults():
    return []


@pytest.fixture
def state(robot, faults):
    return RobotState(robots.JOINTS, floating_base(robot.model), ("odom", "base_pose", "base_twist"),
                      notify=lambda topic, fault: faults.append((topic, fault.reason)))


def stamped(message, stamp):
    message.header.stamp = messages.time_message(stamp)
    return message


def odometry(pose, twist, child="trunk", stamp=S):
    """What is received of an Odometry of x y z, quaternion x y z w (7,) and a twist (6,), angular first."""
    message = stamped(Odometry(child_frame_id=child), stamp)
    message.pose.pose, message.twist.twist = messages.placement_message(pose), messages.twist_message(twist)
    return received_odometry(message)


def numbers_of(C):
    return np.concatenate((C[:3, 3], Rotation.from_matrix(C[:3, :3]).as_quat()))


@pytest.mark.parametrize("child", ["trunk", "", "imu"])
def test_odometry_of_the_base_or_of_a_link_fixed_to_it(robot, state, rng, child):
    q, v = robots.state(rng)
    link = child or "trunk"
    state.base.take_odometry("odom", odometry(
        numbers_of(robot.forward_kinematics(q, link)), robot.jacobian(q, link) @ v, child), 0)
    np.testing.assert_allclose(state.velocity[:6], v[:6], atol=1e-14)
    given = np.concatenate((state.position[:7], q[7:]))
    np.testing.assert_allclose(robot.forward_kinematics(given, "shin"), robot.forward_kinematics(q, "shin"), atol=1e-14)
    assert (state.stamps[:6] == S).all() and np.isnan(state.position[7:]).all()


def test_a_floating_joint_that_is_mounted_askew(rng):
    robot = sd.Robot.from_urdf(robots.hopper(robots.FLOATING))
    base = floating_base(robot.model)
    assert (base.joint, base.link, base.names[3]) == ("drift", "trunk", "drift_x")
    q = robot.random_configuration(seed=rng)
    pose = numbers_of(robot.forward_kinematics(q, "trunk"))
    np.testing.assert_allclose(robot.distance(np.concatenate((base.numbers(pose), q[7:])), q), 0.0, atol=1e-13)
    np.testing.assert_allclose(robots.matrix(base.pose(q[:7])), robot.forward_kinematics(q, "trunk"), atol=1e-13)
    wrench = rng.standard_normal(6)
    np.testing.assert_allclose(base.wrench(wrench, "imu"), robot.external_torque(q, {"imu": wrench})[:6], atol=1e-13)


@pytest.mark.parametrize("frame", ["trunk", "imu", "odom", ""])
def test_the_pose_and_the_twist_on_topics_of_their_own(robot, state, rng, frame):
    """A twist in the frame of the poses is the velocity of the base's origin, resolved there."""
    q, v = robots.state(rng)
    R = robot.forward_kinematics(q, "trunk")[:3, :3]
    twist = np.concatenate((R @ v[:3], R @ v[3:6])) if frame == "odom" else robot.jacobian(q, frame or "trunk") @ v
    pose = stamped(PoseStamped(pose=messages.placement_message(q[:7])), S)
    pose.header.frame_id = "odom"
    message = stamped(TwistStamped(twist=messages.twist_message(twist)), S)
    message.header.frame_id = frame
    state.base.take_pose("base_pose", pose, 0)
    assert state.base.missing == ("odom", "base_twist")
    state.base.take_twist("base_twist", message, 0)
    np.testing.assert_allclose(state.velocity[:6], v[:6], atol=1e-14)


def framed(message, frame, stamp):
    message = stamped(message, stamp)
    message.header.frame_id = frame
    return message


def posed(q, stamp, frame="odom"):
    return framed(PoseStamped(pose=messages.placement_message(q[:7])), frame, stamp)


def moving(twist, frame, stamp):
    return framed(TwistStamped(twist=messages.twist_message(twist)), frame, stamp)


def test_a_twist_of_the_frame_of_poses_turns_with_the_base_and_one_of_the_base_does_not(robot, state, rng):
    """Whichever of the two came last, poses go on coming."""
    poses, (w, u) = [robots.state(rng)[0] for _ in range(3)], rng.standard_normal((2, 6))
    state.base.take_pose("base_pose", posed(poses[0], S), 0)
    state.base.take_twist("base_twist", moving(w, "odom", S), 0)
    for q in poses:
        state.base.take_pose("base_pose", posed(q, S), 0)
        R = robot.forward_kinematics(q, "trunk")[:3, :3]
        np.testing.assert_allclose(state.velocity[:6], np.concatenate((R.T @ w[:3], R.T @ w[3:])), atol=1e-14)
    state.base.take_twist("base_twist", moving(u, "trunk", S), 0)
    for q in poses:
        state.base.take_pose("base_pose", posed(q, S), 0)
        np.testing.assert_allclose(state.velocity[:6], u, atol=1e-14)


@pytest.mark.parametrize("stamps", [(5 * S, 5 * S), (5 * S, 0), (0, 5 * S), (0, 0), (4 * S, 5 * S)])
def test_stamps_that_stand_still_or_are_missing_do_not_go_back(state, faults, rng, stamps):
    """Every part of the state stays."""
    q, v = robots.state(rng)
    state.base.take_pose("base_pose", posed(q, S), 0)
    for stamp in stamps:
        state.base.take_odometry("odom", odometry(q[:7], v[:6], stamp=stamp), 0)
    assert faults == [] and state.base.missing == ("base_twist",)


TURNED = (0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("pose, twist, child, reason, says", [
    ((NAN, 0, 0, 0, 0, 0, 1), np.zeros(6), "trunk", "non-finite value", r"pose is \[nan"),
    ((0, 0, 0, 0, 0, 0, 1), (0, 0, np.inf, 0, 0, 0), "trunk", "non-finite value", r"twist is .*inf"),
    ((0, 0, 0, 0, 0, 0, 0), np.zeros(6), "trunk", "no unit quaternion", "length 0, must have 1"),
    (TURNED, np.zeros(6), "trunk", "no unit quaternion", "length 1.00499, must have 1"),
    ((0, 0, 0, 0, 0, 0, 1), np.zeros(6), "shin", "unknown frame",
     "child_frame_id is 'shin', must be 'trunk', a link fixed to it, or empty"),
    ((0, 0, 0, 0, 0, 0, 1), np.zeros(6), "x" * 500, "unknown frame", r"'x{77}\.\.\.'"),
])
def test_a_bad_message_changes_nothing(state, rng, pose, twist, child, reason, says):
    q, v = robots.state(rng)
    state.base.take_odometry("odom", odometry(q[:7], v[:6]), 5)
    before = state.position.copy(), state.velocity.copy(), state.base.oldest(10)
    with pytest.raises(Fault, match=says) as fault:
        state.base.take_odometry("odom", odometry(np.array(pose, dtype=float), np.array(twist, dtype=float), child), 9)
    assert fault.value.reason == reason
    for was, is_now in zip(before, (state.position, state.velocity, state.base.oldest(10)), strict=True):
        np.testing.assert_array_equal(was, is_now)


def test_a_quaternion_that_is_nearly_of_unit_length_is_normalized(state, rng):
    q, v = robots.state(rng)
    off = q[:7] * np.array([1, 1, 1, 1.0005, 1.0005, 1.0005, 1.0005])
    state.base.take_odometry("odom", odometry(off, v[:6]), 0)
    np.testing.assert_allclose(state.position[:7], q[:7], atol=1e-14)


def test_it_is_fresh_while_every_topic_is(robot, faults):
    state = RobotState((), floating_base(robot.model), ("base_pose", "base_twist"))
    assert not state.fresh(0, S) and state.base.missing == ("base_pose", "base_twist")
    state.base.take_pose("base_pose", PoseStamped(), 10)
    state.base.take_twist("base_twist", TwistStamped(), 30)
    assert state.fresh(10 + S, S) and not state.fresh(11 + S, S)
    assert state.base.oldest(10 + S) == ("base_pose", 1.0)


def test_time_backwards_clears_the_base(state, faults, rng):
    q, v = robots.state(rng)
    state.base.take_odometry("odom", odometry(q[:7], v[:6], stamp=5 * S), 0)
    state.base.take_odometry("odom", odometry(q[:7], v[:6], stamp=4 * S), 1)
    assert faults == [("odom", "time backwards")] and (state.stamps[:6] == 4 * S).all()


def test_names_of_velocities(robot):
    assert velocity_names(robot.model) == (*robots.BASE_NAMES, *robots.JOINTS)
