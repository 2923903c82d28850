"""Drives in dynamics_node: efforts of motors, and what they must do for the links to follow a trajectory, over real
DDS; one process for most tests of this file."""
import json
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import screw_dynamics as sd
from screw_dynamics.analysis.smooth_motion import SmoothMotion
from screw_dynamics.ros.dynamics.motor_feed_forward import MotorFeedForward, RigidDrives
from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.dynamics.trajectory_efforts import TrajectoryEfforts
from screw_dynamics.ros.node.diagnostics import OK
from screw_dynamics.ros.node.drives import GivenDrives
from screw_dynamics.ros.node.robot_state import RobotState
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics_interfaces import srv
from support import floating_robots as robots
from support import planar_arm as arm
from support.arm_driver import QD, ArmDriver, Q
from support.graph import PATIENCE
from support.matrices import error
from support.paths import ROOT
from support.real_robots import PATHS

pytestmark = pytest.mark.slow

SHOULDER, ELBOW = ({"rotor_inertia": 1e-4, "ratio": 50.0, "stiffness": 400.0, "motor_damping": 0.3},
                   {"rotor_inertia": 1e-4, "ratio": 40.0, "stiffness": {"LeverArm": {
                       "coefficients": [300.0, 0.0, 0.0], "inertia": 0.1, "lower": 0.0, "upper": 1.0}}})
TEXTS = [json.dumps(x) for x in ({"shoulder": SHOULDER}, {"elbow": ELBOW})]
B = np.array([0.25, 0.16])      # of the motors, at the joints
START, END = {"shoulder": 0.3, "elbow": -0.4}, [0.7, 0.1]
MS = 1_000_000


@pytest.fixture(scope="module")
def driver(start_for_all):
    described = GivenDrives(TEXTS[:1]).on(sd.Robot.from_urdf(arm.urdf())).to_urdf()        # one by each way
    driver = start_for_all(ArmDriver, "soft", {
        "robot_description": f"'{described}'", "drives": json.dumps(TEXTS[1:]), "state_timeout": PATIENCE,
        "feed_forward_lead": 1e-3})
    driver.filled, driver.motors = (driver.collect(kind, f"~/{name}") for kind, name in (
        (JointTrajectory, "trajectory_with_efforts"), (JointState, "motor_feed_forward")))
    driver.answer()
    driver.wait(lambda: driver.call(srv.FillTrajectoryEfforts, "~/fill_trajectory_efforts",
                                    trajectory=trajectory()).success, "what trajectories take")
    return driver


def trajectory(*points, names=("elbow", "shoulder")):
    """A trajectory of (time, shoulder, elbow, velocities, accelerations), the joints the other way round."""
    def given(values):
        return [float(values[k]) for k in (1, 0)] if len(values) else []
    return JointTrajectory(joint_names=list(names), points=[JointTrajectoryPoint(
        time_from_start=Duration(sec=int(t), nanosec=round((t % 1.0) * 1e9)), positions=given(q), velocities=given(qd),
        accelerations=given(qdd)) for t, q, qd, qdd in points])


def driven():
    return sd.Robot.from_urdf(arm.urdf()).with_drives({
        "shoulder": sd.Drive(**SHOULDER),
        "elbow": sd.Drive(1e-4, 40.0, sd.drive.LeverArm(**ELBOW["stiffness"]["LeverArm"]))})


def test_efforts_are_of_motors_whose_springs_do_not_give_way(driver):
    qdd = np.array([0.5, -0.2])
    with driver.parameter("acceleration_source", "finite_difference", afterwards="zero"):
        driver.send(velocity=[0.0, 0.0])
        stamp = driver.send(velocity=list(qdd))
        torques = driver.wait(lambda: driver.output("inverse_dynamics", stamp), "inverse dynamics")
    expected = (arm.mass_matrix(Q) + np.diag(B)) @ qdd + arm.coriolis(Q, qdd) + arm.gravity(Q)
    np.testing.assert_allclose([torques[name] for name in arm.NAMES], expected, rtol=1e-12)
    reply = driver.call(srv.InverseDynamics, "~/inverse_dynamics", joint_names=list(arm.NAMES), position=list(Q),
                        velocity=list(QD))
    np.testing.assert_allclose(reply.friction, [(0.3 + 0.3) * QD[0], 0.2 * QD[1] - 0.1], rtol=1e-6)


def test_links_follow_a_trajectory_by_what_comes_for_their_states(driver):
    """Through the simulation of the robot with its springs."""
    assert driver.set_parameter("feed_forward_friction", False) == ""
    motors, k, answers = driver.publisher(JointTrajectory, "~/trajectory"), 0, {}
    message = trajectory((0.0, list(START.values()), (), ()), (0.2, [0.6, -0.3], (), ()), (0.4, END, (), ()))
    first = driver.send(position=list(START.values()), velocity=[0.0, 0.0])
    driver.wait(lambda: driver.output("gravity", first), "the state to come")
    driver.filled.clear()
    motors.publish(message)
    driver.wait(lambda: driver.filled, "the trajectory")
    state = JointState(name=list(arm.NAMES), position=[9.0, 9.0], velocity=[0.0, 0.0])     # nothing feeds back
    driver.motors.clear()
    while k < 250:
        state.header.stamp.sec, state.header.stamp.nanosec = first, k * 2 * MS
        driver.publisher(JointState, "joint_states").publish(state)
        found = driver.wait(lambda: next((m for m in driver.motors if m.header.stamp == state.header.stamp), None),
                            "the motors' motion", lambda: driver.publisher(JointState, "joint_states").publish(state))
        answers[k] = found
        driver.motors.clear()
        k += 1
    assert list(answers[0].name) == ["shoulder", "elbow", "elbow_lever"]
    robot = driven()
    values = np.zeros((5, 3, 2))
    values[0] = list(START.values()), [0.6, -0.3], END
    motion = sd.smooth_motion.SmoothMotion([0.0, 0.2, 0.4], values, [4, 0, 4])
    twin = Simulation(robot, Settings(dt=1e-3, integrator="rk4", joint_friction=False), START)
    assert error(np.array(answers[0].position)[:2], twin.q[2:4]) < 1e-5     # they begin there, but for a ms
    wrong = []
    for k in range(250):
        twin.command(np.array([np.nan, np.nan, *answers[k].effort]))
        twin.advance(2)
        wrong.append(twin.q[:2] - motion.sample(2e-3 * (k + 1))[0])
    assert abs(np.array(wrong)).max() < 2e-4         # commands are held for 2 ms; springs give way by 40 mrad


def test_the_efforts_of_points_are_those_of_motors_on_the_smoothest_way(driver):
    given = trajectory((0.5, Q, QD, ()), (1.0, Q + 0.2, QD, (0.3, -0.1)), (2.0, Q - 0.1, (), (4.0, 4.0)))
    assert driver.set_parameter("feed_forward_friction", True) == ""
    reply = driver.call(srv.FillTrajectoryEfforts, "~/fill_trajectory_efforts", trajectory=given)
    assert reply.success, reply.message
    values = np.zeros((5, 3, 2))
    values[0], values[1, :2], values[2, 1] = [Q, Q + 0.2, Q - 0.1], QD, (0.3, -0.1)
    motion = sd.smooth_motion.SmoothMotion([0.5, 1.0, 2.0], values, [1, 2, 4])      # it ends at rest
    expected = sd.elastic_joints.ElasticJoints(driven()).feed_forward(*motion.sample([0.5, 1.0, 2.0])).torque
    assert error(np.array([point.effort for point in reply.trajectory.points])[:, ::-1], expected) < 1e-9


def test_a_trajectory_that_is_refused_leaves_the_node_at_work(driver):
    publisher, before = driver.publisher(JointTrajectory, "~/trajectory"), driver.drops().get("bad trajectory", 0)
    driver.drops(lambda counts: counts.get("bad trajectory", 0) > before,
                 lambda: publisher.publish(trajectory((0.0, Q, (), ()), (1.0, Q, QD, ()))))
    driver.answer()


def configured(**parameters):
    """A node in this process."""
    given = [Parameter(name, value=value) for name, value in parameters.items()]
    node = DynamicsNode(namespace="in_process", parameter_overrides=given)
    node.trigger_configure()
    return node


@pytest.mark.parametrize("points, reason", [
    (((0.0, Q, (), ()), (1.0, Q, QD, ())), "last point, joint 'shoulder': velocity 0.5, must be 0"),
    (((1.0, Q, (), ()), (1.0, Q, (), ())), r"points\[1\].time_from_start is 1 s, must be later"),
    (((1.0, Q, (), ()), (1.001, Q, (), ())), "point 1 is 1 s .* 0.001 s from the next.*; point 0 is where the motion"),
    ((), "points is empty")])
def test_what_motors_cannot_do_is_refused(ros, points, reason):
    node = configured(drives=TEXTS)
    try:
        node.use(sd.Robot.from_urdf(arm.urdf()))
        motors = of_motors(node)
        state = RobotState(arm.NAMES)
        state.joints.update(JointState(name=list(arm.NAMES), position=list(Q), velocity=list(QD)), 5, 5)
        motors.observe(state)
        with pytest.raises(ValueError, match=reason):
            motors.start(trajectory(*points))
        assert motors.health()[2] == {"motor feed-forward": "waits for a trajectory"}
        late = trajectory((0.0, Q, (), ()), (1.0, Q, (), ()))
        late.header.stamp.nanosec = 1
        state.joints.update(JointState(name=list(arm.NAMES), position=list(Q), velocity=list(QD)), 3000 * MS, 5)
        motors.observe(state)
        with pytest.raises(ValueError, match="header.stamp is 1e-09 s: the trajectory ended 2 s ago"):
            motors.start(late)
        late.header.stamp.sec = 4
        motors.start(late)
        assert motors.health()[2] == {"motor feed-forward": "2.000 s to go"}
    finally:
        node.end()
        node.endpoints.close()


def test_what_is_followed_goes_on_until_the_next_begins(ros):
    """The position that motors are given does not jump, whatever order trajectories with stamps to come arrive in."""
    node = configured(drives=[json.dumps({"shoulder": {**SHOULDER, "stiffness": None}})])
    try:
        node.use(sd.Robot.from_urdf(arm.urdf()))
        motors, first, found = of_motors(node), [0.0, 0.0], []

        def at(time):
            state = SimpleNamespace(joints=SimpleNamespace(stamp=round(time * 1000) * MS), position=np.zeros(2),
                                    velocity=np.zeros(2))
            motors.observe(state)
            if motors._followed:
                found.append(motors._at(state.joints.stamp)[0, 0])

        def start(sec, *points):
            message = trajectory(*points)
            message.header.stamp.sec = sec
            motors.start(message)
        at(10.0)
        start(10, (0.0, first, (), ()), (4.0, [1.0, 0.0], (), ()))
        at(10.0)
        alone = SmoothMotion([0.0, 4.0], np.array([[[0.0], [1.0]], *[[[0.0], [0.0]]] * 4]), [4, 4])
        for time in np.arange(10.05, 12.0, 0.05):
            at(time)
        start(15, (2.0, [0.5, 0.0], (), ()))        # of later, and then one that it would have followed
        start(13, (3.0, first, (), ()))
        start(14, (3.0, [-1.0, 0.0], (), ()))
        for time in np.arange(12.0, 17.5, 0.05):
            at(time)
        np.testing.assert_allclose(found[:61], alone.sample(0.05 * np.arange(61))[0, :, 0], rtol=0, atol=1e-12)
        assert abs(np.diff(found)).max() < 0.1 and found[-1] == pytest.approx(-1.0, abs=1e-11)
        assert [each.since for each in motors._followed] == [10_000 * MS, 13_000 * MS, 14_000 * MS]
        with pytest.raises(ValueError, match="first point, at the time 0, joint 'shoulder': position 0, but it is at"):
            start(18, (0.0, first, (), ()), (1.0, [0.3, 0.0], (), ()))
        assert len(motors._followed) == 3
        start(17, (1.0, first, (), ()))
        assert len(motors._followed) == 1 and motors.health()[2] == {"motor feed-forward": "0.550 s to go"}
    finally:
        node.end()
        node.endpoints.close()


def of_motors(node):
    return next(output for output in node._outputs if isinstance(output, MotorFeedForward))


@pytest.mark.parametrize("more, neglect, says", [
    ({"backlash": 0.01}, False, "the drive of joint 'shoulder' has backlash"),
    ({"damping": 2.0}, False, "the drive of joint 'shoulder' has damping"),
    ({"damping": 2.0}, True, ""),
    ({"stiffness": None}, False, "")])
def test_a_drive_without_feed_forward_is_named_and_all_else_works(ros, more, neglect, says):
    node = configured(drives=[json.dumps({"shoulder": {**SHOULDER, **more}})], feed_forward_neglect_damping=neglect)
    try:
        robot = sd.Robot.from_urdf(arm.urdf())
        node.use(robot)
        assert error(node.robot().mass_matrix(Q), arm.mass_matrix(Q) + np.diag([B[0], 0.0])) < 1e-12
        assert error(node.without_payload("").mass_matrix(Q), arm.mass_matrix(Q) + np.diag(
            [B[0] if more.get("stiffness", 1) is None else 0.0, 0.0])) < 1e-12      # as efforts are measured
        assert of_motors(node).health()[1] == (says and f"motor_feed_forward is not published: feed_forward: {says}")
        with pytest.raises(ValueError, match="parameter drives: drive of joint 'shoulder'"):
            node.use(sd.Robot.from_urdf(arm.urdf().replace("shoulder", "hip")))
    finally:
        node.end()
        node.endpoints.close()


def test_forces_of_a_robots_own_are_in_the_feed_forward_of_rigid_drives(rng):
    """Through forward dynamics under the efforts and all that acts besides."""
    driven = sd.Robot.from_urdf(arm.urdf()).with_drives({"elbow": sd.Drive(1e-4, 40.0, motor_friction=0.2)})
    robot = driven.with_forces([sd.forces.Spring("shoulder", 30.0, 0.5, 0.2), sd.forces.Friction("elbow", 0.3)])
    q, qd, qdd, *rates = rng.standard_normal((5, robot.n))
    for friction in (True, False):
        tau = RigidDrives(robot).feed_forward(q, qd, qdd, *rates, friction=friction, neglect_damping=False).tau
        acting = tau + robot.drive_torque(q, qd) - friction * robot.friction_torque(qd)
        assert error(robot.forward_dynamics(q, qd, acting), qdd) < 1e-12


def test_friction_of_a_rigid_motor_that_several_joints_turn_is_in_the_feed_forward(ros):
    node = configured(drives=[json.dumps({"shoulder": {**SHOULDER, "stiffness": None, "coupling": {"elbow": 1.0}}})])
    try:
        node.use(sd.Robot.from_urdf(arm.urdf()))
        motion, torques = np.zeros((5, 2)), {}
        motion[1] = 0.5, 0.7
        for friction in (False, True):
            node.set_parameters([Parameter("feed_forward_friction", value=friction)])
            torques[friction] = of_motors(node)._moved(motion).torque
        friction = sd.Robot.from_urdf(arm.urdf()).friction_torque(motion[1]) + 0.3 * (0.5 + 0.7)
        assert of_motors(node).health()[0] == OK and error(torques[True] - torques[False], friction) < 1e-12
    finally:
        node.end()
        node.endpoints.close()


@pytest.mark.parametrize("stiffness, says", [(None, ""), (400.0, "joint 'floating_base' is free")])
def test_motors_on_a_floating_base_have_none_through_springs(ros, stiffness, says):
    """And without springs need none: trajectories have the efforts of inverse dynamics."""
    node = configured(drives=[json.dumps({"hip": {**SHOULDER, "stiffness": stiffness}})], floating_base=True)
    try:
        node.use(sd.Robot.from_urdf(robots.hopper(), floating_base=True))
        assert says in of_motors(node).health()[1] and bool(of_motors(node).health()[1]) == bool(says)
        assert of_motors(node).needed == bool(says)
        efforts = next(output for output in node._outputs if isinstance(output, TrajectoryEfforts))
        given = JointTrajectory(joint_names=list(robots.JOINTS), points=[JointTrajectoryPoint(positions=[0.0, 0.0])])
        with pytest.raises(ValueError, match=says or "the node is inactive"):      # active, it knows of the base
            efforts._fill(node.robot(), given)
    finally:
        node.end()
        node.endpoints.close()


@pytest.mark.slow       # two robots over DDS
def test_the_example_shows_that_feed_forward_removes_the_vibration(tmp_path):
    picture = tmp_path / "soft_arm.png"
    urdf = PATHS["panda_description/urdf/panda.urdf"]
    command = [sys.executable, "-W", "ignore", ROOT / "examples/soft_arm.py", urdf, "--picture", picture]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE, cwd=ROOT).stdout
    flat, rigid = (float(x) for x in re.findall(r"the hand by (\S+) m", printed))
    assert flat < 5e-6 and rigid > 50.0 * flat and picture.stat().st_size > 20_000
