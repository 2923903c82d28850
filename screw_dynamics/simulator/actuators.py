"""Efforts of the motors, servos and brakes of the simulated robot."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from screw_dynamics.forces import Element, without_friction
from screw_dynamics.model.floating_base import coordinates
from screw_dynamics.robot import Robot
from screw_dynamics.robot.closed_loops import ClosedLoopRobot
from screw_dynamics.rollout import driven_joints as rows
from screw_dynamics.rollout.driven_joints import BRAKE, EFFORT, GRAVITY, PAST, REFERENCE, SERVO
from screw_dynamics.scene import Contacts

from .commands import Drive, Drives
from .environment import ContactModel
from .limits import EnforcedLimits
from .loops import why_open
from .moving import Moving
from .reference import Sample
from .settings import Settings

STOPPING = 1e12   # N m s/rad or N s/m: damping that stops any joint within a step
Wrenches = Mapping[str, np.ndarray]     # {link: (6,)}, (torque, force), in the link's frame


class Actuators:
    """Motors, servos and brakes, one per joint. The efforts of motors and servos are limited, those of brakes are not.

    Servos and brakes compensate wrenches on links, friction, the force elements `forces`, and contact forces. A
    weakened servo applies a fraction of its effort, which nothing compensates. t: simulated time, s.

    described: the robot without payloads, whose weight motors add to effort commands if the drives say so; a motor
    behind a spring adds that of its joint's link.

    contact_model: the robot and its environment; q, qd and past states then include the free bodies. None for a robot
    without a scene. Efforts, accelerations and all other arrays (n,) are those of the robot alone."""

    def __init__(self, described: Robot, limits: EnforcedLimits, settings: Settings, forces: Sequence[Element] = ()):
        self._described, self._limits, self._settings, self.forces = described, limits, settings, forces
        self._moving: Moving | None = None
        self._measuring: Moving | None = None
        self._loops: ClosedLoopRobot | None = None
        self._drives: Drives | None = None

    def effort(self, robot: Robot, drives: Drives, sample: Sample | None, t: float, q: np.ndarray, qd: np.ndarray,
               wrenches: Wrenches) -> np.ndarray:
        """Return the efforts (n,) at a state q (nq,), qd (n,), under wrenches {link: (6,)}.

        sample: the reference, if any, rows (1, n)."""
        clipped = np.zeros(robot.n, dtype=np.int64)
        return self._run(robot, drives, sample, t, q.copy(), qd.copy(), wrenches, 0, clipped)[1]

    def acceleration(self, robot: Robot, drives: Drives, sample: Sample | None, t: float, q: np.ndarray, qd: np.ndarray,
                     wrenches: Wrenches) -> np.ndarray:
        """Return the accelerations (n,) of one step, (qd' - qd) / dt; 0 if the step cannot be made."""
        return self.step(robot, drives, sample, t, q, qd, wrenches)[0]

    def step(self, robot: Robot, drives: Drives, sample: Sample | None, t: float, q: np.ndarray, qd: np.ndarray,
             wrenches: Wrenches, contact_model: ContactModel | None = None
             ) -> tuple[np.ndarray, np.ndarray, Contacts | None]:
        """Make one step and return the accelerations (n,) of `acceleration`, the efforts (n,) and the contacts.

        The contacts are None for a robot without a scene, or if the step cannot be made."""
        end, clipped = qd.copy(), np.zeros(robot.n, dtype=np.int64)
        made, tau, _ = self._run(robot, drives, sample, t, q.copy(), end, wrenches, 1, clipped, None, contact_model)
        qdd = (end - qd)[:robot.n] / self._settings.step if made else np.zeros(robot.n)
        if contact_model is None or not made:
            return qdd, tau, None
        return qdd, tau, self._measuring.contacts()

    @property
    def crowded(self) -> bool:
        """True if the last motion ended early because the contacts would exceed max_contacts."""
        return self._moving.crowded

    @property
    def unsolved(self) -> float:
        """The largest residual in m/s of unsolved contacts of the last motion; 0 for a robot without a scene."""
        return self._moving.unsolved

    def reason(self, robot: Robot, q: np.ndarray, qd: np.ndarray) -> str:
        """Return the message about loops that opened when the last motion ended early at a state; "" if the cause is
        only that numbers are not finite."""
        return why_open(robot, q, qd, self._moving.driven.lost[0][:robot.n], self._settings.step)

    def loops(self, robot: Robot) -> ClosedLoopRobot:
        """Return the closed-loop model of a robot."""
        if self._loops is None or self._loops.robot is not robot:
            self._loops = ClosedLoopRobot(robot)
        return self._loops

    def move(self, robot: Robot, drives: Drives, samples: Sample | None, t: float, q: np.ndarray, qd: np.ndarray,
             wrenches: Wrenches, steps: int, clipped: np.ndarray, past: np.ndarray,
             contact_model: ContactModel | None = None) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        """Make steps with new efforts at the start of each. samples: the reference, if any, rows (steps, n).

        Returns the number of steps made, q (nq,) and qd (n,) after them, and the mask of the velocities that became
        non-finite if fewer were made than requested. clipped (n,) counts the steps in which a command or an effort was
        clipped. past (0 or steps, PAST, nq) receives q, the n numbers of qd at the start of each step, and the n
        efforts."""
        q, qd = q.copy(), qd.copy()
        made, _, failing = self._run(robot, drives, samples, t, q, qd, wrenches, steps, clipped, past, contact_model)
        return made, q, qd, failing

    def _run(self, robot, drives, samples, t, q, qd, wrenches, steps, clipped, past=None, contact_model=None):
        """Make steps. past: None for steps of sensors, which are not part of the motion."""
        measured = past is None and contact_model is not None
        by = self._measured_by(robot, contact_model) if measured else self._moved_by(robot, contact_model)
        if drives is not self._drives:      # brakes keep their positions until the drives change
            position = coordinates(q[:robot.nq], robot.n)
            self._drives, self._table = drives, self._joints(robot, drives, position)
            self._constant = _reference(drives, Sample(drives.kind, drives.value[None], *np.zeros((3, 1, robot.n))))
        reference = self._constant if samples is None else _reference(drives, samples)
        past = np.empty((0, PAST, len(q))) if past is None else past
        with np.errstate(all="ignore"):     # an overflow becomes a fault
            on_bodies = by.driven.wrenches(wrenches) if wrenches or contact_model is not None else self._unpushed
        table = self._table
        if contact_model is not None:
            table, reference = with_bodies(table, contact_model), _padded(reference, len(qd))
            more, clipped = clipped, np.zeros(len(qd), dtype=np.int64)
        added = None if drives.weight is None else partial(self._weight, robot, drives)
        made, tau, failing = by.run(table, on_bodies, reference, steps, t, self._settings.step, q, qd, clipped, past,
                                    added)
        if contact_model is not None:
            more += clipped[:robot.n]
        return made, tau[:robot.n], failing

    def _weight(self, robot, drives, q):
        """Return the efforts (n,) by which motors under effort commands carry the described robot at q."""
        if not np.array_equal(self._described.gravity, robot.gravity):
            self._described = self._described.with_gravity(robot.gravity)
        model, weight = robot.model, self._described.gravity_torque(q[:robot.nq])
        for joint, (motor, *_) in model.motors.items():
            weight[model.v_slices[motor].start] += weight[model.v_slices[joint].start]
        strength = 1.0 if drives.strength is None else drives.strength
        return np.where(drives.weight & (drives.kind == Drive.EFFORT), strength * weight, 0.0)

    def _moved_by(self, robot, contact_model):
        """Return the stepper of a robot."""
        if self._moving is None or robot is not self._moving.robot or contact_model is not self._moving.contact_model:
            self._moving, self._drives = Moving(robot, self._settings, self.forces, contact_model), None
            self._unpushed = self._moving.driven.wrenches({})
        return self._moving

    def _measured_by(self, robot, contact_model):
        """Return the stepper that sensors of a robot in a scene use. It is separate from that of the motion, since
        the measured state may be of an earlier scene, and the motion keeps its own memory and reports."""
        if self._measuring is None or contact_model is not self._measuring.contact_model:
            self._measuring = Moving(robot, self._settings, self.forces, contact_model)
        return self._measuring

    def _joints(self, robot: Robot, drives: Drives, q: np.ndarray) -> np.ndarray:
        """Return the parameter table of the joints at positions q (n,), see rollout/driven.py.

        Servos to a position or along the reference are critically damped; servos to a velocity are of first order. A
        brake stops its joint within one step, and acts as a stop in both directions."""
        kind, omega, h = drives.kind, self._settings.servo_bandwidth, self._settings.step
        friction, locked = float(self._settings.joint_friction), kind == Drive.LOCKED
        limit = self._limits.effort if drives.limit is None else np.minimum(self._limits.effort, drives.limit)
        to_position = (kind == Drive.POSITION) | (kind == Drive.REFERENCE)
        table = np.zeros((rows.ROWS, robot.n))
        joints = rows.DrivenJoints(*table)
        joints.damping[:], joints.friction[:] = friction * robot.model.damping, friction * robot.model.friction
        joints.lower[:] = np.where(locked, q, self._limits.lower)
        joints.upper[:] = np.where(locked, q, self._limits.upper)
        joints.drive[:], joints.place[:] = _DRIVES[kind], robot.model.q_indices
        joints.position_gain[:] = omega * omega * to_position
        joints.velocity_gain[:] = np.select([to_position, kind == Drive.VELOCITY, locked],
                                            [2.0 * omega, omega, 1.0 / h])
        joints.limit[:], joints.clipped[:] = limit, drives.beyond
        joints.stall[:], joints.no_load[:] = self._limits.torque_speed
        joints.strength[:] = (1.0 if drives.strength is None else
                              np.where(kind == Drive.EFFORT, 1.0, drives.strength))
        return table


_DRIVES = np.array([EFFORT, GRAVITY, SERVO, SERVO, SERVO, BRAKE])       # indexed by Drive


def with_bodies(table: np.ndarray, contact_model: ContactModel) -> np.ndarray:
    """Return the table of a robot's joints, followed by the joints of free bodies, which are not actuated."""
    n = table.shape[1]
    whole = _padded(table, contact_model.robot.n)
    joints = rows.DrivenJoints(*whole)
    joints.lower[n:], joints.strength[n:], joints.place[:] = -np.inf, 1.0, contact_model.robot.model.q_indices
    for bound in (joints.upper, joints.limit, joints.stall, joints.no_load):
        bound[n:] = np.inf
    return whole


def _padded(x: np.ndarray, n: int) -> np.ndarray:
    """Return an array (..., k), followed by zeros up to (..., n)."""
    return np.concatenate((x, np.zeros((*x.shape[:-1], n - x.shape[-1]))), axis=-1)


def _reference(drives: Drives, samples: Sample) -> np.ndarray:
    """Return the reference (rows, REFERENCE, n) of motors and servos."""
    kind, value = drives.kind, drives.value
    along = kind == Drive.REFERENCE
    reference = np.empty((len(samples.position), REFERENCE, len(kind)))
    reference[:, rows.POSITION] = np.where(along | (kind == Drive.POSITION), samples.position, 0.0)
    reference[:, rows.VELOCITY] = np.where(along, samples.velocity, np.where(kind == Drive.VELOCITY, value, 0.0))
    reference[:, rows.ACCELERATION] = np.where(along, samples.acceleration, 0.0)
    reference[:, rows.ADDED] = np.where(along, samples.effort, np.where(kind == Drive.EFFORT, value, 0.0))
    return reference


def braked(robot: Robot, locked: np.ndarray, q: np.ndarray, limits: EnforcedLimits, settings: Settings) -> Robot:
    """Return the robot to integrate: with the friction and stops of the settings, and brakes on the joints `locked`
    (n,).

    A brake is a stop in both directions at the joint's position in q (n,). For integrators with implicit friction it
    is also a huge damping, so that it holds within the step and not only after it."""
    model = robot.model if settings.joint_friction else without_friction(robot.model)
    return Robot(
        replace(
            model,
            damping=np.where(locked, STOPPING, model.damping) if settings.implicit else model.damping,
            lower=np.where(locked, q, limits.lower),
            upper=np.where(locked, q, limits.upper),
        ),
        robot.gravity,
    )


def singular_joint(mass: np.ndarray, smallest: float = 1e-12) -> int | None:
    """Return the index of a joint with zero articulated-body inertia; None if M (n, n) is regular.

    Elimination runs from the last joint to the first, so that the pivot of a joint is its articulated-body inertia.
    `smallest` is relative to the largest diagonal entry."""
    backwards = np.array(mass, dtype=float)[::-1, ::-1]
    threshold = smallest * backwards.diagonal().max(initial=0.0)

    def regular(k: int) -> bool:
        """Return True if the pivots of the last k joints are above the threshold."""
        try:
            return bool((np.linalg.cholesky(backwards[:k, :k]).diagonal() ** 2 > threshold).all())
        except np.linalg.LinAlgError:
            return False

    if regular(len(backwards)):
        return None
    return len(backwards) - 1 - bisect(range(1, len(backwards) + 1), False, key=lambda k: not regular(k))
