"""Numba types of this package's numbers. Only modules that compile import this module."""
import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, lower_cast, lower_getattr_generic, models, register_model

from screw_dynamics.jit.numba_internals.arrays import (
    borrowed,
    getitem_array_tuple,
    getitem_arraynd_intp,
    load_item,
    setitem_array,
    store_item,
)
from screw_dynamics.jit.numba_internals.calls import SAFE
from screw_dynamics.jit.numba_internals.compiler import FLAGS

from .lanes import WIDTH

INT, POINTER = ir.IntType(32), ir.IntType(8).as_pointer()
VECTOR, MASK_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH), ir.VectorType(ir.IntType(1), WIDTH)
FAST = tuple(FLAGS["fastmath"])


# ------------------------------------------------------------------------------------------------- structural zeros
class NilType(types.Number):
    """A number that is always 0, and takes no memory."""

    bitwidth = 0


NIL = NilType("Nil")


@register_model(NilType)
class _NilModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.LiteralStructType([]))


# ------------------------------------------------------------------------------------------------- lanes
class Lanes(types.Type):
    """Numbers, or bools, side by side in as much memory as WIDTH float64."""

    def __init__(self, name: str, element: Any, count: int):
        super().__init__(name)
        self.vector, self.bitwidth, self.lanes = ir.VectorType(element, count), 64 * WIDTH, count

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Return SAFE for numbers, as controllers mix them with lanes; lanes do not convert to numbers."""
        return SAFE if self in KINDS and isinstance(other, (types.Float, types.Integer)) else None


# SINGLE: twice as many single-precision numbers, in the same memory.
LANE, MASK = Lanes("Lane", ir.DoubleType(), WIDTH), Lanes("Mask", ir.IntType(1), WIDTH)
SINGLE, SINGLE_MASK = Lanes("Single", ir.FloatType(), 2 * WIDTH), Lanes("SingleMask", ir.IntType(1), 2 * WIDTH)
KINDS = {LANE: MASK, SINGLE: SINGLE_MASK}
MASKS = {mask: lane for lane, mask in KINDS.items()}


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    """Data model of lanes: in memory a packed struct at any address, since Numba does not align arrays for wide
    vectors."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.vector)

    def get_data_type(self):
        return ir.LiteralStructType([self.get_value_type()], packed=True)

    def as_data(self, builder, value):
        return builder.insert_value(ir.Constant(self.get_data_type(), ir.Undefined), value, 0)

    def from_data(self, builder, value):
        return builder.extract_value(value, 0)


def broadcast(context: Any, builder: Any, lane: Lanes, kind: types.Type, x: Any) -> Any:
    """Return a lane unchanged, or any other number in all elements of a lane."""
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
    """A float64 and a lane of its derivatives, adjacent in memory."""

    bitwidth = 64 * (1 + WIDTH)

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Return SAFE for numbers, which are constants; dual numbers do not convert to numbers."""
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
    """Arrays (dtype, ndim, layout) over memory that they do not own, without reference counts.

    Numba counts the references to an array wherever one is copied, even if it holds none: a table of twenty columns as
    an argument required forty calls. A View is valid as long as its memory."""

    def __init__(self, dtype: Any, ndim: int, layout: str, readonly: bool = False, aligned: bool = True):
        kind = f"{'readonly ' * readonly}{'unaligned ' * (not aligned)}view"
        super().__init__(dtype, ndim, layout, readonly=readonly, aligned=aligned,
                         name=f"{kind}({dtype}, {ndim}d, {layout})")

    def copy(self, dtype: Any = None, ndim: int | None = None, layout: str | None = None,
             readonly: bool | None = None) -> "View":
        """Return the type of a slice of such an array."""
        return View(self.dtype if dtype is None else dtype, self.ndim if ndim is None else ndim,
                    self.layout if layout is None else layout, not self.mutable if readonly is None else readonly,
                    self.aligned)

    def unify(self, typingctx: Any, other: Any) -> Any:
        """Return the common type of two arrays: a View, if both are."""
        found = super().unify(typingctx, other)
        if found is None or not isinstance(other, View):
            return found
        return View(found.dtype, found.ndim, found.layout, not found.mutable, found.aligned)


class _Passed:
    """Mixin of a model that passes values unchanged. A table of twenty columns had 140 arguments in each call, which
    the compiler splits and joins again."""

    def get_argument_type(self):
        return self.get_value_type()

    def as_argument(self, builder, value):
        return value

    def from_argument(self, builder, value):
        return value


@register_model(View)
class _ViewModel(_Passed, models.ArrayModel):
    """Data model of an array without reference counts."""

    def __init__(self, manager, kind):
        super().__init__(manager, kind)
        members = [(name, types.voidptr if name == "meminfo" else member)
                   for name, member in zip(self._fields, self._members, strict=True)]
        models.StructModel.__init__(self, manager, kind, members)

    def traverse(self, builder):
        """Return no members, as nothing is counted."""
        return []


class Field(NamedTuple):
    """An array of a Block: its View, and in doubles its start, the lengths of its axes and their strides. Each is a sum
    of products, (factor, *indices of sizes)."""

    view: View
    start: tuple
    lengths: tuple
    strides: tuple


class Block(types.NamedTuple):
    """A named tuple of Views of memory at one address, passed as this address and the sizes of the arrays.

    A View is created when it is read, by name, by index or by unpacking the tuple; unpacking as call arguments is not
    supported."""

    def __init__(self, cls: type, sizes: int, given: Sequence, arrays: Sequence[Field]):
        self.sizes, self.given, self.arrays = sizes, len(given), arrays
        super().__init__([*given, *(field.view for field in arrays)], cls)


@register_model(Block)
class _BlockModel(_Passed, models.StructModel):
    """Data model of a Block: its address, its sizes, and the fields outside its memory."""

    def __init__(self, manager, kind):
        given = [(f"given_{k}", kind.types[k]) for k in range(kind.given)]
        super().__init__(manager, kind, [("first", types.CPointer(types.float64)),
                                         ("sizes", types.UniTuple(types.intp, kind.sizes)), *given])


def block_at(context: Any, builder: Any, kind: Block, first: Any, sizes: Sequence, given: Sequence = ()) -> Any:
    """Return the Block at an address, with integer sizes."""
    made = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for k, value in enumerate((first, cgutils.pack_array(builder, sizes), *given)):
        made = builder.insert_value(made, value, k)
    return made


def _part(context, builder, kind, block, index):
    """Return an element of a Block."""
    if index < kind.given:
        return borrowed(context, builder, kind.types[index], builder.extract_value(block, 2 + index))
    field, known, intp = kind.arrays[index - kind.given], {}, context.get_value_type(types.intp)

    def size(k):
        if k not in known:
            known[k] = builder.extract_value(block, [1, k])
        return known[k]

    def total(products):
        found = sum(factor for factor, *of in products if not of)
        terms = [intp(found)] if found or all(len(each) == 1 for each in products) else []
        for factor, *of in products:
            if of:
                terms.append(functools.reduce(builder.mul, map(size, of), *([intp(factor)] if factor != 1 else [])))
        return functools.reduce(builder.add, terms)
    data = builder.extract_value(block, 0)
    if field.start and field.start != ((0,),):
        data = builder.gep(data, [total(field.start)])
    lengths = [total(length) for length in field.lengths]
    if isinstance(field.view, Block):
        return block_at(context, builder, field.view, data, lengths)
    return view_at(context, builder, field.view, data, lengths, [total(stride) for stride in field.strides])


@lower_getattr_generic(Block)
def _attribute(context, builder, kind, value, name):
    return _part(context, builder, kind, value, kind.fields.index(name))


@lower_builtin("static_getitem", Block, types.IntegerLiteral)
def _item(context, builder, signature, args):
    (kind, _), (value, index) = signature.args, args
    return _part(context, builder, kind, value, range(len(kind.types))[index])


@lower_builtin("static_getitem", Block, types.SliceLiteral)
def _items(context, builder, signature, args):
    (kind, _), (value, some) = signature.args, args
    parts = [_part(context, builder, kind, value, index) for index in range(len(kind.types))[some]]
    return context.make_tuple(builder, signature.return_type, parts)


def doubles(kind: Any) -> int:
    """Return the size of a Numba number type, in doubles."""
    return sum(map(doubles, kind)) if isinstance(kind, types.BaseTuple) else kind.bitwidth // 64


MEMBERS = "meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides"      # of an array, in Numba's order


def view_at(context: Any, builder: Any, kind: View, data: Any, shape: Sequence, strides: Sequence) -> Any:
    """Return an array of type `kind` over memory that it does not own; shape in entries, strides in doubles."""
    intp, none = context.get_value_type(types.intp), context.get_value_type(types.voidptr)(None)
    size = 8 * doubles(kind.dtype)
    nitems = functools.reduce(builder.mul, shape, intp(1)) if len(shape) != 1 else shape[0]
    members = (none, none, nitems, intp(size), builder.bitcast(data, context.get_data_type(kind.dtype).as_pointer()),
               cgutils.pack_array(builder, shape, intp),
               cgutils.pack_array(builder, [builder.mul(stride, intp(8)) for stride in strides], intp))
    view = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for k, member in enumerate(members):
        view = builder.insert_value(view, member, k)
    return view


def data_of(builder: Any, array: Any) -> Any:
    """Return the pointer to the first entry of an array."""
    return _member(builder, array, "data")


def position(builder: Any, memory: Any, start: Any) -> Any:
    """Return the pointer to a position in an array, in float64."""
    return builder.gep(builder.bitcast(data_of(builder, memory), ir.DoubleType().as_pointer()), [start])


def _member(builder, view, name, *axis):
    return builder.extract_value(view, [MEMBERS.index(name), *axis])


def _entry(context, builder, kind, view, index_types, indices):
    """Return the address of an entry of a View."""
    data, positions, intp = _member(builder, view, "data"), [], context.get_value_type(types.intp)
    for axis, (given, index) in enumerate(zip(index_types, indices, strict=True)):
        if isinstance(index, int):
            index = intp(index)
        else:
            index = context.cast(builder, index, given, types.intp)
        if given.signed and not (isinstance(index, ir.Constant) and index.constant >= 0):
            beyond = builder.add(_member(builder, view, "shape", axis), index)
            index = builder.select(builder.icmp_signed("<", index, intp(0)), beyond, index)
        positions.append(index)
    if kind.layout == "C":
        position = positions[0]
        for axis in range(1, kind.ndim):
            position = builder.add(builder.mul(position, _member(builder, view, "shape", axis)), positions[axis])
        return builder.gep(data, [position])
    strides = (_member(builder, view, "strides", axis) for axis in range(kind.ndim))
    return cgutils.pointer_add(builder, data, functools.reduce(builder.add, map(builder.mul, positions, strides)))


def _indices(context, builder, kind, index_type, index):
    """Return the types and values of integers that select an entry of a View. Return None for other indices, and if
    bounds are checked."""
    if context.enable_boundscheck or kind.ndim == 0:
        return None
    if isinstance(index_type, types.BaseTuple):
        given, values = index_type.types, index if isinstance(index, tuple) else cgutils.unpack_tuple(builder, index)
    else:
        given, values = (index_type,), (index,)
    whole = len(given) == kind.ndim and all(isinstance(t, types.Integer) for t in given)
    return (given, values) if whole else None


@lower_builtin(operator.getitem, View, types.Integer)
@lower_builtin(operator.getitem, View, types.BaseTuple)
def _get(context, builder, signature, args):
    kind, index_type = signature.args
    named = _indices(context, builder, kind, index_type, args[1])
    if named is None:
        general = getitem_array_tuple if isinstance(index_type, types.BaseTuple) else getitem_arraynd_intp
        return general(context, builder, signature, args)
    return load_item(context, builder, kind, _entry(context, builder, kind, args[0], *named))


@lower_builtin(operator.setitem, View, types.Any, types.Any)
def _set(context, builder, signature, args):
    kind, index_type, given = signature.args
    named = _indices(context, builder, kind, index_type, args[1])
    if named is None:
        return setitem_array(context, builder, signature, args)
    value = context.cast(builder, args[2], given, kind.dtype)
    store_item(context, builder, kind, value, _entry(context, builder, kind, args[0], *named))


@lower_cast(View, types.Array)
def _as_array(context, builder, source, target, value):
    return value


def array_of(view: View) -> types.Array:
    """Return Numba's own array type for the memory of a View."""
    return types.Array(view.dtype, view.ndim, view.layout, readonly=not view.mutable, aligned=view.aligned)
