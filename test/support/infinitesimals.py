"""Numbers with infinitesimals e_1, ..., e_k of square 0: derivatives of any algorithm, without any error but rounding.

f(x + e_1 a + e_2 b + ...) holds the mixed derivatives of f along a, b, ... as the coefficients of products of e's."""
from numbers import Real

import numpy as np

from screw_dynamics.numbers.scalars import sincos


class Infinitesimal:
    """sum_S c_S e_S: `c` (2^k, ...) holds a coefficient for each set S of infinitesimals, the bits of the index; of
    many numbers at once where there are more axes."""

    __array_ufunc__ = None

    def __init__(self, c):
        self.c = np.asarray(c, dtype=float)

    def lifted(self, x):
        """x with the same infinitesimals."""
        if isinstance(x, Infinitesimal):
            return x
        c = np.zeros_like(self.c)
        c[0] = x
        return Infinitesimal(c)

    def __add__(self, other):
        return Infinitesimal(self.c + self.lifted(other).c)

    def __mul__(self, other):
        if isinstance(other, Infinitesimal):
            return Infinitesimal(_product(self.c, other.c))
        return Infinitesimal(self.c * other) if isinstance(other, (Real, np.ndarray)) else NotImplemented

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        """By the series of 1 / (x_0 + d) in d, which ends by itself."""
        d, total, power = (self - self.c[0]) * (-1.0 / self.c[0]), self.lifted(1.0), self.lifted(1.0)
        for _ in range(1, len(self.c).bit_length()):
            power = power * d
            total = total + power
        return total * (1.0 / self.c[0]) * other

    __radd__, __rmul__ = __add__, __mul__


def _product(a, b):
    """The coefficients of a product: with a = a_0 + e_k a_1 and b likewise, a_0 b_0 + e_k (a_0 b_1 + a_1 b_0)."""
    if len(a) == 1:
        return a * b
    half = len(a) // 2
    return np.r_[_product(a[:half], b[:half]), _product(a[:half], b[half:]) + _product(a[half:], b[:half])]


@sincos.register(Infinitesimal)
def _sincos(x):
    """sin and cos of x_0 + d, by their series in d, which ends by itself."""
    s, c, d = np.sin(x.c[0]), np.cos(x.c[0]), x - x.c[0]
    sine, cosine, power = x.lifted(s), x.lifted(c), x.lifted(1.0)
    for k in range(1, len(x.c).bit_length()):
        power = power * d * (1.0 / k)
        s, c = c, -s                                                    # the derivatives of sine and cosine
        sine, cosine = sine + s * power, cosine + c * power
    return sine, cosine


def mixed_derivative(f, x, directions):
    """The derivative of f at x (n,) along each of these vectors (n,), one after the other; f takes n numbers. Of
    vectors (n, m) the m derivatives (..., m)."""
    c = np.zeros((len(x), 2 ** len(directions), *np.shape(directions)[2:]))
    c[:, 0] = np.reshape(x, (-1, *[1] * (c.ndim - 2)))
    for k, direction in enumerate(directions):
        c[:, 1 << k] = direction
    return _highest(f, c)


def time_derivative(f, x, *rates):
    """The time derivative of f(x(t)), of as high an order as there are derivatives of x.

    In t + e_1 + ... + e_k, where (e_1 + ... + e_k)^m / m! is the sum of all products of m infinitesimals: so x^(m) is
    the coefficient of each of these."""
    c = [[(x, *rates)[index.bit_count()][i] for index in range(2 ** len(rates))] for i in range(len(x))]
    return _highest(f, c)


def _highest(f, c):
    found, nothing = np.asarray(f([Infinitesimal(row) for row in c]), dtype=object), np.zeros(np.shape(c)[2:])
    return np.array([x.c[-1] if isinstance(x, Infinitesimal) else nothing if len(c[0]) > 1 else float(x)
                     for x in found.ravel()]).reshape(*found.shape, *nothing.shape)
