"""The points of a JointTrajectory as arrays in the order of a robot's joints."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ..node import messages
from ..node.joint_state import JointMap, Selection
from ..timing import SECOND

LONGEST = 10_000    # points of a trajectory; a planner's has hundreds


class TrajectoryPoints(NamedTuple):
    """The points of a trajectory. times (points,): since its start, in s; values (3, points, n): positions, velocities,
    accelerations, 0 where a point lacks them; order (points,): the count of derivatives of each point. selection: the
    indices of the joints in the message."""

    times: np.ndarray
    values: np.ndarray
    order: np.ndarray
    selection: Selection


def read_points(joint_names: Sequence[str], trajectory: JointTrajectory) -> TrajectoryPoints:
    """Return the points of a message for these joints; other joints are ignored. Raises ValueError if data is missing
    or invalid."""
    points = trajectory.points
    if len(points) > LONGEST:
        raise ValueError(f"{len(points)} points, must be at most {LONGEST}")
    selection = JointMap(joint_names).select(trajectory.joint_names)
    if selection.missing:
        raise ValueError(f"joint_names: joint '{selection.missing[0]}' of the model is missing")
    values = np.zeros((3, len(points), len(joint_names)))
    for row, point in enumerate(points):
        for into, field in zip(values, ("positions", "velocities", "accelerations"), strict=True):
            into[row, selection.target] = _read(point, field, row, selection.source, trajectory.joint_names)
    times = np.array([messages.nanoseconds(point.time_from_start) for point in points], dtype=float) / SECOND
    order = np.array([2 if len(p.accelerations) else bool(len(p.velocities)) for p in points], dtype=int)
    return TrajectoryPoints(times, values, order, selection)


def _read(point: JointTrajectoryPoint, field: str, row: int, source: np.ndarray,
          joint_names: Sequence[str]) -> np.ndarray | float:
    """Return the values of a field of a point for the joints `source` of the trajectory's `joint_names`."""
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
