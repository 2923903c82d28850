"""Spring and damper at a joint, or between several."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.values import Scalar, kernel, over

from .element import Element, Joints, Robot, built_in
from .laws import CoordinateLaw, Impedance

STIFFNESS, DAMPING, REST = range(3)


@kernel
def impedance(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar) -> Impedance:
    """Return -K (x - rest) - D v."""
    K, D = p[s + STIFFNESS], p[s + DAMPING]
    return Impedance(-(K * (x - p[s + REST]) + D * v), over(K, v), over(D, v))


@kernel
def energy(p: np.ndarray, s: int, x: Scalar) -> Scalar:
    """Return K (x - rest)^2 / 2."""
    stretch = x - p[s + REST]
    return 0.5 * p[s + STIFFNESS] * stretch * stretch


@built_in
@dataclass(frozen=True)
class Spring(Element):
    """A spring and a damper at a joint, or between several.

    Parameters
    ----------
    joint : str or dict of str to float
        Joint, or factors of several joints. Each joint's effort is its factor times the effort on x. A belt between
        two joints is {first: 1, second: -1}.
    stiffness : float
        Stiffness, N m/rad or N/m, >= 0.
    damping : float, optional
        Damping, N m s/rad or N s/m, >= 0.
    rest : float, optional
        Coordinate x without effort of the spring, rad or m.

    Notes
    -----
    The effort on x is ``-stiffness (x - rest) - damping x'``, where x is the coordinate of a joint, or the sum
    ``x = sum factor q`` of several.
    """

    joint: Joints
    stiffness: float
    damping: float = 0.0
    rest: float = 0.0

    law: ClassVar[CoordinateLaw] = CoordinateLaw(3, impedance, energy)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the joints and the three numbers.

        Raises ValueError if a joint does not exist or is repeated, or a number is not valid.
        """
        return [[*robot.sum_of(self.joint, self), self.finite("stiffness", at_least=0.0),
                 self.finite("damping", at_least=0.0), self.finite("rest")]]


@dataclass(frozen=True)
class JointSprings(Element):
    """Springs and dampers at all joints, with one number for each velocity.

    Parameters
    ----------
    stiffness : array_like (n,)
        Stiffnesses, N m/rad or N/m, >= 0. They must be 0 for velocities without a coordinate.
    damping : array_like (n,)
        Dampings, N m s/rad or N s/m, >= 0.
    rest : array_like (n,)
        Positions without spring effort, rad or m.

    Notes
    -----
    They are the springs of the argument ``springs=``. A velocity without a coordinate has a damper only.
    """

    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    rest: tuple[float, ...]

    law: ClassVar[CoordinateLaw] = Spring.law

    @property
    def name(self) -> str:
        """The name of the law of Spring."""
        return Spring.__name__

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return a row for each velocity with a spring or a damper.

        Raises ValueError if a shape is not (n,), a number is not finite, a stiffness or damping is negative, or
        a velocity without a coordinate has a stiffness.
        """
        q_indices = robot.model.q_indices.tolist()
        stiffness, damping, rest = (self.array(name, len(q_indices)) for name in ("stiffness", "damping", "rest"))
        if min(*stiffness, *damping, 0.0) < 0.0:
            raise ValueError(f"stiffness and damping of {self} must be >= 0")
        if any(K and place < 0 for K, place in zip(stiffness, q_indices, strict=True)):
            raise ValueError(f"stiffness of {self} must be 0 where a velocity has no coordinate, of Lie-group joints")
        return [[1.0, float(k), float(place), 1.0, K, D, x * (place >= 0)]
                for k, (place, K, D, x) in enumerate(zip(q_indices, stiffness, damping, rest, strict=True)) if K or D]
