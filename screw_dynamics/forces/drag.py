"""Drag of a fluid on a moving link."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.scalars import sqrt
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.se3 import Pose, Twist, Wrench
from screw_dynamics.screws.vectors import Vec3, cross

from .element import Element, Robot, built_in
from .laws import LinkLaw, Push
from .point_spring import vector, velocity

POINT, FLOW, LINEAR, QUADRATIC, TURNING = 0, 3, 6, 7, 8
TINY = 1e-24        # m^2/s^2: a point at rest has no direction


@kernel
def push(p: np.ndarray, s: int, t: Scalar, A: Pose, U: Twist, B: Pose, V: Twist) -> Push:
    """Return -(c_1 + c_2 |u|) u at a point with the velocity u relative to the fluid, and the torque -c_t w."""
    x = B @ vector(p, s + POINT)
    u = velocity(V, x) - vector(p, s + FLOW)
    c = p[s + LINEAR] + p[s + QUADRATIC] * sqrt(u @ u + TINY)
    force, turning = (-c) * u, p[s + TURNING]
    return Push(Wrench(cross(x, force) - turning * V.angular, force),
                c * (u @ u) + turning * (V.angular @ V.angular))


@built_in
@dataclass(frozen=True)
class Drag(Element):
    """Drag of a fluid on a moving link.

    Parameters
    ----------
    link : str
        Link on which the drag acts.
    linear : float, optional
        Linear coefficient, N s/m, >= 0.
    quadratic : float, optional
        Quadratic coefficient, N s^2/m^2, >= 0: half of density times area times drag coefficient.
    turning : float, optional
        Coefficient of rotation, N m s/rad, >= 0.
    point : array_like (3,), optional
        Point at which the force acts, m, in the link's frame.
    flow : array_like (3,), optional
        Velocity of the fluid, m/s, in the root link's axes.

    Notes
    -----
    The force at the point is ``-(linear + quadratic |u|) u``, where u is the velocity of the point minus `flow`. The
    torque is ``-turning w``, where w is the link's angular velocity.
    """

    link: str
    linear: float = 0.0
    quadratic: float = 0.0
    turning: float = 0.0
    point: tuple[float, ...] = (0.0, 0.0, 0.0)
    flow: tuple[float, ...] = (0.0, 0.0, 0.0)

    law: ClassVar[LinkLaw] = LinkLaw(9, push)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the link's slot and the nine numbers.

        Raises ValueError if the link does not exist, or a number is not valid.
        """
        frame = robot.frame(self.link, self)
        return [[0.0, float(frame.body), *frame.C @ Vec3(*self.array("point", 3)), *self.array("flow", 3),
                 *(self.finite(name, at_least=0.0) for name in ("linear", "quadratic", "turning"))]]

    def mounted(self, prefix: str, root: str, R: np.ndarray) -> Drag:
        """Return the element of a robot with prefixed names, with the flow in the axes of another root."""
        return replace(super().mounted(prefix, root, R), flow=R @ self.array("flow", 3))    # type: ignore[type-var]
