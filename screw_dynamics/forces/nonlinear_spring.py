"""Nonlinear spring: hardening, piecewise linear, with backlash."""
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from screw_dynamics.model.drive import COEFFICIENTS, POINTS, Hardening, Table
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import Scalar, kernel, null, over

from .element import Element, Joints, Robot, built_in
from .laws import CoordinateLaw, Impedance

DAMPING, REST, PLAY, POLYNOMIAL = 0, 1, 2, 3
KNOTS = POLYNOMIAL + COEFFICIENTS
WIDTH = KNOTS + 2 * POINTS


@kernel
def depth(p: np.ndarray, s: int, x: Scalar) -> tuple[Scalar, Scalar]:
    """Return the deflection of the spring beyond its play, >= 0, and the distance of its ends."""
    away = x - p[s + REST]
    apart = where(away >= 0.0, away, -away)         # not abs, whose derivative at 0 is 0
    y = apart - 0.5 * p[s + PLAY]
    return where(y >= 0.0, y, null(x)), apart


@kernel
def torque(p: np.ndarray, s: int, y: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Return the torque sum k_i y^i + sum c_j max(y - y_j, 0) at a deflection y >= 0, its slope, and the energy."""
    f, slope, stored, y2 = null(y), null(y), null(y), y * y
    for i in range(COEFFICIENTS - 1, -1, -1):                       # Horner's rule in y^2
        k = p[s + POLYNOMIAL + i]
        f, slope, stored = f * y2 + k, slope * y2 + (2 * i + 1) * k, stored * y2 + k / (2 * i + 2)
    f, stored = f * y, stored * y2
    for j in range(POINTS):
        knot, c = p[s + KNOTS + j], p[s + KNOTS + POINTS + j]
        past = where(y >= knot, y - knot, null(y))
        f, slope, stored = f + c * past, slope + where(y >= knot, over(c, y), null(y)), stored + (0.5 * c) * past * past
    return f, slope, stored


@kernel
def impedance(p: np.ndarray, s: int, t: Scalar, x: Scalar, v: Scalar) -> Impedance:
    """Return -f(y) sign(x - rest) - D v, without torque and damping within the play."""
    y, apart = depth(p, s, x)
    f, slope, _ = torque(p, s, y)
    touches, none = apart >= 0.5 * p[s + PLAY], null(x)
    d = where(touches, over(p[s + DAMPING], v), null(v))
    return Impedance(where(x < p[s + REST], f, -f) - d * v, where(touches, slope, none), d)


@kernel
def energy(p: np.ndarray, s: int, x: Scalar) -> Scalar:
    """Return the energy, the integral of the torque over the deflection."""
    return torque(p, s, depth(p, s, x)[0])[2]


def numbers_of(spring: Hardening | Table, damping: float, rest: float, play: float) -> list[float]:
    """Return the numbers of a spring for the kernels."""
    coefficients, knots, slopes = [0.0] * COEFFICIENTS, [0.0] * POINTS, [0.0] * POINTS
    if isinstance(spring, Hardening):
        coefficients[:len(spring.coefficients)] = spring.coefficients
    else:
        points = list(pairwise([(0.0, 0.0), *zip(spring.deflections, spring.torques, strict=True)]))
        before = 0.0
        for j, ((x, f), (after, g)) in enumerate(points):
            slope = (g - f) / (after - x)
            knots[j], slopes[j], before = x, slope - before, slope
    return [damping, rest, play, *coefficients, *knots, *slopes]


@built_in
@dataclass(frozen=True)
class NonlinearSpring(Element):
    """A spring with any odd torque law and a damper, at a joint or between several.

    Parameters
    ----------
    joint : str or dict of str to float
        Joint, or factors of several joints whose sum ``x = sum factor q`` is the coordinate, as in Spring.
    spring : Hardening or Table
        Torque law f of the spring.
    damping : float, optional
        Damping, N m s/rad or N s/m, >= 0.
    rest : float, optional
        Coordinate x without effort of the spring, rad or m.
    play : float, optional
        Width of the range about `rest`, rad or m, >= 0, in which neither spring nor damper acts.

    See Also
    --------
    Spring : A linear spring.

    Notes
    -----
    The effort on x is ``-f(x - rest) - damping x'``.
    """

    joint: Joints
    spring: Hardening | Table
    damping: float = 0.0
    rest: float = 0.0
    play: float = 0.0

    law: ClassVar[CoordinateLaw] = CoordinateLaw(WIDTH, impedance, energy)

    def rows(self, robot: Robot) -> list[list[float]]:
        """Return one row with the joints and the numbers of the spring.

        Raises ValueError if the spring is not a Hardening or Table, a joint does not exist or is repeated, or a
        number is not valid.
        """
        if not isinstance(self.spring, (Hardening, Table)):
            raise ValueError(f"spring of {self} must be Hardening or Table")
        return [[*robot.sum_of(self.joint, self), *numbers_of(self.spring, self.finite("damping", at_least=0.0),
                                                              self.finite("rest"), self.finite("play", at_least=0.0))]]
