"""The torque topics of dynamics_node: their terms, and their messages, encoded once and filled for every state."""

from collections.abc import Callable, Sequence

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.lifecycle import LifecyclePublisher
from sensor_msgs.msg import MultiDOFJointState

from screw_dynamics.model.multi_dof_joints import MultiDofJoint
from screw_dynamics.robot import Robot

from ..node import messages
from ..node.cdr import ReceivedJointState, Template, float64_array_template, joint_state_template, wrench_template
from .output_joints import FOLLOWER, OutputJoints

# term, also the name of its topic -> function of position, velocity, acceleration that returns the efforts (n,)
TERMS: dict[str, Callable[[Robot, np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "gravity": lambda robot, q, qd, qdd: robot.gravity_torque(q),
    "coriolis": lambda robot, q, qd, qdd: robot.coriolis_torque(q, qd),
    "inverse_dynamics": lambda robot, q, qd, qdd: robot.inverse_dynamics(q, qd, qdd),
}


FORCE_FIRST = np.array([3, 4, 5, 0, 1, 2])


class Output:
    """The efforts of the velocities `order` of the model on one topic: `values` (order,) of the message `template`. The
    effort is 0 where order is FOLLOWER."""

    def __init__(self, publisher: LifecyclePublisher, template: Template, field: str, order: np.ndarray):
        self.publisher = publisher
        self._template, self._values = template, template.fields[field]
        own = order != FOLLOWER
        self._order, self._where = order[own], None if own.all() else np.flatnonzero(own)
        self._stamped = field != "data"

    def publish(self, torque: np.ndarray, stamp: Time | ReceivedJointState) -> None:
        """Publish efforts given in model order. The stamp, or that of a state, is written into the header if there is
        one."""
        if self._where is None:
            torque.take(self._order, out=self._values)
        else:
            self._values[self._where] = torque.take(self._order)
        if self._stamped:
            self._template.stamp(stamp.sec, stamp.nanosec)
        self.publisher.publish(self._template.encode())


class MultiDofOutput:
    """The efforts of joints of several degrees of freedom on one topic, as a sensor_msgs/MultiDOFJointState: for each
    joint the wrench on its child, in the child's frame."""

    def __init__(self, publisher: LifecyclePublisher, joints: Sequence[MultiDofJoint]):
        self.publisher, self._joints = publisher, joints

    def publish(self, torque: np.ndarray, stamp: Time | ReceivedJointState) -> None:
        """Publish efforts given in model order, with a stamp, or that of a state."""
        message = MultiDOFJointState(
            joint_names=[joint.name for joint in self._joints],
            wrench=[messages.wrench_message(joint.wrench(torque[joint.v])) for joint in self._joints])
        message.header.stamp = Time(sec=stamp.sec, nanosec=stamp.nanosec)
        self.publisher.publish(message)


def joint_state_output(publisher: LifecyclePublisher, joints: OutputJoints) -> Output:
    """Return an output of a sensor_msgs/JointState with name and effort."""
    return Output(publisher, joint_state_template(joints.names, ["effort"]), "effort", joints.order)


def base_output(publisher: LifecyclePublisher, link: str) -> Output:
    """Return an output of a geometry_msgs/WrenchStamped with the first six efforts, those of a floating base, in the
    frame of its link."""
    return Output(publisher, wrench_template(link), "wrench", FORCE_FIRST)


def command_output(publisher: LifecyclePublisher, order: np.ndarray) -> Output:
    """Return an output of a std_msgs/Float64MultiArray, as a ForwardCommandController of ros2_controllers expects."""
    return Output(publisher, float64_array_template(len(order)), "data", order)
