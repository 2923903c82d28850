"""Time stamps of simulated states on an independent clock, such as the system's."""


class Stamps:
    """Stamps start + k dt in integer nanoseconds, where k counts steps.

    The difference of two stamps is the simulated time between the states, whenever they were published: finite
    differences and observers can rely on it. dt_ns: the step. time_ns: simulated time of the first state, whose stamp
    is `now`. After a halt of simulated time, `catch_up` lets k skip the steps that were not made. Stamps never
    decrease, even if simulated time restarts."""

    def __init__(self, dt_ns: int, time_ns: int, now: int):
        self._dt_ns = dt_ns
        self._ahead = now - time_ns     # stamp minus simulated time
        self._latest = time_ns

    def at(self, time_ns: int) -> int:
        """Return the stamp of the state at a simulated time; a time earlier than that of the previous call is a
        restart."""
        self._ahead += max(0, self._latest - time_ns)
        self._latest = time_ns
        return time_ns + self._ahead

    def catch_up(self, time_ns: int, now: int) -> None:
        """Skip whole steps, so that the stamp of the present state is less than one step older than `now`."""
        behind = now - self.at(time_ns)
        self._ahead += max(0, behind // self._dt_ns) * self._dt_ns
