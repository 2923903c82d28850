"""States between the rows of an array and lanes."""
import ctypes
import mmap

import numpy as np
import pytest
from numba import njit

from screw_dynamics.compiled.across import taken
from screw_dynamics.compiled.tiles import clear, consecutive, identity_order, load, store, transposed
from screw_dynamics.numbers.lanes import WIDTH, splat
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import FLAGS

COUNTS = [0, 1, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH + 1]


@njit(**FLAGS)
def through_lanes(coordinate, states, memory, out):
    """Each number of each state through a lane, into a row of `out`."""
    column = block(splat(0.0), (len(coordinate),), memory, 0)
    results = block(splat(0.0), (len(coordinate) - 1,), memory, WIDTH * len(coordinate))
    ordered = identity_order(coordinate, states.shape[1])
    for first in range(0, len(states), WIDTH):
        load(coordinate, ordered, states, first, column)
        clear(results)
        for i in range(len(results)):
            results[i] += column[i + 1]
        store(results, out, first)


def framed(count, n):
    """Memory with a margin all round for count rows of n numbers, full of nines, and what lies within."""
    memory = np.full((count + 2, n + 20), 9.0)
    return memory, memory[1:-1, 10:10 + n]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 19])
def test_rows_of_numbers_side_by_side_go_in_and_out_of_lanes(rng, count, n):
    """Of any length, and nothing is written around them."""
    _, states = framed(count, n)
    states[:] = rng.normal(size=(count, n))
    memory, out = framed(count, n)
    expected, inner = framed(count, n)
    inner[:] = states
    through_lanes(np.arange(-1, n), states, np.full(2 * WIDTH * (n + 1), np.nan), out)
    assert (memory == expected).all()


@pytest.mark.parametrize("count", COUNTS)
def test_rows_with_strides_go_in_and_out_of_lanes(rng, count):
    """By coordinates that come twice or never, from and to arrays whose entries lie apart."""
    states = rng.normal(size=(4, 2 * count))[:, ::-2].T
    coordinate, frame = np.array([77, 3, 0, 3]), np.full((count + 2, 7), 9.0)
    through_lanes(coordinate, states, np.full(200, np.nan), frame[1:-1, 1::2])
    expected = np.full_like(frame, 9.0)
    expected[1:-1, 1::2] = states[:, [3, 0, 3]]
    assert (frame == expected).all()


def between_forbidden_pages():
    """Memory (512,) that a step to either side leaves with a segmentation fault."""
    pages = np.frombuffer(mmap.mmap(-1, 3 * mmap.PAGESIZE))
    for start in (0, 2 * mmap.PAGESIZE):
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(pages.ctypes.data + start), mmap.PAGESIZE, 0) == 0
    return pages[len(pages) // 3:-(len(pages) // 3)]


@pytest.mark.parametrize("n", [1, 5, 8, 9, 13])
def test_nothing_around_an_array_is_touched(rng, n):
    """What a mask hides is not read either, at the first and at the last address that there is."""
    (*_, source, target), memory = [between_forbidden_pages() for _ in range(2)], np.empty(2 * WIDTH * (n + 1))
    for count in range(1, 2 * WIDTH + 2):
        for part in (slice(count * n), slice(-count * n, None)):
            states, out = source[part].reshape(count, n), target[part].reshape(count, n)
            states[:] = rng.normal(size=(count, n))
            through_lanes(np.arange(-1, n), states, memory, out)
            assert (out == states).all()
            through_lanes(np.arange(-1, n), states[::-1], memory, out[::-1])
            assert (out == states).all()


@pytest.mark.parametrize("count", COUNTS)
def test_coordinates_in_another_order_are_read_from_rows_side_by_side(rng, count):
    states, out = rng.normal(size=(count, 4)), np.empty((count, 4))
    through_lanes(np.array([77, 3, 0, 2, 1]), states, np.full(200, np.nan), out)
    assert (out == states[:, [3, 0, 2, 1]]).all()


@pytest.mark.parametrize("count", COUNTS)
def test_coordinates_that_come_twice_are_read_from_rows_side_by_side(rng, count):
    states, out = rng.normal(size=(count, 4)), np.empty((count, 5))
    through_lanes(np.array([77, 3, 0, 3, 1, 2]), states, np.full(200, np.nan), out)
    assert (out == states[:, [3, 0, 3, 1, 2]]).all()


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
