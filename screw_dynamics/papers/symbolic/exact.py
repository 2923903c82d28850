"""Exact numbers from floats: 0.30000000000000004 is 3/10, and 0.7071067811865476 is sqrt(2)/2."""
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy

TOLERANCE = 1e-14           # relative to the largest number of a vector or matrix: some rounding errors
DENOMINATOR = 1000          # fractions up to this denominator are simple ...
DIGITS = 10                 # ... and so are decimals up to so many digits ...
SQUARE = 100                # ... and the roots of fractions up to this denominator


def fraction_of(x: int | float | sympy.Float) -> sympy.Rational:
    """Return an int or a float of Python or SymPy as a fraction of exactly the same value."""
    return sympy.Integer(x) if isinstance(x, int) else sympy.Rational(*float(x).as_integer_ratio())


def simple_fraction(x: Any, error: float) -> Fraction | None:
    """Return a simple fraction within `error` of a rational number or float x, or None."""
    x = Fraction(x) if isinstance(x, float) else Fraction(int(x.numerator), int(x.denominator))
    for near in x.limit_denominator(DENOMINATOR), Fraction(f"{float(x):.{DIGITS}g}"):
        if abs(near - x) <= error:
            return near
    return None


def _simple(x, error, fractions):
    if abs(x - round(x)) <= error:
        return sympy.Integer(round(x))
    if not fractions:
        return sympy.Float(x)
    near = simple_fraction(x, error)
    if near is not None:
        return sympy.Rational(near.numerator, near.denominator)
    square = Fraction(x * x).limit_denominator(SQUARE)
    if abs(square - Fraction(x * x)) <= 2 * error * abs(x):
        return sympy.sign(x) * sympy.sqrt(sympy.Rational(square.numerator, square.denominator))
    return sympy.Float(x)


def simple(numbers: Sequence[float], tolerance: float = TOLERANCE, fractions: bool = True) -> list[sympy.Expr]:
    """Return the numbers of a vector or matrix as SymPy numbers: exact if a simple number is near, else floats.

    Near is within `tolerance` times the largest of them. Without `fractions` only integers are exact."""
    error = tolerance * max((abs(float(x)) for x in numbers), default=0.0)
    return [_simple(float(x), error, fractions) for x in numbers]
