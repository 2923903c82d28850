"""Rollouts and steps of a robot: what they are asked for becomes settings of the kernels, and arrays of results."""
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from math import prod
from threading import get_ident, main_thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.choice import Choice
from screw_dynamics.algorithms.energy import KINETIC_ENERGY, POTENTIAL_ENERGY
from screw_dynamics.algorithms.jacobian import JACOBIAN, JACOBIAN_DERIVATIVE
from screw_dynamics.algorithms.kinematics import FORWARD_KINEMATICS
from screw_dynamics.checks import broadcast, number, one_of, positive, real_numbers, result_pair
from screw_dynamics.compiled.calls import Workspaces
from screw_dynamics.compiled.entry import kind_of
from screw_dynamics.compiled.records import word_of
from screw_dynamics.compiled.threads import on_threads, thread_count
from screw_dynamics.constraints.contacts.calls import LEAVES_FACTORS, contact_addresses
from screw_dynamics.constraints.projection import NEEDED, acts_at_ends, projection_address, with_room
from screw_dynamics.forces import Element, ModelDamping, Total, friction_of
from screw_dynamics.forces.total import name_force
from screw_dynamics.numbers.lanes import WIDTH
from screw_dynamics.numbers.values import PLAIN

from . import control_along, controller_failure
from .acting import acting, stepped
from .controllers import CompiledController, compiled_controller, plain_controller
from .divergence import warn_of_divergence
from .integrators import FIXED_STEPS, INTEGRATORS, check_elements, momenta_address
from .limits_left import begins_beyond, warn_of_limits
from .plant import (
    CONTROLLER,
    DETECT,
    ELEMENTS,
    FACTORS,
    FORCES,
    FORWARD,
    LEAST,
    MOMENTA,
    MOST,
    PROJECT,
    REST,
    RESTORE,
    SOLVE,
    SPRING,
)
from .robot_methods import FRICTION, METHODS
from .rollout_arguments import efforts, options, sampling
from .rollout_kernels import many, noted, one
from .springs import checked_springs
from .steps import JOINTS, LEFT, OF_JOINT, SETTINGS

OTHER_METHODS = {"kinetic_energy": KINETIC_ENERGY, "potential_energy": POTENTIAL_ENERGY,
                 "forward_kinematics": FORWARD_KINEMATICS, "jacobian": JACOBIAN,
                 "jacobian_derivative": JACOBIAN_DERIVATIVE}
empty = np.empty
SMALLEST = float(100 * np.finfo(float).eps)       # relative tolerance
# As records.word_of says.
CALLS_AT, LONG, MAIN, REPORTED = (word_of(SETTINGS, name) for name in ("calls", "long", "main", "reported"))
BRIEF = 100             # steps times joints up to which a rollout of one state keeps the GIL


class Samples(NamedTuple):
    """Times (samples + 1,), configurations (..., samples + 1, nq) and velocities (..., samples + 1, n); whether a state
    ceased to be finite; whether one left limits that do not act, or began beyond them; and reports (..., samples, k),
    if asked for."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    diverged: bool
    left: bool
    report: np.ndarray | None = None


class Rollouts:
    """The rollouts and steps of one robot, from the entry points of its algorithms, and workspaces.

    projected: what is brought back after each step of a robot that keeps constraints, see constraints/projection.py,
    or that touches something, whose workspaces hold that; None for a tree. projects: "joints", "loops", "contacts" or
    "contacts and loops"; simple: what touches, as contact/detection.py has it."""

    def __init__(self, robot: Any, entries: Choice, workspaces: Workspaces,
                 projected: int | None = None, projects: str = "joints", simple: bool = True):
        self._projected, self._projects, self._simple = projected, projects, simple
        self.robot, self._model, self.entries, self._workspaces = robot, robot.model, entries, workspaces
        self._with_room = workspaces if projected is not None else Workspaces(with_room(robot.tables))
        self._checked: dict = {}            # by options: settings, and number of samples
        self._steps: dict = {}              # by options: settings of one step
        self._totals: dict[tuple[Element, ...], Total] = {}
        self._alone = [self.stepped(None, own) for own in (False, True)]    # kept as long as the settings of steps
        self._on_groups = self._model.on_groups
        self._methods = {**entries._asdict(), **{
            name: entry.of(self._model.structure) for name, entry in OTHER_METHODS.items()}}
        self._no_effort = np.zeros(self._model.n)

    # --------------------------------------------------------------------------------------------- settings
    def _settings(self, integrator, friction, limits, springs=None):
        """New settings of one step, with friction, limits and springs or without, but no addresses. limits: None if
        they do not act, but leaving them is to be noted."""
        model, settings = self._model, np.zeros(JOINTS + OF_JOINT * self._model.n)
        head = _head(settings)
        head.steps = head.every = 1
        rows = settings[JOINTS:].reshape(OF_JOINT, model.n)
        damping, dry, lower, upper, *others = rows
        others[0][:], others[1][:], others[2][:] = model.damping, model.friction, model.places_in_q
        lower[:], upper[:] = (model.lower, model.upper) if limits else (-np.inf, np.inf)
        rows[LEAST], rows[MOST] = (model.lower, model.upper) if limits is None else (-np.inf, np.inf)
        if friction:
            damping[:], dry[:] = model.damping, model.friction
        if springs is not None:
            rows[SPRING], dampers, rows[REST] = springs
            damping += dampers
        return settings

    def total(self, forces: Sequence[Element] | None, friction: bool = False, springs: Any = None) -> Total | None:
        """The sum of elements of force on the robot, with the model's friction and springs at the joints if they act;
        None for none."""
        return self._sum_of(acting(self._model, forces, friction, springs))

    def stepped(self, forces: Sequence[Element] | None, friction: bool) -> Total | None:
        """The sum of what steps take as forces: without friction and springs of joints, which are in their settings."""
        return self._sum_of(stepped(self._model, forces, friction))

    def smooth(self, forces: Sequence[Element] | None, friction: bool) -> Total | None:
        """Return the sum of `stepped` and the model's damping, if friction acts, but not its dry friction; None for
        none."""
        damped = bool(friction and self._model.damping.any())
        return self._sum_of((*stepped(self._model, forces, friction), *[ModelDamping()] * damped))

    def _sum_of(self, elements):
        if not elements:
            return None
        if elements not in self._totals:
            _keep(self._totals, elements, Total(self._model, self.robot.tables, elements))
        return self._totals[elements]

    def _call_robot(self, settings, integrator, total, lanes):
        """Write the addresses of what an integrator calls of the robot into settings. Returns all addresses."""
        head = _head(settings)
        calls = head.calls
        calls[FORWARD] = self.entries.acceleration.address(kind_of(lanes))
        if total:
            check_elements(integrator, total.elements)
            calls[FORCES], calls[ELEMENTS] = total.address(lanes), total.where
        if INTEGRATORS[integrator].momenta:
            calls[MOMENTA] = momenta_address(self._model.structure, lanes)
        if self._projected is not None or acts_at_ends(settings[JOINTS:].reshape(OF_JOINT, -1)):
            calls[RESTORE] = NEEDED if self._projected is None else self._projected
            calls[PROJECT] = projection_address(self._model.structure, self._projects, lanes)
            if self._projects.startswith("contacts"):
                calls[DETECT], calls[SOLVE] = contact_addresses(lanes, self._simple)
                calls[FACTORS] = not PLAIN and self.entries.acceleration.name.startswith(LEAVES_FACTORS)
        return calls

    def _pool(self, words):
        """The workspaces with what the functions read whose addresses are in the words of settings."""
        return self._with_room if words.item(CALLS_AT + PROJECT) else self._workspaces

    def _with_calls(self, settings, integrator, total, controller, lanes):
        """A copy of settings with the addresses of what an integrator calls, of a controller and of what it calls."""
        settings = settings.copy()
        calls = self._call_robot(settings, integrator, total, lanes)
        if controller:
            _head(settings).long = 1             # whatever it does
            frames = tuple(self._model.frame_names)
            found = (controller if isinstance(controller, CompiledController) else
                     plain_controller(controller, self.robot) if PLAIN else
                     compiled_controller(controller, lanes, frames, self._model.root))
            calls[CONTROLLER] = found.address
            if FRICTION in found.methods and friction_of(self._model):
                raise ValueError(f"a compiled controller cannot call robot.{FRICTION} of a robot with friction of its "
                                 "own as an element of force: robot.forces, or a rigid motor that several joints turn")
            for name in found.methods.difference((FRICTION,)):
                calls[METHODS[name]] = self._methods[name].address(kind_of(found.lanes))
        return settings

    def step_settings(self, integrator: str, friction: bool, limits: bool | None, springs: Any = None,
                      total: Total | None = None, lanes: bool = False, start: float = 0.0
                      ) -> tuple[np.ndarray, Workspaces]:
        """The settings of one step, at the time `start` (s), and the workspaces for it. ValueError for an adaptive
        integrator."""
        one_of("integrator", integrator, FIXED_STEPS)
        friction, limits = options(friction, limits)
        key = integrator, friction, limits, total, lanes
        known = self._steps.get(key) if springs is None else None
        if known is None:
            settings = self._settings(integrator, friction, limits, springs)
            known = self._with_calls(settings, integrator, total or self._alone[friction], None, lanes)
            if springs is None:
                _keep(self._steps, key, known)
        settings = known.copy()
        _head(settings).start = start
        return settings, self._pool(settings.view(np.int64))

    def step_entry(self, integrator: str, friction: bool, limits: bool | None, springs: Any = None,
                   total: Total | None = None) -> tuple[Callable, np.ndarray, Workspaces]:
        """The entry point of one state, and `step_settings`."""
        settings, pool = self.step_settings(integrator, friction, limits, springs, total)
        return one(integrator, self._on_groups), settings, pool

    # --------------------------------------------------------------------------------------------- one step
    def step(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dt: float, integrator: str, friction: bool,
             limits: bool | None, springs: Any, forces: Any, t: float, out: Any, threads: int | None
             ) -> tuple[np.ndarray, np.ndarray]:
        """One step, as Robot.step describes; of any array-likes."""
        n, dt = self._model.n, positive("dt", dt)
        one_of("integrator", integrator, FIXED_STEPS)
        friction, limits = options(friction, limits)
        springs, total = checked_springs(self._model, springs), self.stepped(forces, friction)
        given, begin = {"q": q, "qd": qd, "tau": tau}, number("t", t)
        q, qd, tau = broadcast({
            name: real_numbers(name, x, self._model.nq if name == "q" else n) for name, x in given.items()})
        results, lead, count = result_pair(out, "q, qd", q.shape, qd.shape), q.shape[:-1], prod(q.shape[:-1])
        ends = np.empty((count, 1, self._model.nq)), np.empty((count, 1, n))
        inputs = [np.require(x, float, ["C", "A"]).reshape(count, 1, x.shape[-1]) for x in (q, qd, tau)]
        if lead:
            settings, _ = self.step_settings(integrator, friction, limits, springs, total, True, begin)
            notes = self._many(integrator, settings, *inputs, *ends, dt, threads, total)
        else:
            if threads is not None:
                thread_count(threads)
            one, settings, pool = self.step_entry(integrator, friction, limits, springs, total)
            _head(settings).start = begin
            with pool.borrowed() as memory:
                try:
                    done = one(memory, settings, *(x[0, 0] for x in inputs), None, *(x[0, 0] for x in ends), dt)
                except Exception as error:
                    name_force(error, total)
                    raise
            notes = noted(done)
        if notes[LEFT]:
            self.tell_limits(ends[0].reshape(*lead, 1, -1), inputs[0].reshape(*lead, 1, -1), 4)
        for result, end in zip(results, ends, strict=True):
            result[...] = end.reshape(result.shape)
        return results

    def tell_limits(self, q: np.ndarray, q0: np.ndarray | None = None, stacklevel: int = 3) -> None:
        """Warn that a step ended beyond limits, at q (..., 1, nq), from q0 if that is still known."""
        warn_of_limits(self._model, "the step", q, q0, stacklevel=1 + stacklevel)

    # --------------------------------------------------------------------------------------------- rollouts
    def rollout(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | Callable | None, dt: float, steps: int,
                integrator: str, friction: bool, limits: bool | None, every: int, rtol: float, atol: float,
                threads: int | None, springs: Any = None, forces: Any = None
                ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times and samples of a simulation, as Robot.rollout describes."""
        t, q, qd, diverged, left, _ = self.samples(q0, qd0, effort, dt, steps, integrator, friction, limits, every,
                                                   rtol, atol, threads, springs, forces)
        if diverged:
            warn_of_divergence(self._model, t, q, qd, dt, integrator, effort, steps)
        if left:
            warn_of_limits(self._model, "the rollout", q, t=t)
        return t, q, qd

    def samples(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | Callable | None, dt: float, steps: int,
                integrator: str, friction: bool, limits: bool | None, every: int = 1, rtol: float = 1e-6,
                atol: float = 1e-9, threads: int | None = None, springs: Any = None, forces: Any = None,
                start: float = 0.0, reported: int = 0, watch: Callable | None = None) -> Samples:
        """Return the Samples of a simulation as `rollout` computes them, without a warning. start: the time, s, at
        which steps of fixed length begin, for forces and controllers. reported: the length of the report that is kept
        of the last step before a sample, where steps report. watch(q, report): the context in which the samples q (...,
        samples, nq) behind the first, and their reports, are filled."""
        friction, limits = options(friction, limits)
        controller, total = None, self.stepped(forces, friction)
        key = (dt, steps, integrator, friction, limits, every, rtol, atol, checked_springs(self._model, springs),
               total.elements if total else ())
        try:
            settings, samples = self._checked[key]
        except (KeyError, TypeError):           # not seen yet, or no numbers
            settings, samples = self._check(*key)
        if start != 0.0:
            settings = settings.copy()
            _head(settings).start = start
        if reported:
            settings = settings.copy()
            _head(settings).reported = reported
        if threads is not None:
            thread_count(threads)
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

    def _check(self, dt, steps, integrator, friction, limits, every, rtol, atol, springs, forces):
        """The settings of a rollout of one state, and how many samples it has; kept for the next call."""
        key = dt, steps, integrator, friction, limits, every, rtol, atol, springs, forces
        one_of("integrator", integrator, INTEGRATORS)
        dt, rtol, atol = positive("dt", dt), positive("rtol", rtol), positive("atol", atol)
        steps, every = sampling(steps, every)
        settings = self._settings(integrator, friction, limits, springs)
        head = _head(settings)
        head.steps, head.every, head.relative, head.absolute = steps, every, max(rtol, SMALLEST), atol
        head.long = steps * self._model.n > BRIEF or integrator not in FIXED_STEPS
        return _keep(self._checked, key, (settings, steps // every))

    def _from_one(self, integrator, settings, q0, qd0, effort, total, controller, dt, samples, watch=None):
        """The Samples of one state; None unless the arguments are such as `roll_one` reads."""
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
            _head(settings).report = report.ctypes.data
        try:
            with watch(q[1:], report) if watch else nullcontext():
                run = one(integrator, self._on_groups, bool(words.item(LONG)))
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
        n, head = self._model.n, _head(settings)
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
        """Raise what a controller raised again, with the line, if it is known."""
        if callable(controller) and not PLAIN:
            found = controller_failure.located(error, controller, self.robot,
                            controller_failure.inputs(memory, self._model.nq, self._model.n, lanes))
            if found is not error:
                raise found from None

    def _many(self, integrator, settings, q0, qd0, effort, q, qd, dt, threads, total, controller=None, report=None):
        """Fill q and qd (N, samples, n) from the states (N, 1, n) on, WIDTH at a time, in pieces on threads. Returns
        the notes of a Rollout."""
        count, run = len(q), many(integrator, self._on_groups)
        shares = max(1, min(thread_count(threads), -(-count // WIDTH)))
        size = -(-count // (shares if shares == 1 else 4 * shares))     # small pieces: a slow core delays no other
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
        """The efforts (..., k, n) that a controller gives at the times t (k,) and states q (..., k, nq), qd (..., k,
        n) of a motion."""
        any_one = FIXED_STEPS[0]
        settings = self._with_calls(self._settings(any_one, False, False), any_one, None, controller, False)
        calls = _head(settings).calls
        tau, along = np.empty(qd.shape), control_along.entry_point()
        with self._workspaces.borrowed() as memory:
            for k in np.ndindex(qd.shape[:-2]):
                try:
                    along(memory, calls, *(np.require(x, float, ["C", "A"]) for x in (t, q[k], qd[k])), tau[k])
                except Exception as error:
                    states = zip(t, q[k], qd[k], strict=True)
                    raise controller_failure.located(error, controller, self.robot, states) from None
        return tau


def _keep(kept, key, value):
    """Keep a value by its key, beside at most 100 others, and return it."""
    if len(kept) > 100:
        kept.clear()
    kept[key] = value
    return value


def _head(settings):
    """The record of settings, for Python."""
    return settings[:JOINTS].view(SETTINGS)[0]
