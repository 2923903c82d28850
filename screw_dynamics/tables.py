"""Tables of values: what a recursion keeps of each body, and what it reads of the model, column by column.

`class Body(NamedTuple)` lists the columns; in `q, C, V = body` each is a sequence, and `V[i]` reads and writes a whole
Twist. In plain Python a column is a list. Compiled, all columns of a table lie in one float64 array, slot after slot.
"""
import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from .values import INLINE, fields, numba_type, numbers, zero


def width(cls):
    """How many numbers a value of class `cls` has."""
    return len(numbers(zero(cls, 0.0)))


def packed(rows):
    """Values of one class as a float64 array, one row each; int fields keep the bits of an integer (never compute with it)."""
    array = np.array([numbers(row) for row in rows], dtype=float)
    whole = [type(x) is int for x in numbers(zero(type(rows[0]), 0.0))]
    array.view(np.int64)[:, whole] = array[:, whole]
    return array


def columns(cls, rows):
    """A sequence of values of class `cls` as a table in plain Python."""
    return cls(*map(list, zip(*rows, strict=True)))


def table(cls, like, n, memory=None, start=0):
    """`cls` of columns with n slots each, over scalars of the kind of `like`.

    Compiled, the columns are views of the float64 array `memory` from position `start` on. They borrow it: counting
    references in a loop is slow, so `memory` must be an argument of the entry point, and large enough; nothing checks."""
    return cls(*([None] * n for _ in cls._fields))


def _size(kind):
    """Size of a Numba type of numbers, in doubles."""
    return sum(map(_size, kind)) if isinstance(kind, types.BaseTuple) else kind.bitwidth // 64


def _column(context, builder, element, buffer, offset, stride, n):
    """A strided array of `element`s in the memory that the double pointer `buffer` points to."""
    kind = types.Array(element, 1, "A", aligned=False)
    array = make_array(kind)(context, builder)
    first = builder.gep(buffer, [context.get_constant(types.intp, offset)])
    step = context.get_constant(types.intp, 8 * stride)
    populate_array(array, builder.bitcast(first, array.data.type), (n,), (step,), step, meminfo=None)
    return array._getvalue()


@intrinsic
def _table(typing, cls, like, n, memory, start):
    parts = [numba_type(kind, like) for kind in fields(cls.instance_class)]
    result = types.BaseTuple.from_types([types.Array(p, 1, "A", aligned=False) for p in parts], cls.instance_class)

    def build(context, builder, signature, args):
        _, _, n, memory, start = args
        buffer = builder.gep(make_array(signature.args[3])(context, builder, memory).data, [start])
        sizes = [_size(p) for p in parts]
        made = [_column(context, builder, part, buffer, sum(sizes[:i]), sum(sizes), n) for i, part in enumerate(parts)]
        return context.make_tuple(builder, result, made)
    return result(cls, like, types.intp, memory, types.intp), build


@overload(table, jit_options=INLINE)
def _compiled_table(cls, like, n, memory=None, start=0):
    return lambda cls, like, n, memory=None, start=0: _table(cls, like, n, memory, start)
