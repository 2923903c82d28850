"""simulator_node of robots on floating bases, with controllers in processes of their own: what flies in CI."""
import sys

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import screw_dynamics as sd
from screw_dynamics.ros.node import messages
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.testing import LockstepError, RobotSimulator
from screw_dynamics_interfaces.srv import ResetTo
from support import floating_robots as robots
from support.floating_driver import base
from support.graph import PATIENCE
from support.paths import ROOT
from support.simulator_driver import Simulator

pytestmark = pytest.mark.slow

URDF = str(ROOT / "urdf" / "quadrotor.urdf")
CONTROLLER = [sys.executable, str(ROOT / "examples" / "quadrotor.py"), URDF]
TARGET = (1.0, -0.5, 1.5)
PARAMETERS = {"floating_base": True, "initial_base_pose": [0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0]}


@pytest.fixture(scope="module")
def quadrotor(ros_domain, ros, tmp_path_factory):
    with RobotSimulator(URDF, [CONTROLLER], parameters=PARAMETERS, folder=tmp_path_factory.mktemp("quadrotor"),
                        patience=PATIENCE) as simulator:
        yield simulator


def test_a_quadrotor_takes_off_flies_to_a_point_and_hovers(quadrotor):
    recording = quadrotor.advance(4.0)
    assert len(recording.odometry) == len(recording.wrenches) == 401 and not recording.commands.messages
    off = np.abs(recording.base_pose[:, :3] - TARGET).max(axis=1)
    assert off[0] > 1.0 and off[recording.time > 3.5].max() < 0.01
    assert np.abs(recording.base_twist[-1]).max() < 0.02
    assert recording.base_pose[:, 2].min() > 0.19, "it does not sink before it rises"
    first = recording.odometry[0]
    assert (first.header.frame_id, first.child_frame_id) == ("odom", "body")
    assert not np.any(first.pose.covariance) and not np.any(first.twist.covariance)
    weight = recording.wrenches[-1].wrench.force.z
    assert weight == pytest.approx(9.81 * quadrotor.robot.total_mass, rel=1e-2)
    assert "401 commands; last: base at " in str(recording)


def test_the_same_flight_has_the_same_bits(quadrotor):
    flights = set()
    for _ in range(3):
        quadrotor.reset()
        recording = quadrotor.advance(0.5)
        flights.add(recording.base_pose.tobytes() + recording.base_twist.tobytes())
    assert len(flights) == 1


def test_it_recovers_from_any_attitude_and_from_a_push(quadrotor):
    quadrotor.reset(base_pose=(1.0, -0.5, 1.5, 1.0, 0.0, 0.0, 0.0), base_twist=(0.0, 0.0, 3.0, 0.0, 0.0, 0.0))
    recording = quadrotor.advance(0.01)
    np.testing.assert_allclose(recording.base_pose[0], (1.0, -0.5, 1.5, 1.0, 0.0, 0.0, 0.0))    # upside down
    quadrotor.advance(4.0)
    quadrotor.push("rotor_front", force=(0.0, 3.0, 3.0), duration=0.1)
    recording = quadrotor.advance(0.1)
    assert np.abs(recording.base_twist[-1]).max() > 0.5
    recording = quadrotor.advance(4.0)
    np.testing.assert_allclose(recording.base_pose[-1, :3], TARGET, atol=0.01)


# ------------------------------------------------------------------------------------------------- a legged robot
@pytest.fixture(scope="module")
def hopper(ros, tmp_path_factory):
    """Paused, and commanded by nobody but the tests."""
    parameters = {**PARAMETERS, "publish_tf": True, "joint_friction": False, "lockstep": "", "odom_frame": "arena",
                  "imus": ["imu"], "force_torques": ["trunk_to_imu"]}
    with RobotSimulator(robots.hopper(), [], parameters=parameters, namespace="hopper", initial_positions={"hip": 0.3},
                        folder=tmp_path_factory.mktemp("hopper"), patience=PATIENCE):
        driver = Simulator("hopper")
        driver.odometry = driver.collect(Odometry, "/hopper/odom")
        yield driver


def test_base_and_joints_move_together_as_without_ros(hopper):
    hopper.reset()
    twin = Simulation(sd.Robot.from_urdf(robots.hopper(), floating_base=True), Settings(
        joint_friction=False, initial_base_pose=tuple(PARAMETERS["initial_base_pose"])), {"hip": 0.3})
    hopper.command(robots.JOINTS, effort=[2.0, -3.0])
    hopper.fresh(lambda state: list(state.effort) == [2.0, -3.0])
    lift = WrenchStamped(wrench=messages.wrench_message(np.array([0.1, 0.2, 0.3, 5.0, -4.0, 60.0])))
    lift.header.frame_id = "imu"
    before = hopper.status()[1].get("command rate [Hz]")
    assert before is not None
    hopper.publisher(WrenchStamped, "base_wrench").publish(lift)
    hopper.status(lambda status, values: float(values["command rate [Hz]"]) > 0)
    state = hopper.step(200)
    twin.command(np.array([*twin.base.wrench(messages.wrench(lift.wrench), "imu"), 2.0, -3.0]))
    twin.advance(200)
    assert list(state.name) == list(robots.JOINTS)
    np.testing.assert_array_equal(state.position, twin.q[7:])
    odometry = hopper.wait(lambda: next((m for m in hopper.odometry if m.header.stamp == state.header.stamp), None),
                           "odometry of the state's stamp")
    np.testing.assert_array_equal(messages.placement(odometry.pose.pose), twin.q[:7])
    np.testing.assert_array_equal(messages.twist(odometry.twist.twist), twin.qd[:6])
    assert (odometry.header.frame_id, odometry.child_frame_id) == ("arena", "trunk")


def test_the_transform_of_the_base_is_its_odometry(hopper):
    """Where tf2_msgs is installed; elsewhere the log says what is missing."""
    tf = pytest.importorskip("tf2_msgs.msg", reason="transforms need the ROS package tf2_msgs")
    sent = hopper.collect(tf.TFMessage, "/tf")
    hopper.odometry.clear()
    hopper.wait(lambda: sent and hopper.odometry, "a transform", lambda: hopper.step(10))
    transform = sent[-1].transforms[0]
    odometry = next(m for m in hopper.odometry if m.header.stamp == transform.header.stamp)
    assert (transform.header, transform.child_frame_id) == (odometry.header, odometry.child_frame_id)
    np.testing.assert_array_equal(messages.vector(transform.transform.translation),
                                  messages.vector(odometry.pose.pose.position))
    assert transform.transform.rotation == odometry.pose.pose.orientation


def test_a_state_to_start_from(hopper, rng):
    q, v = robots.state(rng)
    answer = hopper.call(ResetTo, "~/reset_to", base=base(q, v), state=JointState(name=["slide"], position=[0.1]))
    assert answer.success, answer.message
    hopper.odometry.clear()
    odometry = hopper.wait(lambda: next(iter(hopper.odometry), None), "odometry", lambda: hopper.step(0))
    np.testing.assert_allclose(messages.placement(odometry.pose.pose), q[:7], atol=1e-15)
    np.testing.assert_array_equal(messages.twist(odometry.twist.twist), v[:6])
    off = base(q * 2.0, v)
    answer = hopper.call(ResetTo, "~/reset_to", base=off)
    assert not answer.success and answer.message.startswith("base[0].pose: the quaternion")


def test_a_trajectory_releases_the_base_too(hopper):
    hopper.reset()
    trajectory = JointTrajectory(joint_names=robots.JOINTS)
    point = JointTrajectoryPoint(positions=[0.5, 0.05])
    point.time_from_start.nanosec = 200_000_000
    trajectory.points.append(point)
    hopper.publisher(JointTrajectory, "joint_trajectory_controller/joint_trajectory", 1).publish(trajectory)
    hopper.status(lambda status, values: values["trajectories"] != "none")
    state = hopper.step(500)
    np.testing.assert_allclose(state.position, [0.5, 0.05], atol=1e-3)
    odometry = hopper.wait(lambda: next((m for m in hopper.odometry if m.header.stamp == state.header.stamp), None),
                           "odometry of the state's stamp")
    assert odometry.pose.pose.position.z < -0.9, "it fell for half a second"


@pytest.mark.parametrize("frame, force, reason", [
    ("shin", 1.0, "unknown frame"), ("trunk", np.nan, "non-finite value")])
def test_a_bad_wrench_is_dropped_and_counted(hopper, frame, force, reason):
    bad = WrenchStamped(wrench=messages.wrench_message(np.full(6, force)))
    bad.header.frame_id = frame
    hopper.status(lambda status, values: int(values.get(f"dropped: {reason}", 0)) > 0,
                  lambda: hopper.publisher(WrenchStamped, "base_wrench").publish(bad))


def test_it_is_there_again_after_a_cleanup(hopper):
    for transition in (Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP,
                       Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
        assert hopper.call(ChangeState, "~/change_state", transition=Transition(id=transition)).success
    hopper.odometry.clear()
    hopper.wait(lambda: hopper.odometry, "odometry")
    hopper.wait(lambda: hopper.publishers["base_wrench"].get_subscription_count(), "a subscription of base_wrench")
    np.testing.assert_allclose(
        messages.placement(hopper.odometry[-1].pose.pose), PARAMETERS["initial_base_pose"], atol=1e-15)


def test_a_robot_without_a_floating_base_has_no_state_of_it(tmp_path, ros):
    with RobotSimulator(robots.hopper(), [], namespace="bolted", folder=tmp_path, patience=PATIENCE) as simulator:
        with pytest.raises(LockstepError, match="base: the robot has no floating base, must be empty"):
            simulator.reset(base_pose=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        assert not simulator.node.get_publishers_info_by_topic("/bolted/odom")
