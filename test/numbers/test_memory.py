"""Working memory by name: arrays that follow from their declaration, in plain Python and in compiled code."""
from collections import namedtuple
from typing import Annotated, NamedTuple

import numba
import numpy as np
import pytest

from screw_dynamics.jit.numba_internals.compiler import start
from screw_dynamics.numbers.lanes import WIDTH, splat
from screw_dynamics.numbers.memory import Shared, Words, arranged, parts, room, rows_of
from screw_dynamics.numbers.tables import Square
from screw_dynamics.numbers.values import kernel
from screw_dynamics.screws.vectors import Vec3

Sizes = namedtuple("Sizes", "n m")
N, M, START = 3, 2, 5
SIZES = Sizes(N, M)


class Memory(NamedTuple):
    """Something given, and arrays of each kind."""

    given: int
    x: Annotated[np.ndarray, "n"]
    A: Annotated[np.ndarray, 2, "n", "m"]
    shared: Annotated[np.ndarray, Shared, "m"]
    words: Annotated[np.ndarray, Words, "n", 2]
    points: Annotated[Vec3, "m"]
    last: Annotated[np.ndarray, 1]


LANES = N + 2 * N * M + 3 * M + 1       # scalars that lanes have each
SAME = M + 2 * N


def test_room_is_what_the_arrays_take():
    assert room(Memory, SIZES) == LANES + SAME and room(Memory, SIZES, WIDTH) == WIDTH * LANES + SAME


def test_arrays_lie_one_behind_the_other_and_fill_the_room():
    memory = np.arange(START + room(Memory, SIZES) + 4, dtype=float)
    found = arranged(Memory, 0.0, SIZES, memory, START, 7)
    assert found.given == 7 and found.A.shape == (2, N, M) and found.words.dtype == np.int64
    found.words.view(float)[...] = found.words.view(float)
    order = [*found.x, *found.A.ravel(), *found.shared, *found.words.view(float).ravel(),
             *np.transpose(found.points).ravel(), *found.last]
    assert order == list(range(START, START + room(Memory, SIZES)))


def test_names_of_sizes_have_to_be_there():
    with pytest.raises(AttributeError, match="m"):
        room(Memory, namedtuple("Sizes", "n")(3))


def test_what_cannot_be_arranged_is_refused():
    class Late(NamedTuple):
        x: Annotated[np.ndarray, "n"]
        given: int

    class Pairs(NamedTuple):
        H: Square

    class OfPairs(NamedTuple):
        pairs: Annotated[Pairs, "n"]
    with pytest.raises(TypeError, match="Late.given"):
        parts(Late)
    with pytest.raises(TypeError, match="OfPairs.pairs: Pairs"):
        parts(OfPairs)


def test_a_class_has_one_kind_of_sizes_in_compiled_code():
    class One(NamedTuple):
        x: Annotated[np.ndarray, "n"]
    start()
    other = namedtuple("Other", "m n")
    numba.njit(lambda memory: arranged(One, 0.0, Sizes(1, 1), memory, 0).x[0])(np.zeros(2))
    with pytest.raises((TypeError, numba.TypingError), match="One has the sizes"):
        numba.njit(lambda memory: arranged(One, 0.0, other(1, 1), memory, 0).x[0])(np.zeros(2))


def test_rows_are_found_by_name():
    memory = np.arange(START + room(Memory, SIZES, WIDTH), dtype=float)
    first = START + WIDTH * N
    assert (rows_of(Memory, "A", SIZES, memory, START, WIDTH).ravel() == first + np.arange(2 * N * M * WIDTH)).all()
    assert (rows_of(Memory, "shared", SIZES, memory, START, WIDTH).ravel() ==
            first + 2 * N * M * WIDTH + np.arange(M)).all()
    with pytest.raises(KeyError):
        rows_of(Memory, "given", SIZES, memory, START)


@kernel
def written(like, n, m, memory, start_):
    """Write numbers into all arrays, by names and negative indices, through slices too; returns the room."""
    sizes = Sizes(n, m)
    found = arranged(Memory, like, sizes, memory, start_, 7)
    for i in range(n):
        found.x[i] = like + i
        for j in range(m):
            found.A[0, i, j], found.A[-1, i, j] = like + (10 * i + j), like - (10 * i + j)
        found.words[i, 0], found.words[i, -1] = i, found.given
    for j in range(m):
        found.shared[j] = 100.0 + j
        found.points.x[j], found.points.y[j], found.points.z[j] = like + 1.0, like + 2.0, like + float(j)
    found.last[0] = found.x[-1] + found.points.z[m - 1] + found.A[:, 1, 1][0] + float(len(found.shared))
    return room(Memory, sizes)


@pytest.mark.parametrize("lanes", [False, True])
def test_compiled_code_finds_the_same_arrays(lanes):
    start()
    unit = WIDTH if lanes else 1

    def on_lanes(n, m, memory, start_):
        return written(splat(0.5), n, m, memory, start_)

    def of_one(n, m, memory, start_):
        return written(0.5, n, m, memory, start_)
    size = START + room(Memory, SIZES, unit) + 4
    plain, compiled = np.full(START + room(Memory, SIZES) + 4, -1.0), np.full(size, -1.0)
    assert written(0.5, N, M, plain, START) == room(Memory, SIZES)
    numba.njit(on_lanes if lanes else of_one)(N, M, compiled, START)
    assert (compiled[:START] == -1.0).all() and (compiled[START + room(Memory, SIZES, unit):] == -1.0).all()
    for name in Memory._fields[1:]:
        expected, found = (rows_of(Memory, name, SIZES, x, START, k) for x, k in ((plain, 1), (compiled, unit)))
        if name in ("words", "shared"):
            assert (found == expected).all() and found.view(np.int64).tolist() == expected.view(np.int64).tolist()
        elif name != "points":          # in plain Python lists, which are not written back
            assert (found == expected).all()
    points = rows_of(Memory, "points", SIZES, compiled, START, unit)
    expected = np.array([[1.5, 2.5, 0.5], [1.5, 2.5, 1.5]])
    assert (points.reshape(M, 3, unit) == expected[:, :, None]).all()
