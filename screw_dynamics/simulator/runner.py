"""Runs a simulation by wall time, as fast as possible or by a number of steps, and publishes its states."""

import time
from collections.abc import Callable

from .commands import NEVER
from .lockstep import Lockstep
from .pacing import Pacer
from .simulation import Simulation

SLICE = 5_000_000    # nanoseconds of work per call, so that services and commands are processed in between
PORTION = 128        # largest number of steps between two clock readings; fewer if these take longer than SLICE
IDLE = 100_000_000   # nanoseconds between two publications of a state at rest


class Runner:
    """Makes the steps that are due whenever `work` is called, and calls `publish` every `every` steps.

    factor: simulated seconds per wall second; 0: as fast as possible. now(): nanoseconds of a steady clock. wake():
    requests a call of `work` at once. The published states do not depend on the wall clock, except that a state at
    rest (paused, or stopped by a fault) is published every IDLE, for late subscribers.

    watches {function: every}: each function is called whenever the number of steps becomes a multiple of its `every`.

    resumed(): called when simulated time starts to follow the wall clock at the present step: at the start, after a
    pause, a reset or a change of the factor, and after the machine was too slow.

    In lockstep, time waits after each publication for the answer, unless `publish` returned False because the message
    was lost. Each state is published once: the first one only when a step is due, and none again while at rest."""

    def __init__(
        self,
        simulation: Simulation,
        factor: float,
        every: int,
        publish: Callable[[], bool | None],
        paused: bool = False,
        now: Callable[[], int] = time.monotonic_ns,
        wake: Callable[[], None] = lambda: None,
        lockstep: Lockstep | None = None,
        resumed: Callable[[], None] = lambda: None,
    ):
        self.simulation = simulation
        self.lockstep = lockstep or Lockstep()
        self.watches: dict[Callable[[], None], int] = {}
        self.paused = paused
        self._every = every
        self._publish = publish
        self._now = now
        self._wake = wake
        self._resumed = resumed
        self._requested = (0, 0)    # first and last step of the last request
        self._finished: Callable[[str], None] | None = None   # called after them with "", or with the cause of the end
        self._published = (-1, 0)   # step and wall time of the last publication
        self._made = 0              # steps since `measured_factor` was called
        self._portion = PORTION
        self._measured_at = now()
        self._pacer = Pacer(simulation.settings.dt_ns, factor)
        self._pacer.start(now(), simulation.steps)
        wake()

    @property
    def stepping(self) -> bool:
        """True while requested steps are under way."""
        return self._finished is not None

    @property
    def behind(self) -> int:
        """The total time [ns] that simulated time has lost to the wall clock because the machine was too slow."""
        return self._pacer.lost

    def measured_factor(self) -> float:
        """Return the real-time factor since the last call."""
        now, made = self._now(), self._made
        elapsed, self._measured_at, self._made = now - self._measured_at, now, 0
        return made * self.simulation.settings.dt_ns / max(elapsed, 1)

    def set_factor(self, factor: float) -> None:
        """Change the real-time factor."""
        self._pacer.factor = factor
        self._pace()
        self._wake()

    def _pace(self) -> None:
        """Restart pacing at the present wall time."""
        if self._pacer.paced and not self.paused and not self.lockstep.on:
            self._resumed()     # before the start is read: simulated time is never ahead of the time read there
        self._pacer.start(self._now(), self.simulation.steps)

    def resume(self) -> None:
        """Publish and restart pacing: at the start, and after a reset."""
        self._pace()
        self.lockstep.release()
        if self.lockstep.on:
            self._published = (-1, 0)
        else:
            self._publish_now()
        self._wake()

    def set_paused(self, paused: bool) -> None:
        """Pause at the step that is due now, or resume."""
        self.catch_up()
        self.paused = paused
        if self.lockstep.on:
            self._pacer.start(self._now(), self.simulation.steps)
            self._wake()
        else:
            self.resume()

    def step(self, steps: int, finished: Callable[[str], None]) -> None:
        """Make steps of a paused simulation and publish; then call `finished` with "", or with the cause of an early
        end.

        Raises ValueError while other requested steps are under way."""
        if self.stepping:
            raise ValueError("other steps are in progress")
        self._requested = self.simulation.steps, self.simulation.steps + steps
        self._finished = finished
        self.work()
        self._wake()

    def answered(self, stamp: int) -> bool:
        """Count a command with this stamp [ns] and return True if lockstep awaited it."""
        awaited = self.lockstep.answered(stamp)
        if awaited and not self.lockstep.waiting:
            self._wake()
        return awaited

    def abort(self, reason: str) -> None:
        """End the requested steps, if any are under way."""
        first, last = self._requested
        self._finish(f"{reason} ({self.simulation.steps - first} of {last - first} steps were made)")

    def _finish(self, reason: str) -> None:
        finished, self._finished = self._finished, None
        if finished is not None:
            finished(reason)

    def catch_up(self) -> None:
        """Make the steps that are due, so that later calls act at the present time. Only while paced and running."""
        if self._pacer.paced and not self.paused:
            self.work()

    def work(self) -> int:
        """Make the steps that are due, for SLICE at most. Return the nanoseconds until the next call is needed."""
        simulation, start = self.simulation, self._now()
        if self.lockstep.on and self._published[0] < 0 and (self.stepping or not self.paused):
            self._publish_now()
        target = self._target(start)
        while (simulation.steps < target and simulation.fault is None and not self.lockstep.waiting
               and self._now() - start < SLICE):
            self._advance(target)
        if self.stepping and simulation.fault:
            self._publish_once()
            self.abort(simulation.fault)
        elif self.stepping and self._made_all():
            self._finish("")
        return self._rest(target)

    def _made_all(self) -> bool:
        """Return True if the requested steps are made, published and, in lockstep, answered. Publish after the last."""
        if self.simulation.steps < self._requested[1] or self.lockstep.waiting:
            return False
        self._publish_once()
        return not self.lockstep.waiting

    def _target(self, now: int) -> int:
        """Return the step that is due at `now`."""
        if self.stepping:
            return self._requested[1]
        if self.paused:
            return self.simulation.steps
        return self._pacer.due(now) if self._pacer.paced else NEVER

    def _advance(self, target: int) -> None:
        """Make a portion of the steps to the target, at most up to the next publication or watch."""
        simulation, first, start = self.simulation, self.simulation.steps, self._now()
        made = simulation.advance(min(target, self._next_stop(), first + self._portion) - first)
        self._portion = max(1, min(PORTION, made * SLICE // max(1, self._now() - start)))
        self._made += made
        for call, every in list(self.watches.items()):
            if simulation.steps % every == 0 and simulation.steps > first:
                call()
        if simulation.steps % self._every == 0 and simulation.steps > first:
            self._publish_now()

    def _rest(self, target: int) -> int:
        """Return the nanoseconds until the next call is needed, after work toward the target."""
        now, steps = self._now(), self.simulation.steps
        if self.lockstep.waiting or self.lockstep.on and self.paused and not self.stepping:
            return IDLE
        if not self.stepping and (self.paused or self.simulation.fault):
            if self.lockstep.on and self._published[0] == steps:
                return IDLE
            since = now - self._published[1]
            if since < IDLE:
                return IDLE - since
            self._publish_now()
            return IDLE
        if self._pacer.paced and not self.stepping:
            if self._pacer.resync(now, steps):
                self._pace()
            return min(IDLE, self._pacer.wait(now, self._next_stop()))
        return 0

    def _next_stop(self) -> int:
        """Return the step of the next publication or watch."""
        return min((self.simulation.steps // every + 1) * every for every in (self._every, *self.watches.values()))

    def _publish_once(self) -> None:
        if self._published[0] != self.simulation.steps:
            self._publish_now()

    def _publish_now(self) -> None:
        self._published = (self.simulation.steps, self._now())
        if self._publish() is not False:
            self.lockstep.published(self.simulation.time_ns)
