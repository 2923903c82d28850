"""A guard against exceptions in any callback of a node."""

import time
import traceback
from collections.abc import Callable

from rclpy.executors import ExternalShutdownException

from .fair_lock import FairExecutor, FairLock

Failure = Callable[[str], None]   # takes the text of an exception, with its traceback


PAUSE = 1e-3   # seconds after a failure, so that a persistent failure does not use the whole processor


class GuardedExecutor(FairExecutor):
    """An executor that continues after an exception in a callback: of a timer, subscription, service, parameter, guard
    condition or transition, in this package's code or rclpy's.

    `failed(text)` is called with the traceback of each exception, and must not raise. KeyboardInterrupt and SystemExit
    propagate; exceptions during the shutdown of the context are ignored."""

    def __init__(self, failed: Failure, lock: FairLock):
        super().__init__(lock)
        self._failed = failed

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait for one callback and run it; an exception does not propagate."""
        try:
            super().spin_once(timeout_sec)
        except ExternalShutdownException:
            raise
        except Exception:
            if self.context.ok():
                self._failed(traceback.format_exc())
                time.sleep(PAUSE)
