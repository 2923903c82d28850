"""Tiles: as many states as a lane has elements, stored as rows of an array of its precision or as elements of lanes."""
from functools import cache
from typing import Any

import numpy as np

from screw_dynamics.jit.kernel_cache.specs import BATCHES, KernelSpec, compiled
from screw_dynamics.jit.numba_internals.compiler import cgutils, intrinsic, ir, numba_arrays, overload, types
from screw_dynamics.numbers.lanes import WIDTH, extract, insert, lane_count, splat, splat_single
from screw_dynamics.numbers.structs import numba_types
from screw_dynamics.numbers.values import kernel, null

from .native import array_at

AHEAD = 2                 # tiles: distance between the prefetch of an input and its use


# ------------------------------------------------------------------------------------------------- WIDTH lanes
def _lane_of(array):
    """Return the kind of lane for an array's numbers."""
    return numba_types.SINGLE if array.dtype == types.float32 else numba_types.LANE


def _part(array):
    """Return the type of a vector of WIDTH of an array's numbers."""
    return ir.VectorType(_lane_of(array).vector.element, WIDTH)


@intrinsic
def transposed(typing: Any, lanes: Any) -> tuple:
    """Return the columns, as lanes, of the square matrix whose rows are the given WIDTH lanes. In single precision, the
    two halves of the lanes are the rows of two such squares."""
    wide = lanes.dtype.lanes

    def sources(step, first, second):
        """Return the source indices of a lane's elements: those with k & step == 0, and the others, of each half."""
        order = [half + (second(k) if k & step else first(k)) for half in range(0, wide, WIDTH) for k in range(WIDTH)]
        return ir.Constant(ir.VectorType(numba_types.INT, wide), order)

    def build(context, builder, signature, args):
        rows = cgutils.unpack_tuple(builder, args[0])
        for step in (1 << k for k in range(WIDTH.bit_length() - 1)):    # exchange step x step blocks of the diagonal
            low = sources(step, lambda k: k, lambda k, step=step: k - step + wide)
            high = sources(step, lambda k, step=step: k + step, lambda k: k + wide)
            for i in (i for i in range(WIDTH) if not i & step):
                a, b = rows[i], rows[i + step]
                rows[i], rows[i + step] = (builder.shuffle_vector(a, b, order) for order in (low, high))
        return context.make_tuple(builder, signature.return_type, rows)
    return lanes(lanes), build


def entry_pointer(context: Any, builder: Any, kind: Any, array: Any, row: Any, column: Any) -> Any:
    """Return a pointer to an entry of a two-dimensional array with contiguous rows, as a vector of WIDTH entries."""
    fields, size = numba_arrays.make_array(kind)(context, builder, array), kind.dtype.bitwidth // 8
    down, _ = cgutils.unpack_tuple(builder, fields.strides)
    start = builder.add(builder.ptrtoint(fields.data, cgutils.intp_t), builder.mul(row, down))
    start = builder.add(start, builder.mul(column, cgutils.intp_t(size)))
    return builder.inttoptr(start, _part(kind).as_pointer())


def first_elements(builder: Any, count: Any) -> Any:
    """Return the mask of the first `count` of WIDTH elements."""
    count = builder.trunc(count, numba_types.INT)
    wide = ir.VectorType(numba_types.INT, WIDTH)
    lane = builder.insert_element(ir.Constant(wide, ir.Undefined), count, numba_types.INT(0))
    lane = builder.shuffle_vector(lane, lane, ir.Constant(wide, [0] * WIDTH))
    return builder.icmp_signed("<", ir.Constant(wide, list(range(WIDTH))), lane)


def _earlier(builder, i, last):
    """Return the lesser of two indices."""
    return builder.select(builder.icmp_signed("<", i, last), i, last)


def _masked(builder, name, result, arguments, part):
    """Return a call of LLVM's masked load or store of WIDTH numbers."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    suffix = f"v{WIDTH}f{32 if part.element == ir.FloatType() else 64}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.{name}.{suffix}.p0{suffix}"),
                        arguments)


def _shuffled(builder, a, b, first, count):
    """Return `count` consecutive elements of the concatenation of a and b, from index `first` on."""
    order = ir.Constant(ir.VectorType(numba_types.INT, count), list(range(first, first + count)))
    return builder.shuffle_vector(a, b, order)


@intrinsic
def _rows(typing, states, first, last, column):
    """Return WIDTH lanes: up to WIDTH entries, from `column` on, of each of WIDTH rows from `first` on. In single
    precision each lane also holds the entries of the row WIDTH further on. Past the last row, that row is repeated."""
    lane = _lane_of(states)

    def build(context, builder, signature, args):
        kind, (states, first, last, column) = signature.args[0], args
        _, entries = cgutils.unpack_tuple(builder, numba_arrays.make_array(kind)(context, builder, states).shape)
        part, mask, read = _part(kind), first_elements(builder, builder.sub(entries, column)), []
        for index in range(lane.lanes):
            row = _earlier(builder, builder.add(first, first.type(index)), last)
            pointer = entry_pointer(context, builder, kind, states, row, column)
            arguments = [pointer, numba_types.INT(kind.dtype.bitwidth // 8), mask, ir.Constant(part, None)]
            read.append(_masked(builder, "load", part, arguments, part))
        if lane is numba_types.SINGLE:
            read = [_shuffled(builder, a, b, 0, 2 * WIDTH) for a, b in zip(read[:WIDTH], read[WIDTH:], strict=True)]
        return context.make_tuple(builder, signature.return_type, read)
    return types.UniTuple(lane, WIDTH)(states, types.intp, types.intp, types.intp), build


@intrinsic
def consecutive(typing: Any, lanes: Any, first: Any) -> tuple:
    """Return WIDTH lanes of a one-dimensional array from `first` on; past the end, the last is repeated."""
    def build(context, builder, signature, args):
        kind, (lanes, first) = signature.args[0], args
        fields = numba_arrays.make_array(kind)(context, builder, lanes)
        last = builder.sub(fields.nitems, fields.nitems.type(1))
        found = [numba_arrays.load_item(context, builder, kind, builder.gep(
            fields.data, [_earlier(builder, builder.add(first, first.type(index)), last)])) for index in range(WIDTH)]
        return context.make_tuple(builder, signature.return_type, found)
    return types.UniTuple(lanes.dtype, WIDTH)(lanes, types.intp), build


@intrinsic
def _fetch(typing, rows, row, column):
    """Prefetch the cache line of an entry."""
    def build(context, builder, signature, args):
        pointer = builder.bitcast(entry_pointer(context, builder, signature.args[0], *args), ir.IntType(8).as_pointer())
        fetch = ir.FunctionType(ir.VoidType(), [pointer.type, numba_types.INT, numba_types.INT, numba_types.INT])
        fetch = cgutils.get_or_insert_function(builder.module, fetch, "llvm.prefetch.p0i8")
        builder.call(fetch, [pointer, numba_types.INT(0), numba_types.INT(3), numba_types.INT(1)])
        return context.get_dummy_value()
    return types.void(rows, types.intp, types.intp), build


@intrinsic
def put_row(typing: Any, out: Any, row: Any, column: Any, lane: Any) -> tuple:
    """Write up to WIDTH elements of a lane to a row from `column` on. The other half of a lane of single precision is
    written to the row WIDTH further on."""
    def build(context, builder, signature, args):
        kind, (out, row, column, numbers) = signature.args[0], args
        _, entries = cgutils.unpack_tuple(builder, numba_arrays.make_array(kind)(context, builder, out).shape)
        part, mask = _part(kind), first_elements(builder, builder.sub(entries, column))
        for first in range(0, lane.lanes, WIDTH):
            some = numbers if lane is numba_types.LANE else _shuffled(builder, numbers, numbers, first, WIDTH)
            pointer = entry_pointer(context, builder, kind, out, builder.add(row, row.type(first)), column)
            arguments = [some, pointer, numba_types.INT(kind.dtype.bitwidth // 8), mask]
            _masked(builder, "store", ir.VoidType(), arguments, part)
        return context.get_dummy_value()
    return types.void(out, types.intp, types.intp, lane), build


# ------------------------------------------------------------------------------------------------- WIDTH states
def lane_like(array: np.ndarray) -> Any:
    """Return a lane of zeros with an array's precision."""
    return 0.0


@overload(lane_like)
def _lane_like(array):
    return (lambda array: splat_single(0.0)) if _lane_of(array) is numba_types.SINGLE else (lambda array: splat(0.0))


@kernel
def contiguous(rows: np.ndarray) -> bool:
    """Return True if the entries of each row are adjacent in memory, and the processor has SIMD registers."""
    return WIDTH > 1 and rows.strides[1] == rows.itemsize


@kernel
def _read(states, first, last, k):
    """Return, transposed, up to WIDTH entries from k on of WIDTH rows from `first` on; past the end, the last row is
    repeated."""
    return transposed(_rows(states, first, last, k))


@kernel
def load_square(states: np.ndarray, first: int, last: int, k: int, column: list) -> None:
    """Load entries k, k + 1, ... of WIDTH states from `first` on, of contiguous numbers, into the same entries of a
    column, up to its length; past the last state, that state is repeated."""
    read = _read(states, first, last, k)
    if k + WIDTH <= len(column):
        for i in range(WIDTH):                  # a loop of known length, which is unrolled
            column[k + i] = read[i]
    else:
        for i in range(len(column) - k):
            column[k + i] = read[i]


@kernel
def store_square(lanes: list, out: np.ndarray, first: int, k: int) -> None:
    """Write up to WIDTH lanes from index k on, transposed, to WIDTH rows from `first` on."""
    rows = transposed(consecutive(lanes, k))
    for index in range(WIDTH):
        put_row(out, first + index, k, rows[index])


@kernel
def gather(coordinate: list[int], state: list, column: list) -> None:
    """Gather each joint's coordinate: column[i] = state[coordinate[i]], i > 0."""
    for i in range(1, len(column)):
        column[i] = state[coordinate[i]]


@kernel
def load_rows(states: np.ndarray, first: int, lanes: list, start: int) -> None:
    """Load entry k of a tile of states from `first` on into the elements of lanes[start + k]; past the end, the last
    state is repeated."""
    n, last, width = states.shape[1], len(states) - 1, lane_count(lane_like(states))
    if contiguous(states):
        for k in range(0, n, WIDTH):
            read = _read(states, first, last, k)
            for i in range(min(WIDTH, n - k)):
                lanes[start + k + i] = read[i]
            for index in range(0, width, width // WIDTH):
                _fetch(states, min(first + AHEAD * width + index, last), k)
    else:
        for k in range(n):
            lanes[start + k] = _lane(states, first, last, k)


@kernel
def _lane(states, first, last, k):
    """Return the lane of entry k of WIDTH states from `first` on; past the end, the last state is repeated."""
    lane = lane_like(states)
    for index in range(lane_count(lane)):
        lane = insert(lane, index, states[min(first + index, last), k])
    return lane


def _flat(results):
    """Return a contiguous array as a one-dimensional view."""
    return results.reshape(-1)


@intrinsic
def _as_one_axis(typing, results):
    kind = numba_types.View(results.dtype, 1, "C", aligned=False)

    def build(context, builder, signature, args):
        source = numba_arrays.make_array(results)(context, builder, args[0])
        target, size = numba_arrays.make_array(kind)(context, builder), source.itemsize
        numba_arrays.populate_array(target, source.data, (source.nitems,), (size,), size, meminfo=None)
        return target._getvalue()
    return kind(results), build


@overload(_flat)
def _compiled_flat(results):
    return lambda results: _as_one_axis(results)


@kernel
def clear(results: Any) -> None:
    """Set all results to zero."""
    flat = _flat(results)
    for i in range(len(flat)):
        flat[i] = null(flat[i])


@kernel
def store(results: Any, out: np.ndarray, first: int) -> None:
    """Write the elements of the results, entry by entry, to WIDTH rows of `out` from `first` on; rows past the end are
    skipped."""
    flat, width = _flat(results), lane_count(lane_like(out))
    count = min(width, len(out) - first)
    if contiguous(out) and count == width:
        for k in range(0, len(flat), WIDTH):
            store_square(flat, out, first, k)
    else:
        for i in range(len(flat)):
            for index in range(count):
                out[first + index, i] = extract(flat[i], index)


# ------------------------------------------------------------------------------------------------- entry points
@intrinsic
def _rows_at(typing, like, where, count, width):
    """Return the contiguous array (count, width) at an address, of numbers of double or single precision."""
    kind = numba_types.View(types.unliteral(like), 2, "C", aligned=False)

    def build(context, builder, signature, args):
        _, where, count, width = args
        array, size = numba_arrays.make_array(kind)(context, builder), cgutils.intp_t(like.bitwidth // 8)
        data = builder.inttoptr(where, array.data.type)
        numba_arrays.populate_array(array, data, (count, width), (builder.mul(width, size), size), size, meminfo=None)
        return array._getvalue()
    return kind(like, types.intp, types.intp, types.intp), build


@cache
def spec_of_transposition(to: str, single: bool) -> KernelSpec:
    """Return the kernel f(rows, width, count, lanes) of addresses and numbers that moves states between rows and lanes.
    to: "lanes", which loads the first of `count` rows and repeats the last; or "rows", which writes as many rows as a
    lane has elements, or `count` if fewer. single: True for single precision."""
    zero, lane = (np.float32(0.0), splat_single) if single else (0.0, splat)

    def to_lanes(rows, width, count, lanes):
        load_rows(_rows_at(zero, rows, count, width), 0, array_at(lane(0.0), lanes, (width,)), 0)

    def to_rows(rows, width, count, lanes):
        store(array_at(lane(0.0), lanes, (width,)), _rows_at(zero, rows, count, width), 0)
    function = {"lanes": to_lanes, "rows": to_rows}[to]
    return KernelSpec(compiled(f"to {to}{', single precision' * single}{BATCHES}")(function), ("intp",) * 4)
