"""Jets: derivatives of programs of two numbers, against mpmath's at fifty digits."""
import mpmath
import numpy as np
import pytest

from screw_dynamics.numbers.jet import Jet
from screw_dynamics.numbers.scalars import sincos, sqrt

AT = 0.7, 1.3


class Plain:
    """The functions of the programs, of jets."""

    sqrt, sin, cos = sqrt, staticmethod(lambda x: sincos(x)[0]), staticmethod(lambda x: sincos(x)[1])


PROGRAMS = {
    "sums": lambda f, x, y: 2.0 + x * y - 3.0 - (1.0 - y) + -x,
    "products": lambda f, x, y: (x * y * 2.0) * (0.5 * x) + 3 * y * y,
    "quotients": lambda f, x, y: x / (y * x + 1.0) + 2.0 / (x * x) - y / 4.0,
    "functions": lambda f, x, y: f.sin(x * y) * f.cos(x / y) + f.sqrt(x * x + y * y * y),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_their_derivatives(name):
    """Of coordinates with derivatives that are not symmetric these enter with the slopes alone."""
    program = PROGRAMS[name]
    with mpmath.workdps(50):
        gradient, rows = ([float(mpmath.diff(lambda x, y: program(mpmath, x, y), AT, order)) for order in orders]
                          for orders in (((1, 0), (0, 1)), ((2, 0), (1, 1), (1, 1), (0, 2))))
        value = float(program(mpmath, *map(mpmath.mpf, AT)))
    twisted = np.array(((0.0, 1.0), (-1.0, 0.0)))
    found = program(Plain, Jet(AT[0], np.array((1.0, 0.0)), twisted), Jet(np.float64(AT[1]), np.array((0.0, 1.0)),
                                                                          0.5 * twisted))
    expected = np.reshape(rows, (2, 2)) + (gradient[0] + 0.5 * gradient[1]) * twisted
    assert abs(found.x - value) < 1e-14 and np.abs(found.d - gradient).max() < 1e-14
    assert np.abs(found.dd - expected).max() < 2e-14 * max(1.0, np.abs(expected).max())


def test_numbers_of_numpy_stand_on_either_side_and_comparisons_are_refused():
    x = Jet(0.7, np.ones(1), np.zeros((1, 1)))
    assert isinstance(np.float64(2.0) * x, Jet) and (np.float64(2.0) - x).d[0] == -1.0
    for compare in (lambda: x == 0.7, lambda: x != 0.7, lambda: x > 0.0):
        with pytest.raises(TypeError):
            compare()
