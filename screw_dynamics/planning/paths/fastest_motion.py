"""time_optimal: time-optimal path parameterization of a robot's motion, and its active limits."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.forces import ForceSum, of_model
from screw_dynamics.robot import Robot
from screw_dynamics.rollout.limit_violations import warn_of_limits
from screw_dynamics.utils import checks

from . import report
from .limits import Given, LinkSpeeds, path_limits
from .path import BESIDE, as_path, refuse_others
from .problem import Problem, Use, used
from .reachability import fastest, refuse_unlimited
from .time_law import Along, Steps, TimeLaw

POINTS = 1000           # default number of grid intervals
ROUNDS, BEYOND = 6, 1e-3        # rounds of halving intervals in which limits are exceeded by this share,
INSIDE = np.array([[0.25], [0.5], [0.75]])      # evaluated at these fractions of their length
FEWEST = 20             # smallest number of spline spans of a motion with bounded jerk
BINDS = 0.999           # share of a limit from which it is reported as binding
KINK = 1e-6             # jump of a path's derivative that is a corner, relative to its largest
LOOKS = 201             # points of a path at which derivatives and position limits are evaluated
LINEAR = 1e-9           # relative tolerance of efforts that are linear in velocities
ROUNDING = 1e-9         # tolerance of position limits for a path that touches them, rad or m
NEARLY = 0.97           # the same as BINDS for a motion with bounded jerk, which touches limits only here and there


class Samples(NamedTuple):
    """A motion at times t (samples,), s: q (samples, nq), velocities, accelerations and efforts (samples, n), and the
    path parameters s (samples,)."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    s: np.ndarray


class Worst(NamedTuple):
    """The largest share of a limit in a motion, the limit, and its position: s, and the time in s."""

    share: float
    limit: str
    s: float
    t: float


class TimeOptimal(NamedTuple):
    """Time-optimal motion along a path, at the points of a grid.

    Parameters
    ----------
    t : ndarray (k,)
        Times, s.
    q : ndarray (k, nq)
        Configurations.
    qd, qdd : ndarray (k, n)
        Velocities and accelerations.
    tau : ndarray (k, n)
        Efforts, N m or N, including friction if requested.
    duration : float
        Duration of the motion, s.
    s, sd, sdd : ndarray (k,)
        Parameter of the path, and its derivatives by time.
    binding : tuple of str
        Limit that binds from each of the k points to the next, such as "effort of 'joint2'", or "" for none.
    share : ndarray (k,)
        Share of that limit in the motion, or of the nearest limit where none binds.
    problem : Problem
        Robot, path and limits from which the motion was computed.
    law : TimeLaw
        Parameter of the path as a function of time, from which the motion was computed.

    Notes
    -----
    Accelerations and efforts are those after each point. They jump where the binding limit changes.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    duration: float
    s: np.ndarray
    sd: np.ndarray
    sdd: np.ndarray
    binding: tuple[str, ...]
    share: np.ndarray
    problem: Problem
    law: TimeLaw

    def at(self, t: ArrayLike) -> Samples:
        """Evaluate the motion at times.

        Parameters
        ----------
        t : array_like (...)
            Times in s, from 0 to the duration.

        Returns
        -------
        Samples
            Times t (...), configurations q (..., nq), velocities qd, accelerations qdd and efforts tau (..., n), and
            the parameters s (...) of the path.

        Raises
        ------
        ValueError
            If a time is before 0 or after the duration.
        """
        t = checks.finite_numbers("t", t).astype(float)
        if t.size and not (t.min() >= -BESIDE * self.duration and t.max() <= (1.0 + BESIDE) * self.duration):
            raise ValueError(f"t must be from 0 to {self.duration:g} s, not {t.min():g} ... {t.max():g}")
        along = self.law.at(t)
        return Samples(t, *self.problem.motion(along), along.s)

    def sampled(self, rate: float) -> Samples:
        """Sample the motion at 0, 1 / rate, 2 / rate, ..., and at its end.

        Parameters
        ----------
        rate : float
            Rate in Hz, > 0.

        Returns
        -------
        Samples
            Motion at these times, as returned by ``at``.

        Raises
        ------
        ValueError
            If the rate is not finite and > 0.
        """
        rate = checks.positive("rate", rate)
        steps = checks.count(f"samples at rate {rate:g}:", np.floor(self.duration * rate * (1.0 + 1e-12)), 0)
        t = np.arange(steps + 1) / rate
        return self.at(np.append(t, self.duration) if self.duration - t[-1] > 1e-9 / rate else t)

    def worst(self, per_interval: int = 4) -> Worst:
        """Return the largest share of any limit in the motion, including between points of the grid.

        Parameters
        ----------
        per_interval : int, optional
            Number of points inside each interval of the grid at which limits are evaluated.

        Returns
        -------
        Worst
            The share, the limit, and its position: the parameter s of the path, and the time t in s.

        Raises
        ------
        ValueError
            If ``per_interval`` is not a whole number >= 1.

        Notes
        -----
        Above 1 limits are exceeded between points, by an error of second order in the intervals' length.
        """
        n = checks.count("per_interval", per_interval, 1)
        share = (np.arange(n) + 0.5) / n
        inside = self.t[:-1, None] + np.diff(self.t)[:, None] * np.r_[1e-9, share, 1.0 - 1e-9]
        along = self.law.at(inside.ravel())
        use = self.problem.use(along, with_jerk=bool(np.isfinite(self.problem.limits.jerk).any()))
        point, row = np.unravel_index(int(np.argmax(use.share)), use.share.shape)
        return Worst(float(use.share[point, row]), str(use.rows[row]), float(along.s[point]),
                     float(inside.ravel()[point]))

    def binding_times(self) -> dict[str, float]:
        """Return the time for which each limit binds.

        Returns
        -------
        dict of str to float
            Time in s by the name of the limit, in decreasing order.
        """
        found = dict.fromkeys(self.binding, 0.0)
        for name, span in zip(self.binding[:-1], np.diff(self.t), strict=True):
            found[name] += float(span)
        return {name: found[name] for name in sorted(found, key=lambda name: -found[name]) if name and found[name]}

    def plot(self, path: str | os.PathLike | None = None) -> Any:
        """Plot the motion as shares of its limits over time.

        Parameters
        ----------
        path : str or path-like, optional
            File to write. The figure is closed afterwards.

        Returns
        -------
        matplotlib.figure.Figure
            Velocities, accelerations and efforts as shares of their limits, the velocity along the path, and the
            binding limits.

        Raises
        ------
        ImportError
            If matplotlib, the extra [plot], is not installed.
        """
        return report.plot(self, path)

    def __repr__(self) -> str:
        return f"<TimeOptimal of {self.duration:.6g} s, {len(self.t)} points>"

    def __str__(self) -> str:
        return report.text(self)


def time_optimal(robot: Robot, path: Any, *, velocity: Given = None, acceleration: Given = None, effort: Given = None,
                 jerk: Given = None, link_speed: LinkSpeeds | None = None, friction: bool = True,
                 external: Mapping[str, ArrayLike] | None = None, start_speed: float = 0.0, end_speed: float = 0.0,
                 points: int = POINTS, effort_scaling: float = 1.0) -> TimeOptimal:
    """Compute the time-optimal motion of a robot along a path within limits.

    Parameters
    ----------
    robot : Robot
        Robot to move. Efforts include those of its own force elements, which must be linear in velocities.
    path : Path, array_like (k, nq) or callable
        Path, as returned by ``through`` and ``straight``; configurations for a cubic spline; or a SciPy spline.
    velocity : float, array_like (n,) or dict of str to float, optional
        Limits of velocities, rad/s or m/s. By default the limits of the model.
    acceleration : float, array_like (n,) or dict of str to float, optional
        Limits of accelerations, rad/s^2 or m/s^2. By default there are none.
    effort : float, array_like (n,) or dict of str to float, optional
        Limits of efforts, N m or N. By default the limits of the model, and the torque-speed lines of its drives,
        whose motors are then limited to their no-load speeds.
    jerk : float, array_like (n,) or dict of str to float, optional
        Limits of jerks, rad/s^3 or m/s^3. By default there are none.
    link_speed : dict of str to float or tuple of float, optional
        Largest speed of each named link's origin, m/s, or the pair of it and the angular speed, rad/s.
    friction : bool, optional
        True to include the friction of the model in efforts.
    external : dict of str to array_like (6,), optional
        Constant wrench on each named link, as in inverse_dynamics.
    start_speed, end_speed : float, optional
        Derivative s' of the parameter by time at the ends of the path; by default at rest.
    points : int, optional
        Approximate number of intervals of the path.
    effort_scaling : float, optional
        Usable share > 0 of all these efforts. A torque-speed line is scaled at each speed of the motor.

    Returns
    -------
    TimeOptimal
        Motion, and its binding limits.

    Raises
    ------
    ValueError
        If no motion is within the limits: the message names the limit and the position. If an argument is wrong,
        no limit applies, or a force element is not linear in velocities.

    Warns
    -----
    LimitsWarning
        If the path exceeds position limits.

    Notes
    -----
    Limits are one number for all velocities, one each (n,), or numbers by the name of the joint; other joints are
    then unlimited. numpy.inf is no limit.

    Limits hold at the ends of intervals. Between them an error of second order remains, which ``TimeOptimal.worst``
    computes. Intervals in which it exceeds a thousandth are halved. With jerk limits the motion is within all limits at
    many points, and near the optimum, without proof: see the module ``paths.smooth``.

    References
    ----------
    H. Pham, Q.-C. Pham, "A new approach to time-optimal path parameterization based on reachability analysis", IEEE
    T-RO 34 (2018).
    """
    refuse_others(robot)
    problem = _problem(robot, path, path_limits(robot, velocity, acceleration, jerk, effort, link_speed,
                                                  effort_scaling), friction, external)
    ends = tuple(checks.number(name, x, 0.0) for name, x in (("start_speed", start_speed), ("end_speed", end_speed)))
    points = checks.count("points", points, 2)
    s = problem.path.grid(points)
    for _ in range(ROUNDS):
        law, use, beyond = _solved(problem, s, ends)
        if not beyond.any():
            break
        s = np.sort(np.concatenate([s, 0.5 * (s[1:] + s[:-1])[beyond]]))
    if np.isfinite(problem.limits.jerk).any():      # infeasible problems have raised before
        return _smooth(problem, ends, points)
    return _concluded(problem, law, use.share.max(axis=0), use.rows)


def _solved(problem: Problem, s: np.ndarray, ends: tuple[float, float]) -> tuple[Steps, Use, np.ndarray]:
    """Return the fastest motion on a grid, its shares of the limits at both ends of each interval, and a mask of the
    intervals in which limits are exceeded."""
    both, inner = np.stack([s[:-1], np.nextafter(s[1:], -np.inf)]), s[:-1] + INSIDE * np.diff(s)
    rows = problem.rows(both, inner[1])
    x = fastest(s, rows, ends, problem.path.place)
    of_jerk = problem.path.derivatives(s).first[:, np.isfinite(problem.limits.jerk)]
    refuse_unlimited(s, x, (of_jerk != 0.0).any(axis=-1), problem.path.place)
    law, none = Steps(s, x), np.zeros_like(both)
    use = used(rows, Along(both, np.stack([law.v[:-1], law.v[1:]]), law.u, none))
    inside = used(problem.rows(inner), Along(inner, np.sqrt(x[:-1] + INSIDE * np.diff(x)), law.u, none[0]))
    return law, use, inside.share.max(axis=(0, -1), initial=0.0) > 1.0 + BEYOND


def _problem(robot, path, limits, friction, external) -> Problem:
    """Return the Problem from the arguments of time_optimal."""
    for joint in robot.model.motors:
        raise ValueError(f"time_optimal: the drive of joint {joint!r} has a spring or a winding, which is not "
                         "supported: use rigid drives")
    if not limits.any_of():
        raise ValueError("time_optimal: nothing limits the motion: give velocity, acceleration, effort or link_speed")
    for link, wrench in checks.wrenches({} if external is None else external, robot.link_names).items():
        if (shape := checks.real_numbers(f"the wrench on link {link!r}", wrench, 6).shape) != (6,):
            raise ValueError(f"the wrench on link {link!r} has shape {shape}, must be (6,): it is constant along the "
                             "path")
    path = as_path(robot, path)
    if limits.needs_efforts or np.isfinite(np.concatenate((limits.acceleration, limits.jerk))).any():
        _refuse_kinks(path)
    warn_of_limits(robot.model, "the path", path.q(np.linspace(path.start, path.end, LOOKS)), advice="", stacklevel=4,
                   room=ROUNDING)
    friction = checks.flag("friction", friction)
    return Problem(robot, path, limits, friction, external, _forces(robot, path, friction))


def _forces(robot, path, friction) -> ForceSum | None:
    """Return the sum of the robot's own force elements, None if it has none. Raises ValueError for an element that is
    not linear in velocities along a path, such as friction."""
    if not (elements := of_model(robot.model, friction)):
        return None
    at = path.derivatives(np.linspace(path.start, path.end, LOOKS))
    way = at.first / np.abs(at.first).max()
    for element in elements:
        one = ForceSum(robot.model, robot.tables, (element,))
        back, rest, on, faster = (one.efforts(at.q, v * way) for v in (-1.0, 0.0, 1.0, 2.0))
        largest = max(np.abs(x).max() for x in (back, rest, on, faster))
        if max(np.abs(back + on - 2.0 * rest).max(), np.abs(faster + rest - 2.0 * on).max()) > LINEAR * largest:
            raise ValueError(f"time_optimal: {element} of the robot is not linear in velocity, as forces along a path "
                             "must be; friction=False ignores friction, and with_forces removes other forces")
    return ForceSum(robot.model, robot.tables, elements)


def _refuse_kinks(path) -> None:
    """Raise ValueError if the direction of a path jumps: that requires an infinite acceleration."""
    breaks, largest = path.breaks, np.abs(path.derivatives(np.linspace(path.start, path.end, LOOKS)).first).max()
    before, after = (path.derivatives(np.nextafter(breaks, side)).first for side in (-np.inf, np.inf))
    sharp = np.abs(after - before).max(axis=-1, initial=0.0) > KINK * largest
    if sharp.any():
        raise ValueError(f"path: its direction jumps at {path.place(float(breaks[int(np.argmax(sharp))]))}; "
                         "paths.straight rounds corners")


def _smooth(problem: Problem, ends: tuple[float, float], points: int) -> TimeOptimal:
    """Return the motion with bounded jerk."""
    for name, speed in zip(("start_speed", "end_speed"), ends, strict=True):
        if speed:
            raise ValueError(f"{name} is {speed:g}, must be 0 if the jerk is limited")
    from .smooth import smoothed  # with SciPy's optimizers, which take long to load
    law = smoothed(problem, max(FEWEST, points // 10), problem.path.grid(points))
    use = problem.use(law.at(law.t), with_jerk=True)
    return _concluded(problem, law, use.share[:-1], use.rows, NEARLY)


def _concluded(problem: Problem, law: TimeLaw, share: np.ndarray, rows: tuple, binds: float = BINDS
               ) -> TimeOptimal:
    """Return the result of a time law, with shares (k - 1, rows) of limits between its points."""
    row, most = share.argmax(axis=-1), share.max(axis=-1)
    names = [str(rows[j]) if use >= binds else "" for j, use in zip(row, most, strict=True)]
    along = law.at(law.t)
    return TimeOptimal(law.t, *problem.motion(along), float(law.t[-1]), *along[:3], (*names, names[-1]),
                       np.append(most, most[-1]), problem, law)
