"""Does one fault after the other to a rig, and tells what came of each."""

import time
from typing import NamedTuple

from support import planar_arm as arm

from .rig import MODULES

LINES, LINES_PER_SECOND = 130, 26   # of log: both nodes may write 20 of info, of warnings and of errors in 5 s
REPORTED = 8.0                      # seconds in which diagnostics, once a second, must tell


class Outcome(NamedTuple):
    """What came of a fault: seconds until both were right again, what the diagnostics said, lines of log, memory."""

    name: str
    seconds: float
    said: str
    lines: int
    megabytes: float
    wrong: list[str]


def count(values, key):
    try:
        return int(values.get(key, 0))
    except ValueError:
        return 0


def heard(rig, fault, before):
    """Where the diagnostics say what a fault must make them say; "" when they do not."""
    for name, _, message, values in rig.statuses():
        if fault.says in message:
            return message
        if count(values, fault.says) > count(before.get(name, {}), fault.says):
            return f"{fault.says}: {values[fault.says]}"
    return ""


def happen(rig, fault):
    """Let a fault happen and watch what comes of it."""
    rig.swing()
    before = {name: rig.at(name, rig.status)[1] for name in MODULES}
    rig.received["/diagnostics"].clear()
    rig.wrong, wrong = 0, []
    lines, memory, start = rig.written()[0], rig.memory(), time.monotonic()
    try:
        fault.inject(rig)
    except AssertionError as error:
        wrong.append(str(error).partition("\n")[0] or f"line {error.__traceback__.tb_next.tb_lineno} does not hold")
    injected = time.monotonic()
    rig.right_at, rig.since = 0.0, rig.node.get_clock().now().nanoseconds   # the simulator stamps by the same clock
    while not rig.right_at and time.monotonic() < injected + 2.0 * fault.within + 10.0 and not rig.alive():
        rig.spin(0.02)
    seconds = rig.right_at - injected if rig.right_at else float("inf")
    said, end = "", time.monotonic() + REPORTED
    while fault.says and not (said := heard(rig, fault, before)) and time.monotonic() < end:
        rig.spin(0.1)
    wrong += rig.alive()
    if seconds > fault.within:
        wrong.append(f"right after {seconds:.1f} s, not {fault.within:g}")
    if rig.wrong:
        wrong.append(f"{rig.wrong} torques were wrong")
    if fault.says and not said:
        wrong.append(f"no diagnostics say '{fault.says}'")
    written = rig.written()[0] - lines
    if written > LINES + LINES_PER_SECOND * (time.monotonic() - start):
        wrong.append(f"{written} lines of log")
    growth = rig.memory() - memory
    if growth > fault.growth:
        wrong.append(f"{growth:.0f} MB more")
    return Outcome(fault.name, seconds, said, written, growth, wrong)


def ready(rig):
    """Wait until both nodes work."""
    rig.describe(arm.urdf())
    rig.wait(lambda: rig.right > 10, "right torques")
    for name in MODULES:
        rig.at(name, rig.status)


def row(outcome):
    """A line of the table."""
    verdict = "; ".join(outcome.wrong) or "ok"
    return (f"{outcome.name:<44} {outcome.seconds:7.2f} s {outcome.lines:6d} lines {outcome.megabytes:+7.1f} MB  "
            f"{verdict:<12} {outcome.said[:60]}")
