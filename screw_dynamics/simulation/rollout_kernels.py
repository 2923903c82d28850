"""What is compiled of rollouts: an integrator over all steps, for one initial state or WIDTH on lanes."""
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types

from screw_dynamics.algorithms.space import coordinates_alone, groups
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.borrow import BORROWED, READABLE, borrowed, data_at, is_array, layout_is_known
from screw_dynamics.compiled.interrupt import begin, finish, release_gil, retake_gil
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.kernel_cache.cache import BATCHES, Form, compiled, prepare
from screw_dynamics.numbers.lanes import splat
from screw_dynamics.numbers.values import Scalar, outlined

from .integrators import INTEGRATORS, ROWS
from .steps import DIVERGED, JOINTS, LEFT, OF_JOINT, Rollout, settings_in

KNOWN = layout_is_known()


class State(NamedTuple):
    """The table of a rollout itself, which needs no columns; its vectors are where results on lanes are."""

    q: Scalar


ws.reserve(State, lambda n, b: (ROWS, n))


@outlined
def fit(memory: np.ndarray, settings: Any, q0: Any, qd0: Any, effort: Any, t: Any, q: Any, qd: Any) -> int:
    """0 if the array objects of a rollout of one state are not such as roll_one reads. Else 1, 2 more if q and qd are
    for the last state alone, and 4 more if the efforts are constant."""
    head, steps = ws.header(memory), settings.steps
    n, nq = head.coordinates, head.configuration
    samples, constant = steps // settings.every, ws.is_state(effort, memory)
    if not (ws.is_configuration(q0, memory) and ws.is_state(qd0, memory) and (
            constant or is_array(effort, (steps, n), READABLE, head.array_type, head.array_dtype))):
        return 0
    if ws.is_result(q, (nq,), memory) and ws.is_result(qd, (n,), memory):
        apart = data_at(q) + 8 * nq <= data_at(qd) or data_at(qd) + 8 * n <= data_at(q)
        return 3 + 4 * constant if apart else 0
    rows = samples + 1
    fits = (ws.is_result(q, (rows, nq), memory) and ws.is_result(qd, (rows, n), memory)
            and ws.is_result(t, (rows,), memory))
    return 1 + 4 * constant if fits else 0


@outlined
def roll_one(advance: Callable, step: Callable, tableau: Any, space: Callable, workspace: Any, given: Any, q0: Any,
             qd0: Any, effort: Any, t: Any, q: Any, qd: Any, dt: float) -> int:
    """A rollout from one state: 1, 1 more if it diverged, 2 more if it left limits that do not act. Returns 0, and
    changes nothing, unless dt is positive and the others are arrays that borrow.py can read: q0 (nq,), qd0 (n,); effort
    (n,) or (steps, n); for results t (samples + 1,), q (samples + 1, nq) and qd (samples + 1, n); or q and qd of the
    last state alone, apart from each other in memory, and anything as t."""
    memory = ws.borrowed_memory(workspace)
    head = ws.header(memory)
    n, nq = head.coordinates, head.configuration
    given = borrowed(given, (JOINTS + OF_JOINT * n,))
    settings = settings_in(given)
    fits = fit(memory, settings, q0, qd0, effort, t, q, qd)
    if not (fits and 0.0 < dt < math.inf):
        return 0
    last, constant, steps, interrupt = fits & 2, fits & 4, settings.steps, ws.interrupt_at(at(memory))
    samples = 1 if last else steps // settings.every
    skipped = 0 if last else 8
    if not last:
        interval, times = settings.every * dt, borrowed(t, (samples + 1,))
        for i in range(samples + 1):
            times[i] = interval * i
        here, rate, x, v = borrowed(q, (nq,)), borrowed(qd, (n,)), ws.configuration(q0, memory), ws.state(qd0, memory)
        for k in range(nq):
            here[k] = x[k]
        for k in range(n):
            rate[k] = v[k]
    begin(interrupt, settings.main != 0)
    rollout = Rollout(memory, given, borrowed(q0, (1, 1, nq)), borrowed(qd0, (1, 1, n)),
              borrowed(effort, (1, 1 if constant else steps, n)),
              array_at(0.0, at(borrowed(q, (nq,))) + skipped * nq, (1, samples, nq)),
              array_at(0.0, at(borrowed(qd, (n,))) + skipped * n, (1, samples, n)), dt,
              array_at(0.0, settings.report, (1, samples, settings.reported)), interrupt.stop, interrupt.notes)
    released = release_gil(settings.long != 0)
    advance(step, tableau, 0.0, space, rollout)
    retake_gil(released)
    finish(interrupt)
    return 1 + interrupt.notes[DIVERGED] + 2 * interrupt.notes[LEFT]


STATES, NUMBERS, FLAG = ws.numbers_type(3, "A", readonly=True), ws.numbers_type(3, "A"), types.int64[::1]
ONE = *(BORROWED,) * 8, types.float64
MANY = (ws.numbers_type(1), ws.numbers_type(1), STATES, STATES, STATES, NUMBERS, NUMBERS, types.float64, NUMBERS, FLAG,
        FLAG, types.boolean)


def form_of(integrator: str, lanes: bool, on_groups: bool = False) -> Form:
    """What is compiled of an integrator, for all robots with joints on groups, or for all without: for one state, or on
    lanes."""
    advance, step, tableau, *_ = INTEGRATORS[integrator]
    space, name = groups if on_groups else coordinates_alone, f"rollout.{integrator}{'.groups' * on_groups}"

    @compiled(name)
    def one(workspace, settings, q0, qd0, effort, t, q, qd, dt):
        return roll_one(advance, step, tableau, space, workspace, settings, q0, qd0, effort, t, q, qd, dt)

    @compiled(f"{name}{BATCHES}", nogil=True)
    def many(memory, settings, q0, qd0, effort, q, qd, dt, report, stop, notes, main):
        interrupt = ws.interrupt_at(at(memory))
        begin(interrupt, main)
        advance(step, tableau, splat(0.0), space, Rollout(
            memory, settings, q0, qd0, effort, q, qd, dt, report, stop, notes))
        finish(interrupt)
    return Form(many, MANY) if lanes else Form(one, ONE)


@cache
def entry_point(integrator: str, lanes: bool, on_groups: bool) -> Callable:
    """The compiled form of an integrator."""
    if not (lanes or KNOWN):
        return lambda *arguments: 0
    return prepare(*form_of(integrator, lanes, on_groups)).entry_point


def noted(done: int) -> tuple[bool, bool]:
    """The notes of a rollout of one state, from what `roll_one` returned."""
    return bool(done - 1 & 1), bool(done - 1 & 2)
