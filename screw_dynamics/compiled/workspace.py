"""The workspace: one float64 array that carries the model and all memory of a recursion into compiled code.

One array, since every array argument costs a call from Python 33 ns; made outside, as allocating inside costs more."""
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types

from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.lanes import splat
from screw_dynamics.numbers.tables import block, packed, size, table
from screw_dynamics.numbers.values import kernel

from .borrow import ARRAY_DTYPE, ARRAY_TYPE, READABLE, WRITABLE, bits, borrowed, is_array
from .interrupt import WORDS
from .native import array_at, at

# Positions in the header of a workspace: counts, where the parts begin, and addresses of NumPy's types.
SLOTS, COORDINATES, FRAMES, BODY, RESULT, ARRAY, DTYPE, FRAME_COUNT, LENGTH, WATCH = range(10)
HEADER = 24                                             # a watch of interrupt.py has nine words
_needs = []                                             # (Body, shape) of all entry points: one workspace serves all


def numbers_type(ndim: int, layout: str = 'C', readonly: bool = False) -> types.Array:
    """The Numba type of a float64 array."""
    return types.Array(types.float64, ndim, layout, readonly=readonly)


def workspace(links: Sequence[Link], frames: Sequence[Frame], n: int, lanes: int = 1) -> np.ndarray:
    """The array that every entry point takes first: header, links, frames, memory for `lanes` states at once."""
    rows, places = packed(links), packed(frames)
    slots, start = len(links), HEADER + rows.size + places.size
    start += -start % 8                                       # on a cache line
    result = start + lanes * max(size(Body, slots) for Body, _ in _needs)
    memory = aligned(result + lanes * max(math.prod(shape(n, slots - 1)) for _, shape in _needs))
    memory[[SLOTS, COORDINATES, FRAMES, BODY, RESULT]] = slots, n, HEADER + rows.size, start, result
    memory[[FRAME_COUNT, LENGTH]] = len(frames), len(memory)
    memory[[ARRAY, DTYPE]] = np.array([ARRAY_TYPE, ARRAY_DTYPE]).view(float)     # addresses as bits, not as numbers
    memory[HEADER:HEADER + rows.size] = rows.ravel()
    memory[HEADER + rows.size:HEADER + rows.size + places.size] = places.ravel()
    return memory


def reserve(Body: type, shape: Callable) -> None:
    """Register an entry point that needs memory for a table `Body`, and on lanes for a result of a shape."""
    _needs.append((Body, shape))


def aligned(length: int) -> np.ndarray:
    """An array of zeros that begins on a cache line."""
    block = np.zeros(length + 8)
    first = -block.ctypes.data % 64 // 8
    return block[first:first + length]


@kernel
def memory_at(where: int) -> np.ndarray:
    """The workspace at an address."""
    return array_at(0.0, where, (int(array_at(0.0, where, (HEADER,))[LENGTH]),))


@kernel
def links_in(memory: np.ndarray) -> Link:
    """The model."""
    return table(Link, 0.0, int(memory[SLOTS]), memory, HEADER)


@kernel
def frames_in(memory: np.ndarray) -> Frame:
    """The frames of all links."""
    return table(Frame, 0.0, int(memory[FRAME_COUNT]), memory, int(memory[FRAMES]))


@kernel
def watch_in(memory: np.ndarray) -> np.ndarray:
    """The watch of a loop that works in this workspace: see interrupt.py."""
    return array_at(0, at(memory) + 8 * WATCH, (WORDS,))


@kernel
def borrowed_memory(workspace: Any) -> np.ndarray:
    """The numbers of a workspace that is passed as a Python object."""
    return borrowed(workspace, (HEADER,))


@kernel
def is_state(x: Any, memory: np.ndarray) -> bool:
    """True if a Python object is an array of n coordinates, in a layout that compiled code reads."""
    array_type, dtype = bits(memory[ARRAY]), bits(memory[DTYPE])
    return is_array(x, (int(memory[COORDINATES]),), READABLE, array_type, dtype)


@kernel
def is_result(out: Any, shape: tuple[int, ...], memory: np.ndarray) -> bool:
    """True if a Python object is an array of this shape, in a layout that compiled code writes."""
    return is_array(out, shape, WRITABLE, bits(memory[ARRAY]), bits(memory[DTYPE]))


@kernel
def state(x: Any, memory: np.ndarray) -> np.ndarray:
    """The n coordinates of an array object."""
    return borrowed(x, (int(memory[COORDINATES]),))


@kernel
def body_in(Body: type, memory: np.ndarray) -> NamedTuple:
    """The memory of a recursion on one state."""
    return table(Body, 0.0, int(memory[SLOTS]), memory, int(memory[BODY]))


@kernel
def body_on_lanes(Body: type, memory: np.ndarray) -> NamedTuple:
    """The memory of a recursion on WIDTH states."""
    return table(Body, splat(0.0), int(memory[SLOTS]), memory, int(memory[BODY]))


@kernel
def result_on_lanes(shape: Callable, memory: np.ndarray) -> np.ndarray:
    """The memory of the results of WIDTH states, in the shape of one."""
    return block(splat(0.0), shape(int(memory[COORDINATES]), int(memory[SLOTS]) - 1), memory, int(memory[RESULT]))
