"""view_node shows what is on the graph: joint states, efforts, faults; and survives what is odd there."""
import urllib.request

import numpy as np
import pytest

pytest.importorskip("viser", reason="pages need viser, the extra [view]")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import qos_profile_sensor_data  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

import screw_dynamics as sd  # noqa: E402
from screw_dynamics.ros.node.joint_state import Fault  # noqa: E402
from screw_dynamics.ros.view.live_state import LiveState  # noqa: E402
from screw_dynamics.ros.view.view_node import ViewNode, plain  # noqa: E402
from support import floating_robots as robots  # noqa: E402
from support import planar_arm as arm  # noqa: E402
from support.graph import Driver, NodeProcess  # noqa: E402
from support.node_fixtures import spinning  # noqa: E402
from support.web_page import open_page  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def node(ros):
    """view_node in this process, so that what its page shows can be looked at."""
    with spinning(ViewNode(namespace="page", parameter_overrides=[Parameter("port", value=8710)])) as node:
        yield node
    node.destroy_node()


@pytest.fixture(scope="module")
def driver(node):
    driver = Driver("page", "screw_view")
    driver.describe(arm.urdf())
    driver.wait(lambda: node.robot is not None, "a robot")
    with open_page(node._view.url):
        driver.wait(node.watched, "a page that is open")
        yield driver


@pytest.fixture
def send(driver):
    """Publishes a JointState."""
    def send(topic="joint_states", name=arm.NAMES, **fields):
        driver.publisher(JointState, topic).publish(JointState(name=list(name), **fields))
    return send


def shows(node, q):
    return lambda: node._view.q == pytest.approx(q)


def test_the_page_follows_states_that_come_in_parts_and_efforts_of_a_topic(node, driver, send):
    robot = sd.Robot.from_urdf(arm.urdf())
    q, qd = dict(zip(arm.NAMES, (0.3, -0.7), strict=True)), dict(zip(arm.NAMES, (1.0, 2.0), strict=True))
    at, rate = ([values[name] for name in robot.joint_names] for values in (q, qd))
    for name in arm.NAMES:
        send(name=[name], position=[q[name]], velocity=[qd[name]], effort=[1.0])
    driver.wait(shows(node, at), "the state on the page")
    assert node.live.efforts.tolist() == [1.0, 1.0]
    send("screw_dynamics/gravity", position=[], effort=[5.0, -7.0])
    driver.wait(lambda: sorted(node.live.efforts.tolist()) == [-7.0, 5.0], "the efforts of the topic")
    energy = robot.kinetic_energy(at, rate) + robot.potential_energy(at)

    def told():
        send(position=list(q.values()), velocity=list(qd.values()), effort=[9.0, 9.0])
        return f"energy {energy:.4g} J" in node._view._numbers.content
    driver.wait(told, "the energy on the page")
    assert sorted(node.live.efforts.tolist()) == [-7.0, 5.0]      # the topic's, from now on
    status, _ = driver.status(lambda status, values: status.message == "following joint_states")
    assert status.level == DiagnosticStatus.OK


def test_messages_that_are_odd_move_nothing(node, driver, send):
    send(position=[0.1, 0.2])
    driver.wait(shows(node, [0.1, 0.2]), "a state")
    for fields in ({"position": [np.nan, 1.0]}, {"position": [1.0]}, {"position": [1e400, 0.0]}, {}):
        send(**fields)
    send("screw_dynamics/gravity", effort=[1.0])
    driver.wait(lambda: node.diagnostics._dropped.total() >= 4, "faults that are counted")
    assert node._view.q == pytest.approx([0.1, 0.2])
    send(position=[0.5, 0.5])
    driver.wait(shows(node, [0.5, 0.5]), "the next state")


def test_faults_of_other_nodes_are_told_and_forgotten(node, driver):
    def tell(level):
        driver.publisher(DiagnosticArray, "/diagnostics").publish(DiagnosticArray(status=[DiagnosticStatus(
            hardware_id="/motor", name="motor", level=level, message="hot <b>")]))
    status = node._view._status
    driver.wait(lambda: "hot &#60;b&#62;" in status.content, "the fault", lambda: tell(DiagnosticStatus.WARN))
    driver.wait(lambda: "hot" not in status.content, "no fault", lambda: tell(DiagnosticStatus.OK))


def test_the_page_says_whether_states_come(node, driver, send):
    status = node._view._status
    driver.wait(lambda: status.content.startswith("live, "), "states", lambda: send(position=[0.1, 0.2]))
    driver.wait(lambda: status.content.startswith("**no joint_states for "), "their end")


def test_another_description_gives_another_robot_and_a_bad_one_keeps_the_last(node, driver, send):
    driver.describe("<robot")
    driver.status(lambda status, values: "robot_description refused" in values["robot_description"])
    assert node.robot.joint_names
    driver.describe(arm.urdf(elbow="other_elbow"))
    driver.wait(lambda: [slider.label for slider in node._view._sliders] == ["shoulder", "other_elbow"], "the other")
    driver.describe(arm.urdf())
    driver.wait(lambda: "elbow" in node.robot.joint_names, "the first robot")
    send(position=[0.4, 0.6])
    driver.wait(shows(node, [0.4, 0.6]), "a state of the first robot")


def test_a_robot_on_a_floating_base_is_where_its_odometry_says(node, driver, send):
    """Its bodies but the last of the base's are no links: the arrows of efforts are the joints'."""
    driver.describe(robots.hopper(robots.FLOATING))
    driver.wait(lambda: "drift" in node.robot.joint_names, "the robot")
    driver.status(lambda status, values: "no state of the floating base yet on /page/odom" in status.message,
                  lambda: send(name=robots.JOINTS, position=[0.2, 0.1]))
    odometry = Odometry(child_frame_id="trunk")
    odometry.pose.pose.position.z = 3.0
    publisher, trunk = driver.publisher(Odometry, "odom", qos_profile_sensor_data), np.eye(4)
    trunk[2, 3] = 3.0

    def shown():
        publisher.publish(odometry)         # again and again: best effort, and the node's side may match later
        send(name=robots.JOINTS, position=[0.2, 0.1], effort=[1.0, 2.0])
        return len(node._view.q) == 9 and np.allclose(node.robot.forward_kinematics(node._view.q, "trunk"), trunk)
    driver.wait(shown, "the base in the air")
    np.testing.assert_array_equal(node._view.q[7:], [0.2, 0.1])
    driver.describe(arm.urdf())
    driver.wait(lambda: "elbow" in node.robot.joint_names, "the first robot")


def test_a_page_that_nobody_has_open_takes_no_work_and_shows_the_latest_to_who_opens_it(ros):
    driver, parameters = Driver("unseen", "screw_view"), {"port": 8730, "robot_description": arm.urdf()}
    with spinning(ViewNode(namespace="unseen", parameter_overrides=[
            Parameter(name, value=value) for name, value in parameters.items()])) as node:
        states = driver.publisher(JointState, "joint_states")
        driver.wait(lambda: node.robot is not None, "a robot")
        driver.wait(lambda: node.live.state.position.tolist() == [0.3, -0.7], "a state", lambda: states.publish(
            JointState(name=list(node.robot.joint_names), position=[0.3, -0.7])))
        with node.lock:
            node._look()
        assert node._view.q.tolist() == [0.0, 0.0]
        with open_page(node._view.url):         # no message comes any more
            driver.wait(shows(node, [0.3, -0.7]), "the state on the page")
            driver.wait(lambda: "live" in node._view._status.content, "the line of the state")
        driver.wait(lambda: not node.watched(), "the end of the page")


def test_the_process_serves_its_page_and_ends_on_a_signal(tmp_path, ros):
    with NodeProcess("screw_dynamics.ros.view.view_node", "process", tmp_path / "log", {
            "robot_description": f"'{arm.urdf()}'", "port": 8720}) as process:
        driver = Driver("process", "screw_view")
        driver.wait(lambda: "page: http://" in process.output(), "the page's address")
        url = process.output().split("page: ")[1].split()[0]
        with urllib.request.urlopen(url, timeout=60.0) as page:
            assert page.status == 200 and b"<html" in page.read().lower()
        driver.status(lambda status, values: "no joint_states yet" in status.message)


# ------------------------------------------------------------------------------------------------- without a graph
def message(**fields):
    return JointState(name=["a", "b"], **fields)


def test_efforts_of_states_count_until_some_come_on_a_topic():
    live = LiveState(["b", "a"])
    live.take_state(message(position=[1.0, 2.0], effort=[3.0, 4.0]), 1, 1)
    assert live.taken() and not live.taken() and live.efforts.tolist() == [4.0, 3.0]
    live.take_efforts(JointState(name=["a", "x"], effort=[7.0, 8.0]))
    live.take_state(message(position=[1.0, 2.0], effort=[5.0, 6.0]), 2, 2)
    assert live.efforts.tolist() == [4.0, 7.0] and live.taken()
    with pytest.raises(Fault, match="effort has 1 values for 2 names"):
        live.take_efforts(message(effort=[1.0]))


def test_the_list_of_faults_is_bounded():
    live = LiveState(["a"])
    live.take_status(DiagnosticStatus(name=f"s{k}", level=b"\x02", message="x" * 1000) for k in range(1000))
    assert len(live.faults) == 12 and max(map(len, live.faults)) <= 200


def test_text_from_outside_does_nothing_in_the_page():
    assert plain("a <script> [x](y) *b*") == "a &#60;script&#62; &#91;x&#93;&#40;y&#41; &#42;b&#42;"
