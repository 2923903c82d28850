"""Time-optimal trajectories within the robot's limits: the service ~/retime_trajectory."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from screw_dynamics.model.floating_base import coordinate_joints, velocity_names
from screw_dynamics.model.multi_dof_joints import coordinate_indices
from screw_dynamics.planning.paths import Path, TimeOptimal, straight, through, time_optimal
from screw_dynamics.robot import Robot

from ..executor.background import in_background
from ..node import messages
from ..node.parameters import Setting
from ..node.preparation import OnDemand
from ..node.services import Service, serve
from ..timing import SECOND
from .joint_request import non_negative
from .trajectory_points import read_points

PERIOD = 0.01           # s, between points of a response
MOST = 100_000          # points of a response, at most
LOOKS = 200             # samples of a path for the check of position limits, at least
SAME = 1e-9             # rad or m: closer points are merged

SETTINGS = (
    Setting("retime_acceleration", 0.0, "largest acceleration of each joint in ~/retime_trajectory, where the request "
            "has none; 0: none", "rad/s^2 or m/s^2", lower=0.0, upper=1e6),
    Setting("retime_jerk", 0.0, "largest jerk of each joint there, where the request has none; 0: none",
            "rad/s^3 or m/s^3", lower=0.0, upper=1e9),
)


class Retiming:
    """The service ~/retime_trajectory of `node`, a DynamicsNode being configured; it runs in a separate thread."""

    def __init__(self, node):
        self._node, self._on_demand = node, OnDemand(node.future, node.log.info)
        serve(node, node.robot_for_batches, [Service("retime_trajectory", self._answer)])

    async def _answer(self, robot: Robot, request, response) -> None:
        if robot.model.on_groups:
            await self._on_demand.ready("many states", robot)
        names, period = list(request.trajectory.joint_names), non_negative(request, "sample_period", PERIOD)
        deviation = non_negative(request, "deviation", 0.0)
        limits, q = self._limits(robot, request), self._waypoints(robot, request.trajectory)
        # In the background, because the first call also imports parts of SciPy.
        found, response.trajectory = await in_background(
            self._node.future, lambda: retimed(robot, q, deviation, limits, names, period))
        response.trajectory.header = request.trajectory.header
        response.duration, spans = found.duration, found.binding_times()
        response.limiting = list(spans)
        response.limiting_time = messages.floats(list(spans.values()))

    def _limits(self, robot: Robot, request) -> Mapping[str, Any]:
        """Return the limits of a request for time_optimal. Limits of efforts and torque-speed lines are from the
        model."""
        scale = {name: non_negative(request, f"{name}_scaling", 1.0) for name in ("velocity", "effort", "acceleration")}
        settings, model, v_slices = self._node.settings, robot.model, robot.v_slices
        limits = {"velocity": scale["velocity"] * model.velocity_limit}
        for name, given, default in (("acceleration", request.max_acceleration, settings.retime_acceleration),
                                     ("jerk", request.max_jerk, settings.retime_jerk)):
            limit = np.zeros(robot.n)
            limit[coordinate_indices(model)[1]] = default
            if len(given):
                if len(given) != len(request.trajectory.joint_names):
                    raise ValueError(f"max_{name} has {len(given)} entries for {len(request.trajectory.joint_names)} "
                                     "trajectory.joint_names")
                for joint, value in zip(request.trajectory.joint_names, given, strict=True):
                    if not 0.0 <= value < np.inf:
                        raise ValueError(f"max_{name} of joint '{joint}' is {value}, must be finite and >= 0")
                    if joint in v_slices:
                        limit[v_slices[joint]] = value
            limits[name] = scale["acceleration"] * limit
        found = {name: np.where(limit > 0.0, limit, np.inf) for name, limit in limits.items()}
        return {**found, "effort_scaling": scale["effort"]}

    def _waypoints(self, robot: Robot, trajectory: JointTrajectory) -> np.ndarray:
        """Return the configurations (points, nq) of a trajectory. Joints that are not in it keep their present
        positions."""
        names, (in_q, _) = coordinate_joints(robot.model), coordinate_indices(robot.model)
        for joint in trajectory.joint_names:
            if joint not in names:
                raise ValueError(f"trajectory.joint_names: '{joint}' is not a joint of the model with a coordinate")
        moved = [name for name in names if name in set(trajectory.joint_names)]
        points = read_points(moved, trajectory)
        rests = len(moved) < len(names)
        q = self._node.fresh_state(rests).position if rests or robot.model.on_groups else robot.neutral()
        q = np.tile(q, (len(points.times), 1))
        q[:, [in_q[names.index(name)] for name in moved]] = points.values[0]
        return q


def retimed(robot: Robot, q: np.ndarray, deviation: float, limits: Mapping[str, Any], names: Sequence[str],
            period: float) -> tuple[TimeOptimal, JointTrajectory]:
    """Return the time-optimal motion through waypoints q (k, nq), and its message. Raises ValueError if there is none,
    if the path leaves the position limits, or if the message would be too long."""
    apart = np.append(True, np.abs(np.diff(q, axis=0)).max(axis=1, initial=0.0) > SAME)
    if np.count_nonzero(apart) < 2:
        raise ValueError(f"trajectory.points: {len(q)}, must contain two different positions")
    path = straight(robot, q[apart], deviation) if deviation else through(robot, q[apart])
    _refuse_beyond(robot, path, names)
    found = time_optimal(robot, path, **limits)
    if found.duration > MOST * period:
        raise ValueError(f"sample_period: {period:g} s for a motion of {found.duration:g} s requires too many "
                         f"points, at most {MOST} are allowed")
    return found, encode(names, robot, found, period)


def _refuse_beyond(robot: Robot, path: Path, names: Sequence[str]) -> None:
    """Raise ValueError if a path moves these joints beyond their position limits, for example by the overshoot of a
    spline."""
    s, model = path.grid(LOOKS), robot.model
    moving = np.array([robot.v_slices[name].start for name in names])
    q = path.q(s)[:, model.q_indices[moving]]
    beyond = np.maximum(q - model.upper[moving], model.lower[moving] - q)
    point, joint = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
    if beyond[point, joint] > SAME:
        low, high = model.lower[moving[joint]], model.upper[moving[joint]]
        raise ValueError(f"trajectory: joint '{velocity_names(model)[moving[joint]]}' reaches {q[point, joint]:.4g} at "
                         f"{path.place(float(s[point]))}, its limits are {low:g} and {high:g}")


def encode(names: Sequence[str], robot: Robot, found: TimeOptimal, period: float) -> JointTrajectory:
    """Return the message of a motion for these joints."""
    samples = found.sampled(1.0 / period)
    in_q, in_v = ([part[name].start for name in names] for part in (robot.q_slices, robot.v_slices))
    result = JointTrajectory(joint_names=names)
    for t, q, qd, qdd, tau in zip(samples.t, samples.q[:, in_q], samples.qd[:, in_v], samples.qdd[:, in_v],
                                  samples.tau[:, in_v], strict=True):
        point = JointTrajectoryPoint(
            positions=messages.floats(q), velocities=messages.floats(qd), accelerations=messages.floats(qdd),
            effort=messages.floats(tau))
        point.time_from_start.sec, point.time_from_start.nanosec = divmod(round(t * SECOND), SECOND)
        result.points.append(point)
    return result
