"""NumPy functions on arrays of lanes for controllers: arithmetic, matrix products, common functions.

Other functions cannot be typed; a controller that uses them runs on one state after another. So does a controller that
branches on its state: a comparison of lanes is a mask, not a truth value."""
import math
import operator
from collections.abc import Callable

import numpy as np

from screw_dynamics.compiled.native import fresh
from screw_dynamics.jit.numba_internals.compiler import CALLEE, overload, types
from screw_dynamics.numbers.lanes import WIDTH, extract, insert, splat
from screw_dynamics.numbers.numba_types import LANE
from screw_dynamics.numbers.scalars import absolute, sincos, sqrt, where
from screw_dynamics.numbers.values import kernel, over

_OPTIONS = dict(jit_options=CALLEE)


def _is_array(x):
    return isinstance(x, types.Array) and isinstance(x.dtype, (types.Float, types.Integer, type(LANE)))


def _has_lanes(*kinds):
    """Return True if any of these types contains lanes and all are numbers or arrays of numbers or lanes."""
    return any(getattr(x, "dtype", x) is LANE for x in kinds) and all(
        x is LANE or isinstance(x, types.Number) or _is_array(x) for x in kinds)


# ------------------------------------------------------------------------------------------------- arithmetic
def _elementwise(a, b, function):
    """Return the function for Numba types a, b that applies `function` elementwise to arrays of one shape, or to an
    array and a number."""
    if _is_array(a) and _is_array(b):
        if a.ndim != b.ndim:
            return None

        def both(a, b):
            if a.shape != b.shape:
                raise ValueError("operands could not be broadcast together")
            result = fresh(splat(0.0), a.shape)
            for i in np.ndindex(a.shape):
                result[i] = function(over(a[i], splat(0.0)), b[i])
            return result
        return both
    if _is_array(a):
        def left(a, b):
            result = fresh(splat(0.0), a.shape)
            for i in np.ndindex(a.shape):
                result[i] = function(over(a[i], splat(0.0)), b)
            return result
        return left

    def right(a, b):
        result = fresh(splat(0.0), b.shape)
        for i in np.ndindex(b.shape):
            result[i] = function(over(a, splat(0.0)), b[i])
        return result
    return right


def _operator(op):
    function = kernel(eval(f"lambda a, b: a {op} b"))

    def meaning(a, b):
        return _elementwise(a, b, function) if _has_lanes(a, b) and (_is_array(a) or _is_array(b)) else None
    return meaning


for _name, _symbol in dict(add="+", sub="-", mul="*", truediv="/").items():
    overload(getattr(operator, _name), **_OPTIONS)(_operator(_symbol))


def _in_place(op):
    function = kernel(eval(f"lambda a, b: a {op} b"))

    def meaning(a, b):
        if not (_is_array(a) and a.dtype is LANE and _has_lanes(a, b)):
            return None
        if _is_array(b):
            def by_array(a, b):
                if a.shape != b.shape:
                    raise ValueError("operands could not be broadcast together")
                for i in np.ndindex(a.shape):
                    a[i] = function(a[i], b[i])
                return a
            return by_array

        def by_number(a, b):
            for i in np.ndindex(a.shape):
                a[i] = function(a[i], b)
            return a
        return by_number
    return meaning


# Target "cpu": overloads for a target are tried before generic ones. Numba's generic `a += b` on arrays raises
# AttributeError on lanes instead of reporting no match.
for _name, _symbol in dict(iadd="+", isub="-", imul="*", itruediv="/").items():
    overload(getattr(operator, _name), **_OPTIONS, target="cpu")(_in_place(_symbol))


@kernel
def _least(a, b):
    return where(b < a, over(b, splat(0.0)), over(a, splat(0.0)))


@kernel
def _greatest(a, b):
    return where(b > a, over(b, splat(0.0)), over(a, splat(0.0)))


def _of_two(name, function):
    """Define a NumPy function of two numbers or arrays, and the Python function of two numbers."""
    @overload(getattr(np, name), **_OPTIONS)
    def on_arrays(a, b):
        if not _has_lanes(a, b):
            return None
        return _elementwise(a, b, function) if _is_array(a) or _is_array(b) else lambda a, b: function(a, b)


_of_two("minimum", _least)
_of_two("maximum", _greatest)


def _of_numbers(builtin, function):
    @overload(builtin, **_OPTIONS)
    def on_numbers(a, b):
        return (lambda a, b: function(a, b)) if _has_lanes(a, b) and not (_is_array(a) or _is_array(b)) else None


_of_numbers(min, _least)
_of_numbers(max, _greatest)


@overload(np.clip, **_OPTIONS)
def _clip(a, a_min, a_max):
    return (lambda a, a_min, a_max: np.minimum(np.maximum(a, a_min), a_max)) if _has_lanes(a, a_min, a_max) else None


def _place_by_place(plain):
    @kernel
    def function(x):
        y = x
        for place in range(WIDTH):
            y = insert(y, place, plain(extract(x, place)))
        return y
    return function


@kernel
def _sign(x):
    return where(x > 0.0, over(1.0, x), where(x < 0.0, over(-1.0, x), x))


_FUNCTIONS: dict[str, Callable] = {
    "sin": kernel(lambda x: sincos(x)[0]), "cos": kernel(lambda x: sincos(x)[1]), "sqrt": kernel(lambda x: sqrt(x)),
    "abs": kernel(lambda x: absolute(x)), "sign": _sign, "negative": kernel(lambda x: -1.0 * x),
    **{name: _place_by_place(getattr(math, name)) for name in ("tan", "exp", "tanh")}}


def _of_one(target, function):
    """Define a function of one lane or array of lanes."""
    @overload(target, **_OPTIONS)
    def on_lanes(x):
        if x is LANE:
            return lambda x: function(x)
        if not (_is_array(x) and x.dtype is LANE):
            return None

        def each(x):
            result = fresh(splat(0.0), x.shape)
            for i in np.ndindex(x.shape):
                result[i] = function(x[i])
            return result
        return each


for _name, _function in _FUNCTIONS.items():
    _of_one(getattr(np, _name), _function)
    if hasattr(math, _name):
        _of_one(getattr(math, _name), _function)
_of_one(abs, _FUNCTIONS["abs"])


@overload(operator.neg, **_OPTIONS)
def _negative(x):
    return (lambda x: np.negative(x)) if _is_array(x) and x.dtype is LANE else None


@overload(operator.pow, **_OPTIONS)
def _power(x, n):
    if getattr(x, "dtype", x) is not LANE or not isinstance(n, types.IntegerLiteral) or n.literal_value not in (2, 3):
        return None
    return (lambda x, n: x * x) if n.literal_value == 2 else (lambda x, n: x * x * x)


# ------------------------------------------------------------------------------------------------- products and sums
def _product(a, b):
    """Return the function for the product of vectors and matrices of these Numba types."""
    if not (_is_array(a) and _is_array(b) and _has_lanes(a, b) and a.ndim <= 2 and b.ndim <= 2):
        return None
    if a.ndim == b.ndim == 1:
        def inner(a, b):
            if len(a) != len(b):
                raise ValueError("vectors of a product have different lengths")
            total = splat(0.0)
            for k in range(len(a)):
                total += a[k] * b[k]
            return total
        return inner
    if b.ndim == 1:
        def of_vector(a, b):
            result = fresh(splat(0.0), (a.shape[0],))
            for i in range(a.shape[0]):
                result[i] = over(a[i] @ b, splat(0.0))
            return result
        return of_vector
    if a.ndim == 1:
        return lambda a, b: b.T @ a

    def of_matrices(a, b):
        result = fresh(splat(0.0), (a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                result[i, j] = over(a[i] @ b[:, j], splat(0.0))
        return result
    return of_matrices


overload(operator.matmul, **_OPTIONS)(_product)
overload(np.dot, **_OPTIONS)(_product)


def _total(x):
    """Return the sum of all numbers of an array of lanes."""
    if not (_is_array(x) and x.dtype is LANE):
        return None

    def total(x):
        sum_ = splat(0.0)
        for i in np.ndindex(x.shape):
            sum_ += x[i]
        return sum_
    return total


overload(np.sum, **_OPTIONS)(_total)


@overload(np.linalg.norm, **_OPTIONS)
def _norm(x):
    return (lambda x: sqrt(x @ x)) if _is_array(x) and x.dtype is LANE and x.ndim == 1 else None
