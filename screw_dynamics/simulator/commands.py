"""The last commands of the joints, how long they are fresh, and what drives a joint without one.

Arrays are in model order; time is counted in steps."""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from .limits import EnforcedLimits
from .settings import Settings

NEVER = np.iinfo(np.int64).max   # the step at which a command without a timeout goes stale
UNCOMMANDED = -1                 # in place of that step: there has been no command


class Drive(IntEnum):
    """What moves a joint."""

    EFFORT = 0     # a given effort
    GRAVITY = 1    # the gravity torque g_i(q)
    VELOCITY = 2   # a servo towards a velocity
    POSITION = 3   # a servo towards a position
    REFERENCE = 4  # a servo along Simulation.reference
    LOCKED = 5     # a brake: the joint stands still, whatever acts on it


class Drives(NamedTuple):
    """What moves each joint, until the step `until`; `beyond` (n,) marks the commands that are clipped to a limit."""

    kind: np.ndarray
    value: np.ndarray
    beyond: np.ndarray
    until: int


class Commands:
    """The last command of each joint. Commands to some joints merge; each is stale after command_timeout (0: never).

    A stale joint is driven according to `on_timeout`: "zero" by no effort, or towards no velocity, or still towards its
    last position; "hold" by its brake; "gravity_compensation" by g_i(q), in every mode. A joint without a command so
    far is held by its brake if hold_until_first_command, else driven by no effort, or towards no velocity, or towards
    its first position. Commands are clipped to the limits."""

    def __init__(self, settings: Settings, limits: EnforcedLimits):
        self._kind = Drive[settings.command_mode.upper()]
        stale = {"zero": self._kind, "hold": Drive.LOCKED, "gravity_compensation": Drive.GRAVITY}
        self._stale = stale[settings.on_timeout]
        self._timeout = settings.steps(settings.command_timeout)
        self._hold = settings.hold_until_first_command
        self._lower, self._upper = {
            Drive.EFFORT: (-limits.effort, limits.effort),
            Drive.VELOCITY: (-limits.velocity, limits.velocity),
            Drive.POSITION: (limits.lower, limits.upper),
        }[self._kind]
        self.clear(np.zeros(len(self._lower)))

    def clear(self, start: np.ndarray) -> None:
        """Forget all commands; joints are held again until their first one. start (n,): their positions."""
        self._held = self._hold
        self._value = start.copy()
        self._deadline = np.full(len(start), UNCOMMANDED, dtype=np.int64)

    def release(self) -> None:
        """Release the joints that are held until their first command."""
        self._held = False

    def accept(self, command: np.ndarray, step: int) -> None:
        """Take commands (n,) at a step; a joint with NaN keeps the command that it has."""
        commanded = ~np.isnan(command)
        self._value[commanded] = command[commanded]
        self._deadline[commanded] = step + self._timeout if self._timeout else NEVER

    def drives(self, step: int) -> Drives:
        """What drives the joints from a step on."""
        fresh = self._deadline > step
        uncommanded = self._deadline == UNCOMMANDED
        stale = ~fresh & ~uncommanded
        kind = np.full(len(fresh), self._kind)
        kind[stale] = self._stale
        if self._held:
            kind[uncommanded] = Drive.LOCKED
        value = self._value if self._kind == Drive.POSITION else np.where(fresh, self._value, 0.0)
        clipped = np.clip(value, self._lower, self._upper)
        return Drives(
            kind, clipped, (clipped != value) & (kind == self._kind), int(self._deadline[fresh].min(initial=NEVER)))
