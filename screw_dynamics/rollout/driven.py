"""Driven motion in one kernel: joints with servos, motors, brakes and gravity compensation, and wrenches on links, for
trees and for robots with constraints.

For one state. Efforts are updated at the start of each step, as in a digital controller."""
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from screw_dynamics.algorithms import hybrid_dynamics
from screw_dynamics.algorithms.choice import choice
from screw_dynamics.algorithms.space import groups, integrate, place_in_q, sizes
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import NUMBER
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.interrupt import begin, failed, finish
from screw_dynamics.compiled.native import at, call
from screw_dynamics.constraints import hybrid_dynamics as loops_hybrid_dynamics
from screw_dynamics.constraints.contacts.calls import contact_addresses
from screw_dynamics.constraints.projection import BEGIN, CONFIGURATIONS, NEEDED, NOTHING, projection_address, with_room
from screw_dynamics.forces import Element
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.numbers.memory import arranged
from screw_dynamics.numbers.values import kernel, noinline
from screw_dynamics.screws.se3 import Ad_dual, Wrench
from screw_dynamics.screws.vectors import Vec3

from .driven_joints import (
    ACCELERATION,
    ADDED,
    BRAKE,
    GRAVITY,
    POSITION,
    ROWS,
    SERVO,
    VELOCITY,
    DrivenJoints,
    Work,
    put_bounds,
    put_servos,
    read_servo_efforts,
)
from .integrators import INTEGRATORS, momenta_address
from .step_data import (
    DETECT,
    ELEMENTS,
    FACTORS,
    FORCES,
    FORWARD,
    MOMENTA,
    PROJECT,
    RESTORE,
    SOLVE,
    Sizes,
    StepData,
    add_forces,
    begin_step,
    end_step,
    project,
    push,
)
from .steps import prepare_step

HYBRID, STATICS = FACTORS + 1, FACTORS + 2           # addresses of functions, after those of a StepData


@kernel
def hybrid(memory: int, calls: np.ndarray, wrenches: np.ndarray, q: np.ndarray, work: Work) -> None:
    """Compute work.results from q (nq) and work.inputs."""
    call(calls[HYBRID], (memory, at(q), at(work.inputs), at(wrenches), at(work.results)))


@kernel
def put_passive(data: StepData, t: float, h: float, q: np.ndarray, qd: np.ndarray, work: Work) -> None:
    """Set work.passive to the efforts of friction and of force elements at a state, and work.inputs[3] to the added
    inertia of their implicit treatment, at the end of a step h > 0."""
    joints = data.joints
    for k in range(len(qd)):
        d = joints.damping[k]
        work.passive[k], work.inputs[3, k] = -d * qd[k] - joints.friction[k] * data.slip[k], h * d
    if len(qd) > 0 and data.calls[FORCES] != 0:
        add_forces(data, t, q, qd, h)
        for k in range(len(qd)):
            work.passive[k] += data.terms[0, k]
            work.inputs[3, k] += h * data.terms[2, k] + (h * h) * data.terms[1, k]


@noinline
def drive(data: StepData, wrenches: np.ndarray, reference: np.ndarray, t: float, h: float, q: np.ndarray,
          qd: np.ndarray, tau: np.ndarray, beyond: np.ndarray, work: Work) -> None:
    """Set tau (n) to the efforts of motors, servos and brakes at a state, work.results[0] to the resulting
    accelerations, and beyond (n) to the mask of clipped commands and efforts.

    A servo prescribes the acceleration qdd_d + RATE (qd_d - qd) + STIFFNESS (q_d - q). It compensates friction, force
    elements (taken at the end of a step h > 0 by the integrator), and wrenches (slots, 6). A servo that requires more
    than its limit applies its limit: its joint is then free, and the other servos compensate its motion. The reduced
    strength of weakened motors is not compensated."""
    memory, calls, joints, x, n = data.memory, data.calls, data.joints, work.inputs, len(qd)
    gravity, weak, (lowest, highest) = False, False, work.bounds
    put_passive(data, t, h, q, qd, work)
    put_bounds(joints, qd, work.bounds)
    for k in range(n):
        gravity |= joints.drive[k] == GRAVITY
        weak |= joints.strength[k] != 1.0
        x[0, k] = qd[k]
    if gravity:
        call(calls[STATICS], (memory, 0, at(q), at(q), at(q), at(q), at(q), at(work.gravity)))
    for k in range(n):
        kind = joints.drive[k]
        beyond[k], x[2, k] = joints.clipped[k] != 0.0, kind >= SERVO
        if kind >= SERVO:
            m = place_in_q(data.space, joints, k)
            off = reference[POSITION, k] - q[m] if m >= 0 else 0.0
            work.lacking[k] = x[1, k] = (
                reference[ACCELERATION, k] + joints.velocity_gain[k] * (reference[VELOCITY, k] - qd[k])
                + joints.position_gain[k] * off)
        else:
            tau[k] = work.gravity[k] if kind == GRAVITY else reference[ADDED, k]
            beyond[k] |= not lowest[k] <= tau[k] <= highest[k]
            tau[k] = min(max(tau[k], lowest[k]), highest[k])
            x[1, k] = tau[k] + work.passive[k]
    for _ in range(n + 1):
        hybrid(memory, calls, wrenches, q, work)
        freed = False
        for k in range(n):
            if x[2, k] == 0.0:
                continue
            tau[k] = work.results[1, k] - work.passive[k]
            added = reference[ADDED, k] if joints.drive[k] == SERVO else 0.0
            over = joints.drive[k] == SERVO and not lowest[k] <= tau[k] + added <= highest[k]
            if over or added != 0.0:
                tau[k] = min(max(tau[k] + added, lowest[k]), highest[k])
                x[1, k], x[2, k] = tau[k] + work.passive[k], 0.0
                beyond[k] |= over
                freed = True
        if not freed:
            break
    if weak:
        for k in range(n):
            if joints.drive[k] != BRAKE:
                tau[k] *= joints.strength[k]
                x[1, k], x[2, k] = tau[k] + work.passive[k], 0.0
        hybrid(memory, calls, wrenches, q, work)
        for k in range(n):
            if joints.drive[k] == BRAKE:
                tau[k] = work.results[1, k] - work.passive[k]
    for k in range(n):
        lacks = joints.drive[k] == SERVO and (not lowest[k] < tau[k] < highest[k] or joints.strength[k] != 1.0)
        work.lacking[k] = work.lacking[k] - work.results[0, k] if lacks else 0.0
    for k in range(n):          # a servo compensates dry friction; a brake holds permanently
        if x[2, k] != 0.0:
            data.dry[k] = np.inf if joints.drive[k] == BRAKE else 0.0


@kernel
def pushed(memory: int, calls: np.ndarray, wrenches: np.ndarray, q: np.ndarray, work: Work, tau: np.ndarray) -> None:
    """Add to tau (n) the joint efforts equivalent to wrenches: the difference of the efforts with and without wrenches
    at rest."""
    nothing = np.zeros(wrenches.shape)
    for sign in (1.0, -1.0):
        for k in range(len(tau)):
            work.inputs[0, k] = work.inputs[1, k] = work.inputs[3, k] = 0.0
            work.inputs[2, k] = 1.0
        hybrid(memory, calls, wrenches if sign < 0.0 else nothing, q, work)
        for k in range(len(tau)):
            tau[k] += sign * work.results[1, k]


@kernel
def pushing(wrenches: np.ndarray) -> bool:
    """Return True if any number of wrenches (slots, 6) is not 0. Numba would import scipy.linalg for a kernel that
    calls `any`."""
    for wrench in wrenches:
        for x in wrench:
            if x != 0.0:
                return True
    return False


@kernel
def finite(x: np.ndarray) -> bool:
    """Return True if all numbers of x (n) are finite."""
    for k in range(len(x)):
        if not x[k] - x[k] == 0.0:
            return False
    return True


@kernel
def driven_steps(implicit: bool, step: Callable, tableau: Any, memory: np.ndarray, calls: np.ndarray,
                 table: np.ndarray, wrenches: np.ndarray, reference: np.ndarray, steps: int, start: float, h: float,
                 q: np.ndarray, qd: np.ndarray, tau: np.ndarray, clipped: np.ndarray, lost: np.ndarray,
                 past: np.ndarray) -> int:
    """Make steps of length h from the time `start` and the state q (nq), qd (n). Set q and qd to the last finite state.
    Return the number of steps made.

    table: DrivenJoints. reference (1 or steps, REFERENCE, n). wrenches (slots, 6): in the frames of the bodies. calls:
    see FORWARD. tau (n): set to the efforts of the last step, or without steps to those at the state. clipped (n):
    number of steps with a clipped command or effort. lost (2, n): the accelerations, and a sum over the state, which
    are not finite after a failure. past (0 or steps, PAST, nq): q and the n numbers of qd at the start of each step,
    and its n efforts."""
    n, nq = len(qd), len(q)
    where_ = at(memory)
    joints = arranged(DrivenJoints, 0.0, Sizes(n, nq, 0), table, 0)
    x, v, data, stages = prepare_step(tableau, 0.0, groups, calls, joints, memory)
    work = Work(np.empty((hybrid_dynamics.INPUTS, n)), np.empty((2, n)), np.empty(n), np.empty(n),
                np.zeros(n), np.empty((2, n)))
    beyond, pushes = np.zeros(n, dtype=np.bool_), pushing(wrenches)
    if calls[RESTORE] > NEEDED:
        for k in range(nq):
            x[k] = q[k]
        project(data, BEGIN, h, x, qd)
    for i in range(max(steps, 1)):
        row = reference[min(i, len(reference) - 1)]
        begin_step(data, q, qd)
        for k in range(n):
            if joints.drive[k] == BRAKE:
                data.begin[k] = data.slip[k] = 0.0
        drive(data, wrenches, row, start + i * h, h if implicit else 0.0, q, qd, tau, beyond, work)
        if failed(ws.interrupt_at(data.memory)):
            return i
        if steps == 0:
            break
        for k in range(nq):
            x[k] = q[k]
        for k in range(n):
            v[k], lost[0, k], lost[1, k] = qd[k], work.results[0, k], 0.0
        if calls[DETECT] != 0:
            put_servos(data, h, tau, work)
        if not (finite(lost[0]) and finite(tau)):
            for k in range(n):
                lost[0, k] += tau[k]
            return i
        if implicit:
            for k in range(n):
                v[k], data.added[k] = v[k] + h * lost[0, k], work.inputs[3, k]
            integrate(data.space, q, h, push(data, h, q, v), x)
        else:
            for k in range(n):
                data.tau[k] = tau[k]
            if pushes:
                pushed(where_, calls, wrenches, q, work, data.tau)
            step(tableau, data, start + i * h, h, x, v, stages)
        if calls[PROJECT] != 0:
            end_step(data, h, x, v)
        if calls[DETECT] != 0:
            read_servo_efforts(data, h, tau, beyond, work.bounds)
        sizes(data.space, x, lost[1])
        for k in range(n):
            lost[1, k] = (lost[1, k] - lost[1, k]) + (v[k] - v[k])
        if not (finite(lost[1]) and finite(x)):
            return i
        for k in range(nq):
            if len(past):
                past[i, 0, k] = q[k]
            q[k] = x[k]
        for k in range(n):
            if len(past):
                past[i, 1, k], past[i, 2, k] = qd[k], tau[k]
            qd[k] = v[k]
            clipped[k] += beyond[k]
    return steps


# ------------------------------------------------------------------------------------------------- entry points
_VECTOR, _ROWS, _WORDS = ws.numbers_type(1), ws.numbers_type(2), ws.numbers_type(1, dtype="int64")
SIGNATURE = (_VECTOR, ws.read_type(1, dtype="int64"), ws.read_type(1), ws.read_type(2), ws.read_type(3), "int64",
             "float64", "float64", _VECTOR, _VECTOR, _VECTOR, _WORDS, _ROWS, ws.numbers_type(3))


def spec(integrator: str) -> KernelSpec:
    """Return the KernelSpec of an integrator for driven motion."""
    _, step, tableau, implicit, *_ = INTEGRATORS[integrator]

    @compiled(f"driven.{integrator}", nogil=True)
    def run(memory, calls, joints, wrenches, reference, steps, start, h, q, qd, tau, clipped, lost, past):
        begin(ws.interrupt_at(at(memory)), False)
        made = driven_steps(implicit, step, tableau, memory, calls, joints, wrenches, reference, steps, start, h,
                            q, qd, tau, clipped, lost, past)
        finish(ws.interrupt_at(at(memory)))
        return made
    return KernelSpec(run, SIGNATURE)


@cache
def _entry_point(integrator):
    return function(spec(integrator))


class Driven:
    """The driven motion of one robot, by an integrator with steps of fixed length. Not thread-safe.

    constraints: closed_loops.Constraints of the robot. contact_model: a ContactModel of the robot. servos: the largest
    number of joints with a servo, by default all. friction: True if the robot's own friction elements act; damping and
    friction of joints are in the table."""

    def __init__(self, robot: Any, integrator: str, forces: Sequence[Element] = (), constraints: Any = None,
                 contact_model: Any = None, servos: int | None = None, friction: bool = True):
        model, structure = robot.model, robot.model.structure
        self._total = robot._rollouts.step_forces(forces, friction)
        self._links, self._frames = model.links(robot.gravity), model.frame_rows(robot.gravity)
        self._place = {name: i for i, name in enumerate(model.frame_names) if name is not None}
        self._run, shared = _entry_point(integrator), model.shares_coordinates
        entries, self.lost = choice(None, model.shares_coordinates), np.zeros((2, model.n))
        statics, acceleration = entries.gravity_torque.of(structure), entries.acceleration.of(structure)
        hybrid, restored, tables, projects = hybrid_dynamics.address(shared), NEEDED, robot.tables, "joints"
        if constraints:
            hybrid, acceleration = loops_hybrid_dynamics.address(shared), constraints.acceleration
            restored, tables, projects = CONFIGURATIONS, constraints.in_workspaces, "loops"
        if contact_model is not None:
            restored = restored if constraints else NOTHING
            tables = contact_model.tables_with(robot.n if servos is None else servos)
            projects = "contacts and loops" if constraints else "contacts"
        self._memory = ws.workspace(with_room(tables) if projects == "joints" else tables)
        self._calls = np.zeros(STATICS + 1, dtype=np.int64)
        self._calls[FORWARD], self._calls[STATICS] = acceleration.address(NUMBER), statics.address(NUMBER)
        self._calls[HYBRID] = hybrid
        self._calls[PROJECT] = projection_address(structure, projects, False)
        self._calls[RESTORE] = restored
        if contact_model is not None:
            self._calls[DETECT], self._calls[SOLVE] = contact_addresses(False, contact_model.simple)
        if self._total:
            self._calls[FORCES], self._calls[ELEMENTS] = self._total.address(False), self._total.where
        if INTEGRATORS[integrator].momenta:
            self._calls[MOMENTA] = momenta_address(structure, False)

    def report(self, numbers: int) -> np.ndarray:
        """Return a copy of the first `numbers` entries of the last step's contact report; see
        constraints/contacts/tables.py."""
        first = ws.header(self._memory).report
        return self._memory[first:first + numbers].copy()

    def wrenches(self, external: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return wrenches {link: (6,)} as wrenches on the bodies (slots, 6), in the frames of the bodies."""
        on_bodies = np.zeros((len(self._links), 6))
        for link, wrench in external.items():
            slot, C = self._frames[self._place[link]]
            W = Ad_dual(C, Wrench(Vec3(*wrench[:3]), Vec3(*wrench[3:])))
            on_bodies[slot] += (*W.torque, *W.force)
        return on_bodies

    def run(self, joints: np.ndarray, wrenches: np.ndarray, reference: np.ndarray, steps: int, start: float, h: float,
            q: np.ndarray, qd: np.ndarray, clipped: np.ndarray, past: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """Make steps; see `driven_steps`. Changes q (nq), qd (n), clipped (n), int64, and past. Returns the number of
        steps made, the efforts tau (n), and the mask (n,) of the velocities that ended the motion. Raises ValueError
        for arrays of other shapes, as the kernel would read out of bounds."""
        if joints.shape != (ROWS, len(qd)):
            raise ValueError(f"joints is {joints.shape}, must be {(ROWS, len(qd))}")
        tau, self.lost[...] = np.zeros(len(qd)), 0.0
        made = self._run(self._memory, self._calls, joints.ravel(), wrenches, reference, steps, start, h, q, qd,
                         tau, clipped, self.lost, past)
        return made, tau, ~np.isfinite(self.lost.sum(axis=0))
