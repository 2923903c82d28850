"""What position stops make of the derivatives of a step: those of motion.stop_at_limits, impulse by impulse.

Exact where no joint arrives at its stop, or leaves it, just at the end of the step: there a step has no derivative."""
from typing import Any

import numpy as np

from screw_dynamics.simulation.motion import BLOCK


def stop_at_limits(robot: Any, q: np.ndarray, qd: np.ndarray, dq: np.ndarray, dqd: np.ndarray,
                   threads: int | None) -> None:
    """Make dq and dqd (..., n, m), derivatives of a state (q, qd), those of the state after the stops, in place."""
    model, n = robot.model, robot.n
    single = model.places_in_q >= 0
    places = model.places_in_q[single]
    lower, upper = model.lower[single], model.upper[single]
    q, qd, blocked = q.copy(), qd.copy(), np.zeros(qd.shape, dtype=bool)
    for _ in range(n):
        x, v = q[..., places], qd[..., single]
        beyond = np.zeros(qd.shape, dtype=bool)
        beyond[..., single] = (x < lower) | (x > upper)
        dq[beyond] = 0.0
        q[..., places] = np.clip(x, lower, upper)
        blocked[..., single] = ((v < 0.0) & (x <= lower)) | ((v > 0.0) & (x >= upper))
        if not blocked.any():
            return
        D = BLOCK * blocked                                         # the impulse: w = -(M + D)^-1 D qd
        scale = (1.0 + D) ** -0.5                                   # or entries of some 1e12 would cost others digits
        scales = scale[..., None] * scale[..., None, :]
        M = robot.mass_matrix(q, threads=threads)
        inverse = scales * np.linalg.inv(scales * (M + D[..., None] * np.eye(n)))
        w = -(inverse @ (D * qd)[..., None])[..., 0]
        still = np.zeros_like(qd)
        by_q = (robot.inverse_dynamics_derivatives(q, still, w, threads=threads).by_q       # of M(q) w
                - robot.inverse_dynamics_derivatives(q, still, still, threads=threads).by_q)
        dw = -inverse @ (D[..., None] * dqd + by_q @ dq)
        dqd[...] = np.where(blocked[..., None], 0.0, dqd + dw)
        qd = np.where(blocked, 0.0, qd + w)
