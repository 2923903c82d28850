"""The health of a node: faults, counted and logged without flooding, and /diagnostics once a second."""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from ..endpoints import OVERRIDABLE, RELIABLE, STEADY, own
from .joint_state import Fault
from .log import BoundedLog, without_numbers
from .plain_text import printable
from .watches import ClockWatch, namesakes

OK, WARN, ERROR, STALE = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE
Report = tuple[bytes, str, Mapping[str, object]]   # level, message, values
PERIOD = 1.0         # seconds between reports
LOG_INTERVAL = 5.0   # seconds between log lines of one reason
# Seconds that a message of the diagnostics lasts until it is logged: a robot that starts lacks states for a moment.
LASTING = {WARN: 5.0, ERROR: 0.0, STALE: 0.0}
MOST_REASONS = 100   # of a time that is not OK


class ThrottledLog:
    """Logs a reason at most every LOG_INTERVAL seconds of real time. rclpy throttles by line of code, not by reason."""

    def __init__(self, log: BoundedLog):
        self._log = log
        self._next: dict[str, float] = {}

    def log(self, reason: str, text: str, severity: str) -> bool:
        """Log `text` at "debug", "info", "warn" or "error" unless `reason` was logged less than LOG_INTERVAL ago.

        Returns whether it was logged."""
        now = time.monotonic()
        if now < self._next.get(reason, 0.0):
            return False
        self._next[reason] = now + LOG_INTERVAL
        write = {"error": self._log.error, "warn": self._log.warning, "info": self._log.info}
        write.get(severity, self._log.debug)(text)
        return True


class Diagnostics:
    """Publishes one DiagnosticStatus of a ManagedNode a second, and one more when states become stale: what `report`
    returns, then rates, drops and notices.

    `report()` returns (level, message, values): the level is OK, WARN, ERROR or STALE, the values have str keys. Every
    reason that messages were dropped for stays listed as "dropped: <reason>" with its count since the start, and every
    topic of which messages were lost as "lost: <topic>"; a status that would be OK is WARN when there are new ones.
    What is wrong for as long as LASTING says is logged, once until the status is OK, which then is logged, too, if
    the log has what was wrong since the last time.

    A message that is dropped is a warning, whatever is wrong with it, as the node goes on with the next one; an error
    is what needs somebody to act: a description that is refused, a simulation that has ended, an internal error.

    watches: each returns "" or a warning, which makes a status that would be OK one of WARN.

    listeners: each is called with (source, fault, whether a message was dropped)."""

    def __init__(self, node, report: Callable[[], Report], title: str):
        self._node = node
        self._report = report
        self._title = title
        self._log = ThrottledLog(node.log)
        self.watches: list[Callable[[], str]] = [ClockWatch(node), lambda: namesakes(node)]
        self.listeners: list[Callable[[str, Fault, bool], None]] = []
        self._dropped: Counter[str] = Counter()
        self._noticed: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._reported_lost: Counter[str] = Counter()
        self._logged_lost: Counter[str] = Counter()
        self._ticks: Counter[str] = Counter()
        self._wrong_since: dict[str, float] = {}    # by the words of a message since the last OK; inf: it has lasted
        self._ok_at, self._unanswered = -math.inf, False    # the last line that all is OK; whether the log lacks one
        self._reported_at = time.monotonic()
        self._publisher = node.create_publisher(
            DiagnosticArray, "/diagnostics", own(RELIABLE), qos_overriding_options=OVERRIDABLE)
        node.create_timer(PERIOD, self.publish, clock=STEADY)

    def tick(self, what: str) -> None:
        """Count one event of a kind whose rate is reported, as "<what> rate [Hz]"."""
        self._ticks[what] += 1

    def drop(self, source: str, fault: Fault) -> None:
        """Count and log a message of the topic `source` that was dropped."""
        self._dropped[fault.reason] += 1
        self._log.log(f"{source} {fault.reason}", f"{source}: {fault}; message dropped", fault.severity)
        for hear in self.listeners:
            hear(source, fault, True)

    def lose(self, source: str, count: int) -> None:
        """Count messages of the topic `source` that were published but never arrived; they are logged with the next
        report."""
        self._lost[source] += count

    def notice(self, source: str, fault: Fault) -> None:
        """Count and log a fault for which nothing was dropped."""
        self._noticed[fault.reason] += 1
        self._log.log(f"{source} {fault.reason}", f"{source}: {fault}", fault.severity)
        for hear in self.listeners:
            hear(source, fault, False)

    def log(self, reason: str, text: str, severity: str = "warn") -> None:
        """Log a line, throttled; it is not counted."""
        self._log.log(reason, text, severity)

    def status(self) -> DiagnosticStatus:
        """Return the status as it is now. Rates are over the time since the call before."""
        now = time.monotonic()
        elapsed = max(now - self._reported_at, 1e-9)
        self._reported_at = now
        level, message, values = self._watched(*self._report())
        values = {printable(str(key)): printable(str(value)) for key, value in values.items()}
        for what, count in self._ticks.items():
            values[f"{what} rate [Hz]"] = f"{count / elapsed:.1f}"
            self._ticks[what] = 0
        lost = self._lost - self._reported_lost
        self._reported_lost = self._lost.copy()
        if lost and level == OK:
            level, message = WARN, "; ".join(f"{topic}: {count} messages were lost" for topic, count in lost.items())
        values["lost messages"] = str(self._lost.total())
        values.update({f"lost: {topic}": str(count) for topic, count in sorted(self._lost.items())})
        values["dropped messages"] = str(self._dropped.total())
        values.update({f"dropped: {reason}": str(count) for reason, count in sorted(self._dropped.items())})
        values.update({f"noticed: {reason}": str(count) for reason, count in sorted(self._noticed.items())})
        return DiagnosticStatus(
            level=level, name=f"{self._node.get_name()}: {self._title}", message=printable(message),
            hardware_id=self._node.get_fully_qualified_name(),
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )

    def _watched(self, level: bytes, message: str, values: Mapping[str, object]) -> Report:
        """Return the report with the warnings of the watches, whatever else it says."""
        warnings = "; ".join(warning for watch in self.watches if (warning := _told(watch)))
        if warnings:
            level, message = (WARN, warnings) if level == OK else (level, f"{message}; {warnings}")
        return level, message, {**values, "warnings": warnings or "none"}

    def publish(self) -> None:
        """Publish the status as it is now, and log what is to be logged of it."""
        status = self.status()
        self._log_losses()
        self._log_status(status)
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)

    def _log_losses(self) -> None:
        """Log the messages that were lost since the last line on a topic."""
        for topic, count in (self._lost - self._logged_lost).items():
            text = f"{topic}: {count} messages were lost, {self._lost[topic]} so far"
            if self._log.log(f"{topic} lost", text, "warn"):
                self._logged_lost[topic] += count

    def _log_status(self, status: DiagnosticStatus) -> None:
        """Log what is wrong for some time, unless the log has it: nobody need look at the diagnostics."""
        now, words, since, log = time.monotonic(), without_numbers(status.message), self._wrong_since, self._node.log
        if status.level == OK:
            if self._unanswered:
                log.info(f"OK: {status.message}")
                self._ok_at, self._unanswered = now, False
            since.clear()
        elif now - since.setdefault(words, now) >= LASTING[status.level]:
            since[words] = math.inf
            if not log.has_said(status.message, LASTING[WARN] + 2 * PERIOD):
                (log.error if status.level == ERROR else log.warning)(status.message)
            self._unanswered |= log.has_said(status.message, now - self._ok_at)
        if len(since) > MOST_REASONS:
            since.clear()


def _told(watch: Callable[[], str]) -> str:
    """Return the warning of a watch, or a line if it fails: other nodes may make the graph unreadable."""
    try:
        return watch()
    except Exception as error:  # noqa: BLE001  of whatever rclpy fails at; the node's diagnostics are to come
        return f"not to be seen: {error}"
