"""What a controller does wrong fails a test in lockstep, unless the test tolerates it."""
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from screw_dynamics.testing import LockstepError, RobotSimulator
from support import planar_arm as arm

pytestmark = pytest.mark.slow

NAN, INF = float("nan"), float("inf")
NAMES = ["shoulder", "elbow"]
WRONG = {
    "another robot's names": (
        {"name": ["joint1", "joint2"], "effort": [1.0, 2.0]}, "unknown joint",
        "not used in full: joints joint1, joint2 do not exist, the robot has shoulder, elbow"),
    "one name misspelt": (
        {"name": ["shoulder", "elbo"], "effort": [1.0, 2.0]}, "unknown joint",
        "not used in full: joint elbo does not exist, the robot has shoulder, elbow"),
    "NaN": ({"name": NAMES, "effort": [1.0, NAN]}, "no command", "not used in full: effort of elbow is nan"),
    "nothing": ({"name": NAMES}, "no command", "not used in full: effort of shoulder, elbow is empty"),
    "positions": ({"name": NAMES, "position": [1.0, 2.0]}, "other field",
                  "not used in full: position is given for shoulder, elbow, whose command interface is effort"),
    "infinite": ({"name": NAMES, "effort": [1.0, -INF]}, "refused", "refused: effort of joint 'elbow' is -inf"),
    "a value too many": ({"name": NAMES, "effort": [1.0, 2.0, 3.0]}, "refused", "refused: effort has 3 values"),
    "named twice": ({"name": ["elbow", "elbow"], "effort": [1.0, 2.0]}, "refused",
                    "refused: joint 'elbow' is named twice"),
}
KINDS = sorted({kind for _, kind, _ in WRONG.values()})


class Controller(Node):
    """Answers each state by a message of the fields `command`."""

    def __init__(self, namespace):
        super().__init__("controller", namespace=namespace)
        self.command, self.answered = {}, 0
        self.commands = self.create_publisher(JointState, "joint_commands", 1)
        self.create_subscription(JointState, "joint_states", self.answer, 1)

    def answer(self, state):
        self.answered += 1
        self.commands.publish(JointState(**self.command))


def simulators(namespace, tmp_path_factory, **options):
    """A simulator and its controller."""
    node = Controller(namespace)
    with RobotSimulator(arm.urdf(), [node], folder=tmp_path_factory.mktemp(namespace), namespace=namespace,
                        patience=30.0, **options) as simulator:
        yield simulator, node
    node.destroy_node()


@pytest.fixture(scope="module")
def strict(ros_domain, ros, tmp_path_factory):
    yield from simulators("strict", tmp_path_factory)


@pytest.fixture(scope="module")
def tolerant(ros_domain, ros, tmp_path_factory):
    yield from simulators("tolerant", tmp_path_factory, tolerate=[*KINDS, "unused setting"],
                          initial_positions={"knee": 0.1}, parameters={"command_timeot": 1.0})


@pytest.mark.parametrize("case", WRONG)
def test_a_controller_that_commands_wrongly_fails_with_names_and_values(strict, case):
    simulator, node = strict
    node.command, kind, says = WRONG[case]
    simulator.reset()
    with pytest.raises(LockstepError) as failed:
        simulator.advance(0.1)
    assert f"joint_commands (published by /strict/controller) was {says}" in str(failed.value)
    assert f"tolerate: '{kind}'" in str(failed.value)
    with pytest.raises(LockstepError, match="joint_commands"):     # until a reset
        simulator.advance(0.1)
    node.command = {"name": NAMES, "effort": [1.0, 2.0]}
    simulator.reset()
    assert len(simulator.advance(0.1).time) == 11


@pytest.mark.parametrize("case", WRONG)
def test_what_is_tolerated_goes_on(tolerant, case):
    """And a message that was refused is an answer, or time would not go on."""
    simulator, node = tolerant
    simulator.reset()
    node.command, _, _ = WRONG[case]
    node.answered = 0
    assert len(simulator.advance(0.05).time) == 6 and node.answered == 6


def test_one_kind_alone_is_tolerated(ros_domain, ros, tmp_path_factory):
    for simulator, node in simulators("other", tmp_path_factory, tolerate=["unknown joint"]):
        node.command, *_ = WRONG["one name misspelt"]
        simulator.advance(0.05)
        node.command, *_ = WRONG["NaN"]
        with pytest.raises(LockstepError, match="effort of elbow is nan"):
            simulator.advance(0.05)


def test_a_trajectory_that_is_refused_fails_the_test(strict):
    simulator, node = strict
    node.command = {"name": NAMES, "effort": [0.0, 0.0]}
    simulator.reset()
    simulator.advance(0.05)
    publisher = simulator.node.create_publisher(JointTrajectory, "joint_trajectory_controller/joint_trajectory", 1)
    simulator._driver.wait(lambda: publisher.get_subscription_count(), "the simulator's subscription")
    publisher.publish(JointTrajectory(joint_names=["wing"]))
    with pytest.raises(LockstepError, match="joint_trajectory .*was refused: .*wing"):
        simulator.advance_until(lambda recording: False, deadline=60.0)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"initial_positions": {"knee": 0.5}}, "initial_positions.knee is not used: unknown joint, the robot has"),
        ({"parameters": {"command_interfaces.knee": "effort"}}, "command_interfaces.knee is not used: unknown joint"),
        ({"parameters": {"position_noise.knee": 0.1}}, "position_noise.knee is not used: unknown joint"),
        ({"parameters": {"command_timeot": 1.0}}, "command_timeot is not one of this node.* is command_timeout meant"),
        ({"parameters": {"joint_trajectory_controller.joints": ["knee"]}}, "joint 'knee' does not exist"),
        ({"parameters": {"joint_trajectory_controller.constraints.knee.goal": 0.1}}, "knee.goal does not exist"),
    ],
)
def test_a_setting_that_does_nothing_fails_the_test(ros_domain, ros, tmp_path, options, says):
    with pytest.raises(LockstepError, match=f"{says}.*tolerate: 'unused setting'"):
        RobotSimulator(arm.urdf(), folder=tmp_path, namespace="unused", **options).start()


def test_settings_that_do_nothing_are_warnings_where_tolerated(tolerant):
    simulator, _ = tolerant
    log = simulator.processes[0].log.read_text()
    assert "initial_positions.knee is not used" in log and "command_timeot is not one of this node" in log


def test_a_kind_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="tolerate lists 'nans', must be of refused, unknown joint, no command"):
        RobotSimulator(arm.urdf(), tolerate=["nans"])


@pytest.mark.parametrize(("arguments", "says"), [
    ({"velocity": {"elbow": 1.0}}, "velocity of joint 'elbow' is given, but not its position"),
    ({"position": {"shoulder": 0.1}, "velocity": {"elbow": 1.0}}, "velocity of joint 'elbow' is given, but no"),
    ({"base_twist": np.zeros(6)}, "base_twist is given, but not base_pose"),
])
def test_a_state_to_reset_to_is_not_taken_in_part(strict, arguments, says):
    with pytest.raises(ValueError, match=says):
        strict[0].reset(**arguments)


@pytest.fixture
def lenient(ros_domain, ros, tmp_path_factory):
    settings = {"strict": False, "lockstep": "", "hold_until_first_command": False, "command_timeout": 0.05}
    yield from simulators("lenient", tmp_path_factory, parameters=settings, answers=0)


def test_commands_that_are_all_refused_are_not_called_none(lenient):
    """The robot is without commands, and who sent them is told what became of them, in diagnostics and log."""
    simulator, node = lenient
    node.command, *_ = WRONG["infinite"]
    reports = []
    simulator._driver.record(DiagnosticArray, "/diagnostics", reports)
    simulator.advance(0.1)      # of a robot that was never commanded
    simulator._driver.wait(
        lambda: any(", all refused; the last: effort of joint 'elbow' is -inf" in status.message
                    and status.level == DiagnosticStatus.WARN for report in reports for status in report.status),
        "the diagnostics to say that commands are refused")
    node.command = {"name": NAMES, "effort": [1.0, 2.0]}
    simulator.advance_until(lambda recording: recording.max_abs("elbow", "effort") == 2.0, deadline=60.0)

    def line():
        # Commands may have ceased before the first wrong one came, which is said once: they come again, and cease.
        for node.command in ({"name": NAMES, "effort": [1.0, 2.0]}, WRONG["infinite"][0]):
            simulator.advance(0.1)
        lines = simulator.processes[0].log.read_text().rpartition("\n")[0].splitlines()     # the last may be half
        # not the one on what lasts, which a slow machine has logged before the robot was commanded
        return next((line for line in lines if "joint_commands, and sent " in line and "From now on" in line), None)

    found = simulator._driver.wait(line, "a line of log on commands")
    assert "all refused; the last: effort of joint 'elbow' is -inf. From now on" in found
