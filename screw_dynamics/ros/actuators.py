"""The efforts with which motors and brakes of the simulated robot do what the commands ask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from screw_dynamics.integrators import STICTION
from screw_dynamics.ros.commands import Drive, Drives


@dataclass(frozen=True)
class Actuators:
    """Motors, servos and brakes, one a joint.

    effort_limit (n,): what motors and servos can give [N m or N]; brakes give what it takes. bandwidth: of the servos
    [rad/s]. dt: the step [s], in which a brake stops its joint. friction: whether the joints have the friction of the
    model; implicit: whether the integrator takes it at the end of the step. Servos and brakes allow for it.
    """

    effort_limit: np.ndarray
    bandwidth: float
    dt: float
    friction: bool
    implicit: bool

    def effort(self, robot, drives: Drives, q, qd, pushed) -> tuple[np.ndarray, np.ndarray]:
        """The efforts (n,) at a state, and the mask (n,) of the joints whose command or effort is cut at a limit.

        pushed (n,): the joint efforts equivalent to wrenches from outside; servos and brakes allow for them.
        """
        kind = drives.kind
        effort = np.where(kind == Drive.EFFORT, drives.value, 0.0)
        beyond = drives.beyond
        if (kind == Drive.GRAVITY).any():
            effort = np.where(kind == Drive.GRAVITY, robot.gravity_torque(q), effort)
            beyond = beyond | (abs(effort) > self.effort_limit)
            effort = np.clip(effort, -self.effort_limit, self.effort_limit)
        driven = kind >= Drive.VELOCITY
        if not driven.any():
            return effort, beyond
        mass = robot.mass_matrix(q)
        bias = robot.inverse_dynamics(q, qd, np.zeros(len(q))) - pushed
        if self.friction:
            resistance = robot.model.damping + robot.model.friction / (abs(qd) + STICTION)   # as rollout has it
            bias += resistance * qd
            mass += np.diag(self.dt * resistance if self.implicit else np.zeros(len(q)))
        acceleration = self._prescribed(drives, q, qd)
        while True:
            needed = hybrid_effort(mass, bias, effort, acceleration, driven)
            over = driven & (kind != Drive.LOCKED) & (abs(needed) > self.effort_limit)
            if not over.any():
                return needed, beyond
            # A servo that would need more gives its limit: its joint is free then, and the others have to allow for it.
            effort = np.where(over, np.copysign(self.effort_limit, needed), effort)
            driven, beyond = driven & ~over, beyond | over

    def _prescribed(self, drives: Drives, q, qd) -> np.ndarray:
        """Accelerations (n,): critically damped to a position, first order to a velocity, within a step to rest."""
        kind, value, omega = drives.kind, drives.value, self.bandwidth
        to_position = omega * omega * (value - q) - 2.0 * omega * qd
        to_velocity = omega * (value - qd)
        to_rest = -qd / self.dt
        kinds = [kind == Drive.POSITION, kind == Drive.VELOCITY, kind == Drive.LOCKED]
        return np.select(kinds, [to_position, to_velocity, to_rest])


def hybrid_effort(mass, bias, effort, acceleration, driven) -> np.ndarray:
    """Efforts (n,) that solve M qdd + bias = effort, `driven` joints with a given acceleration, others an effort."""
    free = ~driven
    qdd = np.where(driven, acceleration, 0.0)
    qdd[free] = np.linalg.solve(mass[np.ix_(free, free)], (effort - bias - mass @ qdd)[free])
    return np.where(driven, mass @ qdd + bias, effort)


def singular_joint(mass, smallest: float = 1e-12) -> int | None:
    """The index of a joint that no inertia resists while the joints after it are free; None if M (n, n) is regular.

    Eliminates from the last joint to the first, so that the pivot of a joint is its articulated-body inertia;
    `smallest` is relative to the largest diagonal entry.
    """
    rest = np.array(mass, dtype=float)
    threshold = smallest * rest.diagonal().max(initial=0.0)
    for i in reversed(range(len(rest))):
        if not rest[i, i] > threshold:
            return i
        rest[:i, :i] -= np.outer(rest[:i, i], rest[i, :i]) / rest[i, i]
    return None
