"""Splines through the points of a trajectory, with the polynomial degrees of joint_trajectory_controller.

Times are integer nanoseconds; the m joints are indices into the model's."""

from math import perm
from typing import NamedTuple

import numpy as np

SECOND = 1_000_000_000     # nanoseconds


class Points(NamedTuple):
    """k points of m joints. order (k,): number of derivatives given at each point; derivatives not given are zero.
    Efforts not given are NaN."""

    joints: np.ndarray         # (m,) int
    times: np.ndarray          # (k,) int64, since the trajectory's start, strictly increasing
    position: np.ndarray       # (k, m)
    velocity: np.ndarray       # (k, m)
    acceleration: np.ndarray   # (k, m)
    effort: np.ndarray         # (k, m)
    order: np.ndarray          # (k,) int


class Desired(NamedTuple):
    """Positions, velocities, accelerations and efforts (T, m) at T times; efforts that are not given are NaN."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray


class Trajectory:
    """A spline of the joints `joints` (m,) through points, which rests at the last point.

    A segment whose ends both have o derivatives is of degree 2 o + 1: linear, cubic or quintic. Efforts are linear if
    both ends have them. The first segment leads from `start`, the present state (1, m) with two derivatives and no
    effort, to the first point. A trajectory that began before `now` is entered part-way.

    limit (m,): largest efforts, if smaller than the robot's; None: the robot's."""

    def __init__(self, points: Points, begin: int, now: int, start: Desired, limit: np.ndarray | None = None):
        times, order = begin + points.times, points.order
        values = [points.position, points.velocity, points.acceleration, points.effort]
        self.joints = points.joints
        self.begin = begin
        self.limit = limit
        self._first = 0   # point index of the first knot; -1 if that is the start
        if now < times[0]:
            self._first = -1
            times, order = np.insert(times, 0, now), np.insert(order, 0, 2)
            started = start._replace(effort=np.full_like(start.effort, np.nan))
            values = [np.concatenate(rows) for rows in zip(started, values, strict=True)]
        self._times = times
        self._last, self._effort = values[0][-1], values[3]
        self._spans = np.diff(times)
        met = np.minimum(order[:-1], order[1:])
        self._coefficients = _coefficients(self._spans / SECOND, np.stack(values[:3]), met)

    @classmethod
    def rest(cls, joints: np.ndarray, position: np.ndarray, effort: np.ndarray, now: int,
             limit: np.ndarray | None = None) -> "Trajectory":
        """Return a trajectory at rest from now on; position and effort (m,), NaN for no effort."""
        zero = np.zeros((1, len(joints)))
        points = Points(joints, np.zeros(1, np.int64), position[None], zero, zero, effort[None], np.zeros(1, int))
        return cls(points, now, now, Desired(position[None], zero, zero, effort[None]), limit)

    @property
    def moves(self) -> bool:
        """True if the trajectory has more than one point."""
        return len(self._spans) > 0

    @property
    def end(self) -> int:
        """The time of the last point."""
        return int(self._times[-1])

    def next_point(self, time: int) -> int:
        """Return the index of the next point at a time; the number of points after the last."""
        return int(np.searchsorted(self._times, time, side="right")) + self._first

    def sample(self, times: np.ndarray) -> Desired:
        """Return the desired motion at times (T,)."""
        times = np.asarray(times)
        if not self.moves:
            zero = np.zeros((len(times), len(self.joints)))
            return Desired(zero + self._last, zero, zero.copy(), zero + self._effort[-1])
        k = np.clip(np.searchsorted(self._times, times, side="right") - 1, 0, len(self._spans) - 1)
        span = self._spans[k, None]
        u = np.clip((times - self._times[k])[:, None] / span, 0.0, 1.0)
        position, velocity, acceleration = (_derivative(self._coefficients[:, k], u, d) for d in range(3))
        effort = (1.0 - u) * self._effort[k] + u * self._effort[k + 1]
        over = (times > self._times[-1])[:, None]
        return Desired(
            np.where(over, self._last, position),
            np.where(over, 0.0, velocity * (SECOND / span)),
            np.where(over, 0.0, acceleration * (SECOND / span) ** 2),
            effort,
        )


def _coefficients(spans: np.ndarray, values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the coefficients (6, s, m) of powers of u = (t - t_k) / span_k in s segments.

    values (3, s + 1, m): positions and two derivatives at the ends; order (s,): number of derivatives to match; spans
    (s,): durations in seconds."""
    ends = np.stack([values[:, :-1], values[:, 1:]])                                        # (2, 3, s, m)
    ends = ends * (spans[None, :] ** np.arange(3)[:, None])[None, :, :, None]               # per u
    result = np.zeros((6, *ends.shape[2:]))
    for o in range(3):
        chosen = order == o
        met = ends[:, :o + 1, chosen].reshape(2 * (o + 1), -1)
        result[:2 * (o + 1), chosen] = (_HERMITE[o] @ met).reshape(2 * (o + 1), chosen.sum(), ends.shape[3])
    return result


def _hermite(order: int) -> np.ndarray:
    """Return the matrix that maps values and `order` derivatives at u = 0, then at u = 1, to coefficients of powers of
    u."""
    degree = 2 * order + 1
    rows = [[perm(j, d) * (u if j > d else float(j == d)) for j in range(degree + 1)]
            for u in (0.0, 1.0) for d in range(order + 1)]
    return np.linalg.inv(np.array(rows))


_HERMITE = [_hermite(order) for order in range(3)]


def _derivative(coefficients: np.ndarray, u: np.ndarray, d: int) -> np.ndarray:
    """Return the d-th derivative (T, m), with respect to u (T, 1), of polynomials with coefficients (6, T, m)."""
    result = np.zeros(np.broadcast_shapes(u.shape, coefficients.shape[1:]))
    for j in range(5, d - 1, -1):
        result = result * u + perm(j, d) * coefficients[j]
    return result
