"""Taylor series against mpmath's of the same functions."""
import mpmath
import numpy as np
import pytest

from screw_dynamics.numbers.scalars import sincos, sqrt
from screw_dynamics.numbers.taylor import Series, Tape

FUNCTIONS = {
    "sum": (lambda x: 3.0 + x + x * 2.0 - x * x - 0.5, lambda x: 3 + x + 2 * x - x * x - mpmath.mpf(1) / 2),
    "product": (lambda x: (x + 1.0) * (x * x - 2.0) * x, lambda x: (x + 1) * (x * x - 2) * x),
    "quotient": (lambda x: (x * x + 1.0) / (2.0 - x), lambda x: (x * x + 1) / (2 - x)),
    "reciprocal": (lambda x: 3.0 / (1.0 + x * x) / 4.0, lambda x: 3 / (1 + x * x) / 4),
    "sine": (lambda x: sincos(x * x)[0], lambda x: mpmath.sin(x * x)),
    "cosine": (lambda x: sincos(x * x + 1.0)[1], lambda x: mpmath.cos(x * x + 1)),
    "root": (lambda x: sqrt(2.0 + x * x), lambda x: mpmath.sqrt(2 + x * x)),
    "difference": (lambda x: 1.0 - x * -x, lambda x: 1 + x * x)}
ORDERS = 12


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    ours, theirs = FUNCTIONS[name]
    starts = np.array((0.3, -0.7))          # a coefficient may be an array
    tape = Tape()
    x = tape.variable(starts)
    y = ours(x)
    for k in range(1, ORDERS):
        x.c.append(np.full(2, float(k == 1)))
        tape.extend()
    with mpmath.workdps(40):
        for i, start in enumerate(starts):
            expected = [float(c) for c in mpmath.taylor(theirs, mpmath.mpf(start), ORDERS - 1)]
            assert np.abs(np.array([c[i] for c in y.c]) - expected).max() < 1e-14 * max(1.0, np.abs(expected).max())


def test_a_differential_equation():
    """y = tanh, of y' = 1 - y^2: coefficients of an input may come from results."""
    tape = Tape()
    y = tape.variable(0.2)
    rate = 1.0 - y * y
    for k in range(1, ORDERS):
        y.c.append(rate.c[k - 1] / k)
        tape.extend()
    with mpmath.workdps(40):
        start = mpmath.atanh(mpmath.mpf("0.2"))
        assert y.c == pytest.approx([float(c) for c in mpmath.taylor(mpmath.tanh, start, ORDERS - 1)], abs=1e-15)


def test_zeros_and_ones_take_no_operation():
    tape = Tape()
    x = tape.variable(0.5)
    assert x * 0.0 == 0.0 and 0.0 / x == 0.0 and x * 1.0 is x and x + 0.0 is x and tape.operations == 0
    assert x > 0.0 and x <= 0.5 and not x < 0.5 and x >= Series(tape, [0.4])
    x.c.append(1.0)
    tape.extend()
    with pytest.raises(ValueError, match="extended takes no more operations"):
        x + 1.0
