"""The torque topics of dynamics_node: their terms, and their messages, made once and filled for every state."""

from collections.abc import Callable, Sequence

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.lifecycle import LifecyclePublisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from screw_dynamics.robot import Robot

from ..node.messages import floats

# term, also the name of its topic -> the efforts (n,) at position, velocity, acceleration
TERMS: dict[str, Callable[[Robot, np.ndarray, np.ndarray, np.ndarray], np.ndarray]] = {
    "gravity": lambda robot, q, qd, qdd: robot.gravity_torque(q),
    "coriolis": lambda robot, q, qd, qdd: robot.coriolis_torque(q, qd),
    "inverse_dynamics": lambda robot, q, qd, qdd: robot.inverse_dynamics(q, qd, qdd),
}


class Output:
    """Efforts of the joints `order` of the model on one topic. `message` and the array in it are reused."""

    def __init__(self, publisher: LifecyclePublisher, message: JointState | Float64MultiArray, order: np.ndarray):
        self.publisher = publisher
        self.message = message
        self._stamped = isinstance(message, JointState)
        self._values = np.frombuffer(message.effort if self._stamped else message.data)   # the message's own memory
        self._order = order

    @property
    def subscribed(self) -> bool:
        """Whether the topic has a subscriber."""
        return self.publisher.get_subscription_count() > 0

    def publish(self, torque: np.ndarray, stamp: Time) -> None:
        """Publish efforts given in model order; `stamp` is copied where the message has a header."""
        torque.take(self._order, out=self._values)
        if self._stamped:
            self.message.header.stamp = stamp
        self.publisher.publish(self.message)


def joint_state_output(publisher: LifecyclePublisher, joint_names: Sequence[str], order: np.ndarray) -> Output:
    """A sensor_msgs/JointState with name and effort."""
    message = JointState(name=[joint_names[i] for i in order], effort=floats(np.zeros(len(order))))
    return Output(publisher, message, order)


def command_output(publisher: LifecyclePublisher, order: np.ndarray) -> Output:
    """A std_msgs/Float64MultiArray, what a ForwardCommandController of ros2_controllers takes."""
    return Output(publisher, Float64MultiArray(data=floats(np.zeros(len(order)))), order)
