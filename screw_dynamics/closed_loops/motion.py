"""Simulation of a mechanism with closed loops by steps of fixed length, in one kernel."""
from collections.abc import Callable
from inspect import signature
from typing import NamedTuple

import numpy as np

from screw_dynamics import checks
from screw_dynamics.constraints import projection as keeping
from screw_dynamics.robot.evaluation import Forces
from screw_dynamics.simulation.limit_violations import warn_of_limits
from screw_dynamics.simulation.python_controllers import PythonController
from screw_dynamics.simulation.rollout import Rollouts

from .constraints import Constraints
from .projection import not_closed


class LoopMotion(NamedTuple):
    """Times (k,), configurations (k, ..., nq), velocities (k, ..., n), energy (k, ...) in J, kinetic and potential, of
    springs too, and the largest residual (k, ...) of the constraints."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    energy: np.ndarray
    residual: np.ndarray


def rollouts(constraints: Constraints, projection: str | None) -> Rollouts:
    """The rollouts of a robot that keeps constraints, with one of keeping.PROJECTIONS after each step."""
    robot = constraints.robot
    entries = robot.rollouts.entries._replace(acceleration=constraints.acceleration)
    return Rollouts(robot, entries, constraints.on_lanes, keeping.PROJECTIONS[projection], "loops")


def simulate(constraints: Constraints, rollouts: Rollouts, q: np.ndarray, qd: np.ndarray, effort: np.ndarray | Callable,
             dt: float, steps: int, method: str, friction: bool, limits: bool, forces: Forces = None) -> LoopMotion:
    """The LoopMotion from (q, qd) on, over common leading axes, under efforts (..., n) or of a controller. Ranks are
    those of closed configurations: of where each step starts, or of the first one if later ones are not closed."""
    robot = constraints.robot
    if callable(effort) and len(signature(effort).parameters) == 3:
        t, qs, qds = _in_python(constraints, rollouts, q, qd, effort, dt, steps, method, friction, limits, forces)
    else:
        t, qs, qds, *_ = rollouts.samples(q, qd, effort, dt, steps, method, friction, limits, forces=forces)
    _check(constraints, dt, t, qs, qds)
    if not limits:
        warn_of_limits(robot.model, "the simulation", qs, t=t, advice="limits=True lets joints stop there")
    energy, total = robot.kinetic_energy(qs, qds) + robot.potential_energy(qs), rollouts.total(forces)
    if total:
        energy += total.potential_energy(qs)
    residual = np.abs(constraints.residual(qs)).max(axis=-1, initial=0.0)
    return LoopMotion(t, *(np.moveaxis(x, -2, 0) for x in (qs, qds)), *(np.moveaxis(x, -1, 0) for x in (energy,
                                                                                                       residual)))


def _in_python(constraints, rollouts, q, qd, effort, dt, steps, method, friction, limits, forces):
    """The samples under effort(t, q, qd), which gets one state after the other."""
    robot, lead = constraints.robot, q.shape[:-1]
    qs, qds = (np.empty((*lead, steps + 1, x.shape[-1])) for x in (q, qd))

    def efforts(t, q, qd):
        tau = checks.real_numbers("effort", effort(t, q, qd))
        return checks.number("effort", tau.item()) if tau.ndim == 0 else checks.vector("effort", tau, robot.n)
    for k in np.ndindex(lead):
        controller = PythonController(efforts, robot.nq, robot.n)
        t, qs[k], qds[k], *_ = rollouts.samples(q[k], qd[k], controller.compiled, dt, steps, method, friction,
                                                limits, forces=forces)
        if controller.error is not None:
            raise controller.error
    return t, qs, qds


def _check(constraints, dt, t, q, qd):
    """Raise the ArithmeticError of the first step after which a state (..., k, n) is not finite."""
    lost = ~(np.isfinite(q).all(axis=-1) & np.isfinite(qd).all(axis=-1)).reshape(-1, len(t))
    if lost.any():
        state = int(np.argmin(np.where(lost.any(axis=1), lost.argmax(axis=1), len(t))))
        first = int(lost[state].argmax())
        if first == 0:
            raise ValueError("q and qd must be finite")
        end = q.reshape(-1, *q.shape[-2:])[state, first]
        why = (not_closed(constraints, end, np.ones(constraints.robot.n), keeping.TOLERANCE, keeping.STEPS)
               if np.isfinite(end).all() else "the state is not finite")
        raise ArithmeticError(f"loops opened too far in the step to t = {t[first]:.6g} s, shorter steps may help: "
                              f"{why}")
