"""Thread counts of calls, and a thread pool for Python calls."""
import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from time import monotonic

from screw_dynamics.utils.checks import whole


def available_threads() -> int:
    """Return the default number of threads of a batch: one for each core, at most NUMBA_NUM_THREADS and
    OMP_NUM_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = [os.environ.get(name, "") for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")]
    return min([cores, *(max(1, int(x)) for x in asked if x.isdigit())])


def thread_count(threads: int | None) -> int:
    """Return the number of threads of an argument `threads`, an integer >= 1. None selects available_threads(), cached
    for one second because the query takes as long as a hundred states."""
    global _available, _asked
    if threads is not None:
        return whole("threads", threads, 1)
    if not 0.0 <= monotonic() - _asked < 1.0:
        _available, _asked = available_threads(), monotonic()
    return _available


_available, _asked = 1, -math.inf


class _Task:
    """A call for a thread of the pool. It is canceled if no thread has begun it when its result is needed. A Future is
    not used, because an interrupt could lose one that is already running."""

    def __init__(self, work):
        self._work, self._owner, self._done, self._ended, self._error = work, {}, Lock(), False, None
        self._done.acquire()

    def run(self):
        """Make the call, unless it was canceled."""
        if self._owner.setdefault("owner", "thread") == "thread":       # atomic
            try:
                self._work()
            except BaseException as error:
                self._error = error
            self._ended = True
            self._done.release()

    def cancel_or_wait(self):
        """Cancel the call, or wait for its end. Return the exception that it raised, or None. May be repeated after an
        interrupt."""
        if self._owner.setdefault("owner", "caller") == "thread":
            while not self._ended:
                self._done.acquire()
        return self._error


def _new_pool():
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "screw_dynamics")


_pool = _new_pool()


def on_threads(work: Callable[[Iterable], None], pieces: Iterable, count: int,
               give_up: Callable[[], None] = lambda: None) -> None:
    """Call work(pieces) on up to `count` threads, including the calling one, and wait for all. They share the pieces: a
    free thread takes the next one, until none is left or a call has raised; the exception is raised here. give_up:
    called after a failure or an interrupt, so that long work can end early."""
    if count == 1:
        return work(pieces)
    left, tasks, errors = iter(pieces), [], []

    def share():
        try:
            work(left)
        except BaseException:
            give_up()
            for _ in left:
                pass
            raise
    try:
        tasks += [_Task(share) for _ in range(min(count, os.cpu_count() or 1) - 1)]
        with suppress(RuntimeError):        # no more threads can start: the existing ones take all pieces
            for task in tasks:
                _pool.submit(task.run)
        share()
    finally:  # no thread writes after the return; no call outside `try`, since
        while tasks:        # Ctrl-C may raise at any
            try:
                while tasks:
                    errors.append(tasks[-1].cancel_or_wait())
                    tasks.pop()
            except BaseException as error:
                errors.append(error)
                give_up()
    for error in filter(None, errors):
        raise error


def _after_fork():
    global _pool
    _pool = _new_pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)         # threads do not survive a fork
