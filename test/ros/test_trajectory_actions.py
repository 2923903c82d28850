"""Trajectories to simulator_node over real DDS: what MoveIt 2 sends, groups, outcomes and their codes, who commands."""
import os

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from support import planar_arm as arm
from support.action_client import Actions
from support.real_robots import PATHS
from support.simulator_driver import Simulator, nanoseconds

FollowJointTrajectory = pytest.importorskip(
    "control_msgs.action", reason="control_msgs is not installed").FollowJointTrajectory
JointTolerance = pytest.importorskip("control_msgs.msg").JointTolerance
CODES = FollowJointTrajectory.Result
ALL, ARM, GRIPPER = "joint_trajectory_controller", "arm", "gripper"
NAN = float("nan")


def duration(seconds):
    return dict(sec=int(seconds // 1), nanosec=round(seconds % 1 * 1e9))


def trajectory(*rows, names=("elbow", "shoulder"), seconds=0.5, stamp=0, **fields):
    """Points at these positions, `seconds` apart, at rest at each; fields: of every point."""
    msg = JointTrajectory(joint_names=list(names))
    msg.header.stamp.sec, msg.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    for i, row in enumerate(rows):
        point = JointTrajectoryPoint(positions=list(row), velocities=[0.0] * len(row), accelerations=[0.0] * len(row))
        for name, values in fields.items():
            setattr(point, name, values)
        time = duration((i + 1) * seconds)
        point.time_from_start.sec, point.time_from_start.nanosec = time["sec"], time["nanosec"]
        msg.points.append(point)
    return msg


class Trajectories(Simulator):
    """A simulator's driver that sends trajectories."""

    def __init__(self, namespace):
        super().__init__(namespace)
        self.actions = Actions(self)

    def follow(self, msg, group=ALL, **fields):
        name = f"/{self.node.get_namespace().strip('/')}/{group}/follow_joint_trajectory"
        return self.actions.send(FollowJointTrajectory, name, trajectory=msg, **fields)


@pytest.fixture(scope="module")
def running_simulator(start_for_all):
    simulator = start_for_all(Trajectories, "trajectories", {
        "robot_description": f"'{arm.urdf()}'", "publish_clock": "true", "start_paused": "true",
        "trajectory_groups": f"[{ALL}, {ARM}, {GRIPPER}]", "arm.joints": "[shoulder]",
        "gripper.joints": "[elbow, finger]", "gripper.constraints.elbow.goal": "0.01",
        "gripper.constraints.elbo.goal": "0.01",
        "joint_trajectory_controller.constraints.shoulder.goal": "0.001",
    })
    simulator.wait(lambda: simulator.states, "the first state")
    return simulator


def is_near(state, shoulder, elbow, within=1e-3):
    return np.allclose(state.position[:2], (shoulder, elbow), atol=within)


# ------------------------------------------------------------------------------------------------- success
def test_goal_in_any_joint_order_is_reached_at_its_time_with_feedback(simulator):
    sent = simulator.follow(trajectory([0.3, 0.2], [0.5, 0.4]))
    state = simulator.step(990)
    assert not sent.done and is_near(state, 0.4, 0.5, 1e-2)
    simulator.step(10)
    status, result = sent.result()
    assert (status, result.error_code, result.error_string) == ("succeeded", CODES.SUCCESSFUL, "goal reached")
    simulator.wait(lambda: len(sent.feedback) == 19, "feedback at 20 Hz")    # not at the end, which is the result
    assert [nanoseconds(f.desired.time_from_start) for f in sent.feedback] == [50_000_000 * i for i in range(1, 20)]
    assert [f.index for f in sent.feedback] == [0] * 9 + [1] * 10
    fastest = sent.feedback[4].desired      # of a quintic, 1.875 times its mean velocity
    assert np.allclose(fastest.velocities, np.multiply(1.875 / 0.5, (0.3, 0.2)))
    assert np.allclose(fastest.accelerations, 0.0)
    middle = sent.feedback[9]
    assert middle.joint_names == ["elbow", "shoulder"]
    assert np.allclose(middle.desired.positions, (0.3, 0.2))
    assert np.allclose(middle.actual.positions, (0.3, 0.2), atol=1e-3)
    assert np.allclose(middle.error.positions, np.subtract(middle.desired.positions, middle.actual.positions))
    assert is_near(simulator.step(300), 0.4, 0.5, 1e-5)                          # it rests there


def test_two_groups_at_once_one_of_a_single_joint_as_a_gripper(simulator):
    lift = simulator.follow(trajectory([0.5], names=["shoulder"]), ARM)
    close = simulator.follow(trajectory([0.2], names=["elbow"], seconds=0.3), GRIPPER)
    simulator.step(300)
    assert close.result()[0] == "succeeded" and not lift.done
    assert is_near(simulator.step(200), 0.5, 0.2) and lift.result()[0] == "succeeded"


def test_topic_does_without_an_action(simulator):
    simulator.publisher(JointTrajectory, f"{ALL}/joint_trajectory", 10).publish(trajectory([0.3, 0.2]))
    simulator.status(lambda status, values: values["trajectories"] == ALL)
    assert is_near(simulator.step(510), 0.2, 0.3)
    simulator.publisher(JointTrajectory, f"{ALL}/joint_trajectory", 10).publish(trajectory([9.0, 0.2]))
    simulator.drops("trajectory refused", 1)


def test_start_in_the_past_is_entered_part_way_and_in_the_future_waited_for(simulator):
    now = nanoseconds(simulator.step(500).header.stamp)
    late = simulator.follow(trajectory([0.3, 0.2], [0.5, 0.4], stamp=now - 500_000_000))
    simulator.step(500)
    assert late.result()[0] == "succeeded"
    now = nanoseconds(simulator.step(0).header.stamp)
    early = simulator.follow(trajectory([0.1, 0.1], stamp=now + 300_000_000))
    simulator.step(790)
    assert not early.done
    simulator.step(10)
    assert early.result()[0] == "succeeded"


# ------------------------------------------------------------------------------------------------- failures
@pytest.mark.parametrize(
    ("msg", "code", "words"),
    [
        (trajectory([0.1], names=["elbow"]), CODES.INVALID_JOINTS, "'shoulder' is missing"),
        (trajectory([0.1, 0.2], names=["elbow", "knee"]), CODES.INVALID_JOINTS, "'knee'"),
        (trajectory(), CODES.INVALID_GOAL, "no points"),
        (trajectory([0.1, 0.2], seconds=0.0, velocities=[0.0, 0.5]), CODES.INVALID_GOAL, "'shoulder': velocity 0.5"),
        (trajectory([0.1, 0.2], [0.1, 0.2], seconds=0.0), CODES.INVALID_GOAL, "point 1: time_from_start 0.0 s"),
        (trajectory([0.1, NAN]), CODES.INVALID_GOAL, "'shoulder': positions nan"),
        (trajectory([3.5, 0.0]), CODES.INVALID_GOAL, "'elbow': position 3.5 is outside its limits [-3.0, 3.0]"),
        (trajectory([0.1, 0.2], velocities=[0.0]), CODES.INVALID_GOAL, "1 velocities for 2 joints"),
        (trajectory([0.1, 0.2], stamp=1), CODES.OLD_HEADER_TIMESTAMP, "ended"),
    ],
)
def test_goal_that_is_refused_says_why_and_what_runs_goes_on(simulator, msg, code, words):
    if code == CODES.OLD_HEADER_TIMESTAMP:
        simulator.step(600)
    running = simulator.follow(trajectory([0.3, 0.2]))
    status, result = simulator.follow(msg).result()
    assert (status, result.error_code) == ("aborted", code) and words in result.error_string, result
    simulator.step(500)
    assert running.result()[0] == "succeeded"


def test_path_and_goal_tolerances_of_the_goal_and_of_the_parameters(simulator):
    tight = JointTolerance(name="elbow", position=1e-9)
    sent = simulator.follow(trajectory([0.3, 0.2]), path_tolerance=[tight])
    simulator.step(500)
    status, result = sent.result()
    assert (status, result.error_code) == ("aborted", CODES.PATH_TOLERANCE_VIOLATED)
    assert "joint 'elbow': position is off by" in result.error_string and "tolerance 1e-09" in result.error_string

    never = JointTolerance(name="shoulder", position=1e-12)
    time = dict(goal_time_tolerance=FollowJointTrajectory.Goal().goal_time_tolerance)
    time["goal_time_tolerance"].nanosec = 50_000_000
    sent = simulator.follow(trajectory([0.6, 0.6]), goal_tolerance=[never], **time)
    simulator.step(600)
    status, result = sent.result()
    assert (status, result.error_code) == ("aborted", CODES.GOAL_TOLERANCE_VIOLATED)
    assert "after the end: joint 'shoulder': position is off by" in result.error_string

    with simulator.parameter(f"{ALL}.constraints.shoulder.trajectory", 1e-9, afterwards=0.0):
        sent = simulator.follow(trajectory([0.3, 0.2]))
    without = JointTolerance(name="shoulder", position=-1.0)
    simulator.step(500)
    assert sent.result()[1].error_code == CODES.PATH_TOLERANCE_VIOLATED
    with simulator.parameter(f"{ALL}.constraints.shoulder.trajectory", 1e-9, afterwards=0.0):
        sent = simulator.follow(trajectory([0.4, 0.4]), path_tolerance=[without])
    simulator.step(500)
    assert sent.result()[0] == "succeeded"


# ------------------------------------------------------------------------------------------------- who commands
def test_new_goal_replaces_the_running_one_which_says_so(simulator):
    first = simulator.follow(trajectory([0.6, 0.6]))
    simulator.step(250)
    second = simulator.follow(trajectory([-0.3, 0.3]))
    status, result = first.result()
    assert (status, result.error_code) == ("aborted", CODES.INVALID_GOAL) and "replaced it" in result.error_string
    assert is_near(simulator.step(500), 0.3, -0.3) and second.result()[0] == "succeeded"


def test_cancelled_goal_holds_where_it_is(simulator):
    sent = simulator.follow(trajectory([0.6, 0.6]))
    where = simulator.step(250).position
    assert sent.cancel()
    assert sent.result()[0] == "cancelled"
    after = simulator.step(500)
    assert is_near(after, *where[:2], within=0.05) and abs(np.array(after.velocity)).max() < 1e-3


def test_last_one_wins_between_commands_and_trajectories(simulator):
    sent = simulator.follow(trajectory([0.6, 0.6]))
    simulator.step(100)
    simulator.command(["elbow"], effort=[1.25])
    status, result = sent.result()
    assert status == "aborted" and result.error_string == "joint 'elbow': a message on joint_commands took it over"
    assert simulator.step(1).effort[1] == 1.25
    back = simulator.follow(trajectory([0.6, 0.6]))
    simulator.step(509)     # reached at step 601, found at 610
    assert back.result()[0] == "succeeded"
    assert is_near(simulator.step(600), 0.6, 0.6)    # longer than command_timeout


def test_reset_and_deactivation_end_goals_with_the_reason(simulator):
    sent = simulator.follow(trajectory([0.6, 0.6]))
    simulator.step(100)
    simulator.reset()
    status, result = sent.result()
    assert (status, result.error_string) == ("aborted", "~/reset was called")
    assert is_near(simulator.step(100), 0.0, 0.0, 1e-12)     # brakes

    def change(transition):
        assert simulator.call(ChangeState, "~/change_state", transition=Transition(id=transition)).success

    sent = simulator.follow(trajectory([0.6, 0.6]))
    change(Transition.TRANSITION_DEACTIVATE)
    assert sent.result()[1].error_string == "the simulator was deactivated"
    assert simulator.follow(trajectory([0.6, 0.6])).result()[1].error_string == "the simulator is inactive"
    change(Transition.TRANSITION_ACTIVATE)
    sent = simulator.follow(trajectory([0.2, 0.2]))
    simulator.step(500)
    assert sent.result()[0] == "succeeded"
    sent = simulator.follow(trajectory([0.6, 0.6]))
    change(Transition.TRANSITION_DEACTIVATE)
    change(Transition.TRANSITION_CLEANUP)       # before the result is asked for, perhaps
    assert sent.result()[1].error_string == "the simulator was deactivated"
    change(Transition.TRANSITION_CONFIGURE)
    change(Transition.TRANSITION_ACTIVATE)
    simulator.fresh()


def test_same_goal_at_the_same_steps_gives_the_same_bits(simulator):
    ends = []
    for at_a_time in (460, 92, 20):
        simulator.reset()
        simulator.step(40)
        sent = simulator.follow(trajectory([0.3, 0.2], [-0.4, 0.7], seconds=0.2))
        for _ in range(460 // at_a_time):
            state = simulator.step(at_a_time)
        assert sent.result()[0] == "succeeded"
        ends.append((state.position.tobytes(), state.velocity.tobytes(), state.effort.tobytes()))
    assert len(set(ends)) == 1


def test_runs_in_real_time_and_as_fast_as_possible(simulator):
    for factor, target in ((0.0, 0.2), (1.0, 0.4)):
        with simulator.parameter("real_time_factor", factor, afterwards=1.0):
            simulator.pause(False)
            assert simulator.follow(trajectory([0.3, target])).result()[0] == "succeeded"
            simulator.fresh(lambda state, target=target: is_near(state, target, 0.3))


def test_joint_that_mimics_and_parameters_without_meaning_have_a_line_of_log(simulator):
    assert "gripper.joints: joint 'finger' mimics 'elbow', and is left out" in simulator.process.output()
    assert "parameter gripper.constraints.elbo.goal does not exist, and is not used" in simulator.process.output()
    status, result = simulator.follow(trajectory([0.1], names=["finger"]), GRIPPER).result()
    assert result.error_code == CODES.INVALID_JOINTS and "'finger' mimics 'elbow'" in result.error_string


# ------------------------------------------------------------------------------------------------- MoveIt 2
def test_what_moveit_sends_for_a_panda_and_its_gripper(start):
    """Time-parameterized points in an order of its own, stamp zero, frame_id set, tolerances left at zero."""
    text = PATHS["panda_description/urdf/panda.urdf"].read_text()
    joints = [f"panda_joint{i}" for i in (7, 2, 5, 1, 3, 6, 4)]
    home = dict(panda_joint2=-0.8, panda_joint4=-2.3, panda_joint6=1.6)
    parameters = {
        "real_time_factor": "0", "publish_clock": "true",
        "trajectory_groups": "[panda_arm_controller, panda_hand_controller]",
        "panda_arm_controller.joints": f"[{', '.join(sorted(joints))}]",
        "panda_hand_controller.joints": "[panda_finger_joint1]",
        **{f"panda_arm_controller.constraints.{joint}.trajectory": "0.001" for joint in joints},
        **{f"initial_positions.{joint}": position for joint, position in home.items()},
    }
    simulator = start(Trajectories, "panda", parameters)
    simulator.describe(text)
    state = simulator.wait(lambda: simulator.states and simulator.states[-1], "a state")
    start = np.array([dict(zip(state.name, state.position, strict=True))[joint] for joint in joints])
    msg = JointTrajectory(joint_names=joints)
    msg.header.frame_id = "panda_link0"
    reach, seconds = np.array([0.3, -0.2, 0.4, 0.5, -0.3, 0.2, 0.3]), 2.0
    for time in np.arange(0.0, seconds + 0.05, 0.1):
        u = time / seconds      # a quintic of its own, sampled as by time-optimal parameterization
        point = JointTrajectoryPoint(
            positions=(start + reach * (10 * u**3 - 15 * u**4 + 6 * u**5)).tolist(),
            velocities=(reach * (30 * u**2 - 60 * u**3 + 30 * u**4) / seconds).tolist(),
            accelerations=(reach * (60 * u - 180 * u**2 + 120 * u**3) / seconds**2).tolist())
        point.time_from_start.sec, point.time_from_start.nanosec = int(time), round(time % 1 * 1e9)
        msg.points.append(point)
    sent = simulator.follow(msg, "panda_arm_controller")
    grasp = simulator.follow(trajectory([0.03], names=["panda_finger_joint1"]), "panda_hand_controller")
    assert grasp.result()[0] == "succeeded"
    status, result = sent.result()
    assert status == "succeeded", result
    state = simulator.fresh(lambda state: max(np.abs(state.velocity)) < 1e-3)
    end = dict(zip(state.name, state.position, strict=True))
    assert np.allclose([end[joint] for joint in joints], start + reach, atol=1e-3)
    assert end["panda_finger_joint1"] == pytest.approx(0.03, abs=1e-3) == end["panda_finger_joint2"]


def test_where_packages_are_missing_a_line_says_so_and_the_topic_is_there(start, tmp_path, monkeypatch):
    for package in ("control_msgs", "simulation_interfaces"):
        (tmp_path / f"{package}.py").write_text("raise ImportError('not installed')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    parameters = {
        "robot_description": f"'{arm.urdf()}'", "start_paused": "true", "trajectory_execution": "position_servo"}
    simulator = start(Trajectories, "bare", parameters)
    simulator.wait(lambda: simulator.states, "a state")
    simulator.publisher(JointTrajectory, f"{ALL}/joint_trajectory", 10).publish(trajectory([0.3, 0.2]))
    simulator.status(lambda status, values: values.get("trajectories") == ALL)
    lag = 2 * 0.75 / 50.0      # 2 v / servo_bandwidth, half-way
    assert simulator.step(250).position[0] == pytest.approx(0.1 - lag, abs=5e-3)
    assert is_near(simulator.step(500), 0.2, 0.3)
    lines = [line for line in simulator.process.output().splitlines() if "not offered" in line]
    assert ["simulation_interfaces" in line for line in lines] == [True, False], lines     # a line a package
    assert ["control_msgs" in line for line in lines] == [False, True], lines
    services = [name for name, _ in simulator.node.get_service_names_and_types() if name.startswith("/bare/screw")]
    assert f"{simulator.peer}/step" in services and f"{simulator.peer}/step_simulation" not in services
