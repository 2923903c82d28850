"""simulator_node in a scene, in lockstep: a gripper holds a ball, topics tell of it, services change it, and what
cannot be is refused by name."""
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from screw_dynamics.description.urdf.error import UrdfWarning
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.testing import LockstepError
from support.loop_robots import standing_four_bar
from support.touching_robots import CAR, GRIPPER, RADIUS, SEPARATION, STANDING, WHEELS, with_collisions

# A node with a scene compiles kernels of contacts at its first start, for a minute or two.
pytestmark = pytest.mark.slow
COMPILING = 400.0       # wall s, of patience

G, NAN = 9.81, float("nan")
SCENE = """
ground: true
objects:
- {name: ball, shape: sphere, radius: 0.05, mass: 0.3, xyz: [0, 0, 0.3]}
"""


class Gripper(Node):
    """Closes the fingers with 20 N, and holds the lift."""

    def __init__(self):
        super().__init__("gripper")
        self._commands = self.create_publisher(JointState, "joint_commands", 10)
        self.create_subscription(JointState, "joint_states", self._on_state, 10)

    def _on_state(self, state):
        command = JointState(name=["lift", "left_finger", "right_finger"], position=[0.0, NAN, NAN],
                             effort=[NAN, -20.0, 20.0])
        command.header.stamp = state.header.stamp
        self._commands.publish(command)


@pytest.fixture
def held(robot_simulator, ros):
    """The simulator with the ball held for 0.3 s."""
    record = {"bumper/left": Bool, "force_torque/wrist": WrenchStamped, "objects/ball/pose": PoseStamped,
              "/diagnostics": DiagnosticArray}
    gripper = Gripper()
    parameters = {"bumpers": ["left", "boxx"], "force_torques": ["wrist"], "command_interfaces.lift": "position",
                  "trajectory_groups": [""]}
    simulator = robot_simulator(with_collisions(GRIPPER), [gripper], scene=SCENE, record=record, parameters=parameters,
                                tolerate=["no command"], patience=COMPILING)
    simulator.advance(0.3)
    yield simulator
    gripper.destroy_node()


def last(simulator, topic):
    return simulator.recording.topics[topic][-1]


def off(simulator):
    """How much further wheels have gone than their base, in m."""
    return last(simulator, "wheel_odom").pose.pose.position.x - simulator.recording.odometry[-1].pose.pose.position.x


def noticed(simulator):
    """How many requests the diagnostics have counted as refused."""
    values = [value.value for message in simulator.recording.topics["/diagnostics"] for status in message.status
              for value in status.values if "request refused" in value.key]
    return int(values[-1]) if values else 0


def test_a_gripper_holds_a_ball_that_topics_tell_of_and_services_change(held):
    contacts = last(held, "contacts")
    assert contacts.header.frame_id == "world"
    assert {frozenset(pair) for pair in zip(contacts.first, contacts.second, strict=True)} == {
        frozenset(("ball", "left")), frozenset(("ball", "right"))}
    up = sum(force.z if first == "ball" else -force.z
             for first, force in zip(contacts.first, contacts.forces, strict=True))
    assert up == pytest.approx(0.3 * G, abs=1e-6)
    assert last(held, "bumper/left").data
    assert "bumpers: boxx is no link with collision shapes" in (held.folder / "simulator.log").read_text()
    wrist = last(held, "force_torque/wrist").wrench.force       # hand, fingers and the ball hang below it
    assert wrist.z == pytest.approx(-(0.5 + 0.2 + 0.2 + 0.3) * G, abs=1e-3)
    assert held.object("ball")[2] == pytest.approx(0.297, abs=2e-3)        # it fell until the fingers closed
    assert held.recording.position("lift")[-1] == pytest.approx(0.0, abs=1e-8)
    assert held.recording.effort("lift")[-1] == pytest.approx((2.0 + 0.5 + 0.2 + 0.2 + 0.3) * G, abs=1e-5)
    assert last(held, "objects/ball/pose").pose.position.z == held.object("ball")[2]

    held.spawn("brick", "{shape: box, size: [0.1, 0.1, 0.1], mass: 2.0}", (0.5, 0.0, 0.3, 0.0, 0.0, 0.0, 2.0))
    before = held.object("ball")
    held.advance(0.4)
    np.testing.assert_allclose(held.object("ball"), before, atol=1e-4)
    assert held.object("brick")[2] == pytest.approx(0.05, abs=1e-6)
    held.place("brick", (0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    held.advance(0.1)
    assert held.object("brick")[0] == pytest.approx(0.6, abs=1e-9)
    held.delete("brick")
    held.set_friction("ball", 0.0)
    held.advance_until(lambda recording: held.object("ball")[2] < 0.06, deadline=1.0)
    assert not last(held, "bumper/left").data
    with pytest.raises(KeyError, match="'brick' is not among ground, ball"):
        held.object("brick")


def test_what_cannot_be_is_refused_counted_and_changes_nothing(held):
    before = held.object("ball")
    for change, message in (
            (lambda: held.place("ball", (NAN, 0, 0, 0, 0, 0, 1)), "object 'ball': pose must be 7 finite numbers"),
            (lambda: held.place("bell", (0, 0, 0, 0, 0, 0, 1)), "object 'bell' must be one of ground, ball"),
            (lambda: held.spawn("heavy", "{shape: sphere, radius: 0.1, mass: 1e30}"), "'heavy': mass 1e\\+30 kg"),
            (lambda: held.spawn("odd", "{shape: sphere, radius: .nan, mass: 1}"), "radius"),
            (lambda: held.spawn("odd", "[" * 1000), "description"),
            (lambda: held.spawn("left", "{shape: sphere, radius: 0.1}"), "'left': the name is taken"),
            (lambda: held.spawn("x" * 300, "{shape: sphere, radius: 0.1, mass: 1}"), "the name has 300 characters"),
            (lambda: held.delete("left"), "object 'left' must be one of"),
            (lambda: held.set_friction("ball", NAN), "friction")):
        with pytest.raises(LockstepError, match=message):
            change()
    held.advance(0.1)
    np.testing.assert_allclose(held.object("ball"), before, atol=1e-4)
    held._driver.wait(lambda: noticed(held) == 9, lambda: f"the diagnostics to count 9 requests, not {noticed(held)}")


def test_cmd_vel_drives_a_base_and_wheel_odometry_tells_where(robot_simulator, ros):
    command = TwistStamped()
    command.twist.linear.x = 0.5

    class Driver(Node):
        """Answers each state of the wheels with the command."""

        def __init__(self):
            super().__init__("driver")
            self._commands = self.create_publisher(TwistStamped, "cmd_vel", 10)
            self.create_subscription(JointState, "joint_states", self._on_state, 10)

        def _on_state(self, state):
            command.header.stamp = state.header.stamp
            self._commands.publish(command)

    driver = Driver()
    simulator = robot_simulator(
        CAR, [driver], answers=0, awaits={"cmd_vel": TwistStamped}, ground=True, patience=COMPILING,
        record={"wheel_odom": Odometry}, parameters={
            "floating_base": True, "left_wheels": [WHEELS[0]], "right_wheels": [WHEELS[1]], "wheel_radius": RADIUS,
            "wheel_separation": SEPARATION, "initial_base_pose": list(STANDING),
            "trajectory_groups": [""]})
    simulator.set_friction("caster", 0.0)
    simulator.advance(0.5)
    slipped = off(simulator)            # while it gathered speed
    simulator.advance(0.5)
    assert last(simulator, "wheel_odom").twist.twist.linear.x == pytest.approx(0.5, abs=1e-3)
    assert simulator.recording.odometry[-1].pose.pose.position.x > 0.4
    assert off(simulator) == pytest.approx(slipped, abs=1e-6)
    driver.destroy_node()


def test_a_mechanism_stands_on_the_ground_and_its_loop_stays_closed(robot_simulator, ros):
    """A four-bar on a plate, whose crank is told to turn."""
    class Crank(Node):
        """Answers each state with the position of the crank."""

        def __init__(self):
            super().__init__("crank")
            self._commands = self.create_publisher(JointState, "joint_commands", 10)
            self.create_subscription(JointState, "joint_states", self._on_state, 10)

        def _on_state(self, state):
            command = JointState(name=["A"], position=[0.05])
            command.header.stamp = state.header.stamp
            self._commands.publish(command)

    crank = Crank()
    with pytest.warns(UrdfWarning, match="left open"):
        simulator = robot_simulator(standing_four_bar(), [crank], ground=True, patience=COMPILING, parameters={
            "floating_base": True, "initial_base_pose": [0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0],
            "command_interfaces.A": "position", "trajectory_groups": [""]})
    simulator.advance(0.5)
    loops = ClosedLoopRobot.from_urdf(standing_four_bar(), floating_base=True)
    q = loops.robot.neutral()
    for joint in "ABC":
        q[loops.robot.q_slices[joint]] = simulator.recording.position(joint)[-1]
    assert q[loops.robot.q_slices["A"]] == pytest.approx(0.05, abs=1e-6) and abs(loops.residual(q)).max() < 1e-11
    contacts = last(simulator, "contacts")
    up = sum(force.z if first == "frame" else -force.z
             for first, force in zip(contacts.first, contacts.forces, strict=True))
    assert up == pytest.approx(8.5 * G, abs=1e-3)
    crank.destroy_node()
