"""Percentiles of durations."""

import numpy as np

from screw_dynamics.ros.node.latency import WINDOW, Latency


def test_percentiles_in_microseconds_since_the_last_report(rng):
    latency, durations = Latency(), rng.integers(0, 10**9, 1000)
    for duration in durations:
        latency.add(int(duration))
    expected = {"p50": np.median(durations), "p99": np.percentile(durations, 99), "max": durations.max()}
    assert latency.report("echo") == {f"echo {name} [us]": f"{value / 1e3:.0f}" for name, value in expected.items()}
    assert latency.report("echo") == {}


def test_beyond_the_window_the_latest_count():
    latency = Latency()
    for duration in range(3 * WINDOW // 2):
        latency.add(1_000_000_000 if duration < WINDOW // 2 else 2000)
    assert latency.report("echo") == {"echo p50 [us]": "2", "echo p99 [us]": "2", "echo max [us]": "2"}
