"""Time derivatives of a robot's efforts along a motion; [MD] 6.3."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.time_derivatives import INVERSE_DYNAMICS_TIME_DERIVATIVES_IN

from .dynamics import Dynamics
from .evaluation import Out, Threads

empty = np.empty


class TimeDerivatives(Dynamics):
    """Methods of derivatives along a motion."""

    representation: str | None

    def inverse_dynamics_time_derivatives(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike,
                                          qdddd: ArrayLike | None = None, out: Out = None,
                                          threads: Threads = None) -> tuple[np.ndarray, ...]:
        """(tau, dtau/dt), and with qdddd (tau, dtau/dt, d^2tau/dt^2), (..., n) each: the efforts of inverse_dynamics
        and their time derivatives along a motion with these derivatives of q, O(n); N m, N m/s, N m/s^2, or N, ...

        out: (..., 2, n), or (..., 3, n) with qdddd. The recursion is in hybrid twists for a robot of that
        representation, else in body-fixed ones. For joints on groups qdd, qddd and qdddd are the derivatives of qd."""
        form, order = "hybrid" if self.representation == "hybrid" else "body", 1 if qdddd is None else 2
        entry = self._of(INVERSE_DYNAMICS_TIME_DERIVATIVES_IN[form, order])
        tau = empty((order + 1, self.n)) if out is None else out
        if qdddd is None:
            if entry.one(self._memory, q, qd, qdd, qddd, tau):
                return tuple(tau)
            given = {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd}
        else:
            if entry.one(self._memory, q, qd, qdd, qddd, qdddd, tau):
                return tuple(tau)
            given = {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd, "qdddd": qdddd}
        return tuple(np.moveaxis(self._evaluate(entry, given, out, threads), -2, 0))
