"""Stamps of simulated states on a clock that goes on by itself, such as the system's."""


class Stamps:
    """The stamp of a state is start + k dt, in integer nanoseconds, where k counts steps: what finite differences and
    observers take for the time between two states is the time that was simulated, whenever these were published.

    dt_ns: the step. time_ns: the simulated time of the first state, which has the stamp `now`. Where simulated time
    stood still while the clock went on, `catch_up` lets k skip the steps that would have been made meanwhile. Stamps
    never go back, not even where simulated time restarts."""

    def __init__(self, dt_ns: int, time_ns: int, now: int):
        self._dt_ns = dt_ns
        self._ahead = now - time_ns     # of the stamps before simulated time
        self._latest = time_ns

    def at(self, time_ns: int) -> int:
        """Return the stamp of the state of a simulated time; one that is earlier than that of the call before is a
        restart."""
        self._ahead += max(0, self._latest - time_ns)
        self._latest = time_ns
        return time_ns + self._ahead

    def catch_up(self, time_ns: int, now: int) -> None:
        """Skip whole steps, so that the stamp of the present state is not older than `now` by a step or more."""
        behind = now - self.at(time_ns)
        self._ahead += max(0, behind // self._dt_ns) * self._dt_ns
