"""Scalars for kernels that compute formulas.

Kernels also accept SymPy expressions, but contain constants such as 0.5, and 0.5 * Rational(1, 3) is a float. `Scalar`
converts such constants to exact fractions."""
from collections.abc import Callable
from numbers import Number
from typing import Any

import sympy
from sympy.logic.boolalg import Boolean

from screw_dynamics.numbers.scalars import sincos, sqrt, where
from screw_dynamics.numbers.values import fields

from .exact import fraction_of, simple

sincos.register(sympy.Expr, lambda x: (sympy.sin(x), sympy.cos(x)))
sqrt.register(sympy.Expr, sympy.sqrt)
where.register(Boolean, lambda condition, a, b: sympy.Piecewise((a, condition), (b, True)))


class Scalar:
    """An element x of an algebra: `Expressions` below, or `Polynomials` (polynomials.py)."""

    __slots__ = ("algebra", "x")

    def __init__(self, algebra: Any, x: Any) -> None:
        self.algebra, self.x = algebra, x

    def _operation(name, swap=False):
        def apply(self, other):
            if isinstance(other, tuple):
                return NotImplemented           # a value type: its own operator works number by number
            left, right = self.x, self.algebra.element(other)
            return Scalar(self.algebra, getattr(self.algebra, name)(*((right, left) if swap else (left, right))))
        return apply

    __add__ = __radd__ = _operation("add")
    __sub__, __rsub__ = _operation("subtract"), _operation("subtract", swap=True)
    __mul__ = __rmul__ = _operation("multiply")
    __truediv__, __rtruediv__ = _operation("divide"), _operation("divide", swap=True)

    def __neg__(self):
        return Scalar(self.algebra, -self.x)

    def __eq__(self, other):
        return self.x == self.algebra.element(other)

    __hash__ = None


@sincos.register
def _(x: Scalar):
    return tuple(Scalar(x.algebra, y) for y in x.algebra.sincos(x.x))


@sqrt.register
def _(x: Scalar):
    return Scalar(x.algebra, x.algebra.sqrt(x.x))


def each_number(f: Callable, x: Any) -> Any:
    """Return a value, Link or Frame with f applied to each of its numbers, including integers, but not to indices."""
    if not isinstance(x, tuple):
        return f(x)
    parts = zip(x, fields(type(x)), strict=True)
    return type(x)(*(part if kind is int else each_number(f, part) for part, kind in parts))


class Expressions:
    """SymPy expressions, neither expanded nor simplified."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance

    def element(self, x: Any) -> sympy.Expr:
        """Return a number, an expression or a Scalar, as an expression."""
        if isinstance(x, Scalar):
            return x.x
        return fraction_of(x) if isinstance(x, Number) and not isinstance(x, sympy.Basic) else x

    def scalar(self, x: Any) -> Scalar:
        """Return a number, an expression or a Scalar, as a Scalar of this algebra."""
        return Scalar(self, self.element(x))

    def expression(self, x: sympy.Expr) -> sympy.Expr:
        """Return an element, which is already an expression."""
        return x

    add, subtract = staticmethod(lambda a, b: a + b), staticmethod(lambda a, b: a - b)
    multiply, divide = staticmethod(lambda a, b: a * b), staticmethod(lambda a, b: a / b)
    sincos = staticmethod(lambda x: (sympy.sin(x), sympy.cos(x)))

    def sqrt(self, x: sympy.Expr) -> sympy.Expr:
        """Return the square root; that of a float may be a simple number, such as 1."""
        root = sympy.sqrt(x)
        return simple([root], self.tolerance)[0] if root.is_Float else root
