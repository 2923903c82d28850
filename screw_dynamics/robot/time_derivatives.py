"""Time derivatives of a robot's efforts, [MD] 6.3, of the twists of its links and of their Jacobians, [MD] 2."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.time_derivatives import (
    INVERSE_DYNAMICS_TIME_DERIVATIVES_IN,
    JACOBIAN_SECOND_DERIVATIVE,
    LINK_DERIVATIVES,
)
from screw_dynamics.model.model import Model
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import any_foreign

from .dynamics import Dynamics
from .evaluation import Out, Threads, Wrenches
from .points import STATES, Moved, Point, stored


class TimeDerivatives(Dynamics):
    """Methods for time derivatives along a motion."""

    representation: str | None

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._efforts_in_time = {key: self._of(entry) for key, entry in INVERSE_DYNAMICS_TIME_DERIVATIVES_IN.items()}
        self._link_derivatives = {order: self._of(entry) for order, entry in LINK_DERIVATIVES.items()}
        self._jacobian_second_derivative = self._of(JACOBIAN_SECOND_DERIVATIVE)

    def inverse_dynamics_time_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike,
                                          qdddd: ArrayLike | None = None, external: Wrenches | None = None,
                                          *, out: Out = None, threads: Threads = None) -> tuple[np.ndarray, ...]:
        """Compute the efforts of ``inverse_dynamics`` and their time derivatives along a motion.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        qddd : array_like (..., n)
            Third derivatives of q (jerks).
        qdddd : array_like (..., n), optional
            Fourth derivatives of q, for d^2tau/dt^2.
        external : dict of str to array_like (..., 6), optional
            Wrenches on links, as in ``inverse_dynamics``, constant in their links' frames.
        out : ndarray (..., 2, n), optional
            Array for the result; (..., 3, n) with qdddd.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        tau : ndarray (..., n)
            Efforts, N m or N.
        dtau : ndarray (..., n)
            First time derivatives dtau/dt, N m/s or N/s.
        d2tau : ndarray (..., n)
            Second time derivatives d^2tau/dt^2, N m/s^2 or N/s^2, only with qdddd.

        Notes
        -----
        The cost is O(n). The recursion uses hybrid twists if the robot's representation is "hybrid", else body-fixed
        ones. For Lie-group joints qdd, qddd and qdddd are the derivatives of qd.

        References
        ----------
        [MD] 6.3.
        """
        form, order = "hybrid" if self.representation == "hybrid" else "body", 1 if qdddd is None else 2
        entry = self._efforts_in_time[form, order]
        given = (q, qd, qdd, qddd) if qdddd is None else (q, qd, qdd, qddd, qdddd)
        named = dict(zip(STATES, given, strict=False))
        if external is None or not checks.wrenches(external, self.link_names):
            tau = self._evaluate(entry, named, out, threads)
            return tuple(tau[..., k, :] for k in range(order + 1))
        if any_foreign((*given, *external.values())):
            tau = self._method_on("inverse_dynamics_time_derivatives", named, ("result", "joint"), (order + 1, self.n),
                                  external=external, out=out, threads=threads, inner=1)
            return tuple(tau[..., k, :] for k in range(order + 1))
        load = self._external_in_time(q, qd, qdd, external, order, threads)
        *arrays, _ = checks.broadcast({name: checks.real_numbers(name, x, self.nq if name == "q" else self.n)
                                       for name, x in named.items()} | {"external": load[..., 0, :]})
        tau = self._evaluate(entry, dict(zip(named, arrays, strict=True)), out, threads)
        return tuple(np.moveaxis(np.subtract(tau, load, out=tau), -2, 0))

    def _external_in_time(self, q, qd, qdd, external, order, threads):
        """Return the efforts of external wrenches and their time derivatives up to an order, (..., order + 1, n)."""
        total = np.zeros((order + 1, self.n))
        for link, wrench in checks.wrenches(external, self.link_names).items():
            wrench = checks.real_numbers(f"the wrench on link {link!r}", wrench, 6)
            J = [self.jacobian(q, link, threads=threads), self.jacobian_derivative(q, qd, link, threads=threads)]
            if order > 1:
                J.append(self.jacobian_second_derivative(q, qd, qdd, link, threads=threads))
            efforts = np.broadcast_arrays(*(np.einsum("...ij,...i->...j", x, wrench) for x in J))
            total = total + np.stack(efforts, axis=-2)
        return total

    def link_acceleration(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str, representation: str = "body",
                          reference: str | None = None, *, out: Out = None, threads: Threads = None,
                          point: Point = None) -> np.ndarray:
        """Compute the time derivative of the twist of a link relative to a reference link.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        link : str
            Name of the link.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation of twists, as in ``jacobian``.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., 6), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.
        point : array_like (..., 3), optional
            Point fixed to the link, in its frame, m, in place of the link's origin.

        Returns
        -------
        ndarray (..., 6)
            J qdd + J' qd, with J the Jacobian of ``jacobian`` in the same representation.

        Notes
        -----
        In "hybrid" and "mixed" the linear part is the acceleration of the link's origin, or of the point. Gravity is
        not included. The cost is O(n).

        References
        ----------
        [MD] 2.
        """
        given = q, qd, qdd
        return self._of_link(self._link_derivatives[1], given, link, representation, reference, out, threads,
                             point)

    def link_jerk(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike, link: str,
                  representation: str = "body", reference: str | None = None, *, out: Out = None,
                  threads: Threads = None, point: Point = None) -> np.ndarray:
        """Compute the second time derivative of the twist of a link.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        qddd : array_like (..., n)
            Third derivatives of q (jerks).
        link : str
            Name of the link.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation of twists, as in ``jacobian``.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., 6), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.
        point : array_like (..., 3), optional
            Point fixed to the link, in its frame, m, in place of the link's origin.

        Returns
        -------
        ndarray (..., 6)
            Derivatives, as in ``link_acceleration``.

        References
        ----------
        [MD] 2.
        """
        given = q, qd, qdd, qddd
        return self._of_link(self._link_derivatives[2], given, link, representation, reference, out, threads,
                             point)

    def link_snap(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike, qdddd: ArrayLike, link: str,
                  representation: str = "body", reference: str | None = None, *, out: Out = None,
                  threads: Threads = None, point: Point = None) -> np.ndarray:
        """Compute the third time derivative of the twist of a link.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        qddd : array_like (..., n)
            Third derivatives of q (jerks).
        qdddd : array_like (..., n)
            Fourth derivatives of q (snaps).
        link : str
            Name of the link.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation of twists, as in ``jacobian``.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., 6), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.
        point : array_like (..., 3), optional
            Point fixed to the link, in its frame, m, in place of the link's origin.

        Returns
        -------
        ndarray (..., 6)
            Derivatives, as in ``link_acceleration``.

        References
        ----------
        [MD] 2.
        """
        given = q, qd, qdd, qddd, qdddd
        return self._of_link(self._link_derivatives[3], given, link, representation, reference, out, threads,
                             point)

    def jacobian_second_derivative(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str,
                                   representation: str = "body", reference: str | None = None, *, out: Out = None,
                                   threads: Threads = None, point: Point = None) -> np.ndarray:
        """Compute the second time derivative of the Jacobian of a link along a motion.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        qdd : array_like (..., n)
            Accelerations, rad/s^2 or m/s^2.
        link : str
            Name of the link.
        representation : {"body", "spatial", "hybrid", "mixed"}, optional
            Representation of twists, as in ``jacobian``.
        reference : str, optional
            Reference link, the root by default.
        out : ndarray (..., 6, n), optional
            Array for the result.
        threads : int, optional
            Threads for a batch.
        point : array_like (..., 3), optional
            Point fixed to the link, in its frame, m, in place of the link's origin.

        Returns
        -------
        ndarray (..., 6, n)
            Derivatives, angular rows first.

        References
        ----------
        [MD] 2.
        """
        given = q, qd, qdd
        return self._of_link(self._jacobian_second_derivative, given, link, representation, reference, out,
                             threads, point)

    def _of_link(self, entry, given, link, representation, reference, out, threads, point):
        """Evaluate an algorithm for a link."""
        try:
            _, target = self._jacobians[link][representation][reference]
        except (KeyError, TypeError):
            _, target = self._keep_jacobian(link, reference, representation)
        if point is not None:
            moved = Moved(self, link, representation, reference, point, threads)
            evaluate = moved.jacobian if entry is self._jacobian_second_derivative else moved.twist_derivative
            return stored(evaluate(*given), out)
        found = entry(target, *given, out, threads)         # as _evaluate, without a dict, which takes as long as it
        return found if found is not None else self._evaluate(
            entry, dict(zip(STATES, given, strict=False)), out, threads, target)
