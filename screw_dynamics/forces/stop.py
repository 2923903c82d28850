"""Soft stop: an elastic end of a joint's range."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import Scalar, kernel, null, over

from .element import Element, Robot, built_in
from .laws import CoordinateLaw, Impedance

LOWER, UPPER, STIFFNESS, LOSS = range(4)


@kernel
def beyond(p: np.ndarray, s: int, x: Scalar) -> Scalar:
    """Return the depth of x beyond the upper end, > 0, or beyond the lower one, < 0; 0 within the range."""
    over_, under = x - p[s + UPPER], x - p[s + LOWER]
    return where(over_ > 0.0, over_, where(under < 0.0, under, null(x)))


@kernel
def impedance(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar) -> Impedance:
    """Return -K y (1 + c y') with the depth y and its rate y', without adhesion."""
    y, K, c, none = beyond(p, s, x), p[s + STIFFNESS], p[s + LOSS], null(v)
    rate = where(y < 0.0, -v, v)
    depth, pushes, touches = where(y < 0.0, -y, y), 1.0 + c * rate > 0.0, y * y > 0.0
    d = where(pushes, (K * c) * depth, -(K * depth) / where(pushes, over(-1.0, v), rate))     # no pull: -K y - d y' = 0
    return Impedance(-(K * y) - d * v, where(touches, over(K, v), none), d)


@kernel
def energy(p: np.ndarray, s: int, x: Scalar) -> Scalar:
    """Return K y^2 / 2."""
    y = beyond(p, s, x)
    return 0.5 * p[s + STIFFNESS] * y * y


@built_in
@dataclass(frozen=True)
class Stop(Element):
    """A soft stop of a joint, which pushes inwards beyond its ends, without adhesion.

    Parameters
    ----------
    joint : str
        Single-DoF joint.
    stiffness : float
        Stiffness, N m/rad or N/m, > 0.
    loss : float, optional
        Loss factor, s/rad or s/m, >= 0. A slow impact at a speed v rebounds with the share 1 - 2/3 loss v of it.
    lower, upper : float, optional
        Ends, rad or m. By default the model's position limits.

    Notes
    -----
    At a depth y beyond an end the inward effort is ``stiffness y (1 + loss y')``, by Hunt and Crossley with a
    linear spring.

    References
    ----------
    K. H. Hunt and F. R. E. Crossley (1975).
    """

    joint: str
    stiffness: float
    loss: float = 0.0
    lower: float | None = None
    upper: float | None = None

    law: ClassVar[CoordinateLaw] = CoordinateLaw(4, impedance, energy)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the joint and the four numbers.

        Raises ValueError if the joint does not exist or has several degrees of freedom, the lower end is not less
        than the upper one, the joint has no position limits and no end is given, or a number is not valid.
        """
        place = robot.coordinate(self.joint, element=self)
        k = int(place[0])
        lower = float(robot.model.lower[k]) if self.lower is None else self.finite("lower")
        upper = float(robot.model.upper[k]) if self.upper is None else self.finite("upper")
        if not lower < upper:
            raise ValueError(f"{self}: the lower end, {lower:g}, must be less than the upper one, {upper:g}")
        if lower == -np.inf and upper == np.inf:
            raise ValueError(f"{self}: joint {self.joint!r} has no position limits; give lower or upper")
        return [[1.0, *place, lower, upper, self.finite("stiffness", more_than=0.0), self.finite("loss",
                                                                                                 at_least=0.0)]]
