"""A scenario of a campaign that is nodes in lockstep: the simulator, and a controller beside it."""
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from screw_dynamics.testing import RobotSimulator, isolate
from support import planar_arm as arm


class Damper(Node):
    """Answers each state with efforts against the velocities."""

    def __init__(self, damping):
        super().__init__("damper")
        self._damping = damping
        self._commands = self.create_publisher(JointState, "joint_commands", 1)
        self.create_subscription(JointState, "joint_states", self._on_state, 1)

    def _on_state(self, state):
        command = JointState(name=state.name, effort=[-self._damping * qd for qd in state.velocity])
        command.header.stamp = state.header.stamp
        self._commands.publish(command)


def start_of(p, rng):
    """Where a case begins."""
    return {"shoulder": p.angle, "elbow": float(rng.uniform(-0.2, 0.2))}


def damped_arm(p, rng):
    """The planar arm falls against a damper, in a DDS domain of this process's own."""
    isolate()
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    damper = Damper(p.damping)
    try:
        with RobotSimulator(arm.urdf(), [damper], initial_positions=start_of(p, rng)) as simulator:
            return simulator.advance(0.2)
    finally:
        damper.destroy_node()
        rclpy.try_shutdown()


def slow_enough(recording):
    """The margin to 3 rad/s."""
    return 3.0 - max(recording.max_abs(joint, "velocity") for joint in recording.joints)


def all_answered(recording):
    """Whether each state was."""
    return len(recording.commands.messages) == len(recording.time) == 21 and bool(np.isfinite(recording.time).all())
