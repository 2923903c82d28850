"""Simulation of a robot: rollouts and steps, energy and momentum balances, and plots."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.algorithms.choice import Choice
from screw_dynamics.forces import Element, ForceSum, elements_of
from screw_dynamics.model.drives import torque_speed
from screw_dynamics.rollout import conservation
from screw_dynamics.rollout.conservation import EnergyBalance, MomentumBalance, RecordedMotion
from screw_dynamics.rollout.force_elements import all_elements
from screw_dynamics.rollout.rollout_arguments import STEPS, efforts, options, sampling, steps_of, with_external
from screw_dynamics.rollout.springs import Springs
from screw_dynamics.utils import checks
from screw_dynamics.utils.array_adapters import any_foreign
from screw_dynamics.utils.lazy import lazy

from .evaluation import Evaluation, Forces, Threads, Wrenches

if TYPE_CHECKING:
    from screw_dynamics.rollout.rollout import Rollouts

empty = np.empty


class Integration(Evaluation):
    """Methods for motions in time."""

    _algorithms: Choice     # those of the robot
    _steps: dict            # by options: CompiledAlgorithm for one state, and settings

    @lazy
    def _rollouts(self) -> Rollouts:
        """The rollouts of this robot, which import all of simulation."""
        from screw_dynamics.rollout.rollout import Rollouts

        return Rollouts(self, self._algorithms, self._on_lanes)

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
        """Simulate the motion of the robot from an initial state.

        Parameters
        ----------
        q0 : array_like (..., nq)
            Initial configurations, rad or m.
        qd0 : array_like (..., n), optional
            Initial velocities, rad/s or m/s; at rest by default.
        effort : array_like or callable, optional
            Efforts, N m or N: (..., n) constant, or (..., steps, n) one for each interval dt, batch axes as in q0; or a
            controller; or a Python function. By default they are 0. For as many states as steps give (N, 1, n) or (1,
            steps, n).
        dt : float, optional
            Time step, s.
        steps : int, optional
            Number of steps.
        integrator : {"semi_implicit_euler", "rk4", "rk45", "variational", "implicit_midpoint", "sdirk2"}, optional
            Integrator; see Notes.
        duration : float, optional
            Duration in place of ``steps``, s, a multiple of dt.
        friction : bool, optional
            If true, the model's damping and Coulomb friction act, including static friction; docs/closed_loops.md.
        limits : bool, optional
            If true, joints stop at their position limits, without rebound, between steps of at most dt. If false,
            limits are ignored without a warning; by default they are ignored with a warning.
        every : int, optional
            Steps per sample, a divisor of ``steps``.
        rtol, atol : float, optional
            Relative and absolute tolerance of "rk45". A smaller relative tolerance than 2.2e-14 is replaced by 2.2e-14.
        springs : Springs, optional
            Springs at the joints, of any stiffness except in "rk4" and "rk45".
        forces : sequence of Element, optional
            Elements of ``screw_dynamics.forces``, such as springs between points, stops, drag and wrenches;
            docs/forces.md.
        external : dict of str to array_like (6,), optional
            Constant wrenches on links, in the frames of the links, as in ``inverse_dynamics``.
        record : {"energy", "momentum", "residual", "effort"} or iterable of these, optional
            Quantities to record along the motion; see Notes.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        t : ndarray (samples + 1,)
            Times, s.
        q : ndarray (..., samples + 1, nq)
            Configurations, rad or m.
        qd : ndarray (..., samples + 1, n)
            Velocities, rad/s or m/s.

        Raises
        ------
        ValueError
            If ``record`` is given for states in Dask arrays.

        Warns
        -----
        LimitsWarning
            If joints leave their limits, or begin beyond them, and ``limits`` is None. The warning names the joints and
            their largest deviations.
        DivergenceWarning
            If a state is no longer finite.

        Notes
        -----
        By default neither friction nor position limits act.

        A controller is a function controller(robot, t, q, qd, tau), or without robot, that Numba can compile. It sets
        tau (n,) from q (nq,) and qd (n,), and may call the robot's dynamics and kinematics; docs/forces.md. A
        Python function effort(t, q, qd) returns efforts (n,). It is called for one state after the other, and again for
        ``record``, and to find a value that is not finite.

        The integrators, docs/integration.md:

        - "semi_implicit_euler": order 1, step dt, friction implicit.
        - "rk4": order 4, step dt.
        - "rk45": Dormand-Prince with SciPy's step control to rtol and atol, sampled by dense output. Samples are NaN
          after the step size underflows.
        - "variational": implicit, order 2, step dt; keeps momenta, and energy within bounds.
        - "implicit_midpoint": implicit, order 2, step dt.
        - "sdirk2": implicit, order 2, step dt; damps motions that are too fast for dt.

        With ``record`` the result is a RecordedMotion, which still unpacks to t, q and qd. Its ``recorded`` maps each
        name to the energy_balance, momentum_balance, configuration_residual or efforts (..., samples + 1, n) at the
        samples. The last efforts given by intervals are those of the last interval. Work and impulses are summed over
        all steps, whatever ``every`` is, and all steps need memory then.
        """
        steps, forces = steps_of(duration, dt, steps), with_external(forces, external)
        qd0 = np.zeros(self.n) if qd0 is None else qd0
        if any_foreign((q0, qd0, effort)):
            if record is not None:
                raise ValueError("record: not supported for states in Dask arrays")
            return self._rollout_on(q0, qd0, effort, threads, dt=dt, steps=steps, integrator=integrator,
                                    friction=friction, limits=limits, every=every, rtol=rtol, atol=atol,
                                    springs=springs, forces=forces)
        if record is None:
            return self._rollouts.rollout(q0, qd0, effort, dt, steps, integrator, friction, limits, every, rtol, atol,
                                          threads, springs, forces)
        names, (steps, every) = conservation.records(record, self.model), sampling(steps, every)
        total = self._rollouts.total(forces, friction, springs)
        fine = 1 if effort is not None or total or limits else every
        motion = self._rollouts.rollout(q0, qd0, effort, dt, steps, integrator, friction, limits, fine, rtol, atol,
                                        threads, springs, forces)
        limits = bool(limits)
        if effort is not None and not callable(effort):         # by the rules of the rollout, and not of a balance
            effort = efforts(effort, motion[1].shape[:-2], steps, self.n)
            effort = effort[..., 0, :] if effort.shape[-2] == 1 else effort if steps else None
        # The step in which a stop acted is known if its efforts are those at its start.
        from screw_dynamics.rollout.integrators import FIXED_STEPS, INTEGRATORS

        known = integrator in FIXED_STEPS and (not callable(effort) or INTEGRATORS[integrator].implicit)

        def free(q, qd, tau):
            return self.step(q, qd, tau, dt, integrator, friction=friction, limits=False, springs=springs,
                             forces=forces, threads=threads)
        return conservation.recorded(self, names, motion, every // fine, effort, limits, total, free if known else None,
                                     threads)

    def _rollout_on(self, q0, qd0, effort, threads, **options):
        """Return a rollout of states in Dask arrays."""
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
        """Return the samples (..., samples + 1, nq + n) of a rollout, in one array. Efforts are (n,), (steps, n) or a
        controller."""
        effort = options.get("effort")
        if isinstance(effort, np.ndarray) and effort.ndim == 2:     # a block may have as many states as steps
            options["effort"] = effort[(None,) * (max(q0.ndim, qd0.ndim) - 1)]
        _, q, qd = self.rollout(q0, qd0, **options)
        return np.concatenate([q, qd], axis=-1)

    def energy_balance(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | Callable | None = None, *,
                       friction: bool = False, limits: bool = False, springs: Springs | None = None,
                       forces: Forces = None, threads: Threads = None) -> EnergyBalance:
        """Compute energies, work and losses along a simulated or measured motion.

        Parameters
        ----------
        t : array_like (samples,)
            Times, s.
        q : array_like (..., samples, nq)
            Configurations, rad or m.
        qd : array_like (..., samples, n)
            Velocities, rad/s or m/s.
        tau : array_like or callable, optional
            Efforts, N m or N: (..., n) constant, (..., samples - 1, n) one for each interval, or (..., samples, n) at
            the samples; or a controller, as in ``rollout``.
        friction : bool, optional
            If true, friction acts, as in ``rollout``.
        limits : bool, optional
            If true, position limits act, as in ``rollout``: the energy that is missing in a step that ends at a stop is
            the loss at the stop.
        springs : Springs, optional
            Springs at the joints, as in ``rollout``.
        forces : sequence of Element, optional
            Force elements, as in ``rollout``.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        EnergyBalance
            Kinetic and potential energy, work and losses, (..., samples) each, J.

        Notes
        -----
        The ``residual`` of the result is the unexplained change of energy: the error of the integrator, if samples are
        as close as its steps. Quadrature is of order 4.
        """
        model, at_stop = self.model, None
        friction, limits = checks.flag("friction", friction), checks.flag("limits", limits)
        if limits:
            ends = checks.real_numbers("q", q, self.nq)[..., 1:, :]
            at_stop = conservation.at_limits(model, ends, model.lower, model.upper).any(axis=-1)
        total = self._rollouts.total(forces, friction, springs)
        return conservation.energy_balance(self, t, q, qd, tau, total, at_stop, None, threads)

    def momentum_balance(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike, tau: ArrayLike | Callable | None = None, *,
                         friction: bool = False, springs: Springs | None = None,
                         forces: Forces = None, threads: Threads = None) -> MomentumBalance:
        """Compute the momentum along a motion, and the impulses of gravity and efforts.

        Parameters
        ----------
        t : array_like (samples,)
            Times, s.
        q : array_like (..., samples, nq)
            Configurations, rad or m.
        qd : array_like (..., samples, n)
            Velocities, rad/s or m/s.
        tau : array_like or callable, optional
            Efforts, N m or N: (..., n) constant, (..., samples - 1, n) one for each interval, or (..., samples, n) at
            the samples; or a controller, as in ``rollout``.
        friction : bool, optional
            If true, friction acts, as in ``rollout``.
        springs : Springs, optional
            Springs at the joints, as in ``rollout``.
        forces : sequence of Element, optional
            Force elements, as in ``rollout``.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        MomentumBalance
            Momentum, and impulses of gravity and efforts on the floating joint, (..., samples, 6) each: angular about
            the origin of the root link, N m s, and linear, N s.

        Raises
        ------
        ValueError
            If the robot does not float: its root is fixed. The error names the joint that holds it.
        """
        total = self._rollouts.total(forces, checks.flag("friction", friction), springs)
        return conservation.momentum_balance(self, t, q, qd, tau, total, threads)

    def total_force(self, forces: Sequence[Element], *, friction: bool = False, springs: Springs | None = None
                    ) -> ForceSum:
        """Return the sum of force elements on this robot.

        Parameters
        ----------
        forces : sequence of Element
            Force elements, as in ``rollout``.
        friction : bool, optional
            If true, friction acts, as in ``rollout``.
        springs : Springs, optional
            Springs at the joints, as in ``rollout``.

        Returns
        -------
        ForceSum
            Sum of the elements: joint efforts, exact derivatives, energy and power at any states.

        Raises
        ------
        ValueError
            If an element does not fit the robot. The error names it.
        """
        elements = all_elements(self.model, elements_of(forces), checks.flag("friction", friction), springs)
        return ForceSum(self.model, self.tables, elements)

    def drive_torque(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """Compute the efforts of springs and windings of drives, and of the robot's own forces.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.

        Returns
        -------
        ndarray (..., n)
            Efforts on joints and on motors, N m or N; 0 without drives and forces.

        Notes
        -----
        The robot's own ``forces`` act without friction, and at the time 0. The equation of motion is M qdd + C qd + g =
        tau + drive_torque - friction_torque.
        """
        return self.total_force(()).efforts(q, qd)

    def drive_energy(self, q: ArrayLike) -> np.ndarray:
        """Compute the potential energy of springs of drives, and of the robot's own forces.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.

        Returns
        -------
        ndarray (...)
            Energy, J.
        """
        return self.total_force(()).potential_energy(q)

    def effort_bounds(self, qd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Compute the lowest and the highest efforts of motors at given velocities.

        Parameters
        ----------
        qd : array_like (..., n)
            Velocities, rad/s or m/s.

        Returns
        -------
        lower : ndarray (..., n)
            Lowest efforts, N m or N.
        upper : ndarray (..., n)
            Highest efforts, N m or N.

        Notes
        -----
        The bounds are the effort limits of the model and the torque-speed lines of drives. They are infinite without
        limits. A rollout does not clip its efforts.
        """
        from screw_dynamics.rollout.driven_joints import effort_bounds

        qd = checks.real_numbers("qd", qd, self.n)
        stall, no_load = torque_speed(self.model)
        return effort_bounds(self.model.effort_limit, stall, no_load, qd)

    def configuration_residual(self, q: ArrayLike, *, limits: bool = False) -> np.ndarray:
        """Compute the distance of configurations from valid configurations.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        limits : bool, optional
            If true, include position limits.

        Returns
        -------
        ndarray (...)
            Largest deviation of a quaternion's length from 1 or, with ``limits``, of a joint from its position limits,
            rad or m.

        Notes
        -----
        Mimic joints share a coordinate, and have no residual.
        """
        return conservation.configuration_residual(self, q, checks.flag("limits", limits))

    def step(self, q: ArrayLike, qd: ArrayLike, effort: ArrayLike, dt: float, integrator: str = "semi_implicit_euler",
             *, friction: bool = False, limits: bool | None = None, springs: Springs | None = None,
             forces: Forces = None, external: Wrenches | None = None, t: float = 0.0,
             out: tuple[np.ndarray, np.ndarray] | None = None, threads: Threads = None
             ) -> tuple[np.ndarray, np.ndarray]:
        """Advance a state by one step of ``rollout``, for loops in Python.

        Parameters
        ----------
        q : array_like (..., nq)
            Configurations, rad or m.
        qd : array_like (..., n)
            Velocities, rad/s or m/s.
        effort : array_like (..., n)
            Efforts, N m or N.
        dt : float
            Time step, s.
        integrator : {"semi_implicit_euler", "rk4", "variational", "implicit_midpoint", "sdirk2"}, optional
            Integrator, as in ``rollout``: any but "rk45".
        friction : bool, optional
            If true, friction acts, as in ``rollout``.
        limits : bool, optional
            If true, joints stop at their position limits. If false, limits are ignored without a warning; by default
            they are ignored with a warning, as in ``rollout``.
        springs : Springs, optional
            Springs at the joints, as in ``rollout``.
        forces : sequence of Element, optional
            Force elements, as in ``rollout``.
        external : dict of str to array_like (6,), optional
            Wrenches on links, as in ``rollout``. Wrenches that change from step to step are faster as efforts: ``effort
            + external_torque(q, external)``.
        t : float, optional
            Time at the beginning of the step, s, for time-dependent forces.
        out : tuple of ndarray, optional
            Arrays (q, qd) for the result. They may be the inputs.
        threads : int, optional
            Threads for a batch.

        Returns
        -------
        q : ndarray (..., nq)
            Configurations at the end of the step, rad or m.
        qd : ndarray (..., n)
            Velocities at the end of the step, rad/s or m/s.

        Warns
        -----
        LimitsWarning
            If the step leaves the position limits, and ``limits`` is None.
        """
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
                    self._rollouts.warn_of_limits(here[None])
                if done:
                    return here, rate
            except (KeyError, TypeError, ValueError):       # a first call, or an argument that is rejected below
                one, settings, pool = self._rollouts.step_entry(integrator, friction, limits)
                self._steps[key] = one, settings, pool.take()
        return self._rollouts.step(q, qd, effort, dt, integrator, friction, limits, springs, forces, t, out, threads)

    def plot(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None,
             path: str | os.PathLike | None = None) -> Any:
        """Plot a motion with matplotlib.

        Parameters
        ----------
        t : array_like (samples,)
            Times, s.
        q : array_like (..., samples, nq)
            Configurations, rad or m.
        qd : array_like (..., samples, n), optional
            Velocities, rad/s or m/s.
        tau : array_like (..., samples, n), optional
            Efforts, N m or N; also (n,), or one fewer than samples, one for each interval.
        path : str or path-like, optional
            File to write: PNG, PDF or SVG, by its extension. The figure is closed afterwards.

        Returns
        -------
        matplotlib.figure.Figure
            Positions, velocities and efforts of each joint, with the range beyond limits shaded, and the energy.

        Raises
        ------
        ImportError
            If matplotlib, the extra [plot], is not installed.

        Notes
        -----
        The angular coordinates of a Lie-group joint share one panel, and the linear ones another. Of a batch the first
        motion is in color, and up to eleven others are in gray.
        """
        from screw_dynamics.rollout.plot import plot  # when it is called: few robots are plotted
        return plot(self, t, q, qd, tau, path)
