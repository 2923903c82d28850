"""Linear models of a robot's motion."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.linearization.linear_model import Actuation, LinearModel, continuous, over_a_step, states
from screw_dynamics.simulation.integrators import FIXED_STEPS

from .derivatives import Derivatives
from .evaluation import Threads, Wrenches
from .motion import Motion


class Linearization(Derivatives, Motion):
    """Methods of linear models."""

    def linearize(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dt: float | None = None,
                  external: Wrenches | None = None, integrator: str = "semi_implicit_euler", *, friction: bool = False,
                  out: tuple[np.ndarray, np.ndarray] | None = None, threads: Threads = None) -> LinearModel:
        """The linear model x' = A x + B u of deviations x = (dq, dqd) from a state and u = dtau; [MD] 6.1.

        A (..., 2n, 2n), B (..., 2n, n), positions first, and the acceleration qdd (..., n) at the state. Deviations are
        along the joint twists: q moves to integrate(q, dq). For joints of one degree of freedom A = [[0, 1], [dqdd/dq,
        dqdd/dqd]]; on groups -ad of the joint's twist is in the place of 0.

        dt: instead x+ = A x + B u, the exact derivative of `step` with the same dt (s), integrator, friction, and
        limits=False: a position stop is a jump. Coulomb friction is that of steps, and has the mean of both slopes at
        rest. external as in inverse_dynamics: wrenches that stay the same in their links' frames. out: (A, B)."""
        (q, qd, tau), external = states(self, external, q=q, qd=qd, tau=tau)
        checks.one_of("integrator", integrator, FIXED_STEPS)
        if out is not None:
            rows = *qd.shape[:-1], 2 * self.n
            checks.result_pair(out, "A, B", (*rows, 2 * self.n), (*rows, self.n))
        actuation = Actuation(tau, external, friction, threads)
        if dt is None:
            found = continuous(self, q, qd, actuation)
        else:
            found, _ = over_a_step(self, integrator, q, qd, actuation, checks.positive("dt", dt))
        if out is None:
            return found
        out[0][...], out[1][...] = found[:2]
        return LinearModel(*out, found.qdd)
