"""The topics of a wheeled base, as those of diff_drive_controller: it subscribes to cmd_vel and publishes wheel
odometry."""

from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry

from screw_dynamics.simulator.differential_drive import DifferentialDrive, Traveled
from screw_dynamics.simulator.simulation import Simulation

from ..endpoints import STREAM
from ..node import messages
from ..node.joint_state import Fault
from ..node.managed_node import ManagedNode


class DriveEndpoints:
    """The topics `cmd_vel` (subscribed) and `wheel_odom` (published) of a node with the parameters left_wheels,
    right_wheels, wheel_radius and wheel_separation.

    `take(speeds, stamp)` is called with {wheel: rad/s} and the stamp of the message in nanoseconds; the wheels are
    commanded by velocity. The odometry assumes wheels without slip, and starts at the start or a reset. Raises
    ValueError that names a parameter that does not fit."""

    def __init__(self, node: ManagedNode, take: Callable[[dict[str, float], int], None]):
        settings = node.settings
        self._drive = DifferentialDrive(tuple(filter(None, settings.left_wheels)), tuple(filter(
            None, settings.right_wheels)), settings.wheel_radius, settings.wheel_separation)
        self.wheels = (*self._drive.left, *self._drive.right)
        self._take, self._node = take, node
        self._odometry = node.publisher("wheel_odom")
        self._message = Odometry(child_frame_id="base_link")
        node.subscribe("cmd_vel", self._on_command, STREAM)

    def check(self, simulation: Simulation) -> None:
        """Raise ValueError unless the wheels are joints of the simulated robot."""
        for wheel in self.wheels:
            if wheel not in simulation.joint_names:
                raise ValueError(f"parameters left_wheels, right_wheels: unknown joint '{wheel}', the robot has "
                                 f"{', '.join(simulation.joint_names)}")

    def follow(self, simulation: Simulation) -> None:
        """Use this robot from now on."""
        robot = simulation.robot
        self._at = [robot.q_slices[wheel].start for wheel in self.wheels]
        self._rates = [robot.v_slices[wheel].start for wheel in self.wheels]
        self._message.child_frame_id = robot.model.root if simulation.base is None else simulation.base.link
        self._traveled, self._angles, self._step = Traveled(), simulation.q[self._at], simulation.steps

    def publish(self, simulation: Simulation, stamp: Time) -> None:
        """Publish the odometry of a state."""
        if simulation.steps < self._step:                       # a reset
            self.follow(simulation)
        angles = simulation.q[self._at]
        self._traveled = self._traveled.along(*self._drive.moved(angles - self._angles))
        self._angles, self._step = angles, simulation.steps
        x, y, yaw = self._traveled
        forward, turning = self._drive.moved(simulation.qd[self._rates])
        message = self._message
        message.header.stamp, message.header.frame_id = stamp, self._node.settings.odom_frame
        message.pose.pose = messages.placement_message(
            np.array([x, y, 0.0, 0.0, 0.0, np.sin(0.5 * yaw), np.cos(0.5 * yaw)]))
        message.twist.twist = messages.twist_message(np.array([0.0, 0.0, turning, forward, 0.0, 0.0]))
        self._odometry.publish(message)

    def _on_command(self, msg: TwistStamped) -> None:
        try:
            speeds = self._drive.speeds(msg.twist.linear.x, msg.twist.angular.z)
        except ValueError as error:
            raise Fault("non-finite value", str(error)) from None
        self._take(speeds, messages.nanoseconds(msg.header.stamp))
