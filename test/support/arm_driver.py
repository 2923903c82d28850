"""A driver of dynamics_node for the planar arm: sends states, finds the torques that answer them."""

import itertools

import numpy as np
from rclpy.duration import Duration
from sensor_msgs.msg import JointState

from support import planar_arm as arm
from support.graph import PATIENCE, Driver

MODULE = "screw_dynamics.ros.dynamics.node"
TOPICS = ("gravity", "coriolis", "inverse_dynamics")
Q, QD = np.array([0.3, 0.7]), np.array([0.5, -0.2])


class ArmDriver(Driver):
    """Every message that it sends has a stamp of its own, later than those before, by which the answer is known."""

    MODULE = MODULE

    def __init__(self, namespace):
        super().__init__(namespace, "screw_dynamics")
        self.torques = {topic: self.collect(JointState, f"~/{topic}") for topic in TOPICS}
        self._clock = itertools.count(1)

    def state(self, names=arm.NAMES, position=Q, velocity=QD, effort=(), stamp=None):
        """A joint_states message with the next stamp."""
        msg = JointState(name=list(names), position=list(position), velocity=list(velocity), effort=list(effort))
        msg.header.stamp.sec = next(self._clock) if stamp is None else stamp
        return msg

    def send(self, **state):
        """Publish a state; its stamp."""
        msg = self.state(**state)
        self.publisher(JointState, "joint_states").publish(msg)
        return msg.header.stamp.sec

    def deliver(self, **state):
        """Publish a state to a reliable subscription, and wait until it has arrived there; its stamp."""
        stamp = self.send(**state)
        assert self.publisher(JointState, "joint_states").wait_for_all_acked(Duration(seconds=PATIENCE))
        return stamp

    def output(self, topic, stamp):
        """The torques {joint: effort} with this stamp, or None."""
        for msg in self.torques[topic]:
            if msg.header.stamp.sec == stamp:
                return dict(zip(msg.name, msg.effort, strict=True))
        return None

    def answer(self, topic="gravity", **state):
        """The torques (shoulder, elbow) that come for a state, which is sent until they do."""
        stamps = []
        torques = self.wait(
            lambda: next((t for stamp in stamps if (t := self.output(topic, stamp))), None),
            f"a torque on {topic}", while_waiting=lambda: stamps.append(self.send(**state)),
        )
        assert set(torques) == set(arm.NAMES)
        return np.array([torques[name] for name in arm.NAMES])

    def drops(self, accept=lambda counts: True, while_waiting=lambda: None):
        """The counters of dropped messages by reason, once they fulfil a condition."""
        found = {}

        def look(status, values):
            found.clear()
            found.update({key[9:]: int(value) for key, value in values.items() if key.startswith("dropped: ")})
            return accept(found)

        self.status(look, while_waiting)
        return found
