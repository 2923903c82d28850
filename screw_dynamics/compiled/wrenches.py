"""Inputs of algorithms that are not a number for each coordinate but a wrench on each body: six numbers a body, torque
first, in the order of the slots, in the frames of the links. A column of wrenches in a table is filled with them."""
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from screw_dynamics.model.links import Link
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import INLINE, is_value, kernel
from screw_dynamics.screws.se3 import Wrench
from screw_dynamics.screws.vectors import Vec3

from . import workspace as ws
from .borrow import READABLE, bits, borrowed, is_array
from .tiles import gather, lane_like, load, load_rows


@kernel
def fill(x: Any, column: list) -> None:
    """Fill a column of wrenches from their numbers."""
    for i in range(1, len(column)):
        k = 6 * (i - 1)
        column[i] = Wrench(Vec3(x[k], x[k + 1], x[k + 2]), Vec3(x[k + 3], x[k + 4], x[k + 5]))


@kernel
def _one_number_each(links, memory, x, column):
    if not ws.is_state(x, memory):
        return False
    gather(links.coordinate, ws.state(x, memory), column)
    return True


@kernel
def _one_wrench_each(links, memory, x, column):
    shape = (6 * (len(column) - 1),)
    if not is_array(x, shape, READABLE, bits(memory[ws.ARRAY]), bits(memory[ws.DTYPE])):
        return False
    fill(borrowed(x, shape), column)
    return True


@kernel
def _numbers_on_lanes(links, memory, in_order, first, x, column):
    load(links.coordinate, in_order, x, first, column)


@kernel
def _wrenches_on_lanes(links, memory, in_order, first, x, column):
    room = block(lane_like(x), (6 * (len(column) - 1),), memory, int(memory[ws.RESULT]))     # which is not yet in use
    load_rows(x, first, room, 0)
    fill(room, column)


def read_one(links: Link, memory: np.ndarray, x: Any, column: list) -> bool:
    """Fill a column of numbers or of wrenches from an array object of one state; False if it is no such array."""
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
