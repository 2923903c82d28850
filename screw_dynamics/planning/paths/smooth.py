"""Near-optimal motion with bounded jerk along a path.

The path gets another parameter z, s = start + length (10 z^3 - 15 z^4 + 6 z^5), whose first two derivatives vanish at
the ends, as those of a motion by time that starts from rest with bounded jerk. Hence y = z'^2 is smooth and > 0 on all
of the path, where s'^2 is not smooth at the ends. y is a cubic spline. The time is the integral of y^-1/2, which is
convex. Accelerations and efforts are linear in y. The jerk is y^1/2 (p_z y_zz / 2 + 3/2 p_zz y_z + p_zzz y): its bound
J y^-1/2 on the bracket is convex, where it should be concave. It is replaced by its tangent at the motion before, which
is below it: the solution of each linear program is within the limits, and faster than the one before, until
convergence. This is the convex-concave procedure, A. L. Yuille, A. Rangarajan (2003). It ends at a local optimum, not
provably the global one."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .path import Path
from .problem import Problem, Use, used
from .rows import Rows
from .time_law import Along

PER_SPAN = 4            # points of each spline span at which limits hold in the linear programs
DENSE = 16              # points of each span at which the final motion is slowed down to the limits
PASSES, CHANGE = 40, 1e-4       # largest number of passes, and the relative change of the time at the end
ROUNDS, BEYOND = 3, 5e-4        # rounds; points at which limits are exceeded by this share are added in each
SIDE = 1e-9             # distance of the two sides of a break from it
TRUST = 4.0             # largest factor of change of y in a pass
GAUSS = np.polynomial.legendre.leggauss(4)


class Ease(NamedTuple):
    """s(z) and its first three derivatives at some z."""

    s: np.ndarray
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray


def ease(z: np.ndarray, start: float, length: float) -> Ease:
    """Return the quintic from rest to rest, whose first two derivatives vanish at 0 and 1."""
    return Ease(start + length * z**3 * (10.0 - 15.0 * z + 6.0 * z**2), length * 30.0 * z**2 * (1.0 - z) ** 2,
                length * 60.0 * z * (1.0 - z) * (1.0 - 2.0 * z), length * 60.0 * (1.0 - 6.0 * z + 6.0 * z**2))


def inverse_ease(path: Path, s: np.ndarray) -> np.ndarray:
    """Return z (...) of parameters s (...) of a path, by bisection."""
    low, high = np.zeros_like(s), np.ones_like(s)
    for _ in range(52):
        middle = 0.5 * (low + high)
        before = ease(middle, path.start, path.length).s < s
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return low


class SmoothLaw:
    """The time law of y = z'^2, a SciPy spline on [0, 1] with equal spans."""

    def __init__(self, y, spans: int, start: float, length: float):
        from scipy.interpolate import BPoly
        self._y, self._rates = y, (y.derivative(1), y.derivative(2))
        self._start, self._length = start, length
        z = np.linspace(0.0, 1.0, DENSE * spans + 1)
        nodes, weights = GAUSS
        half = 0.5 * np.diff(z)
        inside = 0.5 * (z[1:] + z[:-1])[:, None] + half[:, None] * nodes
        self.t = np.append(0.0, np.cumsum((half[:, None] * weights / np.sqrt(y(inside))).sum(axis=-1)))
        self.s = ease(z, start, length).s
        self._z = BPoly.from_derivatives(self.t, np.stack([z, np.sqrt(y(z)), 0.5 * self._rates[0](z)], axis=-1))

    def at(self, t: np.ndarray) -> Along:
        """Return the position along the path, with its derivatives, at times t (...)."""
        return self.along(np.clip(self._z(np.clip(t, 0.0, self.t[-1])), 0.0, 1.0))

    def along(self, z: np.ndarray) -> Along:
        """Return the position along the path, with its derivatives, at z (...)."""
        y, yz, yzz = (f(z) for f in (self._y, *self._rates))
        return _along(ease(z, self._start, self._length), y, yz, yzz)


def _along(to: Ease, y, yz, yzz) -> Along:
    return Along(to.s, to.first * np.sqrt(y), to.second * y + 0.5 * to.first * yz,
                 np.sqrt(y) * (to.third * y + 1.5 * to.second * yz + 0.5 * to.first * yzz))


class _Points:
    """Points z (K,) of a path, the limits there, and a spline basis (K, M) with two derivatives."""

    def __init__(self, problem: Problem, basis, z: np.ndarray):
        self.to = ease(z, problem.path.start, problem.path.length)
        self.weights = 0.5 * (np.diff(z, prepend=0.0) + np.diff(z, append=1.0))     # of the trapezoidal rule
        self.basis = [basis(z), basis.derivative(1)(z), basis.derivative(2)(z)]
        self.rows: Rows = problem.rows(self.to.s)
        self.jerk_rows, self._problem = np.flatnonzero(np.isfinite(problem.limits.jerk)), problem
        path, (_, d1, d2, d3) = problem.path.derivatives(self.to.s), (x[:, None] for x in self.to)
        first, second, third = (x[:, self.jerk_rows] for x in path[1:])
        # Coefficients of y, y_z and y_zz in the bracket of the jerk.
        self.jerk = (third * d1**3 + 3.0 * second * d1 * d2 + first * d3, 1.5 * (second * d1**2 + first * d2),
                     0.5 * first * d1)

    def use(self, c: np.ndarray) -> Use:
        """Return the shares of the limits of the motion with coefficients c (M,)."""
        along = _along(self.to, *(B @ c for B in self.basis))
        return used(self.rows, along, self._problem.jerk(along))

    def inequalities(self, c: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return linear inequalities that imply all limits for motions near c.

        Coefficients (3, r) of y, y_z and y_zz, lower and upper bounds (r,), and the indices of points (r,)."""
        y, rows, (_, d1, d2, _) = self.basis[0] @ c, self.rows, (x[:, None] for x in self.to)
        root = np.sqrt(y)[:, None]
        k = 0.5 * rows.k * d1                                   # k s' = k d1 sqrt(y), about k (root + y / root)
        parts = [(rows.a * d2 + rows.b * d1**2 + k / root, 0.5 * rows.a * d1, np.zeros_like(rows.a),
                  -rows.limit - rows.c - k * root, rows.limit - rows.c - k * root)]
        limit, (j0, j1, j2) = self._problem.limits.jerk[self.jerk_rows], self.jerk
        for sign in (1.0, -1.0):        # sign bracket + limit / 2 y^-3/2 y <= 3/2 limit y^-1/2
            parts.append((sign * j0 + 0.5 * limit / root**3, sign * j1, sign * j2, np.full_like(j0, -np.inf),
                          1.5 * limit / root))
        speed = rows.speed.min(axis=-1, initial=np.inf)
        with np.errstate(divide="ignore"):
            most = np.minimum((speed / self.to.first) ** 2, TRUST * y)
        one = np.ones((len(y), 1))
        parts.append((one, 0.0 * one, 0.0 * one, (y / TRUST)[:, None], most[:, None]))
        of = [np.concatenate([part[i] for part in parts], axis=-1) for i in range(5)]
        points = np.broadcast_to(np.arange(len(y))[:, None], of[0].shape)
        return np.stack([x.ravel() for x in of[:3]]), of[3].ravel(), of[4].ravel(), points.ravel()


def smoothed(problem: Problem, spans: int, s: np.ndarray) -> SmoothLaw:
    """Return the motion with bounded jerk from rest to rest, a spline of `spans` spans, which is also within the limits
    at parameters s. Raises ValueError if none is found from a slow initial motion."""
    from scipy.interpolate import BSpline
    inner, breaks = np.linspace(0.0, 1.0, spans + 1), inverse_ease(problem.path, problem.path.breaks)
    nearest = np.clip(np.round(spans * breaks).astype(int), 1, spans - 1)
    inner[nearest] = breaks         # the fastest motion jumps where the path does
    knots = np.concatenate([np.zeros(3), np.sort(inner), np.ones(3)])
    M = len(knots) - 4
    basis = BSpline(knots, np.eye(M), 3)
    # On both sides of each break, where the third derivative of a cubic spline jumps.
    sides = np.concatenate([breaks - SIDE, breaks + SIDE])
    z, fine = (np.unique(np.concatenate([np.linspace(0.0, 1.0, k * spans + 1), sides, more])) for k, more in (
        (PER_SPAN, sides), (DENSE, inverse_ease(problem.path, s))))
    dense, c = _Points(problem, basis, fine), np.ones(M)
    for round_ in range(ROUNDS):
        at = _Points(problem, basis, z)
        c = _within(at, c) if round_ else _slow(at, c, problem)
        c = _fastest(at, c)
        beyond = dense.use(c).share.max(axis=-1) > 1.0 + BEYOND
        if not beyond.any():
            break
        z = np.union1d(z, fine[beyond])
    return SmoothLaw(BSpline(knots, _within(dense, c), 3), spans, problem.path.start, problem.path.length)


def _time(at: _Points, c: np.ndarray) -> float:
    """Return the duration of a motion, by the trapezoidal rule."""
    return float(at.weights @ (at.basis[0] @ c) ** -0.5)


def _fastest(at: _Points, c: np.ndarray) -> np.ndarray:
    """Return the limit of the convex-concave procedure from a motion within the limits."""
    time = _time(at, c)
    for _ in range(PASSES):
        c, before = _faster(at, c), time
        time = _time(at, c)
        if time > before * (1.0 - CHANGE):
            break
    return c


def _slow(at: _Points, c: np.ndarray, problem: Problem) -> np.ndarray:
    """Return a multiple of a motion that is within the limits, the fastest up to a factor of 2."""
    for shrink in (4.0, 0.25):
        for _ in range(200):
            within = at.use(c).share.max() <= 1.0
            if within == (shrink < 1.0):
                break
            c = c * shrink
    if at.use(c).share.max() > 1.0:
        use = at.use(c)
        point, row = np.unravel_index(int(np.argmax(use.share)), use.share.shape)
        raise ValueError("no slow motion, as a start of the search for bounded jerk, is within the limits: at "
                         f"{problem.path.place(at.to.s[point])} it takes {use.share[point, row]:.4g} of the "
                         f"{use.rows[row]}, {use.rows[row].limit:g}")
    return c


def _faster(at: _Points, c: np.ndarray) -> np.ndarray:
    """Return the solution of the next linear program, if it is faster."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, vstack
    coefficients, lower, upper, points = at.inequalities(c)
    largest = np.abs(coefficients).max(axis=0)
    scale = 1.0 / np.where(largest > 0.0, largest, 1.0)         # 0 at ends, where nothing moves
    basis = [csr_array(B) for B in at.basis]
    A = sum(csr_array((scale * x)[:, None] * B[points]) for x, B in zip(coefficients, basis, strict=True))
    y = at.basis[0] @ c
    gain = (at.weights * y**-1.5) @ at.basis[0]
    below = np.isfinite(lower)
    both = vstack([A, -A[below]])
    size = np.abs(c).max()
    found = linprog(-gain / np.abs(gain).max(), both, np.concatenate([scale * upper, -(scale * lower)[below]]) / size,
                    bounds=(None, None), method="highs")
    if found.x is None:
        return c
    step = size * found.x - c
    shares = np.linspace(0.0, 1.0, 21)[1:]
    return c + min(shares, key=lambda share: _time(at, c + share * step)) * step


def _within(dense: _Points, c: np.ndarray) -> np.ndarray:
    """Return the motion, slowed down uniformly until it is within the limits at all points."""
    low, high = 0.25, 1.0
    if dense.use(c).share.max() <= 1.0:
        return c
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if dense.use(middle * c).share.max() <= 1.0 else (low, middle)
    if low == 0.25:
        raise ValueError("no motion of bounded jerk within the limits was found: slow motions violate them")
    return low * c
