"""Simulation: the forward dynamics integrated over time inside one kernel, for one initial state or eight on lanes."""
import math
from collections.abc import Callable
from functools import cache
from math import prod
from threading import get_ident, main_thread
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.choice import Choice
from screw_dynamics.checks import broadcast, one_of, positive, real_numbers, whole
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.batch import Workspaces
from screw_dynamics.compiled.borrow import BORROWED, READABLE, bits, borrowed, is_array, layout_is_known
from screw_dynamics.compiled.cache import compiled, prepare
from screw_dynamics.compiled.interrupt import OWN, begin, finish, release_gil, retake_gil
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.lanes import WIDTH, splat
from screw_dynamics.numbers.values import Scalar, kernel

from .divergence import warn_of_divergence
from .integrators import FIXED_STEPS, INTEGRATORS, ROWS
from .steps import ABSOLUTE, ADDRESSES, EVERY, JOINTS, LONG, MAIN, RELATIVE, STEPS, Job

BRIEF = 100             # steps times joints up to which a rollout of one state keeps the GIL


class State(NamedTuple):
    """The table of a rollout itself, which needs no columns; its vectors are where results on lanes are."""

    q: Scalar


ws.reserve(State, lambda n, b: (ROWS, n))


# ------------------------------------------------------------------------------------------------- entry points
@kernel
def roll_one(advance: Callable, step: Callable, tableau: Any, workspace: Any, plan: Any, q0: Any, qd0: Any,
             effort: Any, q: Any, qd: Any, dt: float) -> int:
    """A rollout from one state: 1, or 2 if it diverged. Returns 0, and changes nothing, unless dt is positive and the
    others are arrays that borrow.py can read: q0, qd0 (n,); effort (n,) or (steps, n); q and qd (samples + 1, n), of
    which the first remains as it is, or (n,) for the last state alone."""
    memory = ws.borrowed_memory(workspace)
    n = int(memory[ws.COORDINATES])
    plan = borrowed(plan, (JOINTS + 4 * n,))
    steps, constant = int(plan[STEPS]), ws.is_state(effort, memory)
    samples, last = steps // int(plan[EVERY]), ws.is_result(q, (n,), memory) and ws.is_result(qd, (n,), memory)
    if not (0.0 < dt < math.inf and ws.is_state(q0, memory) and ws.is_state(qd0, memory)
            and (constant or is_array(effort, (steps, n), READABLE, bits(memory[ws.ARRAY]), bits(memory[ws.DTYPE])))
            and (last or ws.is_result(q, (samples + 1, n), memory) and ws.is_result(qd, (samples + 1, n), memory))):
        return 0
    rows, shape = (1, 1, n), (1, 1 if last else samples, n)
    skipped, watch = 0 if last else 8 * n, ws.watch_in(memory)
    begin(watch, plan[MAIN] != 0.0)
    job = Job(memory, plan, borrowed(q0, rows), borrowed(qd0, rows), borrowed(effort, (1, 1 if constant else steps, n)),
              array_at(0.0, at(borrowed(q, rows)) + skipped, shape),
              array_at(0.0, at(borrowed(qd, rows)) + skipped, shape), dt, watch[OWN:], watch[OWN + 1:])
    released = release_gil(plan[LONG] != 0.0)
    advance(step, tableau, 0.0, job)
    retake_gil(released)
    finish(watch)
    return 1 + watch[OWN + 1]


STATES, NUMBERS, FLAG = ws.numbers_type(3, "A", readonly=True), ws.numbers_type(3, "A"), types.int64[::1]
ONE = *(BORROWED,) * 7, types.float64
MANY = (ws.numbers_type(1), ws.numbers_type(1), STATES, STATES, STATES, NUMBERS, NUMBERS, types.float64, FLAG, FLAG,
        types.boolean)


@cache
def entry_point(integrator: str, lanes: bool) -> Callable:
    """The compiled form of an integrator for all robots, for one state or on lanes."""
    advance, step, tableau, _ = INTEGRATORS[integrator]

    @compiled()
    def one(workspace, plan, q0, qd0, effort, q, qd, dt):
        return roll_one(advance, step, tableau, workspace, plan, q0, qd0, effort, q, qd, dt)

    @compiled(nogil=True)
    def many(memory, plan, q0, qd0, effort, q, qd, dt, stop, diverged, main):
        watch = ws.watch_in(memory)
        begin(watch, main)
        advance(step, tableau, splat(0.0), Job(memory, plan, q0, qd0, effort, q, qd, dt, stop, diverged))
        finish(watch)
    if not (lanes or layout_is_known()):
        return lambda *arguments: 0
    return prepare(*((many, MANY) if lanes else (one, ONE))).entry_point


# ------------------------------------------------------------------------------------------------- rollouts
class Rollouts:
    """The rollouts and steps of one robot, from its model, the entry points of its algorithms, and workspaces."""

    def __init__(self, model: Model, entries: Choice, workspaces: Workspaces):
        self._model, self._entries, self._workspaces = model, entries, workspaces
        self._plans: dict = {}
        self._no_effort = np.zeros(model.n)

    # --------------------------------------------------------------------------------------------- plans
    def plan(self, lanes: bool, friction: bool, limits: bool) -> np.ndarray:
        """The plan of one step; a new one for each call on lanes or not, with friction and limits or without."""
        key = lanes, bool(friction), bool(limits)
        if key not in self._plans:
            model, plan = self._model, np.zeros(JOINTS + 4 * self._model.n)
            plan[[STEPS, EVERY]] = 1
            plan[ADDRESSES:ADDRESSES + 1].view(np.int64)[:] = self._entries.acceleration.address(lanes)
            damping, dry, lower, upper = plan[JOINTS:].reshape(4, model.n)
            lower[:], upper[:] = (model.lower, model.upper) if limits else (-np.inf, np.inf)
            if friction:
                damping[:], dry[:] = model.damping, model.friction
            self._plans[key] = plan
        return self._plans[key].copy()

    def step_entry(self, integrator: str, friction: bool, limits: bool) -> tuple[Callable, np.ndarray]:
        """The entry point of one state and the plan of one step. ValueError for an adaptive integrator."""
        one_of("integrator", integrator, FIXED_STEPS)
        return entry_point(integrator, False), self.plan(False, friction, limits)

    # --------------------------------------------------------------------------------------------- one step
    def step(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dt: float, integrator: str, friction: bool,
             limits: bool, out: Any, threads: int | None) -> tuple[np.ndarray, np.ndarray]:
        """One step, as Robot.step describes; of any array-likes."""
        n, dt = self._model.n, positive("dt", dt)
        one_of("integrator", integrator, FIXED_STEPS)
        q, qd, tau = broadcast({name: real_numbers(name, x, n) for name, x in (("q", q), ("qd", qd), ("tau", tau))}, n)
        results = _results(out, q.shape)
        lead, count = q.shape[:-1], prod(q.shape[:-1])
        ends = np.empty((2, count, 1, n))
        if lead:
            q, qd, tau = (np.require(x, float, ["A"]).reshape(count, 1, n) for x in (q, qd, tau))
            self._many(integrator, self.plan(True, friction, limits), q, qd, tau, *ends, dt, threads)
        else:
            self._one(integrator, self.plan(False, friction, limits), q, qd, tau, *ends[:, 0, 0], dt)
        for result, end in zip(results, ends, strict=True):
            result[...] = end.reshape(result.shape)
        return results

    # --------------------------------------------------------------------------------------------- rollouts
    def rollout(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | Callable | None, dt: float, steps: int,
                integrator: str, friction: bool, limits: bool, every: int, rtol: float, atol: float,
                threads: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times and samples of a simulation, as Robot.rollout describes."""
        n = self._model.n
        one_of("integrator", integrator, INTEGRATORS)
        dt, rtol, atol = positive("dt", dt), positive("rtol", rtol), positive("atol", atol)
        steps, every = whole("steps", steps, 0), whole("every", every, 1)
        if steps % every:
            raise ValueError(f"steps {steps} must be a multiple of every = {every}")
        q0, qd0 = broadcast({"q0": real_numbers("q0", q0, n), "qd0": real_numbers("qd0", qd0, n)}, n)
        lead, samples = q0.shape[:-1], steps // every
        q, qd = np.empty((2, *lead, samples + 1, n))
        q[..., 0, :], qd[..., 0, :] = q0, qd0
        plan = self.plan(bool(lead), friction, limits)
        plan[STEPS], plan[EVERY], plan[RELATIVE], plan[ABSOLUTE] = steps, every, max(rtol, LEAST), atol
        if callable(effort):
            raise NotImplementedError
        if lead:
            count = prod(lead)
            effort = _efforts(effort, lead, steps, n)
            rows, rates = q.reshape(count, samples + 1, n), qd.reshape(count, samples + 1, n)
            diverged = self._many(integrator, plan, rows[:, :1], rates[:, :1], effort.reshape(count, -1, n),
                                  rows[:, 1:], rates[:, 1:], dt, threads)
        else:
            effort = self._no_effort if effort is None else _efforts(effort, lead, steps, n)
            plan[LONG] = steps * n > BRIEF or integrator not in FIXED_STEPS
            if threads is not None:
                thread_count(threads)
            diverged = self._one(integrator, plan, q0, qd0, effort, q, qd, dt)
        t = every * dt * np.arange(samples + 1)
        if diverged:
            warn_of_divergence(t, q, qd, dt, integrator)
        return t, q, qd

    def _one(self, integrator, plan, q0, qd0, effort, q, qd, dt):
        """Fill q and qd from one state on; True if it diverged."""
        run = entry_point(integrator, False)
        plan[MAIN] = get_ident() == main_thread().ident
        memory = self._workspaces.take()
        try:
            done = run(memory, plan, q0, qd0, effort, q, qd, dt)
            if not done:
                q0, qd0, effort = (np.require(x, float, ["C", "A"]).view(np.ndarray) for x in (q0, qd0, effort))
                effort = effort.reshape(effort.shape[-1]) if effort.shape[0] == 1 and effort.ndim == 2 else effort
                done = run(memory, plan, q0, qd0, effort, q, qd, dt)
        finally:
            self._workspaces.give_back(memory)
        return done == 2

    def _many(self, integrator, plan, q0, qd0, effort, q, qd, dt, threads):
        """Fill q and qd (N, samples, n) from the states (N, 1, n) on, eight at a time, in pieces on threads; True if a
        state diverged."""
        count, run = len(q), entry_point(integrator, True)
        shares = max(1, min(thread_count(threads), -(-count // WIDTH)))
        size = -(-count // (shares if shares == 1 else 4 * shares))     # small pieces: a slow core delays no other
        size += -size % WIDTH
        stop, diverged = np.zeros((2, 1), dtype=np.int64)

        def work(starts):
            main = get_ident() == main_thread().ident
            with self._workspaces.borrowed() as memory:
                for start in starts:
                    piece = slice(start, start + size)
                    run(memory, plan, q0[piece], qd0[piece], effort[piece], q[piece], qd[piece], dt, stop, diverged, main)
        on_threads(work, range(0, count, max(size, WIDTH)), shares, lambda: stop.fill(1))
        return diverged[0] != 0


LEAST = 100 * np.finfo(float).eps


def _results(out, shape):
    """The two arrays that a step writes."""
    if out is None:
        return np.empty(shape), np.empty(shape)
    good = isinstance(out, (tuple, list)) and len(out) == 2 and all(
        isinstance(x, np.ndarray) and x.dtype == float and x.shape == shape and x.flags.writeable for x in out)
    if not good:
        raise ValueError(f"out must be two writable float64 arrays (q, qd) of shape {shape}")
    return tuple(out)


def _efforts(effort, lead, steps, n):
    """The efforts of a rollout as a view (*lead, 1 or steps, n)."""
    effort = real_numbers("effort", np.zeros(n) if effort is None else effort, n)
    over_time = effort.ndim > 1 and effort.shape[-2] == steps and effort.shape != (*lead, n)
    numbers = np.require(effort, float, ["A"])
    try:
        if over_time:
            return np.broadcast_to(numbers, (*lead, steps, n))
        return np.broadcast_to(numbers[..., None, :], (*lead, 1, n))
    except ValueError:
        fit = f"({n},), {(*lead, n)} or {(*lead, steps, n)}"
        raise ValueError(f"effort has shape {effort.shape}, but must have {fit}") from None
