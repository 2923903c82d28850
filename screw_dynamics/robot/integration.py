"""Motions of a robot: simulated, step by step or as a whole, and drawn."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.forces import Element, ForceSum, elements_of
from screw_dynamics.foreign_arrays import any_foreign
from screw_dynamics.model.drives import torque_speed
from screw_dynamics.simulation import conservation
from screw_dynamics.simulation.acting import acting
from screw_dynamics.simulation.conservation import EnergyBalance, MomentumBalance, RecordedMotion
from screw_dynamics.simulation.driven_joints import effort_bounds
from screw_dynamics.simulation.integrators import FIXED_STEPS, INTEGRATORS
from screw_dynamics.simulation.rollout import Rollouts
from screw_dynamics.simulation.rollout_arguments import STEPS, efforts, options, sampling, steps_of, with_external
from screw_dynamics.simulation.springs import Springs

from .evaluation import Evaluation, Forces, Threads, Wrenches

empty = np.empty


class Integration(Evaluation):
    """Methods about motions in time."""

    rollouts: Rollouts
    _steps: dict            # by options: entry point of one state, and settings

    @overload
    def rollout(self, q0: ArrayLike, qd0: ArrayLike | None = ..., effort: ArrayLike | Callable | None = ...,
                dt: float = ..., steps: int = ..., integrator: str = ..., *, duration: float | None = ...,
                friction: bool = ..., limits: bool | None = ..., every: int = ..., rtol: float = ..., atol: float = ...,
                springs: Springs | None = ..., forces: Forces = ..., external: Wrenches | None = ...,
                record: None = ..., threads: Threads = ...) -> tuple[np.ndarray, np.ndarray, np.ndarray]: ...

    @overload
    def rollout(self, q0: ArrayLike, qd0: ArrayLike | None = ..., effort: ArrayLike | Callable | None = ...,
                dt: float = ..., steps: int = ..., integrator: str = ..., *, duration: float | None = ...,
                friction: bool = ..., limits: bool | None = ..., every: int = ..., rtol: float = ..., atol: float = ...,
                springs: Springs | None = ..., forces: Forces = ..., external: Wrenches | None = ...,
                record: str | Iterable[str], threads: Threads = ...) -> RecordedMotion: ...

    def rollout(self, q0: ArrayLike, qd0: ArrayLike | None = None, effort: ArrayLike | Callable | None = None,
                dt: float = 1e-3, steps: int = STEPS, integrator: str = "semi_implicit_euler", *,
                duration: float | None = None, friction: bool = False, limits: bool | None = None, every: int = 1,
                rtol: float = 1e-6, atol: float = 1e-9, springs: Springs | None = None, forces: Forces = None,
                external: Wrenches | None = None, record: str | Iterable[str] | None = None, threads: Threads = None
                ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Simulate: times t (samples + 1,), q (..., samples + 1, nq) and qd (..., samples + 1, n), from the initial
        states q0 (..., nq) and qd0 (..., n), by default at rest. duration: in place of steps, s, a multiple of dt.

        Neither friction nor position limits act unless they are asked for: friction=True lets the model's damping and
        Coulomb friction act, by which joints stick, docs/constraints.md; limits=True stops joints at their position
        limits, without rebound, between steps of at most dt. Where joints leave their limits by default, limits=None,
        or begin beyond them, a LimitsWarning names them and how far they get; limits=False ignores limits in silence.

        effort: None; (..., n) constant; (..., steps, n) one an interval dt, batch axes as in q0; or a controller, a
        function controller(robot, t, q, qd, tau), or without robot, that Numba can compile: it sets tau (n,) from q
        (nq,) and qd (n,), and may call the robot's dynamics and kinematics, docs/controllers.md; or a Python function
        effort(t, q, qd) that returns efforts (n,) of these alone, called for one state after the other, and again for
        `record`. integrator:
        "semi_implicit_euler" (order 1, friction implicit), "rk4" (order 4), both of step dt; "rk45" (Dormand-Prince
        with SciPy's step control to rtol, at least 2.3e-14, and atol, sampled by dense output; NaN from where the step
        size underflows); or implicit ones of order 2 and step dt: "variational" (keeps momenta, and energy within
        bounds), "implicit_midpoint", "sdirk2" (damps what is too fast for dt), docs/integration.md. every: steps per
        sample. springs: at the joints, of any stiffness but in "rk4" and "rk45". forces: elements of
        screw_dynamics.forces, such as springs between points, stops, drag and wrenches, docs/forces.md. external:
        {link: wrench (6,)} that act all the time, in the frames of the links, as in inverse_dynamics. A state that
        ceases to be finite gives a DivergenceWarning.

        record: "energy", "momentum", "residual" or "effort", or several of them. Then the result, which still unpacks
        to t, q and qd, has `recorded` {name: energy_balance, momentum_balance, configuration_residual or efforts (...,
        samples + 1, n) at the samples}; the last efforts given by intervals are those of the last interval. Work and
        impulses are summed up over all steps, for which memory is used then, whatever `every` is."""
        steps, forces = steps_of(duration, dt, steps), with_external(forces, external)
        qd0 = np.zeros(self.n) if qd0 is None else qd0
        if any_foreign((q0, qd0, effort)):
            if record is not None:
                raise ValueError("record: not of states in arrays of Dask")
            return self._rollout_on(q0, qd0, effort, threads, dt=dt, steps=steps, integrator=integrator,
                                    friction=friction, limits=limits, every=every, rtol=rtol, atol=atol,
                                    springs=springs, forces=forces)
        if record is None:
            return self.rollouts.rollout(q0, qd0, effort, dt, steps, integrator, friction, limits, every, rtol, atol,
                                          threads, springs, forces)
        names, (steps, every) = conservation.records(record, self.model), sampling(steps, every)
        total = self.rollouts.total(forces, friction, springs)
        fine = 1 if effort is not None or total or limits else every
        motion = self.rollouts.rollout(q0, qd0, effort, dt, steps, integrator, friction, limits, fine, rtol, atol,
                                        threads, springs, forces)
        limits = bool(limits)
        if effort is not None and not callable(effort):         # by the rules of the rollout, and not of a balance
            effort = efforts(effort, motion[1].shape[:-2], steps, self.n)
            effort = effort[..., 0, :] if effort.shape[-2] == 1 else effort if steps else None
        # The step that a stop ended is known if the efforts in it are those at its start.
        known = integrator in FIXED_STEPS and (not callable(effort) or INTEGRATORS[integrator].implicit)

        def free(q, qd, tau):
            return self.step(q, qd, tau, dt, integrator, friction=friction, limits=False, springs=springs,
                             forces=forces, threads=threads)
        return conservation.recorded(self, names, motion, every // fine, effort, limits, total, free if known else None,
                                     threads)

    def _rollout_on(self, q0, qd0, effort, threads, **options):
        """A rollout of states in Dask arrays."""
        n = self.n
        if any(hasattr(x, "dims") for x in (q0, qd0)):
            raise ValueError("q0 and qd0 may be arrays of Dask, and not of xarray: pass array.data")
        if effort is not None and not callable(effort):
            if any_foreign((effort,)) or np.ndim(effort) > 2:
                raise ValueError("effort: for states in arrays of Dask it must be the same for all of them: None, "
                                 f"(n,), (steps, n) or a controller, not {checks.described(effort)}")
            options["effort"] = checks.real_numbers("effort", effort, n)
        elif effort is not None:
            options["effort"] = effort
        t, _, _ = self.rollout(np.zeros((0, self.nq)), np.zeros((0, n)), **options)
        found = self._method_on("_sampled_states", {"q0": q0, "qd0": qd0}, ("sample", "number"), (len(t), self.nq + n),
                                threads=threads, **options)
        return t, found[..., :self.nq], found[..., self.nq:]

    def _sampled_states(self, q0, qd0, **options):
        """The samples (..., samples + 1, nq + n) of a rollout, in one array."""
        _, q, qd = self.rollout(q0, qd0, **options)
        return np.concatenate([q, qd], axis=-1)

    def energy_balance(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | Callable | None = None, *,
                       friction: bool = False, limits: bool = False, springs: Springs | None = None,
                       forces: Forces = None, threads: Threads = None) -> EnergyBalance:
        """Kinetic and potential energy, work and losses (..., samples), in J, along a motion t (samples,), q (...,
        samples, nq) and qd (..., samples, n), as `rollout` returns it or a robot was measured.

        `residual` is the change of energy that nothing explains: the error of the integrator, if samples are as close
        as its steps; quadrature is of order 4. tau: efforts (..., n), (..., samples - 1, n) one an interval, or (...,
        samples, n) at the samples; or a controller as of `rollout`. friction, limits, springs, forces: as in
        `rollout`; what is missing in a step that ends at a stop is then what the stop took."""
        model, at_stop = self.model, None
        friction, limits = checks.flag("friction", friction), checks.flag("limits", limits)
        if limits:
            ends = checks.real_numbers("q", q, self.nq)[..., 1:, :]
            at_stop = conservation.at_limits(model, ends, model.lower, model.upper).any(axis=-1)
        total = self.rollouts.total(forces, friction, springs)
        return conservation.energy_balance(self, t, q, qd, tau, total, at_stop, None, threads)

    def momentum_balance(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | Callable | None = None, *,
                         friction: bool = False, springs: Springs | None = None,
                         forces: Forces = None, threads: Threads = None) -> MomentumBalance:
        """The momentum (..., samples, 6) along a motion, angular about the origin of the root link and linear, and the
        impulse of gravity and of efforts on the floating joint; arguments as in `energy_balance`.

        ValueError for a robot that does not float, whose root takes any momentum: it names the joint that holds it."""
        total = self.rollouts.total(forces, checks.flag("friction", friction), springs)
        return conservation.momentum_balance(self, t, q, qd, tau, total, threads)

    def total_force(self, forces: Sequence[Element], *, friction: bool = False, springs: Springs | None = None
                    ) -> ForceSum:
        """The sum of elements of force on this robot, as `rollout` takes them: its joint efforts, their exact
        derivatives, energy and power at any states. ValueError names an element that does not fit."""
        elements = acting(self.model, elements_of(forces), checks.flag("friction", friction), springs)
        return ForceSum(self.model, self.tables, elements)

    def drive_torque(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """The efforts (..., n) of the springs and windings of drives at states q (..., nq), qd (..., n), on joints and
        on motors, and of the robot's own `forces` but friction, at the time 0; 0 without any. M qdd + C qd + g = tau +
        drive_torque - friction_torque."""
        return self.total_force(()).efforts(q, qd)

    def drive_energy(self, q: ArrayLike) -> np.ndarray:
        """The energy (...) that the springs of drives, and the robot's own `forces`, store at configurations q (...,
        nq), J."""
        return self.total_force(()).potential_energy(q)

    def effort_bounds(self, qd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and the highest efforts (..., n) that motors give at velocities qd (..., n), N m or N: within the
        limits of the model and the line of torque over speed that drives may have; infinite where nothing limits them.
        A rollout takes the efforts that it is given."""
        qd = checks.real_numbers("qd", qd, self.n)
        stall, no_load = torque_speed(self.model)
        return effort_bounds(self.model.effort_limit, stall, no_load, qd)

    def configuration_residual(self, q: ArrayLike, *, limits: bool = False) -> np.ndarray:
        """Return the distance (...) of configurations q (..., nq) from valid ones: the largest difference of a
        quaternion's length from 1 and, with limits, the farthest that a joint is beyond its position limit, in rad or
        m. Mimic joints share a coordinate, and have no residual."""
        return conservation.configuration_residual(self, q, checks.flag("limits", limits))

    def step(self, q: ArrayLike, qd: ArrayLike, effort: ArrayLike, dt: float, integrator: str = "semi_implicit_euler",
             *, friction: bool = False, limits: bool | None = None, springs: Springs | None = None,
             forces: Forces = None, external: Wrenches | None = None, t: float = 0.0,
             out: tuple[np.ndarray, np.ndarray] | None = None, threads: Threads = None
             ) -> tuple[np.ndarray, np.ndarray]:
        """The state (q, qd) a time dt (s) later, under efforts (..., n): one step of `rollout` with the same options,
        for loops in Python, as to friction and limits too. integrator: any but "rk45". t: the time at which it begins,
        for forces of time. out: arrays (q, qd) for it; may be the inputs. external: as in rollout; wrenches that change
        from step to step are faster as efforts, effort + external_torque(q, external)."""
        if external is not None:
            forces = with_external(forces, external)
        if (springs is None and forces is None and threads is None and type(t) is float and t == 0.0
                and isinstance(dt, float)):
            key = integrator if friction is False and limits is None else (integrator, *options(friction, limits))
            try:
                here, rate = (empty(self.nq), empty(self.n)) if out is None else out
                one, settings, memory = self._steps[key]
                done = one(memory, settings, q, qd, effort, None, here, rate, dt)
                if done > 2:
                    self.rollouts.tell_limits(here[None])
                if done:
                    return here, rate
            except (KeyError, TypeError, ValueError):       # a first call, or an argument that is refused below
                one, settings, pool = self.rollouts.step_entry(integrator, friction, limits)
                self._steps[key] = one, settings, pool.take()
        return self.rollouts.step(q, qd, effort, dt, integrator, friction, limits, springs, forces, t, out, threads)

    def plot(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None,
             path: str | os.PathLike | None = None) -> Any:
        """A matplotlib figure of a motion as `rollout` returns it: positions q (..., samples, nq), velocities qd and
        efforts tau (..., samples, n) of each joint at the times t (samples,), what is beyond its limits shaded, and the
        energy. Of a joint on a group the turns, its quaternion among them, share one panel, and the slides another.

        tau: also (n,), or one fewer than samples, one for each interval. Of a batch the first motion is in color, of
        others the first eleven in gray. path: a file to write, by its name a PNG, PDF or SVG; the figure is closed
        then. ImportError without matplotlib, the extra [plot]."""
        from screw_dynamics.simulation.plot import plot  # when it is called: few robots are drawn
        return plot(self, t, q, qd, tau, path)
