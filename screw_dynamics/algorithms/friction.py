"""Viscous and Coulomb friction in the joints, which is separate from the equations of motion.

In simulation joints have stiction: rollout/step_data.py. As a function of the velocity only, Coulomb friction is
undefined at rest, and is linear near it."""
from typing import Any

import numpy as np

from screw_dynamics.numbers.scalars import absolute, where
from screw_dynamics.numbers.values import kernel, over

STICTION = 1e-3     # rad/s or m/s: below it Coulomb friction as a function of the velocity is linear


def friction_torque(damping: np.ndarray, friction: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Return the friction efforts damping qd + friction sign(qd), (..., n), at the rates qd (..., n).

    damping (n,): N m s/rad or N s/m; friction (n,): N m or N."""
    return damping * qd + friction * np.sign(qd, dtype=float)


@kernel
def resistance(damping: Any, friction: Any, v: Any) -> Any:
    """Return the d >= 0 for which d v is the friction effort at the rate v, linear within STICTION of rest."""
    speed = absolute(v)
    return damping + friction / where(speed > STICTION, speed, over(STICTION, speed))


def smooth_sign(qd: np.ndarray) -> np.ndarray:
    """Return the sign of rates qd (..., n), linear within STICTION of rest: noise around rest then does not make an
    effort jump by twice the friction."""
    return np.clip(qd / STICTION, -1.0, 1.0)
