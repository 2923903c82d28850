"""Convergence of implicit steps: they iterate until the velocities stand still, to machine precision if they can."""
from typing import Any

from screw_dynamics.numbers.scalars import where
from screw_dynamics.numbers.values import Scalar, kernel, over

ITERATIONS = 60         # at most
SLOW = 1e-3             # rad/s or m/s, what velocities are at least compared with
SETTLED = 1e-13         # a change, relative to the largest velocity, that is none
ROUNDING = 1e-10        # one that may be rounding, where it no longer falls from one iteration to the next
FAILED = 1e-3           # one after which there is no solution


@kernel
def unsettled(active: Any, change: Scalar, last: Scalar, size: Scalar) -> Any:
    """Return True where an iteration that is active goes on, by the largest changes of a velocity, now and the one
    before, and the largest velocity. One that is not finite ends."""
    return active & (change > SETTLED * size) & ((change < last) | (change > ROUNDING * size))


@kernel
def spoil(change: Scalar, size: Scalar, qd: list) -> None:
    """Make velocities NaN where the last change is too large: of a step that is too long there is no solution."""
    for k in range(len(qd)):
        qd[k] = where(change <= FAILED * size, qd[k], over(float("nan"), qd[k]))
