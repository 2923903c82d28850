"""Simulation: the forward dynamics integrated over time inside one kernel, for one initial state or WIDTH on lanes."""
from collections.abc import Callable
from functools import cache
from math import prod

import numpy as np
from numba import njit, types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike

from screw_dynamics.checks import broadcast, one_of, positive, real_numbers, whole
from screw_dynamics.compiled.batch import Workspaces
from screw_dynamics.compiled.cache import BATCHES, compiled, prepare
from screw_dynamics.compiled.entry import Entry
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.compiled.workspace import aligned, numbers_type
from screw_dynamics.model.model import Model
from screw_dynamics.numbers.lanes import WIDTH, splat

from .integrators import INTEGRATORS
from .steps import Job, work_rows

CONTROL = types.void(types.float64, *(numbers_type(1),) * 3)
JOB = types.NamedTuple((
    numbers_type(1), numbers_type(1), numbers_type(2), numbers_type(3, "A", readonly=True), types.FunctionType(CONTROL),
    types.boolean, types.float64, types.int64, types.float64, types.float64, numbers_type(3), numbers_type(3)), Job)


# ------------------------------------------------------------------------------------------------- entry points
@cache
def entry_points(integrator: str, acceleration: Entry) -> tuple[Callable, Callable]:
    """The compiled forms of an integrator over an algorithm of forward dynamics: for one robot, and on lanes."""
    advance, step, tableau, _ = INTEGRATORS[integrator]
    algorithm, Body = acceleration.algorithm, acceleration.Body
    name = f"rollout.{integrator}.{acceleration.name}"

    @compiled(name, nogil=True)
    def one(job):
        advance(step, tableau, algorithm, Body, 0.0, job)

    @compiled(name + BATCHES, nogil=True)
    def many(job):
        advance(step, tableau, algorithm, Body, splat(0.0), job)
    return one, many


@compiled()
def no_controller(t: float, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
    """The controller that sets no effort."""


def compiled_controller(function: Callable) -> Dispatcher:
    """A function controller(t, q, qd, tau) as the entry points take it, jitted by the caller or here. ValueError if it
    cannot be compiled, or returns something."""
    try:
        controller = function if isinstance(function, Dispatcher) else njit(function)
        if CONTROL.args not in controller.overloads:
            controller.compile(CONTROL)
    except (NumbaError, TypeError, RuntimeError) as error:
        raise ValueError(f"controller {function} cannot be compiled as controller(t, q, qd, tau): {error}") from error
    result = controller.overloads[CONTROL.args].signature.return_type
    if result != types.none:
        raise ValueError(f"controller {function} returns {result}; it must return nothing, and set tau")
    return controller


# ------------------------------------------------------------------------------------------------- rollouts
def rollout(acceleration: Entry, workspaces: Workspaces, model: Model, q0: ArrayLike, qd0: ArrayLike,
            effort: ArrayLike | Callable | None, dt: float, steps: int, integrator: str, *, friction: bool,
            limits: bool, every: int, rtol: float, atol: float, threads: int | None
            ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and samples of a simulation, as Robot.rollout describes; acceleration: the forward dynamics, an Entry whose
    inputs are q, qd, tau and armature."""
    n = model.n
    one_of("integrator", integrator, INTEGRATORS)
    for name, x in (("dt", dt), ("rtol", rtol), ("atol", atol)):
        positive(name, x)
    steps, every = whole("steps", steps, 0), whole("every", every, 1)
    if steps % every:
        raise ValueError(f"steps {steps} must be a multiple of every = {every}")
    q0, qd0 = broadcast({"q0": real_numbers("q0", q0, n), "qd0": real_numbers("qd0", qd0, n)}, n)
    lead, count, samples = q0.shape[:-1], prod(q0.shape[:-1]), steps // every
    controller = compiled_controller(effort) if callable(effort) else None
    efforts = _efforts(None if controller else effort, lead, steps, n)
    efforts = efforts.reshape(count, *efforts.shape[-2:])
    q, qd = np.empty((2, count, samples + 1, n))
    q[:, 0], qd[:, 0] = q0.reshape(count, n), qd0.reshape(count, n)
    if not controller:
        prepare(no_controller, CONTROL.args)
    tolerances = max(float(rtol), 100 * np.finfo(float).eps), float(atol)
    given = (_resistance(model, friction, limits), controller or no_controller, controller is not None, float(dt),
             every, *tolerances)
    simulate(integrator, acceleration, workspaces, given, efforts, q, qd, thread_count(threads))
    shape = (*lead, samples + 1, n)
    return every * dt * np.arange(samples + 1), q.reshape(shape), qd.reshape(shape)


def simulate(integrator: str, acceleration: Entry, workspaces: Workspaces, given: tuple, efforts: np.ndarray,
             q: np.ndarray, qd: np.ndarray, threads: int) -> None:
    """Fill q and qd (N, samples + 1, n) from their first samples on, WIDTH states at a time, in pieces on threads."""
    count, _, n = q.shape
    one, many = entry_points(integrator, acceleration)
    form, width = (one, 1) if count == 1 else (many, WIDTH)
    run = prepare(form, (JOB,)).entry_point
    shares = max(1, min(threads, -(-count // width)))
    size = -(-count // (shares if shares == 1 else 4 * shares))         # small pieces: a slow core delays no other
    size += -size % width
    joints, *others = given

    def work(starts):
        with workspaces.borrowed() as memory:
            room = aligned(work_rows(INTEGRATORS[integrator].tableau) * n * WIDTH)
            for start in starts:
                piece = slice(start, start + size)
                run(Job(memory, room, joints, efforts[piece], *others, q[piece], qd[piece]))
    on_threads(work, range(0, count, max(size, width)), shares)


def _resistance(model, friction, limits):
    """Damping, friction, lower and upper stop of the joints, (4, n)."""
    nothing = np.zeros(model.n)
    resistance = [model.damping, model.friction] if friction else [nothing, nothing]
    stops = [model.lower, model.upper] if limits else [nothing - np.inf, nothing + np.inf]
    return np.array(resistance + stops).reshape(4, model.n)


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
