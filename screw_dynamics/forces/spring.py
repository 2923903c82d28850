"""A spring and a damper at a joint, or between several."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.values import Scalar, kernel, over

from .element import Element, Joints, Robot, built_in
from .laws import CoordinateLaw, Impedance

STIFFNESS, DAMPING, REST = range(3)


@kernel
def impedance(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar) -> Impedance:
    """-K (x - rest) - D v."""
    K, D = p[s + STIFFNESS], p[s + DAMPING]
    return Impedance(-(K * (x - p[s + REST]) + D * v), over(K, v), over(D, v))


@kernel
def energy(p: np.ndarray, s: int, x: Scalar) -> Scalar:
    """K (x - rest)^2 / 2."""
    stretch = x - p[s + REST]
    return 0.5 * p[s + STIFFNESS] * stretch * stretch


@built_in
@dataclass(frozen=True)
class Spring(Element):
    """A spring and a damper that act on x, the coordinate of a joint, or the sum of several: the effort -stiffness
    (x - rest) - damping x'.

    joint: a name, or {name: factor} of those in x = sum factor q, each of which gets `factor` times the effort: a belt
    between two joints is {first: 1, second: -1}. stiffness, N m/rad or N/m, and damping, N m s/rad or N s/m, both
    >= 0; rest: x without effort of the spring."""

    joint: Joints
    stiffness: float
    damping: float = 0.0
    rest: float = 0.0

    law: ClassVar[CoordinateLaw] = CoordinateLaw(3, impedance, energy)

    def rows(self, robot: Robot) -> list[list[float]]:
        """One row: the joints, and the three numbers."""
        return [[*robot.sum_of(self.joint, self), self.finite("stiffness", at_least=0.0),
                 self.finite("damping", at_least=0.0), self.finite("rest")]]


@dataclass(frozen=True)
class JointSprings(Element):
    """Springs and dampers at all joints, each number for each velocity (n,): what springs= means. A velocity without a
    coordinate has a damper alone."""

    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    rest: tuple[float, ...]

    law: ClassVar[CoordinateLaw] = Spring.law

    @property
    def name(self) -> str:
        """Of the law of Spring."""
        return Spring.__name__

    def rows(self, robot: Robot) -> list[list[float]]:
        """A row for each velocity that has a spring or a damper."""
        places = robot.model.places_in_q.tolist()
        stiffness, damping, rest = (self.array(name, len(places)) for name in ("stiffness", "damping", "rest"))
        if min(*stiffness, *damping, 0.0) < 0.0:
            raise ValueError(f"stiffness and damping of {self} must be >= 0")
        if any(K and place < 0 for K, place in zip(stiffness, places, strict=True)):
            raise ValueError(f"stiffness of {self} must be 0 where a velocity has no coordinate, of joints on groups")
        return [[1.0, float(k), float(place), 1.0, K, D, x * (place >= 0)]
                for k, (place, K, D, x) in enumerate(zip(places, stiffness, damping, rest, strict=True)) if K or D]
