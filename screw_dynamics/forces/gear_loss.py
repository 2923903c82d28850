"""Load-dependent gear friction: a share of the transmitted torque."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.algorithms.friction import resistance
from screw_dynamics.model.drive import Hardening, Table
from screw_dynamics.numbers.values import Scalar, kernel, null

from .element import Element, Joints, Robot, built_in
from .laws import Pair, PairLaw
from .nonlinear_spring import WIDTH, depth, numbers_of, torque

LOSS = WIDTH


@kernel
def pair(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar, y: Scalar, w: Scalar) -> Pair:
    """Return -loss f(|x|) sign(w) on the motor, linear within STICTION of rest."""
    f, _, _ = torque(p, s, depth(p, s, x)[0])
    d = resistance(null(w), p[s + LOSS] * f, w)
    return Pair(null(w), -(d * w), d * w * w)


@built_in
@dataclass(frozen=True)
class GearLoss(Element):
    """Gear friction that is proportional to the torque of the spring between a motor and its joint.

    Parameters
    ----------
    joint : str or dict of str to float
        Joint behind the gear, or factors of several joints whose sum replaces it.
    motor : str
        Joint of the motor, on which the friction acts.
    spring : Hardening or Table
        Torque law f of the spring.
    loss : float
        Lost share of the spring's torque, 0 <= loss < 1.
    play : float, optional
        Play of the spring, as in NonlinearSpring, >= 0.

    See Also
    --------
    NonlinearSpring : The spring itself.

    Notes
    -----
    The effort on the motor is ``-loss f(|q_joint - q_motor|) sign(q_motor')``. Within 1e-3 rad/s or m/s of rest the
    sign is linear.
    """

    joint: Joints
    motor: str
    spring: Hardening | Table
    loss: float
    play: float = 0.0

    law: ClassVar[PairLaw] = PairLaw(WIDTH + 1, pair)

    @property
    def is_dry(self) -> bool:
        """True if the torque has a kink at rest."""
        return self.loss != 0.0

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the joints, the motor, the numbers of the spring, and the loss.

        Raises ValueError if the spring is not a Hardening or Table, a joint does not exist or is repeated, or a
        number is not valid.
        """
        if not isinstance(self.spring, (Hardening, Table)):
            raise ValueError(f"spring of {self} must be Hardening or Table")
        if not (loss := self.finite("loss", at_least=0.0)) < 1.0:
            raise ValueError(f"loss of {self} must be < 1")
        x, motor = robot.sum_of(self.joint, self, less=self.motor), robot.coordinate(self.motor, element=self)
        return [[*x, *motor[:2], *numbers_of(self.spring, 0.0, 0.0, self.finite("play", at_least=0.0)), loss]]
