"""Quantities of a robot as a whole: mass, center of mass, momentum and energy."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.centroidal import (
    CENTER_OF_MASS,
    CENTROIDAL_MOMENTUM_MATRIX,
    CENTROIDAL_MOMENTUM_MATRIX_DERIVATIVE,
    CENTROIDAL_MOMENTUM_RATE,
    COMPOSITE_INERTIA,
)
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.model.model import Model
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import any_foreign

from .evaluation import Evaluation, Out, Threads


class WholeRobot(Evaluation):
    """Methods for the robot as a whole."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        (self._centroidal_momentum_matrix, self._centroidal_momentum_matrix_derivative,
         self._centroidal_momentum_rate) = map(self._of, (
             CENTROIDAL_MOMENTUM_MATRIX, CENTROIDAL_MOMENTUM_MATRIX_DERIVATIVE, CENTROIDAL_MOMENTUM_RATE))

    @property
    def total_mass(self) -> float:
        """The mass of all links, including the root, kg."""
        return float(self.model.inertias[:, 5, 5].sum() + self.model.root_inertia[5, 5])

    def center_of_mass(self, q: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the center of mass of all links, including the root.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        out : ndarray (..., 3), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 3)
            Positions in the root link's frame, m; NaN without mass.
        """
        return self._evaluate(self._of(CENTER_OF_MASS), {"q": q}, out, threads, self._root)

    def center_of_mass_jacobian(self, q: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the Jacobian J of the center of mass: J qd is its velocity.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        out : ndarray (..., 3, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 3, n)
            Jacobians, in the root link's frame.
        """
        momentum = self.centroidal_momentum_matrix(q, threads=threads)
        return self._per_mass(momentum[..., 3:, :], out)

    def center_of_mass_velocity(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None,
                                threads: Threads = None) -> np.ndarray:
        """Compute the velocity of the center of mass.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., 3), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 3)
            Velocities in the root link's frame, m/s.
        """
        return self._per_mass(self.centroidal_momentum(q, qd, threads=threads)[..., 3:], out)

    def center_of_mass_acceleration(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike | None = None, *, out: Out = None,
                                    threads: Threads = None) -> np.ndarray:
        """Compute the acceleration of the center of mass.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n), optional
            Accelerations, rad/s^2 or m/s^2. Without them the result is J' qd.
        out : ndarray (..., 3), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 3)
            Accelerations J qdd + J' qd in the root link's frame, m/s^2.
        """
        return self._per_mass(self.centroidal_momentum_rate(q, qd, qdd, threads=threads)[..., 3:], out)

    def _per_mass(self, x, out):
        """Return x / total_mass; NaN without mass."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return checks.filled(out, np.divide(x, self.total_mass))

    def composite_inertia(self, q: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the inertia of the robot with its joints locked.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        out : ndarray (..., 6, 6), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 6, 6)
            Inertia of all links, including the root, about the center of mass, in the root link's axes.
        """
        return self._evaluate(self._of(COMPOSITE_INERTIA), {"q": q}, out, threads, self._root)

    def average_twist(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the average twist: that of the robot with locked joints and the same centroidal momentum.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., 6), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 6)
            Angular velocity, rad/s, and velocity of the center of mass, m/s, in the root link's axes.

        Notes
        -----
        About an axis without inertia the twist is 0.

        References
        ----------
        Orin and Goswami (2008).
        """
        if any_foreign((q, qd)):
            return self._method_on("average_twist", {"q": q, "qd": qd}, ("twist",), (6,), out=out, threads=threads)
        momentum, M = self.centroidal_momentum(q, qd, threads=threads), self.composite_inertia(q, threads=threads)
        lost = ~np.isfinite(M).all(axis=(-2, -1), keepdims=True)        # pinv would raise for the whole batch
        inverse = np.where(lost, np.nan, np.linalg.pinv(np.where(lost, 0.0, M)[..., :3, :3], hermitian=True))
        angular = np.einsum("...ij,...j->...i", inverse, momentum[..., :3])
        return checks.filled(out, np.concatenate([angular, self._per_mass(momentum[..., 3:], None)], axis=-1))

    def centroidal_momentum_matrix(self, q: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the matrix A that maps velocities to the centroidal momentum A qd.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        out : ndarray (..., 6, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 6, n)
            Matrix of the momentum of all bodies about the center of mass, in the root link's axes, angular rows first.

        Notes
        -----
        The algorithm uses composite rigid bodies, O(n).

        References
        ----------
        Orin and Goswami (2008).
        """
        A = self._centroidal_momentum_matrix(self._root, q, out, threads)
        return A if A is not None else self._evaluate(
            self._centroidal_momentum_matrix, {"q": q}, out, threads, self._root)

    def centroidal_momentum(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None,
                            threads: Threads = None) -> np.ndarray:
        """Compute the momentum of all bodies about the center of mass.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., 6), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 6)
            Angular momentum, N m s, and linear momentum, N s, in the root link's axes.

        Notes
        -----
        For a robot with a floating base in free fall, with no force but gravity, the angular part is constant, and the
        linear part grows by weight times time.
        """
        if any_foreign((q, qd)):
            return self._method_on("centroidal_momentum", {"q": q, "qd": qd}, ("momentum",), (6,), out=out,
                                   threads=threads)
        A, qd = self.centroidal_momentum_matrix(q, threads=threads), checks.real_numbers("qd", qd, self.n)
        return checks.filled(out, np.einsum("...ij,...j->...i", A, qd))

    def centroidal_momentum_matrix_derivative(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None,
                                              threads: Threads = None) -> np.ndarray:
        """Compute the time derivative of ``centroidal_momentum_matrix`` along qd.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., 6, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 6, n)
            Derivative A'.

        Notes
        -----
        The cost is O(n).
        """
        Ad = self._centroidal_momentum_matrix_derivative(self._root, q, qd, out, threads)
        return Ad if Ad is not None else self._evaluate(
            self._centroidal_momentum_matrix_derivative, {"q": q, "qd": qd}, out, threads, self._root)

    def centroidal_momentum_rate(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike | None = None, *, out: Out = None,
                                 threads: Threads = None) -> np.ndarray:
        """Compute the rate of change of the centroidal momentum.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n), optional
            Accelerations, rad/s^2 or m/s^2. Without them the result is A' qd.
        out : ndarray (..., 6), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 6)
            Rate A qdd + A' qd, N m and N.

        Notes
        -----
        For a robot with a floating base it is the sum of the external wrenches about the center of mass, including
        its weight.
        """
        qdd = np.zeros(self.n) if qdd is None else qdd
        rate = self._centroidal_momentum_rate(self._root, q, qd, qdd, out, threads)
        return rate if rate is not None else self._evaluate(
            self._centroidal_momentum_rate, {"q": q, "qd": qd, "qdd": qdd}, out, threads, self._root)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the kinetic energy.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (...), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (...)
            Kinetic energy, J.
        """
        return self._number(self._of(KINETIC_ENERGY), {"q": q, "qd": qd}, out, threads)

    def potential_energy(self, q: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the potential energy of all links, including the root.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        out : ndarray (...), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (...)
            Potential energy, J; it is 0 for a mass at the root frame's origin.
        """
        return self._number(self._of(POTENTIAL_ENERGY), {"q": q}, out, threads)
