"""What dynamics_node offers beside torques on a real robot's model, a UR5: matrices, trajectories with efforts, and the
identification of a payload; over real DDS, one process for all tests of this file."""

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from screw_dynamics_interfaces import srv
from screw_dynamics_interfaces.msg import JointMatrix
from support.graph import PATIENCE, Driver
from support.real_robots import PATHS, real_robot

pytestmark = pytest.mark.slow

UR5 = "ur_description/urdf/ur5_robot.urdf"
LINK = "ee_link"
MASS, COM, INERTIA = 2.5, np.array([0.06, 0.01, -0.02]), np.diag([0.004, 0.006, 0.005])
SECOND = 1_000_000_000
START = 1000      # s: the stamp of the first state


class Ur5(Driver):
    """The driver of a dynamics_node that has a UR5."""

    MODULE = "screw_dynamics.ros.dynamics.node"

    def __init__(self, namespace):
        super().__init__(namespace, "screw_dynamics")
        self.robot = real_robot(UR5)
        self.gravity = self.collect(JointState, "~/gravity")
        self.filled = self.collect(JointTrajectory, "~/trajectory_with_efforts")

    def send(self, t, q, qd, tau=()):
        """A state, stamped t seconds after the start, with the joints in another order."""
        order = [3, 1, 5, 0, 4, 2]
        msg = JointState(name=[self.robot.joint_names[i] for i in order])
        for field, values in (("position", q), ("velocity", qd), ("effort", tau)):
            if len(values):
                setattr(msg, field, np.asarray(values)[order].tolist())
        msg.header.stamp.sec, msg.header.stamp.nanosec = divmod(START * SECOND + round(t * SECOND), SECOND)
        self.publisher(JointState, "/ur5/joint_states").publish(msg)
        return msg.header.stamp

    def arrived(self, *sample):
        """Send a state until the node has answered it."""
        stamp = self.send(*sample)
        self.wait(lambda: any(message.header.stamp == stamp for message in self.gravity), "torques",
                  lambda: self.send(*sample))
        self.gravity.clear()


@pytest.fixture(scope="module")
def ur5(start_for_all):
    driver = start_for_all(Ur5, "ur5", {
        "state_timeout": PATIENCE, "publish_mass_matrix": True, "jacobian_links": "[ee_link, nose, '']",
        "joints": "[wrist_1_joint, elbow_joint, shoulder_lift_joint]"})
    driver.describe(PATHS[UR5].read_text())
    driver.status(lambda status, values: values.get("robot_description") == "robot loaded")
    while not (answer := driver.call(
            srv.FillTrajectoryEfforts, "~/fill_trajectory_efforts", trajectory=trajectory([]))).success:
        assert "not ready yet" in answer.message     # torques do not wait for what this takes
    return driver


Q, QD = np.array([0.3, -1.2, 1.4, -0.6, 0.9, 0.2]), np.linspace(-0.3, 0.3, 6)
SUBSET = [3, 2, 1]      # of the parameter joints


def answered(driver, messages, accept=lambda message: True):
    """The message that comes for a state, which is sent until one does."""
    messages.clear()
    return driver.wait(lambda: next(filter(accept, messages), None), "a matrix", lambda: driver.send(0.0, Q, QD))


def matrix(message):
    """The numbers of a JointMatrix."""
    return np.reshape(message.data, (message.rows, message.cols))


def test_the_mass_matrix_has_the_joints_of_the_outputs(ur5):
    message = answered(ur5, ur5.collect(JointMatrix, "~/mass_matrix"))
    np.testing.assert_allclose(matrix(message), ur5.robot.mass_matrix(Q)[np.ix_(SUBSET, SUBSET)], rtol=1e-12)
    assert message.joint_names == ["wrist_1_joint", "elbow_joint", "shoulder_lift_joint"]
    assert (message.link, message.header.frame_id, message.header.stamp.sec) == ("", "", START)


def test_jacobians_are_those_of_the_representation(ur5):
    messages = ur5.collect(JointMatrix, "~/jacobian/ee_link")
    root = ur5.robot.model.root
    for representation, frame in (("mixed", ""), ("hybrid", root), ("spatial", root), ("body", LINK)):
        assert ur5.set_parameter("jacobian_representation", representation) == ""
        expected = ur5.robot.jacobian(Q, LINK, representation)[:, SUBSET]
        message = answered(ur5, messages, lambda message, frame=frame, expected=expected: (
            message.header.frame_id == frame and np.allclose(matrix(message), expected, rtol=1e-12, atol=0.0)))
        assert message.link == LINK and message.joint_names[1] == "elbow_joint"
    assert "must be one of" in ur5.set_parameter("jacobian_representation", "left")


def test_a_link_that_the_robot_does_not_have_is_reported(ur5):
    status, _ = ur5.status(lambda status, values: status.level == DiagnosticStatus.WARN and "nose" in status.message,
                           lambda: ur5.send(0.0, Q, QD))
    assert status.message == "jacobian_links: 'nose' is not a link of the robot"


# ------------------------------------------------------------------------------------------------- trajectories
ORDER = [5, 2, 0, 4, 3, 1]


def trajectory(points, extra=()):
    """A trajectory with the joints in ORDER; points: (q, qd, qdd) in model order, () for what is left out."""
    robot = real_robot(UR5)
    message = JointTrajectory(joint_names=[robot.joint_names[i] for i in ORDER] + list(extra))
    for k, point in enumerate(points):
        fields = {name: [*np.asarray(values)[ORDER], *[0.5] * len(extra)] if len(values) else []
                  for name, values in zip(("positions", "velocities", "accelerations"), point, strict=True)}
        message.points.append(JointTrajectoryPoint(time_from_start=Duration(sec=k), effort=[9.0], **fields))
    return message


def efforts(message):
    """(points, n) in model order."""
    filled = np.array([point.effort for point in message.points])
    return filled[:, np.argsort(ORDER)]


def test_a_trajectory_comes_back_with_its_efforts(ur5, rng):
    points = [*rng.uniform(-0.5, 0.5, (40, 3, 6)), (Q, QD, ()), (Q, (), ())]
    answer = ur5.call(srv.FillTrajectoryEfforts, "~/fill_trajectory_efforts", trajectory=trajectory(points))
    assert answer.success and answer.message == ""
    zero = np.zeros(6)
    expected = [ur5.robot.inverse_dynamics(*(x if len(x) else zero for x in point)) for point in points]
    np.testing.assert_allclose(efforts(answer.trajectory), expected, rtol=1e-10, atol=1e-12)
    assert answer.trajectory.points[7].time_from_start.sec == 7
    ur5.filled.clear()
    publisher = ur5.publisher(JointTrajectory, "~/trajectory")
    publisher.publish(trajectory(points, extra=("gripper",)))
    message = ur5.wait(lambda: ur5.filled and ur5.filled[-1], "the trajectory")
    np.testing.assert_array_equal(efforts(answer.trajectory), efforts(message))
    assert message.joint_names[-1] == "gripper" and message.points[0].effort[-1] == 0.0


def test_efforts_beyond_limits_are_said_and_not_clipped(ur5):
    hasty = [(Q, QD, QD), (Q, QD, np.array([0.0, 300.0, 0.0, 0.0, 0.0, 0.0]))]
    answer = ur5.call(srv.FillTrajectoryEfforts, "~/fill_trajectory_efforts", trajectory=trajectory(hasty))
    expected = ur5.robot.inverse_dynamics(*hasty[1])
    lift = f"effort of joint 'shoulder_lift_joint' is {expected[1]:.4g} at points[1], its limit is 150"
    assert answer.success and lift in answer.message and "wrist_3_joint" not in answer.message
    np.testing.assert_allclose(efforts(answer.trajectory)[1], expected)
    status, values = ur5.status(lambda status, values: "noticed: effort limit exceeded" in values)
    assert values["noticed: effort limit exceeded"] == "1"


def put(values, k, value):
    values[k] = value


BROKEN = {
    "missing": (lambda t: put(t.joint_names, 0, "x"), "joint_names: joint 'wrist_3_joint' of the model is missing"),
    "twice": (lambda t: put(t.joint_names, 0, t.joint_names[1]), "is named twice"),
    "length": (lambda t: t.points[1].accelerations.append(1.0), "points[1].accelerations has 7 values for 6 joint"),
    "nan": (lambda t: put(t.points[1].velocities, 2, np.nan), "velocities of joint 'shoulder_pan_joint' is nan"),
    "positions": (lambda t: setattr(t.points[0], "positions", []), "points[0].positions has 0 values for 6 joint"),
    "huge": (lambda t: put(t.points[0].velocities, 0, 1e300), "points[0]: effort of joint"),
}


@pytest.mark.parametrize("damage, says", BROKEN.values(), ids=BROKEN)
def test_a_broken_trajectory_is_refused_by_service_and_topic(ur5, damage, says):
    message = trajectory([(Q, QD, QD)] * 2)
    damage(message)
    answer = ur5.call(srv.FillTrajectoryEfforts, "~/fill_trajectory_efforts", trajectory=message)
    assert not answer.success and says in answer.message and not answer.trajectory.points
    ur5.filled.clear()
    publisher = ur5.publisher(JointTrajectory, "~/trajectory")
    publisher.publish(message)
    publisher.publish(trajectory([(Q, (), ())]))
    good = ur5.wait(lambda: ur5.filled and ur5.filled[-1], "the good one after it")
    assert len(ur5.filled) == 1 and len(good.points) == 1


def test_an_empty_trajectory_is_empty(ur5):
    assert ur5.call(srv.FillTrajectoryEfforts, "~/fill_trajectory_efforts", trajectory=trajectory([])).success


# ------------------------------------------------------------------------------------------------- payload
def motion(frequency, seconds=10.0, rate=100.0):
    """Sines of every joint: t, q, q', q''."""
    t = np.arange(0.0, seconds, 1.0 / rate)
    w = 2.0 * np.pi * frequency * np.array([1.0, 0.83, 1.21, 0.67, 1.37, 0.9])
    phase = t[:, None] * w + np.arange(6)
    return t, Q + 0.5 * np.sin(phase), 0.5 * w * np.cos(phase), -0.5 * w**2 * np.sin(phase)


def record(ur5, frequency, rng):
    """Send what a UR5 with a payload measures on the motion, with noise; the node has recorded it afterwards."""
    carrying = ur5.robot.with_payload(LINK, MASS, COM, INERTIA)
    t, q, qd, qdd = motion(frequency)
    tau = carrying.inverse_dynamics(q, qd, qdd) + carrying.friction_torque(qd) + 0.05 * rng.standard_normal(q.shape)
    assert ur5.set_parameter("payload_recording", 0.0) == ""      # forget what was before
    assert ur5.set_parameter("payload_recording", 60.0) == ""
    for k, sample in enumerate(zip(t, q, qd, tau, strict=True)):
        ur5.send(*sample)
        if k % 50 == 49:    # not so fast that states are lost
            ur5.arrived(*sample)
    ur5.status(lambda status, values: int(values.get("recorded states", 0)) > 0.9 * len(t))


def identify(ur5, **request):
    return ur5.call(srv.IdentifyPayload, "~/identify_payload", **({"link": LINK} | request))


def test_a_payload_is_identified_and_applied(ur5, rng):
    assert "payload_recording is 0" in identify(ur5).message
    record(ur5, 0.3, rng)
    answer = identify(ur5)
    assert answer.success, answer.message
    assert all(answer.observable) and answer.samples > 900 and 0.0 < answer.residual < 0.1
    assert abs(answer.inertia.m - MASS) < 3.0 * answer.standard_deviations[0] < 0.05
    np.testing.assert_allclose([answer.inertia.com.x, answer.inertia.com.y, answer.inertia.com.z], COM, atol=3e-3)
    assert answer.inertia.iyy == pytest.approx(0.006, abs=0.004) and answer.parameters[0] == answer.inertia.m
    assert identify(ur5, apply=True).success
    _, values = ur5.status(lambda status, values: values["payloads [kg]"] != "none")
    assert values["payloads [kg]"] == f"{LINK}: {answer.inertia.m:g}"
    again = identify(ur5)
    assert again.inertia.m == pytest.approx(answer.inertia.m, rel=1e-9), "all that the link carries, not what is new"
    gravity = ur5.call(srv.GetGravity, "~/get_gravity", position=Q.tolist()).effort
    np.testing.assert_allclose(gravity, ur5.robot.with_payload(LINK, MASS, COM).gravity_torque(Q), atol=0.05)
    assert ur5.call(srv.SetPayload, "~/set_payload", link=LINK).success


def test_a_slow_motion_gives_mass_and_center(ur5, rng):
    record(ur5, 0.03, rng)
    answer = identify(ur5)
    assert answer.success, answer.message
    assert list(answer.observable) == [True] * 4 + [False] * 6 and np.isinf(answer.standard_deviations[4:]).all()
    assert abs(answer.inertia.m - MASS) < 3.0 * answer.standard_deviations[0] and answer.inertia.ixx == 0.0


def test_what_cannot_be_identified_is_said(ur5):
    for request, says in (
        ({"link": ""}, "link: empty"),
        ({"link": "nose"}, "'nose' does not exist"),
        ({"link": "base_link"}, "no joint moves link 'base_link'"),
        ({"window": Duration(nanosec=1)}, "window: nothing was recorded within this time"),
    ):
        answer = identify(ur5, **request)
        assert not answer.success and says in answer.message
    assert ur5.set_parameter("payload_recording", 0.0) == ""
    assert ur5.set_parameter("payload_recording", 60.0) == ""
    assert "nothing was recorded yet: no joint_states" in identify(ur5).message
    for start, effort, says in (
            (20.0, np.zeros(6), "does not explain them"),         # though gravity acts
            (40.0, ur5.robot.gravity_torque(Q), f"not applied to link '{LINK}': ")):    # at rest, a mass at most
        assert ur5.set_parameter("payload_recording", 0.0) == ""
        assert ur5.set_parameter("payload_recording", 60.0) == ""
        for k in range(100):
            ur5.send(start + k / 100, Q, np.zeros(6), effort)
        ur5.status(lambda status, values: int(values.get("recorded states", 0)) > 50)
        answer = identify(ur5, apply=True)
        assert not answer.success and says in answer.message
    _, values = ur5.status()
    assert values["payloads [kg]"] == "none"
