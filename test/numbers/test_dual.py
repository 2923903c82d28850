"""Dual numbers: derivatives of functions and of programs of them, against mpmath's at fifty digits."""
import math

import mpmath
import numpy as np
import pytest
from numba import njit

from screw_dynamics.jit.numba_internals.compiler import start
from screw_dynamics.numbers.dual import Dual, along, direction, dual, value_of
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.scalars import absolute, atan2, sincos, sqrt

start()         # functions of these tests are njit's

X, BOUND = 0.7, 1e-14

# Of one number: a function of NumPy, of math and of the package's scalars where there are any, and mpmath's.
FUNCTIONS = {
    "sin": ((np.sin, math.sin), mpmath.sin), "cos": ((np.cos, math.cos), mpmath.cos),
    "tan": ((np.tan, math.tan), mpmath.tan), "exp": ((np.exp, math.exp), mpmath.exp),
    "log": ((np.log, math.log), mpmath.log), "sqrt": ((np.sqrt, math.sqrt, sqrt), mpmath.sqrt),
    "sinh": ((np.sinh, math.sinh), mpmath.sinh), "cosh": ((np.cosh, math.cosh), mpmath.cosh),
    "tanh": ((np.tanh, math.tanh), mpmath.tanh), "asin": ((np.arcsin, math.asin), mpmath.asin),
    "acos": ((np.arccos, math.acos), mpmath.acos), "atan": ((np.arctan, math.atan), mpmath.atan),
    "abs": ((np.absolute, math.fabs, abs, absolute), abs),
}


def programs():
    """Programs of numbers, x on either side of each operator, and branches."""
    yield lambda x: 2.0 + x - 3.0
    yield lambda x: 1.0 - x * 0.5
    yield lambda x: (x * x - 1.0) / (x + 2.0)
    yield lambda x: 3.0 / x
    yield lambda x: x / 4.0 - -x
    yield lambda x: x ** 3 - x ** 2.5
    yield lambda x: 2.0 ** x
    yield lambda x: x ** x
    yield lambda x: x if x > 0.5 else -x * x
    yield lambda x: x * x if 0.8 <= x else 1.0 / x


def compiled(f):
    """Value and derivatives in two directions of WIDTH, in machine code."""
    f = njit(f)

    @njit
    def both(x):
        y = f(dual(x, direction(WIDTH - 1)))
        return value_of(y), along(y, WIDTH - 1), along(y, 0)
    return both(X)


def derivative(f):
    """f(X) and f'(X) by mpmath."""
    with mpmath.workdps(50):
        return float(f(mpmath.mpf(X))), float(mpmath.diff(f, mpmath.mpf(X)))


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_their_derivatives(name):
    functions, oracle = FUNCTIONS[name]
    y, dy = derivative(oracle)
    for f in functions:
        found, slope, other = compiled(lambda x, f=f: f(3.0 * x - 2.0 * x))
        assert abs(found - y) <= BOUND and abs(slope - dy) <= BOUND
        assert WIDTH == 1 or other == 0.0
        if getattr(f, "__module__", "") != "math":              # math's own functions take floats alone
            z = f(Dual(X, 2.0))
            assert abs(z.x - y) <= BOUND and abs(z.dx - 2.0 * dy) <= BOUND


@pytest.mark.slow
@pytest.mark.parametrize("k", range(10))
def test_programs_have_their_derivatives(k):
    f = list(programs())[k]
    y, dy = derivative(f)
    found, slope, _ = compiled(f)
    z = f(Dual(X, 1.0))
    for value, by in (found, slope), (z.x, z.dx):
        assert abs(value - y) <= BOUND * abs(y) + BOUND and abs(by - dy) <= BOUND * abs(dy) + BOUND


def test_sine_and_cosine_at_once_angles_and_extremes():
    s, c = sincos(Dual(X, 1.0))
    assert (s.dx, c.dx) == (math.cos(X), -math.sin(X))
    turn = atan2(Dual(X, 1.0), Dual(-0.3, 2.0))
    assert abs(turn.dx - (-0.3 - 2.0 * X) / (X**2 + 0.09)) <= BOUND
    found = compiled(lambda x: max(min(x, 0.9), 0.1) + math.atan2(x, 2.0) + np.maximum(0.9, x))
    assert abs(found[1] - (1.0 + 2.0 / (4.0 + X**2))) <= BOUND


def test_at_the_kink_of_the_absolute_value_both_slopes_count():
    assert absolute(Dual(0.0, 1.0)).dx == 0.0
    assert compiled(lambda x: abs(x - 0.7))[1] == 0.0


def test_numbers_of_numpy_become_constants():
    for z in (np.float64(2.0) * Dual(X, 1.0), Dual(X, 1.0) * np.float64(2.0)):
        assert type(z) is Dual and (z.x, z.dx) == (2.0 * X, 2.0)
    with pytest.raises(TypeError):
        np.floor_divide(Dual(X, 1.0), 2.0)
    with pytest.raises(TypeError):
        math.sin(Dual(X, 1.0))
