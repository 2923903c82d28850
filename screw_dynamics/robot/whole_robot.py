"""What a robot is as a whole: mass, centre of mass, momentum and energy."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.algorithms.centroidal import CENTER_OF_MASS, CENTROIDAL_MOMENTUM_MATRIX
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.model.model import Model

from .evaluation import Evaluation, Out, Threads

empty = np.empty


class WholeRobot(Evaluation):
    """Methods about all links together."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._centroidal_momentum_matrix = self._of(CENTROIDAL_MOMENTUM_MATRIX)

    @property
    def total_mass(self) -> float:
        """The mass of all links, the root too, kg."""
        return float(self.model.inertias[:, 5, 5].sum() + self.model.root_inertia[5, 5])

    def center_of_mass(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The centre of mass (..., 3) of all links, the root too, in the root link's frame, m. NaN without mass."""
        return self._evaluate(self._of(CENTER_OF_MASS), {"q": q}, out, threads, self._root)

    def center_of_mass_jacobian(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The Jacobian (..., 3, n) of the centre of mass: J qd is its velocity in the root link's frame."""
        momentum = self.centroidal_momentum_matrix(q, threads=threads)
        return np.multiply(momentum[..., 3:, :], 1.0 / self.total_mass, out=out)

    def centroidal_momentum_matrix(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The matrix A (..., 6, n): A qd is the momentum of all bodies about the centre of mass, in the root link's
        axes.

        Angular rows first; by composite bodies, O(n), Orin and Goswami (2008)."""
        A = empty(self._twists) if out is None else out
        if self._centroidal_momentum_matrix.one(self._memory, self._root, q, A):
            return A
        return self._evaluate(self._centroidal_momentum_matrix, {"q": q}, out, threads, self._root)

    def centroidal_momentum(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The momentum (..., 6), angular and linear, of all bodies about the centre of mass, in the root link's axes.

        Without forces but gravity the angular part, N m s, is constant, and the linear part, N s, grows by weight times
        time: for a robot with a floating base in free fall."""
        A, qd = self.centroidal_momentum_matrix(q, threads=threads), checks.real_numbers("qd", qd, self.n)
        return np.add(np.einsum("...ij,...j->...i", A, qd), 0.0, out=out)

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The kinetic energy (...), J."""
        return self._number(self._of(KINETIC_ENERGY), {"q": q, "qd": qd}, out, threads)

    def potential_energy(self, q: ArrayLike, out: Out = None, threads: Threads = None) -> np.ndarray:
        """The potential energy (...) of all links, the root too; 0 where a mass lies at the root frame's origin, J."""
        return self._number(self._of(POTENTIAL_ENERGY), {"q": q}, out, threads)
