"""Lane: one LLVM vector of WIDTH doubles that compiled code treats as one number, to run on WIDTH states at once; or,
in single precision, of twice as many floats.

A Lane mixes with float64 in + - * / and comparisons; a comparison of lanes gives a mask for `where` and `some`.
Arithmetic is IEEE's place by place, except for values.FLAGS: a product and a sum may be fused, and a quotient may be a
product with the reciprocal. The functions of scalars.py accept lanes. Lanes exist in compiled code only;
in plain Python one number stands for a lane, whose WIDTH is then 1."""
import math
import operator
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_process_triple
from numba import types
from numba.extending import intrinsic, lower_cast, models, overload, register_model

from screw_dynamics.numba_internals.conversions import SAFE

from .scalars import LIMIT, SINGLE_LIMIT, absolute, atan2, sincos, sincos_polynomial, sincos_single, some, where
from .values import FLAGS, INLINE, PLAIN, kernel

# By the machine that Numba compiles for. The registers of AArch64 hold two doubles, and wider lanes spill more of them.
WIDTH = 1 if PLAIN else 4 if get_process_triple().startswith(("aarch64", "arm64")) else 8
_FAST = tuple(FLAGS["fastmath"])


class _Lanes(types.Type):
    """Numbers, or truth values, side by side in as much memory as WIDTH float64."""

    def __init__(self, name, element, count):
        super().__init__(name)
        self.vector, self.bitwidth, self.lanes = ir.VectorType(element, count), 64 * WIDTH, count

    def can_convert_from(self, context, other):
        """A number becomes a lane where controllers mix them; never a lane a number."""
        return SAFE if self in KINDS and isinstance(other, (types.Float, types.Integer)) else None


# SINGLE: twice as many numbers of single precision, in as much memory.
LANE, MASK = _Lanes("Lane", ir.DoubleType(), WIDTH), _Lanes("Mask", ir.IntType(1), WIDTH)
SINGLE, SINGLE_MASK = _Lanes("Single", ir.FloatType(), 2 * WIDTH), _Lanes("SingleMask", ir.IntType(1), 2 * WIDTH)
KINDS = {LANE: MASK, SINGLE: SINGLE_MASK}
MASKS = {mask: lane for lane, mask in KINDS.items()}


@register_model(_Lanes)
class _Model(models.PrimitiveModel):
    """In memory a packed struct, which may lie at any address: Numba does not align arrays as wide vectors require."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.vector)

    def get_data_type(self):
        return ir.LiteralStructType([self.get_value_type()], packed=True)

    def as_data(self, builder, value):
        return builder.insert_value(ir.Constant(self.get_data_type(), ir.Undefined), value, 0)

    def from_data(self, builder, value):
        return builder.extract_value(value, 0)


# ------------------------------------------------------------------------------------------------- arithmetic
def _broadcast(context, builder, lane, kind, x):
    """A lane as it is; any other number in all places."""
    if kind is lane:
        return x
    x, count = context.cast(builder, x, kind, types.float64), lane.lanes
    if lane is SINGLE:
        x = builder.fptrunc(x, ir.FloatType())
    first = builder.insert_element(ir.Constant(lane.vector, ir.Undefined), x, ir.IntType(32)(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count))


def _lane_among(*kinds):
    """The one kind of lane among these, if the others are numbers; else None."""
    lanes = {kind for kind in kinds if kind in KINDS}
    return lanes.pop() if len(lanes) == 1 and all(k in KINDS or isinstance(k, types.Number) for k in kinds) else None


def _lanewise(op, result, emit):
    """Define the operator `op` on two lanes, or on a lane and a scalar, by the instruction that `emit` builds; the kind
    of its result is result(kind of lane)."""
    @intrinsic
    def instruction(typing, a, b):
        lane = _lane_among(a, b)

        def build(context, builder, signature, args):
            return emit(builder, *(_broadcast(context, builder, lane, kind, x)
                                   for kind, x in zip(signature.args, args, strict=True)))
        return result(lane)(a, b), build

    @overload(op, jit_options=INLINE)
    def operation(a, b):
        return (lambda a, b: instruction(a, b)) if _lane_among(a, b) else None


def _arithmetic(name):
    return lambda builder, x, y: getattr(builder, name)(x, y, flags=_FAST)


def _comparison(name):
    compare = "fcmp_unordered" if name == "!=" else "fcmp_ordered"           # NaN differs from everything, even itself
    return lambda builder, x, y: getattr(builder, compare)(name, x, y)


for _name, _instruction in dict(add="fadd", sub="fsub", mul="fmul", truediv="fdiv").items():
    for _operator in (getattr(operator, _name), getattr(operator, "i" + _name)):
        _lanewise(_operator, lambda lane: lane, _arithmetic(_instruction))
for _name, _symbol in dict(lt="<", le="<=", gt=">", ge=">=", eq="==", ne="!=").items():
    _lanewise(getattr(operator, _name), KINDS.get, _comparison(_symbol))


@overload(operator.neg, jit_options=INLINE)
def _negative(x):
    return (lambda x: -1.0 * x) if x in KINDS else None


def _maskwise(op, name):
    """Define the operator `op`, & or |, on two masks."""
    @intrinsic
    def instruction(typing, a, b):
        return a(a, b), lambda context, builder, signature, args: getattr(builder, name)(*args)

    @overload(op, jit_options=INLINE)
    def operation(a, b):
        return (lambda a, b: instruction(a, b)) if a is b and a in MASKS else None


_maskwise(operator.and_, "and_")
_maskwise(operator.or_, "or_")


@lower_cast(types.Float, _Lanes)
@lower_cast(types.Integer, _Lanes)
def _to_lane(context, builder, source, target, x):
    return _broadcast(context, builder, target, source, x)


# ------------------------------------------------------------------------------------------------- choice
@intrinsic
def _select(typing, condition, a, b):
    lane = MASKS[condition]

    def build(context, builder, signature, args):
        return builder.select(args[0], *(_broadcast(context, builder, lane, kind, x)
                                         for kind, x in zip(signature.args[1:], args[1:], strict=True)))
    return lane(condition, a, b), build


@intrinsic
def _some(typing, mask):
    def build(context, builder, signature, args):
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], ir.IntType(mask.lanes)), ir.IntType(mask.lanes)(0))
    return types.boolean(mask), build


@overload(where, jit_options=INLINE)
def _where(condition, a, b):
    return (lambda condition, a, b: _select(condition, a, b)) if condition in MASKS else None


@overload(some, jit_options=INLINE)
def _some_lane(condition):
    return (lambda condition: _some(condition)) if condition in MASKS else None


# ------------------------------------------------------------------------------------------------- single places
@intrinsic
def _extract(typing, lane, k):
    def build(context, builder, signature, args):
        x = builder.extract_element(*args)
        return builder.fpext(x, ir.DoubleType()) if lane is SINGLE else x
    return (types.float64 if lane in KINDS else types.boolean)(lane, types.int32), build


@intrinsic
def _insert(typing, lane, k, x):
    def build(context, builder, signature, args):
        x = builder.fptrunc(args[2], ir.FloatType()) if lane is SINGLE else args[2]
        return builder.insert_element(args[0], x, args[1])
    return lane(lane, types.int32, types.float64), build


def _splat_of(lane):
    @intrinsic
    def in_all_places(typing, x):
        return lane(x), lambda context, builder, signature, args: _broadcast(
            context, builder, lane, signature.args[0], args[0])
    return in_all_places


_splat, _splat_single = _splat_of(LANE), _splat_of(SINGLE)


def splat(x: Any) -> Any:
    """The lane with x in all places."""
    return x


def splat_single(x: Any) -> Any:
    """The lane of single precision with x in all places."""
    return x


def places(x: Any) -> int:
    """How many numbers x holds: WIDTH for a lane or mask, else one."""
    return 1


def extract(x: Any, k: int) -> float:
    """The number in place k; for a scalar, the scalar itself."""
    return x


def insert(x: Any, k: int, number: float) -> Any:
    """x with its number in place k replaced; for a scalar, the new number."""
    return number


@overload(splat, jit_options=INLINE)
def _lane_of(x):
    return lambda x: _splat(x)


@overload(splat_single, jit_options=INLINE)
def _single_lane_of(x):
    return lambda x: _splat_single(x)


@overload(places, jit_options=INLINE)
def _places(x):
    count = getattr(x, "lanes", 1)
    return lambda x: count


@overload(extract, jit_options=INLINE)
def _extract_number(x, k):
    return (lambda x, k: _extract(x, k)) if isinstance(x, _Lanes) else (lambda x, k: x)


@overload(insert, jit_options=INLINE)
def _insert_number(x, k, number):
    return (lambda x, k, number: _insert(x, k, number)) if x in KINDS else (lambda x, k, number: number)


# ------------------------------------------------------------------------------------------------- sine, cosine, angle
@kernel
def _replaced(x, s, c, limit):
    """s and c, but libm's sine and cosine of x in places where |x| >= limit: such a number does not affect others."""
    for k in range(places(x)):
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


@overload(sincos, jit_options=INLINE)
def _sincos(x):
    if x is SINGLE:
        return lambda x: _sincos_large_single(x) if some(absolute(x) >= SINGLE_LIMIT) else sincos_single(x)
    if x is not LANE:
        return None
    return lambda x: _sincos_large(x) if some(absolute(x) >= LIMIT) else sincos_polynomial(x)


@overload(atan2, jit_options=INLINE)
def _atan2(y, x):
    if LANE not in (y, x):
        return None

    def each(y, x):
        a, y, x = splat(0.0), splat(0.0) + y, splat(0.0) + x
        for k in range(WIDTH):
            a = insert(a, k, math.atan2(extract(y, k), extract(x, k)))
        return a
    return each
