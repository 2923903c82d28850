"""States between the rows of an array and lanes."""
import ctypes
import mmap

import numpy as np
import pytest
from numba import njit

from screw_dynamics.compiled.across import taken
from screw_dynamics.compiled.calls import address_of
from screw_dynamics.compiled.native import function_at
from screw_dynamics.compiled.tiles import consecutive, spec_of_transposition, transposed
from screw_dynamics.jit.numba_internals.compiler import FLAGS, start
from screw_dynamics.numbers.lanes import WIDTH, splat
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import PLAIN

start()         # functions of these tests are njit's

COUNTS = [0, 1, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH + 1]


def through_lanes(states, out):
    """Each number of each state through a lane, into a row of `out`, as batches go."""
    count, width = states.shape
    size, lanes = states.itemsize, WIDTH * 8 // states.itemsize
    to_lanes, to_rows = (function_at(address_of(spec_of_transposition(to, size == 4)), 4) for to in ("lanes", "rows"))
    memory = np.full(lanes * width, np.nan, states.dtype)
    for first in range(0, count, lanes):
        to_lanes(states.ctypes.data + first * width * size, width, count - first, memory.ctypes.data)
        to_rows(out.ctypes.data + first * width * size, width, count - first, memory.ctypes.data)


@pytest.mark.skipif(PLAIN, reason="plain Python has no lanes")
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 19])
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_rows_go_in_and_out_of_lanes(rng, count, n, dtype):
    """Of any length, and nothing is written around them."""
    states, memory = rng.normal(size=(count, n)).astype(dtype), np.full((count + 2) * n, 9.0, dtype)
    through_lanes(states, memory[n:-n].reshape(count, n))
    assert (memory[n:-n].reshape(count, n) == states).all() and (memory[:n] == 9.0).all() and (memory[-n:] == 9.0).all()


@pytest.mark.skipif(PLAIN, reason="plain Python has no lanes")
@pytest.mark.parametrize("count", range(1, WIDTH + 2))
def test_the_last_row_is_repeated_in_places_that_have_none(rng, count):
    states, lanes = rng.normal(size=(count, 3)), np.full((3, WIDTH), np.nan)
    function_at(address_of(spec_of_transposition("lanes", False)), 4)(states.ctypes.data, 3, count, lanes.ctypes.data)
    assert (lanes.T == states[np.minimum(np.arange(WIDTH), count - 1)]).all()


def between_forbidden_pages():
    """Memory (512,) that a step to either side leaves with a segmentation fault."""
    pages = np.frombuffer(mmap.mmap(-1, 3 * mmap.PAGESIZE))
    for first in (0, 2 * mmap.PAGESIZE):
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(pages.ctypes.data + first), mmap.PAGESIZE, 0) == 0
    return pages[len(pages) // 3:-(len(pages) // 3)]


@pytest.mark.skipif(PLAIN, reason="plain Python has no lanes")
@pytest.mark.parametrize("n", [1, 5, 8, 9, 13])
def test_nothing_around_an_array_is_touched(rng, n):
    """What a mask hides is not read either, at the first and at the last address that there is."""
    source, target = (between_forbidden_pages() for _ in range(2))
    for count in range(1, 2 * WIDTH + 2):
        for part in (slice(count * n), slice(-count * n, None)):
            states, out = source[part].reshape(count, n), target[part].reshape(count, n)
            states[:] = rng.normal(size=(count, n))
            through_lanes(states, out)
            assert (out == states).all()


@njit(**FLAGS)
def columns_at_once(matrix, row, first, memory):
    block(splat(0.0), (1,), memory, 0)[0] = taken(matrix, row, first)


@pytest.mark.parametrize("columns", range(1, 2 * WIDTH))
def test_places_behind_the_last_column_are_zero(rng, columns):
    matrix, memory = rng.normal(size=(3, columns)), np.empty(WIDTH)
    for row, first in np.ndindex(matrix.shape):
        columns_at_once(matrix, row, first, memory)
        assert memory.tolist() == [*matrix[row], *[0.0] * WIDTH][first:first + WIDTH]


@njit(**FLAGS)
def transpose(memory):
    lanes = block(splat(0.0), (WIDTH,), memory, 0)
    columns = transposed(consecutive(lanes, 0))
    for i in range(WIDTH):
        lanes[i] = columns[i]


def test_lanes_are_transposed():
    square = np.arange(float(WIDTH**2)).reshape(WIDTH, WIDTH)
    memory = square.flatten()
    transpose(memory)
    assert (memory.reshape(WIDTH, WIDTH) == square.T).all()
