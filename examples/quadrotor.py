"""A quadrotor flies to a point and hovers: a controller that answers odom with base_wrench.

python examples/quadrotor.py urdf/quadrotor.urdf --ros-args -p target:="[1.0, -0.5, 1.5]"

docs/simulator_node.md describes how to run both. Force and attitude control after T. Lee, M. Leok, N. H. McClamroch,
"Geometric tracking control of a quadrotor UAV on SE(3)", CDC 2010."""
import sys

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.utilities import remove_ros_args

import screw_dynamics as sd
from screw_dynamics.ros.node.process import ros_process

STIFFNESS, DAMPING = 4.0, 3.5               # 1/s^2 and 1/s, of the position
TURNING, TURNING_DAMPING = 100.0, 20.0      # the same of the attitude


class Quadrotor(Node):
    """Flies to the parameter target, x y z, with its nose along x."""

    def __init__(self, urdf):
        super().__init__("quadrotor")
        self.robot = sd.Robot.from_urdf(urdf, floating_base=True)
        self.inertia = self.robot.mass_matrix(self.robot.neutral())     # of one body: in its own frame, for ever
        self.target = np.array(self.declare_parameter("target", [1.0, -0.5, 1.5]).value)
        self.wrenches = self.create_publisher(WrenchStamped, "base_wrench", 1)
        self.create_subscription(Odometry, "odom", self.on_odometry, qos_profile_sensor_data)

    def on_odometry(self, odometry):
        """Answer a state with a wrench: any torque, and a force along the rotors' axis."""
        p, a = odometry.pose.pose.position, odometry.pose.pose.orientation
        v, w = odometry.twist.twist.linear, odometry.twist.twist.angular
        q = np.array([p.x, p.y, p.z, a.x, a.y, a.z, a.w])
        V = np.array([w.x, w.y, w.z, v.x, v.y, v.z])
        wrench = self.wrench(q, V)
        answer = WrenchStamped()
        answer.header.stamp, answer.header.frame_id = odometry.header.stamp, odometry.child_frame_id
        torque, force = answer.wrench.torque, answer.wrench.force
        torque.x, torque.y, torque.z, force.x, force.y, force.z = wrench.tolist()
        self.wrenches.publish(answer)

    def wrench(self, q, V):
        """The wrench (6,), torque first, at the pose q, x y z and quaternion, and the twist V in the body's frame."""
        R = self.robot.forward_kinematics(q, "body")[:3, :3]
        acceleration = STIFFNESS * (self.target - q[:3]) - DAMPING * (R @ V[3:]) - self.robot.gravity
        up = acceleration / np.linalg.norm(acceleration)            # where the rotors are to point
        left = np.cross(up, (1.0, 0.0, 0.0))
        left /= np.linalg.norm(left)
        wanted = np.stack((np.cross(left, up), left, up), axis=1)
        error = sd.so3.log(R.T @ wanted)
        turning = np.concatenate((TURNING * error - TURNING_DAMPING * V[:3], np.zeros(3)))
        torque = (self.inertia @ turning + self.robot.coriolis_torque(q, V))[:3]
        return np.array([*torque, 0.0, 0.0, self.robot.total_mass * (acceleration @ R[:, 2])])


if __name__ == "__main__":
    with ros_process():         # SIGINT and SIGTERM end it, and nothing else
        rclpy.spin(Quadrotor(remove_ros_args(sys.argv)[1]))
