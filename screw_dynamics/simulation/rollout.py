"""Simulation: the forward dynamics integrated over time inside one kernel, for one initial state or eight on lanes."""
from typing import NamedTuple

import numpy as np
from numba import njit, types
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from screw_dynamics.algorithms.forward_dynamics import CompositeBody, body_fixed, composite_bodies, hybrid
from screw_dynamics.compiled.batch import on_threads
from screw_dynamics.compiled.cache import compiled, prepare
from screw_dynamics.compiled.entry import Entry, per_joint
from screw_dynamics.compiled.workspace import BODY, SLOTS, aligned, links_in, numbers_type
from screw_dynamics.numbers.lanes import WIDTH, extract, insert, places, splat
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.tables import block, table
from screw_dynamics.numbers.values import kernel, null

from .integrators import (
    DP_A,
    DP_C,
    Motion,
    Stages,
    dense,
    error_norm,
    first_step,
    has_stops,
    next_step,
    rk4,
    runge_kutta_stages,
    semi_implicit_euler,
    stop_at_limits,
)

ROWS = 19           # vectors (n) of work memory: state, state of a stage, 7 stages of q and of qd, efforts
LAW_SIGNATURE = types.void(types.float64, *(numbers_type(1),) * 3)
LAW = types.FunctionType(LAW_SIGNATURE)


class Plan(NamedTuple):
    """Step dt (s), steps to a sample, and of the adaptive method the relative and absolute tolerance."""

    dt: float
    every: int
    relative: float
    absolute: float


PLAN = types.NamedTuple((types.float64, types.int64, types.float64, types.float64), Plan)
# memory, work, joints, effort (N, intervals, n), law, follow, plan, q, qd (N, samples + 1, n)
SIGNATURE = (numbers_type(1), numbers_type(1), numbers_type(2), numbers_type(3, "A", readonly=True), LAW, types.boolean,
             PLAN, numbers_type(3), numbers_type(3))


@kernel
def prepare_motion(Body, like, memory, work, joints, law, follow, n):
    """The state, what moves it, and the memory of a step, over scalars of the kind of `like`."""
    body = table(Body, like, int(memory[SLOTS]), memory, int(memory[BODY]))
    rows = block(like, (ROWS, n), work, 0)
    q, qd, stages = rows[0], rows[1], Stages(rows[4:11], rows[11:18], rows[2], rows[3])
    return q, qd, Motion(links_in(memory), body, joints, rows[18], law, follow, np.empty((3, n))), stages


@kernel
def load_rows(rows, first, sample, column):
    """Put rows[first ... first + 7, sample] into the places of a column; past the end, the last again."""
    for k in range(len(column)):
        for place in range(places(column[k])):
            column[k] = insert(column[k], place, rows[min(first + place, len(rows) - 1), sample, k])


@kernel
def store_rows(rows, first, sample, column):
    """The inverse of load_rows; places past the end are dropped."""
    for k in range(len(column)):
        for place in range(min(places(column[k]), len(rows) - first)):
            rows[first + place, sample, k] = extract(column[k], place)


@kernel
def fixed_steps(step, algorithm, Body, like, memory, work, joints, effort, law, follow, plan, q, qd):
    """Steps of length dt, with every so many of them a sample in q[:, 1:] and qd[:, 1:]; effort (N, 1 or steps, n)."""
    x, v, motion, stages = prepare_motion(Body, like, memory, work, joints, law, follow, q.shape[2])
    dt, every, stops = plan.dt, plan.every, has_stops(joints)
    for first in range(0, len(q), places(like)):
        load_rows(q, first, 0, x)
        load_rows(qd, first, 0, v)
        for i in range((q.shape[1] - 1) * every):
            if i == 0 or effort.shape[1] > 1:
                load_rows(effort, first, i, motion.tau)
            step(algorithm, motion, i * dt, dt, x, v, stages)
            if stops:
                stop_at_limits(algorithm, motion, x, v, stages)
            if (i + 1) % every == 0:
                store_rows(q, first, (i + 1) // every, x)
                store_rows(qd, first, (i + 1) // every, v)


@kernel
def write_samples(place, t, h, until, lost, sample, plan, x, v, stages, q, qd):
    """Write the samples (samples + 1, n) of one place that lie in a step from t to `until`, NaN if the state is lost.

    Returns the number of the sample to come."""
    start = extract(t, place)
    while sample < len(q) and sample * plan.every * plan.dt <= until:
        theta = (sample * plan.every * plan.dt - start) / extract(h, place)
        for k in range(len(x)):
            q[sample, k] = np.nan if lost else dense(theta, extract(h, place), x, stages.dq, k, place)
            qd[sample, k] = np.nan if lost else dense(theta, extract(h, place), v, stages.dv, k, place)
        sample += 1
    return sample


@kernel
def adaptive_steps(algorithm, Body, like, memory, work, joints, effort, law, follow, plan, q, qd):
    """Dormand-Prince steps with SciPy's step control, sampled at every dt * every by dense output; each place has a
    time of its own. With efforts that change, and with stops, a step ends at every dt. A state whose step shrinks to
    nothing, or that stops being finite, is NaN from there on."""
    x, v, motion, stages = prepare_motion(Body, like, memory, work, joints, law, follow, q.shape[2])
    dt, every, relative, tolerance = plan
    varying, stops = effort.shape[1] > 1, has_stops(joints)
    end = (q.shape[1] - 1) * every * dt
    for first in range(0, len(q), places(like)):
        count = min(places(like), len(q) - first)
        load_rows(q, first, 0, x)
        load_rows(qd, first, 0, v)
        load_rows(effort, first, 0, motion.tau)
        t = null(like)
        horizon = t + (dt if varying or stops else end)
        sample, interval = t + 1.0, t                       # of each place: sample to come, and interval dt
        h = first_step(algorithm, motion, t, x, v, stages, relative, tolerance, end)
        retried = t > 1.0                                   # nowhere
        while some(t < end):
            active, last = t < end, t + h >= horizon
            step = where(active, where(last, horizon - t, h), null(like))
            runge_kutta_stages(algorithm, motion, DP_A, DP_C, 0, t, step, x, v, stages)
            error = error_norm(step, x, v, stages, relative, tolerance)
            accepted, lost = active & (error < 1.0), active & (h < 1e-15 * t + 1e-300)
            arrival = where(lost, null(like) + end, where(accepted, where(last, horizon, t + step), t))
            for place in range(count):
                number, s = int(extract(sample, place)), first + place
                number = write_samples(place, t, step, extract(arrival, place), extract(lost, place), number, plan,
                                       x, v, stages, q[s], qd[s])
                sample = insert(sample, place, float(number))
            for k in range(len(x)):
                x[k], v[k] = where(accepted, stages.q[k], x[k]), where(accepted, stages.v[k], v[k])
            h = where(active & (last & accepted), h, next_step(step, error, retried))
            retried = active & (error >= 1.0)
            t = arrival
            if stops:
                stop_at_limits(algorithm, motion, x, v, stages)
            for place in range(places(like)):               # those past the last state too, or all would wait for them
                if (varying or stops) and extract(accepted & (t >= horizon), place):
                    i, number = int(extract(interval, place)) + 1, int(extract(sample, place)) - 1
                    s = min(first + place, len(q) - 1)
                    interval = insert(interval, place, float(i))
                    horizon = insert(horizon, place, min((i + 1) * dt, end))
                    for k in range(len(x)):
                        if number * every == i:             # as the stop left it, not as the step arrived
                            q[s, number, k], qd[s, number, k] = extract(x[k], place), extract(v[k], place)
                        if varying and i < effort.shape[1]:
                            motion.tau[k] = insert(motion.tau[k], place, effort[s, i, k])


# ------------------------------------------------------------------------------------------------- entry points
def _fixed(step, algorithm, Body):
    @compiled(nogil=True)
    def one(memory, work, joints, effort, law, follow, plan, q, qd):
        fixed_steps(step, algorithm, Body, 0.0, memory, work, joints, effort, law, follow, plan, q, qd)

    @compiled(nogil=True)
    def many(memory, work, joints, effort, law, follow, plan, q, qd):
        fixed_steps(step, algorithm, Body, splat(0.0), memory, work, joints, effort, law, follow, plan, q, qd)
    return one, many


def _adaptive(algorithm, Body):
    @compiled(nogil=True)
    def one(memory, work, joints, effort, law, follow, plan, q, qd):
        adaptive_steps(algorithm, Body, 0.0, memory, work, joints, effort, law, follow, plan, q, qd)

    @compiled(nogil=True)
    def many(memory, work, joints, effort, law, follow, plan, q, qd):
        adaptive_steps(algorithm, Body, splat(0.0), memory, work, joints, effort, law, follow, plan, q, qd)
    return one, many


def integrators(entry):
    """The compiled forms (one, many) of every integrator over an algorithm of forward dynamics."""
    algorithm, Body = entry.algorithm, entry.Body
    return {"semi_implicit_euler": _fixed(semi_implicit_euler, algorithm, Body), "rk4": _fixed(rk4, algorithm, Body),
            "rk45": _adaptive(algorithm, Body)}


# Inputs q, qd, tau and rotor. Only the integrators call them.
ARTICULATED = Entry(hybrid.articulated_bodies, hybrid.Body, 4, per_joint)
BODY_FIXED = Entry(body_fixed.articulated_bodies, body_fixed.Body, 4, per_joint)        # only for straight lines
COMPOSITE = Entry(composite_bodies, CompositeBody, 4, per_joint)
BY_ARTICULATED, BY_COMPOSITE = integrators(ARTICULATED), integrators(COMPOSITE)


@compiled()
def no_law(t, q, qd, tau):
    """The law that sets no effort."""


def as_law(function):
    """A function law(t, q, qd, tau) as the compiled entry points take it, jitted by the caller or here."""
    try:
        law = function if isinstance(function, Dispatcher) else njit(function)
        if LAW_SIGNATURE.args not in law.overloads:
            law.compile(LAW_SIGNATURE)
    except (NumbaError, TypeError, RuntimeError) as error:
        raise ValueError(f"the law {function} cannot be compiled as law(t, q, qd, tau): {error}") from error
    result = law.overloads[LAW_SIGNATURE.args].signature.return_type
    if result != types.none:
        raise ValueError(f"the law {function} returns {result}; it must return nothing, and set tau")
    return law


def simulate(methods, workspaces, joints, effort, law, plan, q, qd, threads):
    """Fill q and qd (N, samples + 1, n) from their first samples on, eight states on a lane, in pieces on threads."""
    count, _, n = q.shape
    one, many = methods
    compiled_form, width = (one, 1) if count == 1 else (many, WIDTH)
    prepare(compiled_form, SIGNATURE)
    follow = law is not None
    if not follow:
        prepare(no_law, LAW_SIGNATURE.args)
    shares = max(1, min(threads, -(-count // width)))
    size = -(-count // (shares if shares == 1 else 4 * shares))         # small pieces: a slow core delays no other
    size += -size % width

    def work(starts):
        with workspaces.borrowed() as memory:
            room = aligned(ROWS * n * WIDTH)
            for start in starts:
                piece = slice(start, start + size)
                compiled_form(memory, room, joints, effort[piece], law if follow else no_law, follow, plan,
                              q[piece], qd[piece])
    on_threads(work, range(0, count, max(size, width)), shares)
