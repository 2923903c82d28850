"""Proven bounds of joint efforts over boxes of positions, velocities, accelerations and payloads."""
from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.compiled.tracing import Traced
from screw_dynamics.robot import Robot
from screw_dynamics.utils import checks

from .effort_polynomials import ROUNDING, Coefficients, Efforts
from .grid_bounds import POINTS, SPACING, Axis, cells_for, curvatures, swept

SAMPLES = 4096          # random states of a search for large efforts
BEST = 16               # of them are starts of the search
MARGIN = 2.0 ** -44     # of magnitudes: rotation matrices of a model are orthogonal to rounding only
NODES = 4096            # combinations of velocities, at most, that are tried in a state


class BoundsWarning(UserWarning):
    """Bounds are valid, but their excess over the exact range may be above `gap`."""


class Bounds(NamedTuple):
    """Bounds of joint efforts, and the largest efforts that are known.

    Parameters
    ----------
    lower, upper : ndarray (n,)
        No state of the box has a smaller or larger effort, N m or N.
    lowest, highest : ndarray (n,)
        Efforts of states that were found, of `states`.
    states : list
        For each joint, two pairs (q, qd, qdd, payload): the states of its lowest and highest effort.
    excess : ndarray (n,)
        (upper - lower) / (highest - lowest) - 1: the bounds are at most this part wider than the exact range. 0 if
        upper - lower is at most 1e-9 (1 + |upper|), which may be rounding errors.
    points : int
        Positions at which efforts were computed.
    """

    lower: np.ndarray
    upper: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    states: list
    excess: np.ndarray
    points: int


class _Rates:
    """The factors of the coefficients of one effort: 1 for gravity, accelerations, and products of velocities."""

    def __init__(self, columns, pairs, qd, qdd):
        self.columns, self.pairs, self.qd, self.qdd = columns, pairs, qd, qdd
        self.joints = sorted({j for pair in pairs for j in pair})
        products = [np.multiply.outer(qd[:, j], qd[:, k]) for j, k in pairs]
        squares = [j == k and qd[0, j] < 0.0 < qd[1, j] for j, k in pairs]
        least = [0.0 if square else x.min() for x, square in zip(products, squares, strict=True)]
        self.first = 1 + len(columns)                       # the first coefficient of velocities
        self.lower = np.array([1.0, *(qdd[0, k] for k in columns), *least])
        self.upper = np.array([1.0, *(qdd[1, k] for k in columns), *(x.max() for x in products)])
        self.largest = np.maximum(np.abs(self.lower), np.abs(self.upper))
        self._nodes = {}

    def relaxed(self, rows, sign, of=slice(None)):
        """Return a bound of sign times the effort, or of a part: products of velocities as independent numbers."""
        return sum(np.maximum(sign * x * low, sign * x * high) if low != high else sign * low * x
                   for x, low, high in zip(rows, self.lower[of], self.upper[of], strict=True))

    def nodes(self, cells):
        """Return combinations of velocities, with these numbers of cells for each joint, and their products."""
        if cells not in self._nodes:
            if math.prod(count + 1 for count in cells) > NODES:
                raise ValueError(f"it depends on velocities of {len(cells)} joints, which are more than "
                                 f"{int(math.log2(NODES))}: fix some of them by equal lower and upper values")
            each = [np.linspace(*self.qd[:, j], count + 1) if count else self.qd[:1, j]
                    for j, count in zip(self.joints, cells, strict=True)]
            qd = np.tile(self.qd.mean(axis=0), (math.prod(map(len, each)), 1))
            qd[:, self.joints] = np.array(list(itertools.product(*each)))
            products, which = np.unique(np.array([qd[:, j] * qd[:, k] for j, k in self.pairs]).T, axis=0,
                                        return_index=True)
            self._nodes[cells] = qd[which], products
        return self._nodes[cells]

    @property
    def grid(self):
        """The numbers of cells of the smallest grid of velocities."""
        return tuple(int(self.qd[0, j] < self.qd[1, j]) for j in self.joints)

    def at_nodes(self, rows, sign, cells):
        """Return for coefficients (r, m) the largest sign times effort over nodes, and a bound of its distance to that
        over all velocities, for each joint: at fixed other velocities the effort is a parabola, and (1) holds."""
        _, products = self.nodes(cells)
        bends = [self.pairs.index((j, j)) + self.first if (j, j) in self.pairs else None for j in self.joints]
        widths = [(self.qd[1, j] - self.qd[0, j]) / max(count, 1) * SPACING + POINTS * np.abs(self.qd[:, j]).max()
                  for j, count in zip(self.joints, cells, strict=True)]
        lost = np.array([np.zeros(rows.shape[1]) if bend is None else
                         np.maximum(-sign * rows[bend], 0.0) * (width * width / 4.0)
                         for bend, width in zip(bends, widths, strict=True)])
        step = max(1, 2 ** 21 // len(products))
        best = [(sign * products @ rows[self.first:, i:i + step]).max(axis=0) for i in range(0, rows.shape[1], step)]
        first = slice(self.first)
        still = self.relaxed(rows[first], sign, first)
        return np.concatenate([*best, np.zeros(0)]) + still, lost

    def state(self, rows, sign, cells):
        """Return the velocities and accelerations of the largest sign times effort at nodes, for coefficients (r,)."""
        qd, qdd = self.qd.mean(axis=0), self.qdd.mean(axis=0)
        for x, k in zip(rows[1:self.first], self.columns, strict=True):
            qdd[k] = self.qdd[int(sign * x > 0.0), k]
        if self.pairs:
            nodes, products = self.nodes(cells)
            qd = nodes[np.argmax(sign * products @ rows[self.first:])]
        return qd, qdd


class _Side:
    """The largest of sign times an effort over points: `known` is attained, at `best` if at one of these points, and
    `bound` is not exceeded."""

    def __init__(self, rates, sign, known, slack):
        self.rates, self.sign, self.known, self.bound, self.slack = rates, sign, known, -math.inf, slack
        self.best = None            # the number of a point in its chunk, the coefficients there, cells of velocities

    def add(self, rows, shape):
        """Take the coefficients at points into account. Return True if `best` is new, one of these points."""
        before, self.best = self.known, None
        relaxed = np.broadcast_to(self.rates.relaxed(rows, self.sign), shape).ravel()
        higher = np.flatnonzero(relaxed > self.known + self.slack)
        if len(higher):
            found = np.array([np.broadcast_to(x, shape).ravel()[higher] for x in rows])
            if self.rates.pairs:
                self._refine(found, higher)
            else:
                self._improve(relaxed[higher], found, higher, ())
        return self.known > before

    def _improve(self, value, rows, which, cells):
        k = int(np.argmax(value))
        if value[k] > self.known:
            self.known, self.best = float(value[k]), (which[k], rows[:, k], cells)

    def _refine(self, rows, which):
        """Grids of velocities for coefficients (r, m), finer for joints of which that is needed."""
        rates, cells = self.rates, self.rates.grid
        while rows.shape[1]:
            value, lost = rates.at_nodes(rows, self.sign, cells)
            bound = value + lost.sum(axis=0)
            self._improve(value, rows, which, cells)
            open_ = bound > self.known + self.slack
            finer = list(cells)
            for j in np.argsort(-lost[:, open_].max(axis=1, initial=0.0)):
                if lost[j, open_].max(initial=0.0) > self.slack / len(cells):
                    more = [*finer[:j], 2 * finer[j], *finer[j + 1:]]
                    finer = more if math.prod(x + 1 for x in more) <= NODES else finer
            if tuple(finer) == cells:
                self.bound = max(self.bound, float(bound[open_].max(initial=-math.inf)))
                return
            rows, which, cells = rows[:, open_], which[open_], tuple(finer)

    @property
    def largest(self):
        """The bound over all points that were added."""
        return max(self.known + self.slack, self.bound)


def bounds(robot: Robot, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
           payload: Mapping[str, Mapping[str, Any]] | None = None, gap: float = 0.2,
           max_points: float = 2 ** 25) -> Bounds:
    """Bound the joint efforts of inverse dynamics over all states of a box, with proof.

    Parameters
    ----------
    robot : Robot
        Robot whose joints have one degree of freedom each.
    q : array_like (2, n)
        Lower and upper positions, rad or m.
    qd, qdd : array_like (2, n), optional
        Lower and upper velocities and accelerations; by default the robot is at rest.
    payload : dict, optional
        Loads {link: {"mass": m, "com": c, "inertia": I}} as those of Robot.with_payload. The mass and the center of
        mass (3,) may be pairs of a lower and an upper value.
    gap : float, optional
        The wanted `excess` of the bounds over the exact range.
    max_points : float, optional
        Positions of the grid of one effort, at most, unless the box has more corners.

    Returns
    -------
    Bounds
        The bounds, and states that prove that they are not much too wide.

    Raises
    ------
    ValueError
        If an argument is invalid, an effort depends on too many variables, or numbers overflow. The message names the
        argument and the value, or the joint.
    TypeError
        If robot is no Robot.

    Warns
    -----
    BoundsWarning
        If bounds are valid, but their `excess` is above `gap`.

    Notes
    -----
    The largest effort over a grid of positions, plus a bound of what it can be between the points, from Bernstein's
    inequality for trigonometric polynomials; velocities likewise; accelerations are at their ends. The bounds include
    all rounding errors. Entries of joint screws and link placements within 1e-15 of 0, 1 or -1 are rounded to these, as
    in exported C. The robot's friction and external wrenches are not included. See docs/bounds.md.
    """
    if not isinstance(robot, Robot):
        raise TypeError(f"bounds takes a Robot, not the {type(robot).__name__} {checks.described(robot)}")
    checks.coordinates_alone("bounds", robot.model)
    n = robot.n
    boxes = {"q": _box("q", q, n), "qd": _box("qd", np.zeros((2, n)) if qd is None else qd, n),
             "qdd": _box("qdd", np.zeros((2, n)) if qdd is None else qdd, n)}
    gap, most = checks.positive("gap", gap), checks.positive("max_points", max_points)
    loads, inputs = _loads(robot, payload)
    inputs |= {str(k): tuple(boxes["q"][:, k]) for k in range(n)}
    found, named = [], "the efforts"
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            efforts = Efforts(robot, loads, bool(boxes["qd"].any() or boxes["qdd"].any()))
            for i in range(n):
                named = f"the effort of joint {robot.joint_names[i]!r}"
                found.append(_Effort(robot, efforts, i, inputs, boxes, loads).bounded(gap, most))
    except ArithmeticError:
        raise ValueError(f"bounds: {named}: {_overflow(boxes, inputs, payload)}") from None
    except ValueError as error:
        raise ValueError(f"bounds: {named}: {error}") from None
    lower, upper, lowest, highest, excess = (np.array([row[k] for row in found]).reshape(n) for k in range(5))
    if wide := [f"{robot.joint_names[i]!r} has {excess[i]:.3g}" for i in np.flatnonzero(excess > gap)]:
        warnings.warn(f"bounds: they are valid, but the excess of {len(wide)} of {n} joints is above gap={gap:g}: "
                      f"{', '.join(wide)}. A larger max_points than {most:g}, or a smaller box, may lower it",
                      BoundsWarning, stacklevel=2)
    return Bounds(lower, upper, lowest, highest, [row[5] for row in found], excess, sum(row[6] for row in found))


def _overflow(boxes, inputs, payload):
    """Return the sizes of the numbers that overflow, and what to change."""
    largest = ", ".join(f"{name} up to {np.abs(x).max():.3g}" for name, x in boxes.items())
    narrowest = min((float(high) - float(low) for low, high in inputs.values() if low < high), default=math.inf)
    return (f"numbers overflow, for {largest}, payload {checks.described(payload)}, and the narrowest interval "
            f"{narrowest:.3g} wide: use smaller numbers, and equal lower and upper values for an interval so narrow")


def _box(name, x, n):
    """Return the ends (2, n) of a box."""
    a = np.array(checks.finite_numbers(name, x, 2, n), dtype=float)
    if a.shape != (2, n):
        raise ValueError(f"{name} has shape {a.shape}, must be (2, {n}): the lower and the upper values")
    for k in np.flatnonzero(a[0] > a[1])[:1]:
        raise ValueError(f"{name}: the lower value {a[0, k]:g} of joint {k} is above the upper one, {a[1, k]:g}")
    return a


def _loads(robot, payload):
    """Return the loads for Efforts, and the ends {name of an input: (lower, upper)} of their uncertain numbers."""
    loads, inputs = {}, {}
    if payload is not None and not isinstance(payload, Mapping):
        raise ValueError(f"payload {checks.described(payload)} must be a dict of dicts, {{link: {{'mass': m}}}}")
    for link, load in (payload or {}).items():
        checks.known_link(link, robot.link_names, robot.joint_names)
        if not isinstance(load, Mapping) or "mass" not in load or not set(load) <= {"mass", "com", "inertia"}:
            raise ValueError(f"payload of {link!r}: {checks.described(load)} must be a dict with 'mass', and "
                             "optionally 'com' and 'inertia'")
        mass = _pair(f"payload of {link!r}: mass", load["mass"], ())
        com = _pair(f"payload of {link!r}: com", load.get("com", np.zeros(3)), (3,))
        for m in mass:                                                      # refuses what is no rigid body
            robot.with_payload(link, m, com[0], load.get("inertia"))
        row = []
        for name, low, high in zip(("mass", "x", "y", "z"), [mass[0], *com[0]], [mass[1], *com[1]], strict=True):
            row.append(float(low) if low == high else f"{name} {link}")
            inputs |= {} if low == high else {row[-1]: (float(low), float(high))}
        inertia = np.zeros((3, 3)) if load.get("inertia") is None else np.asarray(load["inertia"], dtype=float)
        loads[link] = [*row, *map(float, inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]])]
    return loads, inputs


def _ends(variable, low, high):
    """Return the ends of a variable, rounded outward."""
    if variable.rate in (0.0, 1.0):
        return low, high
    wider = 4.0 * ROUNDING * variable.rate * max(abs(low), abs(high))
    return variable.rate * low - wider, variable.rate * high + wider


def _pair(name, x, shape):
    """Return the lower and upper value of a number or vector, or of a pair of them."""
    a = np.array(checks.finite_numbers(name, x), dtype=float)
    if a.shape not in (shape, (2, *shape)):
        raise ValueError(f"{name} has shape {a.shape}, must be {shape}, or {(2, *shape)} for lower and upper values")
    a = np.broadcast_to(a, (2, *shape))
    if (a[0] > a[1]).any():
        raise ValueError(f"{name}: a lower value of {a[0].tolist()} is above the upper one of {a[1].tolist()}")
    return a


def _acts(x):
    """Return False for a coefficient that is 0."""
    return isinstance(x, Traced) or x != 0


class _Effort:
    """The effort of joint i over a box. inputs {name: (lower, upper)} of positions and payloads."""

    def __init__(self, robot, efforts, i, inputs, boxes, loads):
        self.robot, self.i, self.inputs, self.boxes, self.loads = robot, i, inputs, boxes, loads
        fixed = {name: low for name, (low, high) in inputs.items() if low == high}
        moving, accelerated = boxes["qd"].any(axis=0), boxes["qdd"].any(axis=0)
        columns = [k for k in range(robot.n) if accelerated[k] and _acts(efforts.mass_matrix[i, k])]
        kept = [(pair, x) for pair, x in zip(efforts.pairs, efforts.christoffel[i], strict=True)
                if moving[list(pair)].all() and _acts(x)]
        results = [efforts.gravity[i], *(efforts.mass_matrix[i, k] for k in columns), *(x for _, x in kept)]
        self.coefficients = Coefficients(efforts.trace, results, fixed)
        self.rates = _Rates(columns, [pair for pair, _ in kept], boxes["qd"], boxes["qdd"])
        self.axes = [Axis(variable, *_ends(variable, *inputs[variable.input]), degree) for variable, degree in
                     zip(self.coefficients.variables, self.coefficients.degrees, strict=True)]
        largest = {name: max(abs(low), abs(high)) for name, (low, high) in inputs.items()}
        self.sizes = self.coefficients.sizes_and_errors(largest)
        # MARGIN also covers the sums of less than 100 coefficients times products of rates.
        self.error = float(self.rates.largest @ (self.sizes[:, 1] + MARGIN * self.sizes[:, 0])) * SPACING

    def bounded(self, gap, most):
        """Return lower, upper, lowest and highest effort, the excess, the states of the two, and the points."""
        states = [self._searched(sign) for sign in (-1.0, 1.0)]
        lowest, highest = (self._effort(state) for state in states)
        scale = max(highest - lowest, 1e-9 * float(self.rates.largest @ self.sizes[:, 0]))
        loss = 0.44 * gap * scale
        A = curvatures(self.coefficients, self.axes, self.rates.largest, self.sizes, loss)
        cells = cells_for(self.axes, [1] * len(self.axes), A, loss, most)
        grid = [axis.points(count) for axis, count in zip(self.axes, cells, strict=True)]
        sides = [_Side(self.rates, sign, known, 0.04 * gap * max(highest - lowest, 0.0))
                 for sign, known in ((-1.0, -lowest), (1.0, highest))]
        for points, rows in swept(self.coefficients, self.axes, grid):
            shape = np.broadcast_shapes((1,) * len(self.axes), *(x.shape for x in points.values()))
            for k, side in enumerate(sides):
                if side.add(rows, shape):
                    which, coefficients, velocities = side.best
                    x = {variable.input: float(np.broadcast_to(y, shape).flat[which]) / (variable.rate or 1.0)
                         for variable, y in points.items()}
                    state = self._state(x, coefficients, side.sign, velocities)
                    states[k] = max(states[k], state, key=lambda state, sign=side.sign: sign * self._effort(state))
        lowest, highest = map(self._effort, states)
        between = sum(axis.spacing(count) ** 2 * x / 8.0 for axis, count, x in zip(self.axes, cells, A, strict=True))
        lower, upper = (side.sign * (side.largest + (between + self.error) * SPACING) for side in sides)
        lower, upper = float(lower - abs(lower) * ROUNDING), float(upper + abs(upper) * ROUNDING)
        wide, known = upper - lower, highest - lowest
        if not np.isfinite((wide, known)).all():
            raise OverflowError
        excess = 0.0 if wide <= 1e-9 * (1.0 + abs(upper)) else wide / known - 1.0 if known > 0.0 else math.inf
        return lower, upper, lowest, highest, excess, tuple(states), math.prod(map(len, grid))

    def _searched(self, sign):
        """Return the state (q, qd, qdd, payload) of a large sign times effort: random points, and others near them."""
        rng = np.random.default_rng(0)
        names = list(dict.fromkeys(axis.variable.input for axis in self.axes))
        low, high = np.array([self.inputs[name] for name in names]).reshape(-1, 2).T[:, :, None]
        x, reach = rng.uniform(low, high, (len(names), SAMPLES)), high - low
        for _ in range(16):
            points = {axis.variable: (axis.variable.rate or 1.0) * x[names.index(axis.variable.input)]
                      for axis in self.axes}
            rows = np.array([np.broadcast_to(row, x.shape[1]) for row in self.coefficients(points)])
            value = self.rates.at_nodes(rows, sign, self.rates.grid)[0] if self.rates.pairs else (
                np.broadcast_to(self.rates.relaxed(rows, sign), x.shape[1]))
            best = np.argsort(-value)[:BEST]
            found, coefficients = x[:, best[0]], rows[:, best[0]]
            reach = 0.6 * reach
            near = x[:, np.tile(best, SAMPLES // BEST // 8)]
            near = np.clip(near + 0.3 * reach * rng.standard_normal(near.shape), low, high)
            x = np.concatenate([x[:, best], near], axis=1)
        return self._state(dict(zip(names, map(float, found), strict=True)), coefficients, sign, self.rates.grid)

    def _state(self, x, coefficients, sign, cells):
        """Return the state of the largest sign times effort for these numbers of variables."""
        known = {name: 0.5 * (a + b) for name, (a, b) in self.inputs.items()} | {
            name: min(max(value, self.inputs[name][0]), self.inputs[name][1]) for name, value in x.items()}
        q = np.array([known[str(k)] for k in range(self.robot.n)])
        numbers = {link: np.array([known.get(x, x) for x in row]) for link, row in self.loads.items()}
        payload = {link: {"mass": x[0], "com": x[1:4], "inertia": x[[[4, 5, 7], [5, 6, 8], [7, 8, 9]]]}
                   for link, x in numbers.items()}
        return (q, *self.rates.state(coefficients, sign, cells), payload)

    def _effort(self, state):
        """Return the effort in a state, by the robot's inverse dynamics."""
        q, qd, qdd, payload = state
        robot = self.robot
        for link, load in payload.items():
            robot = robot.with_payload(link, **load)
        return float(robot.inverse_dynamics(q, qd, qdd)[self.i])
