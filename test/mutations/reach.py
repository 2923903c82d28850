"""A plugin of pytest for a run under coverage.py: notes which test runs a line.

Processes that a test starts, as nodes, note their lines by the same test: coverage.py starts with each Python process
by COVERAGE_PROCESS_START, and takes the context from CONTEXT. Tests that pass are listed with their seconds. After
ENOUGH failures the other tests of a file are skipped: in plain Python they take too long, or need machine code."""
import json
import os
import signal
from collections import Counter
from contextlib import contextmanager

import pytest

# Variables of the environment: the test that runs, the file of tests that passed, and the seconds that a test may take.
CONTEXT, PASSED, LIMIT = "MUTATIONS_CONTEXT", "MUTATIONS_PASSED", "MUTATIONS_LIMIT"

ENOUGH = 4

_seconds: dict[str, float] = {}
_failed: set[str] = set()
_failed_of: Counter[str] = Counter()


@contextmanager
def _limited():
    """Fail if the fixtures or the function of a test take more seconds than LIMIT. The signal of pytest-timeout may
    also come between them, where pytest's report of the test would be lost, and the worker with it."""
    def fail(*_):
        pytest.fail(f"takes more than {os.environ[LIMIT]} s")
    if LIMIT not in os.environ:
        yield
        return
    signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, float(os.environ[LIMIT]))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    """Skip the other tests of a file of which ENOUGH have failed, and limit the time of fixtures."""
    if _failed_of[item.nodeid.partition("::")[0]] >= ENOUGH:
        pytest.skip("others of this file have failed")
    with _limited():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call():
    """Limit the time of a test's function."""
    with _limited():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Note the lines that run meanwhile, in this process and in those that it starts, by this test."""
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
