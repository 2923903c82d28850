"""Convergence of implicit steps: iteration until the velocities are stationary, if possible to machine precision."""
from typing import Any

from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import Scalar, kernel, over

ITERATIONS = 60         # maximum
SLOW = 1e-3             # rad/s or m/s, lower bound of the velocity scale
SETTLED = 1e-13         # change relative to the largest velocity: converged
ROUNDING = 1e-10        # change that may be rounding if it no longer decreases
FAILED = 1e-3           # change above which there is no solution


@kernel
def unsettled(active: Any, change: Scalar, last: Scalar, size: Scalar) -> Any:
    """Return True where an active iteration continues, by the largest change of a velocity now and in the previous
    iteration, and the largest velocity. A non-finite iteration ends."""
    return active & (change > SETTLED * size) & ((change < last) | (change > ROUNDING * size))


@kernel
def spoil(change: Scalar, size: Scalar, qd: list) -> None:
    """Set velocities to NaN where the last change is too large: the step is too long and has no solution."""
    for k in range(len(qd)):
        qd[k] = where(change <= FAILED * size, qd[k], over(float("nan"), qd[k]))
