"""The warning of rollouts whose state becomes non-finite."""
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.model.configuration_space import without_direction
from screw_dynamics.model.model import Model

from .rollout_arguments import efforts


class DivergenceWarning(RuntimeWarning):
    """A warning that a state of a rollout is not finite from some time on."""


def warn_of_divergence(model: Model, t: np.ndarray, q: np.ndarray, qd: np.ndarray, dt: float, integrator: str,
                       effort: ArrayLike | Callable | None, steps: int, adaptive: bool = True) -> None:
    """Warn of the first non-finite sample, at the caller of Robot.rollout with an effort and steps. adaptive: True if
    adaptive integrators can be recommended."""
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
