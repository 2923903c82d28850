"""A controller as you might have one: a spring and a damper in each joint, and the robot's weight compensated.

python gravity_controller.py arm.urdf --ros-args -p stiffness:=60.0"""
import sys

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState

import screw_dynamics as sd
from screw_dynamics.ros.node.process import ros_process


class GravityController(Node):
    """Answers each state on joint_states with efforts on joint_commands."""

    def __init__(self, urdf):
        super().__init__("gravity_controller")
        self.robot = sd.Robot.from_urdf(urdf)
        self.stiffness = self.declare_parameter("stiffness", 60.0).value        # N m/rad
        self.damping = self.declare_parameter("damping", 12.0).value            # N m s/rad
        self.gravity_sign = self.declare_parameter("gravity_sign", 1.0).value   # -1.0: a mistake to be caught
        self.commands = self.create_publisher(JointState, "joint_commands", 1)
        self.create_subscription(JointState, "joint_states", self.on_state, 1)

    def on_state(self, state):
        """Pull all joints to zero."""
        order = [state.name.index(joint) for joint in self.robot.joint_names]   # the topic may have another one
        q, qd = np.array(state.position)[order], np.array(state.velocity)[order]
        effort = -self.stiffness * q - self.damping * qd + self.gravity_sign * self.robot.gravity_torque(q)
        command = JointState(name=self.robot.joint_names, effort=effort.tolist())
        command.header.stamp = state.header.stamp
        self.commands.publish(command)


if __name__ == "__main__":
    with ros_process():         # SIGINT and SIGTERM end it, and nothing else
        rclpy.spin(GravityController(remove_ros_args(sys.argv)[1]))
