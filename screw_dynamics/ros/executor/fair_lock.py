"""Mutual exclusion of the threads of one node: a fair lock, and an executor that holds the lock during every
callback."""

import threading

from rclpy.executors import ShutdownException, SingleThreadedExecutor, TimeoutException


class FairLock:
    """A fair, reentrant lock, used as a context manager: no thread gets it twice while another waits.

    The thread that releases one of Python's own locks can acquire it again before a waiting thread wakes up: a thread
    that processes message after message would starve the other threads."""

    def __init__(self):
        self._turn = threading.Lock()
        self._queue = threading.Lock()   # held by the thread that is next
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
    """An executor that runs callbacks in the spinning thread, each while it holds `lock`."""

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
