"""The topics of a simulated robot on a floating base: it publishes odometry and a transform, and receives wrenches."""

from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped, WrenchStamped
from nav_msgs.msg import Odometry

from screw_dynamics.model.floating_base import RATES, FloatingBase
from screw_dynamics.simulator.simulation import Simulation

from ..endpoints import STREAM
from ..node import messages
from ..node.base_state import fixed_link
from ..node.joint_state import Fault, all_finite
from ..node.managed_node import ManagedNode
from ..node.optional import optional_interfaces

TOPICS = ("odom", "base_wrench")


class BaseEndpoints:
    """The topics of a floating base for a node: it publishes `odom`, and a transform on `/tf` if publish_tf is set, and
    subscribes to `base_wrench`.

    `take(wrench, stamp)` is called with a wrench (6,), torque first, on the base in its frame, and the stamp of its
    message in nanoseconds.

    The pose is that of the base link in the frame odom_frame; the twist is resolved in the base link's frame (REP 105).
    Covariances are 0, because the published state is exact."""

    def __init__(self, node: ManagedNode, take: Callable[[np.ndarray, int], None]):
        self._take, self._base = take, None
        self._odometry = node.publisher("odom")
        tf = optional_interfaces("tf2_msgs.msg", "transforms on /tf", node.log) if node.settings.publish_tf else None
        self._transforms = None if tf is None else node.publisher("/tf")
        self._message, self._tf_message = Odometry(), None if tf is None else tf.TFMessage(
            transforms=[TransformStamped()])
        self._message.header.frame_id = node.settings.odom_frame
        node.subscribe("base_wrench", self._on_wrench, STREAM)

    def follow(self, base: FloatingBase | None) -> None:
        """Use this base from now on; None for no base."""
        self._base = base
        if base is not None:
            self._message.child_frame_id = base.link

    def publish(self, simulation: Simulation, stamp: Time) -> None:
        """Publish the state of the base."""
        sample = None if self._base is None else simulation.odometry()
        if sample is None:
            return
        message = self._message
        message.header.stamp = stamp
        message.pose.pose, message.twist.twist = (
            messages.placement_message(sample.pose), messages.twist_message(sample.twist))
        self._odometry.publish(message)
        if self._transforms is not None:
            transform, pose = self._tf_message.transforms[0], message.pose.pose
            transform.header, transform.child_frame_id = message.header, message.child_frame_id
            transform.transform.translation = messages.vector_message(sample.pose)
            transform.transform.rotation = pose.orientation
            self._transforms.publish(self._tf_message)

    def _on_wrench(self, msg: WrenchStamped) -> None:
        if self._base is None:
            raise Fault("not active", "there is no active simulation of a robot on a floating base", "debug")
        link = fixed_link(self._base, msg.header.frame_id, "header.frame_id")
        wrench = messages.wrench(msg.wrench)
        if not all_finite(wrench):
            raise Fault("non-finite value", f"wrench is {wrench.tolist()} (torque, force)")
        self._take(self._base.wrench(wrench, link), messages.nanoseconds(msg.header.stamp))


def on_joints(command: np.ndarray, simulation: Simulation) -> np.ndarray:
    """Return commands (n,) from those of the joints of one degree of freedom."""
    return command if simulation.base is None else np.concatenate((np.full(RATES, np.nan), command))


def on_base(wrench: np.ndarray, simulation: Simulation) -> np.ndarray:
    """Return commands (n,) for a wrench on the base."""
    return np.concatenate((wrench, np.full(simulation.robot.n - RATES, np.nan)))
