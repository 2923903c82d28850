"""Springs and dampers between points of two bodies, or of a body and the ground."""
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.screws.arrays import cross, times, transpose_times


@dataclass(frozen=True, eq=False)
class Spring:
    """A spring, with a damper along it, from a point of a body to a point of the ground or of another body.

    Parameters
    ----------
    body : str
        Name of the body.
    point : array_like (3,), optional
        Point of the body in the body's frame, in m. By default its origin.
    on : str, optional
        Name of the other body. By default the ground.
    point_on : array_like (3,), optional
        Point of the other body in its frame, or of the ground in the inertial frame, in m. By default the origin.
    stiffness : float, optional
        Stiffness in N/m.
    damping : float, optional
        Damping in N s/m, along the line between the points.
    length : float, optional
        Length at rest in m, which may be 0.
    """

    body: str
    point: ArrayLike = (0.0, 0.0, 0.0)
    on: str | None = None
    point_on: ArrayLike = (0.0, 0.0, 0.0)
    stiffness: float = 0.0
    damping: float = 0.0
    length: float = 0.0


class Springs:
    """All springs of a system of n bodies and the ground, whose number is n."""

    def __init__(self, springs: Sequence[Spring], number: dict[str | None, int]):
        self.count = len(springs)
        self.body, self.on = (np.array([number[getattr(s, name)] for s in springs], dtype=int)
                              for name in ("body", "on"))
        self.points = np.array([(s.point, s.point_on) for s in springs], dtype=float).reshape(-1, 2, 3)
        self.k, self.damping, self.rest = (np.array([getattr(s, name) for s in springs], dtype=float)
                                           for name in ("stiffness", "damping", "length"))

    def _spans(self, R, r):
        """Return the vectors (s, 3) from the points of the bodies to those of the others in the inertial frame, and
        their lengths."""
        ends = [r[i] + times(R[i], self.points[:, k]) for k, i in enumerate((self.body, self.on))]
        d = ends[1] - ends[0]
        return d, np.sqrt((d * d).sum(axis=-1))

    def wrenches(self, R: np.ndarray, r: np.ndarray, omega: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the wrenches (n + 1, 6) on all bodies, about and in their frames; arguments as in
        JointConstraints.rates."""
        d, length = self._spans(R, r)
        safe = np.where(length > 0.0, length, 1.0)
        tension = self.k * (1.0 - self.rest / safe * (length > 0.0))
        if self.damping.any():
            speeds = [velocity[i] + times(R[i], cross(omega[i], self.points[:, k]))
                      for k, i in enumerate((self.body, self.on))]
            tension = tension + self.damping * (d * (speeds[1] - speeds[0])).sum(axis=-1) / safe ** 2
        force, W = tension[:, None] * d, np.zeros((len(R), 6))
        for k, (i, f) in enumerate(((self.body, force), (self.on, -force))):
            f = transpose_times(R[i], f)
            np.add.at(W, i, np.concatenate((cross(self.points[:, k], f), f), axis=-1))
        return W

    def energy(self, R: np.ndarray, r: np.ndarray) -> float:
        """Return the energy, J."""
        return float(0.5 * self.k @ (self._spans(R, r)[1] - self.rest) ** 2) if self.count else 0.0
