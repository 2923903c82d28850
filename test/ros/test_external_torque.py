"""dynamics_node estimates what pushes the robot of simulator_node: two processes, over real DDS."""

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Vector3, Wrench, WrenchStamped
from rcl_interfaces.srv import ListParameters
from rclpy.qos import ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from screw_dynamics_interfaces.srv import ApplyWrench
from support.graph import PATIENCE, Driver, NodeProcess
from support.real_robots import PATHS, real_robot

pytestmark = pytest.mark.slow

UR5 = "ur_description/urdf/ur5_robot.urdf"
START = dict(zip(
    ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"),
    (0.3, -1.2, 1.4, -0.6, 0.9, 0.2), strict=True))
TORQUE, FORCE = (0.5, -1.0, 1.5), (20.0, -10.0, 30.0)
WRENCH = np.array([*TORQUE, *FORCE])


class Pushed(Driver):
    """The driver of both nodes."""

    def __init__(self):
        super().__init__("ur5", "screw_dynamics")
        self.states = self.collect(JointState, "/ur5/joint_states")
        self.torques = self.collect(JointState, "~/external_torque")
        self.contacts = self.collect(Bool, "~/contact")
        self.wrenches = self.collect(WrenchStamped, "~/external_wrench")

    def push(self, force=FORCE, torque=TORQUE):
        """A wrench on the tool, until the next, in a robot at its start."""
        wrench = WrenchStamped(wrench=Wrench(force=Vector3(**dict(zip("xyz", force, strict=True))),
                                             torque=Vector3(**dict(zip("xyz", torque, strict=True)))))
        wrench.header.frame_id = "tool0"
        assert self.call(Trigger, "/ur5/screw_simulator/reset").success
        assert self.call(ApplyWrench, "/ur5/screw_simulator/apply_wrench", wrench=wrench).success
        self.states.clear()
        self.wait(lambda: self.states and np.allclose(self.position(), list(START.values())), "the start")

    def estimate(self, accept, **tolerances):
        """The estimate in the robot's order, once it is close to what is accepted."""
        def found():
            if not self.torques:
                return None
            message = self.torques[-1]
            torque = np.array([message.effort[message.name.index(joint)] for joint in START])
            self.torques.clear()
            return torque if np.allclose(torque, accept, **tolerances) else None
        value = self.wait(lambda: (torque := found()) is not None and [torque], f"external torques {accept}")
        return value[0]

    def position(self):
        return np.array([self.states[-1].position[self.states[-1].name.index(joint)] for joint in START])


@pytest.fixture(scope="module")
def robot():
    return real_robot(UR5)


@pytest.fixture(scope="module")
def pushed(tmp_path_factory, ros):
    logs = tmp_path_factory.mktemp("external_torque")
    # Stamps of simulated time: those of a busy machine are not the times that the robot was there.
    simulator = {"command_mode": "position", "command_timeout": 0.0, "servo_bandwidth": 2.0, "publish_clock": True,
                 "publish_rate": 25.0,   # what a driver in Python keeps up with beside a load
                 **{f"initial_positions.{joint}": position for joint, position in START.items()}}
    dynamics = {"external_torque": True, "external_torque_gain": "[5.0]", "external_wrench_link": "tool0",
                "external_torque_threshold": "[2.0]", "use_sim_time": True,
                "state_timeout": PATIENCE, "publish_mass_matrix": True, "jacobian_links": "[tool0]",
                "effort_commands": "gravity",
                "qos_overrides./ur5/screw_dynamics/mass_matrix.publisher.reliability": "best_effort"}
    with (NodeProcess("screw_dynamics.ros.simulator.node", "ur5", logs / "simulator", simulator),
          NodeProcess("screw_dynamics.ros.dynamics.node", "ur5", logs / "dynamics", dynamics)):
        driver = Pushed()
        driver.describe(PATHS[UR5].read_text())
        driver.wait(lambda: driver.torques and driver.states, "the first estimate")
        yield driver


def test_a_push_is_estimated_as_torques_as_wrench_and_as_contact(pushed, robot):
    pushed.estimate(0.0, atol=1e-6)
    pushed.wait(lambda: pushed.contacts and not pushed.contacts[-1].data, "no contact")
    _, values = pushed.status(lambda status, values: "contact" in values)
    assert values["contact"] == "none"
    pushed.push()
    expected = robot.external_torque(pushed.position(), {"tool0": WRENCH})
    pushed.estimate(expected, atol=0.01)
    wrench = pushed.wait(lambda: pushed.wrenches and pushed.wrenches[-1], "a wrench")
    assert wrench.header.frame_id == "tool0" and any(s.header.stamp == wrench.header.stamp for s in pushed.states)
    w = wrench.wrench
    np.testing.assert_allclose([w.torque.x, w.torque.y, w.torque.z, w.force.x, w.force.y, w.force.z], WRENCH, atol=0.1)
    assert pushed.contacts[-1].data
    status, values = pushed.status(lambda status, values: "shoulder_lift_joint" in values.get("contact", ""))
    assert status.level == DiagnosticStatus.OK and status.message == "publishing"
    assert values["external wrench components observed"] == "6 of 6" and float(values["external wrench condition"]) < 30
    largest = float(values["largest external torque [N m, N]"])
    assert largest == pytest.approx(np.abs(expected).max(), rel=0.01)
    pushed.push(force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0))
    pushed.estimate(0.0, atol=0.01)
    pushed.contacts.clear()
    pushed.wait(lambda: pushed.contacts and not pushed.contacts[-1].data, "no contact")


def test_while_the_robot_moves_the_estimate_stays_near_zero(pushed):
    """Where the servo starts its effort jumps by some 10 N m between two messages, and no one knows when."""
    goal = np.array(list(START.values())) + 0.5
    publisher = pushed.publisher(JointState, "/ur5/joint_commands", 1)
    command = JointState(name=list(START), position=goal.tolist())
    largest = []

    def moved():
        largest.extend(np.abs(message.effort).max() for message in pushed.torques[:-1])
        del pushed.torques[:-1]
        return np.abs(pushed.position() - goal).max() < 1e-4

    pushed.torques.clear()
    publisher.publish(command)      # once: a late one would release the brakes after a reset
    pushed.wait(moved, "the goal")
    pushed.estimate(0.0, atol=0.01)
    assert 0.0 < max(largest) < 2.0, "no contact is seen"


def test_parameters_are_followed_and_checked_against_the_robot(pushed, robot):
    pushed.push()
    expected = robot.external_torque(pushed.position(), {"tool0": WRENCH})
    with pushed.parameter("external_torque_threshold", [1000.0], afterwards=[2.0]):
        pushed.estimate(expected, atol=0.01)
        pushed.contacts.clear()
        pushed.wait(lambda: pushed.contacts and not pushed.contacts[-1].data, "no contact")
    with pushed.parameter("external_wrench_link", "forearm_link", afterwards="tool0"):
        pushed.wrenches.clear()
        pushed.wait(lambda: pushed.wrenches and pushed.wrenches[-1].header.frame_id == "forearm_link", "its wrench")
        status, values = pushed.status(lambda status, values: status.level == DiagnosticStatus.WARN)
        assert status.message == "joint torques show 3 of 6 components of a wrench at link 'forearm_link'"
    assert pushed.set_parameter("external_torque_gain", [8.0] * 6) == ""
    pushed.estimate(expected, atol=0.01)
    for name, value, says in (
        ("external_torque_gain", [1.0, 2.0], "external_torque_gain has 2 values, must have 1, or 6 for shoulder_pan"),
        ("external_torque_gain", [0.0], "must be >= 0.01"),
        ("external_torque_threshold", [-1.0], "must be >= 0"),
        ("external_wrench_link", "nose", "'nose' is not a link"),
        ("external_torque", False, "read-only"),
    ):
        assert says in pushed.set_parameter(name, value)
    pushed.estimate(expected, atol=0.01)


def test_the_quality_of_service_of_every_topic_can_be_overridden(pushed):
    node = pushed.node
    infos = node.get_publishers_info_by_topic("/ur5/screw_dynamics/mass_matrix")
    assert [info.qos_profile.reliability for info in infos] == [ReliabilityPolicy.BEST_EFFORT]
    overridable = pushed.call(ListParameters, "~/list_parameters", prefixes=["qos_overrides"]).result.names
    # What rclpy makes by itself, and what it makes for lifecycles and parameters.
    others = {"/parameter_events", "/rosout", "/clock", "/ur5/screw_dynamics/transition_event"}
    for kind, found in (("publisher", node.get_publisher_names_and_types_by_node("screw_dynamics", "/ur5")),
                        ("subscription", node.get_subscriber_names_and_types_by_node("screw_dynamics", "/ur5"))):
        topics = {topic for topic, _ in found} - others
        assert topics, kind
        missing = {topic for topic in topics if f"qos_overrides.{topic}.{kind}.reliability" not in overridable}
        assert not missing, f"no QoS override of {kind} {missing}"
    assert "qos_overrides./ur5/screw_dynamics/trajectory.subscription.depth" in overridable
