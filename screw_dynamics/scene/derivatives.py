"""Derivatives of a scene's steps and rollouts, through the modes of their contacts."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.robot.evaluation import Forces, Threads
from screw_dynamics.simulation.linearization.linear_model import Actuation, with_padding
from screw_dynamics.simulation.linearization.rollout_derivatives import Cost, Piece, RolloutDerivatives, RolloutGradient
from screw_dynamics.simulation.rollout_arguments import efforts

from .linearization import SLIDING, ContactModes, Step, StepModel, differentiate
from .touch_derivatives import TouchRows

LANDED = 1e-9           # m: gaps up to this are none, unless another bound is given
DERIVED = ("semi_implicit_euler",)


def refuse_loops(contact_model: Any) -> None:
    """ValueError for robots with closed loops."""
    if contact_model.constraints is not None:
        raise ValueError("derivatives of steps with closed loops are not known here, of "
                         f"{', '.join(contact_model.constraints.rows)}")


class SceneDerivatives(RolloutDerivatives):
    """A rollout of a scene and what it is to first order, as RolloutDerivatives; and `models`, the StepModel of each of
    its steps, with the modes of its contacts. One state, no batch."""

    def __init__(self, contact_model: Any, q0: ArrayLike, qd0: ArrayLike | None, effort: ArrayLike | None, dt: float,
                 steps: int, integrator: str, friction: bool, limits: bool, forces: Forces, landed: float):
        if callable(effort):
            raise ValueError("effort must be an array or None: what a controller does to first order is not known here")
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
        rows, total = TouchRows(contact_model), robot.rollouts.smooth(forces, friction)
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
    """Methods of derivatives of a scene."""

    def linearize(self: Any, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | None = None, dt: float = 1e-3,
                  integrator: str = "semi_implicit_euler", *, friction: bool = False, limits: bool = False,
                  forces: Forces = None, t: float = 0.0, landed: float = LANDED, strict: bool = False,
                  threads: Threads = None) -> StepModel:
        """The linear model x+ = A x + B u of `step` with the same arguments, from states q (..., nq) and qd (..., n),
        of deviations x = (dq, dqd) along the joint twists and u = dtau, as of Robot.linearize with dt.

        Exact while contacts keep their modes, in which the StepModel names them with their margins: open, sticking, or
        sliding along their velocity. landed: a contact with a gap up to this (m) is in touch, and its normal velocity 0
        whatever deviations do to its gap; one that lands from farther off has the velocity -gap / dt. strict:
        ValueError, with pair and margin, if some margin is 0 but for rounding, or if the modes leave derivatives open.
        Contacts that rebound, or have torsional or rolling friction, are refused. docs/contact_derivatives.md."""
        contact_model, total = self.contact_model, self.robot.rollouts.smooth(forces, friction)
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
        """A `rollout` of one state and its derivatives through the modes of its contacts: `forward`, `adjoint` and
        `final` as of Robot.rollout_derivatives, `contacts` with the ContactModes of each step. landed: as of
        linearize."""
        checks.one_of("integrator", integrator, DERIVED)
        return SceneDerivatives(self.contact_model, q0, qd0, effort, dt, steps, integrator, friction, limits, forces,
                                landed)

    def rollout_gradient(self: Any, cost: Cost, q0: ArrayLike, qd0: ArrayLike | None = None,
                         effort: ArrayLike | None = None, dt: float = 1e-3, steps: int = 1000,
                         integrator: str = "semi_implicit_euler", *, friction: bool = False, limits: bool = False,
                         forces: Forces = None, landed: float = LANDED) -> tuple[np.ndarray, RolloutGradient]:
        """The value of a cost along a rollout, and its gradient through the modes of its contacts, by one backward
        sweep; cost as of Robot.rollout_gradient, other arguments as of rollout_derivatives."""
        return self.rollout_derivatives(q0, qd0, effort, dt, steps, integrator, friction=friction, limits=limits,
                                        forces=forces, landed=landed).gradient(cost)


def _refuse(pairs, model):
    """ValueError for the first contact whose mode is ambiguous, and where modes do not determine derivatives."""
    contacts = model.contacts
    for k in np.flatnonzero(contacts.ambiguous):
        first, second = pairs[contacts.pair[k]]
        raise ValueError(f"contact of {first!r} and {second!r}: {contacts.mode[k]} by a margin of "
                         f"{min(contacts.opening[k], contacts.slipping[k]):g} alone, where derivatives change")
    if not model.determined:
        names = sorted({pairs[k] for k in contacts.pair[contacts.mode == SLIDING]})
        raise ValueError(f"contacts of {names} slide in different directions under a load that they share in a way "
                         "which no law determines: the step has no derivative")
