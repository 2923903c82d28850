"""Entry points: an algorithm, which is a kernel of tables, as machine code that Python calls with arrays.

An algorithm is `algorithm(links, body, out)`: `links` is the model, the first columns of `body` are its inputs, one
number for each joint, and `out` is the array to which it adds its result. The same text is compiled for one state and
for eight at once. """
from functools import cached_property

import numpy as np
from numba import types

from screw_dynamics.model.links import Frame, Link
from screw_dynamics.numbers.tables import columns, table
from screw_dynamics.numbers.values import kernel

from .borrow import BORROWED, borrowed, layout_is_known
from .cache import compiled, prepare
from .tiles import claim, clear, following, in_order, load, store
from .workspace import (
    COORDINATES,
    SLOTS,
    body_in,
    body_on_lanes,
    borrowed_memory,
    frames_in,
    is_result,
    is_state,
    links_in,
    numbers_type,
    reserve,
    result_on_lanes,
    state,
)


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
def per_body_twist(n, bodies):
    """A twist for each body."""
    return (bodies, 6)


@kernel
def per_body_jacobian(n, bodies):
    """A Jacobian for each body."""
    return (bodies, 6, n)


@kernel
def single(n, bodies):
    """One number."""
    return (1,)


# ------------------------------------------------------------------------------------------------- entry points
class Entry:
    """The compiled forms of an algorithm that takes so many vectors of joint coordinates.

    one(workspace, *options, *inputs, out): inputs are arrays (n,); answers False, and does nothing, if they or `out`
    are not what borrow.py can read, whatever Python objects they are. many(memory, *options, *inputs, out, turn):
    inputs (N, n), out (N, entries of one result), on lanes and without the GIL, in a workspace of its own, as many
    pieces as `turn` gives it (tiles.claim); it checks nothing.
    shape(n, bodies): the shape of one result.

    about_frame: the algorithm is about one frame against another, algorithm(links, frames, body, frame, reference,
    representation, out), and its option is the number that `about` makes of these three."""

    def __init__(self, algorithm, Body, inputs, shape, about_frame=False):
        reserve(Body, shape)
        self.algorithm, self.Body, self.inputs = algorithm, Body, inputs
        self.shape, self.about_frame = shape, about_frame

    @cached_property
    def _dispatchers(self):
        factory = (_FRAME_ENTRIES if self.about_frame else _ENTRIES)[self.inputs]
        return factory(self.algorithm, self.Body, self.shape)

    @cached_property
    def one(self):
        """The entry point for one state, compiled or taken from the cache at its first use."""
        if not layout_is_known():
            return lambda *arguments: False
        options = (types.int64,) if self.about_frame else ()
        return prepare(self._dispatchers[0], (BORROWED, *options, *(BORROWED,) * self.inputs, BORROWED)).entry_point

    @cached_property
    def many(self):
        """The entry point for many states."""
        options = (types.int64,) if self.about_frame else ()
        states = (numbers_type(2, "A", readonly=True),) * self.inputs
        prepare(self._dispatchers[1], (numbers_type(1), *options, *states, numbers_type(2, "A"), types.int64[::1]))
        return self._dispatchers[1]

    def plain(self, links, *inputs, frames=(), indices=()):
        """The algorithm in plain Python on any numbers: lists of Link and Frame, and sequences of n numbers."""
        n = len(inputs[0])
        body, rows = table(self.Body, None, len(links)), columns(Link, links)
        for column, coordinates in zip(body, inputs, strict=False):
            spread(rows, coordinates, column)
        out = np.full(self.shape(n, len(links) - 1), 0, dtype=object)
        places = (columns(Frame, frames),) if self.about_frame else ()
        self.algorithm(rows, *places, body, *indices, out)
        return out


def about(frame, reference, representation):
    """Three indices as one number, which is never 0: an argument less."""
    return frame | reference << 24 | representation << 48 | 1 << 56


@kernel
def which(told):
    """The three indices of `about`."""
    return told & 0xFFFFFF, told >> 24 & 0xFFFFFF, told >> 48 & 0xFF


@kernel
def spread(links, coordinates, column):
    """Give every joint the number of the coordinate that drives it."""
    for i in range(1, len(column)):
        column[i] = coordinates[links.coordinate[i]]


def _one_input(algorithm, Body, shape):
    @compiled()
    def one(workspace, x, out):
        memory = borrowed_memory(workspace)
        size = shape(int(memory[COORDINATES]), int(memory[SLOTS]) - 1)
        if not (is_state(x, memory) and is_result(out, size, memory)):
            return False
        result = borrowed(out, size)
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, state(x, memory), body[0])
        result[...] = 0.0
        algorithm(links, body, result)
        return True

    @compiled(nogil=True)
    def many(memory, x, out, turn):
        links, body, results = links_in(memory), body_on_lanes(Body, memory), result_on_lanes(shape, memory)
        ordered = in_order(links.coordinate, x.shape[1])
        first = claim(turn)
        while first < len(x):
            load(links.coordinate, ordered, x, first, body[0])
            clear(results)
            algorithm(links, body, results)
            store(results, out, first)
            first = following(turn, first)
    return one, many


def _two_inputs(algorithm, Body, shape):
    @compiled()
    def one(workspace, x, y, out):
        memory = borrowed_memory(workspace)
        size = shape(int(memory[COORDINATES]), int(memory[SLOTS]) - 1)
        if not (is_state(x, memory) and is_state(y, memory) and is_result(out, size, memory)):
            return False
        result = borrowed(out, size)
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, state(x, memory), body[0])
        spread(links, state(y, memory), body[1])
        result[...] = 0.0
        algorithm(links, body, result)
        return True

    @compiled(nogil=True)
    def many(memory, x, y, out, turn):
        links, body, results = links_in(memory), body_on_lanes(Body, memory), result_on_lanes(shape, memory)
        ordered = in_order(links.coordinate, x.shape[1])
        first = claim(turn)
        while first < len(x):
            load(links.coordinate, ordered, x, first, body[0])
            load(links.coordinate, ordered, y, first, body[1])
            clear(results)
            algorithm(links, body, results)
            store(results, out, first)
            first = following(turn, first)
    return one, many


def _three_inputs(algorithm, Body, shape):
    @compiled()
    def one(workspace, x, y, z, out):
        memory = borrowed_memory(workspace)
        size = shape(int(memory[COORDINATES]), int(memory[SLOTS]) - 1)
        if not (is_state(x, memory) and is_state(y, memory) and is_state(z, memory) and is_result(out, size, memory)):
            return False
        result = borrowed(out, size)
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, state(x, memory), body[0])
        spread(links, state(y, memory), body[1])
        spread(links, state(z, memory), body[2])
        result[...] = 0.0
        algorithm(links, body, result)
        return True

    @compiled(nogil=True)
    def many(memory, x, y, z, out, turn):
        links, body, results = links_in(memory), body_on_lanes(Body, memory), result_on_lanes(shape, memory)
        ordered = in_order(links.coordinate, x.shape[1])
        first = claim(turn)
        while first < len(x):
            load(links.coordinate, ordered, x, first, body[0])
            load(links.coordinate, ordered, y, first, body[1])
            load(links.coordinate, ordered, z, first, body[2])
            clear(results)
            algorithm(links, body, results)
            store(results, out, first)
            first = following(turn, first)
    return one, many


def _one_input_and_frames(algorithm, Body, shape):
    @compiled()
    def one(workspace, told, x, out):
        memory = borrowed_memory(workspace)
        size = shape(int(memory[COORDINATES]), int(memory[SLOTS]) - 1)
        if not (is_state(x, memory) and is_result(out, size, memory)):
            return False
        result = borrowed(out, size)
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, state(x, memory), body[0])
        result[...] = 0.0
        algorithm(links, frames_in(memory), body, *which(told), result)
        return True

    @compiled(nogil=True)
    def many(memory, told, x, out, turn):
        links, body, results = links_in(memory), body_on_lanes(Body, memory), result_on_lanes(shape, memory)
        ordered = in_order(links.coordinate, x.shape[1])
        first = claim(turn)
        while first < len(x):
            load(links.coordinate, ordered, x, first, body[0])
            clear(results)
            algorithm(links, frames_in(memory), body, *which(told), results)
            store(results, out, first)
            first = following(turn, first)
    return one, many


def _two_inputs_and_frames(algorithm, Body, shape):
    @compiled()
    def one(workspace, told, x, y, out):
        memory = borrowed_memory(workspace)
        size = shape(int(memory[COORDINATES]), int(memory[SLOTS]) - 1)
        if not (is_state(x, memory) and is_state(y, memory) and is_result(out, size, memory)):
            return False
        result = borrowed(out, size)
        links, body = links_in(memory), body_in(Body, memory)
        spread(links, state(x, memory), body[0])
        spread(links, state(y, memory), body[1])
        result[...] = 0.0
        algorithm(links, frames_in(memory), body, *which(told), result)
        return True

    @compiled(nogil=True)
    def many(memory, told, x, y, out, turn):
        links, body, results = links_in(memory), body_on_lanes(Body, memory), result_on_lanes(shape, memory)
        ordered = in_order(links.coordinate, x.shape[1])
        first = claim(turn)
        while first < len(x):
            load(links.coordinate, ordered, x, first, body[0])
            load(links.coordinate, ordered, y, first, body[1])
            clear(results)
            algorithm(links, frames_in(memory), body, *which(told), results)
            store(results, out, first)
            first = following(turn, first)
    return one, many


_ENTRIES = {1: _one_input, 2: _two_inputs, 3: _three_inputs}
_FRAME_ENTRIES = {1: _one_input_and_frames, 2: _two_inputs_and_frames}
