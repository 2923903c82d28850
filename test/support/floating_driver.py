"""A driver of dynamics_node for the hopper on a floating base."""
import itertools

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState

import screw_dynamics as sd
from screw_dynamics.ros.node import messages
from screw_dynamics_interfaces import msg as interfaces
from screw_dynamics_interfaces import srv
from support import floating_robots as robots
from support.graph import Driver

TERMS = ("gravity", "coriolis", "inverse_dynamics")


class FloatingDriver(Driver):
    """Every state that it sends has a stamp of its own, later than those before."""

    MODULE = "screw_dynamics.ros.dynamics.node"

    def __init__(self, namespace):
        super().__init__(namespace, "screw_dynamics")
        self.torques = {term: self.collect(JointState, f"~/{term}") for term in TERMS}
        self.wrenches = {term: self.collect(WrenchStamped, f"~/{term}/base_wrench") for term in TERMS}
        self._clock = itertools.count(1)
        self._robot = sd.Robot.from_urdf(robots.hopper(), floating_base=True)

    def odometry(self, q, v, child="trunk", stamp=None):
        """An Odometry with the pose in q and the twist in v."""
        message = Odometry(child_frame_id=child)
        message.header.frame_id, message.header.stamp.sec = "odom", next(self._clock) if stamp is None else stamp
        message.pose.pose, message.twist.twist = messages.placement_message(q[:7]), messages.twist_message(v[:6])
        return message

    def send_odometry(self, q, v, **options):
        """Publish an Odometry."""
        self.publisher(Odometry, "odom", qos_profile_sensor_data).publish(self.odometry(q, v, **options))

    def send_joints(self, q, v, stamp=None, effort=()):
        """Publish joint_states; their stamp."""
        message = JointState(name=robots.JOINTS, position=q[7:].tolist(), velocity=v[6:].tolist(), effort=list(effort))
        message.header.stamp.sec = next(self._clock) if stamp is None else stamp
        self.publisher(JointState, "joint_states").publish(message)
        return message.header.stamp.sec

    def output(self, term, stamp):
        """The message on a topic of torques with this stamp, or None."""
        return next((message for message in self.torques[term] if message.header.stamp.sec == stamp), None)

    def settle(self, q, v):
        """Send a state until the node has it."""
        shin = self._robot.forward_kinematics(q, "shin")[:3, 3]
        self.wait(lambda: self.send_joints(q, v) and self._has(q, v, next(self._clock), "shin", shin), "the state")

    def settle_base(self, q, v):
        """Send an Odometry until the node has it; its stamp."""
        stamp = next(self._clock)
        self.wait(lambda: self._has(q, v, stamp, "trunk", q[:3]), "the odometry")
        return stamp

    def _has(self, q, v, stamp, link, position):
        """Whether a link is where it shall be, after another Odometry."""
        self.send_odometry(q, v, stamp=stamp)
        reply = self.call(srv.GetForwardKinematics, "~/get_forward_kinematics", link=link)
        return reply.success and np.allclose(messages.placement(reply.pose.pose)[:3], position, rtol=0, atol=1e-12)

    def answer(self, term, q, v):
        """The efforts (8,) of base and joints that come for a state."""
        self.settle(q, v)
        self.torques[term].clear()
        self.wrenches[term].clear()
        stamps = []

        def found():
            for torque in self.torques[term]:
                for wrench in self.wrenches[term]:
                    if torque.header.stamp == wrench.header.stamp and torque.header.stamp.sec in stamps:
                        return torque, wrench
            return None

        torque, wrench = self.wait(found, term, lambda: stamps.append(self.send_joints(q, v)))
        assert tuple(torque.name) == robots.JOINTS and wrench.header.frame_id == "trunk"
        return np.concatenate((messages.wrench(wrench.wrench), torque.effort))


def base(q, v, acceleration=(0.0,) * 6):
    """The field `base` of a request."""
    state = interfaces.BaseState(pose=messages.placement_message(q[:7]), twist=messages.twist_message(v[:6]))
    state.acceleration.angular = messages.vector_message(acceleration[:3])
    state.acceleration.linear = messages.vector_message(acceleration[3:])
    return [state]
