"""Spring and damper between two points of links."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from screw_dynamics.numbers.scalars import sqrt
from screw_dynamics.numbers.values import Scalar, kernel
from screw_dynamics.screws.se3 import Pose, Twist, Wrench
from screw_dynamics.screws.vectors import Vec3, cross

from .element import Element, Robot, built_in
from .laws import LinkLaw, Push

POINT, OTHER, STIFFNESS, DAMPING, LENGTH = 0, 3, 6, 7, 8
TINY = 1e-24        # m^2: coincident points have no direction


@kernel
def vector(p: np.ndarray, s: int) -> Vec3:
    """Return the vector of three numbers."""
    return Vec3(p[s], p[s + 1], p[s + 2])


@kernel
def velocity(V: Twist, x: Vec3) -> Vec3:
    """Return the velocity of a body's point x in the frame of its twist."""
    return V.linear + cross(V.angular, x)


@kernel
def length_of(d: Vec3) -> Scalar:
    """Return the distance of two points."""
    return sqrt(d @ d + TINY)


@kernel
def push(p: np.ndarray, s: int, t: Scalar, A: Pose, U: Twist, B: Pose, V: Twist) -> Push:
    """Return the force -(K (l - l_0) + D l') d / l on the point of B, with d from the point of A to it, l = |d|."""
    a, b = A @ vector(p, s + OTHER), B @ vector(p, s + POINT)
    d = b - a
    length = length_of(d)
    rate = (d @ (velocity(V, b) - velocity(U, a))) / length
    force = (-(p[s + STIFFNESS] * (length - p[s + LENGTH]) + p[s + DAMPING] * rate) / length) * d
    return Push(Wrench(cross(b, force), force), p[s + DAMPING] * rate * rate)


@kernel
def energy(p: np.ndarray, s: int, A: Pose, B: Pose) -> Scalar:
    """Return K (l - l_0)^2 / 2."""
    stretch = length_of(B @ vector(p, s + POINT) - A @ vector(p, s + OTHER)) - p[s + LENGTH]
    return 0.5 * p[s + STIFFNESS] * stretch * stretch


@built_in
@dataclass(frozen=True)
class PointSpring(Element):
    """A spring and a damper along the line between points of two links.

    Parameters
    ----------
    link : str
        Link of the point.
    stiffness : float
        Stiffness, N/m, >= 0.
    damping : float, optional
        Damping, N s/m, >= 0.
    length : float, optional
        Distance of the points without spring force, m, >= 0.
    point : array_like (3,), optional
        Point, m, in the frame of `link`.
    other : str, optional
        Link of the other point. By default the root link.
    other_point : array_like (3,), optional
        Other point, m, in the frame of `other`.

    Notes
    -----
    The force ``stiffness (l - length) + damping l'`` attracts the points, where l is their distance.
    """

    link: str
    stiffness: float
    damping: float = 0.0
    length: float = 0.0
    point: tuple[float, ...] = (0.0, 0.0, 0.0)
    other: str | None = None
    other_point: tuple[float, ...] = (0.0, 0.0, 0.0)

    law: ClassVar[LinkLaw] = LinkLaw(9, push, energy)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the slots of both links, the points in the frames of bodies, and three numbers.

        Raises ValueError if a link does not exist, both links are the same, or a number is not valid.
        """
        other = robot.model.root if self.other is None else self.other
        here, there = robot.frame(self.link, self), robot.frame(other, self)
        if other == self.link:
            raise ValueError(f"link and other of {self} are the same")
        points = [x for frame, name in ((here, "point"), (there, "other_point"))
                  for x in frame.C @ Vec3(*self.array(name, 3))]
        return [[float(there.body), float(here.body), *points, self.finite("stiffness", at_least=0.0),
                 self.finite("damping", at_least=0.0), self.finite("length", at_least=0.0)]]
