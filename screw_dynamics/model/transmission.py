"""Transmission: how actuators and joints move together, by a matrix; and the drives that it makes of motors."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks

from .drive import Drive


@dataclass(frozen=True, eq=False)
class Transmission:
    """Actuators are at x = matrix (q - offset) while joints are at q, and so their efforts on the joints are matrix^T
    times their own: what they do is what the joints get.

    name; joints and actuators, m names each; matrix (m, m), which has an inverse, rad/rad or rad/m; offset (m,), where
    joints are while the actuators are at 0, rad or m. ValueError names what cannot be."""

    name: str
    joints: tuple[str, ...]
    actuators: tuple[str, ...]
    matrix: np.ndarray
    offset: np.ndarray

    def __post_init__(self) -> None:
        what = f"transmission {self.name!r}"
        for which in ("joints", "actuators"):
            names = getattr(self, which)
            if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
                raise ValueError(f"{what}: {which} must be names, not {checks.described(names)}")
            object.__setattr__(self, which, tuple(names))
        m = len(self.joints)
        if len({*self.joints}) < m or len({*self.actuators}) < m or len(self.actuators) != m or not m:
            raise ValueError(f"{what} must have as many actuators as joints, each once: it has "
                             f"{', '.join(self.actuators) or 'none'}, and {', '.join(self.joints) or 'none'}")
        matrix = np.array(checks.finite_numbers(f"{what}: matrix", self.matrix), dtype=float)
        if matrix.shape != (m, m) or np.linalg.matrix_rank(matrix) < m:
            raise ValueError(f"{what}: matrix {matrix.tolist()} must be ({m}, {m}), and have an inverse")
        offset = np.array(checks.vector(f"{what}: offset", self.offset, m), dtype=float)
        for name, x in (("matrix", matrix), ("offset", offset)):
            x.setflags(write=False)
            object.__setattr__(self, name, x)

    def actuator_positions(self, q: ArrayLike) -> np.ndarray:
        """Positions (..., m) of the actuators, rad or m, while the joints are at q (..., m)."""
        return (self._given("q", q) - self.offset) @ self.matrix.T

    def joint_positions(self, x: ArrayLike) -> np.ndarray:
        """Positions (..., m) of the joints while the actuators are at x (..., m)."""
        return self._given("x", x) @ np.linalg.inv(self.matrix).T + self.offset

    def actuator_velocities(self, qd: ArrayLike) -> np.ndarray:
        """Velocities (..., m) of the actuators, rad/s or m/s, of those of joints qd (..., m); so of accelerations."""
        return self._given("qd", qd) @ self.matrix.T

    def joint_velocities(self, xd: ArrayLike) -> np.ndarray:
        """Velocities (..., m) of the joints of those of actuators xd (..., m)."""
        return self._given("xd", xd) @ np.linalg.inv(self.matrix).T

    def actuator_efforts(self, tau: ArrayLike) -> np.ndarray:
        """Efforts (..., m) of the actuators, N m or N, that are tau (..., m) on the joints."""
        return self._given("tau", tau) @ np.linalg.inv(self.matrix)

    def joint_efforts(self, u: ArrayLike) -> np.ndarray:
        """Efforts (..., m) on the joints of actuators whose own are u (..., m)."""
        return self._given("u", u) @ self.matrix

    def _given(self, name, x):
        return checks.real_numbers(name, x, len(self.joints))

    def drives(self, motors: Mapping[str, Drive]) -> dict[str, Drive]:
        """{joint: Drive} for Robot.with_drives, of motors {actuator: Drive}, which have no ratio and no coupling: these
        come from the matrix. What the k-th actuator has besides, a stiffness say, is behind the gear, as the k-th joint
        feels it. ValueError names an actuator that is none of these, or whose own joint does not turn it."""
        found = {}
        for actuator, drive in motors.items():
            what = f"transmission {self.name!r}: actuator {actuator!r}"
            if actuator not in self.actuators:
                raise ValueError(f"{what} is none of {', '.join(self.actuators)}")
            if not isinstance(drive, Drive) or drive.ratio != 1.0 or drive.coupling:
                raise ValueError(f"{what}: {checks.described(drive)} must be a Drive without ratio and coupling")
            k = self.actuators.index(actuator)
            row, joint = self.matrix[k].tolist(), self.joints[k]
            if row[k] == 0.0:
                raise ValueError(f"{what} is not turned by joint {joint!r}")
            found[joint] = replace(drive, ratio=row[k], coupling={
                other: factor / row[k] for other, factor in zip(self.joints, row, strict=True)
                if factor != 0.0 and other != joint})
        return found
