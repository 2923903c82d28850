"""Partial derivatives of a robot's kinematics and dynamics; [MD] 6.1.

Derivatives by the configuration are along the joint twists: d f(integrate(q, h e_i)) / dh at h = 0. For single-DoF
joints this is the derivative by their coordinate."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.derivatives import (
    INVERSE_DYNAMICS_DERIVATIVES,
    INVERSE_DYNAMICS_DERIVATIVES_BY_ROWS,
    forward_dynamics_derivatives,
)
from screw_dynamics.algorithms.derivatives.second_derivatives import INVERSE_DYNAMICS_SECOND_DERIVATIVES
from screw_dynamics.algorithms.derivatives.second_of_forward_dynamics import forward_dynamics_second_derivatives
from screw_dynamics.algorithms.derivatives.second_of_wrenches import effort_second_derivatives
from screw_dynamics.algorithms.hessian import HESSIAN
from screw_dynamics.algorithms.matrix_rows import is_deep
from screw_dynamics.model.model import Model
from screw_dynamics.screws.arrays import Ad_matrix
from screw_dynamics.utils import checks

from .dynamics import Dynamics
from .evaluation import Out, Threads, Wrenches
from .points import Moved, Point, stored


class EffortDerivatives(NamedTuple):
    """First derivatives of the efforts of inverse dynamics, (..., n, n) each. Column j is the derivative by entry j."""

    by_q: np.ndarray
    by_qd: np.ndarray
    by_qdd: np.ndarray      # the mass matrix


class SecondEffortDerivatives(NamedTuple):
    """Second derivatives of the efforts of inverse dynamics, (..., n, n, n) each.

    [..., a, i, j] is the derivative of effort a by entries i and j. With Lie-group joints it is the derivative along j
    of the derivative along i."""

    by_q_q: np.ndarray
    by_q_qd: np.ndarray
    by_qd_qd: np.ndarray
    by_q_qdd: np.ndarray    # of the mass matrix by q: [a, i, j] is dM[a, j] / dq_i


class AccelerationDerivatives(NamedTuple):
    """First derivatives of the accelerations of forward dynamics, (..., n, n) each. Column j is the derivative by entry
    j."""

    by_q: np.ndarray
    by_qd: np.ndarray
    by_tau: np.ndarray      # the inverse of the mass matrix


class SecondAccelerationDerivatives(NamedTuple):
    """Second derivatives of the accelerations of forward dynamics, (..., n, n, n) each, as in
    SecondEffortDerivatives."""

    by_q_q: np.ndarray
    by_q_qd: np.ndarray
    by_qd_qd: np.ndarray
    by_q_tau: np.ndarray    # of the inverse mass matrix by q: [a, i, j] is the derivative of entry [a, j] by q_i


class Derivatives(Dynamics):
    """Methods for derivatives."""

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._inverse_dynamics_derivatives, self._forward_dynamics_derivatives = map(
            self._of, (INVERSE_DYNAMICS_DERIVATIVES,
                       forward_dynamics_derivatives(model.parents.tolist(), model.shares_coordinates)))
        deep = is_deep(model.parents, model.coordinates)
        self._inverse_dynamics_derivatives_of_one = (
            self._of(INVERSE_DYNAMICS_DERIVATIVES_BY_ROWS) if deep else self._inverse_dynamics_derivatives)

    def inverse_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                     external: Wrenches | None = None, *, out: Out = None,
                                     threads: Threads = None) -> EffortDerivatives:
        """Compute the partial derivatives of the efforts of ``inverse_dynamics``.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        external : dict of str to array_like (..., 6), optional
            Wrenches on links, as in ``inverse_dynamics``, constant in their links' frames.
        out : ndarray (..., 3, n, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        EffortDerivatives
            The derivatives (dtau/dq, dtau/dqd, M), (..., n, n) each: column j is the derivative by entry j. M is the
            mass matrix.

        Notes
        -----
        Derivatives by q are along the joint twists: for a single-DoF joint, by its coordinate. The cost is O(n d) for a
        tree of depth d.

        References
        ----------
        [MD] 6.1.
        """
        if external is None:
            by = self._inverse_dynamics_derivatives_of_one(q, qd, qdd, out, threads)
            if by is not None and by.ndim == 3:
                return EffortDerivatives(by[0], by[1], by[2])         # unpacking takes three times as long
        given = {"q": q, "qd": qd, "qdd": qdd}
        if external is not None and self._foreign(given.values(), external):
            return EffortDerivatives(*self._derivatives_on(
                "inverse_dynamics_derivatives", given, external, out, threads))
        load = None if external is None else self._external_by_q(q, external, threads)      # first: `out` may hold q
        bound = (self._inverse_dynamics_derivatives_of_one if all(np.ndim(x) == 1 for x in given.values()) else
                 self._inverse_dynamics_derivatives)
        by = self._evaluate(bound, given, out, threads)
        if load is not None:
            by[..., 0, :, :] -= load
        return EffortDerivatives(by[..., 0, :, :], by[..., 1, :, :], by[..., 2, :, :])

    def inverse_dynamics_second_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                                            external: Wrenches | None = None, *, out: Out = None,
                                            threads: Threads = None) -> SecondEffortDerivatives:
        """Compute the second partial derivatives of the efforts of ``inverse_dynamics``.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        external : dict of str to array_like (..., 6), optional
            Wrenches as in ``inverse_dynamics_derivatives``. Only d2tau/dqdq depends on them.
        out : ndarray (..., 4, n, n, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        SecondEffortDerivatives
            The derivatives (d2tau/dqdq, d2tau/dqdqd, d2tau/dqddqd, d2tau/dqdqdd), (..., n, n, n) each: entry [..., a,
            i, j] is the derivative of effort a by entries i and j.

        Notes
        -----
        All other second derivatives are zero. The cost is O(n d^2) for a tree of depth d.
        """
        given = {"q": q, "qd": qd, "qdd": qdd}
        if external is not None and self._foreign(given.values(), external):
            return SecondEffortDerivatives(*self._derivatives_on(
                "inverse_dynamics_second_derivatives", given, external, out, threads))
        load = None if external is None else self._external_by_q_q(q, external, threads)
        by = self._evaluate(self._of(INVERSE_DYNAMICS_SECOND_DERIVATIVES), given, out, threads)
        if load is not None:
            by[..., 0, :, :, :] -= load
        return SecondEffortDerivatives(*(by[..., k, :, :, :] for k in range(4)))

    def forward_dynamics_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                     external: Wrenches | None = None, *, out: Out = None,
                                     threads: Threads = None) -> AccelerationDerivatives:
        """Compute the partial derivatives of the accelerations of ``forward_dynamics``.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        tau : array_like (..., n)
            Efforts, N m or N.
        external : dict of str to array_like (..., 6), optional
            Wrenches on links, as in ``inverse_dynamics``, constant in their links' frames.
        out : ndarray (..., 3, n, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        AccelerationDerivatives
            The derivatives (dqdd/dq, dqdd/dqd, dqdd/dtau), (..., n, n) each: column j is the derivative by entry j.

        Notes
        -----
        Derivatives by q are along the joint twists: for a single-DoF joint, by its coordinate. Where the mass matrix is
        singular, the result is not finite.

        References
        ----------
        [MD] 6.1.
        """
        if external is None:
            by = self._forward_dynamics_derivatives(q, qd, tau, out, threads)
            if by is not None and by.ndim == 3:
                return AccelerationDerivatives(by[0], by[1], by[2])
        elif self._foreign((q, qd, tau), external):
            given = {"q": q, "qd": qd, "tau": tau}
            return AccelerationDerivatives(*self._derivatives_on(
                "forward_dynamics_derivatives", given, external, out, threads))
        else:
            load = self._external_by_q(q, external, threads)
            tau = np.add(*self._with_load("tau", tau, q, checks.wrenches(external, self.link_names)))
        by = self._evaluate(self._forward_dynamics_derivatives, {"q": q, "qd": qd, "tau": tau}, out, threads)
        if external is not None:
            by[..., 0, :, :] += by[..., 2, :, :] @ load
        return AccelerationDerivatives(by[..., 0, :, :], by[..., 1, :, :], by[..., 2, :, :])

    def forward_dynamics_second_derivatives(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                                            external: Wrenches | None = None, *, out: Out = None,
                                            threads: Threads = None) -> SecondAccelerationDerivatives:
        """Compute the second partial derivatives of the accelerations of ``forward_dynamics``.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        tau : array_like (..., n)
            Efforts, N m or N.
        external : dict of str to array_like (..., 6), optional
            Wrenches on links, as in ``inverse_dynamics``, constant in their links' frames.
        out : ndarray (..., 4, n, n, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        SecondAccelerationDerivatives
            The derivatives (d2qdd/dqdq, d2qdd/dqdqd, d2qdd/dqddqd, d2qdd/dqdtau), (..., n, n, n) each: entry [..., a,
            i, j] is the derivative of acceleration a by entries i and j.

        Notes
        -----
        All other second derivatives are zero. They are computed from the second derivatives of inverse dynamics,
        O(n^4). Where the mass matrix is singular, the result is not finite.
        """
        given = {"q": q, "qd": qd, "tau": tau}
        if self._foreign(given.values(), external):
            return SecondAccelerationDerivatives(*self._derivatives_on(
                "forward_dynamics_second_derivatives", given, external, out, threads))
        qdd = self.forward_dynamics(q, qd, tau, external, threads=threads)
        first = self.forward_dynamics_derivatives(q, qd, tau, external, threads=threads)
        second = self.inverse_dynamics_second_derivatives(q, qd, qdd, external, threads=threads)
        by = checks.filled(out, forward_dynamics_second_derivatives(second, first))
        return SecondAccelerationDerivatives(*np.moveaxis(by, -4, 0))

    def kinematic_hessian(self, q: ArrayLike, link: str, representation: str = "body", reference: str | None = None,
                          *, out: Out = None, threads: Threads = None, point: Point = None) -> np.ndarray:
        """Compute the kinematic Hessian of a link: the derivatives of its Jacobian by the configuration.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        link : str
            Name of the link.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation of twists, as in ``jacobian``.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., 6, n, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.
        point : array_like (..., 3), optional
            Point fixed to the link, in its frame, m, in place of the link's origin.

        Returns
        -------
        ndarray (..., 6, n, n)
            Entry [..., :, i, j] is the derivative of column i of the Jacobian by q_j.
        """
        if point is not None:
            return stored(Moved(self, link, representation, reference, point, threads).hessian(q), out)
        target = self._target(link, reference, representation).packed
        return self._evaluate(self._of(HESSIAN), {"q": q}, out, threads, target)

    def _derivatives_on(self, method, given, external, out, threads):
        """Return the first derivatives (..., n, n) or second ones (..., n, n, n) of a method on Dask or xarray
        arrays."""
        second = "second" in method
        names = ("joint", "by_joint", "and_by_joint")[:3 if second else 2]
        count, shape = 4 if second else 3, (self.n,) * len(names)
        found = self._method_on(method, given, ("result", *names), (count, *shape), external=external, out=out,
                                threads=threads, inner=len(names))
        return [found[(..., k, *len(names) * (slice(None),))] for k in range(count)]

    def _external_by_q(self, q, external, threads):
        """Return the derivatives (..., n, n) by q of the efforts of external wrenches."""
        total = np.zeros((self.n, self.n))
        for link, wrench in checks.wrenches(external, self.link_names).items():
            wrench = checks.real_numbers(f"the wrench on link {link!r}", wrench, 6)
            total = total + np.einsum("...kij,...k->...ij", self.kinematic_hessian(q, link, threads=threads), wrench)
        return total

    def _external_by_q_q(self, q, external, threads):
        """Return the second derivatives (..., n, n, n) by q of the efforts of external wrenches."""
        model, total = self.model, np.zeros((self.n, self.n, self.n))
        joints = np.array(model.body_joints, dtype=object)
        driven = np.eye(self.n)[model.coordinates]                          # (b, n): 1 for a body's coordinate
        for link, wrench in checks.wrenches(external, self.link_names).items():
            wrench = checks.real_numbers(f"the wrench on link {link!r}", wrench, 6)
            tip, path = self.forward_kinematics(q, link, threads=threads), _path(model, model.frames[link][0])
            Ad = Ad_matrix(np.linalg.inv(tip)[..., None, :, :] @ self.body_poses(q, threads=threads))
            J = np.einsum("...kxy,ky->...kx", Ad[..., path, :, :], model.screws_body[path])
            by = effort_second_derivatives(J, np.triu(joints[path, None] != joints[path]), wrench)
            total = total + np.einsum("...abc,ai,bj,ck->...ijk", by, *(3 * [driven[path]]), optimize=True)
        return total


def _path(model, body):
    """Return the bodies on the path to a body, each an ancestor of the next, or [] for the root, -1."""
    found = []
    while body >= 0:
        found.append(body)
        body = model.parents[body]
    return found[::-1]
