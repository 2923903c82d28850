"""Winding of a DC motor, between its charge and its shaft."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.values import Scalar, kernel

from .element import Element, Joints, Robot, built_in
from .laws import COORDINATE, Pair, PairLaw

CONSTANT, RESISTANCE = range(2)


@kernel
def pair(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar, y: Scalar, w: Scalar) -> Pair:
    """Return k i on the shaft, and -k x' - R i on the charge, with the current i = y'."""
    k, drop = p[s + CONSTANT], p[s + RESISTANCE] * w
    return Pair(k * w, -(k * v) - drop, drop * w)


@built_in
@dataclass(frozen=True)
class Winding(Element):
    """Winding of a DC motor, between its charge and its shaft.

    Parameters
    ----------
    joint : str or dict of str to float
        Joint of the shaft, or factors of several joints whose sum x replaces it.
    charge : str
        Joint whose coordinate is the charge. Its velocity is the current i, A, and its effort the voltage, V.
    constant : float
        Torque constant, N m/A, or N/A for a prismatic joint, > 0 or < 0.
    resistance : float
        Resistance R, ohm, >= 0.

    Notes
    -----
    The effort is ``constant i`` on x, and ``-constant x' - resistance i`` on the charge. The electrical power of the
    winding goes to the joint, except for the heat R i^2.
    """

    joint: Joints
    charge: str
    constant: float
    resistance: float

    law: ClassVar[PairLaw] = PairLaw(2, pair)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the joint, the charge, and two numbers.

        Raises ValueError if a joint does not exist or has several degrees of freedom, joint and charge are the
        same, or a number is not valid.
        """
        shaft, charge = robot.sum_of(self.joint, self), robot.coordinate(self.charge, element=self)
        if charge[0] in shaft[1::COORDINATE]:
            raise ValueError(f"joint and charge of {self} are the same")
        return [[*shaft, *charge[:2], self.finite("constant"), self.finite("resistance", at_least=0.0)]]
