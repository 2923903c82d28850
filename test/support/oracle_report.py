"""At the end of a test run: which robots were compared with Pinocchio, how well, and which were left out and why."""
from typing import NamedTuple

import pytest

from support.real_robots import PATHS, REFUSED


class Line(NamedTuple):
    """A robot, its number of joints, its largest relative error, and of what."""

    name: str
    n: int
    error: float
    remark: str


@pytest.fixture
def report(record_property):
    """Takes the fields of a Line; pytest carries them to the process that writes the summary, hence plain kinds."""
    def take(name, n, error, remark):
        record_property("compared with Pinocchio", (name, int(n), float(error), remark))
    return take


def pytest_terminal_summary(terminalreporter):
    """Print the list."""
    lines = [Line(*fields) for found in terminalreporter.stats.values() for test in found
             for name, fields in getattr(test, "user_properties", ())
             if name == "compared with Pinocchio" and test.when == "call"]
    if not lines:
        return
    write = terminalreporter.write_line
    terminalreporter.section("compared with Pinocchio: largest relative error of all quantities and states")
    robots, trees = ([line for line in lines if (line.name in PATHS) is real] for real in (True, False))
    for line in robots + sorted(trees, key=lambda line: -line.error)[:1]:
        write(f"{line.error:.0e}  {line.n:3d} joints  {line.name}: {line.remark}")
    write(f"{len(robots)} URDFs of example-robot-data, and {len(trees)} random trees, the worst last")
    for name, reason in REFUSED.items():
        write(f"left out: {name}: {reason}")
