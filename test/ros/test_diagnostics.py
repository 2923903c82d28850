"""What /diagnostics says when something is wrong that no single message shows."""

import re
import signal
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Inertia, Vector3
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from screw_dynamics.ros.node.diagnostics import Diagnostics
from screw_dynamics.ros.node.joint_state import Fault
from screw_dynamics.ros.node.log import BoundedLog
from screw_dynamics.ros.node.watches import runs
from screw_dynamics_interfaces.srv import SetPayload
from support import planar_arm as arm
from support import simulator_driver
from support.arm_driver import MODULE, ArmDriver
from support.foreign_types import Stranger, participant
from support.graph import Driver, NodeProcess

pytestmark = pytest.mark.slow

OK, WARN, STALE = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.STALE
REPORTS = 6         # in which a line of log would come again
DESCRIPTION = {"robot_description": f"'{arm.urdf()}'"}


@pytest.fixture(scope="module")
def driver(tmp_path_factory, ros):
    log = tmp_path_factory.mktemp("diagnostics") / "log"
    with NodeProcess(MODULE, "watched", log, {**DESCRIPTION, "state_timeout": 0}, end=signal.SIGTERM):
        yield ArmDriver("watched")


def says(driver, level, text, while_waiting=lambda: None):
    """Wait for a status of this level with this text."""
    return driver.status(lambda status, values: status.level == level and text in status.message, while_waiting)


def test_joints_of_another_robot_are_named_beside_those_expected(driver):
    says(driver, WARN, "no joint_states yet")
    says(driver, WARN, "joint_states have no joint of the robot: left_shoulder, left_elbow arrive, shoulder, elbow are",
         lambda: driver.send(names=("left_shoulder", "left_elbow")))
    says(driver, OK, "publishing", driver.send)


def test_what_lasts_is_logged_once_for_those_who_do_not_look_at_diagnostics(tmp_path, ros):
    with NodeProcess(MODULE, "lasting", tmp_path / "log", DESCRIPTION) as process:
        driver, left = ArmDriver("lasting"), ("left_shoulder", "left_elbow")
        words = "joint_states have no joint of the robot: left_shoulder, left_elbow arrive"
        driver.wait(lambda: words in process.output(), "a line of log", lambda: driver.send(names=left))
        for _ in range(REPORTS):
            says(driver, WARN, words)
        assert process.output().count(words) == 1


def test_a_reason_that_follows_another_is_logged_too(start):
    """A node that waits for states gets those of another robot, then of some of its joints, then all."""
    driver = start(ArmDriver, "one_after_another", DESCRIPTION)
    for words, send in (
            ("[INFO] waiting for joint_states on /one_after_another/joint_states", lambda: None),
            ("[WARN] no joint_states yet on /one_after_another/joint_states", lambda: None),
            ("[WARN] joint_states have no joint of the robot: joint1, joint2 arrive",
             lambda: driver.send(names=("joint1", "joint2"))),
            ("[WARN] joint_states lack elbow",
             lambda: driver.send(names=("shoulder",), position=(0.1,), velocity=(0.0,))),
            ("[INFO] OK: publishing", driver.send)):
        driver.wait(lambda words=words: words in without_origin(driver.process.output()), words, send)


def without_origin(log):
    """Lines of log without times and names of nodes."""
    return re.sub(r"(\[\w+\]) \[[\d.]+\] \[[^]]+\]:", r"\1", log)


def test_positions_in_degrees_are_said_once_and_torques_go_on(start):
    driver = start(ArmDriver, "degrees", DESCRIPTION)
    words = ("joint_states are far beyond the limits of shoulder, elbow: shoulder is at 45 rad, its limits are -3 "
             "and 3")

    def send():
        return driver.send(position=(45.0, -30.0))

    says(driver, WARN, words, send)
    driver.wait(lambda: words in driver.process.output(), "a line of log", send)
    for _ in range(REPORTS):
        says(driver, WARN, f"{words}: are positions in degrees?", send)
    assert driver.process.output().count(words) == 1
    np.testing.assert_allclose(driver.answer(position=(45.0, -30.0)), arm.gravity([45.0, -30.0]), atol=1e-9)
    says(driver, OK, "publishing", driver.send)


def test_states_that_end_are_logged_when_they_are_stale(start):
    """As soon as the diagnostics have it: no status that says so comes before the line."""
    driver = start(ArmDriver, "ended", {**DESCRIPTION, "state_timeout": 0.2})
    says(driver, OK, "publishing", driver.send)
    driver.received["/diagnostics"].clear()
    says(driver, STALE, "joint_states are stale")
    assert "joint_states are stale" in driver.process.output()


def test_a_joint_that_stops_alone_is_named(driver):
    with driver.parameter("state_timeout", 0.2, 0.0):
        says(driver, OK, "publishing", driver.send)
        part = {"names": ("elbow",), "position": (0.1,), "velocity": (0.0,)}
        status, _ = says(driver, STALE, "joint_states of shoulder are stale", lambda: driver.send(**part))
        assert "(1 other joint is fresh)" in status.message


def test_why_messages_are_dropped_is_said_beside_the_stale_state(driver):
    with driver.parameter("state_timeout", 0.2, 0.0):
        says(driver, OK, "publishing", driver.send)
        status, _ = says(driver, STALE, "messages are dropped, the last: position of joint 'shoulder' is nan",
                         lambda: driver.send(position=(np.nan, 0.0)))
        assert status.message.startswith("joint_states are stale")
    says(driver, OK, "publishing", driver.send)


def test_a_stamp_that_does_not_change_is_said(driver):
    stamp = driver.send()
    says(driver, WARN, "joint_states of shoulder, elbow arrive with an unchanged stamp",
         lambda: driver.send(stamp=stamp))
    says(driver, OK, "publishing", driver.send)


@pytest.mark.parametrize("joints, level, text", [
    (("finger_joint",), OK, "publishing"), (("elbow", "finger_joint"), WARN, "publishers send joint_states of elbow: "
     "/watched/driver, /watched/second")])
def test_two_publishers_of_one_joint_are_said(driver, joints, level, text):
    second = rclpy.create_node("second", namespace="watched")
    publisher = second.create_publisher(JointState, "joint_states", 10)
    driver.wait(lambda: publisher.get_subscription_count() > 0, "the subscription")

    def send():
        publisher.publish(JointState(name=joints, position=[0.0] * len(joints)))
        driver.send()

    for _ in range(2):
        says(driver, level, text, send)
    second.destroy_node()
    says(driver, OK, "publishing", driver.send)


def test_a_robot_without_joints_is_said(driver):
    assert driver.set_parameter("robot_description", "<robot name='table'><link name='table'/></robot>") == ""
    says(driver, WARN, "the robot has no joints", driver.send)
    assert driver.set_parameter("robot_description", arm.urdf()) == ""
    says(driver, OK, "publishing", driver.send)


def test_a_torque_that_cannot_be_published_is_said(driver):
    def payload(mass):
        inertia = Inertia(m=mass, com=Vector3(x=0.3), ixx=0.0, iyy=0.0, izz=0.0)
        return driver.call(SetPayload, "~/set_payload", link="forearm", inertia=inertia)

    assert payload(1e308).success
    says(driver, WARN, "of joint 'shoulder' is not finite", driver.send)
    assert payload(0.0).success
    says(driver, OK, "publishing", driver.send)


def test_an_acceleration_that_does_not_come_is_said(driver):
    with driver.parameter("acceleration_source", "topic", "zero"):
        says(driver, WARN, "inverse_dynamics waits for fresh accelerations of every joint on ~/desired", driver.send)
        assert driver.received[f"{driver.peer}/gravity"]
        desired = JointTrajectory(
            joint_names=list(arm.NAMES), points=[JointTrajectoryPoint(accelerations=[0.1, 0.2])])
        publisher = driver.publisher(JointTrajectory, "~/desired")
        says(driver, OK, "publishing", lambda: (publisher.publish(desired), driver.send()))


def test_a_clock_that_stands_still_is_said(driver):
    with driver.parameter("use_sim_time", True, False):
        says(driver, WARN, "no time has come on /clock", driver.send)
        clock, message = driver.node.create_publisher(Clock, "/clock", 10), Clock()

        def tick():
            message.clock.sec += 1
            clock.publish(message)

        says(driver, OK, "publishing", lambda: (tick(), driver.send()))
        says(driver, WARN, f"simulated time stands still at {message.clock.sec}.000 s", driver.send)
        for jump, reason in (1000, "noticed: clock went ahead"), (-500, "noticed: clock went back"):
            before = int(driver.status()[1].get(reason, 0))
            message.clock.sec += jump
            clock.publish(message)
            driver.status(lambda status, values, reason=reason, before=before: int(values.get(reason, 0)) == before + 1,
                          driver.send)
        driver.node.destroy_publisher(clock)


def test_a_node_of_the_same_name_is_said(driver):
    double = rclpy.create_node("screw_dynamics", namespace="watched")
    says(driver, WARN, "2 nodes are named /watched/screw_dynamics", driver.send)
    double.destroy_node()
    says(driver, OK, "publishing", driver.send)


def test_two_simulators_on_one_topic_are_said(start, tmp_path):
    simulator = start(simulator_driver.Simulator, "rivals", DESCRIPTION, end=signal.SIGTERM)
    says(simulator, OK, "running")
    with NodeProcess(simulator_driver.MODULE, "rivals", tmp_path / "log2", DESCRIPTION, end=signal.SIGTERM,
                     remap=["__node:=other"]):
        says(simulator, WARN, "/rivals/other simulates on /rivals/joint_states too")
        both = (simulator, "other"), (Driver("rivals", "other"), "screw_simulator")
        for one, _ in both:         # one that is found may still be inactive, and misses what it is sent
            one.status(lambda status, values: "dropped: length mismatch" in values,
                       lambda: simulator.command(effort=[0.0]))
        simulator.command(effort=[0.0, 0.0])    # and no more: both miss them, which hides nothing
        for one, rival in both:
            one.status(lambda status, values, rival=rival: "no joint_commands for" in status.message
                       and f"/rivals/{rival} simulates on /rivals/joint_states too" in status.message)
    says(simulator, WARN, "no joint_commands for")
    simulator.node.create_publisher(JointState, "joint_states", 10)   # of a gripper's driver, say
    simulator.fresh()
    status, _ = says(simulator, WARN, "no joint_commands for")
    assert "simulates" not in status.message


def test_names_that_are_no_text_end_no_diagnostics(driver, tmp_path):
    """rclpy cannot tell who publishes a topic then, nor which topics there are."""
    with participant("stranger") as node, Stranger(node) as stranger:
        stranger.publish("/watched/joint_states", b"a\xff", b"X")
        driver.wait(lambda: unreadable(driver.node), "the stranger")
        says(driver, OK, "publishing", driver.send)
        with NodeProcess(simulator_driver.MODULE, "watched", tmp_path / "log", {**DESCRIPTION, "command_timeout": 0.1}):
            simulator = simulator_driver.Simulator("watched")
            simulator.fresh()
            simulator.command(effort=[0.0, 0.0])
            says(simulator, WARN, "no joint_commands for 0.1 s")


@pytest.mark.parametrize("known, found", [(("a", "controller_manager"), True), (("a",), False), (None, False)])
def test_a_node_runs_as_far_as_names_can_be_read(known, found):
    def get_node_names():
        if known is None:
            b"a\xff".decode()
        return list(known)
    assert runs(SimpleNamespace(get_node_names=get_node_names), "controller_manager") == found


def unreadable(node):
    """Whether the publishers of joint_states cannot be told."""
    try:
        node.get_publishers_info_by_topic("/watched/joint_states")
    except UnicodeDecodeError:
        return True
    return False


@pytest.fixture
def diagnostics(ros):
    """Those of a node that reports nothing of its own."""
    node = rclpy.create_node("watching")
    node.log = BoundedLog(node.get_logger())
    yield Diagnostics(node, lambda: (OK, "publishing", {}), "title")
    node.destroy_node()


class Written:
    """A logger that keeps its lines."""

    def __init__(self):
        self.lines = []

    def __getattr__(self, severity):
        return self.lines.append


def keep_lines(diagnostics, monkeypatch):
    """The lines that diagnostics write from now on, and their time, [s]."""
    written, now = Written(), [1000.0]
    diagnostics._log._log = diagnostics._node.log = BoundedLog(written, lambda: now[0])
    monkeypatch.setattr("screw_dynamics.ros.node.diagnostics.time", SimpleNamespace(monotonic=lambda: now[0]))
    return written, now


def report(diagnostics, now, reports, period=1.0):
    """Publish the diagnostics of one (level, message) after the other."""
    for level, message in reports:
        diagnostics._report = lambda level=level, message=message: (level, message, {})
        diagnostics.publish()
        now[0] += period


def test_reasons_that_differ_in_names_alone_are_all_logged(diagnostics, monkeypatch):
    written, now = keep_lines(diagnostics, monkeypatch)
    for joint in ("joint1", "joint2", "arm-1", "arm-2", "joint.1"):
        report(diagnostics, now, [(WARN, f"joint_states lack {joint}: {k / 7} s, -1.5e-{k}") for k in range(7)])
    assert [line.split(":")[0] for line in written.lines] == [
        f"joint_states lack {joint}" for joint in ("joint1", "joint2", "arm-1", "arm-2", "joint.1")]


def test_states_that_are_late_again_and_again_do_not_flood_the_log(diagnostics, monkeypatch):
    """There is one line that all is OK for each line of what was wrong, behind it."""
    written, now = keep_lines(diagnostics, monkeypatch)
    report(diagnostics, now, [(STALE, f"states are stale: 0.{k} s") if k % 2 else (OK, "publishing")
                              for k in range(30)], 0.5)
    report(diagnostics, now, [(OK, "publishing")])
    kinds = [line.split(":")[0] for line in written.lines]
    assert kinds == ["states are stale", "OK"] * (len(kinds) // 2) and 2 <= len(kinds) <= 6


def test_another_reason_right_after_one_that_has_passed_is_answered_by_ok_too(diagnostics, monkeypatch):
    written, now = keep_lines(diagnostics, monkeypatch)
    report(diagnostics, now, [
        (STALE, "no states"), (OK, "publishing"), (STALE, "no base"), (OK, "publishing"), (OK, "publishing")])
    assert written.lines == ["no states", "OK: publishing", "no base", "OK: publishing"]


def test_lost_messages_are_logged_with_all_since_the_line_before(diagnostics, monkeypatch):
    written, now = keep_lines(diagnostics, monkeypatch)
    for losses in ([2], [100, 201], [], [4]):
        for count in losses:
            diagnostics.lose("/arm/joint_states", count)
        diagnostics.publish()
        now[0] += 3.0
    assert written.lines == ["/arm/joint_states: 2 messages were lost, 2 so far",
                             "/arm/joint_states: 301 messages were lost, 303 so far"]


def test_a_watch_that_fails_is_a_warning(diagnostics):
    def fails():
        raise RuntimeError("no graph \x07")

    diagnostics.watches.append(fails)
    status = diagnostics.status()
    assert (status.level, status.message) == (WARN, "not to be seen: no graph \\x07")


def test_what_is_dropped_noticed_or_lost_is_counted(diagnostics):
    for _ in range(3):
        diagnostics.notice("state", Fault("extra joint", "joint 'wheel' is none of the robot's"))
    for reason in ("length mismatch", "length mismatch", "non-finite value"):
        diagnostics.drop("joint_states", Fault(reason, "no use"))
    for count in (2, 5):
        diagnostics.lose("joint_states", count)
    values = {value.key: value.value for value in diagnostics.status().values}
    assert values == {"warnings": "none", "noticed: extra joint": "3", "dropped messages": "3",
                      "dropped: length mismatch": "2", "dropped: non-finite value": "1", "lost messages": "7",
                      "lost: joint_states": "7"}
