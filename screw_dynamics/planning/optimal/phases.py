"""Phases of a motion: steps of a robot, of a robot with constraints, or of a scene, with the derivatives of the `step`
of each."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.constraints.projection import BOTH
from screw_dynamics.robot import Robot
from screw_dynamics.rollout.integrators import INTEGRATORS, LINEARIZED, WITH_CONSTRAINTS
from screw_dynamics.rollout.linearization.linear_model import (
    Actuation,
    are_euler_steps,
    before_projection,
    step_derivatives,
    with_padding,
)
from screw_dynamics.rollout.rollout import Rollouts
from screw_dynamics.utils import checks
from screw_dynamics.utils.lazy import remade

NUDGE = 1e-5            # rad, m, and their rates and efforts: increment of difference quotients


class Steps(NamedTuple):
    """Settings of steps: length h (s), integrator, flags for dry friction and for stops at joint limits, force
    elements, threads, and the projection (PROJECTIONS) of robots with constraints."""

    h: float
    integrator: str
    friction: bool
    limits: bool
    forces: Any
    threads: int | None
    projection: str | None = BOTH


class TreePhase:
    """Steps of a Robot, beginning with step `first`."""

    def __init__(self, first: int, robot: Any, steps: Steps):
        self.first, self.robot, self.steps = first, robot, steps
        checks.one_of("integrator", steps.integrator, LINEARIZED)

    enters = False              # True if states change at the beginning of the phase

    @property
    def rollouts(self) -> Rollouts:
        """The rollouts that compute the steps."""
        return self.robot._rollouts

    @property
    def accelerates(self) -> bool:
        """True if the last n rows of the steps' derivatives determine the others, (1 0 0) + h times these."""
        return are_euler_steps(self.robot, self.steps.integrator, self.steps.limits or self.steps.friction)

    def total(self) -> Any:
        """Return the sum of the force elements of the steps."""
        return self.rollouts.step_forces(self.steps.forces, self.steps.friction)

    def entered(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the velocities after states (k, ...) enter the phase."""
        return qd

    def entry(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the derivatives (k, 2 n, 2 n) of the states after entering by those before."""
        n = self.robot.n
        return np.tile(np.eye(2 * n), (len(q), 1, 1))

    def free(self, q: np.ndarray) -> np.ndarray:
        """Return columns (..., n, k) that span the admissible velocities at configurations q (..., nq)."""
        return np.eye(self.robot.n)

    def end(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return q and qd at the end of a step from states with efforts (k, ...), at a time t."""
        h, integrator, friction, limits, forces, threads, _ = self.steps
        return self.rollouts.step(q, qd, tau, h, integrator, friction, limits, None, forces, t, None, threads)

    def ranks(self, q: np.ndarray) -> np.ndarray | None:
        """Return the ranks (k,) of the constraints for whole motions that begin at q (k, nq), or None if each step
        computes its own."""
        return None

    def derivatives(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, t: np.ndarray, whole: bool = True,
                    most: np.ndarray | None = None) -> np.ndarray:
        """Return F (k, 2 n, padded(3 n)) of steps at times t (k,), or the last n rows; most: result of `ranks`."""
        h, integrator, friction, limits, forces, threads, _ = self.steps
        actuation = Actuation(tau, None, self.rollouts.smooth(forces, friction), limits, threads, t, friction)
        return step_derivatives(self.robot, integrator, q, qd, actuation, h, whole=whole)[0]


class LoopPhase(TreePhase):
    """Steps of a ClosedLoopRobot, projected onto its constraints according to `projection`.

    An impulse at the beginning makes velocities satisfy the constraints. It acts before the robot moves, or a foot
    would penetrate the ground for a step. Derivatives are exact along states that satisfy the constraints. With dry
    friction and stops, whose impulses are solved with those of constraints, they are central difference quotients of
    the steps."""

    enters = True

    def __init__(self, first: int, mechanism: Any, steps: Steps):
        self.first, self.mechanism, self.robot, self.steps = first, mechanism, mechanism.robot, steps
        checks.one_of("integrator of a robot with constraints", steps.integrator,
                      [name for name in LINEARIZED if name in WITH_CONSTRAINTS])

    @remade
    def rollouts(self) -> Rollouts:
        """The rollouts that compute the steps of the robot with constraints."""
        from screw_dynamics.robot.closed_loops.motion import rollouts

        return rollouts(self.mechanism.constraints, self.steps.projection)

    @property
    def accelerates(self) -> bool:
        """True if no projection follows, and the last n rows determine the others."""
        return self.steps.projection is None and super().accelerates

    def free(self, q: np.ndarray) -> np.ndarray:
        """Return columns (..., n, k) that span the velocities that the constraints admit."""
        from screw_dynamics.robot.closed_loops.projection import directions

        return directions(self.mechanism.jacobian(q)).admissible

    def entered(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the velocities after the impulse. They are not finite if a motion diverges."""
        constraints = self.mechanism.constraints
        return constraints.evaluate(constraints.velocities, q=q, qd=qd)

    def entry(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the derivatives (k, 2 n, 2 n) of the states after the impulse by those before."""
        from screw_dynamics.robot.closed_loops.projection_derivatives import after_impulse

        found, n, constraints = super().entry(q, qd), self.robot.n, self.mechanism.constraints
        found[:, n:] = after_impulse(constraints, q, constraints.jacobian(q), qd, found[:, :n], found[:, n:],
                                     self.steps.threads)
        return found

    def ranks(self, q: np.ndarray) -> np.ndarray | None:
        """Return the ranks (k,) at q, or None if steps close the loops: the ranks of open loops grow with the
        motion."""
        return None if self.steps.projection == BOTH else self._ranks_at(q)

    def _ranks_at(self, q):
        """Return the ranks (k,) of the constraints at configurations q (k, nq)."""
        from screw_dynamics.robot.closed_loops.response import response

        return response(np.eye(self.robot.n), self.mechanism.jacobian(q), threads=self.steps.threads).rank

    def derivatives(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, t: np.ndarray, whole: bool = True,
                    most: np.ndarray | None = None) -> np.ndarray:
        """Return derivatives as TreePhase.derivatives does, along the constraints."""
        from screw_dynamics.robot.closed_loops.derivatives import accelerations
        from screw_dynamics.robot.closed_loops.projection_derivatives import after_impulse, after_projection

        h, integrator, friction, limits, forces, threads, projection = self.steps
        if friction or limits:
            return self._quotients(q, qd, tau, t)
        constraints = self.mechanism.constraints
        if most is None and not (projection == BOTH and INTEGRATORS[integrator].implicit):
            most = self._ranks_at(q)        # within a step loops open a little, except at its start

        def held(robot, q, qd, tau, external, threads, added=None, wanted=True):
            return accelerations(constraints, q, qd, tau, external, threads, added, most)
        actuation = Actuation(tau, None, self.rollouts.smooth(forces, friction), False, threads, t, False, held)
        if projection is None:
            return step_derivatives(self.robot, integrator, q, qd, actuation, h, whole=whole)[0]
        F, _, u, v = before_projection(self.robot, integrator, q, qd, actuation, h)
        n, there = self.robot.n, self.robot.integrate(q, u)
        dq, dqd = F[:, :n, :3 * n], F[:, n:, :3 * n]
        if projection == BOTH:
            dq[...], dqd[...] = after_projection(constraints, there, v, dq, dqd, threads)
        else:
            dqd[...] = after_impulse(constraints, there, constraints.jacobian(there), v, dq, dqd, threads, most)
        return F

    def _ends(self, q, qd, tau, t):
        """Return q and qd at the ends of steps, each from its time."""
        if self.steps.forces is None:
            return self.end(q, qd, tau, 0.0)
        ends = [self.end(*(x[None] for x in state), float(at)) for *state, at in zip(q, qd, tau, t, strict=True)]
        return tuple(map(np.concatenate, zip(*ends, strict=True)))

    def _quotients(self, q, qd, tau, t):
        """Return difference quotients of the steps."""
        robot, n, count = self.robot, self.robot.n, len(q)
        dx = NUDGE * np.concatenate((np.eye(3 * n), -np.eye(3 * n)))
        given = (robot.integrate(q[:, None], dx[:, :n]), qd[:, None] + dx[:, n:2 * n], tau[:, None] + dx[:, 2 * n:])
        ends = self._ends(*(x.reshape(-1, x.shape[-1]) for x in given), np.repeat(t, len(dx)))
        ends_q, ends_qd = (x.reshape(count, 2, 3 * n, -1) for x in ends)
        dq, dqd = robot.difference(ends_q[:, 1], ends_q[:, 0]), ends_qd[:, 0] - ends_qd[:, 1]
        return with_padding(np.swapaxes(np.concatenate((dq, dqd), axis=-1), -1, -2) / (2.0 * NUDGE))


class ScenePhase(TreePhase):
    """Steps of a Scene, with derivatives in the modes of the detected contacts."""

    accelerates = False

    def __init__(self, first: int, scene: Any, steps: Steps):
        self.first, self.scene, self.robot, self.steps = first, scene, scene.robot, steps
        checks.one_of("integrator of a scene", steps.integrator, LINEARIZED[:1])

    @remade
    def rollouts(self) -> Rollouts:
        """The rollouts that compute the steps of the scene."""
        self.scene.contact_model.have_room()
        return self.scene.contact_model.rollouts

    def derivatives(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, t: np.ndarray, whole: bool = True,
                    most: np.ndarray | None = None) -> np.ndarray:
        """Return derivatives as TreePhase.derivatives does, in the modes of the contacts."""
        if self.steps.forces is None:
            return self._linearized(q, qd, tau, 0.0)
        return np.concatenate([self._linearized(*(x[None] for x in state), float(at))       # each at its time
                               for *state, at in zip(q, qd, tau, t, strict=True)])

    def _linearized(self, q, qd, tau, t):
        h, integrator, friction, limits, forces, threads, _ = self.steps
        found = self.scene.linearize(q, qd, tau, h, integrator, friction=friction, limits=limits, forces=forces, t=t,
                                     threads=threads)
        return with_padding(np.concatenate((found.A, found.B), axis=-1))


def phase_of(first: int, mover: Any, steps: Steps) -> TreePhase:
    """Return the phase of a Robot, a ClosedLoopRobot or a Scene. Raises ValueError for anything else."""
    if hasattr(mover, "contact_model"):
        return ScenePhase(first, mover, steps)
    if hasattr(mover, "constraints") and hasattr(mover, "robot"):
        return LoopPhase(first, mover, steps)
    if isinstance(mover, Robot):
        return TreePhase(first, mover, steps)
    raise ValueError(f"robot must be a Robot, a ClosedLoopRobot or a Scene, not {checks.described(mover)}")
