"""Lockstep of simulated time with a controller: after each publication, time waits for the controller's commands."""

TRIGGERS = ("", "joint_states", "clock")


class Lockstep:
    """Lockstep with a controller: simulated time waits after a publication until commands arrive. Times are in ns.

    trigger: the publications that a controller answers. "joint_states": every state. "clock": every new time, for
    timers on simulated time. "": none, time never waits. commands: number of commands in an answer, one per
    controller. A command with a stamp older than the publication does not count; one without a stamp does."""

    def __init__(self, trigger: str = "", commands: int = 1):
        if trigger not in TRIGGERS:
            raise ValueError(f"lockstep is '{trigger}', must be one of {', '.join(TRIGGERS)}")
        self.trigger = trigger
        self._commands = commands
        self._missing = 0
        self._time = -1   # time of the last publication

    @property
    def on(self) -> bool:
        """True if lockstep is enabled."""
        return bool(self.trigger)

    @property
    def waiting(self) -> bool:
        """True if commands are missing."""
        return self._missing > 0

    @property
    def awaited(self) -> str:
        """Description of the missing command, for a message; "" if none is missing."""
        return f"waiting for a command that answers t = {self._time / 1e9:g} s" if self.waiting else ""

    def published(self, time: int) -> None:
        """Start to wait after a publication of state and clock."""
        if self.trigger == "joint_states" or self.on and time > max(self._time, 0):
            self._missing = self._commands
        self._time = time

    def answered(self, stamp: int) -> bool:
        """Count a command and return True; return False if it was not awaited. stamp 0: no stamp."""
        if not self.waiting or 0 < stamp < self._time:
            return False
        self._missing -= 1
        return True

    def release(self) -> None:
        """Stop waiting: the published state is no longer the present one."""
        self._missing = 0
