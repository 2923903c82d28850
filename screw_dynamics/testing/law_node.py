"""A control law as a node of the test: it answers each state of a simulated robot with efforts."""

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from screw_dynamics.control import Loop


class LawNode(Node):
    """A node that makes a cycle of a `Loop` for each message on joint_states, and publishes on joint_commands. A state
    that does not come after the one before starts the law anew, as after a reset."""

    def __init__(self, loop: Loop, namespace: str = ""):
        super().__init__(f"law_{loop.law.name}", namespace=namespace)
        self._loop, self._last = loop, -np.inf
        self._commands = self.create_publisher(JointState, "joint_commands", 1)
        self.create_subscription(JointState, "joint_states", self._answer, 1)

    def _answer(self, state: JointState) -> None:
        t = state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec
        if t <= self._last:
            self._loop.reset()
        self._last, names = t, self._loop.robot.joint_names
        order = [state.name.index(name) for name in names]
        q, qd = (np.array(x)[order] for x in (state.position, state.velocity))
        command = JointState(name=names, effort=self._loop(t, q, qd).tolist())
        command.header.stamp = state.header.stamp
        self._commands.publish(command)
