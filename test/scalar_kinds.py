"""Other kinds of scalars for the plain mode: complex, mpmath and SymPy numbers, and floats that count operations."""
import cmath
import math
from collections import Counter

import mpmath
import numpy as np
import sympy

from screw_dynamics.scalars import atan2, sincos, sqrt
from screw_dynamics.values import map_numbers

TINY = 1e-200     # the complex step: its square vanishes beside anything, so the slope has no error but rounding

sincos.register(complex, lambda x: (cmath.sin(x), cmath.cos(x)))
sincos.register(mpmath.mpf, lambda x: (mpmath.sin(x), mpmath.cos(x)))
sqrt.register(mpmath.mpf, mpmath.sqrt)
atan2.register(mpmath.mpf, mpmath.atan2)
sincos.register(sympy.Expr, lambda x: (sympy.sin(x), sympy.cos(x)))


def slope(f, x, direction):
    """The derivative of f at x (n,) in a direction (n,), by a complex step; f takes a sequence of numbers."""
    found = np.asarray(f([complex(a, TINY * b) for a, b in zip(x, direction, strict=True)]), dtype=complex)
    return found.imag / TINY


def lifted(kind, values):
    """Values with all their numbers made a `kind`, but indices."""
    return [map_numbers(kind, value) for value in values]


class Counting:
    """A float that counts the operations done on it, in `done`."""

    done = Counter()

    def __init__(self, x):
        self.x = float(x)

    def _operation(symbol, f):
        def apply(self, other):
            if isinstance(other, tuple):
                return NotImplemented           # a value type: it goes on, number by number
            Counting.done[symbol] += 1
            return Counting(f(self.x, getattr(other, "x", other)))
        return apply

    __add__ = __radd__ = _operation("+", lambda a, b: a + b)
    __sub__, __rsub__ = _operation("+", lambda a, b: a - b), _operation("+", lambda a, b: b - a)
    __mul__ = __rmul__ = _operation("*", lambda a, b: a * b)
    __truediv__, __rtruediv__ = _operation("/", lambda a, b: a / b), _operation("/", lambda a, b: b / a)

    def __neg__(self):
        return Counting(-self.x)

    def __float__(self):
        return self.x


@sincos.register
def _(x: Counting):
    Counting.done["sincos"] += 1
    return Counting(math.sin(x.x)), Counting(math.cos(x.x))
