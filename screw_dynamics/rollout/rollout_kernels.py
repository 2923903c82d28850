"""Compiled rollouts: an integrator over all steps, for one initial state or WIDTH on lanes."""
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from screw_dynamics.algorithms.space import coordinates_alone, groups
from screw_dynamics.compiled import workspace as ws
from screw_dynamics.compiled.algorithm import GROUPS
from screw_dynamics.compiled.array_views import READABLE, WRITABLE, array_in, data_at, is_array
from screw_dynamics.compiled.calls import kernel as called
from screw_dynamics.compiled.functions import function
from screw_dynamics.compiled.interrupt import begin, finish
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.jit.kernel_cache.specs import BATCHES, KernelSpec, compiled
from screw_dynamics.numbers.lanes import splat
from screw_dynamics.numbers.values import Scalar, kernel, noinline

from .integrators import INTEGRATORS, MOST_STAGES
from .steps import DIVERGED, LEFT, Rollout, settings_in, settings_size, sizes_of, step_room


class State(NamedTuple):
    """The table of a rollout; it has no columns. Its vectors hold the results on lanes."""

    q: Scalar


ws.reserve(State, lambda n, b: (step_room(sizes_of(MOST_STAGES, n, n)),))


class Views(NamedTuple):
    """The arguments of a rollout of one state: addresses of array views, and dt."""

    workspace: int
    settings: int
    q0: int
    qd0: int
    effort: int
    t: int
    q: int
    qd: int
    dt: float


ADDRESSES = len(Views._fields) - 1


@kernel
def views_at(words: int) -> Views:
    """Return the arguments at an address."""
    w, dt = array_at(0, words, (ADDRESSES,)), array_at(0.0, words + 8 * ADDRESSES, (1,))
    return Views(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], dt[0])


@noinline
def fit(head: Any, steps: int, samples: int, given: Views) -> int:
    """Return 0 unless roll_one can read the arrays of a rollout of one state. Else return 1, plus 2 if q and qd hold
    only the last state, plus 4 if the efforts are constant."""
    n, nq, q, qd = head.coordinates, head.configuration, given.q, given.qd
    constant = is_array(given.effort, (n,), READABLE)
    if not (is_array(given.q0, (nq,), READABLE) and is_array(given.qd0, (n,), READABLE) and (
            constant or is_array(given.effort, (steps, n), READABLE))):
        return 0
    if is_array(q, (nq,), WRITABLE) and is_array(qd, (n,), WRITABLE):
        apart = data_at(q) + 8 * nq <= data_at(qd) or data_at(qd) + 8 * n <= data_at(q)
        return 3 + 4 * constant if apart else 0
    rows = samples + 1
    fits = (is_array(q, (rows, nq), WRITABLE) and is_array(qd, (rows, n), WRITABLE)
            and is_array(given.t, (rows,), WRITABLE))
    return 1 + 4 * constant if fits else 0


@noinline
def roll_one(advance: Callable, step: Callable, tableau: Any, space: Callable, given: Views) -> int:
    """Make a rollout from one state. Return 1, plus 1 if it diverged, plus 2 if it left limits that do not act.

    Returns 0 and changes nothing unless dt is positive and the arrays are contiguous float64: q0 (nq,), qd0 (n,);
    effort (n,) or (steps, n); results t (samples + 1,), q (samples + 1, nq) and qd (samples + 1, n). Or q and qd of the
    last state alone, which must not overlap, with any t."""
    memory, dt = ws.memory_at(data_at(given.workspace)), given.dt
    head = ws.header(memory)
    n, nq = head.coordinates, head.configuration
    options = array_in(given.settings, (settings_size(n),))
    settings = settings_in(options)
    steps = settings.steps
    samples = steps // settings.every
    fits = fit(head, steps, samples, given)
    if not (fits and 0.0 < dt < math.inf):
        return 0
    last, constant, interrupt = fits & 2, fits & 4, ws.interrupt_at(at(memory))
    skipped = 0 if last else 8
    if last:
        samples = 1
    else:
        interval, times = settings.every * dt, array_in(given.t, (samples + 1,))
        for i in range(samples + 1):
            times[i] = interval * i
        here, rate = array_in(given.q, (nq,)), array_in(given.qd, (n,))
        x, v = array_in(given.q0, (nq,)), array_in(given.qd0, (n,))
        for k in range(nq):
            here[k] = x[k]
        for k in range(n):
            rate[k] = v[k]
    begin(interrupt, settings.main != 0)
    rollout = Rollout(memory, options, array_in(given.q0, (1, 1, nq)), array_in(given.qd0, (1, 1, n)),
              array_in(given.effort, (1, 1 if constant else steps, n)),
              array_at(0.0, data_at(given.q) + skipped * nq, (1, samples, nq)),
              array_at(0.0, data_at(given.qd) + skipped * n, (1, samples, n)), dt,
              array_at(0.0, settings.report, (1, samples, settings.reported)), interrupt.stop, interrupt.notes)
    advance(step, tableau, 0.0, space, rollout)
    finish(interrupt)
    return 1 + interrupt.notes[DIVERGED] + 2 * interrupt.notes[LEFT]


STATES, NUMBERS = ws.read_type(3, "A"), ws.numbers_type(3, "A")
FLAG = ws.numbers_type(1, dtype="int64")
ONE = ("intp",)
MANY = (ws.numbers_type(1), ws.read_type(1), STATES, STATES, STATES, NUMBERS, NUMBERS, "float64", NUMBERS, FLAG,
        FLAG, "boolean")


def spec_of(integrator: str, lanes: bool, on_groups: bool = False) -> KernelSpec:
    """Return the KernelSpec of an integrator: for one state and all robots; or on lanes, for all robots with Lie-group
    joints or for all without. A rare integrator has one KernelSpec for all robots, as its iterations take longer."""
    advance, step, tableau, *_ = INTEGRATORS[integrator]
    apart = INTEGRATORS[integrator].beforehand
    space, name = groups if on_groups or not apart else coordinates_alone, f"rollout.{integrator}"

    @compiled(name)
    def one(words):
        return roll_one(advance, step, tableau, groups, views_at(words))

    @compiled(f"{name}{GROUPS * (on_groups and apart)}{BATCHES}", nogil=True)
    def many(memory, settings, q0, qd0, effort, q, qd, dt, report, stop, notes, main):
        interrupt = ws.interrupt_at(at(memory))
        begin(interrupt, main)
        advance(step, tableau, splat(0.0), space, Rollout(
            memory, settings, q0, qd0, effort, q, qd, dt, report, stop, notes))
        finish(interrupt)
    return KernelSpec(many, MANY) if lanes else KernelSpec(one, ONE)


@cache
def one(integrator: str, without_gil: bool = False) -> Callable[..., int]:
    """Return the compiled form of an integrator for one state, with the arguments of Views."""
    return called(spec_of(integrator, False), "a" * ADDRESSES + "d", without_gil)


@cache
def many(integrator: str, on_groups: bool) -> Callable:
    """Return the compiled form of an integrator on lanes."""
    return function(spec_of(integrator, True, on_groups))


def noted(done: int) -> tuple[bool, bool]:
    """Return the notes of a rollout of one state from the result of `roll_one`."""
    return bool(done - 1 & 1), bool(done - 1 & 2)
