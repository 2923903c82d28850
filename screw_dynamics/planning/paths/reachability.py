"""Time-optimal path parameterization under linear limits, by reachability analysis.

H. Pham, Q.-C. Pham, "A new approach to time-optimal path parameterization based on reachability analysis", IEEE T-RO 34
(2018). The path is divided into intervals on which u = s'' is constant, hence x = s'^2 is linear in s: x_(i+1) = x_i +
2 d_i u_i. The backward pass computes [low_i, high_i], the x from which some u leads into the next interval within the
limits. The forward pass takes the largest u in each interval. Limits hold at both ends of an interval, with the same u:
the paper's interpolation scheme, of order 2, which avoids the chatter of the simple one where a limit's coefficient of
u passes 0. Linear programs in (u, x) are solved by Fourier elimination of u: a lower and an upper bound of u bound x by
their sum. This makes everything that is independent of the next interval a batch over all intervals."""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .rows import Row, Rows, named

PASSES, CHANGE = 40, 1e-7       # passes for friction: largest number, and relative change of the velocity at the end
TINY = 1e-12                    # coefficients of u below this share of their largest on the path are 0
LARGEST = 1e30                  # largest x, where no limit bounds it
SLACK = 1e-9                    # relative tolerance of intervals that rounding makes empty


class Lines(NamedTuple):
    """The constraints of rows on each of N intervals: lower + slope x <= u <= upper + slope x, (N, 2 m) each, those at
    the interval's begin first; and the bounds low <= x <= high, (N,) each."""

    slope: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    low: np.ndarray
    high: np.ndarray


def fastest(s: np.ndarray, rows: Rows, ends: tuple[float, float], place: Callable[[float], str]) -> np.ndarray:
    """Return x = s'^2 (N + 1,) of the time-optimal motion at parameters s.

    rows: at both ends of each interval, (2, N, m). ends: s' at the first and the last parameter. Terms proportional to
    s', the root of x, are linearized at the motion of the pass before, by Newton's method. If that leaves no motion, as
    the tangent is above the root near rest, the chord from rest is used. Raises ValueError with the limits that leave
    no motion, and the position; or if no limit applies, or limits are not finite."""
    _refuse_numbers(s, rows, place)
    x = _linear(s, rows, ends, place)
    if not rows.k.any():
        return x
    for _ in range(PASSES):
        before, v = x, np.sqrt(x)
        per_x = np.divide(1.0, v, out=np.zeros_like(v), where=x > 1e-12 * x.max())
        v, per_x = (np.stack([y[:-1], y[1:]])[..., None] for y in (v, per_x))
        try:
            x = _linear(s, rows._replace(b=rows.b + 0.5 * rows.k * per_x, c=rows.c + 0.5 * rows.k * v), ends, place)
        except ValueError:
            x = _linear(s, rows._replace(b=rows.b + rows.k * per_x), ends, place)
        change = np.abs(np.sqrt(x) - np.sqrt(before))
        if change.max() <= CHANGE * np.sqrt(x.max()):
            return x
    raise ValueError(f"viscous friction and torque-speed lines did not converge in {PASSES} passes: the velocity at "
                     f"{place(s[int(np.argmax(change))])} still changes by {change.max():.3g}")


def _linear(s, rows, ends, place):
    """Return the time-optimal motion without terms proportional to s'."""
    d = 2.0 * np.diff(s)
    bounds = np.full(len(s), LARGEST)
    for part, speeds in ((slice(None, -1), rows.speed[0]), (slice(1, None), rows.speed[1])):
        np.minimum(bounds[part], speeds.min(axis=-1, initial=np.inf) ** 2, out=bounds[part])
    for i, end in ((0, ends[0]), (-1, ends[1])):
        _refuse_end(rows, i, end, np.sqrt(bounds[i]), place(s[i]))
    lines = _lines(rows, d, bounds[:-1])
    low, high = _controllable(lines, d, ends[1] ** 2, lambda i: _reason(rows, s, i, place))
    if not low[0] * (1.0 - SLACK) <= ends[0] ** 2 <= high[0] * (1.0 + SLACK):
        raise ValueError(f"start_speed {ends[0]:g} at {place(s[0])}: must be from {np.sqrt(low[0]):.6g} to "
                         f"{np.sqrt(high[0]):.6g} to reach the end within the limits{_too_heavy(rows, s, place)}")
    return _greedy(lines, d, ends[0] ** 2, low, high, s, place)


def _lines(rows: Rows, d: np.ndarray, bounds: np.ndarray) -> Lines:
    """Return the lines of rows on intervals, with d (N,) twice their lengths, and the bounds of x at their begins."""
    A = np.concatenate([rows.a[0], rows.a[1] + d[:, None] * rows.b[1]], axis=-1)     # x at the end is x + d u
    B = np.concatenate([rows.b[0], rows.b[1]], axis=-1)
    c, limit = np.concatenate([rows.c[0], rows.c[1]], axis=-1), np.tile(rows.limit, 2)
    flat = np.abs(A) <= TINY * np.abs(A).max(axis=0, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(flat, 0.0, -B / A)
        ends = np.stack([(-limit - c) / A, (limit - c) / A])
        on_x = np.stack([(-limit - c) / B, (limit - c) / B])
    lower, upper = (np.where(flat, none, of(ends, axis=0)) for of, none in ((np.min, -np.inf), (np.max, np.inf)))
    low, high = np.zeros(len(d)), bounds.copy()
    if flat.any():          # b x + c is within the limit for any u, or for none
        still = flat & (B == 0.0)
        never = (still & (np.abs(c) > limit)).any(axis=-1)
        on_x = np.where(flat & ~still, on_x, np.array([-np.inf, np.inf])[:, None, None])
        low, high = np.maximum(low, on_x.min(axis=0).max(axis=-1)), np.minimum(high, on_x.max(axis=0).min(axis=-1))
        low[never] = np.inf
    _narrow(slope, lower, upper, high, -1.0)
    _narrow(slope, lower, upper, low, 1.0)
    return Lines(slope, lower, upper, low, high)


def _narrow(slope, lower, upper, x, direction):
    """Move x, in place, in a direction, until no lower line of u is above an upper one.

    Each step goes to the intersection of the most violated pair of lines: Newton's method on a concave function, which
    ends at its root. x is infinite where there is no root."""
    open_ = np.flatnonzero(np.isfinite(x))
    while len(open_) and slope.shape[1]:
        g, at = slope[open_], x[open_, None]
        down, up = lower[open_] + g * at, upper[open_] + g * at
        place = np.arange(len(open_))
        j, k = np.argmax(down, axis=-1), np.argmin(up, axis=-1)
        gap = up[place, k] - down[place, j]
        beyond = gap < -SLACK * np.maximum(np.abs(up[place, k]), np.abs(down[place, j]))
        open_, place, j, k = open_[beyond], place[beyond], j[beyond], k[beyond]
        turn = g[place, k] - g[place, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = (lower[open_, j] - upper[open_, k]) / turn
        closes = direction * turn > 0.0
        on_the_way = closes & (direction * (moved - x[open_]) > 0.0)        # else it has converged
        x[open_] = np.where(on_the_way, moved, np.where(closes, x[open_], direction * np.inf))
        open_ = open_[on_the_way]


class Lowest:
    """The lower envelope of lines slope x + offset, (N, m), at each of N positions, for x from 0 to top (N,).

    Lines that are nowhere the lowest are removed. Few are left, for which Python floats are faster than arrays."""

    def __init__(self, slope: np.ndarray, offset: np.ndarray, top: np.ndarray):
        ends = np.stack([offset, offset + slope * top[:, None]])
        place = np.arange(len(top))
        first, last = (np.argmin(end, axis=-1) if end.shape[1] else 0 * place for end in ends)
        if offset.shape[1]:
            kept = (ends[0] < ends[0][place, last][:, None]) & (ends[1] < ends[1][place, first][:, None])
            kept[place, first] = kept[place, last] = True
        else:
            kept = np.zeros_like(offset, dtype=bool)
        self._begins = np.append(0, np.cumsum(kept.sum(axis=-1))).tolist()
        self._slope, self._offset = slope[kept].tolist(), offset[kept].tolist()

    def __call__(self, i: int, x: float, most: float) -> float:
        """Return the lowest value at position i and x, at most `most`."""
        for j in range(self._begins[i], self._begins[i + 1]):
            value = self._slope[j] * x + self._offset[j]
            if value < most:
                most = value
        return most


def _controllable(lines: Lines, d: np.ndarray, end: float, refuse: Callable[[int], None]
                  ) -> tuple[np.ndarray, np.ndarray]:
    """Return low and high (N + 1,): the bounds of x from which the end can be reached within the limits.

    lower + slope x <= u and x + d u <= next high give (1 + d slope) x <= next high - d lower; uppers and the next low
    are symmetric. Where 1 + d slope is negative, both bound x on the other side."""
    N, tops = len(d), np.append(lines.high[1:], end)
    gain = 1.0 + d[:, None] * lines.slope
    least, most = d[:, None] * lines.lower, d[:, None] * lines.upper
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / gain
        above, below = np.where(gain > 0.0, -least * inverse, np.inf), np.where(gain > 0.0, -most * inverse, -np.inf)
    inverse[gain <= 0.0] = 0.0
    highest = Lowest(inverse, above, np.maximum(tops, end))
    # Where the robot can be at rest, x may be 0 before another 0: most often, there is nothing to compute.
    stands = ((below <= 0.0).all(axis=-1) & (lines.low <= 0.0)).tolist()
    turned, low, high = (gain < 0.0).any(axis=-1).tolist(), [0.0] * N + [end], [0.0] * N + [end]
    for i in range(N - 1, -1, -1):
        hi = highest(i, high[i + 1], float(lines.high[i]))
        lo = 0.0 if stands[i] and low[i + 1] == 0.0 else max(
            float(lines.low[i]), (low[i + 1] * inverse[i] + below[i]).max(initial=0.0))
        if turned[i]:
            j = gain[i] < 0.0
            hi = min(hi, ((low[i + 1] - most[i, j]) / gain[i, j]).min())
            lo = max(lo, ((high[i + 1] - least[i, j]) / gain[i, j]).max())
        if not lo <= hi:
            if not lo <= hi + SLACK * (abs(hi) + 1e-3 * high[i + 1]):
                refuse(i)
            lo = hi = max(0.0, min(lo, float(lines.high[i])))
        low[i], high[i] = lo, hi
    return np.array(low), np.array(high)


def _greedy(lines: Lines, d: np.ndarray, start: float, low: np.ndarray, high: np.ndarray, s: np.ndarray,
            place: Callable[[float], str]) -> np.ndarray:
    """Return x (N + 1,) of the forward pass, with the largest u in each interval."""
    furthest = Lowest(1.0 + d[:, None] * lines.slope, d[:, None] * lines.upper, high[:-1])
    x, lows, highs = [start], low.tolist(), high.tolist()
    for i in range(len(d)):
        x.append(max(lows[i + 1], furthest(i, x[i], highs[i + 1])))
    found = np.array(x)
    if (stops := (found[1:] <= 0.0) & (found[:-1] <= 0.0)).any():
        raise ValueError(f"no motion within the limits continues after {place(s[int(np.argmax(stops))])}, where it "
                         "stops")
    return found


# ------------------------------------------------------------------------------------------------- refusals
def _refuse_numbers(s, rows, place):
    """Raise ValueError if the path or the limits there are not finite."""
    lost = ~np.isfinite(rows.a + rows.b + rows.k + rows.c)
    if lost.any():
        end, i, j = np.argwhere(lost)[0]
        raise ValueError(f"path: the {rows.rows[j]} is not finite at {place(s[i + end])}: check the path and the "
                         "external wrenches")
    lost = np.isnan(rows.speed)
    if lost.any():
        end, i, j = np.argwhere(lost)[0]
        raise ValueError(f"path: the {rows.speed_rows[j]} is not finite at {place(s[i + end])}")


def refuse_unlimited(s: np.ndarray, x: np.ndarray, moves: np.ndarray, place: Callable[[float], str]) -> None:
    """Raise ValueError for an interval on which x = s'^2 is unlimited: no moving joint has a limit. moves (N + 1,):
    mask of the s at which a joint with other limits moves."""
    free = (x >= 1e-6 * LARGEST) & ~moves
    free = np.append(free[1:] & free[:-1], False)
    if free.any():
        i = int(np.argmax(free))
        raise ValueError(f"nothing limits the motion at {place(s[i])}: no joint or link that moves there has a limit")


def _refuse_end(rows, i, speed, most, where):
    """Raise ValueError if a velocity at an end exceeds a velocity limit."""
    if speed > most * (1.0 + SLACK):
        speeds = rows.speed[0][0] if i == 0 else rows.speed[1][-1]
        row = rows.speed_rows[int(np.argmin(speeds))]
        raise ValueError(f"{'end' if i else 'start'}_speed {speed:g} at {where}: {named([row])}, allows {most:.6g}")


def _reason(rows: Rows, s: np.ndarray, i: int, place: Callable[[float], str]) -> None:
    """Raise ValueError with the reason why there is no motion on interval i."""
    d = np.array([2.0 * (s[i + 1] - s[i])])
    one = rows._replace(**{name: getattr(rows, name)[:, i:i + 1] for name in ("a", "b", "c")})
    guilty = _guilty(_lines(one, d, np.array([LARGEST])), rows.rows * 2)
    raise ValueError(f"no motion is within the limits from {place(s[i])} to the end" + (
        f"; there the limits conflict: {named(guilty)}" if guilty else "")
        + _too_heavy(rows, s, place))


def _too_heavy(rows: Rows, s: np.ndarray, place: Callable[[float], str]) -> str:
    """Return the position where the robot cannot be at rest, as text to end a message, "" if there is none."""
    share = np.abs(rows.c) / rows.limit
    if not share.size or share.max() <= 1.0:
        return ""
    end, i, j = np.unravel_index(int(np.argmax(share)), share.shape)
    row = rows.rows[j]
    return (f"; at {place(s[i + end])} gravity and dry friction alone take {abs(rows.c[end, i, j]):.4g} of the "
            f"{row.quantity} of {row.name!r}, whose limit is {row.limit:.4g}")


def _guilty(lines: Lines, rows: tuple[Row, ...]) -> list[Row]:
    """Return the rows that bound u from both sides at the least x, 0 if that is allowed."""
    if not rows:
        return []
    x = lines.low[0] if np.isfinite(lines.low[0]) else 0.0
    bounds = lines.lower[0] + lines.slope[0] * x, lines.upper[0] + lines.slope[0] * x
    return [rows[int(np.argmax(bounds[0]))], rows[int(np.argmin(bounds[1]))]]
