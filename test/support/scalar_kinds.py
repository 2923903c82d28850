"""Other kinds of scalars for the plain mode: complex, mpmath and SymPy numbers."""
import cmath

import numpy as np

import comparison.exact  # noqa: F401  mpmath's numbers
import screw_dynamics.papers.symbolic  # noqa: F401  SymPy's expressions
from screw_dynamics.numbers.scalars import sincos
from screw_dynamics.numbers.values import map_numbers

TINY = 1e-200     # the complex step: its square vanishes beside anything, so the slope has no error but rounding

sincos.register(complex, lambda x: (cmath.sin(x), cmath.cos(x)))


def slope(f, x, direction):
    """The derivative of f at x (n,) in a direction (n,), by a complex step; f takes a sequence of numbers."""
    found = np.asarray(f([complex(a, TINY * b) for a, b in zip(x, direction, strict=True)]), dtype=complex)
    return found.imag / TINY


def lifted(kind, values):
    """Values with all their numbers made a `kind`, but indices."""
    return [map_numbers(kind, value) for value in values]
