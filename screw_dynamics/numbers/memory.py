"""Working memory by name. A named tuple declares the lengths of the axes of each array, as numbers or names of sizes:

    class Box(NamedTuple):
        G: Annotated[np.ndarray, "u", "u"]
        lower: Annotated[np.ndarray, "u"]

`room` returns the count of numbers of all arrays, and `arranged` the consecutive arrays in memory. A field whose type
is a value class is a table of as many slots; a field without lengths is an argument. Compiled, the tuple is an address
and the sizes, and an array is created when it is read."""
import math
from functools import cache
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from screw_dynamics.jit.numba_internals.compiler import intrinsic, numba_arrays, overload, types

from .lanes import lane_count
from .structs import numba_types
from .tables import MATRICES, block, table, table_type, width
from .values import leaves


class Shared:
    """Annotation of float64 arrays, for any scalar type of the other arrays."""


class Words:
    """Annotation of int64 arrays."""


SCALARS = {Shared: 0.0, Words: 0}


class Part(NamedTuple):
    """An array or a table: numbers per slot, a scalar type if it has its own, lengths of its axes."""

    kind: type
    width: int
    scalar: float | None
    lengths: tuple[int | str, ...]

    def unit(self, unit: int) -> int:
        """Return the count of float64 per scalar, where those of other arrays have `unit`."""
        return unit if self.scalar is None else 1


@cache
def parts(cls: type) -> tuple[Part, ...]:
    """Return the arrays of a class, in their order in memory.

    Raises TypeError for a field without lengths after one that has them, and for a table with matrices."""
    found = []
    for name, kind in get_type_hints(cls, include_extras=True).items():
        told = getattr(kind, "__metadata__", ())
        if bool(found) > bool(told):
            raise TypeError(f"{cls.__name__}.{name}: what is given comes before the arrays")
        if told:
            of, scalar = kind.__origin__, SCALARS.get(told[0])
            if of is not np.ndarray and set(MATRICES) & set(leaves(of)):
                raise TypeError(f"{cls.__name__}.{name}: {of.__name__} has matrices")
            found.append(Part(of, 1 if of is np.ndarray else width(of), scalar, told[scalar is not None:]))
    return tuple(found)


def _axes(part, sizes):
    return [length if isinstance(length, int) else getattr(sizes, length) for length in part.lengths]


def room(cls: type, sizes: NamedTuple, unit: int = 1) -> int:
    """Return the count of float64 of all arrays of a class, for scalars of `unit` float64."""
    return sum(part.width * part.unit(unit) * math.prod(_axes(part, sizes)) for part in parts(cls))


def arranged(cls: type, like: Any, sizes: NamedTuple, memory: np.ndarray, start: int, *given: Any) -> Any:
    """Return a `cls` with arrays in `memory`, beginning at `start`, after the given fields.

    The scalars are of the type of `like`; `start` is counted in float64. The arrays hold no reference to that
    memory."""
    found = list(given)
    for part in parts(cls):
        axes = _axes(part, sizes)
        if part.kind is np.ndarray:
            array = block(like, tuple(axes), memory, start)
            found.append(array.view(np.int64) if part.scalar == 0 and isinstance(part.scalar, int) else array)
        else:
            found.append(table(part.kind, like, axes[0], memory, start))
        start += part.unit(lane_count(like)) * part.width * math.prod(axes)
    return cls(*found)


def rows_of(cls: type, name: str, sizes: NamedTuple, memory: np.ndarray, start: int, unit: int = 1) -> np.ndarray:
    """Return an array of `arranged` as float64, (numbers, unit): results of compiled code, for Python."""
    for key, part in zip(cls._fields[-len(parts(cls)):], parts(cls), strict=True):      # type: ignore[attr-defined]
        count = part.width * math.prod(_axes(part, sizes))
        if key == name:
            return memory[start:start + count * part.unit(unit)].reshape(count, -1)
        start += count * part.unit(unit)
    raise KeyError(name)


# ------------------------------------------------------------------------------------------------- compiled
_sizes: dict[type, tuple[str, ...]] = {}


@cache
def _products(cls: type, names: tuple[str, ...]) -> list[tuple]:
    """Return for each part the lengths of its axes as sums of products, and their product, see numba_types.Field.

    Raises TypeError if the class has had other sizes: Numba distinguishes types by their class."""
    if _sizes.setdefault(cls, names) != names:
        raise TypeError(f"{cls.__name__} has the sizes {_sizes[cls]}, not {names}")
    found = []
    for part in parts(cls):
        lengths = [(each,) if isinstance(each, int) else (1, names.index(each)) for each in part.lengths]
        found.append((tuple((each,) for each in lengths), (math.prod(each[0] for each in lengths) * part.width,
                                                           *(k for each in lengths for k in each[1:]))))
    return found


def _fields(cls: type, like: Any, names: tuple[str, ...]) -> list:
    """Return the numba_types.Field of each part."""
    found, start = [], []
    for part, (lengths, (factor, *of)) in zip(parts(cls), _products(cls, names), strict=True):
        scalar = like if part.scalar is None else types.intp if isinstance(part.scalar, int) else types.float64
        unit = numba_types.doubles(scalar)
        if part.kind is np.ndarray:
            kind = numba_types.View(scalar, len(lengths), "C", aligned=False)
            strides = [(unit,)]
            for ((ahead, *by),) in reversed(lengths[1:]):
                strides.insert(0, (strides[0][0] * ahead, *strides[0][1:], *by))
            found.append(numba_types.Field(kind, tuple(start), lengths, tuple((stride,) for stride in strides)))
        else:
            found.append(numba_types.Field(table_type(part.kind, scalar), tuple(start), lengths, ()))
        start.append((factor * unit, *of))
    return found


@intrinsic
def _arranged(typing, cls, like, sizes, memory, start, given):
    fields = _fields(cls.instance_class, types.unliteral(like), sizes.fields)
    result = numba_types.Block(cls.instance_class, len(sizes.fields), list(given), fields)

    def build(context, builder, signature, args):
        _, _, sizes, memory, start, given = args
        first = numba_types.position(builder, memory, start)
        numbers = [builder.extract_value(sizes, k) for k in range(len(signature.args[2].fields))]
        parts = [builder.extract_value(given, k) for k in range(len(signature.args[5]))]
        made = numba_types.block_at(context, builder, result, first, numbers, parts)
        return numba_arrays.borrowed(context, builder, result, made)
    return result(cls, like, sizes, memory, types.intp, given), build


@overload(arranged)
def _compiled_arranged(cls, like, sizes, memory, start, *given):
    return lambda cls, like, sizes, memory, start, *given: _arranged(cls, like, sizes, memory, start, given)


@intrinsic
def _room(typing, cls, sizes, unit):
    def build(context, builder, signature, args):
        (_, sizes, unit), found = args, context.get_constant(types.intp, 0)
        products = _products(cls.instance_class, signature.args[1].fields)
        for part, (_, (factor, *of)) in zip(parts(cls.instance_class), products, strict=True):
            product = context.get_constant(types.intp, factor)
            for number in (*([unit] if part.scalar is None else []), *(builder.extract_value(sizes, k) for k in of)):
                product = builder.mul(product, number)
            found = builder.add(found, product)
        return found
    return types.intp(cls, sizes, types.intp), build


@overload(room)
def _compiled_room(cls, sizes, unit=1):
    return lambda cls, sizes, unit=1: _room(cls, sizes, unit)
