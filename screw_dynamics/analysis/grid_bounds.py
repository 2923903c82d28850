"""Proven bounds of efforts over boxes, from their values on a grid and bounds of their second derivatives.

A function f of one variable that is largest at x* has f(y) >= f(x*) - h^2 A / 8 at the nearest point y of a grid with
spacing h that holds the ends of the interval: either x* is an end, or f'(x*) = 0 and |f''| <= A. Applied to one
variable after the other, each time to the function of the variables that are left:

  max f over the box <= max f over the grid + sum_j h_j^2 A_j / 8,    A_j >= sup |d^2 f / dx_j^2|             (1)

Let D be the box with each interval of an angle replaced by the whole circle. A_j follows from a grid over D, on which
Bernstein's inequality |p''| <= d^2 sup |p| of trigonometric polynomials of degree d holds, and Markov's |p''| <= d^2
(d^2 - 1) / 3 sup |p| / r^2 of polynomials on an interval of radius r. k_j is the factor of x_j in either. Then
|d^2/dx_k^2 d^2/dx_j^2 f| <= min(k_k A_j, k_j A_k), and (1) for d^2 f / dx_j^2 in place of f bounds A_j by its values on
the grid, by the other A, and by itself. For an angle M. Riesz' f(x* + y) >= f(x*) cos(d y) is the alternative: a factor
1 / cos(d h / 2) in place of the sum.

P. Borwein and T. Erdelyi, Polynomials and Polynomial Inequalities, Springer (1995), has the inequalities."""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .effort_polynomials import ROUNDING, Coefficients, Variable

SPACING = 1.0 + 2.0 ** -30                      # more than the relative rounding errors of spacings
POINTS = 16.0 * ROUNDING                        # relative: more than the rounding errors of two points of a grid
COARSE = 2 ** 21                                # points, at most, of the grid that bounds second derivatives
MOST = 2 ** 24                                  # more are refused
CHUNK = 2 ** 15                                 # points that are computed at once


class Axis(NamedTuple):
    """A variable between two ends, and the degree of the efforts in it."""

    variable: Variable
    lower: float
    upper: float
    degree: int

    @property
    def is_angle(self) -> bool:
        """True if efforts are trigonometric polynomials of the variable."""
        return self.variable.rate > 0.0

    @property
    def whole(self) -> Axis:
        """The axis over its part of D."""
        return self._replace(lower=0.0, upper=7.0) if self.is_angle else self

    @property
    def closed(self) -> bool:
        """True for a whole circle."""
        return self.is_angle and self.upper - self.lower >= 2.0 * math.pi

    @property
    def factor(self) -> float:
        """The factor k of Bernstein's or Markov's inequality."""
        d = float(self.degree) ** 2
        return d if self.is_angle else d * (d - 1.0) / 3.0 * 4.0 / (self.upper - self.lower) ** 2 * SPACING

    def points(self, cells: int) -> np.ndarray:
        """Return the points of a grid with this number of cells."""
        if self.closed:
            return self.lower + 2.0 * math.pi / cells * np.arange(cells)
        return np.linspace(self.lower, self.upper, cells + 1)

    def spacing(self, cells: int) -> float:
        """Return a bound of the spacing of these points, which are rounded."""
        return (2.0 * math.pi if self.closed else self.upper - self.lower) / cells * SPACING + POINTS * max(
            abs(self.lower), abs(self.upper))

    def second_difference(self, cells: int) -> np.ndarray:
        """Return the matrix that maps the values of a polynomial at the points of the whole axis to its second
        derivative there."""
        x = self.points(cells)
        if self.is_angle:
            k = np.arange(1, self.degree + 1)
            return -2.0 / cells * np.einsum("k,kmn->mn", k ** 2.0, np.cos(k[:, None, None] * (x[:, None] - x)))
        y = np.linspace(-1.0, 1.0, len(x))
        bend = np.polynomial.polynomial.polyder(np.eye(self.degree + 1), 2)
        curved = np.polynomial.polynomial.polyvander(y, len(bend) - 1) @ bend
        return curved @ np.linalg.pinv(np.vander(y, self.degree + 1, increasing=True)) * (
            2.0 / (self.upper - self.lower)) ** 2


def cells_for(axes: list[Axis], least: list[int], A: np.ndarray, loss: float, most: float) -> list[int]:
    """Return cells of each axis, at least `least`, whose sum in (1) is below `loss` if `most` points allow that."""
    cells = least

    def lost(j, count):
        return axes[j].spacing(count) ** 2 * A[j] / 8.0
    while axes and sum(lost(j, count) for j, count in enumerate(cells)) > loss:
        more = [math.ceil(1.1 * count) for count in cells]                     # at least one more
        gains = [(lost(j, cells[j]) - lost(j, more[j])) / math.log(more[j] / cells[j]) for j in range(len(axes))]
        j = int(np.argmax(gains))
        if not gains[j] > 0.0:                                                  # points are as close as numbers are
            break
        finer = [*cells[:j], more[j], *cells[j + 1:]]
        if points_of(axes, finer) > most:
            break
        cells = finer
    return cells


def points_of(axes: list[Axis], cells: list[int]) -> float:
    """Return the number of points of a grid."""
    return math.prod(float(count + (not axis.closed)) for axis, count in zip(axes, cells, strict=True))


def curvatures(coefficients: Coefficients, axes: list[Axis], weights: np.ndarray, sizes: np.ndarray, loss: float
               ) -> np.ndarray:
    """Return bounds A_j of the second derivatives over D of sum_r w_r f_r for all |w_r| <= weights, f the coefficients.

    sizes (r, 2): bounds of the coefficients over D, and of their rounding errors. Grids over D become finer as long as
    that saves points of a grid over the box for which the sum in (1) is below `loss`."""
    whole = [axis.whole for axis in axes]
    factors = np.array([axis.factor for axis in whole])
    A = factors * (weights @ sizes[:, 0])
    least = [2 * axis.degree + 1 if axis.is_angle else max(axis.degree, 1) for axis in whole]
    cells, done = [4 * axis.degree if axis.is_angle else count for axis, count in zip(whole, least, strict=True)], 0.0
    cells = cells if points_of(whole, cells) <= COARSE else least
    if points_of(whole, cells) > MOST:
        raise ValueError(f"it depends on {len(axes)} variables, positions and numbers of payloads, which takes more "
                         f"than {MOST} points: fix some of them by equal lower and upper values")
    while True:
        grid = [axis.points(count) for axis, count in zip(whole, cells, strict=True)]
        seen, level = _seen(coefficients, whole, cells, grid, weights, sizes)
        A = _settled(whole, cells, factors, seen, A)
        points = min(points_of(axes, cells_for(axes, [1] * len(axes), A, loss, math.inf)) / 4.0, COARSE)
        if points < 2.0 * done or not axes:
            return A
        cells = cells_for(whole, least, A, 0.02 * level, points)
        done = max(points, points_of(whole, cells))


def _seen(coefficients, axes, cells, grid, weights, sizes):
    """Return bounds of the second derivatives at the points of a grid, and the largest sum of weighted magnitudes."""
    seen, level = np.zeros(len(axes)), 0.0
    D = [axis.second_difference(count) for axis, count in zip(axes, cells, strict=True)]
    # Slices of the first axis for derivatives by the others, then of the last for that by the first: less memory.
    for sliced, by in ((0, range(1, len(axes))), (len(axes) - 1, range(min(len(axes), 1)))):
        for x in grid[sliced] if len(axes) > 1 and len(by) else grid[:1]:
            part = [np.atleast_1d(x) if j == sliced else y for j, y in enumerate(grid)]
            found = coefficients(meshed(axes, part))
            level = max(level, float(np.max(sum(w * np.abs(f) for w, f in zip(weights, found, strict=True)))))
            for j in by:
                total = sum((w * np.abs(np.moveaxis(np.tensordot(D[j], f, (1, j)), 0, j))
                             for w, f in zip(weights, found, strict=True) if f.ndim and f.shape[j] > 1), np.zeros(1))
                seen[j] = max(seen[j], float(np.max(total)))
    norms = np.array([np.abs(x).sum(axis=1).max() for x in D])
    # The rounding errors of the coefficients, of D and of these sums.
    return (seen + norms * float(weights @ (sizes[:, 1] + 2.0 ** -40 * sizes[:, 0]))) * SPACING, level


def _settled(axes, cells, factors, seen, A):
    """Return the bounds A improved by the second derivatives that are seen on a grid over D."""
    A = A.copy()
    h = np.array([axis.spacing(count) for axis, count in zip(axes, cells, strict=True)])
    cosine = np.array([math.cos(axis.degree * x / 2.0) if axis.closed and axis.degree * x < math.pi else 0.0
                       for axis, x in zip(axes, h, strict=True)])
    for _ in range(50):
        for j, bound in enumerate(seen):
            add = h ** 2 / 8.0 * np.minimum(factors[j] * A, factors * A[j])
            for k in np.argsort(-add):                  # the order is free
                by_riesz = bound / cosine[k] if cosine[k] else math.inf
                bound = min(by_riesz, bound + add[k])
            A[j] = min(A[j], bound * SPACING)
    return A


def meshed(axes: list[Axis], grid: list[np.ndarray]) -> dict[Variable, np.ndarray]:
    """Return the points of each variable, shaped to broadcast."""
    return {axis.variable: x.reshape([-1 if k == j else 1 for k in range(len(axes))])
            for j, (axis, x) in enumerate(zip(axes, grid, strict=True))}


def swept(coefficients: Coefficients, axes: list[Axis], grid: list[np.ndarray]) -> Iterator[tuple[dict, list]]:
    """Yield all points of a grid and the coefficients there, as many at once as CHUNK allows, as `meshed` has them."""
    inner, points = len(axes), 1
    while inner and points * len(grid[inner - 1]) <= CHUNK:
        inner -= 1
        points *= len(grid[inner])
    parts = [[x] for x in grid]
    for j in range(inner):
        parts[j] = np.array_split(grid[j], max(1, math.ceil(len(grid[j]) * points / CHUNK)) if j == inner - 1
                                  else len(grid[j]))
    mesh = meshed(axes, grid)
    ahead = coefficients.ahead({axis.variable: mesh[axis.variable] for axis in axes[inner:]})
    for chunk in itertools.product(*parts):
        points = meshed(axes, list(chunk))
        yield points, coefficients(points, ahead)
