"""Durations between two events of a node, and their percentiles for the diagnostics."""

import array

import numpy as np

WINDOW = 4096   # durations stored between two reports: all of them up to 4 kHz, above that the latest


class Latency:
    """The durations since the last report, in nanoseconds; at most the latest WINDOW of them.

    `add` costs one store, so that it can be used in a loop of some kHz. One thread may add while another reports."""

    def __init__(self):
        self._durations = array.array("q", bytes(8 * WINDOW))
        self._count = 0

    def add(self, nanoseconds: int) -> None:
        """Store one duration."""
        self._durations[self._count % WINDOW] = nanoseconds
        self._count += 1

    def report(self, what: str) -> dict[str, str]:
        """Return median, 99th percentile and maximum in microseconds for the diagnostics, as "<what> p50 [us]", and
        restart.

        The result is empty if there was no duration."""
        count, self._count = self._count, 0
        if count == 0:
            return {}
        durations = np.array(self._durations[:min(count, WINDOW)]) / 1e3
        p50, p99 = np.percentile(durations, (50, 99))
        return {f"{what} {name} [us]": f"{value:.0f}"
                for name, value in (("p50", p50), ("p99", p99), ("max", durations.max()))}
