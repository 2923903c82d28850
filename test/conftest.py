"""Settings for every test: this run's nodes hear only each other."""

import fcntl
import os
import tempfile
from pathlib import Path

import pytest

from support.oracle_report import pytest_terminal_summary, report  # noqa: F401  a hook and a fixture

DOMAINS = range(1, 51)  # 0 is everybody's default, the demo has 51 to 100, and later ports are Linux's ephemeral ones


def claim_domain():
    """Return a DDS domain id that no other test run on this machine has, and the open lock that keeps it."""
    for shift in DOMAINS:
        domain = DOMAINS[(os.getpid() + shift) % len(DOMAINS)]
        lock = open(Path(tempfile.gettempdir()) / f"screw_dynamics_{os.getuid()}_domain_{domain}", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return domain, lock
        except OSError:
            lock.close()
    raise RuntimeError(f"test runs on this machine hold all {len(DOMAINS)} DDS domains")


# Before anything imports rclpy, and in the environment, so that node processes started by a test inherit it.
domain_id, domain_lock = claim_domain()
os.environ["ROS_DOMAIN_ID"] = str(domain_id)
os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
# OpenBLAS's threads wait for each other longer than a small matrix takes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def rng():
    """A generator of each test's own: its numbers do not depend on which tests ran before."""
    import numpy as np  # not before the environment is set

    return np.random.default_rng(1)
