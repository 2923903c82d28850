"""Inertial parameters of a robot, and regressors, which are linear in them."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.regressor import KINETIC_ENERGY_REGRESSOR, POTENTIAL_ENERGY_REGRESSOR, TORQUE_REGRESSOR
from screw_dynamics.model.floating_base import velocity_names
from screw_dynamics.model.inertial_parameters import FRICTION_NAMES
from screw_dynamics.model.model import Model
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import any_foreign

from .dynamics import Dynamics
from .evaluation import Out, Threads


class RobotLimits(NamedTuple):
    """Limits of all joints, (n,) each: lower and upper positions, rad or m, velocities and efforts; infinite if
    unlimited."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


class InertialParameters(Dynamics):
    """Methods for inertial parameters (10 b,) of the b bodies of the model.

    They are, for each body, the mass, the first moments mx my mz = mass times center of mass, and the rotational
    inertia xx xy yy xz yz zz about the origin of the link's frame, in the frame of the link, in the order of Pinocchio;
    kg, kg m and kg m^2. Links that are fixed to another are part of it. The root link has no parameters: it does not
    move, and efforts do not depend on it. All bodies of a Lie-group joint but the last, which is the link, have zero
    parameters and columns."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._torque_regressor = self._of(TORQUE_REGRESSOR)
        self._weightless: list[InertialParameters] = []         # this robot without gravity, computed on demand
        self._regressor_shape = self.n, len(model.inertial_parameters)

    @property
    def inertial_parameters(self) -> np.ndarray:
        """The inertial parameters (10 b,): torque_regressor @ inertial_parameters + armature * qdd =
        inverse_dynamics."""
        return self.model.inertial_parameters

    @property
    def limits(self) -> RobotLimits:
        """The limits of the model's joints."""
        model = self.model
        return RobotLimits(model.lower, model.upper, model.velocity_limit, model.effort_limit)

    @property
    def armature(self) -> np.ndarray:
        """The armature (n,) of the joints, kg m^2 or kg: the inertia of a motor's rotor times the gear ratio squared.
        Every method of dynamics includes it."""
        return self.model.armature

    @property
    def inertial_parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters: <link>.mass, <link>.mx, ..., <link>.zz for each body."""
        return self.model.inertial_parameter_names

    @property
    def friction_parameters(self) -> np.ndarray:
        """The parameters (3 n,) of the columns for friction=True: damping, Coulomb friction and armature of each
        joint."""
        model = self.model
        return np.stack([model.damping, model.friction, model.joint_inertia], axis=-1).ravel()

    @property
    def friction_parameter_names(self) -> tuple[str, ...]:
        """The names of the friction parameters: <joint>.damping, <joint>.friction, <joint>.armature."""
        return tuple(f"{joint}.{name}" for joint in velocity_names(self.model) for name in FRICTION_NAMES)

    def torque_regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, friction: bool = False, *, out: Out = None,
                         threads: Threads = None) -> np.ndarray:
        """Compute the matrix Y that maps inertial parameters to efforts.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        friction : bool, optional
            If true, append three columns for each velocity; see Notes.
        out : ndarray (..., n, 10 b), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n, 10 b)
            Derivative of the efforts by the parameters; (..., n, 10 b + 3 n) with ``friction``.

        Notes
        -----
        Y depends on the state only: Y @ inertial_parameters = inverse_dynamics(q, qd, qdd) without armature.

        With ``friction`` the columns of viscous damping, Coulomb friction and armature of each velocity contain qd,
        sign(qd) and qdd in its row. The product with inertial_parameters and friction_parameters is then
        inverse_dynamics + friction_torque.
        """
        if friction is False or not checks.flag("friction", friction):
            Y = self._torque_regressor(self._root, q, qd, qdd, out, threads)
            return Y if Y is not None else self._evaluate(
                self._torque_regressor, {"q": q, "qd": qd, "qdd": qdd}, out, threads, self._root)
        if any_foreign((q, qd, qdd)):
            given, (n, columns) = {"q": q, "qd": qd, "qdd": qdd}, self._regressor_shape
            return self._method_on("torque_regressor", given, ("joint", "parameter"),
                                   (n, columns + len(FRICTION_NAMES) * n), out=out, threads=threads, friction=True)
        q, qd, qdd = checks.broadcast({"q": checks.real_numbers("q", q, self.nq),
                                       "qd": checks.real_numbers("qd", qd, self.n),
                                       "qdd": checks.real_numbers("qdd", qdd, self.n)})
        n, columns = self._regressor_shape
        of_links, of_joints = self.torque_regressor(q, qd, qdd, threads=threads), np.stack(
            [qd, np.sign(qd), qdd], axis=-1)                                    # both before `out`, which may be q
        Y = checks.result_array(out, (*qd.shape[:-1], n, columns + len(FRICTION_NAMES) * n))
        Y[..., :columns] = of_links
        Y[..., columns:] = np.einsum("ij,...ik->...ijk", np.eye(n), of_joints).reshape(
            *qd.shape, len(FRICTION_NAMES) * n)
        return Y

    def momentum_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None,
                           threads: Threads = None) -> np.ndarray:
        """Compute the matrix that maps inertial parameters to the generalized momentum M(q) qd.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., n, 10 b), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n, 10 b)
            Matrix whose product with inertial_parameters is M(q) qd without armature.

        Notes
        -----
        For a floating base its six rows are the momentum of the whole robot about the base's origin, in its frame.
        """
        if any_foreign((q, qd)):
            return self._method_on("momentum_regressor", {"q": q, "qd": qd}, ("joint", "parameter"),
                                   self._regressor_shape, out=out, threads=threads)
        qd = checks.real_numbers("qd", qd, self.n)
        if not self._weightless:
            self._weightless.append(type(self)(self.model, np.zeros(3)))        # a Robot is immutable, a list is not
        return self._weightless[0].torque_regressor(q, np.zeros(self.n), qd, out=out, threads=threads)

    def kinetic_energy_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None,
                                 threads: Threads = None) -> np.ndarray:
        """Compute the row that maps inertial parameters to the kinetic energy.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        out : ndarray (..., 10 b), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 10 b)
            Row whose product with inertial_parameters is the kinetic energy without armature, J.
        """
        return self._evaluate(self._of(KINETIC_ENERGY_REGRESSOR), {"q": q, "qd": qd}, out, threads, self._root)

    def potential_energy_regressor(self, q: ArrayLike, *, out: Out = None, threads: Threads = None) -> np.ndarray:
        """Compute the row that maps inertial parameters to the potential energy.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        out : ndarray (..., 10 b), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., 10 b)
            Row whose product with inertial_parameters is the potential energy, J, without the constant part of the root
            link that ``potential_energy`` includes.
        """
        return self._evaluate(self._of(POTENTIAL_ENERGY_REGRESSOR), {"q": q}, out, threads, self._root)

    def acceleration_regressor(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, friction: bool = False,
                               *, threads: Threads = None) -> np.ndarray:
        """Compute the derivative of ``forward_dynamics`` by the inertial parameters.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        tau : array_like (..., n)
            Efforts, N m or N.
        friction : bool, optional
            If true, append the columns of ``torque_regressor``.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        ndarray (..., n, 10 b)
            The matrix -M^-1 Y, with Y the ``torque_regressor`` at the accelerations of forward dynamics; (..., n, 10 b
            + 3 n) with ``friction``.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the mass matrix is singular.

        Notes
        -----
        The column of Coulomb friction is the derivative for nonzero qd.
        """
        if any_foreign((q, qd, tau)):
            n, columns = self._regressor_shape
            return self._method_on(
                "acceleration_regressor", {"q": q, "qd": qd, "tau": tau}, ("joint", "parameter"),
                (n, columns + bool(friction) * len(FRICTION_NAMES) * n), threads=threads, friction=friction)
        qdd = self.forward_dynamics(q, qd, tau, threads=threads)
        Y = self.torque_regressor(q, qd, qdd, friction, threads=threads)
        return -np.linalg.solve(self.mass_matrix(q, threads=threads), Y)
