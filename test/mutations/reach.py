"""A plugin of pytest for a run under coverage.py: notes which test runs a line.

The processes that a test starts, nodes say, note theirs by the same test: coverage.py starts with each process of
Python by COVERAGE_PROCESS_START, and takes what CONTEXT says. Tests that pass are listed with their seconds. A file of
which ENOUGH tests have failed is left: in plain Python all of its tests take too long, or need machine code."""
import json
import os
from collections import Counter

import pytest

CONTEXT, PASSED = "MUTATIONS_CONTEXT", "MUTATIONS_PASSED"       # variables of the environment: a test, and a file

ENOUGH = 4

_seconds: dict[str, float] = {}
_failed: set[str] = set()
_failed_of: Counter[str] = Counter()


def pytest_runtest_setup(item):
    """Skip what is left of a file of which ENOUGH tests have failed."""
    if _failed_of[item.nodeid.partition("::")[0]] >= ENOUGH:
        pytest.skip("others of this file have failed")


# Around pytest-timeout, whose signal must not come while lines are kept.
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Note by this test what runs meanwhile, in this process and in those that it starts."""
    from coverage import Coverage

    running = Coverage.current()
    os.environ[CONTEXT] = item.nodeid
    if running:
        running.switch_context(item.nodeid)
    try:
        return (yield)
    finally:
        os.environ[CONTEXT] = ""
        if running:
            running.switch_context("")


def pytest_runtest_logreport(report):
    """Take the time of a test, with what it sets up."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if not report.passed:
        _failed.add(report.nodeid)
    if report.failed:
        _failed_of[report.nodeid.partition("::")[0]] += 1


def pytest_sessionfinish(session):
    """Write the tests that passed, once and not in each worker."""
    if not hasattr(session.config, "workerinput"):
        with open(os.environ[PASSED], "w") as file:
            json.dump({name: seconds for name, seconds in _seconds.items() if name not in _failed}, file)
