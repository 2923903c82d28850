"""Springs and dampers in revolute and prismatic joints."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from screw_dynamics.screws.arrays import cross, times, transpose_times

from .constraints import angles
from .joints import Row


@dataclass(frozen=True)
class JointSpring:
    """A spring with a damper in a revolute or prismatic joint.

    Parameters
    ----------
    joint : str
        Name of the joint.
    stiffness : float, optional
        Stiffness in N m/rad or N/m.
    damping : float, optional
        Damping in N m s/rad or N s/m.
    rest : float, optional
        Angle at rest in rad, or displacement at rest in m. It is 0 where the two frames of the joint coincide.

    Notes
    -----
    Angles are taken within half a turn from rest.
    """

    joint: str
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0


class JointSprings:
    """All springs in joints. axes: {joint: (its Row along z, True if it slides)}.

    Raises ValueError for joints that do not exist or are of another kind."""

    def __init__(self, springs: Sequence[JointSpring], axes: Mapping[str, tuple[Row, bool]]):
        self.count = len(springs)
        for spring in springs:
            if spring.joint not in axes:
                raise ValueError(f"spring in joint {spring.joint!r}: no revolute or prismatic joint has this name; "
                                 f"there are {', '.join(map(repr, axes)) or 'none'}")
        rows = [axes[spring.joint][0] for spring in springs]
        self.slides = np.array([axes[spring.joint][1] for spring in springs], dtype=bool)
        self.body, self.on = (np.array([getattr(row, name) for row in rows], dtype=int) for name in ("body", "on"))
        self.u, self.c, self.o = (np.array([getattr(row, name) for row in rows]).reshape(-1, 3) for name in "uco")
        self.across = np.array([row.across for row in rows]).reshape(-1, 2, 2, 3)
        self.k, self.damping, self.rest = (np.array([getattr(s, name) for s in springs], dtype=float)
                                           for name in ("stiffness", "damping", "rest"))

    def _arms(self, R, r):
        """Return u in the inertial frame, and the vector from the joint frame's origin in the other body to that in the
        body."""
        Ra, Rb = R[self.on], R[self.body]
        return times(Ra, self.u), r[self.body] + times(Rb, self.c) - r[self.on] - times(Ra, self.o)

    def _stretch(self, R, U, d):
        angle = angles(self, R) - self.rest
        angle -= 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
        return np.where(self.slides, (U * d).sum(axis=-1) - self.rest, angle)

    def wrenches(self, R: np.ndarray, r: np.ndarray, omega: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the wrenches (n + 1, 6) on all bodies, about and in their frames; arguments as in
        JointConstraints.rates."""
        Ra, Rb = R[self.on], R[self.body]
        U, d = self._arms(R, r)
        spin_on, spin = times(Ra, omega[self.on]), times(Rb, omega[self.body])
        speed = (velocity[self.body] + cross(spin, times(Rb, self.c))
                 - velocity[self.on] - cross(spin_on, times(Ra, self.o)) - cross(spin_on, d))
        rate = (U * np.where(self.slides[:, None], speed, spin - spin_on)).sum(axis=-1)
        effort = -self.k * self._stretch(R, U, d) - self.damping * rate
        along, W = effort[:, None] * transpose_times(Rb, U), np.zeros((len(R), 6))
        along_on, arm_on = -effort[:, None] * self.u, self.o + transpose_times(Ra, d)
        for i, f, arm in ((self.body, along, self.c), (self.on, along_on, arm_on)):
            pushes = np.concatenate((cross(arm, f), f), axis=-1)
            turns = np.concatenate((f, np.zeros_like(f)), axis=-1)
            np.add.at(W, i, np.where(self.slides[:, None], pushes, turns))
        return W

    def energy(self, R: np.ndarray, r: np.ndarray) -> float:
        """Return the energy, J."""
        return float(0.5 * self.k @ self._stretch(R, *self._arms(R, r)) ** 2) if self.count else 0.0
