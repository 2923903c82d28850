"""Points and tolerances of trajectory messages, by the rules of joint_trajectory_controller.

Messages are any objects with the fields of trajectory_msgs/JointTrajectory and control_msgs/JointTolerance."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.model.model import Model

from .limits import EnforcedLimits
from .motors import command_names, motor_mask
from .trajectory import SECOND, Points

AT_REST = 1.2e-7           # largest velocity of a last point: rounding error of single precision
BEYOND = 1e-6              # tolerance of the position limits, for rounding errors of planners
MOST_POINTS = 100_000      # points of a trajectory, which take half a second to read
FIELDS = ("positions", "velocities", "accelerations")
VARIABLES = ("position", "velocity", "acceleration")


class Code(IntEnum):
    """The error codes of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class Outcome(NamedTuple):
    """The outcome of a goal."""

    code: Code
    text: str


class GoalError(ValueError):
    """The error of a refused trajectory: `code`, and a text with the joint, the point and the value."""

    def __init__(self, code: Code, text: str):
        super().__init__(text)
        self.code = code


class GoalRules(NamedTuple):
    """The rules by which a group accepts goals for its joints, in any order."""

    joints: Sequence[str]
    allow_partial: bool = False            # goals for some of the joints only
    allow_end_velocity: bool = False       # a last point in motion


def read_points(msg: Any, rules: GoalRules, model: Model, limits: EnforcedLimits) -> Points:
    """Return the points of a JointTrajectory, with joints in the order of the message. Raises `GoalError`.

    Efforts that are all zero count as not given."""
    joints = _read_joints(msg.joint_names, rules, model)
    if not 0 < len(msg.points) <= MOST_POINTS:
        raise GoalError(
            Code.INVALID_GOAL, f"the trajectory has {len(msg.points) or 'no'} points, must have 1 to {MOST_POINTS}")
    times = np.array([p.time_from_start.sec * SECOND + p.time_from_start.nanosec for p in msg.points], dtype=np.int64)
    _check_times(times)
    k, m = len(times), len(joints)
    values, order, efforts = np.zeros((4, k, m)), np.zeros(k, dtype=int), np.zeros(k, dtype=bool)
    for i, point in enumerate(msg.points):
        for row, field in enumerate((*FIELDS, "effort")):
            given = getattr(point, field)
            if len(given) == m:
                values[row, i] = given
            elif len(given) or field == "positions":
                raise GoalError(Code.INVALID_GOAL, f"point {i}: {len(given)} {field} for {m} joints")
        if len(point.accelerations) and not len(point.velocities):
            raise GoalError(Code.INVALID_GOAL, f"point {i}: accelerations require velocities")
        order[i] = bool(len(point.velocities)) + bool(len(point.accelerations))
        efforts[i] = bool(len(point.effort))
    points = Points(joints, times, *values, order)
    _check_values(points, msg.joint_names, rules, limits)
    efforts &= points.effort.any()   # some senders fill in zeros instead of leaving efforts out
    _check_efforts(points, efforts, msg.joint_names, model)
    return points._replace(effort=np.where(efforts[:, None], points.effort, np.nan))


def _read_joints(names: Sequence[str], rules: GoalRules, model: Model) -> np.ndarray:
    """Return the indices (m,) of the joints in the model."""
    expected = f"the group has {', '.join(rules.joints)}"
    if not len(names):
        raise GoalError(Code.INVALID_JOINTS, f"no joint names: {expected}")
    for name in names:
        if name in model.mimics:
            raise GoalError(Code.INVALID_JOINTS, f"joint '{name}' mimics '{model.mimics[name][0]}': leave it out")
        if name not in rules.joints:
            raise GoalError(Code.INVALID_JOINTS, f"unknown joint '{name}': {expected}")
        if list(names).count(name) > 1:
            raise GoalError(Code.INVALID_JOINTS, f"joint '{name}' is named twice")
    missing = [name for name in rules.joints if name not in names]
    if missing and not rules.allow_partial:
        raise GoalError(
            Code.INVALID_JOINTS, f"joint '{missing[0]}' is missing (allow_partial_joints_goal is false): {expected}")
    places = command_names(model)
    return np.array([places.index(name) for name in names], dtype=np.intp)


def _check_times(times: np.ndarray) -> None:
    if times[0] < 0:
        raise GoalError(Code.INVALID_GOAL, f"point 0: time_from_start {times[0] / SECOND} s, must be >= 0")
    stuck = np.flatnonzero(np.diff(times) <= 0)
    if len(stuck):
        i = stuck[0] + 1
        raise GoalError(
            Code.INVALID_GOAL,
            f"point {i}: time_from_start {times[i] / SECOND} s, must be later than that of point {i - 1}, "
            f"{times[i - 1] / SECOND} s")


def _check_values(points: Points, names: Sequence[str], rules: GoalRules, limits: EnforcedLimits) -> None:
    for field, values in zip((*FIELDS, "effort"), points[2:6], strict=True):
        for i, j in np.argwhere(~np.isfinite(values))[:1]:
            raise GoalError(Code.INVALID_GOAL, f"point {i}, joint '{names[j]}': {field} {values[i, j]}, must be finite")
    lower, upper = limits.lowest[points.joints], limits.highest[points.joints]
    outside = (points.position < lower - BEYOND) | (points.position > upper + BEYOND)
    for i, j in np.argwhere(outside)[:1]:
        raise GoalError(
            Code.INVALID_GOAL,
            f"point {i}, joint '{names[j]}': position {points.position[i, j]} is outside its limits "
            f"[{lower[j]}, {upper[j]}]")
    moving = np.flatnonzero(abs(points.velocity[-1]) > AT_REST)
    if len(moving) and not rules.allow_end_velocity:
        j = moving[0]
        raise GoalError(
            Code.INVALID_GOAL,
            f"last point, joint '{names[j]}': velocity {points.velocity[-1, j]}, must be 0 "
            "(allow_nonzero_velocity_at_trajectory_end is false)")


def _check_efforts(points: Points, given: np.ndarray, names: Sequence[str], model: Model) -> None:
    """Raise GoalError for nonzero efforts of a motor behind a spring.

    Efforts replace the model's along the trajectory; these are unknown here, since the position of the motor does not
    determine that of the link."""
    behind = motor_mask(model)[points.joints]
    for i, j in np.argwhere(given[:, None] & behind & (points.effort != 0.0))[:1]:
        raise GoalError(
            Code.INVALID_GOAL,
            f"point {i}, joint '{names[j]}': effort {points.effort[i, j]} is given, but its motor is behind a spring, "
            "and the effort along the path is unknown: leave efforts out, or send them on joint_commands")


def begin_of(stamp: int, points: Points, now: int, clock: int) -> int:
    """Return the start of a trajectory in simulated time from the stamp of its header; 0 means now.

    now: simulated time. clock: present time of the stamps' clock. Raises `GoalError` if the trajectory would have ended
    already."""
    if not stamp:
        return now
    begin = now + stamp - clock
    if begin + points.times[-1] < now:
        late = (now - begin - int(points.times[-1])) / SECOND
        raise GoalError(
            Code.OLD_HEADER_TIMESTAMP, f"header.stamp is {stamp / SECOND} s: the trajectory ended {late} s ago")
    return begin


class Tolerances(NamedTuple):
    """Largest deviations of n joints from a trajectory, inf for none; goal_time in nanoseconds.

    path and goal (3, n): position, velocity and acceleration, during the trajectory and at its end."""

    path: np.ndarray
    goal: np.ndarray
    goal_time: float

    @classmethod
    def of(cls, n: int) -> "Tolerances":
        """Return infinite tolerances of n joints."""
        return cls(np.full((3, n), np.inf), np.full((3, n), np.inf), np.inf)


def enforced(value: float) -> float:
    """Return the tolerance of a parameter value; 0 means none."""
    return value if value > 0.0 else np.inf


def read_tolerances(
    goal: Any, defaults: Tolerances, joints: Mapping[str, int], warn: Callable[[str], None]
) -> Tolerances:
    """Return the tolerances of a FollowJointTrajectory goal, with the defaults of its group.

    joints: indices of the group's joints. 0 selects the default, -1 means none. For other negative values or an unknown
    joint all defaults apply and `warn` is called with the cause, as in joint_trajectory_controller."""
    try:
        span = goal.goal_time_tolerance.sec * SECOND + goal.goal_time_tolerance.nanosec
        return Tolerances(
            _overridden(defaults.path, goal.path_tolerance, joints, "path_tolerance"),
            _overridden(defaults.goal, goal.goal_tolerance, joints, "goal_tolerance"),
            _resolved(span / SECOND, defaults.goal_time / SECOND, "goal_time_tolerance") * SECOND)
    except ValueError as error:
        warn(f"{error}: the default tolerances apply")
        return defaults


def _overridden(defaults: np.ndarray, given: Iterable, joints: Mapping[str, int], field: str) -> np.ndarray:
    result = defaults.copy()
    for tolerance in given:
        if tolerance.name not in joints:
            raise ValueError(f"{field}: unknown joint '{tolerance.name}'")
        for row, variable in enumerate(VARIABLES):
            i, what = joints[tolerance.name], f"{field} of joint '{tolerance.name}', {variable}"
            result[row, i] = _resolved(getattr(tolerance, variable), defaults[row, i], what)
    return result


def _resolved(value: float, default: float, what: str) -> float:
    if value == 0.0:
        return default
    if value == -1.0:
        return np.inf
    if not value > 0.0:
        raise ValueError(f"{what} is {value}, must be > 0, 0 (default) or -1 (none)")
    return value
