"""Joint friction: viscous, Coulomb and Stribeck."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.algorithms.friction import resistance
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import Scalar, kernel, null, over

from .element import Element, Joints, Robot, built_in
from .laws import CoordinateLaw, Impedance

DAMPING, COULOMB, BREAKAWAY, RATE = range(4)


@kernel
def impedance(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar) -> Impedance:
    """Return -d v - F(v) sign(v), linear within STICTION of rest, with F = F_C + (F_B - F_C) / (1 + (v / v_S)^2)."""
    ratio = v / p[s + RATE]
    dry = p[s + COULOMB] + (p[s + BREAKAWAY] - p[s + COULOMB]) / (1.0 + ratio * ratio)
    d = resistance(p[s + DAMPING], dry, v)
    return Impedance(-(d * v), null(v), d)


@built_in
@dataclass(frozen=True)
class Friction(Element):
    """Joint friction: viscous, Coulomb and Stribeck.

    Parameters
    ----------
    joint : str or dict of str to float
        Joint, or factors of several joints. The friction acts on the sum ``x = sum factor q``.
    damping : float, optional
        Viscous friction, N m s/rad or N s/m, >= 0.
    coulomb : float, optional
        Coulomb friction F at high speed, N m or N, >= 0.
    breakaway : float, optional
        Breakaway friction F at rest, N m or N, >= coulomb. By default it is `coulomb`: F is constant.
    stribeck : float, optional
        Stribeck velocity v_S, of the decrease of dry friction, rad/s or m/s, > 0.

    Notes
    -----
    The effort is ``-damping v - F(v) sign(v)`` with v = x'. F decreases from `breakaway` to `coulomb` with
    1 / (1 + (v / v_S)^2), by Hess and Soom.

    Within 1e-3 rad/s or m/s of rest the sign is linear: the joint creeps. The Coulomb friction of the robot's model
    has true stiction instead.

    References
    ----------
    D. P. Hess and A. Soom (1990).
    """

    joint: Joints
    damping: float = 0.0
    coulomb: float = 0.0
    breakaway: float | None = None
    stribeck: float = 0.01

    law: ClassVar[CoordinateLaw] = CoordinateLaw(4, impedance)

    @property
    def is_dry(self) -> bool:
        """True if the element has Coulomb or breakaway friction."""
        return self.coulomb != 0.0 or bool(self.breakaway)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the joint and the four numbers.

        Raises ValueError if a joint does not exist or has several degrees of freedom, or a number is not valid.
        """
        coulomb = self.finite("coulomb", at_least=0.0)
        breakaway = coulomb if self.breakaway is None else self.finite("breakaway", at_least=coulomb)
        return [[*robot.sum_of(self.joint, self), self.finite("damping", at_least=0.0), coulomb, breakaway,
                 self.finite("stribeck", more_than=0.0)]]


@kernel
def signed(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar) -> Impedance:
    """Return -d v - F sign(v), where the sign of 0 is 0."""
    none, d, dry = null(v), over(p[s + DAMPING], v), over(p[s + COULOMB], v)
    return Impedance(-(d * v) - where(v > 0.0, dry, where(v < 0.0, -dry, none)), none, d)


@dataclass(frozen=True)
class ModelFriction(Element):
    """Damping and Coulomb friction of the robot's model, in all joints.

    Notes
    -----
    It is the friction of ``friction=True``, except that a rollout has stiction. Here dry friction is 0 at rest.
    """

    law: ClassVar[CoordinateLaw] = CoordinateLaw(2, signed)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return a row for each velocity with damping or friction."""
        model = robot.model
        return [[1.0, float(k), float(model.q_indices[k]), 1.0, d, dry]
                for k, (d, dry) in enumerate(zip(model.damping.tolist(), self.dry(robot), strict=True))
                if d != 0.0 or dry != 0.0]

    def dry(self, robot: Robot) -> list[float]:
        """Return the Coulomb friction of each velocity.

        Parameters
        ----------
        robot : Robot
            Model and frames of the robot.

        Returns
        -------
        list of float
            Coulomb friction of each velocity, N m or N.
        """
        return robot.model.friction.tolist()


@dataclass(frozen=True)
class ModelDamping(ModelFriction):
    """Damping of the robot's model, without Coulomb friction."""

    @property
    def name(self) -> str:
        """The name of the law of ModelFriction."""
        return ModelFriction.__name__

    def dry(self, robot: Robot) -> list[float]:
        """Return zero Coulomb friction."""
        return [0.0] * robot.model.n
