"""What moves: motions under feedback, and the derivatives of their steps, as `step` of a robot, of a robot with
constraints or of a scene makes these. Phases follow each other, in which different constraints hold: given contacts."""
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics import checks
from screw_dynamics.constraints.projection import BOTH, PROJECTIONS
from screw_dynamics.forces.laws import EFFORT
from screw_dynamics.simulation.feedback import Around, Motion, follow
from screw_dynamics.simulation.integrators import INTEGRATORS, LINEARIZED, WITH_CONSTRAINTS
from screw_dynamics.simulation.linearization.linear_model import (
    Actuation,
    are_euler_steps,
    before_arrival,
    step_derivatives,
    with_padding,
)
from screw_dynamics.simulation.rollout import Rollouts
from screw_dynamics.sweeps.matrix_products import padded

AT_ONCE = 1024          # states of which derivatives are computed at a time: their arrays fit a cache
NUDGE = 1e-5            # rad, m, and their rates and efforts: of difference quotients
FLOATING = "free", "planar", "floating"


class Steps(NamedTuple):
    """Of steps: their length h (s), the integrator, whether joints have dry friction, and stop at their limits,
    elements of force, threads, and of robots with constraints which of PROJECTIONS follows."""

    h: float
    integrator: str
    friction: bool
    limits: bool
    forces: Any
    threads: int | None
    projection: str | None = BOTH


# ------------------------------------------------------------------------------------------------- phases
class TreePhase:
    """Steps of a Robot, from step `first` on."""

    def __init__(self, first: int, robot: Any, steps: Steps):
        self.first, self.robot, self.steps, self.rollouts = first, robot, steps, robot.rollouts
        checks.one_of("integrator", steps.integrator, LINEARIZED)

    enters = False              # whether states change where the phase begins

    @property
    def accelerates(self) -> bool:
        """Whether the last n rows of steps' derivatives say all: the others are (1 0 0) + h times these."""
        return are_euler_steps(self.robot, self.steps.integrator, self.steps.limits or self.steps.friction)

    def total(self) -> Any:
        """The sum of the elements of force that steps take."""
        return self.rollouts.stepped(self.steps.forces, self.steps.friction)

    def entered(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The velocities with which states (k, ...) enter the phase."""
        return qd

    def entry(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The derivatives (k, 2 n, 2 n) of the states that enter by those before."""
        n = self.robot.n
        return np.tile(np.eye(2 * n), (len(q), 1, 1))

    def free(self, q: np.ndarray) -> np.ndarray:
        """Columns (..., n, k) that span the velocities that nothing holds at configurations q (..., nq)."""
        return np.eye(self.robot.n)

    def end(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Where steps lead, of states and efforts (k, ...), at a time t."""
        h, integrator, friction, limits, forces, threads, _ = self.steps
        return self.rollouts.step(q, qd, tau, h, integrator, friction, limits, None, forces, t, None, threads)

    def ranks(self, q: np.ndarray) -> np.ndarray | None:
        """How many directions constraints hold, (k,), all along motions that begin at configurations q (k, nq); None
        where each step tells."""
        return None

    def derivatives(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, t: np.ndarray, whole: bool = True,
                    most: np.ndarray | None = None) -> np.ndarray:
        """F (k, 2 n, padded(3 n)) of steps from states at times t (k,), or else the last n rows; most: of `ranks`."""
        h, integrator, friction, limits, forces, threads, _ = self.steps
        actuation = Actuation(tau, None, self.rollouts.smooth(forces, friction), limits, threads, t, friction)
        return step_derivatives(self.robot, integrator, q, qd, actuation, h, whole=whole)[0]


class LoopPhase(TreePhase):
    """Steps of a ClosedLoopRobot, which end where its constraints hold, as far as `projection` says. It is entered by
    an impulse, which makes velocities keep them: first it acts, and then the robot moves, or a foot would go on for a
    step into the ground. Derivatives are exact along states that keep the constraints; with dry friction and stops,
    whose impulses are found with those of constraints, they are difference quotients of the steps, of order 2."""

    enters = True

    def __init__(self, first: int, mechanism: Any, steps: Steps):
        from screw_dynamics.closed_loops.motion import rollouts

        self.first, self.mechanism, self.robot, self.steps = first, mechanism, mechanism.robot, steps
        self.rollouts: Rollouts = rollouts(mechanism.constraints, steps.projection)
        checks.one_of("integrator of a robot with constraints", steps.integrator,
                      [name for name in LINEARIZED if name in WITH_CONSTRAINTS])

    @property
    def accelerates(self) -> bool:
        """The same."""
        return self.steps.projection is None and super().accelerates

    def free(self, q: np.ndarray) -> np.ndarray:
        """The same."""
        from screw_dynamics.closed_loops.projection import directions

        return directions(self.mechanism.jacobian(q)).admissible

    def entered(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Those after the impulse."""
        return self.mechanism.project_velocity(q, qd)

    def entry(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The same."""
        from screw_dynamics.closed_loops.arrival import after_impulse

        found, n, constraints = super().entry(q, qd), self.robot.n, self.mechanism.constraints
        found[:, n:] = after_impulse(constraints, q, constraints.jacobian(q), qd, found[:, :n], found[:, n:],
                                     self.steps.threads)
        return found

    def ranks(self, q: np.ndarray) -> np.ndarray | None:
        """The same. Loops that nothing closes would hold more, the longer the motion."""
        return None if self.steps.projection == BOTH else self._ranks_at(q)

    def _ranks_at(self, q):
        """How many directions constraints hold at configurations q (k, nq)."""
        from screw_dynamics.closed_loops.response import response

        return response(np.eye(self.robot.n), self.mechanism.jacobian(q), threads=self.steps.threads).rank

    def derivatives(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, t: np.ndarray, whole: bool = True,
                    most: np.ndarray | None = None) -> np.ndarray:
        """The same."""
        from screw_dynamics.closed_loops.arrival import after_impulse, arrive
        from screw_dynamics.closed_loops.derivatives import accelerations

        h, integrator, friction, limits, forces, threads, projection = self.steps
        if friction or limits:
            return self._quotients(q, qd, tau, t)
        constraints = self.mechanism.constraints
        if most is None and not (projection == BOTH and INTEGRATORS[integrator].implicit):
            most = self._ranks_at(q)        # within a step loops are open a little, but for where it starts

        def held(robot, q, qd, tau, external, threads, added=None, wanted=True):
            return accelerations(constraints, q, qd, tau, external, threads, added, most)
        actuation = Actuation(tau, None, self.rollouts.smooth(forces, friction), False, threads, t, False, held)
        if projection is None:
            return step_derivatives(self.robot, integrator, q, qd, actuation, h, whole=whole)[0]
        F, _, u, v = before_arrival(self.robot, integrator, q, qd, actuation, h)
        n, there = self.robot.n, self.robot.integrate(q, u)
        dq, dqd = F[:, :n, :3 * n], F[:, n:, :3 * n]
        if projection == BOTH:
            dq[...], dqd[...] = arrive(constraints, there, v, dq, dqd, threads)
        else:
            dqd[...] = after_impulse(constraints, there, constraints.jacobian(there), v, dq, dqd, threads, most)
        return F

    def _ends(self, q, qd, tau, t):
        """Where steps lead, each from its time."""
        if self.steps.forces is None:
            return self.end(q, qd, tau, 0.0)
        ends = [self.end(*(x[None] for x in state), float(at)) for *state, at in zip(q, qd, tau, t, strict=True)]
        return tuple(map(np.concatenate, zip(*ends, strict=True)))

    def _quotients(self, q, qd, tau, t):
        """Difference quotients of the steps."""
        robot, n, count = self.robot, self.robot.n, len(q)
        dx = NUDGE * np.concatenate((np.eye(3 * n), -np.eye(3 * n)))
        given = (robot.integrate(q[:, None], dx[:, :n]), qd[:, None] + dx[:, n:2 * n], tau[:, None] + dx[:, 2 * n:])
        ends = self._ends(*(x.reshape(-1, x.shape[-1]) for x in given), np.repeat(t, len(dx)))
        ends_q, ends_qd = (x.reshape(count, 2, 3 * n, -1) for x in ends)
        dq, dqd = robot.difference(ends_q[:, 1], ends_q[:, 0]), ends_qd[:, 0] - ends_qd[:, 1]
        return with_padding(np.swapaxes(np.concatenate((dq, dqd), axis=-1), -1, -2) / (2.0 * NUDGE))


class ScenePhase(TreePhase):
    """Steps of a Scene, whose derivatives are those in the modes of the contacts that they find."""

    accelerates = False

    def __init__(self, first: int, scene: Any, steps: Steps):
        self.first, self.scene, self.robot, self.steps = first, scene, scene.robot, steps
        self.rollouts = scene.touching.rollouts
        checks.one_of("integrator of a scene", steps.integrator, LINEARIZED[:1])

    def derivatives(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, t: np.ndarray, whole: bool = True,
                    most: np.ndarray | None = None) -> np.ndarray:
        """The same."""
        if self.steps.forces is None:
            return self._linearized(q, qd, tau, 0.0)
        return np.concatenate([self._linearized(*(x[None] for x in state), float(at))       # each at its time
                               for *state, at in zip(q, qd, tau, t, strict=True)])

    def _linearized(self, q, qd, tau, t):
        h, integrator, friction, limits, forces, threads, _ = self.steps
        found = self.scene.linearize(q, qd, tau, h, integrator, friction=friction, limits=limits, forces=forces, t=t,
                                     threads=threads)
        return with_padding(np.concatenate((found.A, found.B), axis=-1))


def phase(first: int, mover: Any, steps: Steps) -> TreePhase:
    """The phase of a Robot, a ClosedLoopRobot or a Scene. ValueError for anything else."""
    if hasattr(mover, "touching"):
        return ScenePhase(first, mover, steps)
    if hasattr(mover, "constraints") and hasattr(mover, "robot"):
        return LoopPhase(first, mover, steps)
    if hasattr(mover, "rollouts") and hasattr(mover, "forward_dynamics"):
        return TreePhase(first, mover, steps)
    raise ValueError(f"robot must be a Robot, a ClosedLoopRobot or a Scene, not {checks.described(mover)}")


# ------------------------------------------------------------------------------------------------- all of them
class Dynamics:
    """Steps of length h (s) from the time `start` (s) on, in phases that follow each other, of whose velocities
    `driven` (m) have efforts."""

    def __init__(self, phases: Sequence[TreePhase], driven: np.ndarray):
        self.phases, self.driven, self.robot, self.start = list(phases), driven, phases[0].robot, 0.0
        self.h, self.threads = phases[0].steps.h, phases[0].steps.threads
        self._all_in_order = np.array_equal(driven, np.arange(self.robot.n))

    def times(self, nodes: Any) -> np.ndarray:
        """The times of nodes."""
        return self.start + self.h * np.asarray(nodes)

    def _parts(self, N):
        """Each phase and its steps."""
        ends = [phase.first for phase in self.phases[1:]] + [N]
        for phase, end in zip(self.phases, ends, strict=True):
            yield phase, slice(phase.first, end), slice(phase.first, end + 1)

    def follow(self, around: Motion, lower: np.ndarray, upper: np.ndarray, gaps: np.ndarray | None = None,
               d: np.ndarray | None = None, K: np.ndarray | None = None, part: float = 1.0,
               begin: tuple[np.ndarray, np.ndarray] | None = None) -> Motion:
        """The Motion of efforts u + part d + K dx within bounds (1, 1, m), around q (P, N + 1, nq), qd and u; without
        d or K as if these were 0. It begins with the first states, or those (q, qd) of `begin`."""
        P, N, m = around.u.shape
        n = self.robot.n
        gaps = np.zeros((P, N + 1, 2 * n)) if gaps is None else gaps
        d = np.zeros((P, N, m)) if d is None else d
        K = np.zeros((P, N, m, padded(2 * n))) if K is None else K
        part, found = np.full((P, 1, 1), part), Motion(*(np.empty(x.shape) for x in around))
        for phase, steps, nodes in self._parts(N):
            k = nodes.start
            if k > 0:                                       # its first node is where the phase before has led
                begin = found.q[:, k].copy(), found.qd[:, k].copy()
            q, qd, u = self._through(phase, around, K, k, begin)
            given = (q[:, nodes], qd[:, nodes], u[:, steps], d[:, steps], K[:, steps].reshape(P, -1, m * K.shape[-1]),
                     gaps[:, nodes], part, lower, upper)
            one, rules = Around(*map(np.ascontiguousarray, given), self.driven), phase.steps
            found.q[:, nodes], found.qd[:, nodes], found.u[:, steps] = follow(
                phase.rollouts, rules.integrator, rules.friction, rules.limits, phase.total(), one, self.h,
                self.threads, float(self.times(k)))
            if phase.enters:                                # nodes are before the impulse
                found.qd[:, k] = around.qd[:, k] if begin is None else begin[1]
        return found

    def _through(self, phase, around, K, k, state):
        """The same motion, but for node k, where it is in another state, and has the effort that feedback gives
        there, and enters a phase."""
        if state is None and not phase.enters:
            return around
        q, qd, u = (x.copy() for x in around)
        if state is not None:
            dx = np.concatenate((self.robot.difference(q[:, k], state[0]), state[1] - qd[:, k]), axis=-1)
            q[:, k], qd[:, k] = state
            u[:, k] += (K[:, k, :, :dx.shape[-1]] @ dx[..., None])[..., 0]
        qd[:, k] = phase.entered(q[:, k], qd[:, k])
        return Motion(q, qd, u)

    def gaps(self, motion: Motion) -> np.ndarray:
        """Of each step of a Motion how far its end is behind the next state: (P, N + 1, 2 n), the first 0."""
        q, qd, u = motion
        n, (P, N, _) = self.robot.n, u.shape
        gaps = np.zeros((P, N + 1, 2 * n))
        for phase, steps, _ in self._parts(N):
            for k in range(steps.start, steps.stop):        # each at its time, for forces that depend on it
                before = phase.entered(q[:, k], qd[:, k]) if k == steps.start else qd[:, k]
                ends = phase.end(q[:, k], before, self.efforts(u[:, k]), float(self.times(k)))
                gaps[:, k + 1, :n] = self.robot.difference(q[:, k + 1], ends[0])
                gaps[:, k + 1, n:] = ends[1] - qd[:, k + 1]
        return gaps

    def holding(self, q: np.ndarray) -> np.ndarray:
        """The least efforts (..., m) that hold the robot at configurations q (..., nq), as far as these can: against
        gravity, springs, and what else acts at rest, along what constraints leave free."""
        first, tau = self.phases[0], self.robot.gravity_torque(q)
        total = first.rollouts.smooth(first.steps.forces, first.steps.friction)
        if total:
            tau = tau - total.derivatives(q, np.zeros(tau.shape), self.start)[0][..., EFFORT, :]
        free = np.swapaxes(first.free(q), -1, -2)
        return (np.linalg.pinv(free[..., self.driven], 1e-9) @ free @ tau[..., None])[..., 0]

    def efforts(self, u: np.ndarray) -> np.ndarray:
        """Efforts (..., n) of all velocities."""
        if self._all_in_order:
            return u
        tau = np.zeros((*u.shape[:-1], self.robot.n))
        tau[..., self.driven] = u
        return tau

    def derivatives(self, motion: Motion, whole: bool = True) -> np.ndarray:
        """F (P, N, 2 n, padded(2 n + m)) of the steps, by state and efforts; or else, if in all phases these say all,
        its last n rows, as sweeps/riccati.py takes them."""
        N, parts, whole = motion.u.shape[1], [], whole or not all(phase.accelerates for phase in self.phases)
        for phase, steps, _ in self._parts(N):
            q, qd, tau = motion.q[:, steps], motion.qd[:, steps], self.efforts(motion.u[:, steps])
            if phase.enters:
                E, qd = phase.entry(q[:, 0], qd[:, 0]), qd.copy()
                qd[:, 0] = phase.entered(q[:, 0], qd[:, 0])
            parts.append(self._of_phase(phase, q, qd, tau, self.times(np.arange(steps.start, steps.stop)), whole))
            if phase.enters:
                parts[-1][:, 0, :, :E.shape[-1]] = parts[-1][:, 0, :, :E.shape[-1]] @ E
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _of_phase(self, phase, q, qd, tau, t, whole):
        """The same of one phase, from states (P, k, ...)."""
        (P, count, n), m = qd.shape, len(self.driven)
        q, qd, tau = (np.ascontiguousarray(x).reshape(P * count, -1) for x in (q, qd, tau))
        t, F = np.tile(t, P), np.empty((P * count, (1 + whole) * n, padded(2 * n + m)))
        ranks = phase.ranks(q[::count])
        for first in range(0, P * count, AT_ONCE):
            some = slice(first, first + AT_ONCE)
            most = None if ranks is None else np.repeat(ranks, count)[some]
            found = phase.derivatives(q[some], qd[some], tau[some], t[some], whole, most)
            if self._all_in_order and len(found) == P * count:
                F = found
            elif self._all_in_order:
                F[some] = found
            else:
                F[some, :, :2 * n], F[some, :, 2 * n:2 * n + m] = found[..., :2 * n], found[..., 2 * n + self.driven]
                F[some, :, 2 * n + m:] = 0.0
        return F.reshape(P, count, -1, F.shape[-1])


def _moved_by_drives(model):
    """The joints that springs and windings move, of drives with coordinates of their own: these have the efforts."""
    moved: set[str] = set()
    for joint, own in model.motors.items():
        moved.update(model.drives[joint].shaft(joint))
        if f"{joint}_current" in own:
            moved.update(name for name in own if name != f"{joint}_current")
    return moved


def dynamics(robot: Any, steps: Steps, driven: Sequence[str] | None, N: int,
             phases: Sequence[tuple[int, Any]] = ()) -> Dynamics:
    """Dynamics of a Robot, a ClosedLoopRobot or a Scene. driven: the joints that have motors, all that neither float
    nor are moved by the spring or winding of a drive unless given; phases: (first step, robot) of those that follow.
    ValueError for what it cannot be."""
    for name, flag in ("friction", steps.friction), ("stops", steps.limits):
        checks.flag(name, flag)
    checks.positive("dt", steps.h)
    checks.one_of("projection", steps.projection, PROJECTIONS)
    found = [phase(0, robot, steps)]
    if not isinstance(phases, Iterable):
        raise ValueError(f"phases must be pairs (first step, robot), not {checks.described(phases)}")
    for given in phases:
        if not (isinstance(given, Sequence) and len(given) == 2):
            raise ValueError(f"phases must be pairs (first step, robot), not {checks.described(given)}")
        first, other = given
        first = checks.whole("the first step of a phase", first, 1)
        if first <= found[-1].first or first >= N:
            raise ValueError(f"phases must begin at steps that increase, above 0 and below {N}, not at {first} after "
                             f"{found[-1].first}")
        found.append(phase(first, other, steps))
        if any(getattr(found[-1].robot.model, x) != getattr(found[0].robot.model, x)
               for x in ("joint_names", "joint_kinds")):
            raise ValueError(f"phases must be of one robot: that from step {first} on has other joints")
    return Dynamics(found, driven_velocities(found[0].robot, driven))


def driven_velocities(robot: Any, driven: Sequence[str] | None) -> np.ndarray:
    """The velocities (m,) of the joints that have motors, all that do not float unless given. ValueError for other
    names, and for none."""
    model, n = robot.model, robot.n
    if driven is None:
        moved = _moved_by_drives(model)
        driven = [joint for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True)
                  if kind not in FLOATING and joint not in moved]
    if isinstance(driven, str) or not isinstance(driven, Iterable):
        raise ValueError(f"driven must name joints of the robot, each once, not {checks.described(driven)}")
    driven = list(driven)
    unknown = [joint for joint in driven if not isinstance(joint, str) or joint not in model.v_slices]
    if unknown or len(set(driven)) < len(driven):
        raise ValueError(f"driven must name joints of the robot, each once, not {unknown or list(driven)}")
    where = np.array([k for joint in driven for k in range(*model.v_slices[joint].indices(n))], dtype=np.int64)
    if len(where) == 0:
        raise ValueError("driven: no joint has a motor")
    return where
