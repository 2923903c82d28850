"""Differential inverse kinematics: joint velocities that perform several tasks within limits, by a quadratic program.

The velocities v minimize the sum of weight^2 |J v - r|^2 over the tasks, with the desired rate r of each, plus damping
|v|^2, subject to bounds from position, velocity and acceleration limits. The solver is daqp, the extra [ik]: a dual
active-set method (Arnstrom, Bemporad and Axehill 2022)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model import checks as model_checks
from screw_dynamics.robot import Robot
from screw_dynamics.screws import arrays
from screw_dynamics.screws.se3 import log
from screw_dynamics.utils import checks


@runtime_checkable
class Task(Protocol):
    """A task of differential inverse kinematics: any object with the method `at`.

    Parameters
    ----------
    *args, **kwargs
        Arguments of the implementing class.
    """

    def at(self, robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Jacobian rows and the desired rates at a configuration.

        Parameters
        ----------
        robot : Robot
            Robot.
        q : ndarray (nq,)
            Configuration.

        Returns
        -------
        J : ndarray (m, n)
            Rows, times the weight of the task.
        r : ndarray (m,)
            Rates, times the weight of the task.
        """


class FrameTask(NamedTuple):
    """A task that moves a link to a pose in the frame of a reference link.

    Parameters
    ----------
    link : str
        Name of the link.
    pose : array_like (4, 4)
        Target pose in the frame of the reference link.
    twist : array_like (6,), optional
        Twist of the target pose, resolved in its own frame.
    weight : array_like, optional
        Weights (6,) of the rows, angular ones first, in the link's frame, or one number.
    gain : float, optional
        Gain in 1/s.
    reference : str, optional
        Reference link. By default the root.

    Notes
    -----
    The rate is the gain times the screw from the link to the target pose, plus the twist of the target.
    """

    link: str
    pose: ArrayLike
    twist: ArrayLike = (0.0,) * 6
    weight: ArrayLike = 1.0
    gain: float = 10.0
    reference: str | None = None

    def at(self, robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Jacobian rows and the desired rates at a configuration.

        Parameters
        ----------
        robot : Robot
            Robot.
        q : ndarray (nq,)
            Configuration.

        Returns
        -------
        J : ndarray (6, n)
            Rows, times the weight.
        r : ndarray (6,)
            Rates, times the weight.
        """
        name = f"task of link {self.link!r}"
        pose, gain = model_checks.pose(name, self.pose), model_checks.number(name, "gain", self.gain, 0.0)
        E = arrays.inverse_pose(robot.forward_kinematics(q, self.link, self.reference)) @ pose
        screw, twist = arrays.array(log(arrays.pose(E))), checks.vector("twist", self.twist, 6)
        rate = gain * screw + arrays.Ad_matrix(E) @ twist
        weight = checks.each("weight", self.weight, 6)
        return weight[:, None] * robot.jacobian(q, self.link, reference=self.reference), weight * rate


class CenterOfMassTask(NamedTuple):
    """A task that moves the center of mass to a position in the root link's frame.

    Parameters
    ----------
    position : array_like (3,)
        Target position in m.
    velocity : array_like (3,), optional
        Velocity of the target position in m/s.
    weight : array_like, optional
        Weights (3,) of the rows, or one number.
    gain : float, optional
        Gain in 1/s.
    """

    position: ArrayLike
    velocity: ArrayLike = (0.0,) * 3
    weight: ArrayLike = 1.0
    gain: float = 10.0

    def at(self, robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Jacobian rows and the desired rates at a configuration.

        Parameters
        ----------
        robot : Robot
            Robot.
        q : ndarray (nq,)
            Configuration.

        Returns
        -------
        J : ndarray (3, n)
            Rows, times the weight.
        r : ndarray (3,)
            Rates, times the weight.
        """
        away = checks.vector("position", self.position, 3) - robot.center_of_mass(q)
        gain = model_checks.number("task of the center of mass", "gain", self.gain, 0.0)
        rate = gain * away + checks.vector("velocity", self.velocity, 3)
        weight = checks.each("weight", self.weight, 3)
        return weight[:, None] * robot.center_of_mass_jacobian(q), weight * rate


class PostureTask(NamedTuple):
    """A task that moves the robot to a configuration.

    Parameters
    ----------
    q : array_like (nq,)
        Target configuration.
    weight : array_like, optional
        Weights (n,) of the velocities, or one number.
    gain : float, optional
        Gain in 1/s.
    """

    q: ArrayLike
    weight: ArrayLike = 1e-2
    gain: float = 1.0

    def at(self, robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Jacobian rows and the desired rates at a configuration.

        Parameters
        ----------
        robot : Robot
            Robot.
        q : ndarray (nq,)
            Configuration.

        Returns
        -------
        J : ndarray (n, n)
            Rows, times the weight.
        r : ndarray (n,)
            Rates, times the weight.
        """
        weight, wanted = checks.each("weight", self.weight, robot.n), checks.vector("q", self.q, robot.nq)
        gain = model_checks.number("task of posture", "gain", self.gain, 0.0)
        return np.diag(weight), weight * gain * robot.difference(q, wanted)


def velocities(robot: Robot, q: ArrayLike, tasks: Sequence[Task], dt: float, qd: ArrayLike | None = None,
               acceleration_limit: ArrayLike | None = None, damping: float = 1e-6, limits: bool = True) -> np.ndarray:
    """Compute the joint velocities for the next dt seconds that perform tasks within limits.

    Parameters
    ----------
    robot : Robot
        Robot.
    q : array_like (nq,)
        Configuration.
    tasks : sequence of Task
        Tasks to perform simultaneously.
    dt : float
        Time step in s. After it the configuration is robot.integrate(q, dt v).
    qd : array_like (n,), optional
        Present velocities. By default 0.
    acceleration_limit : array_like, optional
        Limits (n,) of accelerations, rad/s^2 or m/s^2, or one number.
    damping : float, optional
        Weight of the squared velocities, > 0.
    limits : bool, optional
        True to enforce the model's position and velocity limits.

    Returns
    -------
    ndarray (n,)
        Velocities v.

    Raises
    ------
    ValueError
        If an argument has a wrong shape or is not finite. The message names the argument.
    ImportError
        If daqp is not installed.
    RuntimeError
        If daqp finds no solution.

    Notes
    -----
    With an acceleration limit, v differs from the present velocities by at most the limit times dt, and joints brake in
    time for their position limits. Limits contradict each other if a joint is beyond one. It then brakes as hard as its
    acceleration limit allows, or moves back as fast as its velocity limit allows. Lie-group joints only have velocity
    and acceleration limits.
    """
    daqp = solver()
    q, dt = checks.vector("q", q, robot.nq), checks.positive("dt", dt)
    H, f = checks.positive("damping", damping) * np.eye(robot.n), np.zeros(robot.n)
    for task in _all_of(tasks):
        J, r = task.at(robot, q)
        H += J.T @ J
        f -= J.T @ r
    if not (np.isfinite(H).all() and np.isfinite(f).all()):
        raise ValueError("the rows, rates or weight of a task are not finite")
    lower, upper = bounds(robot, q, dt, qd, acceleration_limit, limits)
    v, _, status, _ = daqp.solve(H, f, np.zeros((0, robot.n)), upper, lower)
    if status != 1:
        raise RuntimeError(f"daqp found no velocities: exit flag {status}")
    return np.clip(v, lower, upper)                                 # daqp satisfies the bounds up to a tolerance


def _all_of(tasks):
    """Return the tasks of an argument. Raises ValueError for invalid tasks."""
    if isinstance(tasks, Task) or not isinstance(tasks, Sequence):
        raise ValueError(f"tasks must be a sequence of tasks, such as [{type(tasks).__name__}(...)], not a single task")
    for k, task in enumerate(tasks):
        if not isinstance(task, Task):
            raise ValueError(f"tasks[{k}] must be a FrameTask, a CenterOfMassTask, a PostureTask or an object with a "
                             f"method `at`, not {checks.described(task)}")
    return tasks


def bounds(robot: Robot, q: np.ndarray, dt: float, qd: ArrayLike | None, acceleration_limit: ArrayLike | None,
           limits: bool) -> tuple[np.ndarray, np.ndarray]:
    """Compute the velocity bounds for the next dt seconds.

    Parameters
    ----------
    robot : Robot
        Robot.
    q : ndarray (nq,)
        Configuration.
    dt : float
        Time step in s.
    qd : array_like (n,), optional
        Present velocities; 0 if None.
    acceleration_limit : array_like, optional
        Limits (n,) of accelerations, rad/s^2 or m/s^2, or one number; no limits if None.
    limits : bool
        True to enforce the model's position and velocity limits.

    Returns
    -------
    lower : ndarray (n,)
        Smallest velocities.
    upper : ndarray (n,)
        Largest velocities.

    Raises
    ------
    ValueError
        If `acceleration_limit` is not > 0.
    """
    n, model = robot.n, robot.model
    lower, upper = np.full(n, -np.inf), np.full(n, np.inf)
    most, gain = np.full(n, np.inf), None
    if acceleration_limit is not None:
        gain = checks.each("acceleration_limit", acceleration_limit, n)
        if not (gain > 0.0).all():
            raise ValueError(f"acceleration_limit must be > 0, not {checks.described(acceleration_limit)}")
    if checks.flag("limits", limits):
        here, most = model.q_indices >= 0, model.velocity_limit
        x = np.where(here, q[model.q_indices], 0.0)
        upper = np.where(here, _leading(model.upper - x, dt, gain), np.inf)
        lower = np.where(here, -_leading(x - model.lower, dt, gain), -np.inf)
    lower, upper = np.clip(lower, -most, most), np.clip(upper, -most, most)
    now = np.zeros(n) if qd is None else checks.vector("qd", qd, n)
    if gain is not None:
        lower, upper = (np.clip(x, now - gain * dt, now + gain * dt) for x in (lower, upper))
    return lower, upper


def _leading(distance, dt, acceleration):
    """Return the largest velocity from which a joint can stop within a distance.

    Each step of dt lowers the velocity by at most acceleration dt. For k steps the velocity is distance / (k dt) +
    acceleration dt (k - 1) / 2."""
    if acceleration is None:
        return distance / dt
    x = np.clip(distance, 0.0, 1e12) / (acceleration * dt**2)
    k = np.floor(0.5 * (1.0 + np.sqrt(1.0 + 8.0 * np.where(np.isfinite(x), x, 0.0))))
    later = 0.5 * np.where(k > 1.0, acceleration, 0.0) * dt * (k - 1.0)             # 0 for one step, even if infinite
    return np.where(distance < 0.0, distance / dt, distance / (k * dt) + later)


def solver() -> Any:
    """Import daqp, the quadratic-program solver.

    Returns
    -------
    module
        The module daqp.

    Raises
    ------
    ImportError
        If daqp is not installed. The message names the package to install.
    """
    try:
        import daqp  # imported here: an optional dependency
    except ImportError as error:
        raise ImportError("differential inverse kinematics requires the quadratic-program solver daqp, which is not "
                          "installed: pip install daqp, or screw_dynamics[ik]") from error
    return daqp
