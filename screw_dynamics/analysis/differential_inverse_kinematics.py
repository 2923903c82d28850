"""Differential inverse kinematics: joint velocities that follow several tasks at once within limits, by a quadratic
program.

The velocities v minimize the sum of weight^2 |J v - r|^2 over the tasks, r the rate that each asks for, and damping
|v|^2, between bounds that keep the limits of positions, velocities and accelerations. The solver is daqp, the extra
[ik]: a dual active-set method (Arnstrom, Bemporad and Axehill 2022)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.model import checks as model_checks
from screw_dynamics.robot import Robot
from screw_dynamics.screws import arrays
from screw_dynamics.screws.se3 import log


@runtime_checkable
class Task(Protocol):
    """A task: at(robot, q) returns rows J (m, n) and rates r (m,), both times the task's weight."""

    def at(self, robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and rates."""


class FrameTask(NamedTuple):
    """A link that shall take a pose (4, 4) in the frame of a reference link, the root for None, which itself moves with
    a twist (6,), resolved in its own frame.

    The rate is gain (1/s) times the screw that leads from the link to the pose, and the pose's twist. weight: of the
    six rows, angular ones first, in the link's frame, or of all."""

    link: str
    pose: ArrayLike
    twist: ArrayLike = (0.0,) * 6
    weight: ArrayLike = 1.0
    gain: float = 10.0
    reference: str | None = None

    def at(self, robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and rates."""
        name = f"task of link {self.link!r}"
        pose, gain = model_checks.pose(name, self.pose), model_checks.number(name, "gain", self.gain, 0.0)
        E = arrays.inverse_pose(robot.forward_kinematics(q, self.link, self.reference)) @ pose
        screw, twist = arrays.array(log(arrays.pose(E))), checks.vector("twist", self.twist, 6)
        rate = gain * screw + arrays.Ad_matrix(E) @ twist
        weight = checks.each("weight", self.weight, 6)
        return weight[:, None] * robot.jacobian(q, self.link, reference=self.reference), weight * rate


class CenterOfMassTask(NamedTuple):
    """The center of mass, which shall be at a position (3,) that moves with a velocity (3,), in the root link's
    frame."""

    position: ArrayLike
    velocity: ArrayLike = (0.0,) * 3
    weight: ArrayLike = 1.0
    gain: float = 10.0

    def at(self, robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and rates."""
        away = checks.vector("position", self.position, 3) - robot.center_of_mass(q)
        gain = model_checks.number("task of the center of mass", "gain", self.gain, 0.0)
        rate = gain * away + checks.vector("velocity", self.velocity, 3)
        weight = checks.each("weight", self.weight, 3)
        return weight[:, None] * robot.center_of_mass_jacobian(q), weight * rate


class PostureTask(NamedTuple):
    """A configuration (nq,) to return to. weight: of each velocity (n,), or of all."""

    q: ArrayLike
    weight: ArrayLike = 1e-2
    gain: float = 1.0

    def at(self, robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows and rates."""
        weight, wanted = checks.each("weight", self.weight, robot.n), checks.vector("q", self.q, robot.nq)
        gain = model_checks.number("task of posture", "gain", self.gain, 0.0)
        return np.diag(weight), weight * gain * robot.difference(q, wanted)


def velocities(robot: Robot, q: ArrayLike, tasks: Sequence[Task], dt: float, qd: ArrayLike | None = None,
               acceleration_limit: ArrayLike | None = None, damping: float = 1e-6, limits: bool = True) -> np.ndarray:
    """The joint velocities v (n,) for the next dt seconds, after which the robot is at robot.integrate(q, dt v).

    limits: keep the model's position and velocity limits. acceleration_limit (n,), or one for all: rad/s^2 or m/s^2; v
    differs from the present velocities qd (n,), 0 by default, by no more than it times dt, and joints brake in time for
    their position limits. Where limits contradict each other, as they may for a joint that is beyond one, it brakes as
    hard as its acceleration limit lets it, or moves back as fast as its velocity limit. Joints on groups have limits of
    velocity and acceleration alone. ValueError names what has a wrong shape or is not finite; ImportError without
    daqp."""
    daqp = solver()
    q, dt = checks.vector("q", q, robot.nq), checks.positive("dt", dt)
    H, f = checks.positive("damping", damping) * np.eye(robot.n), np.zeros(robot.n)
    for task in _all_of(tasks):
        J, r = task.at(robot, q)
        H += J.T @ J
        f -= J.T @ r
    if not (np.isfinite(H).all() and np.isfinite(f).all()):
        raise ValueError("a task is not finite: its rows, rates or weight")
    lower, upper = bounds(robot, q, dt, qd, acceleration_limit, limits)
    v, _, status, _ = daqp.solve(H, f, np.zeros((0, robot.n)), upper, lower)
    if status != 1:
        raise RuntimeError(f"daqp found no velocities: exit flag {status}")
    return np.clip(v, lower, upper)                                 # which daqp keeps to a tolerance


def _all_of(tasks):
    """The tasks of an argument; ValueError for one that is none."""
    if isinstance(tasks, Task) or not isinstance(tasks, Sequence):
        raise ValueError(f"tasks must be a sequence of tasks, as [{type(tasks).__name__}(...)], not one alone")
    for k, task in enumerate(tasks):
        if not isinstance(task, Task):
            raise ValueError(f"tasks[{k}] must be a FrameTask, a CenterOfMassTask, a PostureTask or have their "
                             f"method `at`, not {checks.described(task)}")
    return tasks


def bounds(robot: Robot, q: np.ndarray, dt: float, qd: ArrayLike | None, acceleration_limit: ArrayLike | None,
           limits: bool) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest velocities (n,) of the next dt seconds."""
    n, model = robot.n, robot.model
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    most, gain = np.full(n, np.inf), None
    if acceleration_limit is not None:
        gain = checks.each("acceleration_limit", acceleration_limit, n)
        if not (gain > 0.0).all():
            raise ValueError(f"acceleration_limit must be > 0, not {checks.described(acceleration_limit)}")
    if checks.flag("limits", limits):
        here, most = model.places_in_q >= 0, model.velocity_limit
        x = np.where(here, q[model.places_in_q], 0.0)
        upper = np.where(here, _leading(model.upper - x, dt, gain), np.inf)
        lower = np.where(here, -_leading(x - model.lower, dt, gain), -np.inf)
    lower, upper = np.clip(lower, -most, most), np.clip(upper, -most, most)
    now = np.zeros(n) if qd is None else checks.vector("qd", qd, n)
    if gain is not None:
        lower, upper = (np.clip(x, now - gain * dt, now + gain * dt) for x in (lower, upper))
    return lower, upper


def _leading(distance, dt, acceleration):
    """The largest velocity at which a joint can still stop within a distance in steps of dt, each of which lowers the
    velocity by acceleration dt at most: in k steps v is distance / (k dt) + acceleration dt (k - 1) / 2."""
    if acceleration is None:
        return distance / dt
    x = np.clip(distance, 0.0, 1e12) / (acceleration * dt**2)
    k = np.floor(0.5 * (1.0 + np.sqrt(1.0 + 8.0 * np.where(np.isfinite(x), x, 0.0))))
    later = 0.5 * np.where(k > 1.0, acceleration, 0.0) * dt * (k - 1.0)             # of one step none, were it infinite
    return np.where(distance < 0.0, distance / dt, distance / (k * dt) + later)


def solver() -> Any:
    """The module daqp; ImportError, with what to install, without it."""
    try:
        import daqp  # when it is called: an extra
    except ImportError as error:
        raise ImportError("differential inverse kinematics takes the quadratic-program solver daqp, which is not "
                          "installed: pip install daqp, or screw_dynamics[ik]") from error
    return daqp
