"""Tables of values: data of each body in a recursion, and data of the model, column by column.

`class Table(NamedTuple)` lists the columns. After `q, C, V = body` each is a sequence, and `V[i]` reads and writes a
whole Twist. In plain Python a column is a list. Compiled, all columns of a table are in one float64 array, slot by
slot.

`extends` declares a table with the columns of another and additional ones. `taking` omits columns IfGiven that are not
inputs."""
import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import repeat
from typing import Annotated, Any, NamedTuple, TypeVar, get_type_hints

import numpy as np

from screw_dynamics.jit.numba_internals.compiler import cgutils, intrinsic, overload, types

from .structs import numba_types
from .values import Nil, build, fields, form_of, leaves, numba_type, numbers


class Square:
    """Annotation of a table: a column with a scalar for each pair of slots, `H[i, j]`."""


class Screws:
    """Annotation of a table: a matrix (6, n), with a column of scalars for each of n slots."""


MATRICES = Square, Screws
IF_GIVEN = "if given"
Kind = TypeVar("Kind")
# In annotations of a table: an optional input of a CompiledAlgorithm. If absent it is 0, without memory or operations.
IfGiven = Annotated[Kind, IF_GIVEN]


def extends(Base: type) -> Callable[[type], type]:
    """Declare a table with the columns of table `Base` before its own. Kernels of `Base` accept it if they access
    columns by name."""
    def decorate(own):
        return derived(own.__name__, own, {**_declared(Base), **_declared(own)})
    return decorate


@cache
def taking(Table: type, inputs: Sequence[str]) -> type:
    """Return the table whose first columns are these inputs, in their order, without other columns IfGiven. The
    remaining columns keep their order. Raises ValueError if an input is not a column."""
    kinds = _declared(Table)
    if not set(inputs) <= set(kinds):
        raise ValueError(f"{Table.__name__} has no columns {set(inputs) - set(kinds)}")
    absent = [name for name, kind in kinds.items()
              if name not in inputs and IF_GIVEN in getattr(kind, "__metadata__", ())]
    plain = {name: nothing(kind) if name in absent else kind for name, kind in get_type_hints(Table).items()}
    columns = {name: plain[name] for name in (*inputs, *(name for name in plain if name not in inputs))}
    return derived("_".join((Table.__name__, "without", *absent)) if absent else Table.__name__, Table, columns)


def _declared(Table):
    return get_type_hints(Table, include_extras=True)


def derived(name: str, Table: type, kinds: dict[str, Any]) -> type:
    """Return a table of these columns, with a name by which caches distinguish it from the original table."""
    made = NamedTuple(name, list(kinds.items()))            # type: ignore[misc]
    made.__module__, made.__qualname__, made.__doc__ = Table.__module__, name, Table.__doc__
    return made


@cache
def nothing(kind: type) -> type:
    """Return the type of values of a class, or of numbers, that are always 0."""
    if not issubclass(kind, tuple):
        return Nil
    parts = [(name, nothing(part)) for name, part in get_type_hints(kind).items()]
    return form_of(kind)(NamedTuple(f"No{kind.__name__}", parts))           # type: ignore[misc]


@cache
def width(cls: type) -> int:
    """Return the number of scalars in a slot of a table `cls`, without matrices."""
    return sum(leaf not in (Nil, *MATRICES) for leaf in leaves(cls))


def size(cls: type, n: int) -> int:
    """Return the number of scalars in a table `cls` of n slots."""
    return (width(cls) + 6 * fields(cls).count(Screws)) * n + fields(cls).count(Square) * n * n


def packed(rows: Sequence[NamedTuple]) -> np.ndarray:
    """Return values of one class as a float64 array, one row each. int fields store the bits of an integer, not its
    value."""
    kinds = leaves(type(rows[0]))
    array = np.array([numbers(row) for row in rows], dtype=float)
    nil = np.array([kind is Nil for kind in kinds])
    if array[:, nil].any():
        raise ValueError(f"{type(rows[0]).__name__}: numbers of type Nil must be 0, in {rows}")
    array, whole = np.ascontiguousarray(array[:, ~nil]), [kind is int for kind in kinds if kind is not Nil]
    array.view(np.int64)[:, whole] = array[:, whole]
    return array


def columns(cls: type, rows: Sequence[NamedTuple]) -> NamedTuple:
    """Return a sequence of values of class `cls` as a table in plain Python."""
    return cls(*map(list, zip(*rows, strict=True)))


def table(cls: type, like: Any, n: int, memory: np.ndarray | None = None, start: int = 0) -> NamedTuple:
    """Return a `cls` of columns with n slots each, over scalars of the type of `like`.

    Compiled, the columns are views of the float64 array `memory`, beginning at `start`. They hold no reference to it,
    which would be slow: it must be an argument of the compiled function, and large enough, which is not checked. In
    plain Python they are lists of the values in `memory`, if given."""
    lines = [_blank(cls)] * n if memory is None else _unpacked(cls, memory[start:], n)
    rows = zip(*lines, strict=True) if n > 0 else [()] * len(fields(cls))
    return cls(*(np.empty((6 if kind is Screws else n, n), dtype=object) if kind in MATRICES else list(column)
                 for kind, column in zip(fields(cls), rows, strict=True)))


@cache
def _blank(cls):
    """Return an empty row, with zeros for columns that are always 0."""
    return tuple(build(kind, repeat(0.0)) if set(leaves(kind)) == {Nil} else None for kind in fields(cls))


def _unpacked(cls, memory, n):
    """Yield the values of `packed`, from the first n rows in the memory of a table."""
    for row in memory[:n * width(cls)].reshape(n, width(cls)):
        stored = zip(row, row.view(np.int64).tolist(), strict=True)
        yield build(cls, [kind() if kind in (Nil, *MATRICES) else next(stored)[kind is int] for kind in leaves(cls)])


# ------------------------------------------------------------------------------------------------- compiled
def table_type(cls: type, like: Any) -> Any:
    """Return the numba_types.Block of a table `cls` over scalars of the Numba type `like`."""
    kinds = fields(cls)
    dtypes = [like if kind in MATRICES else numba_type(kind, like) for kind in kinds]
    row = sum(numba_types.doubles(dtype) for kind, dtype in zip(kinds, dtypes, strict=True) if kind not in MATRICES)
    column, matrix, arrays = 0, [(row, 0)], []              # products of n, the only size
    for kind, dtype in zip(kinds, dtypes, strict=True):
        step = numba_types.doubles(dtype)
        if kind in MATRICES:
            lines, made = (6,) if kind is Screws else (1, 0), numba_types.View(dtype, 2, "A", aligned=False)
            arrays.append(numba_types.Field(made, tuple(matrix), ((lines,), ((1, 0),)), (((step, 0),), ((step,),))))
            matrix.append((step * lines[0], *lines[1:], 0))
        else:
            made = numba_types.View(dtype, 1, "A", aligned=False)
            arrays.append(numba_types.Field(made, ((column,),), (((1, 0),),), (((row,),),)))
            column += step
    return numba_types.Block(cls, 1, (), arrays)


@intrinsic
def _table(typing, cls, like, n, memory, start):
    result = table_type(cls.instance_class, like)

    def build(context, builder, signature, args):
        _, _, n, memory, start = args
        return numba_types.block_at(context, builder, result, numba_types.position(builder, memory, start), [n])
    return result(cls, like, types.intp, memory, types.intp), build


@overload(table)
def _compiled_table(cls, like, n, memory=None, start=0):
    return lambda cls, like, n, memory=None, start=0: _table(cls, like, n, memory, start)


def block(like: Any, shape: tuple[int, ...], memory: np.ndarray, start: int) -> np.ndarray:
    """Return an array of scalars of the type of `like`: a view of the float64 array `memory`, beginning at `start`."""
    return memory[start:start + math.prod(shape)].reshape(shape)


@intrinsic
def _block(typing, like, shape, memory, start):
    result = numba_types.View(like, len(shape), "C", aligned=False)

    def build(context, builder, signature, args):
        _, shape, memory, start = args
        first = numba_types.position(builder, memory, start)
        lengths = cgutils.unpack_tuple(builder, shape)
        strides = [context.get_constant(types.intp, numba_types.doubles(like))]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        return numba_types.view_at(context, builder, result, first, lengths, strides)
    return result(like, shape, memory, types.intp), build


@overload(block)
def _compiled_block(like, shape, memory, start):
    return lambda like, shape, memory, start: _block(like, shape, memory, start)
