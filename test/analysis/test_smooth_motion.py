"""The smoothest motion through points: against SciPy's splines, its least integral, and what it refuses."""
from fractions import Fraction
from math import perm

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from screw_dynamics.analysis.smooth_motion import SmoothMotion
from support.matrices import error


def through(times, order, rng, n=2):
    """The motion through random points, and the values that were given."""
    values = rng.standard_normal((5, len(times), n))
    return SmoothMotion(times, values, order), values


def test_through_positions_evenly_apart_it_is_the_spline_of_degree_nine(rng):
    times = 0.3 * np.arange(7)
    motion, values = through(times, [4, 0, 0, 0, 0, 0, 4], rng)
    ends = [[(d, values[d, k]) for d in range(1, 5)] for k in (0, -1)]
    spline, t = make_interp_spline(times, values[0], 9, bc_type=ends), np.linspace(0.0, times[-1], 50)
    for d, found in enumerate(motion.sample(t)):
        assert error(found, spline(t, d)) < 1e-8


def test_free_derivatives_are_those_of_exact_arithmetic(rng):
    """The linear equations of the least sum, of whole numbers and fractions."""
    spans, order = [Fraction(1, 2), Fraction(5, 8), Fraction(1, 4), Fraction(5, 8)], [4, 0, 1, 0, 4]
    motion, values = through(np.cumsum([0.0, *map(float, spans)]), order, rng, 1)
    ends = [[Fraction(perm(j, d)) if u and j >= d or j == d else Fraction(0) for j in range(10)]
            for u in (0, 1) for d in range(5)]
    into = np.array(_solved(ends, [[Fraction(int(i == j)) for j in range(10)] for i in range(10)]), dtype=object)
    squares = np.array([[Fraction(perm(a, 5) * perm(b, 5), a + b - 9) if min(a, b) > 4 else Fraction(0)
                         for b in range(10)] for a in range(10)], dtype=object)
    form = np.zeros((25, 25), dtype=object)
    for s, h in enumerate(spans):
        scale = np.array([h**(i % 5) for i in range(10)], dtype=object)
        form[5 * s:5 * s + 10, 5 * s:5 * s + 10] += (into.T @ squares @ into) * np.outer(scale, scale) / h**5
    free = np.array([d > order[k] for k in range(5) for d in range(5)])
    given = np.array([Fraction(x) for x in values[:, :, 0].T.ravel()], dtype=object)
    found = _solved(form[np.ix_(free, free)], [[x] for x in -form[np.ix_(free, ~free)] @ given[~free]])
    expected = np.array([float(x) for x, in found])
    np.testing.assert_allclose(motion.values[:, :, 0].T.ravel()[free], expected, rtol=1e-10)


def _solved(A, B):
    """A^-1 B, of fractions, by elimination."""
    rows = [[*a, *b] for a, b in zip(A, B, strict=True)]
    for c in range(len(rows)):
        pivot = next(r for r in range(c, len(rows)) if rows[r][c])
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [x / rows[c][c] for x in rows[c]]
        rows = [row if r == c or not row[c] else [x - row[c] * y for x, y in zip(row, rows[c], strict=True)]
                for r, row in enumerate(rows)]
    return [row[len(rows):] for row in rows]


def test_it_has_the_values_that_were_given_and_four_continuous_derivatives(rng):
    times, order = np.array([0.5, 0.9, 1.0, 1.7, 2.5]), np.array([4, 2, 0, 1, 4])
    motion, values = through(times, order, rng)
    largest = abs(motion.sample(np.linspace(0.5, 2.5, 200))).max(axis=(1, 2))
    at, before = motion.sample(times), motion.sample(times[1:] - 1e-9)
    for k, o in enumerate(order):
        assert (abs(at[:o + 1, k] - values[:o + 1, k]).max(axis=1) < 1e-12 * largest[:o + 1]).all()
    assert (abs(before - at[:, 1:]).max(axis=(1, 2)) < 1e-6 * largest).all()
    for d in range(4):      # each is the derivative of the one before
        ahead, behind = (motion.sample(1.3 + s)[d] for s in (1e-5, -1e-5))
        assert error((ahead - behind) / 2e-5, motion.sample(1.3)[d + 1]) < 1e-6


def test_no_other_motion_through_the_points_has_less_of_the_weighted_sum(rng):
    times, order = np.array([0.0, 0.3, 1.0]), [4, 1, 4]
    motion, values = through(times, order, rng, 1)

    def weighted(changed):
        other, total = SmoothMotion(times, changed, [4, 4, 4]), 0.0
        for a, b in zip(times[:-1], times[1:], strict=True):
            t = np.linspace(a, b, 8)[1:-1]          # the fourth derivative is a polynomial of degree 5
            fifth = np.polynomial.Polynomial.fit(t, other.sample(t)[4, :, 0], 5).deriv()
            square = (fifth * fifth).integ()
            total += (b - a)**4 * (square(b) - square(a))
        return total
    own = motion.values.copy()
    least = weighted(own)
    for d in (2, 3, 4):
        for sign in (1.0, -1.0):
            other = own.copy()
            other[d, 1] += sign * (1.0 + abs(other[d, 1])) * 0.1
            assert weighted(other) > least
    assert error(own[:2, 1], values[:2, 1]) < 1e-12


def test_from_rest_to_rest_it_is_the_step_of_degree_nine():
    values = np.zeros((5, 2, 1))
    values[0, 1] = 1.0
    motion = SmoothMotion([0.0, 2.0], values, [4, 4])
    step = np.polynomial.Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])
    t = np.linspace(0.0, 2.0, 9)
    for d in range(5):
        assert error(motion.sample(t)[d, :, 0], step.deriv(d)(t / 2.0) / 2.0**d) < 1e-10
    assert motion.end == 2.0


def test_outside_it_rests():
    motion = SmoothMotion([1.0, 2.0], np.ones((5, 2, 1)), [4, 4])
    for t in (0.9, 2.1):
        np.testing.assert_allclose(motion.sample(t)[:, 0], [1.0, 0.0, 0.0, 0.0, 0.0], rtol=1e-12, atol=0.0)
    one = SmoothMotion([1.0], np.ones((5, 1, 3)), [4])
    np.testing.assert_array_equal(one.sample([0.0, 5.0]), [np.ones((2, 3)), *np.zeros((4, 2, 3))])


@pytest.mark.parametrize("times, values, order, message", [
    ([0.0, 0.0], np.zeros((5, 2, 1)), [4, 4], "times must increase: point 0 is at 0 s, the next at 0 s"),
    ([], np.zeros((5, 0, 1)), [], "times must be .k,. with k > 0"),
    ([0.0, 1.0], np.zeros((4, 2, 1)), [4, 4], "values must be finite numbers of shape"),
    ([0.0, 1.0], np.ones((5, 2, 1)) * 1j, [4, 4], "values must be made of real numbers"),
    ([0.0, 1.0], np.full((5, 2, 1), np.nan), [4, 4], "values must be finite"),
    ([0.0, 1.0], np.zeros((5, 2, 1)), [4, 5], "order must be 2 integers from 0 to 4"),
    ([0.0, 1.0], np.zeros((5, 2, 1)), [0.5, 1], "order must be 2 integers"),
    ([0.0, 1e-100], np.ones((5, 2, 1)), [4, 4], "times: derivatives overflow, with points 1e-100 to 1e-100 s"),
    ([0.0, 1.0], np.zeros((5, 2, 1)), [1, 1], "the points give 4 numbers, and must give at least 5"),
    ([0.0, 1.0, 1.001], np.zeros((5, 3, 1)), [4] * 3, "point 1 is 1 s from the one before and 0.001 s from the next")])
def test_what_makes_no_motion_is_refused(times, values, order, message):
    with pytest.raises(ValueError, match=message):
        SmoothMotion(times, values, order)
