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
# Seconds that a diagnostics message must last before it is logged: a starting robot lacks states for a moment.
LASTING = {WARN: 5.0, ERROR: 0.0, STALE: 0.0}
MOST_REASONS = 100   # while the status is not OK


class ThrottledLog:
    """A log that writes each reason at most every LOG_INTERVAL seconds of real time. rclpy throttles by line of code,
    not by reason."""

    def __init__(self, log: BoundedLog):
        self._log = log
        self._next: dict[str, float] = {}

    def log(self, reason: str, text: str, severity: str) -> bool:
        """Log `text` at "debug", "info", "warn" or "error" unless `reason` was logged less than LOG_INTERVAL ago.
        Return True if it was logged."""
        now = time.monotonic()
        if now < self._next.get(reason, 0.0):
            return False
        self._next[reason] = now + LOG_INTERVAL
        write = {"error": self._log.error, "warn": self._log.warning, "info": self._log.info}
        write.get(severity, self._log.debug)(text)
        return True


class Diagnostics:
    """The diagnostics of a ManagedNode: one DiagnosticStatus a second, and one more when states become stale. A status
    contains the result of `report`, then rates, drops and notices.

    `report()` returns (level, message, values): the level is OK, WARN, ERROR or STALE, the values have str keys. Every
    reason for dropped messages stays listed as "dropped: <reason>" with its count since the start, and every topic with
    lost messages as "lost: <topic>". A status that would be OK is WARN if there are new losses. A fault that lasts for
    LASTING is logged, once until the status is OK. The return to OK is logged, too, if the fault was logged since the
    last such line.

    A dropped message is a warning, whatever its fault, because the node continues with the next one. An error requires
    an action: a refused description, a simulation that has ended, an internal error.

    watches: functions that return "" or a warning, which makes a status that would be OK one of WARN.

    listeners: functions that are called with (source, fault, True if a message was dropped)."""

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
        self._wrong_since: dict[str, float] = {}    # by message text since the last OK; inf: the fault has lasted
        self._ok_at, self._unanswered = -math.inf, False    # time of the last OK line; True if one is due
        self._reported_at = time.monotonic()
        self._publisher = node.create_publisher(
            DiagnosticArray, "/diagnostics", own(RELIABLE), qos_overriding_options=OVERRIDABLE)
        node.create_timer(PERIOD, self.publish, clock=STEADY)

    def tick(self, what: str) -> None:
        """Count one event of a kind whose rate is reported as "<what> rate [Hz]"."""
        self._ticks[what] += 1

    def drop(self, source: str, fault: Fault) -> None:
        """Count and log a dropped message of the topic `source`."""
        self._dropped[fault.reason] += 1
        self._log.log(f"{source} {fault.reason}", f"{source}: {fault}; message dropped", fault.severity)
        for hear in self.listeners:
            hear(source, fault, True)

    def lose(self, source: str, count: int) -> None:
        """Count published messages of the topic `source` that were not received. They are logged with the next
        report."""
        self._lost[source] += count

    def notice(self, source: str, fault: Fault) -> None:
        """Count and log a fault for which no message was dropped."""
        self._noticed[fault.reason] += 1
        self._log.log(f"{source} {fault.reason}", f"{source}: {fault}", fault.severity)
        for hear in self.listeners:
            hear(source, fault, False)

    def log(self, reason: str, text: str, severity: str = "warn") -> None:
        """Log a line, throttled, without counting it."""
        self._log.log(reason, text, severity)

    def status(self) -> DiagnosticStatus:
        """Return the current status. Rates are over the time since the previous call."""
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
        """Return the report, extended by the warnings of the watches."""
        warnings = "; ".join(warning for watch in self.watches if (warning := _told(watch)))
        if warnings:
            level, message = (WARN, warnings) if level == OK else (level, f"{message}; {warnings}")
        return level, message, {**values, "warnings": warnings or "none"}

    def publish(self) -> None:
        """Publish the current status, and log its faults and losses."""
        status = self.status()
        self._log_losses()
        self._log_status(status)
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)

    def _log_losses(self) -> None:
        """Log each topic's messages that were lost since its last line."""
        for topic, count in (self._lost - self._logged_lost).items():
            text = f"{topic}: {count} messages were lost, {self._lost[topic]} so far"
            if self._log.log(f"{topic} lost", text, "warn"):
                self._logged_lost[topic] += count

    def _log_status(self, status: DiagnosticStatus) -> None:
        """Log a fault that has lasted for some time, unless it is in the log, for users who do not watch the
        diagnostics."""
        now, words, since, log = time.monotonic(), without_numbers(status.message), self._wrong_since, self._node.log
        if status.level == OK:
            if self._unanswered:
                log.info(f"OK: {status.message}")
                self._ok_at, self._unanswered = now, False
            since.clear()
        elif now - since.setdefault(words, now) >= LASTING[status.level]:
            since[words] = math.inf
            if not log.logged_within(status.message, LASTING[WARN] + 2 * PERIOD):
                (log.error if status.level == ERROR else log.warning)(status.message)
            self._unanswered |= log.logged_within(status.message, now - self._ok_at)
        if len(since) > MOST_REASONS:
            since.clear()


def _told(watch: Callable[[], str]) -> str:
    """Return the warning of a watch, or a line if the watch fails: other nodes may make the graph unreadable."""
    try:
        return watch()
    except Exception as error:  # noqa: BLE001 any error of rclpy; the node's diagnostics must be published
        return f"not to be seen: {error}"
