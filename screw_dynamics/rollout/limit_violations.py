"""Warnings of joints that leave their position limits or start beyond them, in rollouts whose `limits` was not set."""
import warnings

import numpy as np

from screw_dynamics.model.model import Model

MOST = 3        # joints named in a warning
IGNORED = "limits=True stops joints there, limits=False ignores limits without this warning"


class LimitsWarning(UserWarning):
    """A warning of joints that left the model's position limits in a simulation, or started beyond them.

    Notes
    -----
    The limits act only with limits=True.
    """


def begins_beyond(model: Model, q: np.ndarray) -> bool:
    """Return True if a joint is beyond its limits in the first of the samples q (..., samples, nq)."""
    moving = model.q_indices >= 0
    x = q[..., 0, model.q_indices[moving]]
    return bool(((x < model.lower[moving]) | (x > model.upper[moving])).any())


def warn_of_limits(model: Model, what: str, q: np.ndarray, q0: np.ndarray | None = None, t: np.ndarray | None = None,
                   advice: str = IGNORED, stacklevel: int = 4, room: float = 0.0) -> None:
    """Warn of the joints beyond their limits by more than `room` in samples q (..., samples, nq) at times t (samples,).
    With q0 (..., 1, nq), the start of a step: only joints within their limits there. what: the rollout or the step, as
    the start of a sentence."""
    moving = np.flatnonzero(model.q_indices >= 0)
    place, lower, upper = model.q_indices[moving], model.lower[moving], model.upper[moving]
    x, start = q[..., place], np.clip(0.0, lower, upper) if q0 is None else q0[..., place]
    left = ((x < lower - room) & (start >= lower)) | ((x > upper + room) & (start <= upper))    # (..., samples, joints)
    if not left.any():
        return
    joints, states = np.flatnonzero(left.any(axis=tuple(range(left.ndim - 1)))), left.any(axis=(-2, -1))
    told = "; ".join(_told(model, moving[k], x[..., k][left[..., k]], lower[k], upper[k]) for k in joints[:MOST])
    more = f"; and {len(joints) - MOST} joints more" if len(joints) > MOST else ""
    many = f", in {np.count_nonzero(states)} of {states.size} states" if states.ndim else ""
    since = "" if t is None else f", from t = {t[left.any(axis=-1).reshape(-1, len(t)).any(axis=0)][0]:g} s on"
    warnings.warn(f"{what} leaves the position limits of the model: {told}{more}{since}{many}. {advice}", LimitsWarning,
                  stacklevel=stacklevel)


def _told(model, velocity, x, lower, upper):
    """Return the text of a warning for a joint beyond its limits at x: the extreme position and the limit."""
    joint = next(name for name, part in model.v_slices.items() if part.start == velocity)
    unit = "m" if model.kind_of(joint) == "prismatic" else "rad"
    far, limit = max(((lower - x.min(), (x.min(), lower)), (x.max() - upper, (x.max(), upper))))[1]
    return f"joint {joint!r} reaches {far:.4g} {unit}, and its limit is {limit:.4g} {unit}"
