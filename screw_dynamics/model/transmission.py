"""Transmission: a matrix between actuators and joints, and the drives that it creates from motors."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils import checks

from .drive import Drive


@dataclass(frozen=True, eq=False)
class Transmission:
    """A transmission between m actuators and m joints that are coupled by a matrix.

    Parameters
    ----------
    name : str
        Name of the transmission.
    joints : tuple of str (m,)
        Names of the joints.
    actuators : tuple of str (m,)
        Names of the actuators.
    matrix : array_like (m, m)
        Invertible matrix from joints to actuators, rad/rad or rad/m.
    offset : array_like (m,)
        Positions of the joints if the actuators are at 0, rad or m.

    Raises
    ------
    ValueError
        If names are missing or repeated, the matrix is singular, or a shape is wrong. The message names the cause.

    Notes
    -----
    Actuator positions are x = matrix (q - offset) for joint positions q. Joint efforts are therefore matrix^T times
    actuator efforts: the transmission preserves power.
    """

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
            raise ValueError(f"{what} must have as many actuators as joints, each once, not actuators "
                             f"{', '.join(self.actuators) or 'none'} and joints {', '.join(self.joints) or 'none'}")
        matrix = np.array(checks.finite_numbers(f"{what}: matrix", self.matrix), dtype=float)
        if matrix.shape != (m, m) or np.linalg.matrix_rank(matrix) < m:
            raise ValueError(f"{what}: matrix {matrix.tolist()} must be ({m}, {m}) and invertible")
        offset = np.array(checks.vector(f"{what}: offset", self.offset, m), dtype=float)
        for name, x in (("matrix", matrix), ("offset", offset)):
            x.setflags(write=False)
            object.__setattr__(self, name, x)

    def actuator_positions(self, q: ArrayLike) -> np.ndarray:
        """Compute the actuator positions from joint positions.

        Parameters
        ----------
        q : array_like (..., m)
            Positions of the joints, rad or m.

        Returns
        -------
        ndarray (..., m)
            Positions of the actuators, rad or m.
        """
        return (self._given("q", q) - self.offset) @ self.matrix.T

    def joint_positions(self, x: ArrayLike) -> np.ndarray:
        """Compute the joint positions from actuator positions.

        Parameters
        ----------
        x : array_like (..., m)
            Positions of the actuators, rad or m.

        Returns
        -------
        ndarray (..., m)
            Positions of the joints, rad or m.
        """
        return self._given("x", x) @ np.linalg.inv(self.matrix).T + self.offset

    def actuator_velocities(self, qd: ArrayLike) -> np.ndarray:
        """Compute the actuator velocities or accelerations from those of the joints.

        Parameters
        ----------
        qd : array_like (..., m)
            Velocities or accelerations of the joints.

        Returns
        -------
        ndarray (..., m)
            Velocities of the actuators, rad/s or m/s, or accelerations.
        """
        return self._given("qd", qd) @ self.matrix.T

    def joint_velocities(self, xd: ArrayLike) -> np.ndarray:
        """Compute the joint velocities from those of the actuators.

        Parameters
        ----------
        xd : array_like (..., m)
            Velocities of the actuators, rad/s or m/s.

        Returns
        -------
        ndarray (..., m)
            Velocities of the joints, rad/s or m/s.
        """
        return self._given("xd", xd) @ np.linalg.inv(self.matrix).T

    def actuator_efforts(self, tau: ArrayLike) -> np.ndarray:
        """Compute the actuator efforts equivalent to joint efforts.

        Parameters
        ----------
        tau : array_like (..., m)
            Efforts on the joints, N m or N.

        Returns
        -------
        ndarray (..., m)
            Efforts of the actuators, N m or N.
        """
        return self._given("tau", tau) @ np.linalg.inv(self.matrix)

    def joint_efforts(self, u: ArrayLike) -> np.ndarray:
        """Compute the joint efforts from actuator efforts.

        Parameters
        ----------
        u : array_like (..., m)
            Efforts of the actuators, N m or N.

        Returns
        -------
        ndarray (..., m)
            Efforts on the joints, N m or N.
        """
        return self._given("u", u) @ self.matrix

    def _given(self, name, x):
        return checks.real_numbers(name, x, len(self.joints))

    def drives(self, motors: Mapping[str, Drive]) -> dict[str, Drive]:
        """Return the drives of the joints for Robot.with_drives from the motors of the actuators.

        Parameters
        ----------
        motors : dict of str to Drive
            Motor of each actuator, without ratio and coupling, which come from the matrix. Other parameters of the k-th
            actuator, such as its stiffness, are reflected to the k-th joint, behind the gear.

        Returns
        -------
        dict of str to Drive
            Drive of each joint.

        Raises
        ------
        ValueError
            If an actuator is unknown, its motor has a ratio or a coupling, or its own joint does not turn it. The
            message names the actuator.
        """
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
