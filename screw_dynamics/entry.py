"""Entry points: an algorithm, which is a kernel of tables, as machine code that Python calls with arrays.

An algorithm is `algorithm(links, body, out)`: `links` is the model, the first columns of `body` are its inputs, one number for
each joint, and `out` is the array it adds its result to. One float64 array, the `workspace`, carries the model and all the
memory of the recursion, since every array argument costs a call from Python 33 ns.
"""
import hashlib
from pathlib import Path

import numpy as np
from numba import njit, types
from numba.extending import overload

from .model import Frame, Link
from .tables import columns, packed, table, width
from .values import FLAGS, INLINE, kernel, numbers

SLOTS, COORDINATES, FRAMES, BODY, HEADER = 0, 1, 2, 3, 8      # the workspace begins with counts, and where `body` starts
_widest = [0]                                                 # of all tables `body`, so that one workspace serves them all


def _sources():
    """A hash of all sources of the core: Numba's own stamp covers the caller's file only, and callees are elsewhere."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


_STAMP = _sources()


def compiled(function):
    """Make an entry point: cached on disk until any source of the core changes, compiled only for what `prepare` asks."""
    try:
        dispatcher = njit(cache=True, **FLAGS)(function)
        dispatcher._cache._cache_file._source_stamp = _STAMP
    except RuntimeError:                                      # nowhere to write: compile in every process
        dispatcher = njit(**FLAGS)(function)
    dispatcher._can_compile = False                           # an unforeseen type must raise, not compile for seconds
    return dispatcher


def prepare(dispatcher, *arguments):
    """Compile an entry point for arguments like these, or of these Numba types, if it is not yet."""
    signature = tuple(x if isinstance(x, types.Type) else _type(x) for x in arguments)
    if signature not in dispatcher.overloads:
        dispatcher._can_compile = True
        try:
            dispatcher.compile(signature)
        finally:
            dispatcher._can_compile = False


def _type(argument):
    if isinstance(argument, np.ndarray):
        return types.Array(types.float64, argument.ndim, "C")
    return types.float64 if isinstance(argument, float) else types.int64


def workspace(links, frames, n):
    """The array that every entry point takes first: header, links, frames, and memory for the recursion."""
    rows, places = packed(links), packed(frames) if frames else np.empty((0, width(Frame)))
    start = HEADER + rows.size + places.size
    start += -start % 8                                       # on a cache line
    size = start + _widest[0] * len(links)
    block = np.zeros(size + 8)
    first = -block.ctypes.data % 64 // 8
    memory = block[first:first + size]
    memory[[SLOTS, COORDINATES, FRAMES, BODY]] = len(links), n, HEADER + rows.size, start
    memory[HEADER:start] = np.r_[rows.ravel(), places.ravel(), np.zeros(start - HEADER - rows.size - places.size)]
    return memory


@kernel
def links_in(memory):
    """The model."""
    return table(Link, 0.0, int(memory[SLOTS]), memory, HEADER)


@kernel
def frames_in(memory):
    """The frames of all links."""
    return table(Frame, 0.0, 1, memory, int(memory[FRAMES]))


@kernel
def body_in(Body, memory):
    """The memory of a recursion."""
    return table(Body, 0.0, int(memory[SLOTS]), memory, int(memory[BODY]))


@kernel
def spread(links, coordinates, column):
    """Give every joint the number of the coordinate that drives it."""
    for i in range(1, len(column)):
        column[i] = coordinates[links.coordinate[i]]


# ------------------------------------------------------------------------------------------------- shapes of one result
@kernel
def per_joint(n, bodies):
    """A number for each coordinate."""
    return (n,)


@kernel
def per_pair(n, bodies):
    """A matrix over the coordinates."""
    return (n, n)


@kernel
def per_twist(n, bodies):
    """A Jacobian."""
    return (6, n)


@kernel
def per_frame(n, bodies):
    """A homogeneous matrix."""
    return (4, 4)


@kernel
def per_body(n, bodies):
    """A homogeneous matrix for each body."""
    return (bodies, 4, 4)


@kernel
def single(n, bodies):
    """One number."""
    return (1,)


# ------------------------------------------------------------------------------------------------- entry points
def scratch(like, rows):
    """A matrix of zeros with a column for each entry of `like`, over the same kind of numbers."""
    return np.full((rows, len(like)), 0.0 * like[0] if len(like) else 0.0, dtype=object)


@overload(scratch, jit_options=INLINE)
def _scratch(like, rows):
    return lambda like, rows: np.zeros((rows, len(like)))


class Entry:
    """The compiled forms of an algorithm with so many inputs.

    `one(memory, *inputs, out)` for inputs (n,): False, and nothing done, unless all have n entries
    and `out` its shape. `many(memory, *inputs,
    out)` for inputs (N, n). `shape(n, bodies)` is that of one result. They check nothing else: only
    the facade calls them."""

    def __init__(self, algorithm, Body, inputs, shape):
        _widest[0] = max(_widest[0], width(Body))
        self.algorithm, self.Body, self.inputs, self.shape = algorithm, Body, inputs, shape
        self.one, self.many = _COMPILE[inputs](algorithm, Body, shape)

    def plain(self, links, *inputs):
        """The algorithm in plain Python on any numbers: links are a list of Link, inputs sequences of n numbers."""
        n = len(inputs[0])
        body = table(self.Body, None, len(links))
        rows = columns(Link, links)
        for column, coordinates in zip(body, inputs, strict=False):
            spread(rows, coordinates, column)
        out = np.full(self.shape(n, len(links) - 1), 0.0 * numbers(links[-1].X)[0], dtype=object)
        self.algorithm(rows, body, out)
        return out


def _one_input(algorithm, Body, shape):
    @compiled
    def one(memory, x, out):
        n = int(memory[COORDINATES])
        if len(x) != n or out.shape != shape(n, int(memory[SLOTS]) - 1):
            return False
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, x, body[0])
        out[:] = 0.0
        algorithm(links, body, out)
        return True

    @compiled
    def many(memory, x, out):
        links, body = links_in(memory), body_in(Body, memory)
        out[:] = 0.0
        for s in range(len(x)):
            spread(links, x[s], body[0])
            algorithm(links, body, out[s])
    return one, many


def _two_inputs(algorithm, Body, shape):
    @compiled
    def one(memory, x, y, out):
        n = int(memory[COORDINATES])
        if len(x) != n or len(y) != n or out.shape != shape(n, int(memory[SLOTS]) - 1):
            return False
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, x, body[0])
        spread(links, y, body[1])
        out[:] = 0.0
        algorithm(links, body, out)
        return True

    @compiled
    def many(memory, x, y, out):
        links, body = links_in(memory), body_in(Body, memory)
        out[:] = 0.0
        for s in range(len(x)):
            spread(links, x[s], body[0])
            spread(links, y[s], body[1])
            algorithm(links, body, out[s])
    return one, many


def _three_inputs(algorithm, Body, shape):
    @compiled
    def one(memory, x, y, z, out):
        n = int(memory[COORDINATES])
        if len(x) != n or len(y) != n or len(z) != n or out.shape != shape(n, int(memory[SLOTS]) - 1):
            return False
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, x, body[0])
        spread(links, y, body[1])
        spread(links, z, body[2])
        out[:] = 0.0
        algorithm(links, body, out)
        return True

    @compiled
    def many(memory, x, y, z, out):
        links, body = links_in(memory), body_in(Body, memory)
        out[:] = 0.0
        for s in range(len(x)):
            spread(links, x[s], body[0])
            spread(links, y[s], body[1])
            spread(links, z[s], body[2])
            algorithm(links, body, out[s])
    return one, many


def _frame_one_input(algorithm, Body, shape):
    @compiled
    def one(memory, frame, reference, representation, x, out):
        n = int(memory[COORDINATES])
        if len(x) != n or out.shape != shape(n, int(memory[SLOTS]) - 1):
            return False
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, x, body[0])
        out[:] = 0.0
        algorithm(links, frames_in(memory), body, frame, reference, representation, out)
        return True

    @compiled
    def many(memory, frame, reference, representation, x, out):
        links, body = links_in(memory), body_in(Body, memory)
        out[:] = 0.0
        for s in range(len(x)):
            spread(links, x[s], body[0])
            algorithm(links, frames_in(memory), body, frame, reference, representation, out[s])
    return one, many


def _frame_two_inputs(algorithm, Body, shape):
    @compiled
    def one(memory, frame, reference, representation, x, y, out):
        n = int(memory[COORDINATES])
        if len(x) != n or len(y) != n or out.shape != shape(n, int(memory[SLOTS]) - 1):
            return False
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, x, body[0])
        spread(links, y, body[1])
        out[:] = 0.0
        algorithm(links, frames_in(memory), body, frame, reference, representation, out)
        return True

    @compiled
    def many(memory, frame, reference, representation, x, y, out):
        links, body = links_in(memory), body_in(Body, memory)
        out[:] = 0.0
        for s in range(len(x)):
            spread(links, x[s], body[0])
            spread(links, y[s], body[1])
            algorithm(links, frames_in(memory), body, frame, reference, representation, out[s])
    return one, many


_COMPILE = {1: _one_input, 2: _two_inputs, 3: _three_inputs}
_COMPILE_FRAME = {1: _frame_one_input, 2: _frame_two_inputs}


class FrameEntry:
    """The same for an algorithm about one frame against another:
    algorithm(links, frames, body, frame, reference, representation, out), the three in the middle numbers."""

    def __init__(self, algorithm, Body, inputs, shape):
        _widest[0] = max(_widest[0], width(Body))
        self.algorithm, self.Body, self.inputs, self.shape = algorithm, Body, inputs, shape
        self.one, self.many = _COMPILE_FRAME[inputs](algorithm, Body, shape)
