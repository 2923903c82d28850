"""dynamics_node of a robot with a planar and a floating joint inside its tree, over real DDS; one process."""
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Transform
from rclpy.parameter import Parameter
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState, MultiDOFJointState

import screw_dynamics as sd
from screw_dynamics.model.multi_dof_joints import coordinate_indices, multi_dof_joints
from screw_dynamics.ros.dynamics.external_torque import ExternalTorque
from screw_dynamics.ros.dynamics.joint_request import JointRequest
from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.node import messages
from screw_dynamics.ros.node.joint_state import Fault, JointMap
from screw_dynamics.ros.node.multi_dof_state import TOPIC
from screw_dynamics.ros.node.robot_state import RobotState
from screw_dynamics_interfaces import srv
from screw_dynamics_interfaces.msg import JointMatrix
from support.floating_robots import inertial
from support.graph import PATIENCE, Driver
from support.polyhedra import at as pose

MASS, COM = 0.7, np.array([0.03, -0.02, 0.05])      # of what floats
PLATE = 0.4                                         # kg, without an offset of the center of mass
NORMAL, SLIP = (0.6, 0.0, 0.8), ((0.1, 0.0, -0.3), (0.2, -0.3, 0.4))
URDF = f"""<robot name="juggler"><link name="base"/>
  <link name="arm">{inertial(1.0, (0.01, 0.012, 0.003), (0.0, 0.0, -0.2))}</link>
  <joint name="hip" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0.05 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="80" velocity="20"/></joint>
  <link name="ball">{inertial(MASS, (0.004, 0.005, 0.003), COM)}</link>
  <joint name="drift" type="floating"><parent link="arm"/><child link="ball"/>
    <origin xyz="0 0.1 -0.4" rpy="0.1 0.2 0.3"/></joint>
  <link name="plate">{inertial(PLATE, (0.002, 0.002, 0.004))}</link>
  <joint name="slip" type="planar"><parent link="arm"/><child link="plate"/><axis xyz="0.6 0 0.8"/>
    <origin xyz="0.1 0 -0.3" rpy="0.2 -0.3 0.4"/></joint>
  <link name="pin">{inertial(0.2, (0.001, 0.001, 0.001), (0.0, 0.0, 0.1))}</link>
  <joint name="lift" type="prismatic"><parent link="plate"/><child link="pin"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.2" effort="50" velocity="5"/></joint>
</robot>"""
TERMS = "gravity", "coriolis", "inverse_dynamics"
JOINTS = "lift", "hip"
SPREAD = "drift_rx", "drift_ry", "drift_rz", "drift_x", "drift_y", "drift_z", "slip_rz", "slip_x", "slip_y"


class Juggler(Driver):
    """Every state that it sends has a stamp of its own."""

    MODULE = "screw_dynamics.ros.dynamics.node"

    def __init__(self, namespace):
        super().__init__(namespace, "screw_dynamics")
        self.robot = sd.Robot.from_urdf(URDF)
        self.torques = {term: self.collect(JointState, f"~/{term}") for term in TERMS}
        self.wrenches = {term: self.collect(MultiDOFJointState, f"~/{term}/multi_dof_joints") for term in TERMS}
        self.sent = 0

    def message(self, poses, twists=None, names=("slip", "drift")):
        """The state of joints, poses (4, 4) by name."""
        found = MultiDOFJointState(joint_names=list(names))
        for name in names:
            T, transform = poses[name], Transform(translation=messages.vector_message(poses[name][:3, 3]))
            transform.rotation = messages.quaternion_message(Rotation.from_matrix(T[:3, :3]).as_quat())
            found.transforms.append(transform)
            if twists is not None:
                found.twist.append(messages.twist_message(twists[name]))
        return found

    def send(self, state, joints=()):
        """Publish a message on each topic; the stamp."""
        self.sent += 1
        other = self.message(*state)
        one = JointState(name=["lift", "hip"], position=[0.1, -0.4], velocity=list(joints) or [0.3, 0.7])
        for message, topic in ((other, "multi_dof_joint_states"), (one, "joint_states")):
            message.header.stamp.sec = self.sent
            self.publisher(type(message), topic).publish(message)
        return self.sent

    def tell(self, state):
        """Publish poses and twists, with one stamp, until the node answers with them: topics are in no order with each
        other."""
        self.sent += 1
        message = self.message(*state)
        message.header.stamp.sec = self.sent
        q, v = at(self.robot, state)
        expected = self.robot.coriolis_torque(q, v)[[velocities(self.robot).index(name) for name in (*SPREAD, *JOINTS)]]
        fields = {"joint_names": JOINTS, "position": [q[self.robot.q_slices[name]][0] for name in JOINTS],
                  "velocity": [v[self.robot.v_slices[name]][0] for name in JOINTS]}

        def has():
            reply = self.call(srv.GetCoriolis, "~/get_coriolis", **fields)
            return reply.success and np.allclose(reply.effort, expected, rtol=1e-9, atol=1e-9)
        publisher = self.publisher(MultiDOFJointState, "multi_dof_joint_states")
        self.wait(has, "poses and twists to come", lambda: publisher.publish(message))

    def answer(self, term, state, joints=()):
        """The efforts of joints, by name, and the wrenches that come for a state, at its stamp."""
        self.tell(state)
        stamps, messages_of = [], (self.torques[term], self.wrenches[term])
        for messages_ in messages_of:
            messages_.clear()

        def found():
            torques, wrenches = ({message.header.stamp.sec: message for message in x} for x in messages_of)
            both = sorted(torques.keys() & wrenches.keys() & {*stamps})
            return both and (torques[both[0]], wrenches[both[0]])
        torque, wrench = self.wait(found, term, lambda: stamps.append(self.send(state, joints)))
        efforts = dict(zip(torque.name, torque.effort, strict=True))
        return efforts, dict(zip(wrench.joint_names, map(messages.wrench, wrench.wrench), strict=True))


@pytest.fixture(scope="module")
def driver(start_for_all):
    return start_for_all(Juggler, "juggler", {
        "robot_description": f"'{URDF}'", "state_timeout": PATIENCE, "publish_mass_matrix": True,
        "external_torque": True})


@pytest.fixture(scope="module")
def state():
    """Poses and twists of the joints, which they allow: a planar one moves across its normal, and turns about it."""
    normal, across = np.array(NORMAL), np.array([0.8, 0.0, -0.6])
    aside = 0.2 * across + 0.1 * np.array([0.0, 1.0, 0.0])
    poses = {"drift": pose(0.2, -0.1, 0.4, (0.5, -0.8, 0.3)), "slip": pose(*aside, 0.7 * normal)}
    twists = {"drift": np.array([0.3, -0.2, 0.5, 1.0, -0.7, 0.4]),
              "slip": np.concatenate((0.6 * normal, 0.5 * across - 0.4 * np.array([0.0, 1.0, 0.0])))}
    return poses, twists


def at(robot, state):
    """The same as the robot has it, by its kinematics: found from poses of links, by inverse kinematics of one step."""
    q, v = robot.neutral(), np.zeros(robot.n)
    q[robot.q_slices["hip"]], q[robot.q_slices["lift"]] = -0.4, 0.1
    v[robot.v_slices["hip"]], v[robot.v_slices["lift"]] = 0.7, 0.3
    for joint in multi_dof_joints(robot.model):
        T = state[0][joint.name]
        q[joint.q] = joint.numbers(np.concatenate((T[:3, 3], Rotation.from_matrix(T[:3, :3]).as_quat())))[0]
        v[joint.v] = joint.velocities(state[1][joint.name])
    return q, v


# ------------------------------------------------------------------------------------------------- without a node
def test_a_ball_joint_has_a_quaternion_and_a_torque(rng):
    builder = sd.ModelBuilder("stand")
    builder.add_group_joint("spherical", "ball", "top", "stand", inertia=sd.inertia_matrix(1.0, (0, 0, 0.1), np.eye(3)))
    joint, = multi_dof_joints(builder.build())
    quaternion = Rotation.random(random_state=1).as_quat()
    numbers, off = joint.numbers(np.array([0.3, 0.0, 0.4, *quaternion]))
    assert abs(off - 0.5) < 1e-15 and abs(abs(numbers @ quaternion) - 1.0) < 1e-15
    wrench, twist = joint.wrench(rng.standard_normal(3)), rng.standard_normal(6)
    assert abs(wrench @ twist - joint.efforts(wrench) @ joint.velocities(twist)) < 1e-15 and (wrench[3:] == 0.0).all()


def test_a_planar_joint_says_how_far_a_pose_is_off_its_plane():
    slip = next(joint for joint in multi_dof_joints(sd.Robot.from_urdf(URDF).model) if joint.name == "slip")
    aside, up = np.array([0.8, 0.0, -0.6]), np.array(NORMAL)
    assert slip.numbers(np.array([*(0.4 * aside), 0.0, 0.0, 0.0, 1.0]))[1] < 1e-15
    assert slip.numbers(np.array([*(0.4 * aside - 0.3 * up), 0.0, 0.0, 0.0, 1.0]))[1] == pytest.approx(0.3, rel=1e-12)
    tilted = Rotation.from_rotvec(0.2 * aside).as_quat()
    assert slip.numbers(np.array([0.0, 0.0, 0.0, *tilted]))[1] == pytest.approx(np.sin(0.2), rel=1e-12)


def test_another_robot_whose_joints_are_called_alike_has_its_own_frames_and_velocities(ros):
    node = DynamicsNode(namespace="in_process", parameter_overrides=[Parameter("external_torque", value=True)])
    node.trigger_configure()
    try:
        external = next(output for output in node._outputs if isinstance(output, ExternalTorque))
        for old, new in (("", ""), ('<axis xyz="0.6 0 0.8"/>', '<axis xyz="0 0 1"/>'), ("planar", "floating")):
            robot = sd.Robot.from_urdf(URDF.replace(old, new) if old else URDF)
            node.use(robot)
            now, slip = RobotState(("hip", "lift"), others=multi_dof_joints(robot.model),
                                   indices=coordinate_indices(robot.model)), (
                multi_dof_joints(robot.model)[1])
            now.position[:], now.velocity[:], now.effort[:], now.stamps[:] = robot.neutral(), 0.0, 0.0, 10
            external.observe(now)
            assert external._observer.torque.shape == (robot.n,)
            given, = [joint for joint in external._others_output._joints if joint.name == "slip"]
            assert given.kind == slip.kind and (given.frame == slip.frame).all()
    finally:
        node.end()
        node.endpoints.close()


def test_a_velocity_that_a_request_names_twice_is_refused():
    request = JointRequest(JointMap(("hip",)), ["hip", "slip_x", "slip_x"], ["slip_x"], (np.array([0]), np.array([1])))
    with pytest.raises(ValueError, match="effort: 'slip_x' is named twice"):
        request.of_others([0.0, 1.0, 2.0], "effort")


def test_messages_merge_until_stamps_go_back(driver, state):
    robot, notes = driver.robot, []
    others = multi_dof_joints(robot.model)
    now = RobotState(("hip", "lift"), velocity_fallback="error", others=others, indices=coordinate_indices(robot.model),
                     notify=lambda topic, fault: notes.append((topic, fault.reason)))

    def take(name, sec, twists=state[1], wrench=None):
        message = driver.message(state[0], twists, (name,))
        message.header.stamp.sec = sec
        message.wrench = [messages.wrench_message(wrench)] if wrench is not None else []
        return now.others.take(message, sec)
    assert not take("drift", 5) and now.others.missing == ("slip",) and not now.fresh(6, 100)
    assert take("slip", 6, wrench=np.arange(6.0)) and now.others.stamp == 6_000_000_000
    q, v = at(robot, state)
    one = JointState(name=["lift", "hip"], position=[0.1, -0.4], velocity=[0.3, 0.7], effort=[1.0, 2.0])
    assert now.update(one, 7, 7)
    np.testing.assert_array_equal(now.position, q)
    np.testing.assert_array_equal(now.velocity, v)
    slip = next(joint for joint in others if joint.name == "slip")
    assert np.isnan(now.effort).sum() == 6
    assert abs(now.effort[slip.v] @ v[slip.v] - np.arange(6) @ state[1]["slip"]) < 1e-12
    assert now.fresh(100, 95) and not now.fresh(101, 95)         # drift came at 5
    with pytest.raises(Fault, match="twist is empty"):
        take("drift", 8, None)
    assert not take("slip", 2) and now.others.missing == ("drift",) and notes == [(TOPIC, "time backwards")]
    now.clear()
    assert np.isnan(now.position).all() and now.others.missing == ("drift", "slip")


# ------------------------------------------------------------------------------------------------- over DDS
# Nothing has come yet.
def test_it_names_what_has_not_come(driver):
    one = JointState(name=["hip", "lift"], position=[0.0, 0.0])
    status, _ = driver.status(lambda status, values: "nothing on multi_dof_joint_states yet of drift, slip" in
                              status.message, lambda: driver.publisher(JointState, "joint_states").publish(one))
    assert status.level == DiagnosticStatus.WARN and not any(driver.torques.values())
    reply = driver.call(srv.GetGravity, "~/get_gravity", position=[0.0, 0.0])
    assert not reply.success and "nothing on multi_dof_joint_states yet of drift, slip" in reply.message


def test_links_are_where_the_poses_put_them(driver, state):
    driver.answer("gravity", state)
    arm = pose(0.05, 0.0, 1.0) @ pose(turn=(0.0, -0.4, 0.0))
    for link, origin, joint in (("ball", ((0.0, 0.1, -0.4), (0.1, 0.2, 0.3)), "drift"), ("plate", SLIP, "slip")):
        C = pose(*origin[0])
        C[:3, :3] = Rotation.from_euler("xyz", origin[1]).as_matrix()
        reply = driver.call(srv.GetForwardKinematics, "~/get_forward_kinematics", link=link)
        expected = arm @ C @ state[0][joint]
        np.testing.assert_allclose(messages.placement(reply.pose.pose)[:3], expected[:3, 3], rtol=0, atol=1e-12)
        found = Rotation.from_quat(messages.placement(reply.pose.pose)[3:]).as_matrix()
        np.testing.assert_allclose(found, expected[:3, :3], rtol=0, atol=1e-12)


def test_weights_are_wrenches_on_the_links(driver, state):
    """Of what floats its weight; of what slides on a plane the part that the plane does not carry."""
    efforts, wrenches = driver.answer("gravity", state)
    arm, C = Rotation.from_rotvec((0.0, -0.4, 0.0)), Rotation.from_euler("xyz", (0.1, 0.2, 0.3))
    in_ball = (arm * C * Rotation.from_matrix(state[0]["drift"][:3, :3])).inv().apply((0.0, 0.0, 9.81 * MASS))
    np.testing.assert_allclose(wrenches["drift"], [*np.cross(COM, in_ball), *in_ball], rtol=0, atol=1e-12)
    S = arm * Rotation.from_euler("xyz", SLIP[1]) * Rotation.from_matrix(state[0]["slip"][:3, :3])
    in_plate = S.inv().apply((0.0, 0.0, 9.81 * (PLATE + 0.2)))
    n, pin = np.array(NORMAL), np.cross((0.0, 0.0, 0.1 + 0.1), S.inv().apply((0.0, 0.0, 9.81 * 0.2)))
    np.testing.assert_allclose(wrenches["slip"][3:], in_plate - (in_plate @ n) * n, rtol=0, atol=1e-12)
    np.testing.assert_allclose(wrenches["slip"][:3], (pin @ n) * n, rtol=0, atol=1e-12)
    assert set(efforts) == {"hip", "lift"} and abs(efforts["lift"] - S.inv().apply((0, 0, 9.81 * 0.2))[2]) < 1e-12


@pytest.mark.parametrize("term", TERMS)
def test_efforts_and_wrenches_have_the_power_of_the_robot(driver, state, term):
    robot = driver.robot
    q, v = at(robot, state)
    expected = {"gravity": robot.gravity_torque(q), "coriolis": robot.coriolis_torque(q, v),
                "inverse_dynamics": robot.inverse_dynamics(q, v, 0.0 * v)}[term]
    efforts, wrenches = driver.answer(term, state)
    for name in ("hip", "lift"):
        np.testing.assert_allclose(efforts[name], expected[robot.v_slices[name]][0], rtol=1e-10, atol=1e-12)
    for name, wrench in wrenches.items():
        np.testing.assert_allclose(wrench @ state[1][name], expected[robot.v_slices[name]] @ v[robot.v_slices[name]],
                                   rtol=1e-10, atol=1e-12)


def test_accelerations_by_finite_difference(driver, state):
    robot, poses = driver.robot, state[0]
    motions = []
    with driver.parameter("acceleration_source", "finite_difference", afterwards="zero"):
        for k in range(2):
            twists = {name: twist * (1.1 - 0.2 * k) for name, twist in state[1].items()}
            q, v = at(robot, (poses, twists))
            v[robot.v_slices["hip"]], v[robot.v_slices["lift"]] = 0.7 + 0.2 * k, 0.3 - 0.1 * k
            driver.tell((poses, twists))
            fields = {"position": q[[robot.q_slices[name].start for name in ("hip", "lift")]].tolist(),
                      "velocity": v[[robot.v_slices[name].start for name in ("hip", "lift")]].tolist()}
            one = JointState(name=["hip", "lift"], **fields)
            one.header.stamp.sec = driver.sent
            driver.publisher(JointState, "joint_states").publish(one)
            driver.wait(lambda: any(m.header.stamp.sec == driver.sent for m in driver.torques["gravity"]), "gravity")
            motions.append((q, v))
        torque = driver.wait(lambda: next((m for m in driver.torques["inverse_dynamics"]
                                           if m.header.stamp.sec == driver.sent), None), "inverse dynamics")
    (_, before), (q, v) = motions
    expected, found = robot.inverse_dynamics(q, v, v - before), dict(zip(torque.name, torque.effort, strict=True))
    for name in ("hip", "lift"):
        np.testing.assert_allclose(found[name], expected[robot.v_slices[name]][0], rtol=1e-9, atol=1e-10)


def test_services_have_a_column_for_each_velocity(driver, state):
    robot = driver.robot
    driver.answer("gravity", state)
    q, v = at(robot, state)
    names = [*SPREAD, "lift", "hip"]
    order = [k for name in (*SPREAD, "lift", "hip") for k in [velocities(robot).index(name)]]
    fields = {"joint_names": ["lift", "hip"], "position": [0.05, 0.2], "velocity": [0.1, -0.2]}
    q[robot.q_slices["lift"]], q[robot.q_slices["hip"]] = 0.05, 0.2
    v[robot.v_slices["lift"]], v[robot.v_slices["hip"]] = 0.1, -0.2
    reply = driver.call(srv.GetCoriolis, "~/get_coriolis", matrix=True, **fields)
    assert reply.success and list(reply.joint_names) == names, reply.message
    np.testing.assert_allclose(reply.effort, robot.coriolis_torque(q, v)[order], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.reshape(reply.data, (11, 11)), robot.coriolis_matrix(q, v)[np.ix_(order, order)],
                               rtol=1e-9, atol=1e-12)
    tau = np.linspace(-1.0, 1.0, 11)
    named = {"joint_names": ["lift", *SPREAD, "hip"], "position": [0.05, *[0.0] * 9, 0.2],
             "velocity": [0.1, *[0.0] * 9, -0.2], "effort": tau.tolist()}
    reply = driver.call(srv.ForwardDynamics, "~/forward_dynamics", **named)
    assert reply.success, reply.message
    given = np.zeros(11)
    given[[velocities(robot).index(name) for name in named["joint_names"]]] = tau
    np.testing.assert_allclose(reply.acceleration, robot.forward_dynamics(q, v, given)[order], rtol=1e-8, atol=1e-9)
    reply = driver.call(srv.GetJointScrews, "~/get_joint_screws")
    assert reply.success and list(reply.link_names) == ["ball"] * 6 + ["plate"] * 3 + ["arm", "pin"]
    order = [velocities(robot).index(name) for name in reply.joint_names]
    screws = robot.model.screws_spatial[[int(np.flatnonzero(robot.model.coordinates == k)[0]) for k in order]]
    np.testing.assert_allclose(np.reshape(reply.screws, (11, 6)), screws, rtol=0, atol=1e-12)


def velocities(robot):
    """The names of the velocities, in the order of the model."""
    return [name for joint in robot.joint_names for name in (
        [joint] if joint in ("hip", "lift") else [name for name in SPREAD if name.startswith(joint)])]


def test_the_mass_matrix_has_them_first(driver, state):
    mass = driver.collect(JointMatrix, "~/mass_matrix")
    driver.answer("gravity", state)
    found = driver.wait(lambda: mass and mass[-1], "a matrix", lambda: driver.send(state))
    robot, order = driver.robot, [velocities(driver.robot).index(name) for name in found.joint_names]
    assert list(found.joint_names[:9]) == [*SPREAD]
    np.testing.assert_allclose(np.reshape(found.data, (11, 11)), robot.mass_matrix(at(robot, state)[0])[
        np.ix_(order, order)], rtol=1e-9, atol=1e-12)


def test_what_pushes_a_link_is_the_wrench_that_its_own_lacks(driver, state):
    """At rest: its actuators give its weight and more, so that something pushes back."""
    still, push = {name: np.zeros(6) for name in state[1]}, np.array([0.0, 0.1, 0.0, 1.0, 2.0, -0.5])
    _, weights = driver.answer("gravity", (state[0], still), [0.0, 0.0])
    found = driver.collect(MultiDOFJointState, "~/external_torque/multi_dof_joints")

    def settled():
        driver.sent += 1
        other = driver.message(state[0], still)
        other.wrench = [messages.wrench_message(weights[name] + (push if name == "drift" else 0.0))
                        for name in other.joint_names]
        one = JointState(name=["lift", "hip"], position=[0.1, -0.4], velocity=[0.0, 0.0], effort=[0.0, 0.0])
        for message, topic in ((other, "multi_dof_joint_states"), (one, "joint_states")):
            message.header.stamp.sec = driver.sent // 10
            message.header.stamp.nanosec = driver.sent % 10 * 100_000_000
            driver.publisher(type(message), topic).publish(message)
        if not found:
            return False
        wrenches = dict(zip(found[-1].joint_names, map(messages.wrench, found[-1].wrench), strict=True))
        return np.allclose(wrenches["drift"], -push, atol=1e-3) and np.allclose(wrenches["slip"], 0.0, atol=1e-3)
    driver.sent *= 10
    driver.wait(settled, "the push")


def test_bad_messages_are_dropped_and_counted(driver, state):
    poses, twists = state
    tilted = {**poses, "slip": poses["slip"] @ pose(turn=(0.0, 0.01, 0.0))}
    lacking = driver.message(poses, twists)
    lacking.twist.pop()
    stretched = driver.message(poses, twists)
    stretched.transforms[0].rotation.w += 0.1
    bad = {"impossible pose": driver.message(tilted, twists), "length mismatch": lacking,
           "no unit quaternion": stretched, "duplicate joint": driver.message(poses, twists, ("slip", "slip"))}
    publisher, seen = driver.publisher(MultiDOFJointState, "multi_dof_joint_states"), {}

    def counted(status, values):
        seen.update({reason: int(values.get(f"dropped: {reason}", 0)) for reason in bad})
        return all(seen.values())
    driver.status(counted, lambda: [publisher.publish(message) for message in bad.values()])
    driver.answer("gravity", state)


def test_what_is_not_for_such_robots_says_so(driver, state):
    driver.answer("gravity", state)
    reply = driver.call(srv.SolveInverseKinematics, "~/solve_inverse_kinematics", links=["ball"])
    assert not reply.success and "joint 'drift' has several degrees of freedom" in reply.message
