"""Motion of a MultibodySystem over time, by steps of fixed or of adaptive length."""
from collections.abc import Callable, Mapping
from functools import partial
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .integrators import TABLEAUS, Step, commutator_free, munthe_kaas
from .system import MultibodySystem, State

METHODS = (*TABLEAUS, "commutator_free")
PROJECTIONS = None, "velocities", "poses and velocities"


class Motion(NamedTuple):
    """Times (k,), poses (k, n, 4, 4) and velocities (k, n, 6) as the groups have them; {name: (k, ...)} of what was
    recorded; steps taken, and refused by step control."""

    t: np.ndarray
    poses: np.ndarray
    velocities: np.ndarray
    recorded: Mapping[str, np.ndarray]
    steps: int
    refused: int


def simulate(system: MultibodySystem, duration: float, dt: float, method: str = "rk4", state: State | None = None,
             every: int = 1, projection: str | None = None, dexp_order: int | None = None,
             record: Mapping[str, Callable[[np.ndarray, np.ndarray], ArrayLike]] | None = None,
             rtol: float = 1e-8, atol: float = 1e-10) -> Motion:
    """The motion from the system's initial state with closed velocities, or from another, for `duration` seconds.

    method: "euler", "heun", "rk4", "rk45" (Munthe-Kaas; rk45 with steps of adaptive length, dt being the first) or
    "commutator_free"; every: which steps are kept; projection: what is brought back to the constraints after each step,
    one of PROJECTIONS; dexp_order: as in munthe_kaas; record: {name: function of poses and velocities}."""
    if method not in METHODS:
        raise ValueError(f"the method {method!r} must be one of {', '.join(METHODS)}")
    if projection not in PROJECTIONS:
        raise ValueError(f"the projection {projection!r} must be one of {', '.join(map(repr, PROJECTIONS))}")
    if not (dt > 0.0 and duration >= 0.0):
        raise ValueError(f"dt must be > 0 and duration >= 0, not {dt} and {duration}")
    poses, velocities = state or system.initial(closed=True)
    step = _step(system, method, dexp_order)
    kept, record = [], record or {}

    def keep(t, g, V):
        kept.append((t, g, V, *(np.asarray(of(g, V)) for of in record.values())))
    keep(0.0, poses, velocities)
    count = max(1, ceil(duration / dt - 1e-9)) if duration else 0
    steps, refused, t, h = 0, 0, 0.0, dt
    while t < duration * (1.0 - 1e-12):
        if method == "rk45":
            h = min(h, duration - t)
            taken = step(t, h, poses, velocities)
            error = _error(taken, poses, velocities, rtol, atol)
            grow = min(10.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2)) if np.isfinite(error) else 0.2
            if not error <= 1.0:
                refused, h = refused + 1, h * grow
                if h < 1e-14 * max(duration, 1.0):
                    raise ArithmeticError(f"steps became shorter than {h:.1g} s at t = {t:.6g} s")
                continue
            t, h = t + h, h * grow
        else:
            taken = step(t, h, poses, velocities)
            t = duration if steps + 1 == count and abs(count * dt - duration) < 1e-9 * duration else (steps + 1) * dt
        steps += 1
        poses, velocities = _projected(system, taken, projection)
        if steps % every == 0 or t >= duration:
            keep(t, poses, velocities)
    t, g, V, *recorded = (np.array(column) for column in zip(*kept, strict=True))
    return Motion(t, g, V, dict(zip(record, recorded, strict=True)), steps, refused)


def _step(system, method, dexp_order):
    """A step as a function of t, h, g, V."""
    of = partial(commutator_free) if method == "commutator_free" else partial(munthe_kaas, TABLEAUS[method])
    options = {} if method == "commutator_free" else {"order": dexp_order}
    return lambda t, h, g, V: of(system.group, system.accelerations, t, h, g, V, **options)


def _projected(system, taken: Step, projection):
    poses, velocities = taken.poses, taken.velocities
    if projection == "poses and velocities":
        poses = system.closed_poses(poses)
    if projection:
        velocities = system.closed_velocities(poses, velocities)
    return poses, velocities


def _error(taken, poses, velocities, rtol, atol):
    """Root mean square of the estimated error, in units of the tolerance."""
    X, dV = taken.error
    sizes = np.concatenate((np.ones_like(X[..., :3]), np.maximum(1.0, np.abs(poses[..., :3, 3]))), axis=-1)
    parts = [X / (atol + rtol * sizes), dV / (atol + rtol * np.maximum(np.abs(velocities), np.abs(taken.velocities)))]
    return float(np.sqrt(np.mean(np.square(parts))))
