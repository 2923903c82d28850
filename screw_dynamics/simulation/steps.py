"""Rules for steps from sample to sample: of fixed length, or as long as an error estimate allows.

Written once for any scalar: on lanes every state has its own time, and in adaptive steps its own step."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.compiled.interrupt import ended
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.compiled.workspace import COORDINATES, RESULT, watch_in
from screw_dynamics.numbers.lanes import extract, insert, places
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import Scalar, kernel, null, over

from .motion import Motion, Stages, has_stops, stop_at_limits
from .runge_kutta import Tableau, dense, dense_weights, error_norm, first_step, next_step, runge_kutta_stages

# A plan is a float64 array: numbers of a rollout, addresses of CALLS functions (bits, not numbers), and six numbers of
# each joint: damping, friction and stops in the rollout, and the model's damping and friction (6, n).
STEPS, EVERY, RELATIVE, ABSOLUTE, LONG, MAIN, ADDRESSES, CALLS = 0, 1, 2, 3, 4, 5, 8, 16
JOINTS = ADDRESSES + CALLS


class Job(NamedTuple):
    """The inputs of a rollout, and where its results go.

    memory: a workspace; plan: see above; initial states q0, qd0 (N, 1, n); effort (N, 1 or steps, n); q and qd (N,
    samples, n): samples after the initial state, which may overlap with it; dt: length of a step, s; stop (1,): other
    than 0 to end all rollouts that share it; diverged (1,): becomes 1 where a last sample is not finite."""

    memory: np.ndarray
    plan: np.ndarray
    q0: np.ndarray
    qd0: np.ndarray
    effort: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    dt: float
    stop: np.ndarray
    diverged: np.ndarray


@kernel
def work_rows(tableau: Tableau) -> int:
    """How many vectors (n) of working memory a rollout needs: state, efforts, five that Motion needs, state of a stage,
    and the rates of all stages, at least two, which stops need."""
    return 10 + 2 * max(2, len(tableau.c))


@kernel
def prepare_motion(tableau: Tableau, like: Scalar, job: Job) -> tuple[list, list, Motion, Stages]:
    """The state, the Motion and the Stages of a rollout, over scalars of the kind of `like`."""
    n, memory, count = int(job.memory[COORDINATES]), job.memory, work_rows(tableau)
    rows, middle = block(like, (count, n), memory, int(memory[RESULT])), (10 + count) // 2
    calls, joints = array_at(0, at(job.plan) + 8 * ADDRESSES, (CALLS,)), block(0.0, (6, n), job.plan, JOINTS)
    motion = Motion(at(memory), calls, joints, watch_in(memory), rows[2], rows[3], rows[4], rows[5], rows[6], rows[7])
    return rows[0], rows[1], motion, Stages(rows[10:middle], rows[middle:], rows[8], rows[9])


@kernel
def load_rows(rows: np.ndarray, first: int, sample: int, column: list) -> None:
    """Put rows[first ... first + 7, sample] into the places of a column; past the end, the last is repeated."""
    for k in range(len(column)):
        for place in range(places(column[k])):
            column[k] = insert(column[k], place, rows[min(first + place, len(rows) - 1), sample, k])


@kernel
def store_rows(rows: np.ndarray, first: int, sample: int, column: list) -> None:
    """The inverse of load_rows; places past the end are dropped."""
    for k in range(len(column)):
        for place in range(min(places(column[k]), len(rows) - first)):
            rows[first + place, sample, k] = extract(column[k], place)


@kernel
def note_divergence(job: Job, x: list, v: list) -> None:
    """Set job.diverged if any number of the state is not finite."""
    for k in range(len(x)):
        rest = (x[k] - x[k]) + (v[k] - v[k])                # NaN for an infinity too
        if some(rest != 0.0):
            job.diverged[0] = 1


@kernel
def fixed_steps(step: Callable, tableau: Tableau, like: Scalar, job: Job) -> None:
    """Steps of length dt; every `every`-th of them ends in a sample."""
    x, v, motion, stages = prepare_motion(tableau, like, job)
    steps, every, stops = int(job.plan[STEPS]), int(job.plan[EVERY]), has_stops(motion.joints)
    for first in range(0, len(job.q0), places(like)):
        load_rows(job.q0, first, 0, x)
        load_rows(job.qd0, first, 0, v)
        for i in range(steps):
            if i == 0 or job.effort.shape[1] > 1:
                load_rows(job.effort, first, i, motion.tau)
            step(tableau, motion, i * job.dt, job.dt, x, v, stages)
            if stops:
                stop_at_limits(motion, x, v, stages)
            if (i + 1) % every == 0:
                store_rows(job.q, first, i // every, x)
                store_rows(job.qd, first, i // every, v)
            if ended(motion.watch, job.stop):
                return
        note_divergence(job, x, v)


@kernel
def write_samples(tableau: Tableau, place: int, t: Scalar, h: Scalar, until: float, lost: bool, sample: int,
                  interval: float, x: list, v: list, stages: Stages, weights: np.ndarray, q: np.ndarray,
                  qd: np.ndarray) -> int:
    """Write the samples (samples, n) of one place, every `interval` seconds after the initial state, number 0, that lie
    in a step from t to `until`; NaN if the state is lost. Returns the number of the next sample."""
    start, length = extract(t, place), extract(h, place)
    while sample <= len(q) and sample * interval <= until:
        dense_weights(tableau, (sample * interval - start) / length, weights)
        for k in range(len(x)):
            q[sample - 1, k], qd[sample - 1, k] = dense(weights, length, x, v, stages, k, place)
            if lost:
                q[sample - 1, k] = qd[sample - 1, k] = np.nan
        sample += 1
    return sample


@kernel
def adaptive_steps(step: Callable, tableau: Tableau, like: Scalar, job: Job) -> None:
    """Runge-Kutta steps with SciPy's step control, sampled at every dt * every by dense output; each place has a time
    of its own. With efforts that vary, and with stops, a step ends at every dt. A state is NaN from where its
    step size underflows or its numbers cease to be finite."""
    x, v, motion, stages = prepare_motion(tableau, like, job)
    plan, dt, effort, q, qd, stops = job.plan, job.dt, job.effort, job.q, job.qd, has_stops(motion.joints)
    every, relative, tolerance = int(plan[EVERY]), plan[RELATIVE], plan[ABSOLUTE]
    varying, weights = effort.shape[1] > 1, np.empty(len(tableau.c))
    end = q.shape[1] * every * dt
    for first in range(0, len(q), places(like)):
        count = min(places(like), len(q) - first)
        load_rows(job.q0, first, 0, x)
        load_rows(job.qd0, first, 0, v)
        load_rows(effort, first, 0, motion.tau)
        t = null(like)
        horizon = t + (dt if varying or stops else end)
        sample, interval = t + 1.0, t                       # of each place: next sample, and interval dt
        h = first_step(tableau, motion, t, x, v, stages, relative, tolerance, end)
        retried = t > 1.0                                   # false everywhere
        while some(t < end):
            active, last = t < end, t + h >= horizon
            length = where(active, where(last, horizon - t, h), null(like))
            runge_kutta_stages(tableau, motion, t, length, x, v, stages)
            error = error_norm(tableau, length, x, v, stages, relative, tolerance)
            accepted, lost = active & (error < 1.0), active & (h < 1e-15 * t + 1e-300)
            arrival = where(lost, over(end, like), where(accepted, where(last, horizon, t + length), t))
            if some(lost):
                job.diverged[0] = 1
            for place in range(count):
                number, s = int(extract(sample, place)), first + place
                number = write_samples(tableau, place, t, length, extract(arrival, place), extract(lost, place), number,
                                       every * dt, x, v, stages, weights, q[s], qd[s])
                sample = insert(sample, place, float(number))
            for k in range(len(x)):
                x[k], v[k] = where(accepted, stages.q[k], x[k]), where(accepted, stages.v[k], v[k])
            h = where(active & (last & accepted), h, next_step(tableau, length, error, retried))
            retried = active & (error >= 1.0)
            t = arrival
            if stops:
                stop_at_limits(motion, x, v, stages)
            for place in range(places(like)):               # past the last state too, or those places would never end
                if (varying or stops) and extract(accepted & (t >= horizon), place):
                    i, number = int(extract(interval, place)) + 1, int(extract(sample, place)) - 1
                    s = min(first + place, len(q) - 1)
                    interval = insert(interval, place, float(i))
                    horizon = insert(horizon, place, min((i + 1) * dt, end))
                    for k in range(len(x)):
                        if number * every == i:             # the state after the stop, not before
                            q[s, number - 1, k], qd[s, number - 1, k] = extract(x[k], place), extract(v[k], place)
                        if varying and i < effort.shape[1]:
                            motion.tau[k] = insert(motion.tau[k], place, effort[s, i, k])
            if ended(motion.watch, job.stop):
                return
