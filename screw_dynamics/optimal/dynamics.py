"""What moves: motions of a robot under feedback, and the derivatives of their steps, as `Robot.step` makes these."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics import checks
from screw_dynamics.simulation.feedback import Around, Motion, follow
from screw_dynamics.simulation.integrators import LINEARIZED
from screw_dynamics.simulation.linearization.linear_model import Actuation, step_derivatives
from screw_dynamics.sweeps.matrix_products import padded
from screw_dynamics.sweeps.riccati import Feedback

AT_ONCE = 1024          # states of which derivatives are computed at a time: their arrays fit a cache


class Dynamics(NamedTuple):
    """Steps of length h (s) of a robot, of whose velocities `driven` (m) have efforts."""

    robot: Any
    driven: np.ndarray
    h: float
    integrator: str
    friction: bool
    limits: bool
    forces: Any
    threads: int | None

    def follow(self, start: Motion, lower: np.ndarray, upper: np.ndarray, gaps: np.ndarray | None = None,
               feedback: Feedback | None = None, part: np.ndarray | float = 1.0) -> Motion:
        """The Motion of efforts u + part d + K dx within bounds (m), around q (P, N + 1, nq), qd and u; without
        feedback that of u alone, from the first states."""
        P, N, m = start.u.shape
        n = self.robot.n
        gaps = np.zeros((P, N + 1, 2 * n)) if gaps is None else gaps
        d, K = (feedback.d, feedback.K) if feedback else (np.zeros((P, N, m)), np.zeros((P, N, m, padded(2 * n))))
        lower, upper = (np.ascontiguousarray(np.broadcast_to(x, (P, N, m))) for x in (lower, upper))
        part = np.ascontiguousarray(np.broadcast_to(part, P)).reshape(P, 1, 1)
        total = self.robot.rollouts.total(self.forces)
        return follow(self.robot.rollouts, self.integrator, self.friction, self.limits, total, Around(
            *start, d, K.reshape(P, N, -1), gaps, part, lower, upper, self.driven), self.h, self.threads)

    def gaps(self, motion: Motion) -> np.ndarray:
        """Of each step of a Motion how far its end is behind the next state: (P, N + 1, 2 n), the first 0."""
        q, qd, u = motion
        n, gaps = self.robot.n, np.zeros((*q.shape[:-1], 2 * self.robot.n))
        ends = self.robot.step(q[:, :-1], qd[:, :-1], self.efforts(u), self.h, self.integrator, friction=self.friction,
                               limits=self.limits, forces=self.forces, threads=self.threads)
        gaps[:, 1:, :n], gaps[:, 1:, n:] = self.robot.difference(q[:, 1:], ends[0]), ends[1] - qd[:, 1:]
        return gaps

    def efforts(self, u: np.ndarray) -> np.ndarray:
        """Efforts (..., n) of all velocities."""
        if len(self.driven) == self.robot.n:
            return u
        tau = np.zeros((*u.shape[:-1], self.robot.n))
        tau[..., self.driven] = u
        return tau

    def derivatives(self, motion: Motion) -> np.ndarray:
        """F (P, N, 2 n, padded(2 n + m)) of the steps, by state and efforts."""
        robot, (P, N, m), n = self.robot, motion.u.shape, self.robot.n
        q, qd, tau, t = (np.ascontiguousarray(x).reshape(P * N, -1) for x in (
            motion.q[:, :-1], motion.qd[:, :-1], self.efforts(motion.u), np.tile(self.h * np.arange(N), P)))
        F = np.empty((P * N, 2 * n, padded(2 * n + m)))
        total = robot.rollouts.smooth(self.forces, self.friction)
        for first in range(0, P * N, AT_ONCE):
            some = slice(first, first + AT_ONCE)
            actuation = Actuation(tau[some], None, total, self.limits, self.threads, t[some, 0], self.friction)
            found, _ = step_derivatives(robot, self.integrator, q[some], qd[some], actuation, self.h)
            if m == n and len(found) == P * N:
                F = found
            elif m == n:
                F[some] = found
            else:
                F[some, :, :2 * n], F[some, :, 2 * n:2 * n + m] = found[..., :2 * n], found[..., 2 * n + self.driven]
                F[some, :, 2 * n + m:] = 0.0
        return F.reshape(P, N, 2 * n, -1)


def dynamics(robot: Any, h: float, driven: Any, integrator: str, friction: bool, limits: bool, forces: Any,
             threads: int | None) -> Dynamics:
    """Dynamics of a robot. driven: the joints that have motors, all that do not float unless given. ValueError for what
    it cannot be."""
    checks.one_of("integrator", integrator, LINEARIZED)
    for name, flag in ("friction", friction), ("stops", limits):
        checks.flag(name, flag)
    model = robot.model
    if driven is None:
        driven = [joint for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True)
                  if kind not in ("free", "planar", "floating")]
    driven = checks.names("driven", driven) if hasattr(checks, "names") else list(driven)
    unknown = [joint for joint in driven if joint not in model.v_slices]
    if unknown or len(set(driven)) < len(driven):
        raise ValueError(f"driven must name joints of the robot, each once, not {unknown or driven}")
    where = np.array([k for joint in driven for k in range(*model.v_slices[joint].indices(robot.n))], dtype=np.int64)
    if len(where) == 0:
        raise ValueError("driven: no joint has a motor")
    return Dynamics(robot, where, checks.positive("dt", h), integrator, friction, limits, forces, threads)
