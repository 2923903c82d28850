"""A logger with a bounded rate."""

import re
import threading
import time
from collections import deque
from collections.abc import Callable

from rclpy.impl.rcutils_logger import RcutilsLogger

from .plain_text import indented

LINES = 20      # of one severity in a period
PERIOD = 5.0    # seconds
LENGTH = 2000   # characters of a line


class BoundedLog:
    """A logger that writes at most LINES lines of each severity in PERIOD seconds of real time, of at most LENGTH
    characters each.

    The next line contains the number of omitted lines. Control characters of terminals are escaped. Any thread may
    write."""

    def __init__(self, logger: RcutilsLogger, now: Callable[[], float] = time.monotonic):
        self._logger, self._now = logger, now
        self._lock = threading.Lock()
        self._periods: dict[str, tuple[float, int]] = {}   # severity: the period's start, and the lines in it
        self._latest: deque[tuple[float, str]] = deque(maxlen=LINES)     # lines, each with its time

    def logged_within(self, text: str, within: float) -> bool:
        """Return True if a line logged in the last `within` seconds has this text, apart from numbers."""
        words = without_numbers(text)
        with self._lock:
            return any(words in without_numbers(line) and self._now() - at <= within for at, line in self._latest)

    # rclpy allows one severity for each place that logs.
    def debug(self, text: str) -> None:
        """Log a line for debugging."""
        for line in self._admitted("debug", text):
            self._logger.debug(line)

    def info(self, text: str) -> None:
        """Log an informational line."""
        for line in self._admitted("info", text):
            self._logger.info(line)

    def warning(self, text: str) -> None:
        """Log a warning."""
        for line in self._admitted("warning", text):
            self._logger.warning(line)

    def error(self, text: str) -> None:
        """Log an error."""
        for line in self._admitted("error", text):
            self._logger.error(line)

    def _admitted(self, severity: str, text: str) -> list[str]:
        """Return a list with the line to write; empty if the line is omitted."""
        now = self._now()
        with self._lock:
            start, lines = self._periods.get(severity, (now, 0))
            left_out = 0
            if now - start >= PERIOD:
                start, lines, left_out = now, 0, max(0, lines - LINES)
            self._periods[severity] = start, lines + 1
            self._latest.append((now, text))
        if lines >= LINES:
            return []
        if len(text) > LENGTH:
            text = f"{text[:LENGTH // 2]} ... ({len(text)} characters) ... {text[-LENGTH // 2:]}"
        text = indented(text)
        return [f"{text} ({left_out} lines like this were left out before)" if left_out else text]


def without_numbers(text: str) -> str:
    """Return a text without its numbers, to compare lines of the same fault. Digits in names are kept."""
    return re.sub(r"(?<![\w.-])-?\d[\d.]*(?:e[-+]?\d+)?", "", text)
