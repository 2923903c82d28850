"""Jacobians and mass matrix as topics, msg/JointMatrix, at every joint_states message; computed while subscribed."""

import re
from collections.abc import Callable

import numpy as np
from rclpy.lifecycle import LifecyclePublisher

from screw_dynamics.algorithms.representations import REPRESENTATIONS
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.multi_dof_joints import without_joints
from screw_dynamics.robot import Robot
from screw_dynamics_interfaces.msg import JointMatrix

from ..node import messages
from ..node.diagnostics import OK, WARN, Report
from ..node.parameters import Setting
from ..node.robot_state import RobotState
from .output_joints import output_joints
from .state_output import StateOutput, subscribed

SETTINGS = (
    Setting(
        "publish_mass_matrix", False, "publish the mass matrix on ~/mass_matrix", read_only=True,
    ),
    Setting(
        "jacobian_links", (), "links whose Jacobians, relative to the root link, are published on ~/jacobian/<link>",
        read_only=True,
    ),
    Setting(
        "jacobian_representation", "body", "representation of the twists of ~/jacobian/<link>: their reference point "
                                           "and frame",
        choices=REPRESENTATIONS,
    ),
)


class MatrixOutputs(StateOutput):
    """The publisher of the matrices selected by the parameters of `node`, a DynamicsNode being configured."""

    def __init__(self, node):
        self._settings = node.settings
        self._root_frame = lambda: node.root_frame
        self._robot: Robot | None = None
        self._mass_matrix = node.publisher("~/mass_matrix") if node.settings.publish_mass_matrix else None
        self._jacobians = {link: node.publisher("~/jacobian/<link>", link=topic_name(link))
                           for link in node.settings.jacobian_links if link}

    def use(self, robot: Robot) -> None:
        """Use another robot."""
        self._robot = robot
        names, joints = velocity_names(robot.model), output_joints(robot.model, self._settings.joints).order
        self._order = np.concatenate((without_joints(robot.model), joints))
        self._names = [names[i] for i in self._order]

    def observe(self, state: RobotState) -> None:
        """Publish the matrices of a state that have subscribers."""
        if self._robot is None:
            return
        q, order, representation = state.position, self._order, self._settings.jacobian_representation
        if self._mass_matrix is not None:
            self._publish(self._mass_matrix, state, "", "", lambda: self._robot.mass_matrix(q)[np.ix_(order, order)])
        for link, publisher in self._jacobians.items():
            if link in self._robot.link_names:
                self._publish(publisher, state, link, self._frame(link, representation),
                              lambda link=link: self._robot.jacobian(q, link, representation)[:, order])

    def _publish(self, publisher: LifecyclePublisher, state: RobotState, link: str, frame: str,
                 compute: Callable[[], np.ndarray]) -> None:
        if not subscribed(publisher):
            return
        matrix = compute()
        message = JointMatrix(joint_names=self._names, link=link, rows=matrix.shape[0], cols=matrix.shape[1],
                              data=messages.floats(matrix))
        message.header.stamp, message.header.frame_id = messages.time_message(state.stamp), frame
        publisher.publish(message)

    def _frame(self, link: str, representation: str) -> str:
        """Return the frame in which all rows of a Jacobian are resolved; "" for "mixed", which has none."""
        if representation == "mixed":
            return ""
        return link if representation == "body" and link != self._robot.model.root else self._root_frame()

    def health(self) -> Report:
        """Return a warning for links that the robot does not have."""
        unknown = [link for link in self._jacobians if self._robot is not None and link not in self._robot.link_names]
        return (WARN, f"jacobian_links: '{unknown[0]}' is not a link of the robot", {}) if unknown else (OK, "", {})


def topic_name(link: str) -> str:
    """Return a link's name as the last part of a topic name: characters that are invalid there become underscores."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", link)
    return f"_{name}" if name[:1].isdigit() else name
