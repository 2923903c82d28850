"""Model predictive control in a node: the tip of an arm follows a target that moves, at 100 Hz.

python examples/predictive_control.py urdf/spherical_arm.urdf gripper --ros-args -p radius:=0.1

Each state on joint_states is answered with efforts on joint_commands: the first of the best motion from there on, which
begins with the one found before. A solve that takes longer than the period has missed its deadline; how many did is on
~/deadline_misses. test/ros/test_predictive_control.py runs it in lockstep with the simulator."""
import sys
import time

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt32

import screw_dynamics as sd
from screw_dynamics.planning.optimal import Cost, Effort, LinkPosition, Solver, Velocity
from screw_dynamics.ros.node.process import ros_process

HORIZON = 25                # steps


class PredictiveController(Node):
    """Follows a circle about where the link was at first, in the plane of y and z."""

    def __init__(self, urdf, link):
        super().__init__("predictive_controller")
        self.robot, self.link = sd.Robot.from_urdf(urdf), link
        self.radius = self.declare_parameter("radius", 0.1).value           # m
        self.rate = self.declare_parameter("rate", 1.5).value               # rad/s, around the circle
        self.period = self.declare_parameter("period", 0.01).value          # s, between states
        self.solver, self.begin, self.number, self.misses = None, 0.0, 0, 0
        self.commands = self.create_publisher(JointState, "joint_commands", 1)
        self.missed = self.create_publisher(UInt32, "~/deadline_misses", 1)
        self.create_subscription(JointState, "joint_states", self.on_state, 1)
        self._start(self.robot.neutral(), np.zeros(self.robot.n))           # compiles what it takes, before time runs
        self.solver = None

    def target(self, t):
        """Where the link shall be (k, 3) at times t (k,) since the first state."""
        angle = self.rate * t
        return self.center + self.radius * np.stack([0.0 * t, np.sin(angle), np.cos(angle) - 1.0], axis=-1)

    def _start(self, q, qd):
        self.center = self.robot.forward_kinematics(q, self.link)[:3, 3]
        terms = [Cost(LinkPosition(self.link, self.target), 1e3), Cost(Velocity(), 0.05), Cost(Effort(), 1e-5)]
        self.solver = Solver(self.robot, terms, q, qd, dt=self.period, steps=HORIZON, limits=False, threads=1)
        self.solver.solve(20)
        self.solver.step(q, qd)

    def on_state(self, state):
        """Answer a state."""
        order = [state.name.index(joint) for joint in self.robot.joint_names]
        q, qd = np.array(state.position)[order], np.array(state.velocity)[order]
        now = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        started = time.perf_counter()
        if self.solver is None:
            self.begin = now
            self._start(q, qd)
        number = round((now - self.begin) / self.period)
        moved = min(max(number - self.number, 0), HORIZON)         # after a longer pause it catches up, state by state
        motion = self.solver.step(q, qd, moved=moved)
        self.misses += self.number > 0 and time.perf_counter() - started > self.period
        self.number += moved
        command = JointState(name=self.robot.joint_names, effort=motion.tau[0].tolist())
        command.header.stamp = state.header.stamp
        self.commands.publish(command)
        self.missed.publish(UInt32(data=self.misses))


if __name__ == "__main__":
    with ros_process():
        rclpy.spin(PredictiveController(*remove_ros_args(sys.argv)[1:3]))
