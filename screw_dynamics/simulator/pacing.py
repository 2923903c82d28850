"""Pacing of a simulation: the steps due at a wall time."""


class Pacer:
    """Map from wall time to steps at `factor` times real time; 0 means as fast as possible.

    Steps are due by the wall time since `start`, not since the last step: late wake-ups do not accumulate. A
    simulation that is late by more than `patience` of wall time, because the machine is too slow or was suspended,
    does not catch up: `resync` moves the start. All times are integer nanoseconds of a steady clock. After a change of
    the factor `start` must be called."""

    def __init__(self, dt_ns: int, factor: float, patience: int = 200_000_000):
        self._dt_ns = dt_ns
        self.factor = factor
        self._patience = patience
        self.lost = 0   # wall time lost by `resync`, in total
        self.start(0, 0)

    @property
    def paced(self) -> bool:
        """True if steps are due at wall times."""
        return self.factor > 0.0

    def start(self, now: int, step: int) -> None:
        """Start pacing from `step` at wall time `now`."""
        self._now, self._step = now, step

    def due(self, now: int) -> int:
        """Return the step that is due at `now`. Requires a paced simulation."""
        return self._step + int((now - self._now) * self.factor / self._dt_ns)

    def wait(self, now: int, step: int) -> int:
        """Return the wall time until a step is due, >= 0."""
        if not self.paced:
            return 0
        # One nanosecond more, so that rounding does not wake up the caller just before the step.
        return max(0, self._now - now + 1 + int((step - self._step) * self._dt_ns / self.factor))

    def resync(self, now: int, step: int) -> bool:
        """Move the start and return True if the step after `step` is late by more than the patience.

        A step is never late before it is due, however long a step lasts."""
        behind = now - self._now - int((step + 1 - self._step) * self._dt_ns / self.factor)
        if behind <= self._patience:
            return False
        self.lost += behind
        self.start(now, step)
        return True
