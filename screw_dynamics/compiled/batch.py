"""Batches of states: WIDTH at a time on lanes, in pieces on threads, from arrays of any memory layout."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from screw_dynamics.lazy import lazy
from screw_dynamics.numbers.lanes import WIDTH

from .direct_batches import SHORT, name_workspaces
from .entry import Entry
from .threads import on_threads, thread_count
from .workers import WORKERS
from .workspace import LARGE, Tables, capacity, workspace

TILE = 1024             # states that are copied at once where an array cannot be read in place
SHARE = 1 << 13         # bodies (states times slots) below which another thread costs more than it saves
empty = np.empty


def evaluate_rows(entry: Entry, workspaces: Workspaces, shape: tuple[int, ...], target: tuple[int, ...],
                  inputs: tuple, out: np.ndarray | None, threads: int | None) -> np.ndarray | None:
    """The results (N, *shape) of N states, written into `out` unless it is None; None, with nothing done, unless inputs
    are contiguous float64 arrays (N, width), and `out` one apart from them.

    The checks of `evaluate`, which come then, take longer than a kernel takes for eight states."""
    q, rows = inputs[0], entry.rows
    if type(q) is not np.ndarray or q.ndim != 2 or rows is None:
        return None
    count = len(q)
    if out is None:
        out = empty((count, *shape))
    elif type(out) is not np.ndarray or out.shape != (count, *shape):
        return None
    if threads != 1:
        brief = threads is None and count * workspaces.slots * entry.rate.item() < SHORT
        threads = 1 if brief else workspaces.for_threads(thread_count(threads))
    return out if rows(entry.descriptor, WORKERS.address, workspaces.memory, threads, *target, *inputs, out) else None


def evaluate(entry: Entry, memory: np.ndarray, workspaces: Workspaces, target: tuple[int, ...],
             inputs: Sequence[np.ndarray], out: np.ndarray, threads: int | None) -> np.ndarray:
    """Evaluate an entry point, with its packed target if it requires one, on inputs (..., n) of any layout and real
    dtype, into `out` (..., *shape of one result), which may overlap with them. Returns `out`."""
    if inputs[0].ndim > 1:
        apart = not any(np.may_share_memory(out, x, max_work=1000) for x in inputs)
        results = out if apart else np.empty(out.shape)         # never write where a state is still to be read
        large = prod(out.shape[inputs[0].ndim - 1:]) > LARGE
        if not (large and evaluate_one_by_one(entry, memory, target, inputs, results)):
            evaluate_batch(entry, workspaces, target, inputs, results, thread_count(threads))
    else:
        if threads is not None:
            thread_count(threads)
        results = np.require(out, requirements=["C", "A"])
        states = [np.require(x, float, ["C", "A"]).view(np.ndarray) for x in inputs]
        if not entry.one(memory, *target, *states, results):    # borrow.py does not know this build of NumPy
            evaluate_batch(entry, workspaces, target, [x[None] for x in states], results[None], 1)
    if results is not out:
        out[...] = results
    return out


def evaluate_single(entry: Entry, workspaces: Workspaces, target: tuple[int, ...], inputs: Sequence[np.ndarray],
                    out: np.ndarray, threads: int | None) -> np.ndarray:
    """As `evaluate`, in single precision: into `out` of float32. Inputs that are no contiguous float32 are copied."""
    lead = inputs[0].ndim - 1
    count, entries = prod(inputs[0].shape[:-1]), prod(out.shape[lead:])
    apart = not any(np.may_share_memory(out, x, max_work=1000) for x in inputs)
    results = out if apart and out.flags.carray else np.empty(out.shape, np.float32)
    states = tuple(np.require(x, np.float32, ["C", "A"]).reshape(count, x.shape[-1]) for x in inputs)
    rows, counter, single = results.reshape(count, entries), np.zeros(1, dtype=np.int64), entry.single

    def work(_):
        with workspaces.borrowed(entries) as memory:
            single(memory, target, states, rows, counter)
    on_threads(work, (), max(1, min(thread_count(threads), count * workspaces.slots // (2 * SHARE))))
    if results is not out:
        out[...] = results
    return out


def evaluate_one_by_one(entry: Entry, memory: np.ndarray, target: tuple[int, ...], inputs: Sequence[np.ndarray],
                        out: np.ndarray) -> bool:
    """As evaluate_batch, but on one state after the other; False, with nothing done, if `Entry.one` cannot read
    arrays. For results of which WIDTH at once take more memory than that saves time."""
    for k in np.ndindex(inputs[0].shape[:-1]):
        rows = out[k]
        result = np.require(rows, requirements=["C", "A"])
        if not entry.one(memory, *target, *(np.require(x[k], float, ["C", "A"]) for x in inputs), result):
            return False
        if result is not rows:
            rows[...] = result
    return True


def evaluate_batch(entry: Entry, workspaces: Workspaces, target: tuple[int, ...], inputs: Sequence[np.ndarray],
                   out: np.ndarray, threads: int) -> None:
    """Evaluate an entry point, with its packed target if it requires one, on the states of `inputs`, arrays (*lead, n),
    into `out` (*lead, ...).

    Python threads rather than Numba's parallel loops: kernels run without the GIL, none is compiled a second time, and
    a program may call from threads of its own, where Numba's default threading layer would end the process."""
    many = entry.many
    lead = inputs[0].ndim - 1
    sources, results = [_Rows(x, lead) for x in inputs], _Rows(out, lead)
    count = prod(inputs[0].shape[:-1])
    counter, room = np.zeros(1, dtype=np.int64), prod(out.shape[lead:])

    def in_place(_):                                        # one call for each thread: the shared counter assigns tiles
        with workspaces.borrowed(room) as memory:
            many(memory, target, tuple(source.view for source in sources), results.view, counter)

    def by_tiles(starts):
        with workspaces.borrowed(room) as memory:
            for start in starts:
                piece = slice(start, min(start + TILE, count))
                rows = results.room(piece)
                many(memory, target, tuple(source.read(piece) for source in sources), rows, np.zeros_like(counter))
                results.keep(piece, rows)
    work = in_place if all(rows.in_place for rows in (*sources, results)) else by_tiles
    on_threads(work, range(0, count, TILE), max(1, min(threads, count * workspaces.slots // SHARE)))


class Workspaces:
    """Workspaces for lanes, or for other scalars of so many numbers: one for each thread at work, kept for reuse."""

    def __init__(self, robot: Tables, numbers: int = WIDTH):
        self.slots, self._robot, self._numbers, self._idle = len(robot.links), robot, numbers, []
        self._of_workers = []

    @lazy
    def memory(self) -> np.ndarray:
        """The workspace of batches that one machine-code call works off: `Entry.rows`."""
        return workspace(self._robot, self._numbers)

    def for_threads(self, threads: int) -> int:
        """See to it that so many threads may work off a batch in `memory`, or as many as there can be."""
        workers = WORKERS.grow(threads - 1)
        if len(self._of_workers) < workers:
            with WORKERS.growing:                           # a lock that a fork leaves open
                while len(self._of_workers) < workers:
                    self._of_workers.append(workspace(self._robot, self._numbers))
                    name_workspaces(self.memory, self._of_workers)
        return 1 + workers

    def take(self, room: int = 0) -> np.ndarray:
        """A workspace that no other thread uses, until it is given back, with memory for a result of so many
        numbers."""
        try:
            memory = self._idle.pop()           # atomic, and so is append
        except IndexError:
            return workspace(self._robot, self._numbers, room)
        return memory if not room or room <= capacity(memory) else workspace(self._robot, self._numbers, room)

    def give_back(self, memory: np.ndarray) -> None:
        """Return a workspace after its use."""
        self._idle.append(memory)

    @contextmanager
    def borrowed(self, room: int = 0) -> Iterator[np.ndarray]:
        """A workspace that no other thread uses inside the `with` block; room as in `take`."""
        memory = self.take(room)
        try:
            yield memory
        finally:
            self.give_back(memory)


class _Rows:
    """An array (*lead, ...) as rows, one a state: a view where its strides allow that, else copied tile by tile."""

    def __init__(self, array, lead):
        self._array, self._lead = array, array.shape[:lead]
        self.view = _collapsed(array, lead) if array.dtype == float else None
        self.in_place = self.view is not None

    def read(self, piece):
        """The rows of a piece, for reading."""
        if self.in_place:
            return self.view[piece]
        rows = self._array[self._index(piece)]
        return np.ascontiguousarray(rows, dtype=float).reshape(len(rows), -1)

    def room(self, piece):
        """Memory for the rows of a piece, for writing."""
        if self.in_place:
            return self.view[piece]
        return np.empty((piece.stop - piece.start, prod(self._array.shape[len(self._lead):])))

    def keep(self, piece, rows):
        """Copy rows from `room` into the array, unless they are a view of it."""
        if not self.in_place:
            self._array[self._index(piece)] = rows.reshape(-1, *self._array.shape[len(self._lead):])

    def _index(self, piece):
        return np.unravel_index(np.arange(piece.start, piece.stop), self._lead)


def _collapsed(array, lead):
    """The array as a view (product of the leading axes, product of the others), or None if no strides express that."""
    if array.flags.c_contiguous:
        return array.reshape(prod(array.shape[:lead]), prod(array.shape[lead:]))
    merged = [_merge(array.shape[part], array.strides[part]) for part in (slice(None, lead), slice(lead, None))]
    if None in merged:
        return None
    (rows, down), (entries, along) = merged
    return as_strided(array, (rows, entries), (down, along), writeable=array.flags.writeable)


def _merge(shape, strides):
    """Length and stride of the one axis that runs through axes of this shape, or None."""
    length, step = 1, 8
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n != 1:
            if length != 1 and stride != step * length:
                return None
            length, step = length * n, stride if length == 1 else step
    return length, step
