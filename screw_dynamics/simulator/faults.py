"""Faults of the simulated robot: of its joints, its sensors and its command channel.

Each fault has a first and a last step: runs with the same schedule, seed and commands are bitwise identical."""

import math
import shlex
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from .commands import NEVER, Drive, Drives
from .settings import Settings

MOST = 1000             # largest number of active and waiting faults
JOINT_STATES = "joint_states"
JOINT, SENSOR, SURFACE, OBJECT = "joint", "sensor", "surface", "object"


class Kind(NamedTuple):
    """A kind of fault: its target, and the meaning and range of its value.

    The target is a joint, a sensor, a surface (of a link or an object), a free object, or "" for all commands."""

    target: str
    value: str = ""                 # "": the kind has no value
    most: float = 0.0
    least: float = 0.0


KINDS = {
    "joint_stuck": Kind(JOINT),
    "joint_weak": Kind(JOINT, "the share of its effort that is left", most=1.0),
    "joint_lost": Kind(JOINT),
    "sensor_frozen": Kind(SENSOR),
    "sensor_offset": Kind(SENSOR, "what the sensor adds", most=1e6, least=-1e6),
    "sensor_dropped": Kind(SENSOR, "the share of samples that is lost", most=1.0),
    "commands_late": Kind("", "seconds", most=10.0),        # limited, since delayed commands are stored
    "commands_dropped": Kind("", "the share of commands that is lost", most=1.0),
    "surface_slippery": Kind(SURFACE, "its coefficient of friction", most=1e6),
    "object_dropped": Kind(OBJECT),         # does not touch any link of the robot
}


class Fault(NamedTuple):
    """A fault from the step `begin` until before the step `end`."""

    kind: str
    target: str
    value: float
    begin: int
    end: int

    def __str__(self) -> str:
        value = f"{self.value:g}" if KINDS[self.kind].value else ""
        return " ".join(filter(None, (self.kind, self.target, value)))


class Scheduled(NamedTuple):
    """A requested fault: delay and duration (0: no end) in seconds of simulated time."""

    kind: str
    target: str = ""
    value: float = 0.0
    delay: float = 0.0
    duration: float = 0.0


def scheduled(text: str) -> Scheduled:
    """Return the fault of a line `<kind> [<target>] [<value>] [at <seconds>] [for <seconds>]`; names may be quoted.

    KINDS lists which kinds have a target and a value. Raises ValueError with the line and the cause."""
    try:
        kind, *words = shlex.split(text)
        times = {"at": 0.0, "for": 0.0}
        while len(words) >= 2 and words[-2] in times:
            times[words[-2]] = float(words[-1])
            del words[-2:]
        known = _kind(kind)
        target = words.pop(0) if known.target else ""
        value = float(words.pop(0)) if known.value else 0.0
        if words:
            raise ValueError(f"'{words[0]}' is unexpected")
    except (ValueError, IndexError) as error:
        reason = "a word is missing" if isinstance(error, IndexError) or not text.split() else error
        raise ValueError(f"fault '{text}': {reason}; "
                         "a line is <kind> [<target>] [<value>] [at <seconds>] [for <seconds>]") from None
    return Scheduled(kind, target, value, times["at"], times["for"])


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise ValueError(f"kind '{name}' must be one of {', '.join(KINDS)}")
    return KINDS[name]


class Faults:
    """The active and waiting faults, and their effects on drives and commands.

    actuated: command names of the joints; joint_names: the measured joints. sensors: further targets of sensor faults;
    "joint_states" selects all joints. base: number of velocities of a floating base, before the joints in arrays (n,).
    around: functions that return the names of the surfaces and of the free objects. `reset` arms the schedule of the
    settings and sets step 0. Raises ValueError for an invalid target."""

    def __init__(self, settings: Settings, actuated: Sequence[str], joint_names: Sequence[str],
                 sensors: Iterable[str] = (), base: int = 0,
                 around: Sequence[Callable[[], Sequence[str]]] = (tuple, tuple)):
        self._settings, self._joints = settings, tuple(actuated)
        self._index = {name: base + i for i, name in enumerate(actuated)}
        self._n = base + len(self._joints)
        self._sensors = (*joint_names, JOINT_STATES, *sensors)
        self._names: dict[str, Callable[[], Sequence[str]]] = {
            JOINT: partial(getattr, self, "_joints"), SENSOR: partial(getattr, self, "_sensors"), SURFACE: around[0],
            OBJECT: around[1]}
        self.active: tuple[Fault, ...] = ()
        self._mechanical = False            # True if a joint is stuck, weak or lost
        self._schedule = [scheduled(line) for line in settings.fault_schedule if line]
        for line in self._schedule:
            self._fault(line, 0)
        self.reset()

    # --------------------------------------------------------------------------------------------- injection
    def reset(self) -> None:
        """End all faults, discard delayed commands, and arm the schedule from step 0."""
        self._sent = 0          # commands since the reset
        self._under_way: deque[tuple[int, np.ndarray]] = deque()      # (step of arrival, command), in order
        self._all = [self._fault(line, 0) for line in self._schedule]
        self.update(0)

    def clear(self, step: int) -> None:
        """End all active and waiting faults; delayed commands arrive at once."""
        self._all = []
        self._hurry(step)
        self.update(step)

    def inject(self, fault: Scheduled, step: int) -> None:
        """Add a fault; its delay counts from `step`. Raises ValueError with the cause, and changes nothing then."""
        if len(self._all) >= MOST:
            raise ValueError(f"{len(self._all)} faults are active or waiting already: clear them first")
        self._all.append(self._fault(fault, step))
        self.update(step)

    def _fault(self, fault: Scheduled, step: int) -> Fault:
        kind, target, value, delay, duration = fault
        known = _kind(kind)
        if known.target == "" and target:
            raise ValueError(f"{kind} has no target, but '{target}' is given")
        names = self._names[known.target]() if known.target else ()
        if known.target and target not in names:
            there = "the robot has" if known.target in (JOINT, SENSOR) else "there are"
            raise ValueError(f"{kind}: unknown {known.target} '{target}', {there} {', '.join(names) or 'none'}")
        if known.value and not (math.isfinite(value) and known.least <= value <= known.most):
            raise ValueError(f"{kind}: value {value} must be {known.value}, from {known.least:g} to {known.most:g}")
        for name, seconds in (("delay", delay), ("duration", duration)):
            if not 0.0 <= seconds <= 1e9:
                raise ValueError(f"{kind}: {name} {seconds} s must be from 0 to 1e9")
        begin = step + self._settings.steps(delay)
        return Fault(kind, target, value, begin, begin + self._settings.steps(duration) if duration else NEVER)

    # --------------------------------------------------------------------------------------------- time
    def update(self, step: int) -> None:
        """Start and end the faults that are due at a step."""
        self._all = [fault for fault in self._all if fault.end > step]
        active = tuple(fault for fault in self._all if fault.begin <= step)
        if active != self.active:
            self.active = active
            self._stuck, self._strength = self._of_joints()
            self._mechanical = self._stuck.any() or (self._strength != 1.0).any()

    def next_change(self, step: int) -> int:
        """Return the next step after `step` at which a fault starts or ends, or a delayed command arrives."""
        edges = [edge for fault in self._all for edge in (fault.begin, fault.end) if edge > step]
        return min((*edges, *(due for due, _ in islice(self._under_way, 1))), default=NEVER)

    def _of_joints(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mask (n,) of stuck joints, and the fraction (n,) of its effort that each actuator applies."""
        stuck, strength = np.zeros(self._n, dtype=bool), np.ones(self._n)
        for kind, target, value, *_ in self.active:
            if kind == "joint_stuck":
                stuck[self._index[target]] = True
            elif kind in ("joint_weak", "joint_lost"):
                strength[self._index[target]] *= value if kind == "joint_weak" else 0.0
        return stuck, strength

    def remaining(self, fault: Fault, step: int) -> float:
        """Return the seconds from a step until a fault ends; inf if it does not end."""
        return math.inf if fault.end == NEVER else (fault.end - step) * self._settings.step

    # --------------------------------------------------------------------------------------------- effects
    def drives(self, drives: Drives) -> Drives:
        """Return the drives under faults: brakes for stuck joints, reduced efforts for weak ones.

        A lost actuator applies no effort and does not brake."""
        if not self._mechanical:
            return drives
        kind = np.where(self._strength == 0.0, Drive.EFFORT, drives.kind)
        value = np.where(kind == Drive.EFFORT, self._strength * drives.value, drives.value)
        kind[self._stuck] = Drive.LOCKED
        return drives._replace(kind=kind, value=value, strength=self._strength)

    @property
    def slippery(self) -> dict[str, float]:
        """{surface: coefficient of friction} under faults; the last fault of a surface counts."""
        return {fault.target: fault.value for fault in self.active if fault.kind == "surface_slippery"}

    @property
    def released(self) -> list[str]:
        """The objects that touch no link of the robot because of a fault."""
        return [fault.target for fault in self.active if fault.kind == "object_dropped"]

    def send(self, command: np.ndarray, step: int) -> None:
        """Send a command, which may be dropped or delayed. A command never overtakes earlier ones: these arrive with it
        at the latest."""
        self._sent += 1
        if not self._lost("commands_dropped", "", 2, self._sent):
            due = step + self._settings.steps(self._sum("commands_late", ""))
            self._hurry(due)
            self._under_way.append((due, command))

    def _hurry(self, due: int) -> None:
        """Limit the arrival of all delayed commands to a step."""
        if self._under_way and self._under_way[-1][0] > due:
            self._under_way = deque((min(earlier, due), command) for earlier, command in self._under_way)

    def arrivals(self, step: int) -> list[np.ndarray]:
        """Return the commands that arrive at a step, in the order of sending; each is returned once."""
        arrived = []
        while self._under_way and self._under_way[0][0] <= step:
            arrived.append(self._under_way.popleft()[1])
        return arrived

    def offset(self, sensor: str) -> float:
        """Return the offset that faults add to the measurement of a sensor."""
        return self._sum("sensor_offset", sensor)

    def frozen(self, sensor: str) -> bool:
        """Return True if a sensor repeats its last measurement."""
        return any(fault.kind == "sensor_frozen" and fault.target == sensor for fault in self.active)

    def dropped(self, sensor: str, step: int) -> bool:
        """Return True if the sample of a sensor at a step is lost."""
        return self._lost("sensor_dropped", sensor, 3, self._sensors.index(sensor), step)

    def _sum(self, kind: str, target: str) -> float:
        return sum((fault.value for fault in self.active if fault.kind == kind and fault.target == target), 0.0)

    def _lost(self, kind: str, target: str, *stream: int) -> bool:
        """Return True if an active fault of a kind causes a loss; `stream` selects the random numbers."""
        shares = [1.0 - fault.value for fault in self.active if fault.kind == kind and fault.target == target]
        if not shares:
            return False
        return np.random.default_rng([self._settings.seed, *stream]).random() >= math.prod(shares)
