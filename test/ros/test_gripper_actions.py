"""Goals of grippers to simulator_node over real DDS: what MoveIt 2 sends to gripper controllers, and how they end."""
import pytest
from sensor_msgs.msg import JointState

from support import planar_arm as arm
from support.action_client import Actions
from support.simulator_driver import Simulator

actions = pytest.importorskip("control_msgs.action", reason="control_msgs is not installed")
if not hasattr(actions, "ParallelGripperCommand"):
    pytest.skip("control_msgs has no actions of grippers here", allow_module_level=True)

from control_msgs.msg import GripperCommand as Command  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402

SINGLE, PARALLEL = actions.GripperCommand, actions.ParallelGripperCommand
STOP = 3.0      # rad


class Grippers(Simulator):
    """A simulator's driver that sends goals to grippers."""

    def __init__(self, namespace):
        super().__init__(namespace)
        self.actions = Actions(self)

    def send(self, kind, group, command):
        return self.actions.send(kind, f"/grippers/{group}/gripper_cmd", command=command)

    def single(self, position, max_effort=0.0, group="hand"):
        return self.send(SINGLE, group, Command(position=position, max_effort=max_effort))

    def parallel(self, group="jaws", **fields):
        return self.send(PARALLEL, group, JointState(**fields))

    def of(self, state, field, joint="elbow"):
        return getattr(state, field)[list(state.name).index(joint)]


@pytest.fixture(scope="module")
def running_simulator(start_for_all):
    simulator = start_for_all(Grippers, "grippers", {
        "robot_description": f"'{arm.urdf()}'", "publish_clock": "true", "start_paused": "true",
        "gravity": "[0.0, 0.0, 0.0]", "gripper_groups": "[hand, jaws, firm, lost]", "hand.joint": "elbow",
        "jaws.joint": "elbow", "jaws.type": "ParallelGripperCommand", "jaws.allow_stalling": "true",
        "jaws.stall_timeout": "0.3", "firm.joint": "elbow", "firm.max_effort": "3.0", "firm.goal_tolerance": "0.1",
        "lost.joint": "thumb", "hand.stall_timout": "1.0",
    })
    simulator.wait(lambda: simulator.states, "the first state")
    return simulator


def test_a_goal_succeeds_when_it_is_reached_with_feedback_and_is_held(simulator):
    sent = simulator.single(0.5)
    simulator.step(50)
    assert not sent.done
    simulator.step(950)
    status, result = sent.result()
    assert (status, result.reached_goal, result.stalled) == ("succeeded", True, False)
    assert 0.0 < abs(result.position - 0.5) < 0.01
    assert sent.feedback and not sent.feedback[0].reached_goal and 0.0 < sent.feedback[0].position < 0.5
    assert abs(simulator.of(simulator.step(1000), "position") - 0.5) < 1e-6


def test_a_stalled_gripper_aborts_after_the_timeout_and_grips_on_with_its_largest_effort(simulator):
    simulator.reset_to(name=["elbow"], position=[STOP])
    sent = simulator.single(STOP + 0.1, max_effort=2.0)
    simulator.step(990)
    assert not sent.done
    state = simulator.step(30)
    status, result = sent.result()
    assert (status, result.reached_goal, result.stalled) == ("aborted", False, True)
    assert result.position == pytest.approx(STOP) and result.effort == pytest.approx(2.0)
    assert simulator.of(state, "effort") == pytest.approx(2.0)


def test_a_stalled_parallel_gripper_succeeds_where_that_is_allowed(simulator):
    simulator.reset_to(name=["elbow"], position=[STOP])
    sent = simulator.parallel(name=["elbow"], position=[STOP + 0.1], effort=[1.5])
    simulator.step(320)
    status, result = sent.result()
    assert (status, result.reached_goal, result.stalled) == ("succeeded", False, True)
    assert list(result.state.name) == ["elbow"] and result.state.position[0] == pytest.approx(STOP)
    assert result.state.effort[0] == pytest.approx(1.5)


def test_a_largest_velocity_and_names_of_fingers_that_mimic_it(simulator):
    sent = simulator.parallel(name=["finger", "elbow"], position=[0.0, 1.0], velocity=[0.0, 0.5])
    state = simulator.step(1500)
    assert not sent.done and 0.4 < simulator.of(state, "position") < 0.6
    assert simulator.of(state, "velocity") == pytest.approx(0.5, abs=0.01)      # in the middle of its way
    simulator.step(1500)
    assert sent.result()[0] == "succeeded" and sent.feedback[0].state.name == ["elbow"]


def test_tolerance_and_largest_effort_of_the_parameters(simulator):
    sent = simulator.single(1.0, group="firm")
    assert abs(simulator.of(simulator.step(50), "effort")) == pytest.approx(3.0)
    state = simulator.step(2000)
    assert sent.result()[0] == "succeeded"
    assert abs(simulator.of(state, "position") - 1.0) < 1e-3
    simulator.reset()
    simulator.single(1.0, max_effort=-1.0, group="firm")        # its sign does not matter, and it is in place of it
    assert abs(simulator.of(simulator.step(50), "effort")) == pytest.approx(1.0)


def test_a_cancelled_goal_rests_and_a_new_one_or_a_command_replaces_one(simulator):
    sent = simulator.parallel(position=[2.0], velocity=[0.5])
    simulator.step(1000)
    assert sent.cancel() and sent.result()[0] == "cancelled"
    rest = simulator.of(simulator.step(200), "position")
    assert abs(simulator.of(simulator.step(500), "position") - rest) < 1e-3
    first = simulator.parallel(position=[2.0], velocity=[0.5])
    second = simulator.single(0.1)
    status, result = first.result()
    assert (status, result.reached_goal, result.stalled) == ("aborted", False, False)
    simulator.step(10)
    simulator.command(["elbow"], effort=[0.25])
    assert second.result()[0] == "aborted"
    assert simulator.of(simulator.step(10), "effort") == pytest.approx(0.25)


def test_trajectories_and_grippers_take_joints_from_each_other(simulator):
    sent = simulator.single(2.0, max_effort=0.1)
    simulator.step(20)
    point = JointTrajectoryPoint(positions=[0.3, 0.2])
    point.time_from_start.nanosec = 500_000_000
    simulator.publisher(JointTrajectory, "joint_trajectory_controller/joint_trajectory", 10).publish(
        JointTrajectory(joint_names=["elbow", "shoulder"], points=[point]))
    assert sent.result()[0] == "aborted"
    assert abs(simulator.of(simulator.step(900), "position") - 0.3) < 1e-3      # with its whole effort


@pytest.mark.parametrize(("group", "send", "says"), [
    ("hand", lambda s: s.single(float("nan")), "hand: goal refused: position is nan, must be finite"),
    ("jaws", lambda s: s.parallel(position=[]), "jaws: goal refused: command.position has 0 values, must have 1"),
    ("lost", lambda s: s.single(0.1, group="lost"), "lost: goal refused: parameter lost.joint: joint 'thumb' does not "
     "exist, must be one of shoulder, elbow"),
])
def test_a_goal_that_is_refused_is_aborted_and_the_log_(simulator, group, send, says):
    assert send(simulator).result()[0] == "aborted"
    simulator.wait(lambda: says in simulator.process.output(), "a line of log")


def test_settings_that_do_nothing_are_named(simulator):
    assert "parameter hand.stall_timout does not exist, and is not used" in simulator.process.output()
