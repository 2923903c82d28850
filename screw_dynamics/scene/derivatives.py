"""Derivatives of a scene's steps and rollouts, for fixed contact modes."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot.evaluation import Forces, Threads
from screw_dynamics.rollout.linearization.linear_model import Actuation, with_padding
from screw_dynamics.rollout.linearization.rollout_derivatives import Cost, Piece, RolloutDerivatives, RolloutGradient
from screw_dynamics.rollout.rollout_arguments import efforts
from screw_dynamics.utils import checks

from .linearization import SLIDING, ContactModes, Step, StepModel, differentiate
from .touch_derivatives import TouchRows

LANDED = 1e-9           # m: smaller gaps count as closed by default
DERIVED = ("semi_implicit_euler",)


def refuse_loops(contact_model: Any) -> None:
    """Raise ValueError for robots with closed loops."""
    if contact_model.constraints is not None:
        raise ValueError("derivatives of steps with closed loops are not supported: "
                         f"{', '.join(contact_model.constraints.rows)}")


class SceneDerivatives(RolloutDerivatives):
    """A rollout of a scene and its first derivatives, as in RolloutDerivatives. models: the StepModel of each step,
    with its contact modes. One state, no batch."""

    def __init__(self, contact_model: Any, q0: ArrayLike, qd0: ArrayLike | None, effort: ArrayLike | None, dt: float,
                 steps: int, integrator: str, friction: bool, limits: bool, forces: Forces, landed: float):
        if callable(effort):
            raise ValueError("effort must be an array or None: a controller is not supported here")
        robot = contact_model.robot
        refuse_loops(contact_model)
        landed = checks.number("landed", landed, 0.0)
        q0 = contact_model.configurations(checks.vector("q0", q0, robot.nq))
        qd0 = np.zeros(robot.n) if qd0 is None else checks.vector("qd0", qd0, robot.n)
        found = contact_model.samples(q0, qd0, effort, dt, steps, integrator, friction, limits, forces=forces)
        contact_model.warn(found, dt, integrator, effort, steps)
        self.t, self.q, self.qd = found.t, found.q, found.qd
        self.tau = np.broadcast_to(efforts(effort, (), len(self.t) - 1, robot.n), (len(self.t) - 1, robot.n))
        self._robot, self._dt, self._apart, self._euler, self._options = robot, float(dt), False, False, (None,)
        rows, total = TouchRows(contact_model), robot._rollouts.smooth(forces, friction)
        self.models = tuple(differentiate(contact_model, Step(
            found.q[k], found.qd[k], Actuation(self.tau[k], None, total, bool(limits), None, self.t[k], friction),
            self._dt, found.q[k + 1], found.qd[k + 1], found.report[k]), rows, landed) for k in range(len(self.tau)))

    @property
    def contacts(self) -> tuple[ContactModes, ...]:
        """The ContactModes of each step."""
        return tuple(model.contacts for model in self.models)

    def _piece(self, some: slice) -> Piece:
        F = [np.concatenate((x.A, x.B), axis=-1) for x in self.models[some]]
        return Piece(some, with_padding(np.array(F)), None)


class SceneLinearization:
    """Methods for derivatives of a scene."""

    def linearize(self: Any, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, dt: float = 1e-3,
                  integrator: str = "semi_implicit_euler", *, friction: bool = False, limits: bool = False,
                  forces: Forces = None, t: float = 0.0, landed: float = LANDED, strict: bool = False,
                  threads: Threads = None) -> StepModel:
        """Compute the linear model x+ = A x + B u of `step` with the same arguments.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations.
        qd : array_like (..., n)
            Velocities.
        tau : array_like (..., n), optional
            Efforts, by default 0.
        dt : float, optional
            Length of the step in s.
        integrator : {"semi_implicit_euler"}, optional
            Integrator.
        friction : bool, optional
            The model's damping and Coulomb friction act at the joints.
        limits : bool, optional
            Stop joints at their position limits.
        forces : sequence of Element, optional
            Elements of screw_dynamics.forces, at the time t.
        t : float, optional
            Time in s.
        landed : float, optional
            Gap in m up to which a contact counts as closed: its normal velocity stays 0 for any deviation of its gap. A
            contact that closes a larger gap has the velocity -gap / dt.
        strict : bool, optional
            Raise an error for contacts whose modes are ambiguous.
        threads : int, optional
            Number of threads for a batch.

        Returns
        -------
        StepModel
            A (..., 2n, 2n) and B (..., 2n, n), for deviations x = (dq, dqd) along the joint twists and u = dtau, as in
            Robot.linearize with dt; the state after the step; and the modes of the contacts.

        Raises
        ------
        ValueError
            If contacts rebound, or have torsional or rolling friction, or if the scene has closed loops. With `strict`,
            if a margin is 0 to machine precision, or if the modes do not determine derivatives; the message names the
            pair
            and its margin.

        Notes
        -----
        The model is exact while contacts keep their modes: open, sticking, or sliding along their velocity. The
        StepModel has these modes with their margins. docs/contacts.md documents the method.
        """
        contact_model, total = self.contact_model, self.robot._rollouts.smooth(forces, friction)
        checks.one_of("integrator", integrator, DERIVED)
        refuse_loops(contact_model)
        landed, t, strict = checks.number("landed", landed, 0.0), checks.number("t", t), checks.flag("strict", strict)
        tau = np.zeros(self.n) if tau is None else tau
        states = checks.broadcast({"q": contact_model.configurations(q), "qd": checks.finite_numbers(
            "qd", qd, self.n), "tau": checks.finite_numbers("tau", tau, self.n)})
        q, qd, tau = (np.ascontiguousarray(x, dtype=float) for x in states)
        h, lead, rows = checks.positive("dt", dt), q.shape[:-1], TouchRows(contact_model)
        found = contact_model.samples(q, qd, tau[..., None, :], h, 1, integrator, friction, limits, threads=threads,
                                 forces=forces, start=t)
        contact_model.warn(found, h, integrator, tau[..., None, :], 1)
        ends = (x[..., -1, :].reshape(-1, x.shape[-1]) for x in (found.q, found.qd, found.report))
        starts = (x.reshape(-1, x.shape[-1]) for x in (q, qd, tau))
        models = [differentiate(contact_model, Step(
            q, qd, Actuation(tau, None, total, limits, None, t, friction), h, *after), rows, landed)
            for q, qd, tau, *after in zip(*starts, *ends, strict=True)]
        if strict:
            for model in models:
                _refuse(self.pairs, model)
        if not lead:
            return models[0]
        A, B, q, qd, determined = (np.array(x).reshape(*lead, *np.shape(x[0])) for x in list(
            zip(*models, strict=True))[:5])
        return StepModel(A, B, q, qd, determined, [model.contacts for model in models])

    def rollout_derivatives(self: Any, q0: ArrayLike, qd0: ArrayLike | None = None, effort: ArrayLike | None = None,
                            dt: float = 1e-3, steps: int = 1000, integrator: str = "semi_implicit_euler", *,
                            friction: bool = False, limits: bool = False, forces: Forces = None, landed: float = LANDED
                            ) -> SceneDerivatives:
        """Simulate one state, with derivatives for fixed contact modes.

        Parameters
        ----------
        q0 : array_like (nq,)
            Initial configuration.
        qd0 : array_like (n,), optional
            Initial velocity, by default at rest.
        effort : array_like, optional
            Efforts (n,), constant, or (steps, n), one for each interval dt.
        dt : float, optional
            Length of a step in s.
        steps : int, optional
            Number of steps.
        integrator : {"semi_implicit_euler"}, optional
            Integrator.
        friction : bool, optional
            The model's damping and Coulomb friction act at the joints.
        limits : bool, optional
            Stop joints at their position limits.
        forces : sequence of Element, optional
            Elements of screw_dynamics.forces.
        landed : float, optional
            Gap in m up to which a contact counts as closed, as in linearize.

        Returns
        -------
        SceneDerivatives
            The rollout, with `forward`, `adjoint` and `final` as in Robot.rollout_derivatives, and `contacts` with the
            ContactModes of each step.
        """
        checks.one_of("integrator", integrator, DERIVED)
        return SceneDerivatives(self.contact_model, q0, qd0, effort, dt, steps, integrator, friction, limits, forces,
                                landed)

    def rollout_gradient(self: Any, cost: Cost, q0: ArrayLike, qd0: ArrayLike | None = None,
                         effort: ArrayLike | None = None, dt: float = 1e-3, steps: int = 1000,
                         integrator: str = "semi_implicit_euler", *, friction: bool = False, limits: bool = False,
                         forces: Forces = None, landed: float = LANDED) -> tuple[np.ndarray, RolloutGradient]:
        """Compute the value of a cost along a rollout and its gradient, by one backward sweep.

        Parameters
        ----------
        cost : callable
            Function cost(t, q, qd, tau) that returns a value and its derivatives, as in Robot.rollout_gradient.
        q0 : array_like (nq,)
            Initial configuration.
        qd0 : array_like (n,), optional
            Initial velocity, by default at rest.
        effort : array_like, optional
            Efforts (n,), constant, or (steps, n), one for each interval dt.
        dt : float, optional
            Length of a step in s.
        steps : int, optional
            Number of steps.
        integrator : {"semi_implicit_euler"}, optional
            Integrator.
        friction : bool, optional
            The model's damping and Coulomb friction act at the joints.
        limits : bool, optional
            Stop joints at their position limits.
        forces : sequence of Element, optional
            Elements of screw_dynamics.forces.
        landed : float, optional
            Gap in m up to which a contact counts as closed, as in linearize.

        Returns
        -------
        value : ndarray
            Value of the cost.
        gradient : RolloutGradient
            Derivatives by the initial state and the efforts, for fixed contact modes.
        """
        return self.rollout_derivatives(q0, qd0, effort, dt, steps, integrator, friction=friction, limits=limits,
                                        forces=forces, landed=landed).gradient(cost)


def _refuse(pairs, model):
    """Raise ValueError for the first contact whose mode is ambiguous, or if the modes do not determine derivatives."""
    contacts = model.contacts
    for k in np.flatnonzero(contacts.ambiguous):
        first, second = pairs[contacts.pair[k]]
        raise ValueError(f"contact of {first!r} and {second!r}: {contacts.mode[k]} by a margin of only "
                         f"{min(contacts.opening[k], contacts.slipping[k]):g}, where derivatives jump")
    if not model.determined:
        names = sorted({pairs[k] for k in contacts.pair[contacts.mode == SLIDING]})
        raise ValueError(f"contacts of {names} slide in different directions, and share a load in an indeterminate "
                         "way: the step has no derivative")
