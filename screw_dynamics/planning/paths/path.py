"""Geometric paths: curves q(s) through configurations, with derivatives by the path parameter s.

A path is a spline of the numbers of q. Its quaternions may have any length, and are normalized: the curve is smooth and
on the group. As splines are linear, it does not depend on the reference frames of rotations."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model import configuration_space
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

# Order of the derivatives that vanish at the ends of a spline of each degree, as for a natural spline.
ENDS = {3: (2,), 5: (3, 4)}
BETWEEN = 8             # least number of grid intervals between two breaks of a path, such as on a rounded corner
STRAIGHT = 1e-9         # relative change of the slope at a waypoint below which there is no corner
BESIDE = 1e-9           # relative tolerance of parameters beyond an end
SAME = 1e-12            # relative tolerance of equal numbers


class Derivatives(NamedTuple):
    """q (..., nq) at parameters s (...), with velocities, their derivatives and second derivatives by s (..., n), as if
    s were time. The last is 0 for velocities of Lie-group joints, and unused."""

    q: np.ndarray
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray


class Path:
    """A curve of a robot's configurations, from s = start to s = end.

    Parameters
    ----------
    robot : Robot
        Robot of the configurations.
    curve : callable
        SciPy spline of numbers (nq,): CubicSpline, the result of make_interp_spline, PPoly, or any function of
        parameters and the order of a derivative.
    start, end : float, optional
        First and last parameter of the path. By default those of the curve.
    breaks : array_like (b,), optional
        Inner parameters at which derivatives of the curve jump, where a motion along it may change abruptly. By default
        its knots.
    waypoints : array_like (k,), optional
        Increasing parameters of the waypoints of the curve, for messages.

    Raises
    ------
    ValueError
        If the curve has another size, is not such a function, or is not finite; if it has no knots and start or end
        is missing; if start is not below end; or if start or end is beyond the knots of a curve that is not periodic.
    """

    def __init__(self, robot: Robot, curve: Any, start: float | None = None, end: float | None = None, *,
                 breaks: ArrayLike | None = None, waypoints: ArrayLike = ()):
        refuse_others(robot)
        knots = np.asarray(getattr(curve, "x", getattr(curve, "t", ())), dtype=float)
        if not callable(curve):
            raise ValueError(f"path {checks.described(curve)} must be configurations (k, {robot.nq}), a Path, or a "
                             "spline of SciPy")
        for name, given in (("start", start), ("end", end)):
            if given is None and not knots.size:
                raise ValueError(f"path: {name} must be given, as the curve has no knots, x or t")
        degree = getattr(curve, "k", 0) if hasattr(curve, "t") else 0       # a B-spline is defined between inner knots
        self.start = checks.real(knots[degree] if start is None else start)
        self.end = checks.real(knots[-1 - degree] if end is None else end)
        if not -np.inf < self.start < self.end < np.inf:
            raise ValueError(f"path: start {self.start:g} must be below end {self.end:g}, both finite")
        if knots.size and getattr(curve, "extrapolate", True) != "periodic":
            first, last, beside = knots[degree], knots[-1 - degree], BESIDE * self.length
            if self.start < first - beside or self.end > last + beside:
                raise ValueError(f"path: start {self.start:g} and end {self.end:g} must be within the curve's knots, "
                                 f"{first:g} to {last:g}, beyond which it is extrapolated")
        self.robot, self._curve = robot, curve
        inside = np.unique(knots if breaks is None else checks.finite_numbers("breaks", breaks))
        self.breaks = inside[(inside > self.start) & (inside < self.end)].astype(float)
        self.waypoints = np.asarray(checks.finite_numbers("waypoints", waypoints), dtype=float)
        if self.waypoints.ndim != 1 or (np.diff(self.waypoints) <= 0.0).any():
            raise ValueError(f"waypoints must be increasing parameters (k,), not {checks.described(waypoints)}")
        for order in range(4):
            try:
                ends = np.asarray(self._numbers(np.array([self.start, self.end]), order))
            except TypeError as error:
                raise ValueError(f"path: the curve must be a function of parameters and the order of a derivative, 0 "
                                 f"to 3: {error}") from error
            if ends.shape != (2, robot.nq):
                raise ValueError(f"path: the curve has values of shape {ends.shape[1:]}, must be ({robot.nq},)")
            checks.finite_numbers("path", ends)

    @property
    def length(self) -> float:
        """The length end - start in the parameter."""
        return self.end - self.start

    def _inside(self, s):
        """Return parameters as an array. Raises ValueError if they are beyond the ends, where a spline is arbitrary."""
        s = checks.finite_numbers("s", s).astype(float)
        if s.size and not (s.min() >= self.start - BESIDE * self.length and s.max() <= self.end + BESIDE * self.length):
            raise ValueError(f"s must be from {self.start:g} to {self.end:g}, not {s.min():g} ... {s.max():g}")
        return s

    def _numbers(self, s, order):
        return self._curve(s, order) if order else self._curve(s)

    def q(self, s: ArrayLike) -> np.ndarray:
        """Return the configurations at parameters.

        Parameters
        ----------
        s : array_like (...)
            Parameters, from start to end.

        Returns
        -------
        ndarray (..., nq)
            Configurations.

        Raises
        ------
        ValueError
            If a parameter is beyond the ends.
        """
        found = np.asarray(self._numbers(self._inside(s), 0), dtype=float)
        return configuration_space.normalized(self.robot.model, found) if self.robot.model.on_groups else found

    def derivatives(self, s: ArrayLike) -> Derivatives:
        """Return the configurations at parameters, with their derivatives.

        Parameters
        ----------
        s : array_like (...)
            Parameters, from start to end.

        Returns
        -------
        Derivatives
            Configurations q (..., nq); and first, second and third (..., n), the velocities and their derivatives by
            s, as if s were time. The third is 0 for velocities of Lie-group joints.

        Raises
        ------
        ValueError
            If a parameter is beyond the ends.
        """
        s, model = self._inside(s), self.robot.model
        numbers = [np.asarray(self._numbers(s, order), dtype=float) for order in range(4)]
        first, second = configuration_space.velocities(model, *numbers[:3])
        third, single = np.zeros_like(first), model.q_indices >= 0
        third[..., single] = numbers[3][..., model.q_indices[single]]
        q = configuration_space.normalized(model, numbers[0]) if model.on_groups else numbers[0]
        return Derivatives(q, first, second, third)

    def grid(self, points: int) -> np.ndarray:
        """Return parameters from start to end, at intervals of approximately equal length.

        Parameters
        ----------
        points : int
            Approximate number of intervals.

        Returns
        -------
        ndarray (k,)
            Increasing parameters, including all breaks, with at least 8 intervals from one break to the next.

        Raises
        ------
        ValueError
            If ``points`` is not a whole number >= 1.
        """
        points = checks.count("points", points, 1)
        knots = np.concatenate([[self.start], self.breaks, [self.end]])
        parts = np.maximum(BETWEEN, np.ceil(points * np.diff(knots) / self.length).astype(int))
        pieces = [a + (b - a) * np.arange(k) / k for a, b, k in zip(knots[:-1], knots[1:], parts, strict=True)]
        return np.append(np.concatenate(pieces), self.end)

    def place(self, s: float) -> str:
        """Return the position of a parameter as text, for messages.

        Parameters
        ----------
        s : float
            Parameter of the path.

        Returns
        -------
        str
            The parameter, the ends of the path, and the waypoints before and after it.
        """
        k = int(np.searchsorted(self.waypoints, s, side="right"))
        between = f", between waypoints {k - 1} and {k}" if 0 < k < len(self.waypoints) else ""
        return f"s = {s:.4g} of {self.start:g} to {self.end:g}{between}"

    def __repr__(self):
        return f"<Path of {len(self.robot.joint_names)} joints, s from {self.start:g} to {self.end:g}>"


def through(robot: Robot, waypoints: ArrayLike, s: ArrayLike | None = None, degree: int = 3) -> Path:
    """Return the spline path through configurations.

    Parameters
    ----------
    robot : Robot
        Robot of the configurations.
    waypoints : array_like (k, nq)
        Configurations, two or more.
    s : array_like (k,), optional
        Increasing parameters of the configurations. By default from 0 to 1 in proportion to Robot.distance.
    degree : {3, 5}, optional
        Degree of the spline, with two or four continuous derivatives.

    Returns
    -------
    Path
        Path whose second derivative is 0 at the ends; with degree 5 the third and fourth derivatives.

    Raises
    ------
    ValueError
        If two consecutive configurations are equal.

    Notes
    -----
    Between two configurations the path is straight, on a group along the shortest rotation. A spline overshoots;
    ``straight`` does not.
    """
    q, s = _waypoints(robot, waypoints, s)
    degree = int(checks.one_of("degree", degree, tuple(ENDS)))
    from scipy.interpolate import make_interp_spline  # imported on demand: it takes long to load
    if len(q) == 2:
        degree = 3                              # both degrees give the line
    zero = [(order, np.zeros(robot.nq)) for order in ENDS[degree]]
    return Path(robot, make_interp_spline(s, q, degree, bc_type=(zero, zero)), float(s[0]), float(s[-1]),
                breaks=s[1:-1], waypoints=s)


def straight(robot: Robot, waypoints: ArrayLike, deviation: float, s: ArrayLike | None = None) -> Path:
    """Return the path along straight lines between configurations, with rounded corners.

    Parameters
    ----------
    robot : Robot
        Robot of the configurations.
    waypoints : array_like (k, nq)
        Configurations, two or more.
    deviation : float
        Largest deviation of any joint from a waypoint, rad or m, > 0.
    s : array_like (k,), optional
        Parameters of the configurations, as in ``through``.

    Returns
    -------
    Path
        Path with two continuous derivatives.

    Raises
    ------
    ValueError
        If the deviation is not > 0, or so small that a corner vanishes in rounding; or if two consecutive
        configurations are equal.

    Notes
    -----
    Corners take at most half of the adjacent lines. Between configurations that are a half turn apart on a group
    the straight line is not unique.
    """
    q, s = _waypoints(robot, waypoints, s)
    deviation = checks.positive("deviation", deviation)
    from scipy.interpolate import PPoly
    given, slopes = s, np.diff(q, axis=0) / np.diff(s)[:, None]
    bends = np.abs(np.diff(slopes, axis=0)).max(axis=1, initial=0.0) > STRAIGHT * np.abs(slopes).max()
    q, s = (x[np.concatenate([[True], bends, [True]])] for x in (q, s))
    slopes, spans = np.diff(q, axis=0) / np.diff(s)[:, None], np.diff(s)
    turn = np.diff(slopes, axis=0)                                              # of the derivative at inner waypoints
    sharp = np.abs(turn).max(axis=1, initial=0.0)
    half = np.minimum(16.0 / 3.0 * deviation / sharp, 0.5 * np.minimum(spans[:-1], spans[1:]))
    for i in np.flatnonzero(half <= SAME * np.abs(s).max())[:1]:
        raise ValueError(f"deviation {deviation:g} is too small for the corner at s = {s[i + 1]:g}: the rounded corner "
                         "vanishes to machine precision")
    pieces, starts = [], [s[0]]
    for i in range(len(q)):
        if 0 < i < len(q) - 1:                                                  # the corner, of length 2 half
            w = 2.0 * half[i - 1]
            # q' = slope + turn S(u), S = 3 u^2 - 2 u^3, u from 0 to 1 over w: the middle is 3/16 half |turn| off
            pieces.append([-turn[i - 1] / (2.0 * w**3), turn[i - 1] / w**2, np.zeros(robot.nq), slopes[i - 1],
                           q[i] - half[i - 1] * slopes[i - 1]])
            starts.append(s[i] + half[i - 1])
        if i < len(q) - 1:
            begin = half[i - 1] if i else 0.0
            pieces.append([*np.zeros((3, robot.nq)), slopes[i], q[i] + begin * slopes[i]])
            starts.append(s[i + 1] - (half[i] if i < len(half) else 0.0))
    starts, coefficients = np.array(starts), np.array(pieces).swapaxes(0, 1)
    kept = np.diff(starts) > 0.0                # a line between two corners that take half of it each has no length
    return Path(robot, PPoly(coefficients[:, kept], np.append(starts[:-1][kept], starts[-1])), waypoints=given)


def refuse_others(robot: Any) -> None:
    """Raise ValueError if the argument is not a Robot: mechanisms and scenes have no efforts along paths."""
    if not isinstance(robot, Robot):
        raise ValueError(f"robot must be a Robot, not {checks.described(robot)}")


def as_path(robot: Robot, given: Any) -> Path:
    """Return a Path of the robot from a Path, a SciPy spline, or configurations (k, nq)."""
    if isinstance(given, Path):
        if given.robot.model is not robot.model and given.robot.joint_names != robot.joint_names:
            raise ValueError("path: it belongs to a robot with other joints")
        return given
    return Path(robot, given) if callable(given) else through(robot, given)


def _waypoints(robot, waypoints, s):
    """Return configurations with unit quaternions of consistent signs, and their parameters."""
    refuse_others(robot)
    q = np.array(checks.finite_numbers("waypoints", waypoints), dtype=float)
    if q.ndim != 2 or q.shape[1] != robot.nq or len(q) < 2:
        raise ValueError(f"waypoints have the shape {q.shape}, must be (k, {robot.nq}) with k > 1")
    q = configuration_space.continuous(robot.model, configuration_space.normalized(robot.model, q))
    for joint, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True):
        if kind == "planar":                    # its heading, by the shorter rotation
            heading = robot.q_slices[joint].stop - 1
            q[:, heading] = np.unwrap(q[:, heading])
    with np.errstate(over="ignore"):
        steps = robot.distance(q[:-1], q[1:])
    for i in np.flatnonzero(~np.isfinite(steps))[:1]:
        raise ValueError(f"waypoints {i} and {i + 1} are too far apart for double precision: {q[i].tolist()}, "
                         f"{q[i + 1].tolist()}")
    for i in np.flatnonzero(steps <= SAME * max(steps.sum(), 1e-300))[:1]:
        raise ValueError(f"waypoints {i} and {i + 1} are the same: successive waypoints must differ")
    if s is None:
        along = np.append(0.0, np.cumsum(steps))
        return q, along / along[-1]
    s = np.array(checks.finite_numbers("s", s), dtype=float)
    if s.shape != (len(q),) or (np.diff(s) <= SAME * np.abs(s).max()).any():
        raise ValueError(f"s must be {len(q)} increasing numbers, one per waypoint and distinct to machine precision, "
                         f"not {s.tolist()}")
    return q, s
