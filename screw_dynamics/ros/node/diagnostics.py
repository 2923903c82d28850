"""The health of a node: faults, counted and logged without flooding, and /diagnostics once a second."""

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from ..endpoints import OVERRIDABLE, RELIABLE, STEADY, own
from .joint_state import Fault
from .log import BoundedLog
from .plain_text import printable
from .watches import ClockWatch, namesakes

OK, WARN, ERROR, STALE = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE
Report = tuple[bytes, str, Mapping[str, object]]   # level, message, values
PERIOD = 1.0         # seconds between reports
LOG_INTERVAL = 5.0   # seconds between log lines of one reason
LASTING = 3          # reports in a row that have the same warning, until it is logged


class ThrottledLog:
    """Logs a reason at most every LOG_INTERVAL seconds of real time. rclpy throttles by line of code, not by reason."""

    def __init__(self, log: BoundedLog):
        self._log = log
        self._next: dict[str, float] = {}

    def log(self, reason: str, text: str, severity: str) -> None:
        """Log `text` at "debug", "info", "warn" or "error" unless `reason` was logged less than LOG_INTERVAL ago."""
        now = time.monotonic()
        if now < self._next.get(reason, 0.0):
            return
        self._next[reason] = now + LOG_INTERVAL
        write = {"error": self._log.error, "warn": self._log.warning, "info": self._log.info}
        write.get(severity, self._log.debug)(text)


class Diagnostics:
    """Publishes one DiagnosticStatus of a ManagedNode a second: what `report` returns, then rates, drops and notices.

    `report()` returns (level, message, values): the level is OK, WARN, ERROR or STALE, the values have str keys. Every
    reason that messages were dropped for stays listed as "dropped: <reason>" with its count since the start, and every
    topic of which messages were lost as "lost: <topic>"; a status that would be OK is WARN when there are new ones.
    What is wrong for LASTING reports is logged.

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
        self._reported_lost = 0
        self._ticks: Counter[str] = Counter()
        self._lasting = "", 0       # the words of the latest message, and how many reports in a row had them
        self._reported_at = time.monotonic()
        self._publisher = node.create_publisher(
            DiagnosticArray, "/diagnostics", own(RELIABLE), qos_overriding_options=OVERRIDABLE)
        node.create_timer(PERIOD, self._publish, clock=STEADY)

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
        """Count and log messages of the topic `source` that were published but never arrived."""
        self._lost[source] += count
        self._log.log(f"{source} lost", f"{source}: {count} messages were lost, {self._lost[source]} so far", "warn")

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
        """The status as it is now. Rates are over the time since the call before."""
        now = time.monotonic()
        elapsed = max(now - self._reported_at, 1e-9)
        self._reported_at = now
        level, message, values = self._watched(*self._report())
        values = {printable(str(key)): printable(str(value)) for key, value in values.items()}
        for what, count in self._ticks.items():
            values[f"{what} rate [Hz]"] = f"{count / elapsed:.1f}"
            self._ticks[what] = 0
        lost, before = self._lost.total(), self._reported_lost
        self._reported_lost = lost
        if lost > before and level == OK:
            level, message = WARN, f"{lost - before} messages were lost"
        values["lost messages"] = str(lost)
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
        """The report with the warnings of the watches, whatever else it says."""
        warnings = "; ".join(warning for watch in self.watches if (warning := _told(watch)))
        if warnings:
            level, message = (WARN, warnings) if level == OK else (level, f"{message}; {warnings}")
        return level, message, {**values, "warnings": warnings or "none"}

    def _publish(self) -> None:
        status = self.status()
        self._log_lasting(status)
        array = DiagnosticArray(status=[status])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)

    def _log_lasting(self, status: DiagnosticStatus) -> None:
        """Log what is wrong for LASTING reports, once, unless the log has it: nobody need look at the diagnostics."""
        words = re.sub(r"[\d.]+", "", status.message)
        self._lasting = words, self._lasting[1] + 1 if words == self._lasting[0] else 1
        if (status.level != OK and self._lasting[1] == LASTING
                and not self._node.log.has_said(status.message, (LASTING + 1) * PERIOD)):
            self._log.log("lasting", status.message, "error" if status.level == ERROR else "warn")


def _told(watch: Callable[[], str]) -> str:
    """What a watch says: of the graph, say, which others may make unreadable."""
    try:
        return watch()
    except Exception as error:  # noqa: BLE001  of whatever rclpy fails at; the node's diagnostics are to come
        return f"not to be seen: {error}"
