"""The winding of a motor of direct current, between its charge and its shaft."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.values import Scalar, kernel

from .element import Element, Joints, Robot, built_in
from .laws import COORDINATE, Pair, PairLaw

CONSTANT, RESISTANCE = range(2)


@kernel
def pair(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar, y: Scalar, w: Scalar) -> Pair:
    """k i on the shaft, and -k x' - R i on the charge, i = y' its current."""
    k, drop = p[s + CONSTANT], p[s + RESISTANCE] * w
    return Pair(k * w, -(k * v) - drop, drop * w)


@built_in
@dataclass(frozen=True)
class Winding(Element):
    """Torque and voltage of a winding: the effort constant i on x, a joint or the sum of several, {joint: factor}, and
    -constant x' - resistance i on the charge, a joint too, whose velocity is the current i, A, and whose effort is the
    voltage, V.

    constant: N m/A, or N/A at a slide, > 0 or < 0; resistance >= 0, ohm. What it takes from the charge it gives the
    joint, but for the heat R i^2."""

    joint: Joints
    charge: str
    constant: float
    resistance: float

    law: ClassVar[PairLaw] = PairLaw(2, pair)

    def rows(self, robot: Robot) -> list[list[float]]:
        """One row: the joint, the charge, and two numbers."""
        shaft, charge = robot.sum_of(self.joint, self), robot.coordinate(self.charge, element=self)
        if charge[0] in shaft[1::COORDINATE]:
            raise ValueError(f"joint and charge of {self} are the same")
        return [[*shaft, *charge[:2], self.finite("constant"), self.finite("resistance", at_least=0.0)]]
