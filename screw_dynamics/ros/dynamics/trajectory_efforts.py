"""A JointTrajectory with the efforts that it takes: for the feed-forward of controllers that have one.

On ~/trajectory in and ~/trajectory_with_efforts out, and by the service ~/fill_trajectory_efforts."""

import time
from collections.abc import Sequence

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from screw_dynamics.checks import coordinates_alone
from screw_dynamics.robot import Robot

from ..endpoints import RELIABLE
from ..node import messages
from ..node.diagnostics import OK, WARN, Report
from ..node.joint_state import Fault, JointMap
from ..node.services import Service, serve
from .state_output import StateOutput

LONGEST = 10_000    # points of a trajectory; a planner's has hundreds
REMEMBERED = 10.0   # seconds for which the diagnostics warn of limits that a trajectory exceeds


class TrajectoryEfforts(StateOutput):
    """Fills the efforts of trajectories for `node`, a DynamicsNode being configured. It needs no state."""

    def __init__(self, node):
        self._node = node
        self._exceeded, self._until = "", 0.0
        self._publisher = node.publisher("~/trajectory_with_efforts")
        node.subscribe("~/trajectory", self._on_trajectory, RELIABLE)
        serve(node, node.robot_for_batches, [Service("fill_trajectory_efforts", self._answer)])

    def _on_trajectory(self, trajectory: JointTrajectory) -> None:
        if self._node.state_label != "active":
            return
        try:
            self._warn(fill(self._node.robot_for_batches(), trajectory))
        except Fault:
            raise
        except ValueError as error:
            raise Fault("bad trajectory", str(error), "error") from None
        self._publisher.publish(trajectory)
        self._node.diagnostics.tick("trajectory")

    def _answer(self, robot: Robot, request, response) -> None:
        response.message = fill(robot, request.trajectory)
        response.trajectory = request.trajectory
        self._warn(response.message)

    def _warn(self, exceeded: str) -> None:
        if exceeded:
            self._exceeded, self._until = exceeded, time.monotonic() + REMEMBERED
            self._node.diagnostics.notice("trajectory", Fault("effort limit exceeded", exceeded))

    def health(self) -> Report:
        """A warning for some seconds after a trajectory that exceeds limits."""
        return (WARN, f"trajectory: {self._exceeded}", {}) if time.monotonic() < self._until else (OK, "", {})


def fill(robot: Robot, trajectory: JointTrajectory) -> str:
    """Fill the effort of each point; which joints exceed their limit, and where, or "". Nothing is clipped.

    Velocities and accelerations that a point lacks are zero. Joints that the model does not have get effort 0.
    ValueError names what is missing or wrong; the trajectory is as it was then."""
    coordinates_alone("trajectories with efforts", robot.model)
    points = trajectory.points
    if len(points) > LONGEST:
        raise ValueError(f"{len(points)} points, must be at most {LONGEST}")
    selection = JointMap(robot.joint_names).select(trajectory.joint_names)
    if selection.missing:
        raise ValueError(f"joint_names: joint '{selection.missing[0]}' of the model is missing")
    motion = np.zeros((3, len(points), robot.n))
    for row, point in enumerate(points):
        for values, field in zip(motion, ("positions", "velocities", "accelerations"), strict=True):
            values[row, selection.target] = _read(point, field, row, selection.source, trajectory.joint_names)
    with np.errstate(over="ignore", invalid="ignore"):
        tau = robot.inverse_dynamics(*motion)
    bad = np.argwhere(~np.isfinite(tau))
    if len(bad):
        raise ValueError(f"points[{bad[0, 0]}]: effort of joint '{robot.joint_names[bad[0, 1]]}' is not finite")
    efforts = np.zeros((len(points), len(trajectory.joint_names)))
    efforts[:, selection.source] = tau[:, selection.target]
    for point, effort in zip(points, efforts, strict=True):
        point.effort = messages.floats(effort)
    return _beyond_limits(robot, tau)


def _read(point: JointTrajectoryPoint, field: str, row: int, source: np.ndarray,
          joint_names: Sequence[str]) -> np.ndarray | float:
    """The values of a field of a point for the joints `source` of the trajectory's `joint_names`."""
    values = np.asarray(getattr(point, field))
    if not len(values) and field != "positions":
        return 0.0
    if len(values) != len(joint_names):
        raise ValueError(f"points[{row}].{field} has {len(values)} values for {len(joint_names)} joint_names")
    values = values[source]
    if not np.isfinite(values).all():
        k = np.flatnonzero(~np.isfinite(values))[0]
        raise ValueError(f"points[{row}].{field} of joint '{joint_names[source[k]]}' is {values[k]}")
    return values


def _beyond_limits(robot: Robot, tau: np.ndarray) -> str:
    """Each joint whose effort (points, n) exceeds its limit, with the largest; a limit of 0 in a URDF is none."""
    limit = np.where(robot.model.effort_limit > 0.0, robot.model.effort_limit, np.inf)
    found = []
    for i in np.flatnonzero((np.abs(tau) > limit).any(axis=0)):
        row = np.abs(tau[:, i]).argmax()
        found.append(f"effort of joint '{robot.joint_names[i]}' is {tau[row, i]:.4g} at points[{row}], its limit is "
                     f"{limit[i]:g}")
    return "; ".join(found)
