"""Viscous and Coulomb friction in the joints, a term that is separate from the equations of motion."""
from typing import Any

import numpy as np

from screw_dynamics.numbers.scalars import absolute
from screw_dynamics.numbers.values import kernel

STICTION = 1e-3     # rad/s or m/s: in simulation Coulomb friction falls off linearly below it, so joints come to rest


def friction_torque(damping: np.ndarray, friction: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The efforts damping qd + friction sign(qd), (..., n), that friction takes at the rates qd (..., n).

    damping (n,): N m s/rad or N s/m; friction (n,): N m or N."""
    return damping * qd + friction * np.sign(qd, dtype=float)


@kernel
def resistance(damping: Any, friction: Any, v: Any) -> Any:
    """The d >= 0 for which d v is the effort of friction at the rate v in simulation, smoothed near rest."""
    return damping + friction / (absolute(v) + STICTION)
