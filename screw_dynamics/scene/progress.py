"""Progress of a long rollout, reported by a thread that reads its results while machine code fills them. Results are
bit-identical to those without progress."""
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

INTERVAL = 0.5          # s


@contextmanager
def watched(samples: np.ndarray, report: Callable[[float], None], interval: float = INTERVAL) -> Iterator[None]:
    """Call report(fraction of filled samples) periodically while the body fills samples (..., k, n), and report(1.0) at
    the end. Exceptions of report are raised at the end."""
    samples[...], ended, failed = np.nan, threading.Event(), []

    def look():
        while not ended.wait(interval):
            try:
                report(share(samples))
            except Exception as error:
                failed.append(error)
                return
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if failed:
        raise failed[0]
    report(1.0)


def share(samples: np.ndarray) -> float:
    """Return the fraction of filled samples, which are not NaN."""
    return float(1.0 - np.isnan(samples[..., 0]).mean()) if samples.size else 1.0


def printed() -> Callable[[float], None]:
    """Return a function that prints the progress on a line of the terminal, with the estimated remaining time."""
    begin = time.monotonic()

    def report(done: float) -> None:
        spent = time.monotonic() - begin
        left = "" if done <= 0.0 or done >= 1.0 else f", {spent * (1.0 / done - 1.0):.0f} s left"
        print(f"\rrollout: {100.0 * done:3.0f} %, {spent:.0f} s{left}   ", end="\n" if done >= 1.0 else "",
              file=sys.stderr, flush=True)
    return report


def watching(progress: bool | Callable[[float], None]) -> Callable | None:
    """Return the argument `watch` of Rollouts.samples for a given `progress`."""
    if progress is False or progress is None:
        return None
    if progress is not True and not callable(progress):
        raise ValueError(f"progress must be True, False or a function of a share, not {progress!r}")
    report = printed() if progress is True else progress
    return lambda samples: watched(samples, report)
