"""Motions of a robot: simulated, step by step or as a whole, and drawn."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.simulation.rollout import Rollouts

from .evaluation import Evaluation, Threads

empty = np.empty


class Motion(Evaluation):
    """Methods about motions in time."""

    _rollouts: Rollouts
    _steps: dict            # by options: entry point of one state, and plan

    def rollout(self, q0: ArrayLike, qd0: ArrayLike, effort: ArrayLike | Callable | None = None, dt: float = 1e-3,
                steps: int = 1000, integrator: str = "semi_implicit_euler", *, friction: bool = False,
                limits: bool = False, every: int = 1, rtol: float = 1e-6, atol: float = 1e-9,
                threads: Threads = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Simulate: times t (samples + 1,), q (..., samples + 1, nq) and qd (..., samples + 1, n), from the initial
        states q0 (..., nq) and qd0 (..., n) on.

        effort: None; (..., n) constant; (..., steps, n) one an interval dt, batch axes as in q0; or a controller, a
        function controller(robot, t, q, qd, tau), or without robot, that Numba can compile: it sets tau (n,) from q
        (nq,) and qd (n,), and may call the robot's dynamics and kinematics, docs/controllers.md. integrator:
        "semi_implicit_euler" (order 1, friction implicit), "rk4" (order 4), both of step dt; or "rk45"
        (Dormand-Prince with SciPy's step control to rtol, at least 2.3e-14, and atol, sampled by dense output; NaN from
        where the step size underflows). friction: let the model's damping and Coulomb friction act. limits: stop joints
        at their position limits, without rebound, between steps of at most dt. every: steps per sample. A state
        that ceases to be finite gives a DivergenceWarning."""
        return self._rollouts.rollout(q0, qd0, effort, dt, steps, integrator, friction, limits, every, rtol, atol,
                                      threads)

    def step(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dt: float, integrator: str = "semi_implicit_euler", *,
             friction: bool = False, limits: bool = False, out: tuple[np.ndarray, np.ndarray] | None = None,
             threads: Threads = None) -> tuple[np.ndarray, np.ndarray]:
        """The state (q, qd) a time dt (s) later, under efforts tau: one step of `rollout` with the same options, for
        loops in Python. integrator: "semi_implicit_euler" or "rk4". out: arrays (q, qd) for it; may be the inputs."""
        key = (integrator, bool(friction), bool(limits)) if friction or limits else integrator
        try:
            here, rate = (empty(self.nq), empty(self.n)) if out is None else out
            one, plan = self._steps[key]
            if one(self._memory, plan, q, qd, tau, None, here, rate, dt):
                return here, rate
        except (KeyError, TypeError, ValueError):       # a first call, or an argument that is refused below
            self._steps[key] = self._rollouts.step_entry(integrator, friction, limits)
        return self._rollouts.step(q, qd, tau, dt, integrator, friction, limits, out, threads)

    def plot(self, t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, tau: ArrayLike | None = None,
             path: str | os.PathLike | None = None) -> Any:
        """A matplotlib figure of a motion as `rollout` returns it: positions q (..., samples, nq), velocities qd and
        efforts tau (..., samples, n) of each joint at the times t (samples,), what is beyond its limits shaded, and the
        energy. Of a joint on a group the turns, its quaternion among them, share one panel, and the slides another.

        tau: also (n,), or one fewer than samples, one for each interval. Of a batch the first motion is in colour, of
        others the first eleven in grey. path: a file to write, by its name a PNG, PDF or SVG; the figure is closed
        then. ImportError without matplotlib, the extra [plot]."""
        from screw_dynamics.plot import plot  # when it is called: few robots are drawn
        return plot(self, t, q, qd, tau, path)
