"""Forwards the efforts of dynamics_node to a controller. Once they are late it damps the joints, until it is restarted.

python examples/watchdog.py --ros-args -p "joints:=[joint1, joint2]" -p "damping:=[4.0, 2.0]" -p timeout:=0.05 \
    -r efforts:=/screw_dynamics/effort_commands -r commands:=/gravity_compensation/commands"""
import math
import time

import rclpy
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from screw_dynamics.ros.node.process import ros_process


class Watchdog(Node):
    """Publishes `commands`: the `efforts`, or -damping times velocity, or 0 if joint_states are late too."""

    def __init__(self):
        super().__init__("watchdog")
        joints, damping, self.timeout = (self.declare_parameter(name, default).value for name, default in (
            ("joints", [""]), ("damping", [0.0]), ("timeout", 0.05)))       # N m s/rad or N s/m; s
        self.damping = dict(zip(joints, damping, strict=True))
        self.heard, self.seen, self.tripped = math.inf, 0.0, False          # times of the last efforts and state
        self.commands = self.create_publisher(Float64MultiArray, "commands", 1)
        self.create_subscription(Float64MultiArray, "efforts", self.forward, 1)
        self.create_subscription(JointState, "joint_states", self.damp, qos_profile_sensor_data)
        self.create_timer(0.25 * self.timeout, self.look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def forward(self, efforts):
        """Forward efforts; those of other joints, or that are not finite, are none."""
        if len(efforts.data) != len(self.damping) or not all(map(math.isfinite, efforts.data)):
            return
        self.heard = time.monotonic()
        if not self.tripped:
            self.commands.publish(efforts)

    def damp(self, state):
        """Damp the joints after the efforts were late. States without all their velocities are none."""
        velocity = {joint: v for joint, v in zip(state.name, state.velocity, strict=False) if math.isfinite(v)}
        if not self.damping.keys() <= velocity.keys():
            return
        self.seen = time.monotonic()
        if self.tripped:
            efforts = [-d * velocity[joint] for joint, d in self.damping.items()]
            self.commands.publish(Float64MultiArray(data=efforts))

    def look(self):
        """Look for what is late."""
        if not self.tripped and time.monotonic() - self.heard > self.timeout:
            self.tripped = True
            self.get_logger().error(f"no efforts for {self.timeout} s: damping until a restart")
        if self.tripped and time.monotonic() - self.seen > self.timeout:
            self.commands.publish(Float64MultiArray(data=[0.0] * len(self.damping)))


if __name__ == "__main__":
    with ros_process():
        rclpy.spin(Watchdog())
