"""Stepping rules from sample to sample: steps of fixed length, or adaptive by an error estimate.

Written for any scalar. On lanes every state has its own time, and in adaptive steps its own step."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.space import place_in_q
from screw_dynamics.compiled.interrupt import ended
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.compiled.records import WORD, reader, record
from screw_dynamics.compiled.samples import load_rows, store_rows
from screw_dynamics.compiled.workspace import header, interrupt_at
from screw_dynamics.constraints.impulses import ACTS
from screw_dynamics.constraints.projection import BEGIN, NEEDED
from screw_dynamics.numbers.lanes import extract, insert, lane_count
from screw_dynamics.numbers.memory import arranged, room
from screw_dynamics.numbers.scalars import some, where
from screw_dynamics.numbers.tables import block
from screw_dynamics.numbers.values import Scalar, kernel, noinline, null, over

from .runge_kutta import Tableau, dense, dense_weights, error_norm, first_step, next_step, runge_kutta_stages
from .step_data import (
    PROJECT,
    RESTORE,
    JointSettings,
    Sizes,
    Stages,
    StepData,
    any_limits,
    begin_step,
    beyond,
    end_step,
    project,
)

# The settings of a rollout are a float64 array: a record, then JointSettings. The record: number of steps, and steps a
# sample; tolerances; flags for a long rollout and the main thread; start time; for one state, address and length of the
# reports of samples; and addresses of functions, see step_data.py. With stops, dry friction, constraints or contacts,
# `project` of constraints/ is called with RESTORE after a step: NEEDED if only required by some joint; higher values
# otherwise, and then also with BEGIN before the first step.
CALLS = 23
SETTINGS = record("steps", "every", ("relative", float), ("absolute", float), "long", "main", ("start", float),
                  "report", "reported", ("calls", WORD, (CALLS,)))
_settings_at = reader(SETTINGS)
JOINTS = SETTINGS.itemsize // 8
DIVERGED, LEFT = 0, 1       # indices of a rollout's notes


class Rollout(NamedTuple):
    """The inputs of a rollout and its result arrays.

    memory: a workspace. settings: see above. q0 (N, 1, nq), qd0 (N, 1, n): initial states. effort (N, 1 or steps, n). q
    (N, samples, nq), qd (N, samples, n): samples after the initial state; they may overlap with it. dt: step length, s.
    report (N, samples, numbers): report of the last step of each sample, see contacts/tables.py. stop (1,): nonzero to
    end all rollouts that share it. notes (2,): set to 1 if a last sample is not finite, and if a sample is beyond a
    non-acting limit within which the state began."""

    memory: np.ndarray
    settings: np.ndarray
    q0: np.ndarray
    qd0: np.ndarray
    effort: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    dt: float
    report: np.ndarray
    stop: np.ndarray
    notes: np.ndarray


@kernel
def settings_in(memory: np.ndarray) -> Any:
    """Return the SETTINGS of a rollout."""
    return _settings_at(at(memory))


@kernel
def settings_size(n: int) -> int:
    """Return the length of the settings of a rollout with n velocities."""
    return JOINTS + room(JointSettings, Sizes(n, 0, 0))


@kernel
def joint_settings_in(settings: np.ndarray, n: int) -> JointSettings:
    """Return the JointSettings of a rollout."""
    return arranged(JointSettings, 0.0, Sizes(n, 0, 0), settings, JOINTS)


@kernel
def joint_settings_at(where: int, n: int) -> JointSettings:
    """Return the JointSettings at an address."""
    sizes = Sizes(n, 0, 0)
    return arranged(JointSettings, 0.0, sizes, array_at(0.0, where, (room(JointSettings, sizes),)), 0)


@kernel
def sizes_of(tableau: Tableau, n: int, nq: int) -> Sizes:
    """Return the Sizes of a rollout."""
    return Sizes(n, nq, max(4, len(tableau.c)))


@kernel
def step_room(sizes: Sizes) -> int:
    """Return the number of scalars in the memory of a step."""
    return room(StepData, sizes) + room(Stages, sizes)


@kernel
def prepare_step(tableau: Tableau, like: Scalar, space: Callable, calls: Any, joints: Any,
                 memory: np.ndarray) -> tuple[list, list, StepData, Stages]:
    """Return the state, the StepData and the Stages of a rollout in a workspace, with scalars of the type of `like`.

    space(memory): StepData.space."""
    head = header(memory)
    sizes = sizes_of(tableau, head.coordinates, head.configuration)
    data = arranged(StepData, like, sizes, memory, head.result, space(memory), at(memory), calls, joints)
    stages = arranged(Stages, like, sizes, memory, head.result + lane_count(like) * room(StepData, sizes))
    for k in range(ACTS):
        for i in range(sizes.n):
            data.acts[k, i] = null(like)
    return stages.x, stages.velocity, data, stages


@kernel
def step_data_of(tableau: Tableau, like: Scalar, space: Callable, rollout: Rollout
                 ) -> tuple[list, list, StepData, Stages]:
    """Return `prepare_step` for a rollout."""
    calls = array_at(0, at(settings_in(rollout.settings).calls), (CALLS,))
    joints = joint_settings_in(rollout.settings, header(rollout.memory).coordinates)
    return prepare_step(tableau, like, space, calls, joints, rollout.memory)


@kernel
def note_divergence(rollout: Rollout, x: list, v: list) -> None:
    """Set the note of divergence if any number of the state is not finite."""
    for k in range(len(x)):
        if some(x[k] - x[k] != 0.0):                            # NaN for infinity too
            rollout.notes[DIVERGED] = 1
    for k in range(len(v)):
        if some(v[k] - v[k] != 0.0):
            rollout.notes[DIVERGED] = 1


@noinline
def note_left(rollout: Rollout, data: StepData, first: int, x: list) -> None:
    """Set the note of limits if a joint of the states from `first` on, one a lane of x, is beyond a limit within which
    it began."""
    joints = data.joints
    for k in range(len(joints.least)):
        m, least, most = place_in_q(data.space, joints, k), joints.least[k], joints.most[k]
        if m >= 0:
            for lane in range(min(lane_count(x[m]), len(rollout.q0) - first)):
                start, end = rollout.q0[first + lane, 0, m], extract(x[m], lane)
                if (end < least <= start) or (end > most >= start):
                    rollout.notes[LEFT] = 1


@kernel
def reported(rollout: Rollout, like: Scalar, numbers: int) -> np.ndarray:
    """Return the report (numbers,) of the last step."""
    return block(like, (numbers,), rollout.memory, header(rollout.memory).report)


@kernel
def fixed_steps(step: Callable, tableau: Tableau, like: Scalar, space: Callable, rollout: Rollout) -> None:
    """Make steps of length dt. Every `every`-th step ends in a sample."""
    x, v, data, stages = step_data_of(tableau, like, space, rollout)
    settings = settings_in(rollout.settings)
    steps, every, projects = settings.steps, settings.every, data.calls[PROJECT] != 0
    watched, numbers = any_limits(data.joints), rollout.report.shape[2]
    for first in range(0, len(rollout.q0), lane_count(like)):
        load_rows(rollout.q0, first, 0, x)
        load_rows(rollout.qd0, first, 0, v)
        if data.calls[RESTORE] > NEEDED:
            project(data, BEGIN, null(like) + rollout.dt, x, v)
        for i in range(steps):
            if i == 0 or rollout.effort.shape[1] > 1:
                load_rows(rollout.effort, first, i, data.tau)
            begin_step(data, x, v)
            step(tableau, data, settings.start + i * rollout.dt, rollout.dt, x, v, stages)
            if projects:
                end_step(data, null(like) + rollout.dt, x, v)
            if (i + 1) % every == 0:
                if watched and rollout.notes[LEFT] == 0 and some(beyond(data, x)):
                    note_left(rollout, data, first, x)            # before results, which may overwrite q0
                store_rows(rollout.q, first, i // every, x)
                store_rows(rollout.qd, first, i // every, v)
                if numbers > 0:
                    store_rows(rollout.report, first, i // every, reported(rollout, like, numbers))
            if ended(interrupt_at(data.memory), rollout.stop):
                return
        note_divergence(rollout, x, v)


@kernel
def write_samples(tableau: Tableau, data: StepData, lane: int, t: Scalar, h: Scalar, until: float, lost: bool,
                  sample: int, interval: float, x: list, v: list, stages: Stages, weights: np.ndarray,
                  start: np.ndarray, u: np.ndarray, q: np.ndarray, qd: np.ndarray) -> int:
    """Write the samples (samples, nq or n) of one lane, every `interval` seconds after the initial state, number 0, in
    a step from t to `until`; NaN if the state is lost. Return the number of the next sample."""
    begin, length = extract(t, lane), extract(h, lane)
    while sample <= len(q) and sample * interval <= until:
        dense_weights(tableau, (sample * interval - begin) / length, weights)
        dense(weights, data, length, x, v, stages, lane, q[sample - 1], qd[sample - 1], start, u)
        if lost:
            for k in range(len(x)):
                q[sample - 1, k] = np.nan
            for k in range(len(v)):
                qd[sample - 1, k] = np.nan
        sample += 1
    return sample


@kernel
def adaptive_steps(step: Callable, tableau: Tableau, like: Scalar, space: Callable, rollout: Rollout) -> None:
    """Make Runge-Kutta steps with SciPy's step control, sampled at every dt * every by dense output; each lane has its
    own time. With varying efforts, stops, dry friction or constraints a step ends at every dt. A state is NaN from the
    time at which its step size underflows or it becomes non-finite."""
    x, v, data, stages = step_data_of(tableau, like, space, rollout)
    settings, dt, effort, q, qd = settings_in(rollout.settings), rollout.dt, rollout.effort, rollout.q, rollout.qd
    every, relative, tolerance = settings.every, settings.relative, settings.absolute
    projects = data.calls[PROJECT] != 0
    watched = any_limits(data.joints)
    varying, weights, start, u = effort.shape[1] > 1, np.empty(len(tableau.c)), np.empty(len(x)), np.empty(len(v))
    end = q.shape[1] * every * dt
    for first in range(0, len(q), lane_count(like)):
        count = min(lane_count(like), len(q) - first)
        load_rows(rollout.q0, first, 0, x)
        load_rows(rollout.qd0, first, 0, v)
        load_rows(effort, first, 0, data.tau)
        t = null(like)
        if data.calls[RESTORE] > NEEDED:
            project(data, BEGIN, null(like) + rollout.dt, x, v)
        begin_step(data, x, v)
        horizon = t + (dt if varying or projects else end)
        sample, interval = t + 1.0, t                       # of each lane: next sample, and interval dt
        h = first_step(tableau, data, t, x, v, stages, relative, tolerance, end)
        retried = t > 1.0                                   # false everywhere
        while some(t < end):
            active, last = t < end, t + h >= horizon
            begin_step(data, x, v)
            length = where(active, where(last, horizon - t, h), null(like))
            runge_kutta_stages(tableau, data, t, length, x, v, stages)
            error = error_norm(tableau, data, length, x, v, stages, relative, tolerance)
            accepted, lost = active & (error < 1.0), active & (h < 1e-15 * t + 1e-300)
            arrival = where(lost, over(end, like), where(accepted, where(last, horizon, t + length), t))
            if some(lost):
                rollout.notes[DIVERGED] = 1
            for lane in range(count):
                number, s = int(extract(sample, lane)), first + lane
                after = write_samples(tableau, data, lane, t, length, extract(arrival, lane), extract(lost, lane),
                                      number, every * dt, x, v, stages, weights, start, u, q[s], qd[s])
                for i in range(number, after):
                    if watched and rollout.notes[LEFT] == 0:
                        note_left(rollout, data, s, q[s, i - 1])
                sample = insert(sample, lane, float(after))
            for k in range(len(x)):
                x[k] = where(accepted, stages.q[k], x[k])
            for k in range(len(v)):
                v[k] = where(accepted, stages.v[k], v[k])
            h = where(active & (last & accepted), h, next_step(tableau, length, error, retried))
            retried = active & (error >= 1.0)
            t = arrival
            if projects:
                end_step(data, where(accepted, length, null(like)), x, v)
            for lane in range(lane_count(like)):           # also lanes past the last state, or they would not end
                if (varying or projects) and extract(accepted & (t >= horizon), lane):
                    i, number = int(extract(interval, lane)) + 1, int(extract(sample, lane)) - 1
                    s = min(first + lane, len(q) - 1)
                    interval = insert(interval, lane, float(i))
                    horizon = insert(horizon, lane, min((i + 1) * dt, end))
                    if number * every == i:                 # the state after the stop, not before
                        for k in range(len(x)):
                            q[s, number - 1, k] = extract(x[k], lane)
                        for k in range(len(v)):
                            qd[s, number - 1, k] = extract(v[k], lane)
                    for k in range(len(v)):
                        if varying and i < effort.shape[1]:
                            data.tau[k] = insert(data.tau[k], lane, effort[s, i, k])
            if ended(interrupt_at(data.memory), rollout.stop):
                return
