"""The efforts along a JointTrajectory, for controllers with feed-forward: from ~/trajectory to
~/trajectory_with_efforts, and by the service ~/fill_trajectory_efforts."""

import time
from collections.abc import Callable, Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory

from screw_dynamics.model.floating_base import coordinate_joints
from screw_dynamics.model.multi_dof_joints import coordinate_indices
from screw_dynamics.robot import Robot

from ..endpoints import RELIABLE
from ..node import messages
from ..node.diagnostics import OK, WARN, Report
from ..node.joint_state import Fault
from ..node.services import Service, serve
from .motor_feed_forward import MotorFeedForward
from .state_output import StateOutput
from .torque_stream import StampedState
from .trajectory_points import read_points

REMEMBERED = 10.0   # seconds for which the diagnostics warn of exceeded limits of a trajectory


class TrajectoryEfforts(StateOutput):
    """The computation of trajectory efforts for `node`, a DynamicsNode being configured. It requires no state, except
    of a floating base and joints of several degrees of freedom, which are assumed to keep their latest pose and twist.

    motors: the feed-forward of a robot with drives, which gives the efforts and also follows trajectories from
    ~/trajectory; None for a robot without drives."""

    def __init__(self, node, motors: MotorFeedForward | None = None):
        self._node, self._motors = node, motors
        self._exceeded, self._until = "", 0.0
        self._publisher = node.publisher("~/trajectory_with_efforts")
        node.subscribe("~/trajectory", self._on_trajectory, RELIABLE)
        serve(node, node.robot_for_batches, [Service("fill_trajectory_efforts", self._answer)])

    def _on_trajectory(self, trajectory: JointTrajectory) -> None:
        if self._node.state_label != "active":
            return
        try:
            self._warn(self._fill(self._node.robot_for_batches(), trajectory))
            if self._motors is not None and self._motors.needed:
                self._motors.start(trajectory)
        except Fault:
            raise
        except ValueError as error:
            raise Fault("bad trajectory", str(error)) from None
        self._publisher.publish(trajectory)
        self._node.diagnostics.tick("trajectory")

    def _answer(self, robot: Robot, request, response) -> None:
        response.message = self._fill(robot, request.trajectory)
        response.trajectory = request.trajectory
        self._warn(response.message)

    def _fill(self, robot: Robot, trajectory: JointTrajectory) -> str:
        motors = self._motors if self._motors is not None and self._motors.needed else None
        return fill(robot, trajectory, motors, self._elsewhere)

    def _elsewhere(self) -> StampedState:
        """Return the latest state of a floating base and of joints of several degrees of freedom."""
        return self._node.fresh_state(joints=False)

    def _warn(self, exceeded: str) -> None:
        if exceeded:
            self._exceeded, self._until = exceeded, time.monotonic() + REMEMBERED
            self._node.diagnostics.notice("trajectory", Fault("effort limit exceeded", exceeded))

    def health(self) -> Report:
        """Return a warning for some seconds after a trajectory that exceeded limits."""
        return (WARN, f"trajectory: {self._exceeded}", {}) if time.monotonic() < self._until else (OK, "", {})


def fill(robot: Robot, trajectory: JointTrajectory, motors: MotorFeedForward | None = None,
         elsewhere: Callable[[], StampedState] | None = None) -> str:
    """Fill the effort of each point. Return a text on the joints that exceed their effort limit, and where, or "".
    Nothing is clipped.

    Missing velocities and accelerations of a point are zero; with motors they are those of the smoothest motion through
    the points. elsewhere(): the state of the joints that no trajectory contains, for robots with joints of several
    degrees of freedom. Joints that the model does not have get effort 0. Raises ValueError that names the missing or
    wrong entry, and leaves the trajectory unchanged."""
    names, (in_q, in_v) = coordinate_joints(robot.model), coordinate_indices(robot.model)
    points = read_points(names, trajectory)
    with np.errstate(over="ignore", invalid="ignore"):
        if motors is not None:
            tau = motors.efforts(points)
        elif robot.model.on_groups:     # one by one, because nodes do not load the kernels for batches of such states
            q, v, _ = elsewhere()
            tau = np.zeros((len(points.times), len(names)))
            for row, (position, velocity, acceleration) in zip(tau, points.values.swapaxes(0, 1), strict=True):
                qdd = np.zeros(robot.n)
                q[in_q], v[in_v], qdd[in_v] = position, velocity, acceleration
                row[:] = robot.inverse_dynamics(q, v, qdd)[in_v]
        else:
            tau = robot.inverse_dynamics(*points.values)
    bad = np.argwhere(~np.isfinite(tau))
    if len(bad):
        raise ValueError(f"points[{bad[0, 0]}]: effort of joint '{names[bad[0, 1]]}' is not finite")
    efforts = np.zeros((len(points.times), len(trajectory.joint_names)))
    efforts[:, points.selection.source] = tau[:, points.selection.target]
    for point, effort in zip(trajectory.points, efforts, strict=True):
        point.effort = messages.floats(effort)
    return _beyond_limits(names, robot.model.effort_limit[in_v], tau)


def _beyond_limits(names: Sequence[str], limit: np.ndarray, tau: np.ndarray) -> str:
    """Return a text on each joint whose effort (points, joints) exceeds its limit, with the largest effort. A limit of
    0 in a URDF means no limit."""
    limit = np.where(limit > 0.0, limit, np.inf)
    found = []
    for i in np.flatnonzero((np.abs(tau) > limit).any(axis=0)):
        row = np.abs(tau[:, i]).argmax()
        found.append(f"effort of joint '{names[i]}' is {tau[row, i]:.4g} at points[{row}], its limit is {limit[i]:g}")
    return "; ".join(found)
