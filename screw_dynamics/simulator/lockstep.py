"""Simulated time that waits for the controller: after each publication, until the commands that answer it have come."""

TRIGGERS = ("", "joint_states", "clock")


class Lockstep:
    """Lockstep of time with a controller: time waits by what is published and which commands come. Times are in
    nanoseconds.

    trigger: what the controller answers. "joint_states": every state. "clock": time that has moved on, as a timer on
    simulated time does. "": nothing, and time never waits. commands: how many make up an answer, one of each
    controller. A command whose stamp is older than what was published is none; one without a stamp may be."""

    def __init__(self, trigger: str = "", commands: int = 1):
        if trigger not in TRIGGERS:
            raise ValueError(f"lockstep is '{trigger}', must be one of {', '.join(TRIGGERS)}")
        self.trigger = trigger
        self._commands = commands
        self._missing = 0
        self._time = -1   # published last

    @property
    def on(self) -> bool:
        """True if time ever waits."""
        return bool(self.trigger)

    @property
    def waiting(self) -> bool:
        """True if commands are missing."""
        return self._missing > 0

    @property
    def awaited(self) -> str:
        """The command that is missing, for a message; "" when nothing is."""
        return f"waiting for a command that answers t = {self._time / 1e9:g} s" if self.waiting else ""

    def published(self, time: int) -> None:
        """State and clock were published."""
        if self.trigger == "joint_states" or self.on and time > max(self._time, 0):
            self._missing = self._commands
        self._time = time

    def answered(self, stamp: int) -> bool:
        """Count a command; False if it was not awaited. stamp 0: it has none."""
        if not self.waiting or 0 < stamp < self._time:
            return False
        self._missing -= 1
        return True

    def release(self) -> None:
        """Wait for nothing any more: what was published is no longer the present state."""
        self._missing = 0
