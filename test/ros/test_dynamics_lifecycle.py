"""How dynamics_node starts, waits for its robot, changes it, and stops: the tests of one process, in this order."""

import itertools
import signal

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.qos import ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from screw_dynamics_interfaces import srv
from support import planar_arm as arm
from support.arm_driver import MODULE, ArmDriver, Q
from support.graph import PATIENCE, NodeProcess

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def driver(start_for_all):
    return start_for_all(ArmDriver, "managed", {
        "autostart": "false", "joints": "[elbow]", "use_sim_time": "true",
        "qos_overrides./managed/joint_states.subscription.reliability": "reliable",
        "qos_overrides./managed/screw_dynamics/gravity.publisher.depth": 3})


def change(driver, transition):
    return driver.call(ChangeState, "~/change_state", transition=Transition(id=transition)).success


def state(driver):
    return driver.call(GetState, "~/get_state").current_state.id


def tell(clock, seconds):
    """Publish simulated time on /clock."""
    msg = Clock()
    msg.clock.sec = seconds
    clock.publish(msg)


def elbow(driver):
    """The torque of the elbow, the only joint that is configured for output."""
    stamps = []
    torques = driver.wait(
        lambda: next((t for s in stamps if (t := driver.output("gravity", s))), None),
        "gravity", lambda: stamps.append(driver.send()))
    assert list(torques) == ["elbow"]
    return torques["elbow"]


def test_without_autostart_a_manager_configures_it(driver):
    assert state(driver) == State.PRIMARY_STATE_UNCONFIGURED
    clock, times = driver.publisher(Clock, "/clock"), itertools.count(1)
    driver.status(lambda status, values: (status.level, status.message) == (DiagnosticStatus.WARN, "unconfigured"),
                  lambda: tell(clock, next(times)))      # else it soon warns that no time comes on /clock
    assert change(driver, Transition.TRANSITION_CONFIGURE)
    assert state(driver) == State.PRIMARY_STATE_INACTIVE


def test_qos_overrides_reach_the_endpoints(driver):
    driver.wait(lambda: driver.node.count_subscribers("joint_states") == 1, "the subscription")
    [subscription] = driver.node.get_subscriptions_info_by_topic("joint_states")
    assert subscription.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    assert driver.get_parameter("qos_overrides./managed/screw_dynamics/gravity.publisher.depth") == 3
    for endpoint in ("robot_description.subscription", "screw_dynamics/desired.subscription",
                     "screw_dynamics/inverse_dynamics.publisher"):
        assert driver.get_parameter(f"qos_overrides./managed/{endpoint}.reliability") is not None


def test_it_waits_for_a_description_and_says_so(driver):
    waiting = "waiting for robot_description on /managed/robot_description"
    status, _ = driver.status(lambda status, values: waiting in status.message)
    assert status.level == DiagnosticStatus.WARN
    reply = driver.call(srv.GetGravity, "~/get_gravity", position=[0.0, 0.0])
    assert not reply.success and "no robot yet" in reply.message


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "waiting for robot_description"),
        ("/etc/hostname", "not XML"),
        ("<robot name='x'><link name='a'/></robot", "refused"),
        (arm.urdf(m2=-1.0), "-1"),
        (arm.urdf(elbow="knee"), "'elbow' is not a joint of the model"),   # as the parameter joints would have it
    ],
)
def test_a_malformed_description_is_refused_with_the_reason(driver, text, says):
    driver.describe(text)
    status, _ = driver.status(lambda status, values: says in status.message)
    assert status.level == (DiagnosticStatus.ERROR if text else DiagnosticStatus.WARN)


def test_a_late_description_is_taken_and_inactive_services_answer_without_a_state(driver):
    driver.describe(arm.urdf())
    driver.status(lambda status, values: values["robot_description"] == "robot loaded")
    reply = driver.call(srv.GetGravity, "~/get_gravity", joint_names=list(arm.NAMES), position=list(Q))
    np.testing.assert_allclose(reply.effort, arm.gravity(Q), rtol=1e-12)
    reply = driver.call(srv.GetGravity, "~/get_gravity")
    assert not reply.success and "inactive" in reply.message


def taken(driver):
    """Return the stamp of a state that the node has taken: one thread takes states and publishes diagnostics, two of
    which came since."""
    stamp = driver.deliver()
    for _ in range(2):
        driver.status()
    return stamp


def test_an_inactive_node_publishes_nothing_and_an_active_one_does(driver):
    ignored = taken(driver)
    assert change(driver, Transition.TRANSITION_ACTIVATE)
    np.testing.assert_allclose(elbow(driver), arm.gravity(Q)[1], rtol=1e-12)
    assert driver.output("gravity", ignored) is None
    assert change(driver, Transition.TRANSITION_DEACTIVATE)
    ignored = taken(driver)
    assert change(driver, Transition.TRANSITION_ACTIVATE)
    elbow(driver)
    assert driver.output("gravity", ignored) is None


def test_a_changed_description_is_used_and_a_bad_one_is_not(driver):
    driver.describe(arm.urdf(m2=3.0))
    driver.wait(lambda: np.isclose(elbow(driver), arm.gravity(Q, m2=3.0)[1], rtol=1e-12), "the heavier forearm")
    driver.describe(arm.urdf(m2=float("nan")))
    status, values = driver.status(lambda status, values: "refused" in values["robot_description"])
    assert "the previous robot stays in use" in values["robot_description"]
    np.testing.assert_allclose(elbow(driver), arm.gravity(Q, m2=3.0)[1], rtol=1e-12)


def test_the_parameter_wins_over_the_topic(driver):
    assert driver.set_parameter("robot_description", arm.urdf(m2=4.0)) == ""
    driver.wait(lambda: np.isclose(elbow(driver), arm.gravity(Q, m2=4.0)[1], rtol=1e-12), "the parameter's robot")
    assert "-1" in driver.set_parameter("robot_description", arm.urdf(m2=-1.0))
    driver.describe(arm.urdf(m2=5.0))
    driver.wait(lambda: "the parameter robot_description is set" in driver.process.output(), "a line of log")
    np.testing.assert_allclose(elbow(driver), arm.gravity(Q, m2=4.0)[1], rtol=1e-12)
    assert driver.set_parameter("robot_description", "") == ""
    driver.wait(lambda: np.isclose(elbow(driver), arm.gravity(Q, m2=5.0)[1], rtol=1e-12), "the topic's robot")


def test_a_jump_of_simulated_time_clears_the_caches(driver):
    """Backwards, again and again: states that were sent just now may still be on their way behind the first jump.
    Never forwards, where a state would be stale."""
    clock, times = driver.publisher(Clock, "/clock"), itertools.count(1000, -1)

    def ask():
        return driver.call(srv.GetGravity, "~/get_gravity")

    driver.wait(lambda: ask().success, "a state", lambda: (tell(clock, 1001), driver.send()))
    driver.wait(lambda: "lack shoulder, elbow" in ask().message, "a state that is gone",
                lambda: tell(clock, next(times)))


def test_cleanup_and_a_second_start(driver):
    assert change(driver, Transition.TRANSITION_DEACTIVATE) and change(driver, Transition.TRANSITION_CLEANUP)
    assert state(driver) == State.PRIMARY_STATE_UNCONFIGURED
    driver.wait(lambda: driver.node.count_subscribers("joint_states") == 0, "the subscription to go")
    assert change(driver, Transition.TRANSITION_CONFIGURE) and change(driver, Transition.TRANSITION_ACTIVATE)
    np.testing.assert_allclose(elbow(driver), arm.gravity(Q, m2=5.0)[1], rtol=1e-12, err_msg="the latched topic")


def test_shutdown_is_final(driver):
    assert change(driver, Transition.TRANSITION_ACTIVE_SHUTDOWN)
    assert state(driver) == State.PRIMARY_STATE_FINALIZED


@pytest.mark.parametrize(
    "parameters, says",
    [
        ({"publish_rate": -5}, "parameter publish_rate is -5.0, must be >= 0.0"),
        ({"velocity_fallback": "guess"}, "parameter velocity_fallback is 'guess', must be one of zero, error"),
        ({"gravity": "[1.0, 2.0]"}, "parameter gravity has 2 values, must have 3"),
        ({"urdf": "no_such.urdf"}, "urdf: file no_such.urdf does not exist"),
        ({"urdf": "arm.urdf", "robot_description": "<robot/>"}, "parameters urdf and robot_description are both given"),
    ],
)
def test_bad_parameters_at_the_start_end_it_with_one_line(tmp_path, parameters, says):
    process = NodeProcess(MODULE, "refused", tmp_path / "log", parameters)
    assert process.process.wait(PATIENCE) == 1
    assert says in process.output() and "Traceback" not in process.output()


def test_a_bad_description_in_the_parameter_does_not_end_it_and_a_signal_does_quietly(tmp_path, driver):
    parameters = {"robot_description": "<robot/>"}
    with NodeProcess(MODULE, "alive", tmp_path / "log", parameters, end=signal.SIGTERM) as process:
        driver.wait(lambda: "refused" in process.output(), "a line of log")


def test_a_robot_comes_from_a_file_with_any_text(start, tmp_path, driver):
    """An apostrophe ends what a shell can quote for rcl, which reads parameters as YAML."""
    file = tmp_path / "its.urdf"
    file.write_text(f"{arm.urdf()}<!-- The arm's own: \"it\" -->\n")
    own = start(ArmDriver, "file", {"urdf": file, "state_timout": 1.0})
    driver.wait(lambda: "robot of 2 joints" in own.process.output(), "the robot")
    assert "parameter state_timout is not one of this node, and not used: is state_timeout" in own.process.output()
    assert own.get_parameter("robot_description") == file.read_text()
