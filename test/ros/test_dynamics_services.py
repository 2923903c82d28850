"""The services of dynamics_node, over real DDS, against the closed form; one process for all tests of this file."""

import signal

import numpy as np
import pytest
from geometry_msgs.msg import (
    Inertia,
    Point,
    Pose,
    PoseStamped,
    Quaternion,
    Vector3,
    Vector3Stamped,
    Wrench,
    WrenchStamped,
)
from std_msgs.msg import Header

import screw_dynamics as sd
from screw_dynamics.ros.node import messages
from screw_dynamics.screws.arrays import quaternion
from screw_dynamics_interfaces import srv
from screw_dynamics_interfaces.msg import BaseState
from support import planar_arm as arm
from support.arm_driver import QD, ArmDriver, Q
from support.differences import slopes

QDD = np.array([2.0, -1.0])
NAMES = ["elbow", "wheel", "finger", "shoulder"]   # not the order of the model, and two joints that are not coordinates
EXTRA = float("nan")                               # what the other joints have
SPATIAL, HYBRID, MIXED = srv.GetJacobian.Request.SPATIAL, srv.GetJacobian.Request.HYBRID, srv.GetJacobian.Request.MIXED
LINEAR_FIRST = srv.GetJacobian.Request.LINEAR_FIRST


@pytest.fixture(scope="module")
def driver(start_for_all):
    parameters = {"robot_description": f"'{arm.urdf()}'", "frame_id": "world", "state_timeout": 0}
    driver = start_for_all(ArmDriver, "services", parameters, end=signal.SIGTERM)
    driver.answer()
    return driver


def given(position=Q, velocity=None, **others):
    """The fields of a request at a state, in the order of NAMES."""
    fields = {"position": position, "velocity": velocity, **others}
    return {"joint_names": NAMES} | {
        field: [values[1], EXTRA, EXTRA, values[0]] for field, values in fields.items() if values is not None
    }


def good(reply):
    assert reply.success and reply.message == "", reply.message
    return reply


def joints(reply, values):
    """Efforts of an answer as (shoulder, elbow)."""
    by_name = dict(zip(reply.joint_names, values, strict=True))
    return np.array([by_name[name] for name in arm.NAMES])


def square(reply):
    """The matrix of an answer in the order (shoulder, elbow)."""
    order = [list(reply.joint_names).index(name) for name in arm.NAMES]
    return np.reshape(reply.data, (reply.rows, reply.cols))[np.ix_(order, order)]


def columns(reply, data):
    order = [list(reply.joint_names).index(name) for name in arm.NAMES]
    return np.reshape(data, (reply.rows, reply.cols))[:, order]


def wrench(link, force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0)):
    return WrenchStamped(
        header=Header(frame_id=link),
        wrench=Wrench(force=Vector3(**dict(zip("xyz", force, strict=True))),
                      torque=Vector3(**dict(zip("xyz", torque, strict=True)))))


def flange_jacobian(q):
    """Rows of the flange's x and z velocity against the base, hybrid."""
    a, b = q[0], q[0] + q[1]
    forearm = np.array([-np.sin(b), np.cos(b)]) * arm.L2
    return np.array([np.array([-np.sin(a), np.cos(a)]) * arm.L1 + forearm, forearm]).T


def test_gravity_in_the_order_of_the_request(driver):
    reply = good(driver.call(srv.GetGravity, "~/get_gravity", **given()))
    assert list(reply.joint_names) == ["elbow", "shoulder"]
    np.testing.assert_allclose(joints(reply, reply.effort), arm.gravity(Q), rtol=1e-12)


def test_an_empty_request_means_the_latest_state(driver):
    driver.answer(position=[0.4, -0.3], velocity=[1.0, 2.0])
    reply = good(driver.call(srv.GetGravity, "~/get_gravity"))
    assert set(reply.joint_names) == set(arm.NAMES)
    np.testing.assert_allclose(joints(reply, reply.effort), arm.gravity([0.4, -0.3]), rtol=1e-12)
    reply = good(driver.call(srv.GetCoriolis, "~/get_coriolis", joint_names=["elbow", "shoulder"]))
    np.testing.assert_allclose(joints(reply, reply.effort), arm.coriolis([0.4, -0.3], [1, 2]), rtol=1e-12)


def test_mass_matrix(driver):
    reply = good(driver.call(srv.GetMassMatrix, "~/get_mass_matrix", **given()))
    assert (reply.rows, reply.cols) == (2, 2)
    np.testing.assert_allclose(square(reply), arm.mass_matrix(Q), rtol=1e-12)


def test_coriolis_torque_and_matrix(driver):
    reply = good(driver.call(srv.GetCoriolis, "~/get_coriolis", **given(velocity=QD)))
    np.testing.assert_allclose(joints(reply, reply.effort), arm.coriolis(Q, QD), rtol=1e-12)
    assert reply.rows == 0 and len(reply.data) == 0
    reply = good(driver.call(srv.GetCoriolis, "~/get_coriolis", matrix=True, **given(velocity=QD)))
    np.testing.assert_allclose(square(reply) @ QD, arm.coriolis(Q, QD), rtol=1e-12)
    h = 1e-6
    rate = (arm.mass_matrix(Q + h * QD) - arm.mass_matrix(Q - h * QD)) / (2 * h)
    skew = rate - 2 * square(reply)
    np.testing.assert_allclose(skew, -skew.T, atol=1e-9)


@pytest.mark.parametrize("friction", [False, True])
def test_regressor(driver, friction):
    reply = good(driver.call(srv.GetRegressor, "~/get_regressor", friction=friction,
                             **given(velocity=QD, acceleration=QDD)))
    assert list(reply.joint_names) == ["elbow", "shoulder"]
    links, expected = ("forearm", "fingertip", "upper_arm"), arm.mass_matrix(Q) @ QDD + arm.coriolis(Q, QD)
    names = [f"{link}.{part}" for link in sorted(links) for part in (
        "mass", "mx", "my", "mz", "xx", "xy", "yy", "xz", "yz", "zz")]
    if friction:
        names += [f"{joint}.{part}" for joint in arm.NAMES for part in ("damping", "friction", "armature")]
        expected = expected + np.array([0.3, 0.2]) * QD + [0, 0.1 * np.sign(QD[1])]
    assert sorted(reply.parameter_names) == sorted(names)
    p = dict(zip(reply.parameter_names, reply.parameters, strict=True))
    assert (p["forearm.mass"], p["forearm.mx"], p["fingertip.mass"]) == (arm.M2, arm.M2 * arm.L2 / 2, 0.0)
    np.testing.assert_allclose(p["upper_arm.yy"], arm.I1 + arm.M1 * arm.L1**2 / 4, rtol=1e-12)
    Y = np.reshape(reply.data, (reply.rows, reply.cols))
    np.testing.assert_allclose(joints(reply, Y @ reply.parameters), expected + arm.gravity(Q), rtol=1e-12)
    column = list(reply.parameter_names).index("forearm.mx")
    weight = np.cos(Q.sum()) * arm.G         # of a first moment of the forearm along it, on both joints
    at_rest = good(driver.call(srv.GetRegressor, "~/get_regressor", friction=friction, **given()))
    np.testing.assert_allclose(joints(at_rest, np.reshape(at_rest.data, Y.shape)[:, column]), [weight] * 2, rtol=1e-12)


def test_inverse_dynamics_and_its_terms(driver):
    force = (1.0, 0.0, 3.0)   # in the flange's frame, which is turned by -(q0 + q1) about y
    reply = good(driver.call(
        srv.InverseDynamics, "~/inverse_dynamics", external=[wrench("flange", force)],
        **given(velocity=QD, acceleration=QDD)))
    angle = Q.sum()
    in_base = np.array([np.cos(angle) * force[0] - np.sin(angle) * force[2],
                        np.sin(angle) * force[0] + np.cos(angle) * force[2]])
    expected = {
        "inertial": arm.mass_matrix(Q) @ QDD, "coriolis": arm.coriolis(Q, QD), "gravity": arm.gravity(Q),
        "external": flange_jacobian(Q).T @ in_base, "friction": np.array([0.3, 0.2]) * QD + [0, 0.1 * np.sign(QD[1])],
    }
    for term, effort in expected.items():
        np.testing.assert_allclose(joints(reply, getattr(reply, term)), effort, rtol=1e-12, err_msg=term)
    total = expected["inertial"] + expected["coriolis"] + expected["gravity"] - expected["external"]
    np.testing.assert_allclose(joints(reply, reply.effort), total, rtol=1e-12)


def test_inverse_dynamics_without_gravity_and_at_rest(driver):
    reply = good(driver.call(
        srv.InverseDynamics, "~/inverse_dynamics", include_gravity=False, **given(acceleration=QDD)))
    np.testing.assert_allclose(joints(reply, reply.effort), arm.mass_matrix(Q) @ QDD, rtol=1e-12)
    np.testing.assert_allclose(joints(reply, reply.gravity), arm.gravity(Q), rtol=1e-12)
    reply = good(driver.call(srv.InverseDynamics, "~/inverse_dynamics", **given()))
    np.testing.assert_allclose(joints(reply, reply.effort), arm.gravity(Q), rtol=1e-12)


def test_wrenches_on_one_link_add_up_and_one_on_the_base_moves_nothing(driver):
    def external(*wrenches):
        reply = good(driver.call(srv.InverseDynamics, "~/inverse_dynamics", external=wrenches, **given()))
        return joints(reply, reply.external)

    once, twice = external(wrench("flange", (1.0, 2.0, 3.0))), external(*[wrench("flange", (1.0, 2.0, 3.0))] * 2)
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-12)
    np.testing.assert_array_equal(external(wrench("table", (1.0, 2.0, 3.0))), 0)


def test_forward_dynamics_is_the_inverse_of_inverse_dynamics(driver):
    load = [wrench("forearm", (1.0, 2.0, 3.0), (0.0, -0.5, 0.0))]
    inverse = good(driver.call(
        srv.InverseDynamics, "~/inverse_dynamics", external=load, **given(velocity=QD, acceleration=QDD)))
    effort = joints(inverse, inverse.effort)
    reply = good(driver.call(
        srv.ForwardDynamics, "~/forward_dynamics", external=load, **given(velocity=QD, effort=effort)))
    np.testing.assert_allclose(joints(reply, reply.acceleration), QDD, rtol=1e-12)
    falling = good(driver.call(srv.ForwardDynamics, "~/forward_dynamics", **given()))
    np.testing.assert_allclose(
        joints(falling, falling.acceleration), -np.linalg.solve(arm.mass_matrix(Q), arm.gravity(Q)), rtol=1e-12)


def linear_model(reply):
    """A and B of an answer, of (shoulder, elbow)."""
    n = len(reply.joint_names)
    assert (reply.rows, reply.cols) == (2 * n, n)
    order = [list(reply.joint_names).index(name) for name in arm.NAMES]
    rows = [*order, *(n + i for i in order)]
    A, B = np.reshape(reply.a, (2 * n, 2 * n)), np.reshape(reply.b, (2 * n, n))
    return A[np.ix_(rows, rows)], B[np.ix_(rows, order)]


def test_linear_models_in_continuous_time_and_over_a_step(driver):
    """Against the closed form, by differences; and a semi-implicit step: v += h q'', q += h v."""
    effort, load = np.array([3.0, -1.0]), [wrench("flange", (1.0, 0.0, 3.0))]

    def acceleration(x):
        q, qd, tau = x.reshape(3, 2)
        in_base = sd.so3.exp([0.0, -q.sum(), 0.0]) @ [1.0, 0.0, 3.0]
        external = flange_jacobian(q).T @ in_base[[0, 2]]
        return np.linalg.solve(arm.mass_matrix(q), tau + external - arm.coriolis(q, qd) - arm.gravity(q))
    at = np.concatenate((Q, QD, effort))
    expected = slopes(lambda x: acceleration(at + x), 6)
    reply = good(driver.call(srv.Linearize, "~/linearize", external=load, **given(velocity=QD, effort=effort)))
    A, B = linear_model(reply)
    np.testing.assert_allclose(joints(reply, reply.acceleration), acceleration(at), rtol=1e-12)
    np.testing.assert_allclose(np.hstack((A, B)), np.vstack((np.eye(2, 6, 2), expected)), rtol=1e-9, atol=1e-9)
    h = 0.01
    reply = good(driver.call(
        srv.Linearize, "~/linearize", external=load, time_step=h, **given(velocity=QD, effort=effort)))
    v = np.eye(2, 6, 2) + h * expected
    stepped = np.vstack((np.eye(2, 6) + h * v, v))
    np.testing.assert_allclose(np.hstack(linear_model(reply)), stepped, rtol=1e-9, atol=1e-9)


def test_a_linear_model_about_the_latest_state(driver):
    driver.answer(position=[0.4, -0.3], velocity=[1.0, 2.0])
    reply = good(driver.call(srv.Linearize, "~/linearize"))
    expected = np.linalg.solve(
        arm.mass_matrix([0.4, -0.3]), -arm.coriolis([0.4, -0.3], [1, 2]) - arm.gravity([0.4, -0.3]))
    np.testing.assert_allclose(joints(reply, reply.acceleration), expected, rtol=1e-12)


def test_jacobian_of_a_fixed_link_in_hybrid_form(driver):
    reply = good(driver.call(
        srv.GetJacobian, "~/get_jacobian", link="flange", representation=HYBRID, **given()))
    assert (reply.rows, reply.cols, reply.frame_id) == (6, 2, "world")
    jacobian = columns(reply, reply.data)
    np.testing.assert_allclose(jacobian[:3], [[0, 0], [-1, -1], [0, 0]], atol=1e-15)
    np.testing.assert_allclose(jacobian[[3, 5]], flange_jacobian(Q), rtol=1e-12)


def test_jacobian_rows_linear_first_and_its_derivative(driver):
    request = dict(link="flange", representation=HYBRID, row_order=LINEAR_FIRST, derivative=True)
    reply = good(driver.call(srv.GetJacobian, "~/get_jacobian", **request, **given(velocity=QD)))
    np.testing.assert_allclose(columns(reply, reply.data)[[0, 2]], flange_jacobian(Q), rtol=1e-12)
    h = 1e-6
    rate = (flange_jacobian(Q + h * QD) - flange_jacobian(Q - h * QD)) / (2 * h)
    np.testing.assert_allclose(columns(reply, reply.derivative)[[0, 2]], rate, atol=1e-9)


def test_jacobian_against_another_link(driver):
    request = dict(link="flange", reference_link="upper_arm", representation=SPATIAL)
    reply = good(driver.call(srv.GetJacobian, "~/get_jacobian", **request, **given()))
    assert reply.frame_id == "upper_arm"
    # the shoulder does not move one against the other
    expected = [[0, 0], [0, -1], [0, 0], [0, 0], [0, 0], [0, -arm.L1]]
    np.testing.assert_allclose(columns(reply, reply.data), expected, atol=1e-15)


def test_mixed_resolves_the_angular_rows_in_the_link(driver):
    """And the linear rows in the reference, as hybrid does with all: in the table, whose y axis is the base's z."""
    request = dict(link="flange", reference_link="table", **given())
    mixed = good(driver.call(srv.GetJacobian, "~/get_jacobian", representation=MIXED, **request))
    hybrid = good(driver.call(srv.GetJacobian, "~/get_jacobian", representation=HYBRID, **request))
    np.testing.assert_allclose(columns(mixed, mixed.data)[:3], [[0, 0], [-1, -1], [0, 0]], atol=1e-15)
    np.testing.assert_allclose(columns(hybrid, hybrid.data)[:3], [[0, 0], [0, 0], [1, 1]], atol=1e-15)
    for reply in (mixed, hybrid):
        np.testing.assert_allclose(columns(reply, reply.data)[[3, 4]], flange_jacobian(Q), rtol=1e-12)


def test_jacobian_of_a_link_that_is_fixed_to_the_base_vanishes(driver):
    reply = good(driver.call(srv.GetJacobian, "~/get_jacobian", link="table", representation=MIXED, **given()))
    np.testing.assert_array_equal(columns(reply, reply.data), 0)


def test_forward_kinematics(driver):
    reply = good(driver.call(srv.GetForwardKinematics, "~/get_forward_kinematics", link="flange", **given()))
    pose = reply.pose
    assert pose.header.frame_id == "world" and pose.header.stamp.sec == 0
    p = pose.pose.position
    np.testing.assert_allclose([p.x, p.y, p.z], arm.flange(Q), atol=1e-15)
    np.testing.assert_allclose(pose.pose.orientation.y, -np.sin(Q.sum() / 2), rtol=1e-12)


def test_forward_kinematics_of_the_latest_state_has_its_stamp(driver):
    driver.answer()
    reply = good(driver.call(
        srv.GetForwardKinematics, "~/get_forward_kinematics", link="flange", reference_link="forearm"))
    driver.wait(lambda: driver.output("gravity", reply.pose.header.stamp.sec), "the torque at that state")
    assert reply.pose.header.frame_id == "forearm" and abs(reply.pose.pose.position.x - arm.L2) < 1e-15


POSITION, ORIENTATION = srv.SolveInverseKinematics.Request.POSITION, srv.SolveInverseKinematics.Request.ORIENTATION


def goal(q, frame="", link=(arm.L1, arm.L2)):
    """The pose of the flange at (shoulder, elbow), seen from the base, with frame_id `frame`."""
    angles = np.cumsum(q)
    x, z = (np.array(link) @ f(angles) for f in (np.cos, np.sin))
    half = 0.5 * angles[1]
    pose = Pose(position=Point(x=x, z=z), orientation=Quaternion(y=-np.sin(half), w=np.cos(half)))
    return PoseStamped(header=Header(frame_id=frame), pose=pose)


def test_inverse_kinematics_finds_the_joints_of_a_pose(driver):
    reply = good(driver.call(srv.SolveInverseKinematics, "~/solve_inverse_kinematics", links=["flange"],
                             poses=[goal(Q)]))
    assert set(reply.joint_names) == set(arm.NAMES) and reply.attempts >= 1
    np.testing.assert_allclose(joints(reply, reply.position), Q, atol=1e-5)
    assert 0.0 <= reply.position_error < 1e-6 and 0.0 <= reply.orientation_error < 1e-6


def test_inverse_kinematics_begins_where_it_is_told_to(driver):
    """A point has two solutions: elbow up or down."""
    for elbow in (0.5, -0.5):
        reply = good(driver.call(
            srv.SolveInverseKinematics, "~/solve_inverse_kinematics", links=["flange"], poses=[goal(Q, "world")],
            parts=[POSITION], **given([Q[0], elbow])))
        assert list(reply.joint_names) == ["elbow", "shoulder"] and reply.attempts == 1
        assert np.sign(joints(reply, reply.position)[1]) == np.sign(elbow)
    first, second = (driver.call(
        srv.SolveInverseKinematics, "~/solve_inverse_kinematics", links=["flange"], poses=[goal(Q)], parts=[POSITION],
        seed=5) for _ in range(2))
    assert first == second and first.success


def test_inverse_kinematics_of_two_links_in_the_frames_of_others(driver):
    """Where the flange sees the shoulder, the table the flange's orientation."""
    shoulder = Point(x=-arm.L2 - arm.L1 * np.cos(Q[1]), z=arm.L1 * np.sin(Q[1]))
    turned = sd.so3.exp([-np.pi / 2, 0.0, 0.0]) @ sd.so3.exp([0.0, -Q.sum(), 0.0])
    seen = PoseStamped(header=Header(frame_id="table"))
    seen.pose.orientation = messages.quaternion_message(quaternion(turned))
    reply = good(driver.call(
        srv.SolveInverseKinematics, "~/solve_inverse_kinematics", links=["upper_arm", "flange"], seed=1,
        poses=[PoseStamped(header=Header(frame_id="flange"), pose=Pose(position=shoulder)), seen],
        parts=[POSITION, ORIENTATION]))
    np.testing.assert_allclose(joints(reply, reply.position), Q, atol=1e-5)


def test_inverse_kinematics_says_how_near_it_came(driver):
    far = goal(Q, link=(2 * arm.L1, 2 * arm.L2))
    reply = driver.call(srv.SolveInverseKinematics, "~/solve_inverse_kinematics", links=["flange"], poses=[far],
                        parts=[POSITION], attempts=7)
    distance = np.hypot(far.pose.position.x, far.pose.position.z) - arm.L1 - arm.L2
    assert not reply.success and reply.attempts == 7 and set(reply.joint_names) == set(arm.NAMES)
    np.testing.assert_allclose(reply.position_error, distance, rtol=1e-3)
    assert reply.message.startswith("no solution was found: the nearest of 7 attempts is "), reply.message
    assert f"{reply.position_error:.3g} m" in reply.message


def test_joint_screws(driver):
    reply = good(driver.call(srv.GetJointScrews, "~/get_joint_screws", joint_names=NAMES))
    assert list(reply.joint_names) == ["elbow", "shoulder"] and list(reply.link_names) == ["forearm", "upper_arm"]
    assert reply.frame_id == "world"
    screws = [[0, -1, 0, 0, 0, -arm.L1], [0, -1, 0, 0, 0, 0]]
    np.testing.assert_allclose(np.reshape(reply.screws, (2, 6)), screws, atol=1e-15)
    np.testing.assert_allclose(np.reshape(reply.body_screws, (2, 6)), [[0, -1, 0, 0, 0, 0]] * 2, atol=1e-15)
    assert [pose.position.x for pose in reply.reference_poses] == [arm.L1, 0.0]


def test_a_payload_counts_in_topics_and_services_until_it_is_taken_off(driver):
    # a point mass at the forearm's center of mass is a heavier forearm
    load = Inertia(m=0.5, com=Vector3(x=-arm.L2 / 2))
    for _ in range(2):   # the second replaces the first
        good(driver.call(srv.SetPayload, "~/set_payload", link="flange", inertia=load))
    heavier = arm.gravity(Q, m2=arm.M2 + 0.5)
    np.testing.assert_allclose(driver.answer(), heavier, rtol=1e-12)
    reply = good(driver.call(srv.GetMassMatrix, "~/get_mass_matrix", **given()))
    np.testing.assert_allclose(square(reply), arm.mass_matrix(Q, m2=arm.M2 + 0.5), rtol=1e-12)
    driver.status(lambda status, values: values.get("payloads [kg]") == "flange: 0.5")
    bad = driver.call(srv.SetPayload, "~/set_payload", link="flange", inertia=Inertia(m=-1.0))
    assert not bad.success and "flange" in bad.message and "-1.0" in bad.message
    np.testing.assert_allclose(driver.answer(), heavier, rtol=1e-12, err_msg="a refused payload changes nothing")
    good(driver.call(srv.SetPayload, "~/set_payload", link="flange", inertia=Inertia(m=0.0)))
    np.testing.assert_allclose(driver.answer(), arm.gravity(Q), rtol=1e-12)


@pytest.mark.parametrize("frame", ["", "base", "world", "table"])
def test_gravity_can_be_set_in_any_frame_that_does_not_move(driver, frame):
    down = {"table": Vector3(y=1.62)}.get(frame, Vector3(z=1.62))   # the table's y axis is the base's z axis
    request = Vector3Stamped(header=Header(frame_id=frame), vector=down)
    good(driver.call(srv.SetGravity, "~/set_gravity", gravity=request))
    np.testing.assert_allclose(driver.answer(), arm.gravity(Q, g=-1.62), rtol=1e-12)
    np.testing.assert_allclose(driver.get_parameter("gravity"), [0, 0, 1.62], atol=1e-15)
    assert driver.set_parameter("gravity", [0.0, 0.0, -9.81]) == ""
    np.testing.assert_allclose(driver.answer(), arm.gravity(Q), rtol=1e-12)


@pytest.mark.parametrize(
    "kind, name, fields, says",
    [
        (srv.GetGravity, "get_gravity", {"position": [0.1]}, "position: 1 values for 2 joints"),
        (srv.GetGravity, "get_gravity", {"joint_names": ["elbow"]}, "joint 'shoulder' of the model is missing"),
        (srv.GetGravity, "get_gravity", {"joint_names": ["elbow"] * 2, "position": [0.0] * 2}, "is named twice"),
        (srv.GetGravity, "get_gravity", {"base": [BaseState()]}, "base: the robot has no floating base, must be empty"),
        (srv.GetMassMatrix, "get_mass_matrix", given([np.nan, 0.0]), "position of joint 'shoulder' is nan"),
        (srv.GetCoriolis, "get_coriolis", given(), "velocity: empty"),
        (srv.GetCoriolis, "get_coriolis", {"velocity": [0.1, 0.2]}, "position: empty"),
        (srv.GetRegressor, "get_regressor", {"acceleration": [1.0]}, "acceleration: 1 values for 2 joints"),
        (srv.GetRegressor, "get_regressor", {"velocity": [0.1, 0.2]}, "position: empty"),
        (srv.GetRegressor, "get_regressor", given(acceleration=[0.0, np.inf]), "acceleration of joint 'elbow' is inf"),
        (srv.InverseDynamics, "inverse_dynamics", {"acceleration": [1.0]}, "acceleration: 1 values for 2 joints"),
        (srv.InverseDynamics, "inverse_dynamics", {"external": [wrench("hand")]}, "'hand' is not a link"),
        (srv.InverseDynamics, "inverse_dynamics", {"external": [wrench("")]}, "external[0].header.frame_id: empty"),
        (srv.ForwardDynamics, "forward_dynamics", {"external": [wrench("base", (np.inf, 0.0, 0.0))]}, "not finite"),
        (srv.ForwardDynamics, "forward_dynamics", given(effort=[0.0, np.inf]), "effort of joint 'elbow' is inf"),
        (srv.Linearize, "linearize", {"time_step": -0.1}, "time_step: -0.1, must be finite and >= 0"),
        (srv.Linearize, "linearize", {"time_step": np.nan}, "time_step: nan"),
        (srv.Linearize, "linearize", {"external": [wrench("hand")]}, "'hand' is not a link"),
        (srv.Linearize, "linearize", given(effort=[np.inf, 0.0]), "effort of joint 'shoulder' is inf"),
        (srv.Linearize, "linearize", {"joint_names": ["elbow"]}, "joint 'shoulder' of the model is missing"),
        (srv.Linearize, "linearize", {"base": [BaseState()]}, "base: the robot has no floating base, must be empty"),
        (srv.GetJacobian, "get_jacobian", {}, "link: empty"),
        (srv.GetJacobian, "get_jacobian", {"link": "hand"}, "link: 'hand' is not a link"),
        (srv.GetJacobian, "get_jacobian", {"link": "base", "reference_link": "x"}, "reference_link: 'x' is not a link"),
        (srv.GetJacobian, "get_jacobian", {"link": "base", "representation": 4}, "representation: 4"),
        (srv.GetJacobian, "get_jacobian", {"link": "base", "row_order": 2}, "row_order: 2"),
        (srv.GetJacobian, "get_jacobian", {"link": "base", "derivative": True} | given(), "velocity: empty"),
        (srv.GetForwardKinematics, "get_forward_kinematics", {"link": "hand"}, "link: 'hand' is not a link"),
        *((srv.SolveInverseKinematics, "solve_inverse_kinematics", {"links": ["flange"], "poses": [goal(Q)]} | fields,
           says) for fields, says in (
            ({"links": []}, "links: 0 names, must be one or more"),
            ({"links": ["flange"] * 21}, "links: 21 names, must be one or more, and at most 20"),
            ({"links": ["hand"]}, "links[0]: 'hand' is not a link"),
            ({"links": ["table"]}, "link 'table': no joint of one degree of freedom that is free to move"),
            ({"poses": []}, "poses: 0 entries for 1 links"),
            ({"poses": [goal(Q, "hand")]}, "poses[0].header.frame_id: 'hand' is not a link"),
            ({"poses": [PoseStamped(pose=Pose(position=Point(x=np.nan)))]}, "poses[0].pose is [nan"),
            ({"poses": [PoseStamped(pose=Pose(orientation=Quaternion(w=2.0)))]}, "has length 2, must have 1"),
            ({"parts": [3]}, "parts[0]: 3, must be POSE 0, POSITION 1, ORIENTATION 2"),
            ({"parts": [0, 0]}, "parts: 2 entries for 1 links"),
            ({"position": [0.0]}, "position: 1 values for 2 joints"),
            (given([np.nan, 0.0]), "position of joint 'shoulder' is nan"),
            ({"base": [BaseState()]}, "base: the robot has no floating base, must be empty"),
            ({"position_tolerance": -1.0}, "position_tolerance: -1.0, must be finite and >= 0"),
            ({"orientation_tolerance": np.inf}, "orientation_tolerance: inf"),
            ({"attempts": 4_000_000_000}, "attempts: 4000000000, at most 1000 are made"))),
        (srv.GetJointScrews, "get_joint_screws", {"joint_names": ["shoulder"]}, "'elbow' of the model is missing"),
        (srv.SetPayload, "set_payload", {"link": "hand"}, "link: 'hand' is not a link"),
        (srv.SetPayload, "set_payload", {"link": "base", "inertia": Inertia(m=np.nan)}, "mass nan"),
        (srv.SetPayload, "set_payload", {"link": "base", "inertia": Inertia(m=1.0, ixx=-1.0)}, "negative"),
        (srv.SetPayload, "set_payload", {"link": "base", "inertia": Inertia(m=1.0, com=Vector3(x=np.inf))}, "com"),
        (srv.SetGravity, "set_gravity", {"gravity": Vector3Stamped(header=Header(frame_id="flange"))}, "moves"),
        (srv.SetGravity, "set_gravity", {"gravity": Vector3Stamped(header=Header(frame_id="x"))}, "not a link"),
        (srv.SetGravity, "set_gravity", {"gravity": Vector3Stamped(vector=Vector3(x=np.nan))}, "nan, must be finite"),
    ],
)
def test_a_bad_request_is_answered_with_the_reason(driver, kind, name, fields, says):
    reply = driver.call(kind, f"~/{name}", **fields)
    assert not reply.success and says in reply.message, reply.message
    assert reply == kind.Response(message=reply.message), "nothing else is filled"


@pytest.mark.parametrize(
    "kind, name, fields, says",
    [
        (srv.GetCoriolis, "get_coriolis", {"velocity": (1e200, 1e200)}, "effort[0] is "),
        (srv.ForwardDynamics, "forward_dynamics", {"effort": (1e308, -1e308)}, "acceleration[0] is "),
        (srv.InverseDynamics, "inverse_dynamics", {"velocity": (1e200, 1e200)}, "effort[0] is "),
        (srv.GetMassMatrix, "get_mass_matrix", {"position": [0.0] * 1_000_000}, "1000000 entries, at most 10000"),
        (srv.GetGravity, "get_gravity", {"joint_names": ["x"] * 20_000}, "joint_names: 20000 entries, at most 10000"),
        (srv.InverseDynamics, "inverse_dynamics", {"external": [WrenchStamped()] * 2000}, "external: 2000 entries"),
    ],
)
def test_what_cannot_be_a_number_and_what_is_too_much_is_said(driver, kind, name, fields, says):
    answer = driver.call(kind, f"~/{name}", **{"position": list(Q)} | fields)
    assert not answer.success and says in answer.message and "singular" not in answer.message
    good(driver.call(srv.GetGravity, "~/get_gravity", position=list(Q)))
