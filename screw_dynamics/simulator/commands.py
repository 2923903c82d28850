"""The last commands of the joints, their timeouts, and the default drives of joints without a command.

Arrays are in model order; time is counted in steps."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from .limits import EnforcedLimits
from .reference import Sample
from .settings import Settings

NEVER = np.iinfo(np.int64).max   # the step at which a command without a timeout goes stale
UNCOMMANDED = -1                 # in place of that step: no command yet


class Drive(IntEnum):
    """The kind of drive that moves a joint."""

    EFFORT = 0     # a given effort
    GRAVITY = 1    # the gravity torque g_i(q)
    VELOCITY = 2   # a servo toward a velocity
    POSITION = 3   # a servo toward a position
    REFERENCE = 4  # a servo along Simulation.reference
    LOCKED = 5     # a brake: the joint stands still under any load


class Drives(NamedTuple):
    """The drive of each joint until the step `until`; `beyond` (n,) marks the commands that are clipped to a limit.

    strength (n,): fraction of its effort that each motor or servo applies; the values of effort commands include it.
    limit (n,): largest efforts, in addition to the limits of the robot. weight (n,): mask of the motors that carry the
    robot's weight in addition to an effort command. start, pace (n,): set points of position servos
    before the step `first`, and their largest changes per step, as a position drive limits its velocity."""

    kind: np.ndarray
    value: np.ndarray
    beyond: np.ndarray
    until: int
    strength: np.ndarray | None = None      # None: 1
    limit: np.ndarray | None = None         # None: only the limits of the robot
    weight: np.ndarray | None = None        # None: none of them
    first: int = 0
    start: np.ndarray | None = None         # None: the set points are the values
    pace: np.ndarray | None = None

    def paced(self, step: int, before: "Drives", position: np.ndarray, pace: np.ndarray) -> "Drives":
        """Return the drives from a step on, with set points that change by at most pace (n,) per step, inf for any
        change. They start from those of the drives before, or from the positions (n,) of joints that had no position
        servo."""
        limited = (self.kind == Drive.POSITION) & np.isfinite(pace)
        start = np.where(before.kind == Drive.POSITION, before.set_points(step - 1, 1)[0], position)
        return self._replace(first=step, start=np.where(limited, start, self.value), pace=np.where(limited, pace, 0.0))

    def set_points(self, step: int, steps: int) -> np.ndarray:
        """Return the values (k, n) in steps from `step` on, with the set points of position servos; k is 1 if they are
        constant."""
        if self.start is None or self.pace is None:
            return self.value[None]
        way = self.pace * np.arange(step - self.first + 1, step - self.first + 1 + steps)[:, None]
        points = np.clip(self.value, self.start - way, self.start + way)
        return points[:1] if np.array_equal(points[0], self.value) else points

    def along(self, followed: Sample | None, step: int, steps: int) -> Sample | None:
        """Return the motion of servos in steps from `step` on: the one that joints follow, None for none, and the set
        points of position servos. None if no joint follows a motion and the set points are the values."""
        points = self.set_points(step, steps)
        if followed is not None:
            return followed._replace(position=np.where(self.kind == Drive.POSITION, points, followed.position))
        if np.array_equal(points[0], self.value):
            return None
        return Sample(self.kind == Drive.POSITION, points, *np.zeros((3, *points.shape)))


KINDS = {"effort": Drive.EFFORT, "velocity": Drive.VELOCITY, "position": Drive.POSITION,       # of JOINT_MODES
         "passive": Drive.EFFORT}


_SERVED = Drive.EFFORT, Drive.VELOCITY, Drive.POSITION


class Commands:
    """The last command of each joint. Commands to different joints merge; each is stale after command_timeout (0:
    never).

    modes (n,): the commanded quantity of each joint, of JOINT_MODES. `passive` (n,): joints without a motor; they are
    held until the first command to any joint, and then have no effort. `on_timeout` selects the drive of a stale
    joint: "zero" means zero effort, zero velocity or the last position; "hold" its brake; "gravity_compensation"
    g_i(q), in every mode. A joint without a command so far is held by its brake if hold_until_first_command, else
    driven by zero effort, zero velocity or its first position. Commands are clipped to the limits.

    The first `base` entries are the velocities of a floating base. Its commands are efforts, zero when stale. The base
    is held until the first command to any joint, or `release_base`."""

    def __init__(self, settings: Settings, limits: EnforcedLimits, modes: Sequence[str], base: int = 0):
        self._base = base
        self._limits, self._on_timeout = limits, settings.on_timeout
        self._timeout = settings.steps(settings.command_timeout)
        self._hold = settings.hold_until_first_command
        self._carries = "gravity" in settings.drives_compensate
        self._kind = np.full(len(modes), UNCOMMANDED)
        self.clear(np.zeros(len(modes)))
        self.set_modes(modes, self._value)

    def set_modes(self, modes: Sequence[str], position: np.ndarray) -> None:
        """Change the commanded quantities of the joints. A joint whose mode changes loses its command; position (n,):
        the present positions."""
        kind = np.array([KINDS[mode] for mode in modes], dtype=int)
        self.passive = np.array([mode == "passive" for mode in modes], dtype=bool)
        changed = kind != self._kind
        self._value[changed], self._deadline[changed] = position[changed], UNCOMMANDED
        stale = {"zero": kind, "hold": Drive.LOCKED, "gravity_compensation": Drive.GRAVITY}
        self._kind, self._stale = kind, np.array(np.broadcast_to(stale[self._on_timeout], kind.shape))
        self._stale[:self._base] = Drive.EFFORT
        kinds, limits = [kind == k for k in _SERVED], self._limits
        self._lower = np.select(kinds, (-limits.effort, -limits.velocity, limits.lowest))
        self._upper = np.select(kinds, (limits.effort, limits.velocity, limits.highest))

    def clear(self, start: np.ndarray) -> None:
        """Discard all commands and hold joints again until their first one. start (n,): their positions."""
        self._held, self._base_held = self._hold, self._hold
        self._value = start.copy()
        self._deadline = np.full(len(start), UNCOMMANDED, dtype=np.int64)

    def release(self) -> None:
        """Release the joints that are held until their first command."""
        self._held = False

    def release_base(self) -> None:
        """Release the base alone."""
        self._base_held = False

    def accept(self, command: np.ndarray, step: int) -> None:
        """Store commands (n,) at a step; a joint with NaN keeps its last command."""
        commanded = ~np.isnan(command) & ~self.passive
        self._value[commanded] = command[commanded]
        self._deadline[commanded] = step + self._timeout if self._timeout else NEVER

    def stale(self, step: int) -> np.ndarray:
        """Return the mask (n,) of the joints whose command is stale at a step."""
        return (self._deadline <= step) & (self._deadline != UNCOMMANDED)

    def given_up(self, step: int) -> np.ndarray:
        """Return the mask (n,) of the joints with a stale command that no longer drives them."""
        return self.stale(step) & ((self._kind != Drive.POSITION) | (self._stale != Drive.POSITION))

    def distance(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the distances (n,) of the state from the last commands; for efforts, only the amount clipped."""
        kinds = [self._kind == kind for kind in _SERVED]
        reported = np.select(kinds, (np.clip(self._value, self._lower, self._upper), qd, q))
        return abs(reported - self._value)

    def drives(self, step: int) -> Drives:
        """Return the Drives of the joints from a step onward."""
        fresh, uncommanded = self._deadline > step, self._deadline == UNCOMMANDED
        started = not (uncommanded.all() and self._base_held)
        kind = np.where(self.stale(step), self._stale, self._kind)
        if self._held:
            if self._base and started:
                uncommanded = uncommanded & (np.arange(len(kind)) >= self._base)
            kind[uncommanded & ~(self.passive & started)] = Drive.LOCKED
        value = np.where(fresh | (self._kind == Drive.POSITION), self._value, 0.0)
        clipped = np.clip(value, self._lower, self._upper)
        weight = ~self.passive & (np.arange(len(kind)) >= self._base) if self._carries else None
        return Drives(kind, clipped, (clipped != value) & (kind == self._kind),
                      int(self._deadline[fresh].min(initial=NEVER)), weight=weight)
