"""Threads for batches: a pool whose threads wake quickly, and work that is shared among them."""
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread

from screw_dynamics.checks import whole


def available_threads() -> int:
    """How many threads a batch takes by default: one for each usable core, or fewer if the environment says so."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = [os.environ.get(name, "") for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")]
    return min([cores, *(max(1, int(x)) for x in asked if x.isdigit())])


def thread_count(threads: int | None) -> int:
    """The number of threads a user asks for; by default, for None, as many as available_threads says."""
    return available_threads() if threads is None else whole("threads", threads, 1)


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


def on_threads(work: Callable[[Iterable], None], pieces: Iterable, count: int) -> None:
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
