"""Differential drive: wheel speeds from a twist, and odometry from wheel angles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

FASTEST = 1e4       # m/s, rad/s: larger commands are refused


@dataclass(frozen=True)
class DifferentialDrive:
    """A differential drive: a base with wheels on two sides.

    left, right: the wheel joints of each side, which turn forward about the y axis of the base. radius of the wheels
    and separation of the sides, in m. Raises ValueError if a side has no wheels, a wheel is on both sides, or a length
    is not positive and finite."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    radius: float
    separation: float

    def __post_init__(self):
        for name in ("left", "right"):
            if not getattr(self, name):
                raise ValueError(f"the {name} side has no wheels")
        if both := sorted({*self.left} & {*self.right}):
            raise ValueError(f"wheel '{both[0]}' is on both sides")
        for name in ("radius", "separation"):
            x = getattr(self, name)
            if not (math.isfinite(x) and x > 0.0):
                raise ValueError(f"{name} of the wheels is {x} m, must be finite and > 0")

    def speeds(self, forward: float, turning: float) -> dict[str, float]:
        """Return {wheel: rad/s} for a velocity in m/s and a yaw rate in rad/s. Raises ValueError for values that are
        not finite or exceed FASTEST."""
        for name, x in (("linear.x", forward), ("angular.z", turning)):
            if not (math.isfinite(x) and abs(x) <= FASTEST):
                raise ValueError(f"{name} is {x}, must be within {FASTEST:g}")
        half = 0.5 * self.separation * turning
        return {**dict.fromkeys(self.left, (forward - half) / self.radius),
                **dict.fromkeys(self.right, (forward + half) / self.radius)}

    def moved(self, angles: Sequence[float]) -> tuple[float, float]:
        """Return the distance in m and the angle in rad that the base moves when the wheels, left ones first, turn by
        `angles`."""
        left, right = (self.radius * float(np.mean(side)) for side in (angles[:len(self.left)],
                                                                       angles[len(self.left):]))
        return 0.5 * (left + right), (right - left) / self.separation


class Traveled(NamedTuple):
    """The planar pose of a base relative to its start: x, y in m and yaw in rad."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def along(self, distance: float, turn: float) -> "Traveled":
        """Return the pose after an arc of given length and angle: the exponential of the planar twist, exact for
        constant wheel speeds."""
        half = 0.5 * turn
        chord = distance * (math.sin(half) / half if abs(half) > 1e-6 else 1.0 - half * half / 6.0)
        return Traveled(self.x + chord * math.cos(self.yaw + half), self.y + chord * math.sin(self.yaw + half),
                         self.yaw + turn)
