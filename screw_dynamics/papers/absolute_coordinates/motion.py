"""Simulation of a MultibodySystem, with fixed or adaptive steps."""
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.rollout.runge_kutta import Tableau
from screw_dynamics.utils import checks

from .conservation import energy_balance, momentum_balance
from .energy_momentum import EnergyMomentum
from .generalized_alpha import GeneralizedAlpha, damping_radius
from .integrators import TABLEAUS, commutator_free, munthe_kaas
from .system import MultibodySystem, State

METHODS = (*TABLEAUS, "commutator_free", "generalized_alpha", "energy_momentum")
PROJECTIONS = None, "velocities", "poses and velocities"
SHORTEST = 1e-14        # relative to the duration: smaller steps raise an error
SLACK = 1e-6            # relative to a step: a smaller remainder of the duration is added to the last step


class Motion(NamedTuple):
    """A motion of a system over time.

    Parameters
    ----------
    t : ndarray (k,)
        Times in s.
    poses : ndarray (k, n, 4, 4)
        Poses.
    velocities : ndarray (k, n, 6)
        Velocities in the groups' representations.
    recorded : dict of str to ndarray (k, ...)
        Recorded quantities, by name.
    steps : int
        Number of accepted steps.
    refused : int
        Number of rejected steps.
    """

    t: np.ndarray
    poses: np.ndarray
    velocities: np.ndarray
    recorded: Mapping[str, np.ndarray]
    steps: int
    refused: int


def simulate(system: MultibodySystem, duration: float, dt: float, method: str | Tableau = "rk4",
             state: State | None = None, every: int = 1, projection: str | None = None, dexp_order: int | None = None,
             record: Mapping[str, Callable[[np.ndarray, np.ndarray], ArrayLike]] | str | Iterable[str] | None = None,
             rtol: float = 1e-8, atol: float = 1e-10, rho: float = 0.9) -> Motion:
    """Simulate a system in absolute coordinates.

    Parameters
    ----------
    system : MultibodySystem
        System.
    duration : float
        Duration in s.
    dt : float
        Length of a step in s; of the first step for "rk45".
    method : str or Tableau, optional
        One of METHODS, or the tableau of an explicit Runge-Kutta method.
    state : State, optional
        Initial state. By default the system's initial state with closed velocities.
    every : int, optional
        Number of steps between stored states. The last state is always stored.
    projection : {None, "velocities", "poses and velocities"}, optional
        Quantities that are projected onto the constraints after each step, one of PROJECTIONS. With "energy_momentum"
        the projection keeps the kinetic energy.
    dexp_order : int, optional
        Order of dexp^-1 as a truncated series in Munthe-Kaas methods. By default its closed form. For a method of
        order p, p - 2 suffices.
    record : dict of str to callable, or str or iterable of str, optional
        Functions of poses and velocities by name; or, as in ``Robot.rollout``, names of RECORDS: "energy", an
        EnergyBalance, "momentum", a MomentumBalance, and "residual", the largest residual of all constraints.
    rtol, atol : float, optional
        Relative and absolute tolerance for adaptive steps.
    rho : float, optional
        Spectral radius at infinite frequency for "generalized_alpha": 1 without damping, 0 with the largest.

    Returns
    -------
    Motion
        Motion at the stored steps.

    Raises
    ------
    ValueError
        If the method, the projection or a name to record does not exist, if a number is out of its range, if the system
        has Baumgarte stabilization and the method is "generalized_alpha" or "energy_momentum", or if "momentum" is
        recorded for a system with a joint to the ground.
    ArithmeticError
        If adaptive steps become too short, or if an implicit method does not converge.

    Notes
    -----
    The methods are:

    - "euler", "heun", "rk4", "rk45", by Munthe-Kaas. The steps of "rk45" are adaptive.
    - "commutator_free".
    - "generalized_alpha" and "energy_momentum", which are implicit, of order 2.

    The quadratures of "energy" and "momentum" use the stored states: ``every = 1`` is the most accurate.
    """
    record, names = (record or {}, ()) if record is None or isinstance(record, Mapping) else ({}, named(system, record))
    rho = damping_radius(rho)
    step, adaptive = _checked_step(system, method, dexp_order, rho), _estimates(method)
    if projection not in PROJECTIONS:
        raise ValueError(f"the projection {projection!r} must be one of {', '.join(map(repr, PROJECTIONS))}")
    dt, duration, every = checks.positive("dt", dt), checks.number("duration", duration, 0.0), checks.whole(
        "every", every, 1)
    rtol, atol = checks.positive("rtol", rtol), checks.positive("atol", atol)
    poses, velocities = state or system.initial(closed=True)
    kept, (t, h), (steps, refused) = [], (0.0, dt), (0, 0)

    def keep():
        kept.append((t, poses, velocities, *(np.asarray(of(poses, velocities)) for of in record.values())))
    keep()
    while t < duration:
        last = t + (1.0 + SLACK) * h > duration
        length = duration - t if last else h
        taken = step(t, length, poses, velocities)
        if adaptive:
            grow = _growth(taken, poses, velocities, rtol, atol)
            h = length * abs(grow)
            if grow < 0.0:
                if h < SHORTEST * duration:
                    raise ArithmeticError(f"steps became shorter than {h:.1g} s at t = {t:.6g} s")
                refused += 1
                continue
        steps += 1
        t = duration if last else t + length if adaptive else steps * dt      # a sum of 1e5 steps is off by 1e-11
        poses, velocities = _projected(system, taken, projection, method == "energy_momentum")
        if steps % every == 0 or last:
            keep()
    t, g, V, *recorded = (np.array(column) for column in zip(*kept, strict=True))
    found = dict(zip(record, recorded, strict=True)) | {name: RECORDS[name](system, t, g, V) for name in names}
    return Motion(t, g, V, found, steps, refused)


def named(system: MultibodySystem, record: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of the quantities to record, checked."""
    names = (record,) if isinstance(record, str) else tuple(record)
    for name in names:
        checks.one_of("record", name, RECORDS)
    if "momentum" in names:
        momentum_balance(system, np.zeros(0), *(x[None][:0] for x in system.initial()))
    return names


def residual(system: MultibodySystem, t: np.ndarray, poses: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """Return the largest residual of all constraints (k,), in m and as cosines."""
    return np.array([np.abs(system.residuals(pose)).max(initial=0.0) for pose in poses])


RECORDS = {"energy": energy_balance, "momentum": momentum_balance, "residual": residual}


def _checked_step(system, method, dexp_order, rho):
    """Return a step as a function of t, h, g, V."""
    if dexp_order is not None:
        checks.whole("dexp_order", dexp_order, 0)
    if isinstance(method, Tableau) or method in TABLEAUS:
        tableau = method if isinstance(method, Tableau) else TABLEAUS[method]
        return partial(munthe_kaas, tableau, system.group, system.accelerations, order=dexp_order)
    if method == "commutator_free":
        return partial(commutator_free, system.group, system.accelerations)
    if method == "generalized_alpha":
        return GeneralizedAlpha(system, rho)
    if method == "energy_momentum":
        return EnergyMomentum(system)
    raise ValueError(f"the method {method!r} must be one of {', '.join(METHODS)}, or a Tableau")


def _estimates(method):
    """Return True if a method estimates its error."""
    tableau = method if isinstance(method, Tableau) else TABLEAUS.get(method)
    return tableau is not None and tableau.error is not None


def _projected(system, taken, projection, with_energy):
    """Return the poses and velocities of a step after the projection; with_energy: True to scale velocities to the
    kinetic energy before it."""
    poses, velocities = taken.poses, taken.velocities
    if projection == "poses and velocities":
        poses = system.closed_poses(poses)
    if projection:
        velocities, lost = system.closed_velocities(poses, velocities), velocities
        if with_energy and (left := system.kinetic_energy(poses, velocities)) > 0.0:
            velocities = velocities * np.sqrt(system.kinetic_energy(poses, lost) / left)
    return poses, velocities


def _growth(taken, poses, velocities, rtol, atol):
    """Return the factor between this step and the next, < 0 if this one is rejected.

    It follows SciPy's rule, from the root mean square of the estimated error in units of the tolerance."""
    X, dV = taken.error
    sizes = np.concatenate((np.ones_like(X[..., :3]), np.maximum(1.0, np.abs(poses[..., :3, 3]))), axis=-1)
    parts = [X / (atol + rtol * sizes), dV / (atol + rtol * np.maximum(np.abs(velocities), np.abs(taken.velocities)))]
    error = float(np.sqrt(np.mean(np.square(parts))))
    if not np.isfinite(error):
        return -0.2
    grow = min(10.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
    return grow if error <= 1.0 else -min(grow, 0.9)
