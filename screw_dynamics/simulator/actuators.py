"""The efforts by which motors, servos and brakes of the simulated robot follow its commands."""

from bisect import bisect
from dataclasses import replace

import numpy as np

from screw_dynamics.algorithms.friction import resistance
from screw_dynamics.robot import Robot

from .commands import Drive, Drives
from .limits import EnforcedLimits
from .reference import Sample
from .settings import Settings

BRAKE = 1e12   # N m s/rad or N s/m: damping that stops any joint within a step


class Actuators:
    """Motors, servos and brakes, one a joint. The effort of motors and servos is limited, that of brakes is not."""

    def __init__(self, limits: EnforcedLimits, settings: Settings):
        self._limit = limits.effort
        self._settings = settings

    def effort(
        self, robot: Robot, drives: Drives, sample: Sample, q: np.ndarray, qd: np.ndarray, pushed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The efforts (n,) at a state, and the mask (n,) of the joints whose command or effort is clipped.

        sample: the reference, rows (n,). pushed (n,): the joint efforts equivalent to external wrenches; servos and
        brakes compensate them. A weakened servo gives a share of what it would; nothing compensates that."""
        effort, beyond = self._of_sound_motors(robot, drives, sample, q, qd, pushed)
        if drives.strength is not None:
            scaled = (drives.kind != Drive.EFFORT) & (drives.kind != Drive.LOCKED)
            effort = np.where(scaled, drives.strength * effort, effort)
        return effort, beyond

    def _of_sound_motors(
        self, robot: Robot, drives: Drives, sample: Sample, q: np.ndarray, qd: np.ndarray, pushed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        kind = drives.kind
        effort = np.where(kind == Drive.EFFORT, drives.value, 0.0)
        beyond = drives.beyond
        if (kind == Drive.GRAVITY).any():
            effort = np.where(kind == Drive.GRAVITY, robot.gravity_torque(q), effort)
            beyond = beyond | (abs(effort) > self._limit)
            effort = np.clip(effort, -self._limit, self._limit)
        driven = kind >= Drive.VELOCITY
        if not driven.any():
            return effort, beyond
        mass = robot.mass_matrix(q)
        bias = robot.inverse_dynamics(q, qd, np.zeros(len(q))) - pushed
        if self._settings.joint_friction:   # servos and brakes compensate it
            resisting = resistance(robot.model.damping, robot.model.friction, qd)
            bias += resisting * qd
            mass += np.diag(resisting * (self._settings.step if self._settings.implicit else 0.0))
        acceleration = self._prescribed(drives, sample, q, qd)
        added = np.where(kind == Drive.REFERENCE, sample.effort, 0.0)
        while True:
            needed = hybrid_effort(mass, bias, effort, acceleration, driven) + driven * added
            over = driven & (kind != Drive.LOCKED) & (abs(needed) > self._limit)
            free = over | driven & (added != 0.0)
            if not free.any():
                return needed, beyond
            # A servo that would need more gives its limit: its joint is then free, which the others compensate.
            effort = np.where(free, np.clip(needed, -self._limit, self._limit), effort)
            driven, beyond = driven & ~free, beyond | over

    def _prescribed(self, drives: Drives, sample: Sample, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Accelerations (n,): critically damped to a position or along the reference, first order to a velocity, within
        a step to rest."""
        kind, value, omega = drives.kind, drives.value, self._settings.servo_bandwidth
        to_position = omega * omega * (value - q) - 2.0 * omega * qd
        to_velocity = omega * (value - qd)
        along = (sample.acceleration + 2.0 * omega * (sample.velocity - qd)
                 + omega * omega * (sample.position - q))
        to_rest = -qd / self._settings.step
        kinds = [kind == Drive.POSITION, kind == Drive.VELOCITY, kind == Drive.REFERENCE, kind == Drive.LOCKED]
        return np.select(kinds, [to_position, to_velocity, along, to_rest])


def braked(robot: Robot, locked: np.ndarray, q: np.ndarray, limits: EnforcedLimits, settings: Settings) -> Robot:
    """The robot to integrate: with the friction and the stops of the settings, and brakes on the joints `locked` (n,).

    A brake is a stop on both sides of the joint's position in q (n,). For an integrator that takes friction implicitly
    it is huge damping, too: then it holds within the step, and not only after it."""
    model = robot.model
    damping, friction = model.damping * settings.joint_friction, model.friction * settings.joint_friction
    return Robot(
        replace(
            model,
            damping=np.where(locked, BRAKE, damping) if settings.implicit else damping,
            friction=friction,
            lower=np.where(locked, q, limits.lower),
            upper=np.where(locked, q, limits.upper),
        ),
        robot.gravity,
    )


def hybrid_effort(
    mass: np.ndarray, bias: np.ndarray, effort: np.ndarray, acceleration: np.ndarray, driven: np.ndarray
) -> np.ndarray:
    """The efforts (n,) of M qdd + bias = effort, where `driven` joints have a given acceleration, others an effort."""
    free = ~driven
    qdd = np.where(driven, acceleration, 0.0)
    qdd[free] = np.linalg.solve(mass[np.ix_(free, free)], (effort - bias - mass @ qdd)[free])
    return np.where(driven, mass @ qdd + bias, effort)


def singular_joint(mass: np.ndarray, smallest: float = 1e-12) -> int | None:
    """The index of a joint that no inertia resists while the joints after it are free; None if M (n, n) is regular.

    Eliminates from the last joint to the first, so that the pivot of a joint is its articulated-body inertia;
    `smallest` is relative to the largest diagonal entry."""
    backwards = np.array(mass, dtype=float)[::-1, ::-1]
    threshold = smallest * backwards.diagonal().max(initial=0.0)

    def regular(k: int) -> bool:
        """Whether the pivots of the last k joints are above the threshold."""
        try:
            return bool((np.linalg.cholesky(backwards[:k, :k]).diagonal() ** 2 > threshold).all())
        except np.linalg.LinAlgError:
            return False

    if regular(len(backwards)):
        return None
    return len(backwards) - 1 - bisect(range(1, len(backwards) + 1), False, key=lambda k: not regular(k))
