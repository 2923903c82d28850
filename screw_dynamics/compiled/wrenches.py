"""Inputs of algorithms that are not a number for each coordinate but a wrench on each body, a column of wrenches in a
table: six numbers a body, torque first, in the order of the slots, in the frames of the links.

Of one state they may also be as a user has them, {name of a frame: six numbers, in that frame}: what Python needs to
gather them takes longer than the dynamics."""
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import INLINE, is_value, kernel, zero
from screw_dynamics.screws.se3 import Ad_dual, Wrench
from screw_dynamics.screws.vectors import Vec3

from . import workspace as ws
from .borrow import READABLE, borrowed, is_array, type_of
from .dictionaries import index_of, next_item
from .tiles import gather, lane_like, load, load_rows


@kernel
def wrench_at(x: Any, k: int) -> Wrench:
    """The wrench of six numbers from the k-th on."""
    return Wrench(Vec3(x[k], x[k + 1], x[k + 2]), Vec3(x[k + 3], x[k + 4], x[k + 5]))


@kernel
def fill(x: Any, column: list) -> None:
    """Fill a column of wrenches from their numbers."""
    for i in range(1, len(column)):
        column[i] = wrench_at(x, 6 * (i - 1))


@kernel
def gather_by_name(memory: np.ndarray, external: Any, column: list) -> bool:
    """Fill a column with the sums of wrenches {name of a frame: array (6,)} on each body, in the frame of its Link;
    False if an object is no such dictionary."""
    head = ws.header(memory)
    if type_of(external) != head.dict_type or head.names == 0:
        return False
    frames = ws.frames_in(memory)
    for i in range(len(column)):
        column[i] = zero(Wrench, 0.0)
    position, name, W = next_item(external, 0)
    while position >= 0:
        k = index_of(head.names, name, head.name_type)
        if k < 0 or not is_array(W, (6,), READABLE, head.array_type, head.array_dtype):
            return False
        column[frames.body[k]] += Ad_dual(frames.C[k], wrench_at(borrowed(W, (6,)), 0))
        position, name, W = next_item(external, position)
    return True


@kernel
def _one_number_each(links, memory, x, column):
    if not ws.is_state(x, memory):
        return False
    gather(links.coordinate, ws.state(x, memory), column)
    return True


@kernel
def _one_wrench_each(links, memory, x, column):
    head = ws.header(memory)
    shape = (head.wrenches,)
    if not is_array(x, shape, READABLE, head.array_type, head.array_dtype):
        return gather_by_name(memory, x, column)
    fill(borrowed(x, shape), column)
    return True


@kernel
def _numbers_on_lanes(links, memory, in_order, first, x, column):
    load(links.coordinate, in_order, x, first, column)


@kernel
def _wrenches_on_lanes(links, memory, in_order, first, x, column):
    # The memory of results is not yet in use.
    head = ws.header(memory)
    room = block(lane_like(x), (head.wrenches,), memory, head.result)
    load_rows(x, first, room, 0)
    fill(room, column)


def read_one(links: Link, memory: np.ndarray, x: Any, column: list) -> bool:
    """Fill a column of numbers from an array object of one state, or one of wrenches also from a dictionary by name;
    False if it is no such object."""
    return (_one_wrench_each if is_value(column[-1]) else _one_number_each)(links, memory, x, column)


def read_tile(links: Link, memory: np.ndarray, in_order: bool, first: int, x: np.ndarray, column: list) -> None:
    """Fill a column on lanes from WIDTH rows of an array, from the first on."""
    (_wrenches_on_lanes if is_value(column[-1]) else _numbers_on_lanes)(links, memory, in_order, first, x, column)


@overload(read_one, jit_options=INLINE, strict=False)
def _read_one(links, memory, x, column):
    return _one_wrench_each if isinstance(column.dtype, types.BaseTuple) else _one_number_each


@overload(read_tile, jit_options=INLINE, strict=False)
def _read_tile(links, memory, in_order, first, x, column):
    return _wrenches_on_lanes if isinstance(column.dtype, types.BaseTuple) else _numbers_on_lanes
