"""Jets: a number with its first and second derivatives, for exact Hessians of kernels in plain Python.

A Jet mixes with numbers in + - * /; sincos and sqrt of scalars.py accept it. Comparisons are not supported: branches
would need their own rule for derivatives."""
from __future__ import annotations

import math

import numpy as np

from .scalars import sincos, sqrt


class Jet:
    """A number x, its derivatives d (k,) in k directions, and dd (k, k): [i, j] is the derivative along j of that along
    i.

    dd need not be symmetric: derivatives along two twists of one joint are not."""

    __slots__ = "d", "dd", "x"
    __array_ufunc__ = None          # a NumPy number on the left leaves the operator to the Jet
    __eq__ = None                   # type: ignore[assignment]
    __hash__ = None                 # type: ignore[assignment]

    def __init__(self, x: float, d: np.ndarray, dd: np.ndarray):
        self.x, self.d, self.dd = x, d, dd

    def __add__(self, other):
        if isinstance(other, Jet):
            return Jet(self.x + other.x, self.d + other.d, self.dd + other.dd)
        return Jet(self.x + other, self.d, self.dd) if _is_number(other) else NotImplemented

    def __mul__(self, other):
        if isinstance(other, Jet):
            cross = np.multiply.outer(self.d, other.d)
            return Jet(self.x * other.x, self.x * other.d + other.x * self.d,
                       self.x * other.dd + other.x * self.dd + (cross + cross.T))
        return Jet(self.x * other, self.d * other, self.dd * other) if _is_number(other) else NotImplemented

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return -1.0 * self

    def __sub__(self, other):
        return self + -1.0 * other if _is_scalar(other) else NotImplemented

    def __rsub__(self, other):
        return -1.0 * self + other

    def __truediv__(self, other):
        if isinstance(other, Jet):
            return self * _reciprocal(other)
        return self * (1.0 / other) if _is_number(other) else NotImplemented

    def __rtruediv__(self, other):
        return _reciprocal(self) * other


def _is_number(x):
    return isinstance(x, (int, float, np.number))


def _is_scalar(x):
    return isinstance(x, Jet) or _is_number(x)


def _chain(a, f, df, ddf):
    """Return f(a), from its value and its first and second derivatives at a.x."""
    return Jet(f, df * a.d, df * a.dd + ddf * np.multiply.outer(a.d, a.d))


def _reciprocal(a):
    f = 1.0 / a.x
    return _chain(a, f, -f * f, 2.0 * f * f * f)


@sincos.register(Jet)
def _sincos(a):
    s, c = sincos(a.x)
    return _chain(a, s, c, -s), _chain(a, c, -s, -c)


@sqrt.register(Jet)
def _sqrt(a):
    f = math.sqrt(a.x)
    return _chain(a, f, 0.5 / f, -0.25 / (f * a.x))
