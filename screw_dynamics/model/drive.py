"""Drive: a motor behind a gear behind a spring, as numbers; and the springs that there are."""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from screw_dynamics.checks import described, real

POINTS = 8              # of a Table; coefficients of a Hardening
COEFFICIENTS = 4


class Coordinate(NamedTuple):
    """A coordinate that a drive adds to a robot: its name, which follows that of the joint; kind of joint, None of a
    motor, that of its joint; inertia; damping and Coulomb friction; position limits; the largest effort, None for that
    of the joint."""

    name: str
    kind: str | None
    inertia: float
    damping: float = 0.0
    friction: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    effort: float | None = None


@dataclass(frozen=True)
class Hardening:
    """The spring of torque k_1 x + k_3 x^3 + k_5 x^5 + k_7 x^7 at the deflection x, N m/rad^i or N/m^i: up to four
    coefficients, all >= 0, and not all 0."""

    coefficients: Sequence[float]

    def __post_init__(self) -> None:
        k = _numbers("coefficients of Hardening", self.coefficients, 1, COEFFICIENTS)
        if min(k) < 0.0 or not any(k):
            raise ValueError(f"coefficients of Hardening are {k}: each must be >= 0, and one > 0")
        object.__setattr__(self, "coefficients", k)


@dataclass(frozen=True)
class Table:
    """The spring whose torque is linear between points, as data sheets of gears give it, and the same with other signs
    on the other side: deflections, > 0 and increasing, rad or m, and torques, >= 0 and not decreasing, N m or N, up to
    eight of each. The first line begins at 0; the last goes on, and rises."""

    deflections: Sequence[float]
    torques: Sequence[float]

    def __post_init__(self) -> None:
        x, f = (_numbers(f"{name} of Table", given, 1, POINTS)
                for name, given in (("deflections", self.deflections), ("torques", self.torques)))
        if len(x) != len(f):
            raise ValueError(f"Table has {len(x)} deflections and {len(f)} torques")
        for what, y, must, wrong in (("deflections", x, "increase", lambda a, b: a >= b),
                                     ("torques", f, "not decrease", lambda a, b: a > b)):
            for a, b in pairwise((0.0, *y)):
                if wrong(a, b):
                    raise ValueError(f"{what} of Table must {must}: {b!r} follows {a!r}")
        if not f[-1] > (0.0, *f)[-2]:
            raise ValueError(f"torques of Table must increase in the last interval, which ends at {f[-1]!r}")
        object.__setattr__(self, "deflections", x)
        object.__setattr__(self, "torques", f)


@dataclass(frozen=True)
class Antagonistic:
    """A joint between two motors, each behind such a spring, Hardening or Table: motors that turn apart stiffen it, by
    springs whose torque is not linear. Both motors have the drive's inertia and friction."""

    spring: Hardening | Table

    def __post_init__(self) -> None:
        if not isinstance(self.spring, (Hardening, Table)):
            raise ValueError(f"spring of Antagonistic is {described(self.spring)}, must be Hardening or Table")


@dataclass(frozen=True)
class LeverArm:
    """A spring whose stiffness k_0 + k_1 y + k_2 y^2 a second actuator changes by its position y, m, of a pivot on a
    lever say, where k_2 = k for a spring k at the arm y.

    coefficients: N m/rad, N/rad and N/(m rad); the stiffness must be > 0 from lower to upper, the limits of y. inertia
    of the actuator that moves the pivot, kg; its damping, N s/m, and friction, N."""

    coefficients: Sequence[float]
    inertia: float
    lower: float
    upper: float
    damping: float = 0.0
    friction: float = 0.0

    def __post_init__(self) -> None:
        k = _numbers("coefficients of LeverArm", self.coefficients, 3, 3)
        object.__setattr__(self, "coefficients", k)
        _positive(self, "inertia")
        for name in ("damping", "friction"):
            _positive(self, name, or_zero=True)
        for name in ("lower", "upper"):
            _set(self, name)
        if not self.lower < self.upper:
            raise ValueError(f"lower {self.lower!r} of LeverArm must be below upper {self.upper!r}")
        lowest = min(max(-k[1] / (2.0 * k[2]), self.lower), self.upper) if k[2] > 0.0 else self.lower
        for y in (self.lower, lowest, self.upper):
            if not k[0] + k[1] * y + k[2] * y * y > 0.0:
                raise ValueError(f"stiffness of LeverArm is {k[0] + k[1] * y + k[2] * y * y:g} at {y:g}, must be > 0")


@dataclass(frozen=True)
class Electric:
    """The winding of a motor of direct current: resistance, ohm, inductance, H, and torque_constant, N m/A, or V s/rad,
    each > 0, before the gear. It adds a coordinate to the robot, `<joint>_current`, the charge that flowed: its
    velocity is the current, A, its effort the voltage, V, and its inertia the inductance. voltage: the largest there
    is, V, the effort limit of that coordinate.

    L i' + R i + k omega = voltage, and the motor's torque is k i, omega the rate of its shaft: so torque falls as the
    motor speeds up, by k^2 / R, and lags behind the voltage by L / R.

    control: "voltage", or "current": a current loop, faster than all else, gives the torque that is commanded as far as
    the voltage reaches, |R i + k omega| <= voltage. There is no coordinate then: the motor's torque is what is given,
    and a torque_speed from k voltage / R to nothing at voltage / k limits it."""

    resistance: float
    inductance: float
    torque_constant: float
    voltage: float = math.inf
    control: str = "voltage"

    def __post_init__(self) -> None:
        for name in ("resistance", "inductance", "torque_constant"):
            _positive(self, name)
        if not real(self.voltage) > 0.0:
            raise ValueError(f"voltage of Electric is {described(self.voltage)}, must be > 0")
        object.__setattr__(self, "voltage", real(self.voltage))
        if self.control not in ("voltage", "current"):
            raise ValueError(f"control of Electric is {described(self.control)}, must be 'voltage' or 'current'")


@dataclass(frozen=True)
class TorqueSpeed:
    """The limit of a motor's torque by its speed: a line from stall_torque, N m, at rest to 0 at no_load_speed, rad/s,
    both > 0, of the shaft, before the gear: what a supply's voltage leaves of a torque that is given. Against its
    turning the motor has what the line gives, more than the stall torque, up to the effort limit."""

    stall_torque: float
    no_load_speed: float

    def __post_init__(self) -> None:
        for name in ("stall_torque", "no_load_speed"):
            _positive(self, name)


@dataclass(frozen=True)
class Thermal:
    """The thermal model of a motor's winding: motor_constant k, N m/W^0.5, of the torque before the gear that costs
    (torque / k)^2 of heat; resistance, K/W, from the winding to what is around it, and capacity, J/K; each > 0. ambient
    and highest: temperatures, degrees Celsius, of what is around it, and that which the winding may have, above it.

    R C T' = ambient + R heat - T; k sqrt((highest - ambient) / R) is the torque that it can give for ever."""

    motor_constant: float
    resistance: float
    capacity: float
    highest: float = 120.0
    ambient: float = 25.0

    def __post_init__(self) -> None:
        for name in ("motor_constant", "resistance", "capacity"):
            _positive(self, name)
        for name in ("ambient", "highest"):
            _set(self, name)
        if not self.ambient < self.highest:
            raise ValueError(f"ambient {self.ambient!r} of Thermal must be below highest {self.highest!r}")

    @property
    def lasting_torque(self) -> float:
        """The torque that the motor can give for ever, before the gear, N m."""
        return self.motor_constant * math.sqrt((self.highest - self.ambient) / self.resistance)


@dataclass(frozen=True)
class Drive:
    """A motor that turns `ratio` times as fast as the joint it drives, and a spring between them.

    Parameters
    ----------
    rotor_inertia : float
        Inertia of the parts that spin with the motor, about its axis, kg m^2, > 0, or >= 0 of a rigid drive.
    ratio : float, optional
        Gear ratio, rad/rad, or rad/m at a slide, not 0.
    stiffness : float, Hardening, Table, Antagonistic or LeverArm, optional
        Spring between motor and joint: a number, N m/rad or N/m, > 0; a Hardening or Table; an Antagonistic or
        LeverArm, which another actuator makes stiffer. By default the drive is rigid, and B is the joint's armature.
    damping : float, optional
        Damping of the spring, N m s/rad or N s/m, >= 0.
    motor_damping, motor_friction : float, optional
        Viscous and Coulomb friction of the motor, >= 0, as damping and friction of a robot's joints are.
    backlash : float, optional
        Distance by which the joint can move against the motor without the spring's torque, rad or m, >= 0.
    gear_loss : float, optional
        Share of the spring's torque that the motor needs more as it turns, 0 <= gear_loss < 1. This friction depends on
        the load.
    electric : Electric, optional
        Winding of the motor. By default the motor's torque is given.
    carrier : str, optional
        Link that carries the motor. With it the rotor is a body that spins with the motor and turns with the carrier:
        rotor_inertia is part of the carrier's inertia in the robot without drives, and gyroscopic torques act. Without
        it the motor has the energy of its spin alone.
    axis : array_like (3,), optional
        Axis of the rotor in the frame of the carrier. By default the axis of the joint at q = 0.
    coupling : dict of str to float, optional
        Factors of other joints that turn the motor too. Without a spring the motor is at theta = q + sum factor
        q_other. They are a row of a transmission matrix, over the ratio, of a differential, a wrist or a belt.
    torque_speed : TorqueSpeed, optional
        Limit of a torque that is given. A simulated robot keeps it, and Robot.effort_bounds returns it.
    thermal : Thermal, optional
        Thermal model of the winding. A simulated robot reports its temperature, and limits its effort by it.

    Raises
    ------
    ValueError
        If a number is out of range, or properties exclude each other. The message names the property.

    Notes
    -----
    All numbers but rotor_inertia and ratio are as the joint feels them, behind the gear: the position theta of the
    motor is its angle over the ratio, its inertia B = ratio^2 rotor_inertia. Those of `electric`, `torque_speed` and
    `thermal` are before the gear.

    References
    ----------
    Spong (1987), for a motor without carrier.
    """

    rotor_inertia: float
    ratio: float = 1.0
    stiffness: float | Hardening | Table | Antagonistic | LeverArm | None = None
    damping: float = 0.0
    motor_damping: float = 0.0
    motor_friction: float = 0.0
    backlash: float = 0.0
    gear_loss: float = 0.0
    electric: Electric | None = None
    carrier: str | None = None
    axis: Sequence[float] | None = None
    coupling: Mapping[str, float] | tuple[tuple[str, float], ...] = ()
    torque_speed: TorqueSpeed | None = None
    thermal: Thermal | None = None

    def __post_init__(self) -> None:
        _positive(self, "rotor_inertia", or_zero=self.stiffness is None)
        if _set(self, "ratio") == 0.0:
            raise ValueError("ratio of Drive is 0")
        if not (self.inertia < math.inf and (self.inertia > 0.0 or self.rotor_inertia == 0.0)):
            raise ValueError(f"rotor_inertia {self.rotor_inertia!r} of Drive at the ratio {self.ratio!r} is "
                             f"{self.inertia!r} at the joint, out of range")
        for name in ("damping", "motor_damping", "motor_friction", "backlash", "gear_loss"):
            _positive(self, name, or_zero=True)
        if self.gear_loss >= 1.0:
            raise ValueError(f"gear_loss of Drive is {self.gear_loss!r}, must be < 1: the gear would hold any load")
        object.__setattr__(self, "coupling", _coupling(self.coupling))
        if not isinstance(self.stiffness, (Hardening, Table, Antagonistic, LeverArm, type(None))):
            _positive(self, "stiffness")
        if self.stiffness is None:
            for name in ("damping", "backlash", "gear_loss"):
                if getattr(self, name):
                    raise ValueError(f"{name} of Drive is {getattr(self, name)!r}, of a drive without stiffness")
        if not isinstance(self.electric, (Electric, type(None))):
            raise ValueError(f"electric of Drive is {described(self.electric)}, must be Electric")
        for name, kind in (("torque_speed", TorqueSpeed), ("thermal", Thermal)):
            if not isinstance(getattr(self, name), (kind, type(None))):
                raise ValueError(f"{name} of Drive is {described(getattr(self, name))}, must be {kind.__name__}")
            limited = self.electric is not None and (name == "torque_speed" or self.winding is not None)
            if getattr(self, name) and (limited or self.coupling and not self.is_elastic):
                raise ValueError(f"{name} of Drive: not with electric, whose voltage limits it, nor of a rigid motor "
                                 "that several joints turn, whose torque no coordinate has")
        if isinstance(self.stiffness, (Antagonistic, LeverArm)):
            never = {name: getattr(self, name) for name in ("backlash", "gear_loss", "carrier", "coupling")}
            if isinstance(self.stiffness, Antagonistic):
                never["electric"] = self.winding
            for name, given in never.items():
                if given:
                    raise ValueError(f"{name} of Drive is {given!r}: not with {type(self.stiffness).__name__}")
        if not isinstance(self.carrier, (str, type(None))):
            raise ValueError(f"carrier of Drive is {described(self.carrier)}, must be the name of a link")
        if self.axis is not None:
            axis = _numbers("axis of Drive", self.axis, 3, 3)
            if self.carrier is None:
                raise ValueError(f"axis of Drive is {axis}, of a rotor without carrier")
            if not 0.0 < (length := math.hypot(*axis)) < math.inf:
                raise ValueError(f"axis of Drive is {axis}, must not be 0")
            if abs(length - 1.0) > 1e-15:               # what is of unit length, but for rounding, keeps its digits
                axis = tuple(x / length for x in axis)
            object.__setattr__(self, "axis", axis)

    @property
    def inertia(self) -> float:
        """B, the motor's inertia as the joint feels it, kg m^2 or kg."""
        return self.ratio * self.ratio * self.rotor_inertia

    def shaft(self, joint: str) -> dict[str, float]:
        """Return the factors of the joints that turn the motor: without a spring theta = sum factor q.

        Parameters
        ----------
        joint : str
            Joint that the drive moves.

        Returns
        -------
        dict of str to float
            Factor of each joint, 1 for the drive's own.
        """
        return {joint: 1.0, **dict(self.coupling)}

    @property
    def winding(self) -> Electric | None:
        """The winding whose voltage is what is given; None of a motor whose torque is."""
        return self.electric if self.electric is not None and self.electric.control == "voltage" else None

    @property
    def torque_line(self) -> TorqueSpeed | None:
        """The line that limits a torque that is given: torque_speed, or what the voltage of a current loop leaves."""
        it = self.electric
        if it is None or it is self.winding or it.voltage == math.inf:
            return self.torque_speed
        return TorqueSpeed(it.torque_constant * it.voltage / it.resistance, it.voltage / it.torque_constant)

    @property
    def is_elastic(self) -> bool:
        """True if there is a spring between motor and joint."""
        return self.stiffness is not None

    @property
    def spring(self) -> Hardening | Table | None:
        """The law of the spring between joint and motor, or each of two motors; None of one that a lever changes."""
        k = self.stiffness
        if isinstance(k, Antagonistic):
            return k.spring
        return k if isinstance(k, (Hardening, Table)) else Hardening((k,)) if isinstance(k, float) else None

    def coordinates(self, joint: str) -> Iterator[Coordinate]:
        """Yield the coordinates that the drive of a joint adds to the robot.

        Parameters
        ----------
        joint : str
            Joint that the drive moves.

        Yields
        ------
        Coordinate
            Coordinate of a motor, a lever or a current.
        """
        own = self.inertia, self.motor_damping, self.motor_friction
        if isinstance(self.stiffness, Antagonistic):
            yield Coordinate(f"{joint}_motor_1", None, *own)
            yield Coordinate(f"{joint}_motor_2", None, *own)
        elif self.is_elastic:
            yield Coordinate(f"{joint}_motor", None, *own)
        if isinstance(lever := self.stiffness, LeverArm):
            yield Coordinate(f"{joint}_lever", "prismatic", lever.inertia, lever.damping, lever.friction, lever.lower,
                             lever.upper, math.inf)
        if (winding := self.winding) is not None:
            yield Coordinate(f"{joint}_current", "prismatic", winding.inductance, effort=winding.voltage)


def _coupling(given):
    """Return the pairs (joint, factor) of a coupling {joint: factor}."""
    try:
        each = given.items() if isinstance(given, Mapping) else given
        pairs = tuple((joint, real(factor)) for joint, factor in each)
        twice = len(dict(pairs)) < len(pairs)
    except (TypeError, ValueError):
        pairs, twice = ((None, math.nan),), False
    if twice:
        raise ValueError(f"coupling of Drive is {described(given)}, which has a joint twice")
    for joint, factor in pairs:
        if not isinstance(joint, str) or not math.isfinite(factor) or factor == 0.0:
            raise ValueError(f"coupling of Drive is {described(given)}, must be {{joint: factor}}, of finite "
                             "factors that are not 0")
    return pairs


def _set(self, name):
    """Make a number of it. Raises ValueError unless it is finite."""
    given = getattr(self, name)
    x = real(given)
    if not math.isfinite(x):
        raise ValueError(f"{name} of {type(self).__name__} is {described(given)}, must be a finite number")
    object.__setattr__(self, name, x)
    return x


def _positive(self, name, or_zero=False):
    x = _set(self, name)
    if not (x > 0.0 or or_zero and x == 0.0):
        raise ValueError(f"{name} of {type(self).__name__} is {x!r}, must be {'>= 0' if or_zero else '> 0'}")


def _numbers(what, given, least, most):
    """Return a tuple of finite numbers."""
    if hasattr(given, "tolist"):
        given = given.tolist()
    found = tuple(map(real, given)) if isinstance(given, (list, tuple)) else ()
    if not (least <= len(found) <= most and all(map(math.isfinite, found))):
        count = f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(f"{what}: {described(given)} must be {count} finite numbers")
    return found
