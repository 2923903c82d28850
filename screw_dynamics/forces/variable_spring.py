"""Spring with variable stiffness, controlled by another joint."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.values import Scalar, kernel

from .element import Element, Joints, Robot, built_in
from .laws import COORDINATE, Pair, PairLaw

CONSTANT, LINEAR, QUADRATIC, DAMPING = range(4)


@kernel
def stiffness(p: np.ndarray, s: int, y: Scalar) -> tuple[Scalar, Scalar]:
    """Return K(y) = k_0 + k_1 y + k_2 y^2 and its slope."""
    return (p[s + CONSTANT] + (p[s + LINEAR] + p[s + QUADRATIC] * y) * y,
            p[s + LINEAR] + 2.0 * p[s + QUADRATIC] * y)


@kernel
def pair(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar, y: Scalar, w: Scalar) -> Pair:
    """Return -K(y) x - D v on x, and -K'(y) x^2 / 2 on y."""
    K, slope = stiffness(p, s, y)
    damped = p[s + DAMPING] * v
    return Pair(-(K * x) - damped, -0.5 * slope * x * x, damped * v)


@kernel
def energy(p: np.ndarray, s: int, x: Scalar, y: Scalar) -> Scalar:
    """Return K(y) x^2 / 2."""
    return 0.5 * stiffness(p, s, y)[0] * x * x


@built_in
@dataclass(frozen=True)
class VariableSpring(Element):
    """A spring between two joints, whose stiffness depends on a third.

    Parameters
    ----------
    joint : str or dict of str to float
        Joint, or factors of several joints whose sum replaces it.
    motor : str
        Joint at the other end of the spring.
    lever : str
        Joint whose coordinate y determines the stiffness.
    coefficients : array_like (3,)
        Coefficients k_0, k_1 and k_2 of the stiffness, of any sign.
    damping : float, optional
        Damping, N m s/rad or N s/m, >= 0.

    Notes
    -----
    The spring stores K(y) x^2 / 2 with x = q_joint - q_motor, y = q_lever and K = k_0 + k_1 y + k_2 y^2. Its effort
    is ``-K x - damping x'`` on x and ``-K'(y) x^2 / 2`` on y.
    """

    joint: Joints
    motor: str
    lever: str
    coefficients: tuple[float, float, float]
    damping: float = 0.0

    law: ClassVar[PairLaw] = PairLaw(4, pair, energy)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the joints, the lever, and four numbers.

        Raises ValueError if a joint does not exist or has several degrees of freedom, joint, motor and lever are not
        three different joints, or a number is not valid.
        """
        x, lever = robot.sum_of(self.joint, self, less=self.motor), robot.coordinate(self.lever, element=self)
        if lever[0] in x[1::COORDINATE]:
            raise ValueError(f"joint, motor and lever of {self} must be three")
        return [[*x, *lever[:2], *self.array("coefficients", 3), self.finite("damping", at_least=0.0)]]
