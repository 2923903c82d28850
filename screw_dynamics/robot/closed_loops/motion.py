"""Simulation of a mechanism with closed loops by steps of fixed length, in one kernel."""
import warnings
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.constraints import projection as keeping
from screw_dynamics.robot.evaluation import Forces, Threads
from screw_dynamics.rollout.divergence import lost_by
from screw_dynamics.rollout.limit_violations import warn_of_limits
from screw_dynamics.rollout.rollout import Rollouts

from .constraints import Constraints
from .projection import not_closed

OPEN = 1e-6             # rad or m, or rad/s or m/s, or relative to velocities: what rounding does not open


class LoopMotion(NamedTuple):
    """Simulated motion of a robot with closed loops.

    Parameters
    ----------
    t : ndarray (samples,)
        Times in s.
    q : ndarray (..., samples, nq)
        Configurations.
    qd : ndarray (..., samples, n)
        Velocities.
    energy : ndarray (..., samples)
        Sum of kinetic and potential energy in J, with the energy of springs.
    residual : ndarray (..., samples)
        Largest absolute residual of the constraints.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    energy: np.ndarray
    residual: np.ndarray


def rollouts(constraints: Constraints, projection: str | None) -> Rollouts:
    """Return the rollouts of a robot with constraints, with one of keeping.PROJECTIONS after each step."""
    robot = constraints.robot
    entries = robot._rollouts.entries._replace(acceleration=constraints.acceleration)
    return Rollouts(robot, entries, constraints.on_lanes, keeping.PROJECTIONS[projection], "loops")


def rollout(constraints: Constraints, rollouts: Rollouts, q0: np.ndarray, qd0: np.ndarray, effort: Any, dt: float,
            steps: int, integrator: str, friction: bool, limits: bool | None, every: int, rtol: float, atol: float,
            forces: Forces, threads: Threads) -> LoopMotion:
    """Return the LoopMotion from initial states, broadcast to common leading axes. Ranks are those of closed
    configurations: at the start of each step, or of the first step if later ones are not closed."""
    robot = constraints.robot
    found = rollouts.samples(q0, qd0, effort, dt, steps, integrator, friction, limits, every, rtol, atol, threads,
                             forces=forces)
    _warn_of_start(constraints, q0, qd0)
    t, q, qd = found[:3]
    _check(constraints, rollouts, effort, dt, t, q, qd)
    if found.left:
        warn_of_limits(robot.model, "the rollout", q, t=t)
    energy, total = robot.kinetic_energy(q, qd) + robot.potential_energy(q), rollouts.total(forces)
    if total:
        energy += total.potential_energy(q)
    return LoopMotion(t, q, qd, energy, np.abs(constraints.residual(q)).max(axis=-1, initial=0.0))


def _warn_of_start(constraints, q0, qd0):
    """Warn, at the caller of ClosedLoopRobot.rollout, of constraints that initial states do not satisfy."""
    h, v = constraints.errors(q0, qd0)
    if np.vdot(h, h) > OPEN**2:
        _warn(constraints, h, "q0 leaves {} open: start at project(q0)", "rad or m")
    elif (square := np.vdot(v, v)) > OPEN**2 and square > OPEN**2 * np.vdot(qd0, qd0):
        _warn(constraints, v, "qd0 opens {}: start with project_velocity(q0, qd0)", "rad/s or m/s")


def _warn(constraints, x, text, unit):
    """Warn with a text that names the constraints whose rows of x (..., m) are not 0."""
    listed = ", ".join(f"{name!r} ({size:.3g} {unit})" for name, size in constraints.largest(x).items() if size > OPEN)
    if listed:
        warnings.warn(text.format(listed), stacklevel=5)


def _check(constraints, rollouts, effort, dt, t, q, qd):
    """Raise ArithmeticError for the first step after which a state (..., k, n) is not finite."""
    lost = ~(np.isfinite(q).all(axis=-1) & np.isfinite(qd).all(axis=-1)).reshape(-1, len(t))
    if lost.any():
        state = int(np.argmin(np.where(lost.any(axis=1), lost.argmax(axis=1), len(t))))
        first = int(lost[state].argmax())
        if first == 0:
            raise ValueError("q0 and qd0 must be finite")
        of_one, rates = q.reshape(-1, *q.shape[-2:])[state], qd.reshape(-1, *qd.shape[-2:])[state]
        end = of_one[first]
        if callable(effort) and (why := lost_by(rollouts, effort, t, of_one, rates, first, dt)):
            raise ArithmeticError(f"the state is not finite from t = {t[first]:.6g} s on: {why}")
        why = (not_closed(constraints, end, np.ones(constraints.robot.n), keeping.TOLERANCE, keeping.STEPS)
               if np.isfinite(end).all() else "the state is not finite")
        raise ArithmeticError(f"loops opened too far by t = {t[first]:.6g} s, shorter steps may help: "
                              f"{why}")
