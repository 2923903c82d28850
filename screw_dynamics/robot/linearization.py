"""Linear models of a robot's motion."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.simulation.integrators import LINEARIZED
from screw_dynamics.simulation.linearization.linear_model import Actuation, LinearModel, continuous, over_a_step, states
from screw_dynamics.simulation.linearization.rollout_derivatives import Cost, RolloutDerivatives, RolloutGradient

from .derivatives import Derivatives
from .evaluation import Forces, Threads, Wrenches
from .integration import Integration


class Linearization(Derivatives, Integration):
    """Methods of linear models."""

    def linearize(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dt: float | None = None,
                  external: Wrenches | None = None, integrator: str = "semi_implicit_euler", *, friction: bool = False,
                  limits: bool = False, forces: Forces = None, t: float = 0.0,
                  out: tuple[np.ndarray, np.ndarray] | None = None, threads: Threads = None) -> LinearModel:
        """The linear model x' = A x + B u of deviations x = (dq, dqd) from a state and u = dtau; [MD] 6.1.

        A (..., 2n, 2n), B (..., 2n, n), positions first, and the acceleration qdd (..., n) at the state. Deviations are
        along the joint twists: q moves to integrate(q, dq). For joints of one degree of freedom A = [[0, 1], [dqdd/dq,
        dqdd/dqd]]; on groups -ad of the joint's twist is in the place of 0.

        dt: instead x+ = A x + B u, the exact derivative of `step` with the same dt (s), integrator, friction and
        limits, which the continuous model has not: at a stop it is that of a joint which stays there, and so is it
        where dry friction holds one, which at rest the continuous model leaves out. external as in inverse_dynamics:
        wrenches that stay the same in their links' frames. forces: elements of screw_dynamics.forces, at the time t
        (s). out: (A, B)."""
        (q, qd, tau), external = states(self, external, q=q, qd=qd, tau=tau)
        friction, limits = checks.flag("friction", friction), checks.flag("limits", limits)
        checks.one_of("integrator", integrator, LINEARIZED)
        if out is not None:
            rows = *qd.shape[:-1], 2 * self.n
            checks.result_pair(out, "A, B", (*rows, 2 * self.n), (*rows, self.n))
        actuation = Actuation(tau, external, self.rollouts.smooth(forces, friction), limits, threads,
                              checks.number("t", t), friction)
        if dt is None:
            if limits:
                raise ValueError("limits: a stop acts between steps; a linear model with limits requires dt")
            found = continuous(self, q, qd, actuation)
        else:
            found, _ = over_a_step(self, integrator, q, qd, actuation, checks.positive("dt", dt))
        if out is None:
            return found
        out[0][...], out[1][...] = found[:2]
        return LinearModel(*out, found.qdd)

    def rollout_derivatives(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | None = None, dt: float = 1e-3,
                            steps: int = 1000, integrator: str = "semi_implicit_euler", *, friction: bool = False,
                            limits: bool = False, forces: Forces = None, parameters: bool = False,
                            threads: Threads = None) -> RolloutDerivatives:
        """A `rollout` of fixed steps, and its derivatives: `forward` from deviations of the initial state, of
        efforts and of parameters, `adjoint` from a cost back to all of them, `final` of the last state.

        Exact for its steps, as linearize. integrator: of fixed steps. effort: no controller. parameters: also by
        `inertial_parameters`, without limits."""
        return RolloutDerivatives(self, q0, qd0, effort, dt, steps, integrator, friction, limits, forces, parameters,
                                  threads)

    def rollout_gradient(self, cost: Cost, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | None = None,
                         dt: float = 1e-3, steps: int = 1000, integrator: str = "semi_implicit_euler", *,
                         friction: bool = False, limits: bool = False, forces: Forces = None,
                         parameters: bool = False, threads: Threads = None) -> tuple[np.ndarray, RolloutGradient]:
        """The value (...) of a cost along a rollout, and its gradient by initial state, efforts and parameters, by one
        backward sweep; arguments as in rollout_derivatives.

        cost(t, q, qd, tau): a function of times (steps + 1,), states (..., steps + 1, nq and n) and the efforts
        of intervals (..., steps, n), that returns its value and its derivatives by q, along the joint twists, and qd,
        (..., steps + 1, n) each, and by tau (..., steps, n), where the last may be left out, and None is 0."""
        return self.rollout_derivatives(q0, qd0, effort, dt, steps, integrator, friction=friction, limits=limits,
                                        forces=forces, parameters=parameters, threads=threads).gradient(cost)
