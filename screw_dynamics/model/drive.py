"""Drive: the parameters of a motor, its gear and a spring between gear and joint; and the spring laws."""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from screw_dynamics.utils.checks import described, real

POINTS = 8              # largest number of points of a Table; COEFFICIENTS: of coefficients of a Hardening
COEFFICIENTS = 4


class Coordinate(NamedTuple):
    """A coordinate that a drive adds to a robot.

    name: prefixed by the joint's. kind: joint kind, None for a motor, which has that of its joint. inertia; damping and
    Coulomb friction; position limits; effort: the largest one, None for the joint's limit."""

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
    """A spring with the torque k_1 x + k_3 x^3 + k_5 x^5 + k_7 x^7 at the deflection x.

    coefficients: up to four, N m/rad^i or N/m^i, all >= 0, and not all 0."""

    coefficients: Sequence[float]

    def __post_init__(self) -> None:
        k = _numbers("coefficients of Hardening", self.coefficients, 1, COEFFICIENTS)
        if min(k) < 0.0 or not any(k):
            raise ValueError(f"coefficients of Hardening are {k}: each must be >= 0, and one > 0")
        object.__setattr__(self, "coefficients", k)


@dataclass(frozen=True)
class Table:
    """A spring with a piecewise linear torque, as in data sheets of gears, odd in the deflection.

    deflections, rad or m: > 0 and increasing. torques, N m or N: >= 0 and not decreasing. Up to eight points. The first
    segment begins at 0; the last one is extrapolated, and its torque must increase."""

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
    """A joint between two motors, each behind a nonlinear spring, Hardening or Table. Co-contraction of the motors
    stiffens the joint. Both motors have the drive's inertia and friction."""

    spring: Hardening | Table

    def __post_init__(self) -> None:
        if not isinstance(self.spring, (Hardening, Table)):
            raise ValueError(f"spring of Antagonistic is {described(self.spring)}, must be Hardening or Table")


@dataclass(frozen=True)
class LeverArm:
    """A spring with the stiffness k_0 + k_1 y + k_2 y^2, where y, m, is the position of a second actuator, such as the
    pivot of a lever: k_2 = k for a spring k at the arm y.

    coefficients: N m/rad, N/rad and N/(m rad); the stiffness must be > 0 between lower and upper, the limits of y.
    inertia, kg, damping, N s/m, and friction, N, are those of the second actuator."""

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
    """The winding of a DC motor: resistance, ohm, inductance, H, and torque_constant k, N m/A = V s/rad, each > 0 and
    before the gear.

    L i' + R i + k omega = voltage, with the motor's torque k i and the rate omega of its shaft. The torque therefore
    falls with the speed, by k^2 / R, and lags behind the voltage by L / R.

    The winding adds a coordinate `<joint>_current` to the robot, the charge: its velocity is the current, A, its effort
    the voltage, V, and its inertia the inductance. voltage: the supply voltage, V, the effort limit of that coordinate.

    control: "voltage", or "current": an ideal current loop applies the commanded torque as far as the voltage allows,
    |R i + k omega| <= voltage. It adds no coordinate: the input is the motor's torque, limited by a torque_speed line
    from k voltage / R at rest to 0 at voltage / k."""

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
    """A torque-speed line of a motor, before the gear: from stall_torque, N m, at rest to 0 at no_load_speed, rad/s,
    both > 0. It is the torque that a supply's voltage allows.

    When braking, the line exceeds the stall torque; there the torque is limited by the effort limit."""

    stall_torque: float
    no_load_speed: float

    def __post_init__(self) -> None:
        for name in ("stall_torque", "no_load_speed"):
            _positive(self, name)


@dataclass(frozen=True)
class Thermal:
    """The thermal model of a motor's winding.

    motor_constant k, N m/W^0.5: a torque tau before the gear produces the heat (tau / k)^2. resistance, K/W, from the
    winding to the environment, and capacity, J/K; each > 0. ambient and highest: temperatures of the environment and
    the largest one of the winding, degrees Celsius, highest > ambient.

    R C T' = ambient + R heat - T. The continuous torque is k sqrt((highest - ambient) / R)."""

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
        """The continuous torque of the motor before the gear, N m."""
        return self.motor_constant * math.sqrt((self.highest - self.ambient) / self.resistance)


@dataclass(frozen=True)
class Drive:
    """A motor with a gear and, optionally, a spring between the gear and the joint.

    Parameters
    ----------
    rotor_inertia : float
        Inertia of the parts that spin with the motor, about its axis, kg m^2: > 0, or >= 0 for a rigid drive.
    ratio : float, optional
        Gear ratio, motor speed over joint speed, rad/rad, or rad/m for a prismatic joint; not 0.
    stiffness : float, Hardening, Table, Antagonistic or LeverArm, optional
        Spring between motor and joint: a number, N m/rad or N/m, > 0; a Hardening or Table; an Antagonistic or
        LeverArm, whose stiffness another actuator changes. By default the drive is rigid, and B is armature of the
        joint.
    damping : float, optional
        Damping of the spring, N m s/rad or N s/m, >= 0.
    motor_damping, motor_friction : float, optional
        Viscous and Coulomb friction of the motor, >= 0, in the units of joint damping and friction.
    backlash : float, optional
        Free play of the joint relative to the motor, rad or m, >= 0.
    gear_loss : float, optional
        Load-dependent friction of the gear: the fraction of the spring's torque that the motor needs in addition while
        it turns, 0 <= gear_loss < 1.
    electric : Electric, optional
        Winding of the motor. By default the motor's torque is the input.
    carrier : str, optional
        Link that carries the motor. The rotor is then a body that spins with the motor and moves with the carrier:
        rotor_inertia is part of the carrier's inertia in the robot without drives, and gyroscopic torques act. Without
        a carrier only the kinetic energy of the rotor's spin is modeled.
    axis : array_like (3,), optional
        Axis of the rotor in the frame of the carrier. By default the axis of the joint at q = 0.
    coupling : dict of str to float, optional
        Factors of other joints that also turn the motor. Without a spring the motor is at theta = q + sum factor
        q_other. The factors are a row of a transmission matrix divided by the ratio, as for a differential, a wrist or
        a belt.
    torque_speed : TorqueSpeed, optional
        Limit of a torque input. A simulated robot enforces it, and Robot.effort_bounds returns it.
    thermal : Thermal, optional
        Thermal model of the winding. A simulated robot reports its temperature and limits the effort accordingly.

    Raises
    ------
    ValueError
        If a number is out of range, or properties exclude each other. The message names the property.

    Notes
    -----
    All parameters except rotor_inertia and ratio are reflected to the joint side of the gear: the position theta of the
    motor is its angle divided by the ratio, its inertia B = ratio^2 rotor_inertia. Those of `electric`, `torque_speed`
    and `thermal` are before the gear.

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
            if abs(length - 1.0) > 1e-15:               # an axis of unit length to machine precision keeps its digits
                axis = tuple(x / length for x in axis)
            object.__setattr__(self, "axis", axis)

    @property
    def inertia(self) -> float:
        """B, the motor's inertia reflected to the joint, kg m^2 or kg."""
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
        """The voltage-controlled winding; None if the motor's torque is the input."""
        return self.electric if self.electric is not None and self.electric.control == "voltage" else None

    @property
    def torque_line(self) -> TorqueSpeed | None:
        """The torque-speed line of a torque input: torque_speed, or that of a current loop's voltage; None for none."""
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
        """The spring law between joint and motor, or for each of two motors; None for a LeverArm or a rigid drive."""
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
    """Return the pairs (joint, factor) of a coupling {joint: factor}. Raises ValueError for invalid ones."""
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
    """Convert a field to float and return it. Raises ValueError if it is not finite."""
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
    """Return a tuple of finite numbers. Raises ValueError unless there are `least` to `most`."""
    if hasattr(given, "tolist"):
        given = given.tolist()
    found = tuple(map(real, given)) if isinstance(given, (list, tuple)) else ()
    if not (least <= len(found) <= most and all(map(math.isfinite, found))):
        count = f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(f"{what}: {described(given)} must be {count} finite numbers")
    return found
