"""Lane: one LLVM vector of WIDTH doubles that compiled code treats as one number, to compute WIDTH states at once; in
single precision, a vector of twice as many floats.

A Lane mixes with float64 in + - * / and comparisons. A comparison of lanes returns a mask for `where` and `some`.
Arithmetic is elementwise IEEE, except for compiler.FLAGS: a product and a sum may be fused, and a quotient may be a
product with the reciprocal. The functions of scalars.py accept lanes. Lanes exist in compiled code only; in plain
Python a lane is a single number, and WIDTH is 1."""
import math
import operator
import platform
from typing import Any

from screw_dynamics.jit.numba_internals.compiler import intrinsic, ir, overload, types

from .scalars import LIMIT, SINGLE_LIMIT, absolute, atan2, sincos, sincos_polynomial, sincos_single, some, where
from .structs import numba_types
from .values import PLAIN, kernel

# The registers of AArch64 hold two doubles, and wider lanes spill more of them.
WIDTH = 1 if PLAIN else 4 if platform.machine() in ("aarch64", "arm64") else 8


# ------------------------------------------------------------------------------------------------- arithmetic
def _lane_among(*given):
    """Return the single lane type among these types, if the others are numbers; else None."""
    lanes = {kind for kind in given if kind in numba_types.KINDS}
    numbers = all(kind in lanes or isinstance(kind, types.Number) for kind in given)
    return lanes.pop() if len(lanes) == 1 and numbers else None


def _lanewise(op, result, emit):
    """Define the operator `op` on two lanes, or on a lane and a scalar, by the instruction that `emit` builds. The type
    of its result is result(lane type)."""
    @intrinsic
    def instruction(typing, a, b):
        lane = _lane_among(a, b)

        def build(context, builder, signature, args):
            return emit(builder, *(numba_types.broadcast(context, builder, lane, kind, x)
                                   for kind, x in zip(signature.args, args, strict=True)))
        return result(lane)(a, b), build

    @overload(op)
    def operation(a, b):
        return (lambda a, b: instruction(a, b)) if _lane_among(a, b) else None


def _arithmetic(name):
    return lambda builder, x, y: getattr(builder, name)(x, y, flags=numba_types.FAST)


def _comparison(name):
    compare = "fcmp_unordered" if name == "!=" else "fcmp_ordered"           # NaN differs from everything, even itself
    return lambda builder, x, y: getattr(builder, compare)(name, x, y)


for _name, _instruction in dict(add="fadd", sub="fsub", mul="fmul", truediv="fdiv").items():
    for _operator in (getattr(operator, _name), getattr(operator, "i" + _name)):
        _lanewise(_operator, lambda lane: lane, _arithmetic(_instruction))
for _name, _symbol in dict(lt="<", le="<=", gt=">", ge=">=", eq="==", ne="!=").items():
    _lanewise(getattr(operator, _name), lambda lane: numba_types.KINDS[lane], _comparison(_symbol))


@overload(operator.neg)
def _negative(x):
    return (lambda x: -1.0 * x) if x in numba_types.KINDS else None


def _maskwise(op, name):
    """Define the operator `op`, & or |, on two masks."""
    @intrinsic
    def instruction(typing, a, b):
        return a(a, b), lambda context, builder, signature, args: getattr(builder, name)(*args)

    @overload(op)
    def operation(a, b):
        return (lambda a, b: instruction(a, b)) if a is b and a in numba_types.MASKS else None


_maskwise(operator.and_, "and_")
_maskwise(operator.or_, "or_")


# ------------------------------------------------------------------------------------------------- choice
@intrinsic
def _select(typing, condition, a, b):
    lane = numba_types.MASKS[condition]

    def build(context, builder, signature, args):
        return builder.select(args[0], *(numba_types.broadcast(context, builder, lane, kind, x)
                                         for kind, x in zip(signature.args[1:], args[1:], strict=True)))
    return lane(condition, a, b), build


@intrinsic
def _some(typing, mask):
    def build(context, builder, signature, args):
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], ir.IntType(mask.lanes)), ir.IntType(mask.lanes)(0))
    return types.boolean(mask), build


@overload(where)
def _where(condition, a, b):
    return (lambda condition, a, b: _select(condition, a, b)) if condition in numba_types.MASKS else None


@overload(some)
def _some_lane(condition):
    return (lambda condition: _some(condition)) if condition in numba_types.MASKS else None


# ------------------------------------------------------------------------------------------------- single places
@intrinsic
def _extract(typing, lane, k):
    def build(context, builder, signature, args):
        x = builder.extract_element(*args)
        return builder.fpext(x, ir.DoubleType()) if lane is numba_types.SINGLE else x
    return (types.float64 if lane in numba_types.KINDS else types.boolean)(lane, types.int32), build


@intrinsic
def _insert(typing, lane, k, x):
    def build(context, builder, signature, args):
        x = builder.fptrunc(args[2], ir.FloatType()) if lane is numba_types.SINGLE else args[2]
        return builder.insert_element(args[0], x, args[1])
    return lane(lane, types.int32, types.float64), build


def _splat_of(name):
    @intrinsic
    def broadcast(typing, x):
        lane = getattr(numba_types, name)
        return lane(x), lambda context, builder, signature, args: numba_types.broadcast(
            context, builder, lane, signature.args[0], args[0])
    return broadcast


_splat, _splat_single = _splat_of("LANE"), _splat_of("SINGLE")


def splat(x: Any) -> Any:
    """Return the lane with x in all elements."""
    return x


def splat_single(x: Any) -> Any:
    """Return the single-precision lane with x in all elements."""
    return x


def lane_count(x: Any) -> int:
    """Return the count of numbers in x: WIDTH for a lane or mask, twice that in single precision, else one."""
    return 1


def extract(x: Any, k: int) -> float:
    """Return element k of a lane; for a scalar, the scalar itself."""
    return x


def insert(x: Any, k: int, number: float) -> Any:
    """Return x with its element k replaced; for a scalar, the new number."""
    return number


@overload(splat)
def _lane_of(x):
    return lambda x: _splat(x)


@overload(splat_single)
def _single_lane_of(x):
    return lambda x: _splat_single(x)


@overload(lane_count)
def _lane_count(x):
    count = getattr(x, "lanes", 1)
    return lambda x: count


@overload(extract)
def _extract_number(x, k):
    return (lambda x, k: _extract(x, k)) if isinstance(x, numba_types.Lanes) else (lambda x, k: x)


@overload(insert)
def _insert_number(x, k, number):
    return (lambda x, k, number: _insert(x, k, number)) if x in numba_types.KINDS else (lambda x, k, number: number)


# ------------------------------------------------------------------------------------------------- sine, cosine, angle
@kernel
def _replaced(x, s, c, limit):
    """Return s and c, with libm's sine and cosine of x in elements with |x| >= limit, which do not affect other
    elements."""
    for k in range(lane_count(x)):
        a = extract(x, k)
        if abs(a) >= limit:
            s, c = insert(s, k, math.sin(a)), insert(c, k, math.cos(a))
    return s, c


@kernel
def _sincos_large(x):
    s, c = sincos_polynomial(x)
    return _replaced(x, s, c, LIMIT)


@kernel
def _sincos_large_single(x):
    s, c = sincos_single(x)
    return _replaced(x, s, c, SINGLE_LIMIT)


@overload(sincos)
def _sincos(x):
    if x is numba_types.SINGLE:
        return lambda x: _sincos_large_single(x) if some(absolute(x) >= SINGLE_LIMIT) else sincos_single(x)
    if x is not numba_types.LANE:
        return None
    return lambda x: _sincos_large(x) if some(absolute(x) >= LIMIT) else sincos_polynomial(x)


@overload(atan2)
def _atan2(y, x):
    if numba_types.LANE not in (y, x):
        return None

    def each(y, x):
        a, y, x = splat(0.0), splat(0.0) + y, splat(0.0) + x
        for k in range(WIDTH):
            a = insert(a, k, math.atan2(extract(y, k), extract(x, k)))
        return a
    return each
