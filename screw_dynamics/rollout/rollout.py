"""Rollouts and steps of a robot: arguments to kernel settings, and result arrays."""
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from math import prod
from threading import get_ident, main_thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.compiled.records import word_of
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.forces.total import name_force
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.values import PLAIN
from screw_dynamics.utils.checks import broadcast, number, one_of, positive, real_numbers, result_pair

from . import control_along, controller_failure
from .controllers import CompiledController
from .divergence import warn_of_divergence
from .integrators import FIXED_STEPS, INTEGRATORS
from .limit_violations import begins_beyond, warn_of_limits
from .python_controllers import PythonController, efforts_from, stays_python
from .rollout_arguments import efforts, options, sampling
from .rollout_kernels import many, noted, one
from .springs import checked_springs
from .step_data import FORWARD
from .step_settings import CALLS_AT, StepSettings, head_of, keep
from .steps import LEFT, SETTINGS

empty = np.empty
SMALLEST = float(100 * np.finfo(float).eps)       # relative tolerance
LONG, MAIN, REPORTED = (word_of(SETTINGS, name) for name in ("long", "main", "reported"))
BRIEF = 100             # steps times joints up to which a rollout of one state keeps the GIL


class Samples(NamedTuple):
    """Result of a rollout.

    Times (samples + 1,), configurations (..., samples + 1, nq) and velocities (..., samples + 1, n). diverged: True if
    a state became non-finite. left: True if a state left limits that do not act, or started beyond them. report (...,
    samples, k): contact reports, if requested."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    diverged: bool
    left: bool
    report: np.ndarray | None = None


@contextmanager
def kept(report: np.ndarray) -> Iterator[Callable]:
    """Yield a `watch` for one state, and copy its reports to an array (samples, numbers) at the end, also if the
    rollout fails."""
    of_one = np.zeros(report.shape)

    def watch(q, found):
        nonlocal of_one
        if found is not None:
            of_one, found[...] = found, 0.0
        return nullcontext()
    try:
        yield watch
    finally:
        report[...] = of_one


class Rollouts(StepSettings):
    """Rollouts and steps of one robot. Constructor: see StepSettings."""

    # --------------------------------------------------------------------------------------------- one step
    def step(self, q: ArrayLike, qd: ArrayLike, effort: ArrayLike, dt: float, integrator: str, friction: bool,
             limits: bool | None, springs: Any, forces: Any, t: float, out: Any, threads: int | None
             ) -> tuple[np.ndarray, np.ndarray]:
        """Make one step of array-likes, as documented for Robot.step."""
        n, dt = self._model.n, positive("dt", dt)
        one_of("integrator", integrator, FIXED_STEPS)
        friction, limits = options(friction, limits)
        springs, total = checked_springs(self._model, springs), self.step_forces(forces, friction)
        given, begin = {"q": q, "qd": qd, "effort": effort}, number("t", t)
        q, qd, effort = broadcast({
            name: real_numbers(name, x, self._model.nq if name == "q" else n) for name, x in given.items()})
        results, lead, count = result_pair(out, "q, qd", q.shape, qd.shape), q.shape[:-1], prod(q.shape[:-1])
        ends = np.empty((count, 1, self._model.nq)), np.empty((count, 1, n))
        inputs = [np.require(x, float, ["C", "A"]).reshape(count, 1, x.shape[-1]) for x in (q, qd, effort)]
        if lead:
            settings, _ = self.step_settings(integrator, friction, limits, springs, total, True, begin)
            notes = self._many(integrator, settings, *inputs, *ends, dt, threads, total)
        else:
            if threads is not None:
                thread_count(threads)
            one, settings, pool = self.step_entry(integrator, friction, limits, springs, total)
            head_of(settings).start = begin
            with pool.borrowed() as memory:
                try:
                    done = one(memory, settings, *(x[0, 0] for x in inputs), None, *(x[0, 0] for x in ends), dt)
                except Exception as error:
                    name_force(error, total)
                    raise
            notes = noted(done)
        if notes[LEFT]:
            self.warn_of_limits(ends[0].reshape(*lead, 1, -1), inputs[0].reshape(*lead, 1, -1), 4)
        for result, end in zip(results, ends, strict=True):
            result[...] = end.reshape(result.shape)
        return results

    def warn_of_limits(self, q: np.ndarray, q0: np.ndarray | None = None, stacklevel: int = 3) -> None:
        """Warn if the end of a step violates position limits, at q (..., 1, nq). q0: the state before, if known."""
        warn_of_limits(self._model, "the step", q, q0, stacklevel=1 + stacklevel)

    # --------------------------------------------------------------------------------------------- rollouts
    def rollout(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | Callable | None, dt: float, steps: int,
                integrator: str, friction: bool, limits: bool | None, every: int, rtol: float, atol: float,
                threads: int | None, springs: Any = None, forces: Any = None
                ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the times and states of a simulation, as documented for Robot.rollout."""
        t, q, qd, diverged, left, _ = self.samples(q0, qd0, effort, dt, steps, integrator, friction, limits, every,
                                                   rtol, atol, threads, springs, forces)
        if diverged:
            warn_of_divergence(self, t, q, qd, dt, integrator, effort, steps)
        if left:
            warn_of_limits(self._model, "the rollout", q, t=t)
        return t, q, qd

    def samples(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | Callable | None, dt: float, steps: int,
                integrator: str, friction: bool, limits: bool | None, every: int = 1, rtol: float = 1e-6,
                atol: float = 1e-9, threads: int | None = None, springs: Any = None, forces: Any = None,
                start: float = 0.0, reported: int = 0, watch: Callable | None = None) -> Samples:
        """Return the Samples of a simulation as `rollout` computes them, without a warning.

        start: time, s, at which steps of fixed length begin, for forces and controllers. reported: length of the stored
        report of the last step before a sample, if steps report. watch(q, report): context in which the samples q (...,
        samples, nq) after the first and their reports are filled."""
        friction, limits = options(friction, limits)
        controller, total = None, self.step_forces(forces, friction)
        given = (dt, steps, integrator, friction, limits, every, rtol, atol, checked_springs(self._model, springs),
                 total.elements if total else ())
        key = given, type(dt), type(steps), type(every)     # type: True, which is rejected, equals 1
        try:
            settings, samples = self._checked[key]
        except (KeyError, TypeError):           # not cached, or not numbers
            settings, samples = keep(self._checked, key, self._check(*given))
        if start != 0.0:
            settings = settings.copy()
            head_of(settings).start = start
        if reported:
            settings = settings.copy()
            head_of(settings).reported = reported
        if threads is not None:
            thread_count(threads)
        qd0 = np.zeros(self._model.n) if qd0 is None else qd0
        if stays_python(effort):
            return self._under_python(effort, q0, qd0, samples, every * dt, reported, watch, dt, steps, integrator,
                                      friction, limits, every, rtol, atol, threads, springs, forces, start)
        if callable(effort) or isinstance(effort, CompiledController):
            controller, effort = effort, None
        found = None
        if type(q0) is type(qd0) is np.ndarray and q0.ndim == qd0.ndim == 1:
            found = self._from_one(integrator, settings, q0, qd0, effort, total, controller, dt, samples, watch)
        if found is None:
            found = self._from_any(
                integrator, settings, q0, qd0, effort, total, controller, float(dt), samples, threads, watch)
        if limits is None and not found.left and begins_beyond(self._model, found.q):
            found = found._replace(left=True)
        return found

    def _under_python(self, effort, q0, qd0, samples, interval, reported, watch, *given):
        """Return the Samples under a Python function effort(t, q, qd), one state after the other."""
        nq, n = self._model.nq, self._model.n
        q0, qd0 = broadcast({"q0": real_numbers("q0", q0, nq), "qd0": real_numbers("qd0", qd0, n)})
        lead, t, diverged, left = q0.shape[:-1], interval * np.arange(samples + 1), False, False
        q, qd, report = (np.empty((*lead, k, size)) for k, size in (
            (samples + 1, nq), (samples + 1, n), (samples, reported)))
        with watch(q[..., 1:, :], report) if watch else nullcontext():
            for k in np.ndindex(lead):
                controller = PythonController(effort, nq, n)
                try:
                    with kept(report[k]) as mine:
                        one = self.samples(q0[k], qd0[k], controller.compiled, *given, reported=reported, watch=mine)
                finally:
                    if controller.error is not None:
                        raise controller.error
                t, q[k], qd[k] = one[:3]
                diverged, left = diverged or one.diverged, left or one.left
        return Samples(t, q, qd, diverged, left, report if reported else None)

    def _check(self, dt, steps, integrator, friction, limits, every, rtol, atol, springs, _):
        """Return the settings of a rollout of one state, and the number of its samples."""
        one_of("integrator", integrator, INTEGRATORS)
        dt, rtol, atol = positive("dt", dt), positive("rtol", rtol), positive("atol", atol)
        steps, every = sampling(steps, every)
        settings = self._settings(integrator, friction, limits, springs)
        head = head_of(settings)
        head.steps, head.every, head.relative, head.absolute = steps, every, max(rtol, SMALLEST), atol
        head.long = steps * self._model.n > BRIEF or integrator not in FIXED_STEPS
        return settings, steps // every

    def _from_one(self, integrator, settings, q0, qd0, effort, total, controller, dt, samples, watch=None):
        """Return the Samples of one state, or None unless `roll_one` can read the arguments."""
        if controller:
            settings = self._with_calls(settings, integrator, total, controller, False)
        words = settings.view(np.int64)
        if words.item(CALLS_AT + FORWARD) == 0:
            self._call_robot(settings, integrator, total, False)
        if words.item(LONG):
            settings = settings.copy()
            settings.view(np.int64)[MAIN] = get_ident() == main_thread().ident
        n, pool = self._model.n, self._pool(words)
        memory = pool.take()
        t, q, qd, report = empty(samples + 1), empty((samples + 1, self._model.nq)), empty((samples + 1, n)), None
        if reported := words.item(REPORTED):
            report = empty((samples, reported))
            settings = settings.copy()
            head_of(settings).report = report.ctypes.data
        try:
            with watch(q[1:], report) if watch else nullcontext():
                run = one(integrator, bool(words.item(LONG)))
                done = run(memory, settings, q0, qd0, self._no_effort if effort is None else effort, t, q, qd, dt)
        except Exception as error:
            self._tell_line(error, controller, memory, 1)
            name_force(error, total)
            raise
        finally:
            pool.give_back(memory)
        return Samples(t, q, qd, *noted(done), report) if done else None

    def _from_any(self, integrator, settings, q0, qd0, effort, total, controller, dt, samples, threads, watch=None):
        """Return the Samples of array-likes of one state or many."""
        n, head = self._model.n, head_of(settings)
        steps, every = int(head.steps), int(head.every)
        q0, qd0 = broadcast({"q0": real_numbers("q0", q0, self._model.nq), "qd0": real_numbers("qd0", qd0, n)})
        lead, count = q0.shape[:-1], prod(q0.shape[:-1])
        effort = efforts(effort, lead, steps, n)
        if not lead:
            q0, qd0, effort = (np.require(x, float, ["C", "A"]).view(np.ndarray) for x in (q0, qd0, effort))
            effort = effort if len(effort) == steps else effort[0]
            return self._from_one(integrator, settings, q0, qd0, effort, total, controller, dt, samples, watch)
        settings = self._with_calls(settings, integrator, total, controller, True)
        q, qd = np.empty((*lead, samples + 1, self._model.nq)), np.empty((*lead, samples + 1, n))
        q[..., 0, :], qd[..., 0, :] = q0, qd0
        rows, rates = q.reshape(count, samples + 1, self._model.nq), qd.reshape(count, samples + 1, n)
        effort = effort.reshape(count, *effort.shape[-2:])
        report = np.empty((*lead, samples, int(head.reported)))
        with watch(q[..., 1:, :], report) if watch else nullcontext():
            notes = self._many(integrator, settings, rows[:, :1], rates[:, :1], effort, rows[:, 1:], rates[:, 1:], dt,
                               threads, total, controller, report.reshape(count, *report.shape[-2:]))
        return Samples(every * dt * np.arange(samples + 1), q, qd, *(notes != 0).tolist(),
                       report if head.reported else None)

    def _tell_line(self, error, controller, memory, lanes):
        """Raise the error of a controller again with its source line, if known."""
        if callable(controller) and not PLAIN:
            found = controller_failure.located(error, controller, self.robot,
                            controller_failure.inputs(memory, self._model.nq, self._model.n, lanes))
            if found is not error:
                raise found from None

    def _many(self, integrator, settings, q0, qd0, effort, q, qd, dt, threads, total, controller=None, report=None):
        """Fill q and qd (N, samples, n) from the initial states (N, 1, n), WIDTH at a time, in chunks on threads.
        Returns the notes of a Rollout."""
        count, run = len(q), many(integrator, self._on_groups)
        shares = max(1, min(thread_count(threads), -(-count // WIDTH)))
        size = -(-count // (shares if shares == 1 else 4 * shares))     # small chunks balance cores of unequal speed
        size += -size % WIDTH
        report = np.empty((count, 0, 0)) if report is None else report
        stop, notes = np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.int64)

        def work(starts):
            main = get_ident() == main_thread().ident
            with self._pool(settings.view(np.int64)).borrowed() as memory:
                try:
                    for start in starts:
                        piece = slice(start, start + size)
                        arrays = (x[piece] for x in (q0, qd0, effort, q, qd))
                        run(memory, settings, *arrays, dt, report[piece], stop, notes, main)
                except Exception as error:
                    self._tell_line(error, controller, memory, WIDTH)
                    name_force(error, total)
                    raise
        on_threads(work, range(0, count, max(size, WIDTH)), shares, lambda: stop.fill(1))
        return notes

    def efforts_of(self, controller: Callable, t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the efforts (..., k, n) of a controller at the times t (k,) and states q (..., k, nq), qd (..., k, n)
        of a motion."""
        if stays_python(controller):
            rows = [efforts_from(controller, t[k[-1]], q[k], qd[k]) for k in np.ndindex(qd.shape[:-1])]
            return np.array(rows, dtype=float).reshape(qd.shape)
        any_one = FIXED_STEPS[0]
        settings = self._with_calls(self._settings(any_one, False, False), any_one, None, controller, False)
        calls = head_of(settings).calls
        tau, along = np.empty(qd.shape), control_along.entry_point()
        with self._workspaces.borrowed() as memory:
            for k in np.ndindex(qd.shape[:-2]):
                try:
                    along(memory, calls, *(np.require(x, float, ["C", "A"]) for x in (t, q[k], qd[k])), tau[k])
                except Exception as error:
                    states = zip(t, q[k], qd[k], strict=True)
                    raise controller_failure.located(error, controller, self.robot, states) from None
        return tau
