"""Scalar functions for any kind of scalar: float64 compiled by Numba, and any Python number in plain mode.

In plain Python, other number types register their own functions, e.g. `sincos.register(mpmath.mpf, ...)`. NumPy arrays
are one kind, with a number for each state of a batch."""
import math
from collections.abc import Callable
from functools import singledispatch

import numpy as np

from screw_dynamics.jit.numba_internals.compiler import cgutils, intrinsic, ir, overload, types

from .values import Scalar, kernel

LIMIT = 1e6     # above it the three-part reduction of `sincos_polynomial` loses precision, and libm is used
SINGLE_LIMIT = 8192.0   # the same for `sincos_single`
TABLE_LIMIT = LIMIT / 32                # the same for `sincos_table`
ENTRIES = 128                              # entries of its table
_QUARTER = [math.sin(math.pi / 64 * k) if k < 16 else math.cos(math.pi / 64 * (32 - k)) for k in range(33)]
_HALF = [*_QUARTER, *_QUARTER[-2::-1]]
SINES = np.array([*_HALF, *(-x for x in _HALF[1:-1])])


def llvm_function(name: str, plain: Callable) -> Callable:
    """Return a function of one number: `plain` (singledispatch) in plain Python, the LLVM intrinsic `name` if
    compiled."""
    @intrinsic
    def instruction(typing, x):
        def build(context, builder, signature, args):
            kind = args[0].type
            suffix = "f64"
            if isinstance(kind, ir.VectorType):
                suffix = f"v{kind.count}f{32 if kind.element == ir.FloatType() else 64}"
            signature = ir.FunctionType(kind, [kind])
            called = cgutils.get_or_insert_function(builder.module, signature, f"llvm.{name}.{suffix}")
            return builder.call(called, args)
        return x(x), build

    def function(x):
        return plain(x)
    function.__name__ = function.__qualname__ = name
    function = singledispatch(function)

    @overload(function)
    def _compiled(x):
        if x is types.float64 or getattr(x, "lanes", 0):
            return lambda x: instruction(x)
        return None
    return function


sqrt, floor, absolute = llvm_function("sqrt", math.sqrt), llvm_function("floor", math.floor), llvm_function("fabs", abs)
nearest = llvm_function("rint", round)          # the nearest whole number; halves go to the even one


@singledispatch
def where(condition: bool, a: Scalar, b: Scalar) -> Scalar:
    """Return a where the condition holds, else b. Both are evaluated, as lanes and symbols require."""
    return a if condition else b


@overload(where)
def _where(condition, a, b):
    if isinstance(condition, types.Boolean):
        return lambda condition, a, b: a if condition else b
    return None


@kernel
def larger(a: Scalar, b: Scalar) -> Scalar:
    """Return the larger of two numbers; NaN if one is."""
    return where((a < b) | (b != b), b, a)


@singledispatch
def some(condition: bool) -> bool:
    """Return True if the condition holds; on lanes, if it holds in at least one element."""
    return bool(condition)


@overload(some)
def _some(condition):
    return (lambda condition: condition) if isinstance(condition, types.Boolean) else None


@singledispatch
def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y), in (-pi, pi]."""
    return math.atan2(y, x)


@overload(atan2)
def _atan2(y, x):
    return (lambda y, x: math.atan2(y, x)) if x is types.float64 else None


@singledispatch
def sincos(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return (sin x, cos x), x in radians; NaN for an infinity or NaN.

    Compiled, the error is below 1.6 ulp on lanes, else below 2.5 ulp, near table entries twice as large as the
    result."""
    if math.isinf(x):
        return math.nan, math.nan          # as compiled; math.sin would raise
    return math.sin(x), math.cos(x)


@kernel
def sincos_polynomial(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return (sin x, cos x) for |x| < LIMIT, without branches: x = k pi/2 + r, |r| <= pi/4, and fdlibm's
    polynomials."""
    k = floor(x * 0.6366197723675814 + 0.5)
    x = x - k * 1.5707963267341256                            # exact: k and this first part of pi/2 have few digits
    r = x - k * 6.077100506303966e-11
    lost = (x - r) - k * 6.077100506303966e-11                # the rounding error of r
    r = r + (lost - k * 2.0222662487959506e-21)
    z = r * r
    s = r + r * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
        + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))))
    c = 1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (
        2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09
        - z * 1.13596475577881948265e-11))))))
    half = floor(0.5 * k)
    odd = k - 2.0 * half                                      # 1 in the quadrants where sine and cosine are exchanged
    sign = 1.0 - 2.0 * (half - 2.0 * floor(0.5 * half))       # -1 in the lower two quadrants
    return sign * where(odd > 0.0, c, s), sign * (1.0 - 2.0 * odd) * where(odd > 0.0, s, c)


@kernel
def sincos_single(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return (sin x, cos x) in single precision for |x| < SINGLE_LIMIT, without branches.

    As `sincos_polynomial`, with minimax polynomials; on SINGLE lanes the error is below 1.2e-7."""
    k = nearest(x * 0.6366197723675814)
    r = ((x - k * 1.5703125) - k * 4.837512969970703125e-4) - k * 7.54978995489188216e-8
    z = r * r
    s = r + r * z * (-1.6666654611e-1 + z * (8.3321608736e-3 - z * 1.9515295891e-4))
    c = 1.0 - z * (0.5 - z * (4.166664568298827e-2 + z * (-1.388731625493765e-3 + z * 2.443315711809948e-5)))
    half = floor(0.5 * k)
    odd = k - 2.0 * half
    sign = 1.0 - 2.0 * (half - 2.0 * floor(0.5 * half))
    return sign * where(odd > 0.0, c, s), sign * (1.0 - 2.0 * odd) * where(odd > 0.0, s, c)


@kernel
def sincos_table(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return (sin x, cos x) for |x| < TABLE_LIMIT: x = k pi/64 + r, |r| <= pi/128, and the addition theorems.

    It takes two thirds of the operations of `sincos_polynomial`, but lanes would have to gather from the table."""
    k = nearest(x * 20.371832715762604)
    x = x - k * (1.5707963267341256 / 32)                     # exact: k and this first part of pi/64 have few digits
    r = x - k * (6.077100506303966e-11 / 32)
    lost = (x - r) - k * (6.077100506303966e-11 / 32)         # the rounding error of r
    r = r + (lost - k * (2.0222662487959506e-21 / 32))
    z = r * r
    s = r + r * z * (-1.66666666666666666667e-01 + z * (8.33333333333333333333e-03 - z * 1.98412698412698412698e-04))
    c = z * (-0.5 + z * (4.16666666666666666667e-02 - z * 1.38888888888888888889e-03))            # cos r - 1
    i = int(k) & (ENTRIES - 1)
    sine, cosine = SINES[i], SINES[(i + ENTRIES // 4) & (ENTRIES - 1)]
    return sine + (sine * c + cosine * s), cosine + (cosine * c - sine * s)


@overload(sincos)
def _sincos(x):
    if x is not types.float64:
        return None

    def either(x):
        if absolute(x) < TABLE_LIMIT:
            return sincos_table(x)
        return math.sin(x), math.cos(x)         # NaN, too
    return either


# ------------------------------------------------------------------------------------------------- arrays as numbers
for _function, _of_arrays in ((sqrt, np.sqrt), (floor, np.floor), (nearest, np.rint), (absolute, np.abs),
                              (atan2, np.arctan2), (where, np.where), (some, np.any),
                              (sincos, lambda x: (np.sin(x), np.cos(x)))):
    _function.register(np.ndarray, _of_arrays)
