"""Which steps of a simulation are due at which wall time."""

from __future__ import annotations


class Pacer:
    """Maps wall time onto steps at `factor` times real time; 0 stands for as fast as possible.

    Steps are due by the wall time since `start`, not since the step before, so that late wake-ups do not add up. A
    simulation that fell behind by more than `patience` of wall time, because the machine is too slow or was suspended,
    does not run after it: `forgive` moves the start. All times are integer nanoseconds of a steady clock.
    """

    def __init__(self, dt_ns: int, factor: float, patience: int = 200_000_000):
        self._dt_ns = dt_ns
        self._factor = factor
        self._patience = patience
        self.forgiven = 0   # wall time given up in all [ns]
        self.start(0, 0)

    @property
    def paced(self) -> bool:
        """Whether wall time counts at all."""
        return self._factor > 0.0

    def start(self, now: int, step: int) -> None:
        """The simulation runs on from `step` at wall time `now`."""
        self._now, self._step = now, step

    def due(self, now: int) -> int:
        """The step that should be reached by now. Only of a paced simulation."""
        return self._step + int((now - self._now) * self._factor / self._dt_ns)

    def wait(self, now: int, step: int) -> int:
        """Wall time until a step is due; never negative."""
        if not self.paced:
            return 0
        # One nanosecond more than its share, so that rounding does not wake us up just before.
        return max(0, self._now - now + 1 + int((step - self._step) * self._dt_ns / self._factor))

    def forgive(self, now: int, step: int) -> bool:
        """Move the start if `step` is reached too late by more than the patience; whether that was so."""
        behind = now - self._now - int((step - self._step) * self._dt_ns / self._factor)
        if behind <= self._patience:
            return False
        self.forgiven += behind
        self.start(now, step)
        return True
