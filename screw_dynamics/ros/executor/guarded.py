"""A guard against exceptions: the one place where a callback of a node, whichever it is, may fail."""

import time
import traceback
from collections.abc import Callable

from rclpy.executors import ExternalShutdownException

from .fair_lock import FairExecutor, FairLock

Failure = Callable[[str], None]   # takes the text of an exception, with its traceback


PAUSE = 1e-3   # seconds after a failure, so that one that lasts does not take the whole processor


class GuardedExecutor(FairExecutor):
    """An executor that goes on after an exception in a callback: of a timer, subscription, service, parameter, guard
    condition or transition, of ours or of rclpy.

    `failed(text)` is told of each, with its traceback, and must not raise. Exceptions that end a process
    (KeyboardInterrupt, SystemExit) do, and those while the context is shutting down are no faults."""

    def __init__(self, failed: Failure, lock: FairLock):
        super().__init__(lock)
        self._failed = failed

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait for one callback and carry it out, whatever it raises."""
        try:
            super().spin_once(timeout_sec)
        except ExternalShutdownException:
            raise
        except Exception:
            if self.context.ok():
                self._failed(traceback.format_exc())
                time.sleep(PAUSE)
