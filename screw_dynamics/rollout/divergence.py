"""The warning of rollouts whose state becomes non-finite."""
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.configuration_space import without_direction

from .rollout_arguments import efforts

ASTRAY = 1e6            # rad, m and per second: a larger state had diverged before, and efforts with it
MOST = 200              # calls of a controller to find an effort that is not finite


class DivergenceWarning(RuntimeWarning):
    """A warning that a state of a rollout is not finite from some time on."""


def warn_of_divergence(rollouts: Any, t: np.ndarray, q: np.ndarray, qd: np.ndarray, dt: float, integrator: str,
                       effort: ArrayLike | Callable | None, steps: int, adaptive: bool = True) -> None:
    """Warn of the first non-finite sample, at the caller of Robot.rollout, by Rollouts with an effort and steps.
    adaptive: True if adaptive integrators can be recommended."""
    model = rollouts.robot.model
    finite = np.isfinite(q).all(axis=-1) & np.isfinite(qd).all(axis=-1)            # (*lead, samples + 1)
    lead, finite = finite.shape[:-1], finite.reshape(-1, len(t))
    lost = np.flatnonzero(~finite.all(axis=1))
    if not len(lost):
        return
    samples = np.argmin(finite[lost], axis=1)
    first = int(np.argmin(samples))
    index = tuple(int(i) for i in np.unravel_index(lost[first], lead)) if lead else ()
    who = f"state {index[0] if len(index) == 1 else index} of {lead}" if index else "the state"
    others = f", and {len(lost) - 1} more, later or at once" if len(lost) > 1 else ""
    given = {"q0": q[index][0], "qd0": qd[index][0]}
    if not callable(effort):
        given["effort"] = efforts(effort, lead, steps, model.n)[index]
    advice = _impossible(model, given) or (
        callable(effort) and lost_by(rollouts, effort, t, q[index], qd[index], int(samples[first]), dt)) or (
        "its step size underflowed: the motion itself has no bound, or jumps" if integrator == "rk45" else
        f"try a dt smaller than {dt:g} s" + adaptive * ", or integrator='rk45'")
    warnings.warn(f"the rollout diverged: {who} is not finite from t = {t[samples[first]]:g} s on{others}; {advice}",
                  DivergenceWarning, stacklevel=4)


def _impossible(model, given):
    """Return the description of an invalid entry in the arrays of a rollout of one state; "" if all are valid."""
    for name, x in given.items():
        for *step, k in np.argwhere(~np.isfinite(x)).tolist():
            return f"its {name}[{'..., ' * bool(step)}{k}] is {x[(*step, k)]}"
    joint = without_direction(model, given["q0"])
    return joint and f"the quaternion of joint {joint!r} in its q0 is 0, which is no orientation"


def lost_by(rollouts: Any, controller: Callable, t: np.ndarray, q: np.ndarray, qd: np.ndarray, sample: int,
            dt: float) -> str:
    """Return the description of an effort of a controller that is not finite in the interval before a sample; "" if
    there is none, or if the motion had diverged before. Within the interval the controller gets the state at its start,
    MOST times at most; beyond a step the description says so.

    t (samples,), q (samples, nq), qd (samples, n): a motion by these Rollouts."""
    last = sample - 1
    if max(abs(q[last]).max(initial=0.0), abs(qd[last]).max(initial=0.0)) > ASTRAY:
        return ""
    for time in np.append(np.arange(t[last], t[sample] - 0.25 * dt, 0.5 * dt)[:MOST], t[sample]):
        try:
            tau = rollouts.efforts_of(controller, np.array([time]), q[last:sample], qd[last:sample])[0]
        except Exception:           # at a time that the rollout did not reach, perhaps
            return ""
        for k in np.flatnonzero(~np.isfinite(tau))[:1]:
            name = getattr(getattr(controller, "py_func", controller), "__qualname__", repr(controller))
            late = f" for the state of t = {t[last]:g} s" if time > t[last] + 1.5 * dt else ""
            return (f"effort[{k}] of the controller {name} is {tau[k]} at t = {time:g} s{late}, "
                    f"q = {q[last].tolist()}, qd = {qd[last].tolist()}")
    return ""
