"""Time derivatives of a robot's efforts, [MD] 6.3, of the twists of its links and of their Jacobians, [MD] 2."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.algorithms.time_derivatives import (
    INVERSE_DYNAMICS_TIME_DERIVATIVES_IN,
    JACOBIAN_SECOND_DERIVATIVE,
    LINK_DERIVATIVES,
)
from screw_dynamics.foreign_arrays import any_foreign
from screw_dynamics.model.model import Model

from .dynamics import Dynamics
from .evaluation import Out, Threads, Wrenches
from .points import STATES, Moved, Point, stored


class TimeDerivatives(Dynamics):
    """Methods of derivatives along a motion."""

    representation: str | None

    def __init__(self, model: Model, gravity: ArrayLike):
        super().__init__(model, gravity)
        self._efforts_in_time = {key: self._of(entry) for key, entry in INVERSE_DYNAMICS_TIME_DERIVATIVES_IN.items()}
        self._link_derivatives = {order: self._of(entry) for order, entry in LINK_DERIVATIVES.items()}
        self._jacobian_second_derivative = self._of(JACOBIAN_SECOND_DERIVATIVE)

    def inverse_dynamics_time_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike,
                                          qdddd: ArrayLike | None = None, external: Wrenches | None = None,
                                          out: Out = None, threads: Threads = None) -> tuple[np.ndarray, ...]:
        """(tau, dtau/dt), and with qdddd (tau, dtau/dt, d^2tau/dt^2), (..., n) each: the efforts of inverse_dynamics
        and their time derivatives along a motion with these derivatives of q, O(n); N m, N m/s, N m/s^2, or N, ...

        external as there: wrenches that stay the same in their links' frames. out: (..., 2, n), or (..., 3, n) with
        qdddd. The recursion is in hybrid twists for a robot of that representation, else in body-fixed ones. For joints
        on groups qdd, qddd and qdddd are the derivatives of qd."""
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
        """The efforts of external wrenches and their derivatives up to an order, (..., order + 1, n)."""
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
                          reference: str | None = None, out: Out = None, threads: Threads = None,
                          point: Point = None) -> np.ndarray:
        """The time derivative (..., 6) of the twist J qd of a link relative to a reference link, J the Jacobian of
        `jacobian` in the same representation: J qdd + J' qd, O(n).

        In "hybrid" and "mixed" the linear part is the acceleration of the link's origin; gravity does not enter. point:
        as in `jacobian`, fixed to the link, in place of its origin."""
        given = q, qd, qdd
        return self._of_link(self._link_derivatives[1], given, link, representation, reference, out, threads,
                             point)

    def link_jerk(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike, link: str,
                  representation: str = "body", reference: str | None = None, out: Out = None,
                  threads: Threads = None, point: Point = None) -> np.ndarray:
        """The second time derivative (..., 6) of the twist of a link; else as link_acceleration."""
        given = q, qd, qdd, qddd
        return self._of_link(self._link_derivatives[2], given, link, representation, reference, out, threads,
                             point)

    def link_snap(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike, qdddd: ArrayLike, link: str,
                  representation: str = "body", reference: str | None = None, out: Out = None,
                  threads: Threads = None, point: Point = None) -> np.ndarray:
        """The third time derivative (..., 6) of the twist of a link; else as link_acceleration."""
        given = q, qd, qdd, qddd, qdddd
        return self._of_link(self._link_derivatives[3], given, link, representation, reference, out, threads,
                             point)

    def jacobian_second_derivative(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str,
                                   representation: str = "body", reference: str | None = None, out: Out = None,
                                   threads: Threads = None, point: Point = None) -> np.ndarray:
        """The second time derivative (..., 6, n) of the Jacobian of `jacobian` along a motion with qd and qdd.

        point: as in `jacobian`, fixed to the link."""
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
        return self._evaluate(entry, dict(zip(STATES, given, strict=False)), out, threads, target)
