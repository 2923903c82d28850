"""Numba's types of this package's numbers; only what compiles imports this module."""
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_cast, models, register_model

from screw_dynamics.numba_internals.calls import SAFE
from screw_dynamics.numba_internals.compiler import FLAGS

from .lanes import WIDTH

INT, POINTER = ir.IntType(32), ir.IntType(8).as_pointer()
VECTOR, MASK_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH), ir.VectorType(ir.IntType(1), WIDTH)
FAST = tuple(FLAGS["fastmath"])


# ------------------------------------------------------------------------------------------------- structural zeros
class NilType(types.Number):
    """A number that is always 0, in no memory."""

    bitwidth = 0


NIL = NilType("Nil")


@register_model(NilType)
class _NilModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.LiteralStructType([]))


# ------------------------------------------------------------------------------------------------- lanes
class Lanes(types.Type):
    """Numbers, or truth values, side by side in as much memory as WIDTH float64."""

    def __init__(self, name: str, element: Any, count: int):
        super().__init__(name)
        self.vector, self.bitwidth, self.lanes = ir.VectorType(element, count), 64 * WIDTH, count

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """A number becomes a lane where controllers mix them; never a lane a number."""
        return SAFE if self in KINDS and isinstance(other, (types.Float, types.Integer)) else None


# SINGLE: twice as many numbers of single precision, in as much memory.
LANE, MASK = Lanes("Lane", ir.DoubleType(), WIDTH), Lanes("Mask", ir.IntType(1), WIDTH)
SINGLE, SINGLE_MASK = Lanes("Single", ir.FloatType(), 2 * WIDTH), Lanes("SingleMask", ir.IntType(1), 2 * WIDTH)
KINDS = {LANE: MASK, SINGLE: SINGLE_MASK}
MASKS = {mask: lane for lane, mask in KINDS.items()}


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    """In memory a packed struct, which may lie at any address: Numba does not align arrays as wide vectors require."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.vector)

    def get_data_type(self):
        return ir.LiteralStructType([self.get_value_type()], packed=True)

    def as_data(self, builder, value):
        return builder.insert_value(ir.Constant(self.get_data_type(), ir.Undefined), value, 0)

    def from_data(self, builder, value):
        return builder.extract_value(value, 0)


def broadcast(context: Any, builder: Any, lane: Lanes, kind: types.Type, x: Any) -> Any:
    """A lane as it is; any other number in all places."""
    if kind is lane:
        return x
    x, count = context.cast(builder, x, kind, types.float64), lane.lanes
    if lane is SINGLE:
        x = builder.fptrunc(x, ir.FloatType())
    first = builder.insert_element(ir.Constant(lane.vector, ir.Undefined), x, INT(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(INT, count), [0] * count))


@lower_cast(types.Float, Lanes)
@lower_cast(types.Integer, Lanes)
def _to_lane(context, builder, source, target, x):
    return broadcast(context, builder, target, source, x)


# ------------------------------------------------------------------------------------------------- dual numbers
class DualType(types.Type):
    """A float64 and a lane of its derivatives, side by side in memory."""

    bitwidth = 64 * (1 + WIDTH)

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """A number becomes a constant, never the other way."""
        return SAFE if isinstance(other, (types.Float, types.Integer)) else None


DUAL = DualType("Dual")


@register_model(DualType)
class _DualModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("x", types.float64), ("dx", LANE)])


@lower_cast(types.Float, DualType)
@lower_cast(types.Integer, DualType)
def _constant(context, builder, kind, dual, x):
    made = cgutils.create_struct_proxy(dual)(context, builder)
    made.x, made.dx = context.cast(builder, x, kind, types.float64), context.get_constant_null(LANE)
    return made._getvalue()


# ------------------------------------------------------------------------------------------------- views
class View(types.Array):
    """Arrays (dtype, ndim, layout) over memory that they do not own, and of which nothing is counted.

    Numba counts the references to an array wherever one is copied, though there is nothing to count if it holds none: a
    table of twenty columns that goes into a call took forty calls. A View is as long valid as its memory."""

    def __init__(self, dtype: Any, ndim: int, layout: str, readonly: bool = False, aligned: bool = True):
        kind = f"{'readonly ' * readonly}{'unaligned ' * (not aligned)}view"
        super().__init__(dtype, ndim, layout, readonly=readonly, aligned=aligned,
                         name=f"{kind}({dtype}, {ndim}d, {layout})")

    def copy(self, dtype: Any = None, ndim: int | None = None, layout: str | None = None,
             readonly: bool | None = None) -> "View":
        """The type of a part of such an array."""
        return View(self.dtype if dtype is None else dtype, self.ndim if ndim is None else ndim,
                    self.layout if layout is None else layout, not self.mutable if readonly is None else readonly,
                    self.aligned)

    def unify(self, typingctx: Any, other: Any) -> Any:
        """The type of what is one or the other: a View, if both are."""
        found = super().unify(typingctx, other)
        if found is None or not isinstance(other, View):
            return found
        return View(found.dtype, found.ndim, found.layout, not found.mutable, found.aligned)


class _Passed:
    """The part of a model that passes values as they are: a table of twenty columns took a hundred and forty arguments
    in each call, which the compiler takes apart and puts together."""

    def get_argument_type(self):
        return self.get_value_type()

    def as_argument(self, builder, value):
        return value

    def from_argument(self, builder, value):
        return value


@register_model(View)
class _ViewModel(_Passed, models.ArrayModel):
    """The model of an array without counted references."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind)
        members = [(name, types.voidptr if name == "meminfo" else member)
                   for name, member in zip(self._fields, self._members, strict=True)]
        models.StructModel.__init__(self, manager, kind, members)

    def traverse(self, builder):
        """Nothing is counted."""
        return []


class Table(types.NamedTuple):
    """Named tuples of Views, passed as one value as these are."""


@register_model(Table)
class _TableModel(_Passed, models.TupleModel):
    """The model of a tuple."""


@lower_cast(View, types.Array)
def _as_array(context, builder, source, target, value):
    return value


def array_of(view: View) -> types.Array:
    """Numba's own type of arrays for the memory of a View."""
    return types.Array(view.dtype, view.ndim, view.layout, readonly=not view.mutable, aligned=view.aligned)
