"""Dual numbers: a number and its derivatives in WIDTH directions at once, for exact derivatives of any kernel.

A Dual mixes with float64 in + - * / and comparisons, which compare the numbers only. The functions of scalars.py, and
those of `math` that have derivatives, accept it. At a kink of a function its derivative is one-sided. In plain Python
WIDTH is 1, and a Dual an object."""
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from screw_dynamics.jit.numba_internals.compiler import cgutils, intrinsic, overload, types

from .lanes import WIDTH, extract, insert, splat
from .scalars import absolute, atan2, floor, sincos, sqrt
from .structs import member, numba_types
from .values import is_value, kernel


class Dual:
    """A number x and its derivative dx, in plain Python."""

    __slots__ = "x", "dx"

    def __init__(self, x: float, dx: float):
        self.x, self.dx = x, dx


# ------------------------------------------------------------------------------------------------- parts
def dual(x: float, dx: Any) -> Any:
    """Return the Dual of a number and its derivatives."""
    return Dual(x, dx)


def value_of(a: Any) -> float:
    """Return the number of a Dual without its derivatives; other numbers are returned unchanged."""
    return a.x if isinstance(a, Dual) else a


def slope(a: Any) -> Any:
    """Return the derivatives of a Dual, on a lane (in plain Python a single one); 0.0 for other numbers."""
    return a.dx if isinstance(a, Dual) else 0.0


@intrinsic
def _dual(typing, x, dx):
    def build(context, builder, signature, args):
        made = cgutils.create_struct_proxy(numba_types.DUAL)(context, builder)
        made.x, made.dx = args
        return made._getvalue()
    return numba_types.DUAL(types.float64, numba_types.LANE), build


_number, _slope = member("x", lambda: types.float64), member("dx", lambda: numba_types.LANE)


@overload(dual)
def _dual_of(x, dx):
    return lambda x, dx: _dual(x, dx)


@overload(value_of)
def _number_of(a):
    return (lambda a: _number(a)) if a is numba_types.DUAL else (lambda a: a)


@overload(slope)
def _slope_of(a):
    return (lambda a: _slope(a)) if a is numba_types.DUAL else (lambda a: splat(0.0))


@kernel
def direction(k: int) -> Any:
    """Return the derivatives of a number that changes along direction k of WIDTH only; 0 for k out of range."""
    dx = splat(0.0)
    for place in range(WIDTH):
        if place == k:
            dx = insert(dx, place, 1.0)
    return dx


@kernel
def lifted(a: Any) -> Any:
    """Return a number as a Dual."""
    return dual(value_of(a), slope(a))


@kernel
def along(a: Any, place: int) -> float:
    """Return the derivative of a Dual in one direction."""
    return extract(slope(a), place)


# ------------------------------------------------------------------------------------------------- arithmetic
# Rules for two Duals, for a Dual on the left, and on the right. The slope of a constant is omitted, not added as 0.
RULES: dict[str, tuple[Callable, Callable, Callable]] = {
    "add": (lambda a, b: dual(value_of(a) + value_of(b), slope(a) + slope(b)),
            lambda a, b: dual(value_of(a) + b, slope(a)),
            lambda a, b: dual(a + value_of(b), slope(b))),
    "sub": (lambda a, b: dual(value_of(a) - value_of(b), slope(a) - slope(b)),
            lambda a, b: dual(value_of(a) - b, slope(a)),
            lambda a, b: dual(a - value_of(b), -1.0 * slope(b))),
    "mul": (lambda a, b: dual(value_of(a) * value_of(b), value_of(a) * slope(b) + value_of(b) * slope(a)),
            lambda a, b: dual(value_of(a) * b, b * slope(a)),
            lambda a, b: dual(a * value_of(b), a * slope(b))),
    "truediv": (lambda a, b: dual(value_of(a) / value_of(b),
                                  (slope(a) - (value_of(a) / value_of(b)) * slope(b)) / value_of(b)),
                lambda a, b: dual(value_of(a) / b, slope(a) / b),
                lambda a, b: dual(a / value_of(b), (-a / (value_of(b) * value_of(b))) * slope(b))),
}
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def _arithmetic(name, rules):
    def compiled(a, b):
        dual = numba_types.DUAL
        if dual not in (a, b) or not all(kind is dual or isinstance(kind, (types.Float, types.Integer))
                                         for kind in (a, b)):
            return None
        return rules[0 if a is b else 1 if a is dual else 2]
    for op in (getattr(operator, name), getattr(operator, f"i{name}")):
        overload(op)(compiled)
    setattr(Dual, f"__{name}__", lambda a, b: NotImplemented if is_value(b) else rules[not isinstance(b, Dual)](a, b))
    setattr(Dual, f"__r{name}__", lambda b, a: rules[2](a, b))


for _name, _rules in RULES.items():
    _arithmetic(_name, _rules)


def _comparison(name):
    compare = getattr(operator, name)
    meaning = eval("lambda a, b: compare(value_of(a), value_of(b))", {"compare": compare, "value_of": value_of})

    @overload(compare)
    def compiled(a, b):
        return meaning if numba_types.DUAL in (a, b) else None
    setattr(Dual, f"__{name}__", meaning)


for _name in COMPARISONS:
    _comparison(_name)
Dual.__hash__ = None                    # type: ignore[assignment]
Dual.__neg__ = lambda a: -1.0 * a       # type: ignore[attr-defined]
Dual.__pos__ = lambda a: a              # type: ignore[attr-defined]


@overload(operator.neg)
def _negative(a):
    return (lambda a: -1.0 * a) if a is numba_types.DUAL else None


# ------------------------------------------------------------------------------------------------- functions
def _function(function, meaning):
    """Define a function of one Dual, in compiled code and in plain Python."""
    @overload(function)
    def compiled(x):
        return meaning if x is numba_types.DUAL else None
    if hasattr(function, "register"):
        function.register(Dual, meaning)


@kernel
def _chain(x, f, df):
    """Return f(x) with its derivative df(x), both numbers."""
    return dual(f, df * slope(x))


def _sincos(x):
    s, c = sincos(value_of(x))
    return _chain(x, s, c), _chain(x, c, -s)


def _sign(x):
    """Return 1, -1, or at the kink of |x| the mean of both."""
    return 1.0 * (x > 0.0) - 1.0 * (x < 0.0)


_function(sincos, _sincos)
_function(floor, lambda x: dual(floor(value_of(x)), 0.0 * slope(x)))
# Derivatives of functions of one number, by their names in NumPy and math.
DERIVATIVES: dict[str, Callable[[float], float]] = {
    "sin": lambda x: math.cos(x), "cos": lambda x: -math.sin(x), "tan": lambda x: 1.0 + math.tan(x) ** 2,
    "exp": lambda x: math.exp(x), "log": lambda x: 1.0 / x, "sqrt": lambda x: 0.5 / math.sqrt(x),
    "sinh": lambda x: math.cosh(x), "cosh": lambda x: math.sinh(x), "tanh": lambda x: 1.0 - math.tanh(x) ** 2,
    "arcsin asin": lambda x: 1.0 / math.sqrt(1.0 - x * x), "arccos acos": lambda x: -1.0 / math.sqrt(1.0 - x * x),
    "arctan atan": lambda x: 1.0 / (1.0 + x * x), "absolute fabs": _sign,
}
_of_numpy: dict = {}        # by NumPy's function: the function for Duals in plain Python


def _named(names, derivative):
    """Define a function of one Dual, by its names in NumPy and math."""
    of_numpy, *_, of_math = names.split() * 2
    plain, derivative = getattr(math, of_math), kernel(derivative)

    def meaning(x):
        return _chain(x, plain(value_of(x)), derivative(value_of(x)))
    for function in {plain, getattr(np, of_numpy)}:
        _function(function, meaning)
    _of_numpy[getattr(np, of_numpy)] = meaning
    return meaning


for _names, _derivative in DERIVATIVES.items():
    _meaning = _named(_names, _derivative)
    if _names in ("sqrt", "absolute fabs"):
        _function(sqrt if _names == "sqrt" else absolute, _meaning)
_function(abs, _meaning)
Dual.__abs__ = _meaning                 # type: ignore[attr-defined]


def _of_two(functions, meaning):
    """Define functions of two numbers, at least one of which is a Dual."""
    def compiled(a, b):
        return meaning if numba_types.DUAL in (a, b) else None
    for function in functions:
        overload(function)(compiled)
        if hasattr(function, "register"):
            function.register(Dual, meaning)
        _of_numpy[function] = meaning


def _atan2(a, b):
    y, x = value_of(a), value_of(b)
    return dual(math.atan2(y, x), (x * slope(a) - y * slope(b)) / (x * x + y * y))


def _power(a, b):
    x, n = value_of(a), value_of(b)
    by_exponent = x ** n * math.log(x) if x > 0.0 else 0.0 * x           # needed if the exponent is a Dual
    return dual(x ** n, (n * x ** (n - 1.0)) * slope(a) + by_exponent * slope(b))


_of_two([math.atan2, np.arctan2], _atan2)
atan2.register(Dual, _atan2)            # its arguments are y and x
overload(atan2)(lambda y, x: (lambda y, x: math.atan2(y, x)) if numba_types.DUAL in (y, x) else None)
_of_two([math.pow, np.power, operator.pow], _power)
_of_two([min, np.minimum], lambda a, b: lifted(a) if value_of(a) <= value_of(b) else lifted(b))
_of_two([max, np.maximum], lambda a, b: lifted(a) if value_of(a) >= value_of(b) else lifted(b))
Dual.__pow__ = _power                   # type: ignore[attr-defined]
Dual.__rpow__ = lambda b, a: _power(a, b)       # type: ignore[attr-defined]


def _ufunc(self, function, method, *inputs, **options):
    """Return a NumPy function of numbers and Duals; operators are implemented by Dual."""
    if method != "__call__" or options or function not in _of_numpy:
        return NotImplemented
    return _of_numpy[function](*(x.item() if isinstance(x, np.generic) else x for x in inputs))


Dual.__array_ufunc__ = _ufunc           # type: ignore[attr-defined]
for _name in RULES:
    _of_numpy[getattr(np, {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide"}[_name])] = getattr(
        operator, _name)


def no_derivatives() -> Any:
    """Return the dual number 0 with derivative 0."""
    return Dual(0.0, 0.0)


@overload(no_derivatives)
def _no_derivatives():
    return lambda: dual(0.0, splat(0.0))
