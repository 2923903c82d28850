"""simulator_node behind ros2_control: the traffic of JointStateTopicSystem for UR5 and Panda with gripper, over DDS."""
import contextlib

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import JointState

from support.graph import NodeProcess
from support.real_robots import PATHS, real_robot
from support.ros2_control import ControllerManager, EffortTrajectory, Forward, Joint, TopicSystem
from support.simulator_driver import MODULE, Simulator, nanoseconds

pytestmark = pytest.mark.slow

UR5, PANDA = "ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf"
TIMEOUT = 3.0       # s: more than a busy machine keeps a process waiting
GRIP, FINGER = "panda_finger_joint1", "panda_finger_joint2"
PANDA_ARM = [f"panda_joint{i}" for i in range(1, 8)]
PANDA_START = dict(zip(PANDA_ARM, (0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8), strict=True)) | {GRIP: 0.03}


@contextlib.contextmanager
def simulator(namespace, name, tmp_path, start, **parameters):
    """A simulator of a robot at a start, and its driver."""
    homes = {f"initial_positions.{joint}": position for joint, position in start.items()}
    with NodeProcess(MODULE, namespace, tmp_path / "log", {**homes, **parameters}) as process:
        driver = Simulator(namespace)
        driver.describe(PATHS[name].read_text())
        driver.wait(lambda: driver.states, "the first state")
        yield process, driver


def positions(driver, names):
    """The last reported positions of joints."""
    state = driver.states[-1]
    return np.array([state.position[state.name.index(name)] for name in names])


def held(driver):
    """The efforts of the last state."""
    return dict(zip(driver.states[-1].name, driver.states[-1].effort, strict=True))


def test_ur5_follows_a_trajectory_by_effort_and_a_constant_effort_goes_quiet(ros, tmp_path):
    """First with the threshold that always sends: it is held beyond command_timeout. Then with the default threshold:
    the hardware falls silent, the arm is dropped after command_timeout, and the log says why and what to do."""
    robot = real_robot(UR5)
    names = robot.joint_names
    goal = dict(zip(names, (0.5, -1.2, 1.4, -0.6, -0.4, 0.3), strict=True))
    start = {"shoulder_lift_joint": -0.6, "elbow_joint": 0.9}
    with simulator("ur5", UR5, tmp_path, start, command_timeout=TIMEOUT) as (process, driver):
        system = TopicSystem({name: Joint(("effort",)) for name in names}, threshold=-1.0)
        manager = ControllerManager(driver, system)
        manager.update()                                    # before there is a state: NaN, which commands nothing
        assert np.isnan(manager.sent[0].effort).all()
        assert manager.run(lambda: manager.cycles > 30, "cycles without a controller")
        assert np.array_equal(positions(driver, names[:3]), (0.0, -0.6, 0.9))        # held by the brakes

        manager.controllers = [EffortTrajectory(robot, goal, duration=1.0, period=0.01)]
        wanted = np.array(list(goal.values()))
        manager.run(lambda: abs(positions(driver, names) - wanted).max() < 1e-3
                    and abs(np.array(driver.states[-1].velocity)).max() < 1e-3, "the goal")
        assert set(map(len, (manager.sent[-1].effort, manager.sent[-1].name))) == {6}

        efforts = held(driver)
        manager.controllers = [Forward("effort", efforts)]
        driver.states.clear()
        manager.run(lambda: {tuple(state.effort) for state in driver.states[-20:]} == {tuple(efforts.values())}
                    and len(driver.states) > 20, "that all states are under them")
        del driver.states[:-1]
        manager.run(lambda: nanoseconds(driver.states[-1].header.stamp) - nanoseconds(driver.states[0].header.stamp)
                    > 1.1e9 * TIMEOUT, "the same efforts for longer than the timeout")
        assert len(manager.sent) == manager.cycles          # it always sends
        assert {tuple(state.effort) for state in driver.states} == {tuple(efforts.values())}
        _, values = driver.status(while_waiting=manager.update)
        assert values["dropped messages"] == "0"

        node = rclpy.create_node("controller_manager", namespace="ur5")
        system.threshold, sent = 1e-5, len(manager.sent)
        says = "trigger_joint_command_threshold"
        manager.run(lambda: held(driver) != efforts, "that they no longer act")
        assert len(manager.sent) - sent <= 2        # it was silent until then; the state is not the command any more
        manager.run(lambda: says in process.output(), "a log that says why commands have ceased")
        line = next(line for line in process.output().splitlines() if says in line)
        assert f"no joint_commands for {TIMEOUT:g} s (command_timeout) for shoulder_pan_joint" in line
        assert ": /ur5/driver publishes joint_commands, but sent none of these in that time. From now on their" in line
        assert "(on_timeout: zero)" in line and "command_timeout to 0" in line
        node.destroy_node()


@pytest.mark.parametrize("lives, publishes", [
    (True, "/ended/hand publishes joint_commands, but sent none of these in that time"),
    (False, "no node publishes joint_commands")])
def test_commands_that_end_without_ros2_control_are_not_laid_to_it(ros, tmp_path, lives, publishes):
    """A constant effort equals the reported one whoever sends it: the simulator sees who publishes, and that there is
    no controller manager."""
    robot = real_robot(UR5)
    with simulator("ended", UR5, tmp_path, {}, on_timeout="hold", command_timeout=TIMEOUT) as (process, driver):
        hand = rclpy.create_node("hand", namespace="ended")
        publisher = hand.create_publisher(JointState, "joint_commands", 1)
        driver.wait(lambda: publisher.get_subscription_count() > 0, "the simulator's subscription")
        publisher.publish(JointState(name=robot.joint_names, effort=[1.0] * robot.n))
        driver.wait(lambda: set(held(driver).values()) == {1.0}, "that the command acts")
        if not lives:
            hand.destroy_node()
        driver.wait(lambda: "command_timeout" in process.output(), "a log that says that commands have ceased")
        line = next(line for line in process.output().splitlines() if "command_timeout" in line)
        assert line.endswith(f": {publishes}. From now on brakes hold them (on_timeout: hold)")
        status, _ = driver.status(lambda status, values: publishes in status.message)
        assert status.level == DiagnosticStatus.WARN
        if lives:
            hand.destroy_node()


def test_quiet_hardware_does_not_drop_an_arm_without_a_timeout(ros, tmp_path):
    robot = real_robot(UR5)
    start = {"shoulder_lift_joint": -0.6, "elbow_joint": 0.9}
    with simulator("quiet", UR5, tmp_path, start, command_timeout=0.0) as (process, driver):
        manager = ControllerManager(driver, TopicSystem({name: Joint(("effort",)) for name in robot.joint_names}))
        held_up = robot.gravity_torque([start.get(name, 0.0) for name in robot.joint_names])
        manager.controllers = [Forward("effort", dict(zip(robot.joint_names, held_up, strict=True)))]
        manager.run(lambda: manager.cycles - len(manager.sent) > 100, "a second of silence")
        assert list(driver.states[-1].effort) == list(held_up)
        assert abs(positions(driver, ["shoulder_lift_joint"]) + 0.6) < 0.01


@pytest.mark.parametrize("full_length", [False, True])
def test_panda_arm_by_effort_and_gripper_by_position_in_one_message(ros, tmp_path, full_length):
    """As JointStateTopicSystem sends them, and with a value for each name; the right finger mimics the left."""
    robot = real_robot(PANDA)
    namespace, interfaces = f"panda{int(full_length)}", {f"command_interfaces.{GRIP}": "position"}
    with simulator(namespace, PANDA, tmp_path, PANDA_START, **interfaces) as (process, driver):
        every = ("position", "effort") if full_length else ()
        joints = {name: Joint(every or ("effort",)) for name in PANDA_ARM}
        joints |= {GRIP: Joint(every or ("position",)), FINGER: Joint(every, None if full_length else (GRIP, 1.0))}
        manager = ControllerManager(driver, TopicSystem(joints))
        goal = {name: PANDA_START[name] + 0.3 for name in PANDA_ARM}
        manager.controllers = [
            EffortTrajectory(robot, goal, duration=1.0, period=0.01), Forward("position", {GRIP: 0.005})]
        wanted = np.array([goal[name] for name in PANDA_ARM])
        manager.run(lambda: abs(positions(driver, PANDA_ARM) - wanted).max() < 2e-3
                    and abs(positions(driver, [GRIP]) - 0.005).max() < 1e-5, "the goal")
        lengths = tuple(len(array) for array in (manager.sent[-1].name, manager.sent[-1].position,
                                                 manager.sent[-1].velocity, manager.sent[-1].effort))
        assert lengths == ((9, 9, 0, 9) if full_length else (9, 1, 0, 7))
        assert np.array_equal(positions(driver, [GRIP]), positions(driver, [FINGER]))
        _, values = driver.status(while_waiting=manager.update)
        assert values["dropped messages"] == "0"
        assert not any(key.startswith("noticed: other field") for key in values)
        assert driver.get_parameter(f"command_interfaces.{GRIP}") == "position"
        assert "torque" in driver.set_parameter(f"command_interfaces.{GRIP}", "torque")


def test_an_interface_changed_at_run_time_takes_the_next_command(ros, tmp_path):
    with simulator("change", UR5, tmp_path, {}) as (process, driver):
        assert driver.set_parameter("command_interfaces.elbow_joint", "position") == ""
        driver.wait(lambda: driver.states and abs(positions(driver, ["elbow_joint"]) - 0.2).max() < 1e-4, "the elbow",
                    lambda: driver.command(name=["elbow_joint"], position=[0.2]))
