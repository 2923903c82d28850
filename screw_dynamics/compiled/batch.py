"""A batch of states: eight at a time on lanes, in pieces on threads, from arrays of any memory layout."""
import os
from contextlib import contextmanager, suppress
from math import prod
from queue import SimpleQueue
from threading import Lock, Thread

import numpy as np
from numpy.lib.stride_tricks import as_strided

TILE = 1024             # states that are copied at once where an array cannot be read in place
SHARE = 1 << 13         # bodies (states times slots) below which another thread costs more than it saves


def available_threads():
    """How many threads a batch takes by default: the cores this process may use, or fewer if the environment says
    so."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = [os.environ.get(name, "") for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")]
    return min([cores, *(max(1, int(x)) for x in asked if x.isdigit())])


def evaluate(entry, workspaces, options, inputs, out, threads):
    """Evaluate an entry point on the states of `inputs`, arrays (*lead, n), into `out` (*lead, ...).

    Threads of Python rather than Numba's parallel loops: the kernels run without the GIL, nothing is compiled twice,
    and a program may call from threads of its own, which Numba's default threading layer answers by ending the
    process."""
    many = entry.many
    lead = inputs[0].ndim - 1
    sources, target = [_Rows(x, lead) for x in inputs], _Rows(out, lead)
    count = prod(inputs[0].shape[:-1])
    turn = np.zeros(1, dtype=np.int64)

    def in_place(_):                                        # all threads share the turn, and need the GIL just once
        with workspaces.borrowed() as memory:
            many(memory, *options, *(source.view for source in sources), target.view, turn)

    def by_tiles(starts):
        with workspaces.borrowed() as memory:
            for start in starts:
                piece = slice(start, min(start + TILE, count))
                rows = target.room(piece)
                many(memory, *options, *(source.read(piece) for source in sources), rows, np.zeros_like(turn))
                target.keep(piece, rows)
    work = in_place if all(rows.in_place for rows in (*sources, target)) else by_tiles
    on_threads(work, range(0, count, TILE), max(1, min(threads, count * workspaces.slots // SHARE)))


class Workspaces:
    """Working memory on lanes: one array for each thread at work, kept for the next."""

    def __init__(self, make, slots):
        self.slots, self._make, self._idle = slots, make, []

    @contextmanager
    def borrowed(self):
        """Lend an array to the calling thread alone."""
        try:
            memory = self._idle.pop()           # atomic, and so is append
        except IndexError:
            memory = self._make()
        try:
            yield memory
        finally:
            self._idle.append(memory)


class _Rows:
    """An array (*lead, ...) as rows, one a state: a view where its strides allow that, else copied tile by tile."""

    def __init__(self, array, lead):
        self._array, self._lead = array, array.shape[:lead]
        self.view = _collapsed(array, lead) if array.dtype == float else None
        self.in_place = self.view is not None

    def read(self, piece):
        """These rows, to be read."""
        if self.in_place:
            return self.view[piece]
        rows = self._array[self._index(piece)]
        return np.ascontiguousarray(rows, dtype=float).reshape(len(rows), -1)

    def room(self, piece):
        """Memory for these rows, to be written."""
        if self.in_place:
            return self.view[piece]
        return np.empty((piece.stop - piece.start, prod(self._array.shape[len(self._lead):])))

    def keep(self, piece, rows):
        """Put what was written into the array."""
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


# ------------------------------------------------------------------------------------------------- threads
class _Task:
    """A call that a thread of ours takes over, or its caller takes back if none has begun it."""

    def __init__(self, work):
        self._work, self._begun, self._done, self._ended, self._error = work, Lock(), Lock(), False, None
        self._done.acquire()

    def run(self):
        """Call it, unless it was taken back."""
        if self._begun.acquire(blocking=False):
            try:
                self._work()
            except BaseException as error:
                self._error = error
            self._ended = True
            self._done.release()

    def settle(self):
        """Take it back, or wait for its end; returns what it raised, or what interrupted the wait."""
        interrupt = None
        if not self._begun.acquire(blocking=False):
            while not self._ended:
                try:
                    self._done.acquire()
                except BaseException as error:              # a signal's, KeyboardInterrupt say: wait on, and tell later
                    interrupt = error
        return self._error or interrupt


class _Pool:
    """Threads that wait for tasks. Quicker to wake than those of concurrent.futures: a batch may take 0.1 ms."""

    def __init__(self):
        self._tasks, self._threads, self._growing = SimpleQueue(), 0, Lock()

    def submit(self, work, count):
        """Have work() called by so many threads, or by fewer if the system gives no more; returns the tasks."""
        with self._growing, suppress(RuntimeError):         # who finds a task not begun takes it back
            while self._threads < count:
                Thread(target=self._serve, name=f"screw_dynamics_{self._threads}", daemon=True).start()
                self._threads += 1
        tasks = [_Task(work) for _ in range(min(count, self._threads))]
        for task in tasks:
            self._tasks.put(task)
        return tasks

    def _serve(self):
        while True:
            self._tasks.get().run()


_pool = _Pool()


def on_threads(work, pieces, count):
    """Call work(pieces) on so many threads, the calling one among them, and wait for all. The next piece of a range
    goes to whoever is free; none goes to anybody any more once one of them has failed."""
    if count == 1:
        return work(pieces)
    left = iter(pieces)

    def share():
        try:
            work(left)
        except BaseException:
            for _ in left:
                pass
            raise
    tasks = _pool.submit(share, min(count, os.cpu_count() or 1) - 1)
    try:
        share()
    finally:                                                # nobody writes after the return, no matter what happens
        errors = [task.settle() for task in tasks]
    for error in filter(None, errors):
        raise error


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.__init__)      # threads do not survive a fork
