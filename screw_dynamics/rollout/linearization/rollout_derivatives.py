"""Derivatives of a rollout: forward along given directions, and adjoint for the gradient of a cost.

With the linear model x+ = A_k x + B_k u of each step, deviations propagate forward, and gradients of a cost backward by
the transpose: l_k = A_k^T l_(k+1) + dc/dx_k. The models are those of over_a_step, for many steps at a time on lanes.
States are stored, models are not. Inertial parameters p act in a step as efforts: M dqdd = dtau - Y dp, Y the torque
regressor at each stage."""
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.forces import Element
from screw_dynamics.rollout.integrators import LINEARIZED
from screw_dynamics.rollout.recursions.entries import costates_of, costates_of_euler_steps
from screw_dynamics.rollout.recursions.matrix_products import padded
from screw_dynamics.rollout.rollout_arguments import efforts
from screw_dynamics.utils import checks

from .linear_model import Actuation, are_euler_steps, implicit, step_derivatives, with_padding

AT_ONCE = 256       # states whose models are computed at a time: their arrays fit a cache

# cost(t, q, qd, tau) -> value (...), and its derivatives by q, qd (..., steps + 1, n) and tau (..., steps, n), or None
Cost = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple]


class RolloutGradient(NamedTuple):
    """Derivatives of a cost.

    By the initial state, along the joint twists and by the velocities, (..., n) each; by the efforts of each interval
    (..., steps, n); and by the inertial parameters (..., p), or None."""

    by_q0: np.ndarray
    by_qd0: np.ndarray
    by_effort: np.ndarray
    by_parameters: np.ndarray | None = None


class FinalDerivatives(NamedTuple):
    """Derivatives of the last state (q, qd).

    By the initial state (..., 2n, 2n), by the efforts of each interval (..., steps, 2n, n), and by the inertial
    parameters (..., 2n, p), or None."""

    by_state: np.ndarray
    by_effort: np.ndarray
    by_parameters: np.ndarray | None = None


class Piece(NamedTuple):
    """Some steps of a rollout: F = (A B) (..., c, 2n, padded(3n)), and P (..., c, 2n, p) or None."""

    steps: slice
    F: np.ndarray
    P: np.ndarray | None

    def in_time(self, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return a, B and P with the step as their first axis."""
        F = np.moveaxis(self.F, -3, 0)
        return F[..., :2 * n], F[..., 2 * n:3 * n], None if self.P is None else np.moveaxis(self.P, -3, 0)


class RolloutDerivatives:
    """A rollout and its derivatives.

    t (steps + 1,): times, s. q (..., steps + 1, nq), qd (..., steps + 1, n): states. tau (..., steps, n): efforts of
    the intervals. Deviations of configurations are along the joint twists, as in Robot.linearize."""

    def __init__(self, robot: Any, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | None, dt: float, steps: int,
                 integrator: str, friction: bool, limits: bool, forces: Sequence[Element] | None, parameters: bool,
                 threads: int | None):
        for name, flag in ("friction", friction), ("limits", limits), ("parameters", parameters):
            checks.flag(name, flag)
        if limits and parameters:
            raise ValueError("parameters=True: derivatives by inertial parameters are without limits")
        checks.one_of("integrator", integrator, LINEARIZED)
        if callable(effort):
            raise ValueError("effort must be an array or None: what a controller does to first order is not known here")
        self.t, self.q, self.qd = robot.rollout(
            q0, qd0, effort, dt, steps, integrator, friction=friction, limits=limits, forces=forces, threads=threads)
        lead, steps = self.qd.shape[:-2], len(self.t) - 1
        self.tau = np.broadcast_to(efforts(effort, lead, steps, robot.n), (*lead, steps, robot.n))
        self._robot, self._integrator, self._dt, self._apart = robot, integrator, float(dt), bool(parameters)
        self._options, self._friction = (None, robot._rollouts.smooth(forces, friction), limits, threads), friction
        self._euler = are_euler_steps(robot, integrator, limits or friction) and not parameters

    # --------------------------------------------------------------------------------------------- forward and adjoint
    def forward(self, dq0: ArrayLike | None = None, dqd0: ArrayLike | None = None, dtau: ArrayLike | None = None,
                dp: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the deviations (dq, dqd), (..., steps + 1, n) each, for deviations of the initial state (..., n), of
        the efforts (..., steps, n) and of the inertial parameters (..., p). None: 0."""
        n, size = self._robot.n, len(self._robot.inertial_parameters)
        if dp is not None and not self._apart:
            raise ValueError("dp: pass parameters=True to Robot.rollout_derivatives")
        dp = None if dp is None else self._given("dp", dp, size)
        x = np.zeros((*self.qd.shape[:-1], 2 * n))
        x[..., 0, :n], x[..., 0, n:] = self._given("dq0", dq0, n), self._given("dqd0", dqd0, n)
        push = np.moveaxis(self._given("dtau", dtau, len(self.t) - 1, n), -2, 0)
        steps = np.moveaxis(x, -2, 0)
        for piece in map(self._piece, self._parts()):
            A, B, P = piece.in_time(n)
            change = _times(B, push[piece.steps])
            if dp is not None:
                change = change + _times(P, dp)
            for k, (one, du) in enumerate(zip(A, change, strict=True), piece.steps.start):
                steps[k + 1] = _times(one, steps[k]) + du
        return x[..., :n], x[..., n:]

    def adjoint(self, by_q: ArrayLike | None = None, by_qd: ArrayLike | None = None,
                by_tau: ArrayLike | None = None) -> RolloutGradient:
        """Return the gradient of a cost, given its partial derivatives by each q and qd (..., steps + 1, n) and by the
        efforts (..., steps, n). None: 0. One backward sweep for any number of efforts."""
        n = self._robot.n
        steps, lead = len(self.t) - 1, self.qd.shape[:-2]
        g = np.zeros((*lead, steps + 1, padded(3 * n)))
        g[..., :n] = self._given("by_q", by_q, len(self.t), n)
        g[..., n:2 * n] = self._given("by_qd", by_qd, len(self.t), n)
        g[..., :-1, 2 * n:3 * n] = self._given("by_tau", by_tau, steps, n)
        by_parameters, costate = 0.0, g[..., -1, :2 * n]
        for some in self._parts(backward=True):
            here = g[..., some.start:some.stop + 1, :].copy()
            here[..., -1, :2 * n] = costate
            found, P = self._costates(some, here)
            g[..., some, 2 * n:], costate = found[..., :-1, 2 * n:], found[..., 0, :2 * n]
            if self._apart:
                by_parameters = by_parameters + _times_transposed(P, found[..., 1:, :2 * n]).sum(axis=-2)
        return RolloutGradient(costate[..., :n], costate[..., n:], g[..., :-1, 2 * n:3 * n].copy(),
                               self._parameters(by_parameters, lead))

    def gradient(self, cost: Cost) -> tuple[np.ndarray, RolloutGradient]:
        """Return the value (...) of a cost and its gradient. cost(t, q, qd, tau) returns the value and its derivatives
        by q (along the joint twists), qd and tau, as `adjoint` takes them."""
        found = cost(self.t, self.q, self.qd, self.tau)
        if not isinstance(found, tuple) or not 0 < len(found) <= 4:
            raise ValueError("cost must return (value, by q, by qd, by tau), arrays or None, the last ones if any, not "
                             f"{checks.described(found)}")
        value, *by = found
        if np.shape(value) not in ((), self.qd.shape[:-2]):
            raise ValueError(f"cost must return one value, or {self.qd.shape[:-2]} for a batch, not an array "
                             f"{np.shape(value)}")
        return value, self.adjoint(*by)

    def final(self) -> FinalDerivatives:
        """Return the derivatives of the last state by the initial state, the efforts and the inertial parameters."""
        n, lead = self._robot.n, self.qd.shape[:-2]
        after = np.broadcast_to(np.eye(2 * n), (*lead, 2 * n, 2 * n))
        by_effort, by_parameters = np.empty((len(self.t) - 1, *lead, 2 * n, n)), 0.0
        for piece in map(self._piece, self._parts(backward=True)):
            A, B, P = piece.in_time(n)
            for k in range(len(A) - 1, -1, -1):
                by_effort[piece.steps.start + k] = after @ B[k]
                if self._apart:
                    by_parameters = by_parameters + after @ P[k]
                after = after @ A[k]
        return FinalDerivatives(after, np.moveaxis(by_effort, 0, -3), self._parameters(by_parameters, (*lead, 2 * n)))

    # --------------------------------------------------------------------------------------------- models of steps
    def _parts(self, backward: bool = False) -> Iterator[slice]:
        """Yield slices of steps, forward or backward in time."""
        steps, batch = len(self.t) - 1, max(1, int(np.prod(self.qd.shape[:-2])))
        size = max(1, AT_ONCE // batch)
        starts = range(0, steps, size)
        for start in reversed(starts) if backward else starts:
            yield slice(start, min(start + size, steps))

    def _states(self, some):
        """Return the inputs of steps: q, qd, and the Actuation."""
        q, qd, tau = (x[..., some, :] for x in (self.q, self.qd, self.tau))
        return q, qd, Actuation(tau, *self._options, self.t[some], self._friction)

    def _piece(self, some):
        """Return the Piece of some steps."""
        P, n = None, self._robot.n
        F, stages = step_derivatives(self._robot, self._integrator, *self._states(some), self._dt, self._apart)
        if self._apart:
            B = F[..., 2 * n:(2 + len(stages)) * n].reshape(*F.shape[:-1], len(stages), n)
            P = -sum(B[..., s, :] @ self._robot.torque_regressor(*stage) for s, stage in enumerate(stages))
            F = with_padding(np.concatenate((F[..., :2 * n], B.sum(axis=-2)), axis=-1))
        return Piece(some, F, P)

    def _costates(self, some, g):
        """Return the total derivatives of a cost by the states and efforts of some steps, given the derivatives g by
        each alone, and P of these steps, or None."""
        if self._euler:
            by = implicit(self._robot, *self._states(some), self._dt, False)[0][1:]
            return costates_of_euler_steps(*by, self._dt, g, self._options[-1]), None
        piece = self._piece(some)
        return costates_of(piece.F, g, self._options[-1]), piece.P

    def _parameters(self, total, lead):
        """Return the total, or zeros for a rollout without steps, whose sum has no shape."""
        if not self._apart:
            return None
        return np.broadcast_to(total, (*lead, len(self._robot.inertial_parameters)))

    def _given(self, name, x, *shape):
        """Return an argument as (..., *shape), broadcast to the rollout's leading axes; zeros for None."""
        lead = self.qd.shape[:-2]
        x = np.zeros(shape) if x is None else checks.real_numbers(name, x, *shape)
        try:
            return np.broadcast_to(x, (*lead, *shape))
        except ValueError:
            raise ValueError(f"{name} has shape {x.shape}, but must have {shape} or {(*lead, *shape)}") from None


def _times(A, x):
    return (A @ x[..., None])[..., 0]


def _times_transposed(A, x):
    return (x[..., None, :] @ A)[..., 0, :]
