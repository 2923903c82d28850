"""Functions of one scalar: as accurate as they say, and the same compiled and in plain Python."""
import math

import mpmath
import numpy as np
import pytest
from numba import njit

from screw_dynamics.jit.numba_internals.compiler import FLAGS, start
from screw_dynamics.numbers.scalars import absolute, atan2, floor, larger, sincos, some, sqrt, where
from support.sincos_samples import ARGUMENTS, ulps

start()         # functions of these tests are njit's


@njit(**FLAGS)
def all_of_them(x, y, out):
    for i in range(len(x)):
        out[0, i], out[1, i] = sincos(x[i])
        out[2, i], out[3, i], out[4, i] = sqrt(absolute(x[i])), floor(x[i]), atan2(x[i], y[i])
        out[5, i], out[6, i] = where(x[i] < y[i], x[i], y[i]), 1.0 if some(x[i] < y[i]) else 0.0


def compiled(x, y=None):
    """Rows sin, cos, sqrt |x|, floor, atan2(x, y), the smaller, whether x is."""
    x = np.asarray(x, dtype=float)
    out = np.empty((7, len(x)))
    all_of_them(x, x if y is None else y, out)
    return out


@pytest.mark.parametrize("where_from", ARGUMENTS)
def test_sincos_is_accurate(where_from):
    sine, cosine = compiled(ARGUMENTS[where_from])[:2]
    for x, s, c in zip(ARGUMENTS[where_from], sine, cosine, strict=True):
        assert max(ulps(s, mpmath.sin, x), ulps(c, mpmath.cos, x)) < 2.5, x


@pytest.mark.parametrize("x", [math.inf, -math.inf, math.nan])
def test_sincos_of_what_has_no_angle_is_nan(x):
    assert np.isnan(compiled([x])[:2]).all()
    assert np.isnan(sincos(x)).all()


def test_sine_is_odd_and_cosine_even_to_the_last_bit():
    x = np.concatenate([ARGUMENTS[name] for name in ARGUMENTS])
    sine, cosine = compiled(x)[:2]
    assert (compiled(-x)[:2] == [-sine, cosine]).all()


def test_compiled_and_plain_agree(rng):
    x, y = rng.normal(size=(2, 200)) * 10.0 ** rng.uniform(-3, 3, (2, 200))
    out = compiled(x, y)
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        expected = [*sincos(a), sqrt(absolute(a)), floor(a), atan2(a, b), where(a < b, a, b), some(a < b)]
        np.testing.assert_allclose(out[:, i], expected, rtol=4e-16)


larger_compiled = njit(**FLAGS)(lambda a, b: larger(a, b))


@pytest.mark.parametrize("found", [larger, larger_compiled], ids=["plain", "compiled"])
def test_the_larger_of_two_numbers_is_nan_if_one_is(found):
    """What converges by the largest change of several velocities must not forget one that is not finite."""
    for a, b in (1.0, 2.0), (2.0, 1.0), (-np.inf, 0.0):
        assert found(a, b) == max(a, b)
    assert math.isnan(found(np.nan, 1.0)) and math.isnan(found(1.0, np.nan)) and math.isnan(found(np.nan, np.inf))
