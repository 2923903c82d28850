"""~/set_payload of simulator_node: a robot that carries what its controller does not know of; and the parameters of
dynamics_node for a payload."""
import numpy as np
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

import screw_dynamics as sd
from screw_dynamics.ros.dynamics.node import DynamicsNode
from screw_dynamics.ros.node.loaded_robot import LoadedRobot
from screw_dynamics.ros.simulator.node import SimulatorNode
from screw_dynamics.simulator.settings import Settings
from screw_dynamics.simulator.simulation import Simulation
from screw_dynamics.testing import LockstepError, RobotSimulator
from support import planar_arm as arm

START = {"shoulder": 0.3, "elbow": -0.4}
LOAD = 0.7
HALFWAY = (-arm.L2 / 2, 0.0, 0.0)     # of the forearm, from the flange: a point there is a heavier forearm


class Compensation(Node):
    """Answers each state by the gravity torques of a forearm of mass `m2`, in closed form."""

    def __init__(self):
        super().__init__("compensation", namespace="payload")
        self.m2 = arm.M2
        self.commands = self.create_publisher(JointState, "joint_commands", 1)
        self.create_subscription(JointState, "joint_states", self.answer, 1)

    def effort(self, position):
        return arm.gravity(position[:2], m2=self.m2).tolist()

    def answer(self, state):
        self.commands.publish(JointState(name=["shoulder", "elbow"], effort=self.effort(
            [state.position[list(state.name).index(name)] for name in ("shoulder", "elbow")])))


@pytest.fixture(scope="module")
def running(ros_domain, ros, tmp_path_factory):
    node = Compensation()
    with RobotSimulator(arm.urdf(), [node], initial_positions=START, folder=tmp_path_factory.mktemp("payload"),
                        namespace="payload") as simulator:
        yield simulator, node
    node.destroy_node()


def fallen(running, load, known=0.0):
    """The positions (samples, 2) of an arm with a load, under compensation of another."""
    simulator, node = running
    simulator.set_payload("flange", load, HALFWAY)
    node.m2 = arm.M2 + known
    simulator.reset()
    recording = simulator.advance(0.5)
    return np.stack([recording.position(joint) for joint in START], axis=-1)


def test_the_motion_is_that_of_a_robot_that_is_heavier_by_its_description(running):
    """The controller knows the arm alone."""
    twin = Simulation(sd.Robot.from_urdf(arm.urdf(m2=arm.M2 + LOAD)), Settings(), START)
    found = fallen(running, LOAD)
    for k, position in enumerate(found):
        by_name = dict(zip(twin.robot.joint_names, twin.q, strict=True))
        assert np.allclose(position, [by_name[joint] for joint in START], atol=1e-9), k
        efforts = dict(zip(START, arm.gravity(position), strict=True))
        twin.command(np.array([efforts[joint] for joint in twin.robot.joint_names]))
        twin.advance(10)


def test_compensation_that_does_not_know_the_payload_lets_the_arm_sag(running):
    assert np.ptp(fallen(running, 0.0), axis=0).max() < 1e-9
    assert np.ptp(fallen(running, LOAD), axis=0).max() > 0.1
    assert np.ptp(fallen(running, LOAD, known=LOAD), axis=0).max() < 1e-9
    running[0].set_payload("flange", 0.0)
    assert np.ptp(fallen(running, 0.0), axis=0).max() < 1e-9


@pytest.mark.parametrize(("link", "mass", "says"), [
    ("wing", 1.0, "link: 'wing' is not a link of the robot"), ("", 1.0, "link: '' is not"),
    ("flange", -1.0, "inertia, for link 'flange': .*-1"), ("flange", float("nan"), "inertia, for link 'flange': .*nan"),
])
def test_what_is_no_payload_is_refused_and_changes_nothing(running, link, mass, says):
    with pytest.raises(LockstepError, match=says):
        running[0].set_payload(link, mass)
    assert np.ptp(fallen(running, 0.0), axis=0).max() < 1e-9


@pytest.fixture
def node(ros):
    node = SimulatorNode(namespace="payload_of_node")
    node.trigger_configure()
    node.trigger_activate()
    yield node
    node.endpoints.close()
    node.end()
    node.destroy_node()


def test_a_payload_stays_under_other_gravity_and_with_other_robots_that_have_the_link(node):
    q, heavier = (0.3, -0.4), arm.M2 + LOAD
    robot = sd.Robot.from_urdf(arm.urdf())
    node.use(robot)
    order = [robot.joint_names.index(name) for name in arm.NAMES]

    def torque():
        simulated = node.runner().simulation.robot
        return simulated.gravity_torque(np.array(q)[np.argsort(order)])[order]

    node.set_payload("flange", LOAD, np.array(HALFWAY), np.zeros((3, 3)))
    running = node._runner
    node.use(robot.with_gravity((0.0, 0.0, -1.62)))
    assert node._runner is running, "it is the same robot"
    assert np.allclose(torque(), arm.gravity(q, m2=heavier, g=1.62), rtol=1e-12)
    assert node.payloads == {"flange": LOAD}
    node.use(sd.Robot.from_urdf(arm.urdf(m2=3.0)))
    assert node._runner is not running
    assert np.allclose(torque(), arm.gravity(q, m2=3.0 + LOAD), rtol=1e-12)
    node.use(sd.Robot.from_urdf(arm.urdf().replace("flange", "tool")))
    assert node.payloads == {} and np.allclose(torque(), arm.gravity(q), rtol=1e-12)


def test_another_robot_of_the_same_links_carries_the_same():
    """As that of a force-torque sensor does."""
    robot, loaded = sd.Robot.from_urdf(arm.urdf()), LoadedRobot()
    loaded.describe(robot)
    loaded.set_payload("flange", LOAD, np.array(HALFWAY), np.zeros((3, 3)))
    other = loaded.loaded(robot.with_gravity((0.0, 0.0, -1.62)))
    order = [robot.joint_names.index(name) for name in arm.NAMES]
    torque = other.gravity_torque(np.array((0.3, -0.4))[np.argsort(order)])[order]
    assert np.allclose(torque, arm.gravity((0.3, -0.4), m2=arm.M2 + LOAD, g=1.62), rtol=1e-12)


def test_parameters_of_joints_are_followed_with_a_payload(node):
    """They are of the described robot, which is another than the loaded one."""
    node.use(sd.Robot.from_urdf(arm.urdf()))
    node.set_payload("flange", LOAD, np.array(HALFWAY), np.zeros((3, 3)))
    node._simulation_parameters.homes.assign("initial_positions.elbow", 0.6)
    simulation = node.runner().simulation
    simulation.reset()
    assert simulation.q[simulation.robot.joint_names.index("elbow")] == 0.6


# ------------------------------------------------------------------------------------------------- of parameters
PAYLOAD = {"payload_link": "flange", "payload_mass": LOAD, "payload_center_of_mass": list(HALFWAY)}


def dynamics(**parameters):
    """A configured dynamics_node in this process."""
    node = DynamicsNode(namespace="in_process",
                        parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()])
    node.trigger_configure()
    return node


def test_dynamics_node_starts_with_the_payload_of_its_parameters(ros):
    """And so after each configuration; the service replaces it, and says so to who sets a parameter."""
    robot, q = sd.Robot.from_urdf(arm.urdf()), (0.3, -0.4)
    order = [robot.joint_names.index(name) for name in arm.NAMES]
    node = dynamics(**PAYLOAD, payload_inertia=[0.01, 0.0, 0.0, 0.02, 0.0, 0.02])

    def torque():
        return node.robot().gravity_torque(np.array(q)[np.argsort(order)])[order]
    try:
        with pytest.raises(ValueError, match="payload_link: 'flange' is not a link of the robot"):
            node.use(sd.Robot.from_urdf(arm.urdf().replace("flange", "tool")))
        node.use(robot)
        assert np.allclose(torque(), arm.gravity(q, m2=arm.M2 + LOAD), rtol=1e-12)
        expected = robot.with_payload("flange", LOAD, HALFWAY, np.diag([0.01, 0.02, 0.02]))
        assert np.array_equal(node.robot().mass_matrix(q), expected.mass_matrix(q))
        node.set_payload("flange", 0.0, np.zeros(3), np.zeros((3, 3)))
        node.use(robot.with_gravity((0.0, 0.0, -9.81)))
        assert np.allclose(torque(), arm.gravity(q), rtol=1e-12)
        refused = node.set_parameters_atomically([Parameter("payload_mass", value=1.0)])
        assert not refused.successful and "~/set_payload" in refused.reason
        node.trigger_cleanup()
        node.trigger_configure()
        node.use(robot)
        assert np.allclose(torque(), arm.gravity(q, m2=arm.M2 + LOAD), rtol=1e-12)
    finally:
        node.end()
        node.endpoints.close()


@pytest.mark.parametrize(("changed", "says"), [
    ({"payload_link": ""}, "parameter payload_mass is 0.7, but payload_link is empty"),
    ({"payload_link": "", "payload_mass": 0.0}, "parameter payload_center_of_mass is .*, but payload_link is empty"),
    ({"payload_mass": 0.0}, "parameter payload_mass is 0.0, but payload_link is 'flange'"),
    ({"payload_mass": -1.0}, "parameter payload_mass is -1.0, must be >= 0"),
    ({"payload_center_of_mass": [0.0, 0.1]}, "parameter payload_center_of_mass has 2 values"),
    ({"payload_inertia": [-0.1, 0.0, 0.0, 0.1, 0.0, 0.1]}, r"parameter payload_inertia is \[-0.1, .*: payload: iner"),
])
def test_a_payload_of_parameters_that_is_none_is_refused_at_the_start(ros, changed, says):
    with pytest.raises(ValueError, match=says):
        dynamics(**PAYLOAD | changed)
