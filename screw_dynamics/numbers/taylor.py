"""Truncated Taylor series: numbers with the coefficients of x(t) = x_0 + x_1 t + x_2 t^2 + ..., in plain Python.

An algorithm runs once on Series, and a Tape records its operations. Each further coefficient of all numbers is then
computed from the previous ones, operation by operation; that of a product by one sum of k + 1 products. N coefficients
take O(N^2) operations, and inputs of order k may depend on results of order k - 1, as in differential equations.
Coefficients are numbers, or arrays of them, one for each state of a batch. Comparisons use the first coefficients. The
functions of scalars.py accept Series. A. Griewank, A. Walther (2008), Evaluating Derivatives, chapter 13."""
from collections.abc import Callable
from operator import mul
from typing import Any

import numpy as np

from .scalars import sincos, sqrt
from .values import is_value


class Tape:
    """The Series of an algorithm in the order of their operations, and their number of coefficients."""

    def __init__(self) -> None:
        self._steps: list[tuple[list, Callable]] = []
        self.length = 1

    def variable(self, x: Any) -> "Series":
        """Return a Series whose further coefficients the caller appends to `c`, each before `extend`."""
        return Series(self, [x])

    def extend(self) -> None:
        """Compute one more coefficient of all Series except variables."""
        k = self.length
        for c, coefficient in self._steps:
            c.append(coefficient(k))
        self.length = k + 1

    def result(self, coefficient: Callable[[int], Any]) -> "Series":
        """Return the Series with the coefficients coefficient(k), beginning with k = 0."""
        if self.length > 1:
            raise ValueError("a tape that was extended takes no more operations")
        made = Series(self, [coefficient(0)])
        self._steps.append((made.c, coefficient))
        return made

    @property
    def operations(self) -> int:
        """The number of operations on the tape."""
        return len(self._steps)


class Series:
    """A number with Taylor coefficients `c`, as many as its Tape has computed."""

    __slots__ = "tape", "c"
    __array_ufunc__ = None          # an array on the left is treated as a number

    def __init__(self, tape: Tape, c: list):
        self.tape, self.c = tape, c

    def __add__(self, other):
        if is_value(other):
            return NotImplemented
        a = self.c
        if isinstance(other, Series):
            b = other.c
            return self.tape.result(lambda k: a[k] + b[k])
        return self if _is(other, 0.0) else self.tape.result(lambda k: a[k] if k else a[0] + other)

    def __mul__(self, other):
        if is_value(other):
            return NotImplemented
        a = self.c
        if isinstance(other, Series):
            return self.tape.result(_product(a, other.c))
        if _is(other, 0.0) or _is(other, 1.0):
            return self if other else 0.0
        return self.tape.result(lambda k: a[k] * other)

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        if not isinstance(other, Series):
            return self + -other
        a, b = self.c, other.c
        return self.tape.result(lambda k: a[k] - b[k])

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self.tape.result(_quotient(self.c, other.c)) if isinstance(other, Series) else self * (1.0 / other)

    def __rtruediv__(self, other):
        return 0.0 if _is(other, 0.0) else self.tape.result(_reciprocal(other, self.c))

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other):
        return self.c[0] < _first(other)

    def __le__(self, other):
        return self.c[0] <= _first(other)

    def __gt__(self, other):
        return self.c[0] > _first(other)

    def __ge__(self, other):
        return self.c[0] >= _first(other)


def _first(x):
    return x.c[0] if isinstance(x, Series) else x


def _is(x, number):
    return not isinstance(x, np.ndarray) and x == number


def _sum_of_products(a, b, first, last, k):
    """Return the sum of a_j b_(k - j), j from first to last."""
    return sum(map(mul, a[first:last + 1], [b[k - j] for j in range(first, last + 1)]))


def _product(a, b):
    """Return the coefficients of c = a b: c_k = sum_j a_j b_(k - j)."""
    return lambda k: sum(map(mul, a, b[k::-1]))


def _quotient(a, b):
    """Return the coefficients of c = a / b, from a = c b."""
    c = []

    def coefficient(k):
        c.append((a[k] - _sum_of_products(c, b, 0, k - 1, k)) / b[0])
        return c[k]
    return coefficient


def _reciprocal(number, b):
    """Return the coefficients of c = number / b."""
    c = []

    def coefficient(k):
        c.append(number / b[0] if k == 0 else -_sum_of_products(c, b, 0, k - 1, k) / b[0])
        return c[k]
    return coefficient


@sincos.register(Series)
def _sincos(x):
    """Return sine and cosine, from s' = x' c and c' = -x' s."""
    a, sine, cosine = x.c, [], []

    def of_sine(k):
        if k == 0:
            for found, other in zip(sincos(a[0]), (sine, cosine), strict=True):
                other.append(found)
        else:
            weighted = [j * a[j] / k for j in range(k + 1)]
            following = [_sum_of_products(weighted, other, 1, k, k) for other in (cosine, sine)]
            sine.append(following[0])
            cosine.append(-following[1])
        return sine[k]
    return x.tape.result(of_sine), x.tape.result(lambda k: cosine[k])


@sqrt.register(Series)
def _sqrt(x):
    """Return the square root c, from c c = a."""
    a, c = x.c, []

    def coefficient(k):
        c.append(sqrt(a[0]) if k == 0 else (a[k] - _sum_of_products(c, c, 1, k - 1, k)) / (2.0 * c[0]))
        return c[k]
    return x.tape.result(coefficient)
