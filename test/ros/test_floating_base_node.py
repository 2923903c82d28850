"""dynamics_node of a robot on a floating base, over real DDS; one process for all tests of this file."""
from types import SimpleNamespace

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import screw_dynamics as sd
from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.dynamics.payload_recording import PayloadRecording
from screw_dynamics.ros.node import messages
from screw_dynamics.ros.timing import SECOND
from screw_dynamics_interfaces import srv
from screw_dynamics_interfaces.msg import JointMatrix
from support import floating_robots as robots
from support.floating_driver import FloatingDriver, base
from support.graph import PATIENCE

pytestmark = pytest.mark.slow

NAMES = [*robots.BASE_NAMES, *robots.JOINTS]
NOTHING = "no fresh base state: nothing on /hopper/odom yet, where the state of the floating base comes"


@pytest.fixture(scope="module")
def robot():
    return sd.Robot.from_urdf(robots.hopper(), floating_base=True)


@pytest.fixture(scope="module")
def driver(start_for_all):
    return start_for_all(FloatingDriver, "hopper", {
        "robot_description": f"'{robots.hopper()}'", "floating_base": "true", "state_timeout": PATIENCE,
        "publish_mass_matrix": "true", "jacobian_links": "[shin]", "external_torque": "true", "payload_recording": 1.0})


@pytest.fixture
def state(rng):
    return robots.state(rng)


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-11)


# The first test of the file: nothing has come yet.
def test_without_odometry_it_computes_nothing_and_names_the_topic(driver, state):
    q, v = state
    driver.send_joints(q, v)
    status, _ = driver.status(lambda status, values: "/hopper/odom" in status.message, lambda: driver.send_joints(q, v))
    assert status.level == DiagnosticStatus.WARN and not any(driver.torques.values())
    assert driver.call(srv.GetGravity, "~/get_gravity").message == NOTHING
    reply = driver.call(srv.GetGravity, "~/get_gravity", position=q[7:].tolist())
    assert not reply.success and reply.message == NOTHING


@pytest.mark.parametrize("term", ["gravity", "coriolis", "inverse_dynamics"])
def test_the_torques_are_those_of_the_robot(driver, robot, state, term):
    q, v = state
    expected = {"gravity": robot.gravity_torque(q), "coriolis": robot.coriolis_torque(q, v),
                "inverse_dynamics": robot.inverse_dynamics(q, v, np.zeros(8))}
    close(driver.answer(term, q, v), expected[term])


def test_the_acceleration_of_the_base_by_finite_difference(driver, robot, state):
    q, v = state
    qdd = np.linspace(-0.2, 0.3, 8)
    with driver.parameter("acceleration_source", "finite_difference", afterwards="zero"):
        driver.settle(q, v)
        for begin in range(2):      # a second later by the stamps
            q[0] += 1.0
            velocity = v - (1 - begin) * qdd
            stamp = driver.settle_base(q, velocity)
            driver.send_joints(q, velocity, stamp)
            driver.wait(lambda stamp=stamp: driver.output("gravity", stamp), "gravity")
        torque = driver.wait(lambda: driver.output("inverse_dynamics", stamp), "inverse dynamics")
        close(torque.effort, robot.inverse_dynamics(q, v, qdd)[6:])


BAD = [
    ({"child": "shin"}, "unknown frame"),
    ({"quaternion": [0.0, 0.0, 0.0, 1.1]}, "no unit quaternion"),
    ({"quaternion": [0.0, 0.0, 0.0, np.nan]}, "non-finite value"),
]


def test_bad_odometry_is_dropped_and_counted(driver, robot, state):
    q, v = state
    driver.settle(q, v)
    for bad, reason in BAD:
        _, values = driver.status()
        before = int(values.get(f"dropped: {reason}", 0))
        other = np.concatenate(([9.0, 9.0, 9.0], bad.get("quaternion", q[3:7]), q[7:]))
        driver.status(lambda status, values, reason=reason, before=before:
                      int(values.get(f"dropped: {reason}", 0)) > before,
                      lambda bad=bad, other=other: driver.send_odometry(other, v, child=bad.get("child", "trunk")))
    reply = driver.call(srv.GetForwardKinematics, "~/get_forward_kinematics", link="trunk")
    close(messages.placement(reply.pose.pose)[:3], q[:3])


def test_stale_odometry_stops_everything(driver, state):
    q, v = state
    driver.settle(q, v)
    with driver.parameter("state_timeout", 0.5, afterwards=PATIENCE):
        status, values = driver.status(lambda status, values: "odom is stale" in status.message,
                                       lambda: driver.send_joints(q, v))
        assert status.level == DiagnosticStatus.STALE and float(values["base state age [s]"]) > 0.5
        assert "/hopper/odom is stale" in driver.call(srv.GetMassMatrix, "~/get_mass_matrix").message


# ------------------------------------------------------------------------------------------------- services
def good(reply):
    assert reply.success, reply.message
    assert list(reply.joint_names) == NAMES
    return reply


@pytest.mark.parametrize("given", ["base", "joints", "both", "neither"])
def test_services_take_the_base_and_the_joints_or_the_latest(driver, robot, state, rng, given):
    q, v = state
    other, rates = robot.random_configuration(seed=rng), rng.uniform(-1.0, 1.0, 8)
    driver.settle(other if given != "neither" else q, rates if given != "neither" else v)
    fields, q_used, v_used = {}, q.copy(), v.copy()
    if given in ("base", "both"):
        fields["base"] = base(q, v)
    elif given == "joints":
        q_used[:7], v_used[:6] = other[:7], rates[:6]
    if given in ("joints", "both"):
        fields |= {"joint_names": ["slide", "hip"], "position": q[[8, 7]].tolist(), "velocity": v[[7, 6]].tolist()}
    elif given == "base":
        q_used[7:], v_used[6:] = other[7:], rates[6:]
    reply = driver.call(srv.GetCoriolis, "~/get_coriolis", matrix=True, **fields)
    assert reply.success, reply.message
    order = [NAMES.index(name) for name in reply.joint_names]
    assert order == [0, 1, 2, 3, 4, 5, 7, 6] if "position" in fields else order == list(range(8))
    close(reply.effort, robot.coriolis_torque(q_used, v_used)[order])
    close(np.reshape(reply.data, (8, 8)), robot.coriolis_matrix(q_used, v_used)[np.ix_(order, order)])


def test_dynamics_of_given_states(driver, robot, state, rng):
    q, v = state
    qdd, tau, wrench = rng.standard_normal(8), rng.standard_normal(8), rng.standard_normal(6)
    fields = {"position": q[7:].tolist(), "velocity": v[6:].tolist()}
    reply = good(driver.call(srv.InverseDynamics, "~/inverse_dynamics", base=base(q, v, qdd[:6]),
                             acceleration=qdd[6:].tolist(), **fields))
    close(reply.effort, robot.inverse_dynamics(q, v, qdd))
    external = WrenchStamped(wrench=messages.wrench_message(wrench))
    external.header.frame_id = "imu"
    reply = good(driver.call(srv.ForwardDynamics, "~/forward_dynamics", base=base(q, v), effort=tau[6:].tolist(),
                             external=[external], **fields))
    close(reply.acceleration,
          robot.forward_dynamics(q, v, np.concatenate((np.zeros(6), tau[6:])), {"imu": wrench}))
    named = {"joint_names": NAMES, **{field: [0.0] * 6 + values for field, values in fields.items()}}
    reply = good(driver.call(srv.ForwardDynamics, "~/forward_dynamics", base=base(q, v), effort=tau.tolist(), **named))
    close(reply.acceleration, robot.forward_dynamics(q, v, tau))
    reply = good(driver.call(srv.GetMassMatrix, "~/get_mass_matrix", base=base(q, v), position=fields["position"]))
    close(np.reshape(reply.data, (8, 8)), robot.mass_matrix(q))
    reply = good(driver.call(
        srv.GetJacobian, "~/get_jacobian", base=base(q, v), link="shin", derivative=True, **fields))
    close(np.reshape(reply.data, (6, 8)), robot.jacobian(q, "shin"))
    close(np.reshape(reply.derivative, (6, 8)), robot.jacobian_derivative(q, v, "shin"))
    assert reply.frame_id == "world"
    reply = good(driver.call(srv.GetJointScrews, "~/get_joint_screws"))
    close(np.reshape(reply.screws, (8, 6)), robot.model.screws_spatial)
    assert list(reply.link_names) == ["trunk"] * 6 + ["thigh", "shin"]


@pytest.mark.slow       # compiles the derivatives of dynamics on groups
def test_linear_models_of_given_states(driver, robot, state, rng):
    q, v = state
    tau, wrench = rng.standard_normal(8), rng.standard_normal(6)
    external = WrenchStamped(wrench=messages.wrench_message(wrench))
    external.header.frame_id = "imu"
    order = [0, 1, 2, 3, 4, 5, 7, 6]
    named = {"joint_names": ["slide", *robots.BASE_NAMES, "hip"], "position": [q[8], *[0.0] * 6, q[7]],
             "velocity": [v[7], *[0.0] * 6, v[6]], "effort": [tau[7], *tau[:6], tau[6]]}
    for h in (0.0, 0.01):
        reply = driver.call(srv.Linearize, "~/linearize", base=base(q, v), external=[external], time_step=h, **named)
        assert reply.success, reply.message
        assert list(reply.joint_names) == [NAMES[k] for k in order] and (reply.rows, reply.cols) == (16, 8)
        A, B, qdd = robot.linearize(q, v, tau, h or None, {"imu": wrench})
        rows = [*order, *(8 + k for k in order)]
        close(reply.acceleration, qdd[order])
        close(np.reshape(reply.a, (16, 16)), A[np.ix_(rows, rows)])
        close(np.reshape(reply.b, (16, 8)), B[np.ix_(rows, order)])


@pytest.mark.slow       # compiles the regressor on groups
def test_regressor_of_links_alone(driver, robot, state, rng):
    q, v = state
    qdd = rng.standard_normal(8)
    fields = {"position": q[7:].tolist(), "velocity": v[6:].tolist(), "acceleration": qdd[6:].tolist()}
    reply = good(driver.call(srv.GetRegressor, "~/get_regressor", base=base(q, v, qdd[:6]), friction=True, **fields))
    assert (reply.rows, reply.cols) == (8, 54)              # of three links and eight velocities
    links = {name.partition(".")[0] for name in reply.parameter_names[:30]}
    assert links == {"trunk", "thigh", "shin"}
    close(np.reshape(reply.data, (8, 54)) @ reply.parameters,
          robot.inverse_dynamics(q, v, qdd) + robot.friction_torque(v))


@pytest.mark.slow       # compiles the search on groups
@pytest.mark.parametrize("given", [False, True])
def test_inverse_kinematics_above_a_base_that_stays_where_it_is(driver, robot, state, rng, given):
    q, v = state
    driver.settle(q, v)
    there = np.concatenate((robot.random_configuration(seed=rng)[:7] if given else q[:7], q[7:]))
    for frame, reference in (("", None), ("world", None), ("imu", "imu")):
        goal = PoseStamped(pose=messages.pose_message(robot.forward_kinematics(there, "shin", reference)))
        goal.header.frame_id = frame
        for fields in {}, {"joint_names": ["slide", "hip"], "position": [0.0, 0.1]}:
            reply = driver.call(srv.SolveInverseKinematics, "~/solve_inverse_kinematics", links=["shin"], poses=[goal],
                                base=base(there, v) if given else [], **fields)
            assert reply.success, reply.message
            assert list(reply.joint_names) == fields.get("joint_names", ["hip", "slide"])
            found = dict(zip(reply.joint_names, reply.position, strict=True))
            np.testing.assert_allclose([found["hip"], found["slide"]], there[7:], atol=1e-5)
    reply = driver.call(srv.SolveInverseKinematics, "~/solve_inverse_kinematics", links=["imu"], poses=[goal])
    assert not reply.success and "link 'imu': no joint of one degree of freedom" in reply.message


def test_a_bad_base_of_a_request_is_named(driver, state):
    q, v = state
    off = q.copy()
    off[3:7] *= 1.1
    for pose, twist, says in ((off, v, "base[0].pose: the quaternion"), (q, v * np.nan, "base[0].twist is [nan")):
        reply = driver.call(srv.GetGravity, "~/get_gravity", base=base(pose, twist), position=q[7:].tolist())
        assert not reply.success and reply.message.startswith(says), reply.message


def test_a_trajectory_of_the_joints_has_the_base_where_it_is_and_as_it_moves(driver, robot, state, rng):
    q, v = state
    driver.settle(q, v)
    motion = rng.uniform(-0.5, 0.5, (3, 4, 2))
    given = JointTrajectory(joint_names=["slide", "hip"], points=[JointTrajectoryPoint(
        positions=x[::-1].tolist(), velocities=y[::-1].tolist(), accelerations=z[::-1].tolist())
        for x, y, z in motion.swapaxes(0, 1)])
    reply = driver.wait(lambda: (answer := driver.call(
        srv.FillTrajectoryEfforts, "~/fill_trajectory_efforts", trajectory=given)).success and answer, "efforts")
    for point, (x, y, z) in zip(reply.trajectory.points, motion.swapaxes(0, 1), strict=True):
        expected = robot.inverse_dynamics(np.r_[q[:7], x], np.r_[v[:6], y], np.r_[np.zeros(6), z])
        close(point.effort[::-1], expected[6:])


@pytest.mark.slow       # compiles what takes many states on groups
def test_a_payload_is_identified_while_the_base_moves(driver, robot):
    """On its feet, say: what acts on the base tells nothing of the load, unless the base is said to be free."""
    mass, com = 1.5, np.array([0.05, -0.04, -0.1])
    carrying, t = robot.with_payload("shin", mass, com), 0.004 * np.arange(1500)
    wave = [0.6 * np.sin(2.0 * t), 1.2 * np.cos(2.0 * t), -2.4 * np.sin(2.0 * t)]    # of the base about its axis
    place = np.stack([0.3 * np.sin(1.5 * t), 0.2 * np.cos(t), 1.0 + 0.0 * t], axis=1)
    rate = np.stack([0.45 * np.cos(1.5 * t), -0.2 * np.sin(t), 0.0 * t], axis=1)
    rate_2 = np.stack([-0.675 * np.sin(1.5 * t), -0.2 * np.cos(t), 0.0 * t], axis=1)
    axis, phase = np.array([0.6, 0.0, 0.8]), np.stack([3.0 * t, 2.2 * t + 1.0], axis=1)
    turned = Rotation.from_rotvec(wave[0][:, None] * axis)
    w, wd = wave[1][:, None] * axis, wave[2][:, None] * axis
    u = turned.inv().apply(rate)
    ud = turned.inv().apply(rate_2) - np.cross(w, u)
    k = np.array([3.0, 2.2])
    amplitude = np.array([0.8, 0.15])
    q = np.hstack([place, turned.as_quat(), amplitude * np.sin(phase)])
    v = np.hstack([w, u, amplitude * k * np.cos(phase)])
    tau = carrying.inverse_dynamics(q, v, np.hstack([wd, ud, -amplitude * k * k * np.sin(phase)]))[:, 6:]
    assert not driver.set_parameter("payload_recording", 0.0) and not driver.set_parameter("payload_recording", 20.0)
    odometry, joints = driver.publisher(Odometry, "odom", qos_profile_sensor_data), driver.publisher(
        JointState, "joint_states")
    begin = 1_000_000 * SECOND
    for row in range(len(t)):
        stamp = messages.time_message(begin + round(t[row] * SECOND))
        base_message = driver.odometry(q[row], v[row])
        one = JointState(name=robots.JOINTS, position=q[row, 7:].tolist(), velocity=v[row, 6:].tolist(),
                         effort=tau[row].tolist())
        base_message.header.stamp = one.header.stamp = stamp
        odometry.publish(base_message)
        driver.wait(lambda stamp=stamp: any(m.header.stamp == stamp for m in [*driver.torques["gravity"]][-1:]),
                    "gravity", lambda one=one: joints.publish(one), pace=0.1)      # each has an answer to read
    reply = driver.call(srv.IdentifyPayload, "~/identify_payload", link="shin")
    assert reply.success, reply.message
    assert reply.samples > 700 and reply.observable[0] and abs(reply.inertia.m - mass) < 0.03
    assert not driver.set_parameter("payload_base", "free")
    assert abs(driver.call(srv.IdentifyPayload, "~/identify_payload", link="shin").inertia.m - mass) > 1.0


def test_recorded_states_are_of_one_time_though_their_parts_are_not(ros, robot):
    """The base, 20 ms older than the joints, is moved on along its twist; parts that are 60 ms apart make no state."""
    node = DynamicsNode(namespace="in_process", parameter_overrides=[
        Parameter("payload_recording", value=1.0), Parameter("floating_base", value=True)])
    node.trigger_configure()
    try:
        node.use(robot)
        recording = next(output for output in node._outputs if isinstance(output, PayloadRecording))
        q, v, now = robot.neutral(), np.array([0.0, 0.0, 0.0, 0.5, -1.0, 2.0, 0.3, -0.4]), 10 * SECOND
        for late in (60, 20):
            stamps = np.array([now - late * SECOND // 1000] * 6 + [now] * 2)
            recording.observe(SimpleNamespace(position=q, velocity=v, effort=np.zeros(8), stamps=stamps,
                                              joints=SimpleNamespace(stamps=stamps[6:])))
            if late == 60:
                with pytest.raises(ValueError, match="the parts of states are 0.06 s apart by their stamps"):
                    recording._recorded(0)
        _, found, _ = recording._recorded(0)
        np.testing.assert_allclose(found, [q + np.r_[0.02 * v[3:6], np.zeros(6)]], rtol=0, atol=1e-15)
    finally:
        node.end()
        node.endpoints.close()


def test_external_efforts_of_a_robot_at_rest_are_what_its_own_lack(driver, robot, state):
    """Its weight on the base is no contact, which is at joints."""
    q, v = state[0], np.zeros(8)
    weight = robot.gravity_torque(q)
    own, contacts = weight[6:] + (1.0, -2.0), driver.collect(Bool, "~/contact")
    external = driver.collect(JointState, "~/external_torque"), driver.collect(WrenchStamped, ("~/external_torque"
                                                                                               "/base_wrench"))
    expected = weight - np.concatenate((np.zeros(6), own))
    assert np.abs(expected[6:]).max() < 5.0 < np.abs(expected[:6]).max()        # 5 N m or N is what a contact takes

    def found():
        stamp = driver.settle_base(q, v)
        driver.send_joints(q, v, stamp, own)
        return all(external) and np.allclose(
            [*messages.wrench(external[1][-1].wrench), *external[0][-1].effort], expected, rtol=0, atol=1e-6)

    driver.settle(q, v)
    driver.wait(found, "the external efforts")
    assert external[1][-1].header.frame_id == "trunk"
    driver.wait(lambda: contacts, "contacts")
    assert not contacts[-1].data


def test_matrices_on_topics(driver, robot, state):
    q, v = state
    mass, jacobian = driver.collect(JointMatrix, "~/mass_matrix"), driver.collect(JointMatrix, "~/jacobian/shin")
    driver.settle(q, v)
    mass.clear()
    jacobian.clear()
    driver.wait(lambda: mass and jacobian, "matrices", lambda: driver.send_joints(q, v))
    assert list(mass[-1].joint_names) == NAMES
    close(np.reshape(mass[-1].data, (8, 8)), robot.mass_matrix(q))
    close(np.reshape(jacobian[-1].data, (6, 8)), robot.jacobian(q, "shin"))


# ------------------------------------------------------------------------------------------------- other nodes
def test_another_robot_in_its_place_has_another_base_or_none(driver, robot, state):
    quadrotor, q, v = sd.Robot.from_urdf(robots.quadrotor(), floating_base=True), *(x[:k] for x, k in zip(
        state, (7, 6), strict=True))
    assert driver.set_parameter("robot_description", robots.quadrotor()) == ""
    driver.status(lambda status, values: "nothing on /hopper/odom yet" in status.message)
    wrenches = driver.wrenches["coriolis"]
    wrenches.clear()
    driver.wait(lambda: wrenches, "a wrench", lambda: driver.send_odometry(q, v, child="body"))
    assert wrenches[-1].header.frame_id == "body"
    close(messages.wrench(wrenches[-1].wrench), quadrotor.coriolis_torque(q, v))
    assert driver.set_parameter("robot_description", robots.hopper()) == ""
    driver.wait(lambda: "joint_states" in driver.call(srv.GetGravity, "~/get_gravity").message, "the first robot")
    close(driver.answer("coriolis", *state), robot.coriolis_torque(*state))


def test_another_robot_has_the_same_topics_whatever_the_rate(driver, robot, state):
    q, v = state
    topic = "/hopper/screw_dynamics/gravity/base_wrench"
    driver.settle(q, v)
    with driver.parameter("publish_rate", 100.0, afterwards=0.0):
        assert not driver.set_parameter("robot_description", robots.hopper().replace('"slide"', '"glide"'))
        driver.wait(lambda: "glide" in driver.call(srv.GetJointScrews, "~/get_joint_screws").joint_names, "the robot")
        assert not driver.set_parameter("robot_description", robots.hopper())
        driver.wait(lambda: "slide" in driver.call(srv.GetJointScrews, "~/get_joint_screws").joint_names, "the robot")
    close(driver.answer("gravity", q, v), robot.gravity_torque(q))
    assert driver.node.count_publishers(topic) == 1


def test_the_pose_and_the_twist_on_topics_of_their_own(start, robot):
    """Of a quadrotor, which has no joints: torques come with its base."""
    quadrotor = sd.Robot.from_urdf(robots.quadrotor(), floating_base=True)
    q, v = quadrotor.random_configuration(seed=1), np.linspace(-0.5, 0.7, 6)
    parameters = {"robot_description": f"'{robots.quadrotor()}'", "floating_base": "true",
                  "base_state_source": "pose_and_twist", "state_timeout": PATIENCE}
    driver = start(FloatingDriver, "quadrotor", parameters)
    reply = driver.wait(lambda: (r := driver.call(srv.GetGravity, "~/get_gravity")).message.startswith(
        "no fresh") and r, "the robot")
    assert "nothing on /quadrotor/base_pose and /quadrotor/base_twist yet" in reply.message
    pose = PoseStamped(pose=messages.placement_message(q))
    twist = TwistStamped(twist=messages.twist_message(v))

    def send():
        driver.publisher(PoseStamped, "base_pose").publish(pose)
        driver.publisher(TwistStamped, "base_twist").publish(twist)

    wrenches = driver.wrenches["coriolis"]
    driver.wait(lambda: wrenches, "a wrench", send)
    close(messages.wrench(wrenches[-1].wrench), quadrotor.coriolis_torque(q, v))
    assert wrenches[-1].header.frame_id == "body"
    driver.status(lambda status, values: status.message == "publishing", send)
