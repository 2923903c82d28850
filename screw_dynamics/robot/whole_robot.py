"""Quantities of a robot as a whole: mass, center of mass, momentum and energy."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.algorithms.centroidal import (
    CENTER_OF_MASS,
    CENTROIDAL_MOMENTUM_MATRIX,
    CENTROIDAL_MOMENTUM_MATRIX_DERIVATIVE,
    CENTROIDAL_MOMENTUM_RATE,
    COMPOSITE_INERTIA,
)
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.foreign_arrays import any_foreign
from screw_dynamics.model.model import Model

from .evaluation import Evaluation, Out, Threads


class WholeRobot(Evaluation):
    """Methods about all links together."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        (self._centroidal_momentum_matrix, self._centroidal_momentum_matrix_derivative,
         self._centroidal_momentum_rate) = map(self._of, (
             CENTROIDAL_MOMENTUM_MATRIX, CENTROIDAL_MOMENTUM_MATRIX_DERIVATIVE, CENTROIDAL_MOMENTUM_RATE))

    @property
    def total_mass(self) -> float:
        """The mass of all links, the root too, kg."""
        return float(self.model.inertias[:, 5, 5].sum() + self.model.root_inertia[5, 5])

    def center_of_mass(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The center of mass (..., 3) of all links, the root too, in the root link's frame, m. NaN without mass."""
        return self._evaluate(self._of(CENTER_OF_MASS), {"q": q}, out, threads, self._root)

    def center_of_mass_jacobian(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The Jacobian (..., 3, n) of the center of mass: J qd is its velocity in the root link's frame."""
        momentum = self.centroidal_momentum_matrix(q, threads=threads)
        return self._per_mass(momentum[..., 3:, :], out)

    def center_of_mass_velocity(self, q: ArrayLike, qd: ArrayLike, out: Out = None,
                                threads: Threads = None) -> np.ndarray:
        """The velocity (..., 3) of the center of mass in the root link's frame, m/s."""
        return self._per_mass(self.centroidal_momentum(q, qd, threads=threads)[..., 3:], out)

    def center_of_mass_acceleration(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike | None = None, out: Out = None,
                                    threads: Threads = None) -> np.ndarray:
        """The acceleration (..., 3) J qdd + J' qd of the center of mass in the root link's frame, m/s^2; the part J' qd
        alone without qdd."""
        return self._per_mass(self.centroidal_momentum_rate(q, qd, qdd, threads=threads)[..., 3:], out)

    def _per_mass(self, x, out):
        """x / total_mass; NaN without mass."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return checks.filled(out, np.divide(x, self.total_mass))

    def composite_inertia(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The inertia (..., 6, 6) of all links, the root too, about the center of mass, in the root link's axes: that
        of the robot with its joints locked."""
        return self._evaluate(self._of(COMPOSITE_INERTIA), {"q": q}, out, threads, self._root)

    def average_twist(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The twist (..., 6), angular velocity and velocity of the center of mass, in the root link's axes, with which
        the robot with its joints locked has the same centroidal momentum; Orin and Goswami (2008).

        Where no inertia resists some rotation, it has none about that axis."""
        if any_foreign((q, qd)):
            return self._method_on("average_twist", {"q": q, "qd": qd}, ("twist",), (6,), out=out, threads=threads)
        momentum, M = self.centroidal_momentum(q, qd, threads=threads), self.composite_inertia(q, threads=threads)
        lost = ~np.isfinite(M).all(axis=(-2, -1), keepdims=True)        # which pinv refuses, for a whole batch
        inverse = np.where(lost, np.nan, np.linalg.pinv(np.where(lost, 0.0, M)[..., :3, :3], hermitian=True))
        angular = np.einsum("...ij,...j->...i", inverse, momentum[..., :3])
        return checks.filled(out, np.concatenate([angular, self._per_mass(momentum[..., 3:], None)], axis=-1))

    def centroidal_momentum_matrix(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The matrix A (..., 6, n): A qd is the momentum of all bodies about the center of mass, in the root link's
        axes.

        Angular rows first; by composite bodies, O(n), Orin and Goswami (2008)."""
        A = self._centroidal_momentum_matrix(self._root, q, out, threads)
        return A if A is not None else self._evaluate(
            self._centroidal_momentum_matrix, {"q": q}, out, threads, self._root)

    def centroidal_momentum(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The momentum (..., 6), angular and linear, of all bodies about the center of mass, in the root link's axes.

        Without forces but gravity the angular part, N m s, is constant, and the linear part, N s, grows by weight times
        time: for a robot with a floating base in free fall."""
        if any_foreign((q, qd)):
            return self._method_on("centroidal_momentum", {"q": q, "qd": qd}, ("momentum",), (6,), out=out,
                                   threads=threads)
        A, qd = self.centroidal_momentum_matrix(q, threads=threads), checks.real_numbers("qd", qd, self.n)
        return checks.filled(out, np.einsum("...ij,...j->...i", A, qd))

    def centroidal_momentum_matrix_derivative(self, q: ArrayLike, qd: ArrayLike, out: Out = None,
                                              threads: Threads = None) -> np.ndarray:
        """The time derivative A' (..., 6, n) of the matrix of `centroidal_momentum_matrix` along qd, O(n)."""
        Ad = self._centroidal_momentum_matrix_derivative(self._root, q, qd, out, threads)
        return Ad if Ad is not None else self._evaluate(
            self._centroidal_momentum_matrix_derivative, {"q": q, "qd": qd}, out, threads, self._root)

    def centroidal_momentum_rate(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike | None = None, out: Out = None,
                                 threads: Threads = None) -> np.ndarray:
        """The rate of change (..., 6) A qdd + A' qd of the centroidal momentum, N m and N; the part A' qd alone without
        qdd.

        For a robot with a floating base it is the sum of the wrenches of its surroundings about the center of mass, its
        weight too."""
        qdd = np.zeros(self.n) if qdd is None else qdd
        rate = self._centroidal_momentum_rate(self._root, q, qd, qdd, out, threads)
        return rate if rate is not None else self._evaluate(
            self._centroidal_momentum_rate, {"q": q, "qd": qd, "qdd": qdd}, out, threads, self._root)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The kinetic energy (...), J."""
        return self._number(self._of(KINETIC_ENERGY), {"q": q, "qd": qd}, out, threads)

    def potential_energy(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The potential energy (...) of all links, the root too; 0 where a mass lies at the root frame's origin, J."""
        return self._number(self._of(POTENTIAL_ENERGY), {"q": q}, out, threads)
