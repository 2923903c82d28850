"""Threads of one node take turns: a lock that nobody overtakes at, and an executor that holds it for every callback."""

import threading

from rclpy.executors import ShutdownException, SingleThreadedExecutor, TimeoutException


class FairLock:
    """A lock, as a context, which a thread may enter again while it has it, and which nobody gets twice while another
    waits.

    Python's own locks can be taken again by the thread that released them before one that waits wakes up: a thread that
    is busy with message after message would keep out the others."""

    def __init__(self):
        self._turn = threading.Lock()
        self._queue = threading.Lock()   # held by the one that is next
        self._owner = 0
        self._depth = 0

    def __enter__(self) -> "FairLock":
        me = threading.get_ident()
        if self._owner != me:
            with self._queue:
                self._turn.acquire()
            self._owner = me
        self._depth += 1
        return self

    def __exit__(self, *_) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = 0
            self._turn.release()


class FairExecutor(SingleThreadedExecutor):
    """Runs callbacks in the thread that spins, each of them in its turn among the threads that share `lock`."""

    def __init__(self, lock: FairLock):
        super().__init__()
        self.lock = lock

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait for one callback and run it."""
        try:
            handler, _, _ = self.wait_for_ready_callbacks(timeout_sec=timeout_sec)
        except (ShutdownException, TimeoutException):
            return
        with self.lock:
            handler()
        if handler.exception() is not None:
            raise handler.exception()
