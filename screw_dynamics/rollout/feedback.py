"""Rollouts under feedback around a reference motion: efforts u + a d + K dx within bounds, dx = (log(q^-1 q'), qd' -
qd).

After each step the state moves by a - 1 times the gap of that step in the reference motion. With a = 1 the state is the
end of the step; with smaller a a part of the gap remains (Mastalli et al., 2020)."""
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from threading import get_ident, main_thread
from typing import Annotated, Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.space import coordinates_alone, difference, groups, integrate
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import ending, lane, number
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.interrupt import begin, ended, finish
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.compiled.samples import load_rows, store_rows
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.compiled.workspace import header, interrupt_at
from screw_dynamics.constraints.projection import BEGIN, NEEDED
from screw_dynamics.jit.kernel_cache.specs import KernelSpec, compiled
from screw_dynamics.numbers.lanes import WIDTH, lane_count
from screw_dynamics.numbers.memory import arranged, room
from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import kernel, null

from .integrators import INTEGRATORS
from .rollout import Rollouts
from .step_data import PROJECT, RESTORE, begin_step, end_step, project
from .steps import CALLS, joint_settings_in, prepare_step, settings_in


class Around(NamedTuple):
    """P reference motions of N steps with feedback.

    q (P, N + 1, nq), qd (P, N + 1, n); efforts u (P, N, m) of the velocities `driven` (m), their changes d (P, N, m);
    gains K (P, N, m k) in rows of k >= 2 n; gaps (P, N + 1, 2 n), the first unused; part (P, 1, 1): a; bounds lower and
    upper (P or 1, N or 1, m) of u."""

    q: np.ndarray
    qd: np.ndarray
    u: np.ndarray
    d: np.ndarray
    K: np.ndarray
    gaps: np.ndarray
    part: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    driven: np.ndarray


class Motion(NamedTuple):
    """A motion: q (P, N + 1, nq), qd (P, N + 1, n) and efforts u (P, N, m)."""

    q: np.ndarray
    qd: np.ndarray
    u: np.ndarray


# Sizes of q, of velocities, of efforts, and of gains; twice the number of velocities.
Sizes = namedtuple("Sizes", "nq n m gains twice")


class Room(NamedTuple):
    """Workspace of a step with feedback around a reference motion.

    q, qd, u: reference states and efforts. d, lower, upper: changes and bounds of the efforts. K: gains. gap: gap at
    the end of the step. dx: deviation of the state from the reference. moved: configuration after the gap. part:
    fraction of the change that is applied."""

    q: Annotated[np.ndarray, "nq"]
    moved: Annotated[np.ndarray, "nq"]
    qd: Annotated[np.ndarray, "n"]
    dx: Annotated[np.ndarray, "twice"]
    gap: Annotated[np.ndarray, "twice"]
    u: Annotated[np.ndarray, "m"]
    d: Annotated[np.ndarray, "m"]
    lower: Annotated[np.ndarray, "m"]
    upper: Annotated[np.ndarray, "m"]
    K: Annotated[np.ndarray, "gains"]
    part: Annotated[np.ndarray, 1]


@kernel
def sizes_of(nq: int, n: int, m: int, gains: int) -> Sizes:
    """Return the Sizes of a Room."""
    return Sizes(nq, n, m, gains, 2 * n)


@kernel
def load_step(given: Around, first: int, i: int, at: Room) -> None:
    """Load the data of the feedback in step i, for as many motions as there are lanes."""
    load_rows(given.q, first, i, at.q)
    load_rows(given.qd, first, i, at.qd)
    load_rows(given.u, first, i, at.u)
    load_rows(given.d, first, i, at.d)
    load_rows(given.K, first, i, at.K)
    load_rows(given.lower, first, min(i, given.lower.shape[1] - 1), at.lower)
    load_rows(given.upper, first, min(i, given.upper.shape[1] - 1), at.upper)
    load_rows(given.gaps, first, i + 1, at.gap)


@kernel
def feed_back(space: Any, x: list, v: list, at: Room) -> None:
    """Compute the efforts at.u at the state (x, v)."""
    n, rows, u = len(v), len(at.K) // max(len(at.u), 1), at.u
    difference(space, at.q, x, at.dx)
    for k in range(n):
        at.dx[n + k] = v[k] - at.qd[k]
    for j in range(len(u)):
        new = u[j] + at.part[0] * at.d[j]
        for k in range(2 * n):
            new += at.K[j * rows + k] * at.dx[k]
        u[j] = where(new < at.lower[j], at.lower[j], where(new > at.upper[j], at.upper[j], new))


@kernel
def leave_gap(space: Any, x: list, v: list, at: Room) -> None:
    """Move the state by a - 1 times the gap."""
    n = len(v)
    integrate(space, x, at.part[0] - 1.0, at.gap, at.moved)
    for k in range(len(x)):
        x[k] = at.moved[k]
    for k in range(n):
        v[k] += (at.part[0] - 1.0) * at.gap[n + k]


@kernel
def feedback_steps(step: Callable, tableau: Any, like: Any, space: Callable, memory: np.ndarray, settings: np.ndarray,
                   dt: float, given: Around, found: Motion, stop: np.ndarray, work: np.ndarray) -> None:
    """Fill `found` by steps of length dt. memory: a workspace. settings: see steps.py."""
    head, rules = header(memory), settings_in(settings)
    n, calls, begin_at = head.coordinates, array_at(0, at(rules.calls), (CALLS,)), rules.start
    joints, projects = joint_settings_in(settings, n), calls[PROJECT] != 0
    x, v, data, stages = prepare_step(tableau, like, space, calls, joints, memory)
    here = arranged(Room, like, sizes_of(head.configuration, n, given.u.shape[2], given.K.shape[2]), work, 0)
    for k in range(n):
        data.tau[k] = null(like)
    for first in range(0, len(given.q), lane_count(like)):
        load_rows(given.q, first, 0, x)
        load_rows(given.qd, first, 0, v)
        load_rows(given.part, first, 0, here.part)
        store_rows(found.q, first, 0, x)
        store_rows(found.qd, first, 0, v)
        if calls[RESTORE] > NEEDED:
            project(data, BEGIN, null(like) + dt, x, v)
        for i in range(given.u.shape[1]):
            load_step(given, first, i, here)
            feed_back(data.space, x, v, here)
            for j in range(len(here.u)):
                data.tau[given.driven[j]] = here.u[j]
            begin_step(data, x, v)
            step(tableau, data, begin_at + i * dt, dt, x, v, stages)
            if projects:
                end_step(data, null(like) + dt, x, v)
            leave_gap(data.space, x, v, here)
            store_rows(found.q, first, i + 1, x)
            store_rows(found.qd, first, i + 1, v)
            store_rows(found.u, first, i, here.u)
            if ended(interrupt_at(data.memory), stop):
                return


def spec_of(integrator: str, lanes: bool, on_groups: bool) -> KernelSpec:
    """Return the KernelSpec of an integrator under feedback: for one motion after another and all robots, or on
    lanes."""
    _, step, tableau, *_ = INTEGRATORS[integrator]
    space, like = groups if on_groups or not lanes else coordinates_alone, lane if lanes else number

    @compiled(f"feedback.{integrator}{ending(lanes, on_groups)}", nogil=True)
    def entry(memory, settings, dt, q, qd, u, d, K, gaps, part, lower, upper, driven, new_q, new_qd, new_u, stop, work,
              main):
        interrupt = ws.interrupt_at(at(memory))
        begin(interrupt, main)
        feedback_steps(step, tableau, like(), space, memory, settings, dt,
                       Around(q, qd, u, d, K, gaps, part, lower, upper, driven), Motion(new_q, new_qd, new_u), stop,
                       work)
        finish(interrupt)
    line, cube, words = ws.numbers_type(1), ws.numbers_type(3), ws.numbers_type(1, dtype="int64")
    return KernelSpec(entry, (line, ws.read_type(1), "float64", *(ws.read_type(3),) * 9, ws.read_type(1, dtype="int64"),
                              *(cube,) * 3, words, line, "boolean"))


@cache
def entry_point(integrator: str, lanes: bool, on_groups: bool) -> Callable:
    """Return the compiled form of an integrator."""
    return function(spec_of(integrator, lanes, on_groups))


def follow(rollouts: Rollouts, integrator: str, friction: bool, limits: bool, total: Any, given: Around, dt: float,
           threads: int | None = None, start: float = 0.0) -> Motion:
    """Return the Motion under feedback from the time `start` (s) on. Arguments as for Rollouts.step_entry."""
    model = rollouts.robot.model
    P, N, m = given.u.shape
    lanes, on_groups = P > 1, model.on_groups
    settings, pool = rollouts.step_settings(integrator, friction, limits, None, total, lanes, start)
    found = Motion(*(np.empty((P, N + (k < 2), x.shape[2])) for k, x in enumerate(given[:3])))
    unit, run = WIDTH if lanes else 1, entry_point(integrator, lanes, on_groups)
    stop = np.zeros(1, dtype=np.int64)
    size = room(Room, sizes_of(model.nq, model.n, m, given.K.shape[2]), unit)

    def work(starts):
        main, memory = get_ident() == main_thread().ident, np.zeros(size)
        with pool.borrowed() as workspace:
            for start in starts:
                some = slice(start, start + unit)
                *arrays, driven = given
                given_here, found_here = (x[some] if len(x) == P else x for x in arrays), (x[some] for x in found)
                run(workspace, settings, dt, *given_here, driven, *found_here, stop, memory, main)
    on_threads(work, range(0, P, unit), min(thread_count(threads), -(-P // unit)), lambda: stop.fill(1))
    return found
