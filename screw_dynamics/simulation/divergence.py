"""What a rollout says when the numbers of a state cease to be finite."""
import warnings

import numpy as np


class DivergenceWarning(RuntimeWarning):
    """A state of a rollout is not finite from some time on."""


def warn_of_divergence(t: np.ndarray, q: np.ndarray, qd: np.ndarray, dt: float, integrator: str) -> None:
    """Warn of the first sample that is not finite, in the code that called Robot.rollout."""
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
    advice = ("its step size underflowed: the motion itself has no bound, or jumps" if integrator == "rk45" else
              f"try a dt smaller than {dt:g} s, or integrator='rk45'")
    warnings.warn(f"the rollout diverged: {who} is not finite from t = {t[samples[first]]:g} s on{others}; {advice}",
                  DivergenceWarning, stacklevel=4)
