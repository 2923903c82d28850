"""Linear models of a robot's motion."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.utils import checks

from .derivatives import Derivatives
from .evaluation import Forces, Threads, Wrenches
from .integration import Integration

if TYPE_CHECKING:
    from screw_dynamics.rollout.linearization.linear_model import LinearModel
    from screw_dynamics.rollout.linearization.rollout_derivatives import Cost, RolloutDerivatives, RolloutGradient


class Linearization(Derivatives, Integration):
    """Methods for linear models."""

    def linearize(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dt: float | None = None,
                  external: Wrenches | None = None, integrator: str = "semi_implicit_euler", *, friction: bool = False,
                  limits: bool = False, forces: Forces = None, t: float = 0.0,
                  out: tuple[np.ndarray, np.ndarray] | None = None, threads: Threads = None) -> LinearModel:
        """Compute the linear model x' = A x + B u of deviations x = (dq, dqd) and u = dtau from a state.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        tau : array_like (..., n)
            Efforts, N m or N.
        dt : float, optional
            Time step, s: the model is then x+ = A x + B u. By default time is continuous.
        external : dict of str to array_like (..., 6), optional
            Wrenches on links, as in ``inverse_dynamics``, constant in their links' frames.
        integrator : {"semi_implicit_euler", "rk4"}, optional
            Integrator of the step, with dt.
        friction : bool, optional
            If true, friction acts, as in ``rollout``.
        limits : bool, optional
            If true, position limits act, as in ``step``; only with dt.
        forces : sequence of Element, optional
            Force elements of ``screw_dynamics.forces``.
        t : float, optional
            Time, s, for time-dependent ``forces``.
        out : tuple of ndarray (..., 2n, 2n) and (..., 2n, n), optional
            Arrays (A, B) for the result.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        LinearModel
            The matrices A (..., 2n, 2n) and B (..., 2n, n), positions first, and the acceleration qdd (..., n) at the
            state.

        Raises
        ------
        ValueError
            If ``limits`` is true without dt: a stop acts between steps.

        Notes
        -----
        Deviations are along the joint twists: q moves to integrate(q, dq). For single-DoF joints A = [[0, 1], [dqdd/dq,
        dqdd/dqd]]; for Lie-group joints -ad of the joint's twist replaces the 0.

        With dt, A and B are the exact derivatives of ``step`` with the same dt, integrator, friction and limits. At a
        stop, and where dry friction holds a joint, they describe a joint that stays there. The continuous model ignores
        limits, and dry friction at rest.

        References
        ----------
        [MD] 6.1.
        """
        from screw_dynamics.rollout.integrators import LINEARIZED
        from screw_dynamics.rollout.linearization import linear_model

        (q, qd, tau), external = linear_model.states(self, external, q=q, qd=qd, tau=tau)
        friction, limits = checks.flag("friction", friction), checks.flag("limits", limits)
        checks.one_of("integrator", integrator, LINEARIZED)
        if out is not None:
            rows = *qd.shape[:-1], 2 * self.n
            checks.result_pair(out, "A, B", (*rows, 2 * self.n), (*rows, self.n))
        actuation = linear_model.Actuation(tau, external, self._rollouts.smooth(forces, friction), limits, threads,
                                           checks.number("t", t), friction)
        if dt is None:
            if limits:
                raise ValueError("limits: a stop acts between steps; a linear model with limits requires dt")
            found = linear_model.continuous(self, q, qd, actuation)
        else:
            found, _ = linear_model.over_a_step(self, integrator, q, qd, actuation, checks.positive("dt", dt))
        if out is None:
            return found
        out[0][...], out[1][...] = found[:2]
        return linear_model.LinearModel(*out, found.qdd)

    def rollout_derivatives(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | None = None, dt: float = 1e-3,
                            steps: int = 1000, integrator: str = "semi_implicit_euler", *, friction: bool = False,
                            limits: bool = False, forces: Forces = None, parameters: bool = False,
                            threads: Threads = None) -> RolloutDerivatives:
        """Simulate a rollout of fixed steps, and compute its derivatives.

        Parameters
        ----------
        q0 : array_like (..., nq)
            Initial configurations, rad or m.
        qd0 : array_like (..., n)
            Initial velocities, rad/s or m/s.
        effort : array_like, optional
            Efforts, N m or N: (..., n), or (..., steps, n) one for each interval. Controllers are not supported.
        dt : float, optional
            Time step, s.
        steps : int, optional
            Number of steps.
        integrator : {"semi_implicit_euler", "rk4"}, optional
            Integrator, of fixed steps.
        friction : bool, optional
            If true, friction acts, as in ``rollout``.
        limits : bool, optional
            If true, position limits act, as in ``rollout``.
        forces : sequence of Element, optional
            Force elements, as in ``rollout``.
        parameters : bool, optional
            If true, include derivatives by ``inertial_parameters``; not with ``limits``.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        RolloutDerivatives
            The rollout, with the methods ``forward`` (from deviations of initial state, efforts and parameters),
            ``adjoint`` (gradient of a cost by all of these) and ``final`` (derivatives of the last state).

        Notes
        -----
        The derivatives are exact for the steps, as in ``linearize``.
        """
        from screw_dynamics.rollout.linearization.rollout_derivatives import RolloutDerivatives

        return RolloutDerivatives(self, q0, qd0, effort, dt, steps, integrator, friction, limits, forces, parameters,
                                  threads)

    def rollout_gradient(self, cost: Cost, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | None = None,
                         dt: float = 1e-3, steps: int = 1000, integrator: str = "semi_implicit_euler", *,
                         friction: bool = False, limits: bool = False, forces: Forces = None,
                         parameters: bool = False, threads: Threads = None) -> tuple[np.ndarray, RolloutGradient]:
        """Compute a cost along a rollout, and its gradient by the adjoint method.

        Parameters
        ----------
        cost : callable
            Function cost(t, q, qd, tau) of times (steps + 1,), states (..., steps + 1, nq) and (..., steps + 1, n), and
            the efforts of intervals (..., steps, n). It returns its value and its derivatives by q, along the joint
            twists, and by qd, (..., steps + 1, n) each, and by tau (..., steps, n). The last may be omitted, and None
            is 0.
        q0 : array_like (..., nq)
            Initial configurations, rad or m.
        qd0 : array_like (..., n)
            Initial velocities, rad/s or m/s.
        effort : array_like, optional
            Efforts, N m or N: (..., n), or (..., steps, n) one for each interval. Controllers are not supported.
        dt : float, optional
            Time step, s.
        steps : int, optional
            Number of steps.
        integrator : {"semi_implicit_euler", "rk4"}, optional
            Integrator, of fixed steps.
        friction : bool, optional
            If true, friction acts, as in ``rollout``.
        limits : bool, optional
            If true, position limits act, as in ``rollout``.
        forces : sequence of Element, optional
            Force elements, as in ``rollout``.
        parameters : bool, optional
            If true, include derivatives by ``inertial_parameters``; not with ``limits``.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        value : ndarray (...)
            Value of the cost.
        gradient : RolloutGradient
            Gradient by initial state, efforts and parameters.
        """
        return self.rollout_derivatives(q0, qd0, effort, dt, steps, integrator, friction=friction, limits=limits,
                                        forces=forces, parameters=parameters, threads=threads).gradient(cost)
