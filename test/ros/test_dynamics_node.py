"""The topics of dynamics_node, over real DDS; one process for all tests of this file."""

from collections import Counter

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.duration import Duration
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from screw_dynamics_interfaces import srv
from support import planar_arm as arm
from support.arm_driver import MODULE, QD, ArmDriver, Q
from support.graph import PATIENCE, NodeProcess

NAN = float("nan")


@pytest.fixture(scope="module")
def driver(start_for_all):
    """A state stays fresh for as long as a busy machine may need; the test of stale states makes that shorter."""
    driver = start_for_all(ArmDriver, "arm", {
        "robot_description": f"'{arm.urdf()}'", "effort_commands": "gravity", "state_timeout": PATIENCE})
    driver.answer()
    return driver


def test_the_torques_are_those_of_the_closed_form(driver):
    for topic, expected in (
        ("gravity", arm.gravity(Q)),
        ("coriolis", arm.coriolis(Q, QD)),
        ("inverse_dynamics", arm.gravity(Q) + arm.coriolis(Q, QD)),
    ):
        np.testing.assert_allclose(driver.answer(topic), expected, rtol=1e-12, err_msg=topic)


def test_gravity_is_the_torque_that_holds_the_arm_up(driver):
    shoulder, elbow = driver.answer(position=[0.0, 0.0])
    assert shoulder > elbow > 0, "about -y, a positive torque lifts a link that points along x"
    np.testing.assert_allclose(elbow, 1.5 * 9.81 * 0.2, rtol=1e-12)
    np.testing.assert_allclose(driver.answer(position=[np.pi / 2, 0.0]), 0, atol=1e-14)


def test_shuffled_and_extra_joints(driver):
    torques = driver.answer(
        "inverse_dynamics", names=("wheel", "elbow", "finger", "shoulder"), position=[NAN, Q[1], 9.0, Q[0]],
        velocity=[NAN, QD[1], 9.0, QD[0]], effort=[NAN] * 4)
    np.testing.assert_allclose(torques, arm.gravity(Q) + arm.coriolis(Q, QD), rtol=1e-12)


def test_a_publisher_of_sensor_data_is_heard(driver):
    best_effort = driver.node.create_publisher(JointState, "joint_states", qos_profile_sensor_data)
    msg = driver.state()
    driver.wait(lambda: driver.output("gravity", msg.header.stamp.sec), "gravity", lambda: best_effort.publish(msg))
    driver.node.destroy_publisher(best_effort)


def test_the_stamp_is_copied_to_the_nanosecond(driver):
    msg = driver.state()
    msg.header.stamp.nanosec = 123456789
    publisher = driver.publisher(JointState, "joint_states")
    driver.wait(lambda: any(m.header.stamp == msg.header.stamp for m in driver.torques["gravity"]), "the stamp",
                lambda: publisher.publish(msg))


def test_effort_commands_are_the_bare_torques(driver):
    commands = driver.collect(Float64MultiArray, "~/effort_commands")
    command = driver.wait(lambda: commands and commands[-1], "a command", driver.send)
    np.testing.assert_allclose(command.data, arm.gravity(Q), rtol=1e-12)


def test_absent_velocities_are_zero_or_an_error(driver):
    np.testing.assert_allclose(driver.answer("coriolis", velocity=[]), 0, atol=1e-15)
    with driver.parameter("velocity_fallback", "error", afterwards="zero"):
        bad = driver.send(velocity=[])
        driver.answer()
        assert driver.output("gravity", bad) is None


def test_the_acceleration_by_finite_difference(driver):
    with driver.parameter("acceleration_source", "finite_difference", afterwards="zero"):
        driver.send(velocity=[0.0, 0.0])
        stamp = driver.send(velocity=[0.5, -0.2])
        torques = driver.wait(lambda: driver.output("inverse_dynamics", stamp), "inverse dynamics")
        qd = np.array([0.5, -0.2])   # after one second of the stamps, so it is the acceleration too
        expected = arm.mass_matrix(Q) @ qd + arm.coriolis(Q, qd) + arm.gravity(Q)
        np.testing.assert_allclose([torques[name] for name in arm.NAMES], expected, rtol=1e-12)


def test_the_acceleration_of_the_topic(driver):
    desired = driver.publisher(JointTrajectory, "~/desired")

    def ask(names, accelerations):
        desired.publish(JointTrajectory(
            joint_names=names, points=[JointTrajectoryPoint(accelerations=accelerations)]))

    with driver.parameter("acceleration_source", "topic", afterwards="zero"):
        waiting = driver.send()
        driver.answer("gravity")
        assert driver.output("inverse_dynamics", waiting) is None, "no acceleration has come yet"
        before = driver.drops().get("length mismatch", 0)
        driver.drops(lambda counts: counts.get("length mismatch", 0) > before, lambda: ask(["elbow"], [1.0, 2.0]))
        stamps = []

        def go_on():
            ask(["wheel", "elbow", "shoulder"], [NAN, -1.0, 2.0])
            stamps.append(driver.send())

        torques = driver.wait(
            lambda: next((t for s in stamps if (t := driver.output("inverse_dynamics", s))), None),
            "inverse dynamics", go_on)
        expected = arm.mass_matrix(Q) @ [2, -1] + arm.coriolis(Q, QD) + arm.gravity(Q)
        np.testing.assert_allclose([torques[name] for name in arm.NAMES], expected, rtol=1e-12)


def test_armature_of_the_description_is_in_the_torques(driver):
    """And goes with it."""
    qd, armature = np.array([0.5, -0.2]), (0.8, 0.3)

    def wait_for(armature):
        def accelerated():
            driver.send(velocity=[0.0, 0.0])
            stamp = driver.send(velocity=list(qd))          # a second later
            torques = driver.wait(lambda: driver.output("inverse_dynamics", stamp), "inverse dynamics")
            return [torques[name] for name in arm.NAMES]
        expected = (arm.mass_matrix(Q) + np.diag(armature)) @ qd + arm.coriolis(Q, qd) + arm.gravity(Q)
        driver.wait(lambda: np.allclose(accelerated(), expected, rtol=1e-12), f"the robot with armature {armature}")
        reply = driver.call(srv.ForwardDynamics, "~/forward_dynamics", joint_names=list(arm.NAMES), position=list(Q),
                            velocity=list(qd), effort=list(expected))
        np.testing.assert_allclose(reply.acceleration, qd, rtol=1e-9)

    with driver.parameter("acceleration_source", "finite_difference", afterwards="zero"):
        with driver.parameter("robot_description", arm.urdf(armature=armature), afterwards=arm.urdf()):
            wait_for(armature)
        wait_for((0.0, 0.0))


BAD = [
    ({"position": [1.0]}, "length mismatch"),
    ({"names": [], "position": [1.0], "velocity": []}, "length mismatch"),
    ({"position": [NAN, 0.0]}, "non-finite value"),
    ({"velocity": [0.0, np.inf]}, "non-finite value"),
    ({"names": ["elbow", "elbow"]}, "duplicate joint"),
    ({"position": []}, "no position"),
    ({"position": [1e300, 0.0], "velocity": [1e300, 1e300]}, "non-finite torque"),
]


def test_bad_messages_are_dropped_and_counted(driver):
    driver.drops()   # what the tests before sent may be dropped only now: the report after the next has it all
    expected = Counter(driver.drops())
    for bad, reason in BAD:
        stamp, good = driver.send(**bad), driver.send()
        driver.wait(lambda good=good: driver.output("inverse_dynamics", good), "the good message after it")
        assert driver.output("inverse_dynamics", stamp) is None, bad
        expected[reason] += 1
    driver.drops(lambda counts: counts == expected)


def test_time_backwards_clears_the_caches(driver):
    driver.answer()
    old = driver.send(names=["elbow"], position=[0.1], velocity=[], stamp=1)
    driver.torques["gravity"].clear()   # the first message had that stamp too
    new = driver.send(names=["shoulder"], position=[0.2], velocity=[])
    torques = driver.wait(lambda: driver.output("gravity", new), "the torque of both joints")
    np.testing.assert_allclose([torques[name] for name in arm.NAMES], arm.gravity([0.2, 0.1]), rtol=1e-12)
    assert driver.output("gravity", old) is None, "the shoulder was of another time"
    driver.status(lambda status, values: int(values.get("noticed: time backwards", 0)) > 0)


def test_a_missing_joint_is_named(driver):
    driver.answer()
    driver.send(names=["elbow"], position=[0.1], velocity=[], stamp=1)
    status, values = driver.status(lambda status, values: "missing joints" in values)
    assert status.level == DiagnosticStatus.WARN and status.message == "joint_states lack shoulder"
    driver.answer()


def test_a_stale_state_stops_everything(driver):
    assert driver.set_parameter("publish_rate", 100) == "", "an integer is taken for a float"
    stamp, gravity = driver.send(), driver.torques["gravity"]
    driver.wait(lambda: sum(m.header.stamp.sec == stamp for m in gravity) > 3, "repeated output at a fixed rate")
    with driver.parameter("state_timeout", 0.5, afterwards=PATIENCE):
        status, values = driver.status(
            lambda status, values: status.level == DiagnosticStatus.STALE and float(values["gravity rate [Hz]"]) == 0.0)
        assert "stale" in status.message and float(values["state age [s]"]) > 0.5
        count = len(gravity)
        reply = driver.call(srv.GetGravity, "~/get_gravity")
        assert not reply.success and "stale" in reply.message and not reply.effort
        driver.status(lambda status, values: status.level == DiagnosticStatus.STALE)
        assert len(gravity) == count
    assert driver.set_parameter("publish_rate", 0.0) == ""
    driver.answer()


def test_diagnostics_of_a_healthy_node(driver):
    status, values = driver.status(
        lambda status, values: status.level == DiagnosticStatus.OK and float(values["state age [s]"]) < 0.5
        and float(values.get("gravity rate [Hz]", 0)) > 0, while_waiting=driver.send)
    assert status.message == "publishing"
    assert values["root link"] == "base" and values["joints"] == "2" and values["lifecycle state"] == "active"
    assert float(values["joint_states rate [Hz]"]) > 0
    p50, p99, most = (float(values[f"latency {name} [us]"]) for name in ("p50", "p99", "max"))
    assert 0 < p50 <= p99 <= most
    assert "stamp age p50 [us]" not in values, "the driver's stamps count from 1: another clock"


def test_the_age_of_stamps_is_reported_where_clocks_agree(driver):
    def send():
        msg = driver.state()
        msg.header.stamp = (driver.node.get_clock().now() - Duration(seconds=0.1)).to_msg()
        driver.publisher(JointState, "joint_states").publish(msg)

    _, values = driver.status(lambda status, values: "stamp age p50 [us]" in values, while_waiting=send)
    assert 1e5 <= float(values["stamp age p50 [us]"]) <= float(values["stamp age max [us]"])
    driver.answer()


@pytest.mark.parametrize(
    "name, value, says",
    [
        ("publish_rate", -1.0, "out of range"),
        ("state_timeout", NAN, "out of range"),
        ("velocity_fallback", "guess", "'guess', must be one of zero, error"),
        ("gravity", [0.0, 0.0], "2 values, must have 3"),
        ("gravity", [0.0, 0.0, NAN], "nan, must be finite"),
        ("base_link", "table", "read-only"),
        ("state_timout", 1.0, "parameter state_timout does not exist: there is state_timeout"),
        ("external_torque_gain", [1.0, 2.0, 3.0], "has 3 values, must have 1, or 2 for shoulder, elbow"),
        ("external_wrench_link", "nose", "'nose' is not a link"),       # though external_torque is false
        ("robot_description", "<robot", "robot"),
    ],
)
def test_a_bad_parameter_is_refused_with_the_reason(driver, name, value, says):
    assert says in driver.set_parameter(name, value)
    driver.answer()


@pytest.mark.slow
def test_the_watchdog_of_the_examples_damps_the_joints_when_the_node_dies(tmp_path, ros):
    damping = np.array([4.0, 2.0])
    watching = {"joints": "[shoulder, elbow]", "damping": damping.tolist(), "timeout": 3.0}
    node = NodeProcess(MODULE, "watched", tmp_path / "log", {
        "robot_description": f"'{arm.urdf()}'", "joints": "[shoulder, elbow]", "effort_commands": "gravity"})
    try:
        driver = ArmDriver("watched")
        driver.answer()
        commands = driver.collect(Float64MultiArray, "/watched/commands")
        with NodeProcess("examples.watchdog", "watched", tmp_path / "watchdog", watching,
                         remap=["efforts:=screw_dynamics/effort_commands"]):
            def commanded(expected, send=driver.send):
                commands.clear()
                driver.wait(lambda: any(np.allclose(msg.data, expected, rtol=1e-12) for msg in commands),
                            f"the commands {expected}", send)
            commanded(arm.gravity(Q))
            node.process.kill()
            commanded(-damping * QD)
            commanded((0.0, 0.0), lambda: None)             # no states either
            commanded(-damping * QD)
            efforts = driver.publisher(Float64MultiArray, "~/effort_commands")
            fingers = driver.publisher(JointState, "joint_states")

            def late():                                     # efforts again, and states of another joint between
                efforts.publish(Float64MultiArray(data=[7.0, 7.0]))
                fingers.publish(JointState(name=["finger"], position=[0.0], velocity=[1.0]))
                driver.send()
            commands.clear()
            driver.wait(lambda: len(commands) >= 20, "commands after late efforts", late)
            assert all(np.allclose(msg.data, -damping * QD, rtol=1e-12) for msg in commands)
        assert "no efforts for 3.0 s: damping until a restart" in (tmp_path / "watchdog").read_text()
    finally:
        node.process.kill()
