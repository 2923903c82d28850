"""Lanes: WIDTH doubles under one operator, each as IEEE and NumPy have it, and none with a say in another."""
import math
import operator
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from screw_dynamics.jit.numba_internals.compiler import FLAGS, start
from screw_dynamics.numbers import lanes, scalars
from screw_dynamics.numbers.lanes import WIDTH, extract, insert, lane_count, splat
from screw_dynamics.numbers.scalars import LIMIT, where
from screw_dynamics.numbers.tables import block, packed, table, width
from screw_dynamics.numbers.values import fields, kernel
from screw_dynamics.screws import se3
from screw_dynamics.screws.inertia import Articulated, Inertia, articulated, square
from screw_dynamics.screws.se3 import Pose, Twist, Wrench
from support.screw_samples import random_values
from support.sincos_samples import ARGUMENTS, ulps

start()         # functions of these tests are njit's

NAN, INF = np.nan, np.inf
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -7.25, 1 / 3, 2**51 + 0.5,
           INF, -INF, NAN, 5e-324, -3e-310, 1e-160, 1.7e308, -1.7e308]
PAIRS = np.array([(a, b) for a in SPECIAL for b in SPECIAL]
                 + np.random.default_rng(3).normal(size=(64, 2)).tolist())


@kernel
def by_lane(numbers):
    """A contiguous array of doubles as an array of lanes."""
    return block(splat(0.0), (len(numbers) // WIDTH,), numbers, 0)


def compiled(expressions):
    """A function (numbers, out) that evaluates each expression of lanes a, b and of a float x, a lane at a time.

    numbers: rows a, b and x, of which the first of a lane counts. out: a row for each expression."""
    writes = "\n        ".join(f"by_lane(out[{j}])[i] = {text}" for j, text in enumerate(expressions))
    scope = {**vars(scalars), **vars(lanes), **globals()}
    exec(f"""def function(numbers, out):
    for i in range(numbers.shape[1] // {WIDTH}):
        a, b, x = by_lane(numbers[0])[i], by_lane(numbers[1])[i], numbers[2, {WIDTH} * i]
        {writes}""", scope)
    return njit(**FLAGS)(scope["function"])


def assert_same_bits(found, expected, what=""):
    """Equal numbers with equal signs of zero; one NaN is as good as another."""
    np.testing.assert_array_equal(found, expected, err_msg=what)
    there = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[there], np.signbit(expected)[there], err_msg=what)


def evaluated(expressions, a, b, x):
    """The values (expressions, count) of lanes a and b, arrays (count), and of x, (count) or a number."""
    a, b, x = np.broadcast_arrays(a, b, x)
    assert len(a) % WIDTH == 0
    out = np.empty((len(expressions), len(a)))
    compiled(expressions)(np.array([a, b, x], dtype=float), out)
    return out


# ------------------------------------------------------------------------------------------------- as in NumPy
@kernel
def updated(op, a, b):
    """a after `a op= b`."""
    return op(a, b)


@kernel
def number(mask):
    """1 where a mask holds, else 0."""
    return where(mask, 1.0, 0.0)


EXPRESSIONS = [
    "a + b", "a - b", "a * b", "a / b", "a + x", "x + a", "a - x", "x - a", "a * x", "x * a", "x / a", "-a",
    "a + 2", "2 - a", "3 * a", "updated(operator.iadd, 1.0 * a, b)", "updated(operator.isub, 1.0 * a, x)",
    "updated(operator.imul, 1.0 * a, b)", "updated(operator.itruediv, 1.0 * a, b)",
    "number(a < b)", "number(a <= b)", "number(a > b)", "number(a >= b)", "number(a == b)", "number(a != b)",
    "number(a < x)", "number(x < a)", "number(a >= x)", "number(a == x)", "number(x != a)", "number(a > 1)",
    "number((a < b) & (x < a))", "number((a < b) | (x < a))", "where(a < b, a, b)", "where(a < b, a, x)",
    "where(a < b, x, b)", "sqrt(a)", "floor(a)", "absolute(a)", "atan2(a, b)", "atan2(a, x)", "atan2(x, b)"]
NUMPY = dict(where=np.where, sqrt=np.sqrt, floor=np.floor, absolute=np.abs, atan2=np.vectorize(math.atan2),
             operator=operator, updated=updated, number=lambda mask: np.where(mask, 1.0, 0.0))


@pytest.mark.slow
def test_lanes_calculate_as_ieee_says():
    """Infinities, NaN, zeros of both signs, subnormal and huge numbers among them. Not a / x: by FLAGS a division of
    several places by one number may become a product with its reciprocal."""
    a, b = np.tile(PAIRS.T, 6)
    x = np.repeat([1.5, 0.0, -0.0, INF, -INF, NAN], len(PAIRS))
    with np.errstate(all="ignore"):
        for found, text in zip(evaluated(EXPRESSIONS, a, b, x), EXPRESSIONS, strict=True):
            assert_same_bits(found, eval(text, dict(NUMPY, a=a, b=b, x=x)), text)


def test_division_by_a_scalar_is_right_to_the_last_place(rng):
    a, x = rng.normal(size=(2, 800)) * 10.0 ** rng.uniform(-100, 100, (2, 800))
    x = np.repeat(x[::WIDTH], WIDTH)
    np.testing.assert_allclose(*evaluated(["a / x"], a, a, x), a / x, rtol=4e-16)


def test_some_holds_if_a_place_does():
    a = np.zeros((10, WIDTH))
    a[0, 3], a[1, 0], a[3, -1], a[5], a[8, 0] = 1, 1, 1, range(1, WIDTH + 1), NAN
    a = a.ravel()
    found, = evaluated(["where(some(a > 0.0), 1.0, 0.0) + 0.0 * a"], np.nan_to_num(a, nan=-1.0), a, 0.0)
    expected = (a.reshape(-1, WIDTH) > 0).any(axis=1).repeat(WIDTH)
    assert (found == expected).all()


def test_places_are_numbered_as_in_memory():
    a = np.arange(2.0 * WIDTH)
    expressions = ["splat(extract(a, 0))", f"splat(extract(a, {WIDTH - 1}))", "insert(a, 3, x)",
                   f"splat(1.0 * extract(a > {WIDTH + 2.5}, 2))", f"splat(1.0 * extract(a > {WIDTH + 2.5}, 3))",
                   "splat(1.0 * lane_count(a) + 10 * lane_count(a < x) + 100 * lane_count(x))",
                   "splat(extract(x, 5))", "splat(insert(x, 5, 3.0))"]
    first, last, inserted, before, after, counts, own, replaced = evaluated(expressions, a, a, 99.0)
    assert (first == np.repeat([0, WIDTH], WIDTH)).all()
    assert (last == np.repeat([WIDTH - 1, 2 * WIDTH - 1], WIDTH)).all()
    assert (inserted == np.where(np.arange(2 * WIDTH) % WIDTH == 3, 99.0, a)).all()
    assert (before == 0).all() and (after == np.repeat([0, 1], WIDTH)).all()
    assert (counts == 100 + 11 * WIDTH).all() and (own == 99).all() and (replaced == 3).all()


def test_a_number_in_plain_python_is_its_only_place():
    assert (lane_count(2.5), extract(2.5, 0), insert(2.5, 0, 4.0)) == (1, 2.5, 4.0)


def test_a_lane_does_not_mix_with_a_mask():
    for text in ("a + (a < b)", "(a < b) & x", "where(a, a, b)", "(a < b) * (a < b)"):
        with pytest.raises(TypingError):
            compiled([text])(np.zeros((3, WIDTH)), np.zeros((1, WIDTH)))


# ------------------------------------------------------------------------------------------------- sine and cosine
@pytest.fixture(scope="module")
def sincos_of_lanes():
    """Sine and cosine (2, count) of an array, a lane at a time."""
    function = compiled(["sincos(a)[0]", "sincos(a)[1]"])

    def apply(x):
        rest = -len(x) % WIDTH
        numbers = np.vstack([np.pad(np.asarray(x, dtype=float), (0, rest)), np.zeros((2, len(x) + rest))])
        out = np.empty((2, len(x) + rest))
        function(numbers, out)
        return out[:, :len(x)]
    return apply


@pytest.mark.parametrize("where_from", ARGUMENTS)
def test_sincos_of_lanes_is_accurate(sincos_of_lanes, where_from):
    sine, cosine = sincos_of_lanes(ARGUMENTS[where_from])
    for x, s, c in zip(ARGUMENTS[where_from], sine, cosine, strict=True):
        assert max(ulps(s, mpmath.sin, x), ulps(c, mpmath.cos, x)) < 1.6, x


def test_sincos_from_the_limit_on_is_libm(rng, sincos_of_lanes):
    x = np.r_[LIMIT, -LIMIT, np.nextafter(LIMIT, INF), 10.0 ** rng.uniform(6, 308, 100)]
    assert (sincos_of_lanes(x) == [list(map(math.sin, x)), list(map(math.cos, x))]).all()


def test_sincos_of_what_has_no_angle_is_nan(sincos_of_lanes):
    assert np.isnan(sincos_of_lanes([INF, -INF, NAN])).all()


@pytest.mark.parametrize("neighbor", [0.0, 1.0, 0.999 * LIMIT, LIMIT, -1e22, 1e300, INF, -INF, NAN])
def test_sincos_does_not_depend_on_the_neighbors(rng, sincos_of_lanes, neighbor):
    """The same bits in each place, whatever stands in the others."""
    chosen = np.r_[-0.0, 0.5, -2.0, 1e5, LIMIT * 0.9999999, LIMIT, 1e9, INF, NAN, rng.uniform(-LIMIT, LIMIT, 20)]
    alone = sincos_of_lanes(np.repeat(chosen, WIDTH))[:, ::WIDTH]
    x = np.full((len(chosen), WIDTH, WIDTH), neighbor)
    x[:, range(WIDTH), range(WIDTH)] = chosen[:, None]
    found = sincos_of_lanes(x.ravel()).reshape(2, *x.shape)[:, :, range(WIDTH), range(WIDTH)]
    assert_same_bits(found, np.broadcast_to(alone[..., None], found.shape))


# ------------------------------------------------------------------------------------------------- values
class Given(NamedTuple):
    """What the algebra is tried on."""

    C: Pose
    X: Twist
    Y: Twist
    W: Wrench
    M: Inertia


class Found(NamedTuple):
    """What comes out."""

    C: Pose
    linear: Twist
    power: float
    Ad: Twist
    momentum: Wrench
    articulated: Articulated


@kernel
def algebra(given, found):
    """Values of values under every kind of operator, and what joins poses, twists, wrenches and inertias."""
    for i in range(len(given.X)):
        C, X, Y, W, M = given.C[i], given.X[i], given.Y[i], given.W[i], given.M[i]
        found.C[i], found.linear[i], found.power[i] = C @ C, 2.0 * X - Y * X.angular.x + -Y, se3.dot(W, Y)
        found.Ad[i], found.momentum[i] = se3.Ad_inv(C, Y), M @ Y
        found.articulated[i] = articulated(M) - square(W, W.torque.x)


@njit(**FLAGS)
def algebra_of_scalars(count, given, found):
    algebra(table(Given, 0.0, count, given, 0), table(Found, 0.0, count, found, 0))


@njit(**FLAGS)
def algebra_of_lanes(count, given, found):
    algebra(table(Given, splat(0.0), count, given, 0), table(Found, splat(0.0), count, found, 0))


@pytest.mark.slow
def test_values_of_lanes_are_values_of_numbers(rng):
    rows = packed([Given(*random_values(rng, *fields(Given))) for _ in range(3 * WIDTH)])
    count = len(rows)
    expected, found = np.empty((count, width(Found))), np.empty((count // WIDTH, width(Found), WIDTH))
    algebra_of_scalars(count, rows.ravel(), expected.ravel())
    grouped = np.ascontiguousarray(rows.reshape(-1, WIDTH, width(Given)).transpose(0, 2, 1))
    algebra_of_lanes(count // WIDTH, grouped.ravel(), found.ravel())
    np.testing.assert_allclose(found.transpose(0, 2, 1).reshape(expected.shape), expected, rtol=1e-15, atol=1e-15)
