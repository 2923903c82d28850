"""The torque topics of dynamics_node: their terms, and their messages, made once and filled for every state."""

import array
from collections.abc import Callable, Sequence

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from screw_dynamics.robot import Robot

# term, also the name of its topic -> the efforts (n,) at position, velocity, acceleration
TERMS: dict[str, Callable[[Robot, np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "gravity": lambda robot, q, qd, qdd: robot.gravity_torque(q),
    "coriolis": lambda robot, q, qd, qdd: robot.coriolis_torque(q, qd),
    "inverse_dynamics": lambda robot, q, qd, qdd: robot.inverse_dynamics(q, qd, qdd),
}


class Output:
    """Efforts of the joints `order` of the model on one topic. `message` and the array in it are reused."""

    def __init__(self, publisher, message, values: array.array, order: np.ndarray):
        self.publisher = publisher
        self.message = message
        self._values = np.frombuffer(values)   # the message's own memory
        self._order = order

    @property
    def wanted(self) -> bool:
        """Whether the topic has a subscriber."""
        return self.publisher.get_subscription_count() > 0

    def publish(self, torque: np.ndarray, stamp) -> None:
        """Publish efforts given in model order; `stamp` is copied where the message has a header."""
        torque.take(self._order, out=self._values)
        if isinstance(self.message, JointState):
            self.message.header.stamp = stamp
        self.publisher.publish(self.message)


def joint_state_output(publisher, joint_names: Sequence[str], order: np.ndarray) -> Output:
    """A sensor_msgs/JointState with name and effort."""
    values = array.array("d", bytes(8 * len(order)))
    message = JointState(name=[joint_names[i] for i in order], effort=values)
    return Output(publisher, message, message.effort, order)


def command_output(publisher, order: np.ndarray) -> Output:
    """A std_msgs/Float64MultiArray, what a ForwardCommandController of ros2_controllers takes."""
    message = Float64MultiArray(data=array.array("d", bytes(8 * len(order))))
    return Output(publisher, message, message.data, order)
