"""Dynamics of motions under feedback, and derivatives of their steps. A motion is a sequence of phases with different
constraints, such as given contacts."""
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from screw_dynamics.constraints.projection import PROJECTIONS
from screw_dynamics.forces.laws import EFFORT
from screw_dynamics.rollout.feedback import Around, Motion, follow
from screw_dynamics.rollout.recursions.matrix_products import padded
from screw_dynamics.utils import checks

from .phases import Steps, TreePhase, phase_of

AT_ONCE = 1024          # states per batch of derivatives, whose arrays fit in a cache
FLOATING = "free", "planar", "floating"


class Dynamics:
    """Steps of length h (s) from the time `start` (s), in a sequence of phases. The velocities `driven` (m) have
    efforts."""

    def __init__(self, phases: Sequence[TreePhase], driven: np.ndarray):
        self.phases, self.driven, self.robot, self.start = list(phases), driven, phases[0].robot, 0.0
        self.h, self.threads = phases[0].steps.h, phases[0].steps.threads
        self._all_in_order = np.array_equal(driven, np.arange(self.robot.n))

    def times(self, nodes: Any) -> np.ndarray:
        """Return the times of nodes."""
        return self.start + self.h * np.asarray(nodes)

    def _parts(self, N):
        """Yield each phase with the slices of its steps and nodes."""
        ends = [phase.first for phase in self.phases[1:]] + [N]
        for phase, end in zip(self.phases, ends, strict=True):
            yield phase, slice(phase.first, end), slice(phase.first, end + 1)

    def follow(self, around: Motion, lower: np.ndarray, upper: np.ndarray, gaps: np.ndarray | None = None,
               d: np.ndarray | None = None, K: np.ndarray | None = None, part: float = 1.0,
               begin: tuple[np.ndarray, np.ndarray] | None = None) -> Motion:
        """Return the Motion of efforts u + part d + K dx within bounds (1, 1, m), around q (P, N + 1, nq), qd and u. By
        default d and K are 0. The motion begins with the first states, or with the states (q, qd) of `begin`."""
        P, N, m = around.u.shape
        n = self.robot.n
        gaps = np.zeros((P, N + 1, 2 * n)) if gaps is None else gaps
        d = np.zeros((P, N, m)) if d is None else d
        K = np.zeros((P, N, m, padded(2 * n))) if K is None else K
        part, found = np.full((P, 1, 1), part), Motion(*(np.empty(x.shape) for x in around))
        for phase, steps, nodes in self._parts(N):
            k = nodes.start
            if k > 0:                                       # the first node is the end of the phase before
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
        """Return the motion with node k replaced: another state, the effort that feedback computes there, and the
        velocity after the impulse of a phase."""
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
        """Return the gaps (P, N + 1, 2 n) between the end of each step of a Motion and the next state. The first is
        0."""
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
        """Return the least efforts (..., m) that hold the robot at configurations q (..., nq), as far as possible:
        against gravity, springs and other forces at rest, in the directions that constraints leave free."""
        first, tau = self.phases[0], self.robot.gravity_torque(q)
        total = first.rollouts.smooth(first.steps.forces, first.steps.friction)
        if total:
            tau = tau - total.derivatives(q, np.zeros(tau.shape), self.start)[0][..., EFFORT, :]
        free = np.swapaxes(first.free(q), -1, -2)
        return (np.linalg.pinv(free[..., self.driven], 1e-9) @ free @ tau[..., None])[..., 0]

    def efforts(self, u: np.ndarray) -> np.ndarray:
        """Return the efforts (..., n) of all velocities."""
        if self._all_in_order:
            return u
        tau = np.zeros((*u.shape[:-1], self.robot.n))
        tau[..., self.driven] = u
        return tau

    def derivatives(self, motion: Motion, whole: bool = True) -> np.ndarray:
        """Return F (P, N, 2 n, padded(2 n + m)) of the steps, by state and efforts. With `whole` False, and if its last
        n rows determine it in all phases, return only these, as rollout/recursions/riccati.py takes them."""
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
        """Return the derivatives of the steps of one phase, from states (P, k, ...)."""
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
    """Return the names of the joints that are moved by springs and windings of drives. The coordinates of the drives
    have the efforts instead."""
    moved: set[str] = set()
    for joint, own in model.motors.items():
        moved.update(model.drives[joint].shaft(joint))
        if f"{joint}_current" in own:
            moved.update(name for name in own if name != f"{joint}_current")
    return moved


def dynamics(robot: Any, steps: Steps, driven: Sequence[str] | None, N: int,
             phases: Sequence[tuple[int, Any]] = ()) -> Dynamics:
    """Return the Dynamics of a Robot, a ClosedLoopRobot or a Scene.

    driven: names of the actuated joints; by default all that neither float nor are moved by the spring or winding of a
    drive. phases: (first step, robot) of the phases after the first. Raises ValueError if an argument is wrong."""
    for name, flag in ("friction", steps.friction), ("stops", steps.limits):
        checks.flag(name, flag)
    checks.positive("dt", steps.h)
    checks.one_of("projection", steps.projection, PROJECTIONS)
    found = [phase_of(0, robot, steps)]
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
        found.append(phase_of(first, other, steps))
        if any(getattr(found[-1].robot.model, x) != getattr(found[0].robot.model, x)
               for x in ("joint_names", "joint_kinds")):
            raise ValueError(f"phases must be of one robot: that from step {first} on has other joints")
    return Dynamics(found, driven_velocities(found[0].robot, driven))


def driven_velocities(robot: Any, driven: Sequence[str] | None) -> np.ndarray:
    """Return the indices (m,) of the velocities of the actuated joints.

    By default these are the joints that do not float and are not moved by a spring or winding of a drive. Raises
    ValueError if a name is unknown or repeated, or if there is none."""
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
