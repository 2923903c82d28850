"""Kinematic reconstruction in other coordinates: poses from coordinates that are integrated as a vector-space ODE q' =
A(q)^-1 V; [MT] (1b), (12b), (15b), (59), (69). Each choice has its own singularities, and its own velocity V."""
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from screw_dynamics.screws.arrays import pose_matrix, times, transpose_times
from screw_dynamics.screws.groups import se3
from screw_dynamics.screws.groups.lie_group import exp
from screw_dynamics.utils import checks

from . import quaternions
from .groups import BODY_FIXED, DIRECT, MIXED, SEMIDIRECT, ConfigurationGroup
from .integrators import TABLEAUS
from .motion import Motion
from .system import MultibodySystem


class Coordinates(NamedTuple):
    """Coordinates q (n, k) of the poses of n bodies.

    Parameters
    ----------
    name : str
        Name of the coordinates.
    group : {"SE(3)", "SO(3) x R^3"}
        Group of the velocity V: a body-fixed twist for SEMIDIRECT, a mixed velocity for DIRECT.
    of : callable
        Function of(poses) that returns q.
    poses : callable
        Function poses(q) that returns the poses.
    rates : callable
        Function rates(q, V) that returns q'.
    regularity : callable
        Function regularity(q) that returns a number for each body (n,): 1 for the best q, 0 at a singularity.
    """

    name: str
    group: str
    of: Callable[[np.ndarray], np.ndarray]
    poses: Callable[[np.ndarray], np.ndarray]
    rates: Callable[[np.ndarray, np.ndarray], np.ndarray]
    regularity: Callable[[np.ndarray], np.ndarray]


def canonical(group: str, initial: ArrayLike, velocity: str | None = None) -> Coordinates:
    """Return canonical coordinates: screw coordinates, or rotation vectors and positions.

    Parameters
    ----------
    group : {"SE(3)", "SO(3) x R^3"}
        Group: "SE(3)" for screw coordinates, "SO(3) x R^3" for rotation vectors and positions.
    initial : array_like (n, 4, 4)
        Poses g_0.
    velocity : {"body-fixed", "mixed"}, optional
        Representation of the velocity V. By default the group's. Screw coordinates allow both, "SO(3) x R^3" only
        "mixed".

    Returns
    -------
    Coordinates
        Coordinates q = X of g = g_0 exp X.

    Notes
    -----
    The rates are ``q' = dexp_(-q)^-1 V``, (12b), (14b), or ``q' = A(q)^-1 V`` of (69) for screw coordinates with
    "mixed".

    The coordinates are singular for the angles 2 pi, 4 pi, ... Their regularity is ``1 - |xi| / 2 pi`` before the
    first.

    A body that moves in a subgroup stays in it in SE(3) with body-fixed twists, as in Munthe-Kaas methods.

    References
    ----------
    [MT] (12b), (14b), (69).
    """
    if velocity is not None:
        checks.one_of("velocity", velocity, (BODY_FIXED, MIXED) if group == SEMIDIRECT else (MIXED,))
    mixed = group == SEMIDIRECT and velocity == MIXED
    found = _Canonical(group, np.array(initial, dtype=float), mixed)
    return Coordinates(
        f"canonical coordinates of {group}{' with mixed velocities' if mixed else ''}", DIRECT if mixed else group,
        of=found.of, poses=found.poses, rates=found.rates, regularity=found.regularity)


class _Canonical:
    """Canonical coordinates of bodies in a group, from poses g_0. Its methods can be pickled, unlike nested
    functions."""

    def __init__(self, group, g0, mixed):
        self.bodies, self.g0, self.mixed = ConfigurationGroup([group] * len(g0)), g0, mixed

    def of(self, g):
        return self.bodies.log(self.bodies.compose(self.bodies.inverse(self.g0), g))

    def poses(self, q):
        return self.bodies.compose(self.g0, self.bodies.exp(q))

    def rates(self, q, V):
        if not self.mixed:
            return self.bodies.dexp_inv(-q, V)
        seen_from_g0 = np.concatenate((V[..., :3], transpose_times(self.g0[..., :3, :3], V[..., 3:])), axis=-1)
        return np.linalg.solve(mixed_velocity_matrix(q), seen_from_g0[..., None])[..., 0]

    def regularity(self, q):
        return np.maximum(0.0, 1.0 - np.linalg.norm(q[..., :3], axis=-1) / (2.0 * np.pi))


def mixed_velocity_matrix(X: np.ndarray) -> np.ndarray:
    """Return the matrix A(X) that maps rates of screw coordinates to mixed velocities.

    Parameters
    ----------
    X : ndarray (..., 6)
        Screw coordinates X = (xi, eta).

    Returns
    -------
    ndarray (..., 6, 6)
        Matrix ``A(X) = diag(I, R) dexp_(-X)`` with R = exp xi. The mixed velocity of exp X is A(X) X'.

    References
    ----------
    [MT] (69).
    """
    A = np.swapaxes(se3.dexp(-X[..., None, :], np.eye(6)), -1, -2)
    A[..., 3:, :] = se3.exp(X)[..., :3, :3] @ A[..., 3:, :]
    return A


def _euler_poses(q):
    return pose_matrix((quaternions.rotation(q[..., :4]), q[..., 4:]))


def _euler_rates(q, V):
    half = 0.5 * transpose_times(quaternions.E(q[..., :4]), V[..., :3])
    return np.concatenate((half, V[..., 3:]), axis=-1)


def _dual_rates(q, V):
    rates = quaternions.dual_plus(q)
    return 0.5 * times(rates[..., :, [1, 2, 3, 5, 6, 7]], V)


def _mixed_dual_rates(q, V):
    v = transpose_times(quaternions.rotation(q[..., :4]), V[..., 3:])
    return _dual_rates(q, np.concatenate((V[..., :3], v), axis=-1))


def _length(q):
    """Return the norms of quaternions, which must not be 0."""
    return np.minimum(1.0, np.linalg.norm(q[..., :4], axis=-1))


EULER_PARAMETERS = Coordinates(     # (79), (80) corrected: Q' = E^T omega / 2, and r'
    "Euler parameters", DIRECT,
    of=lambda g: np.concatenate((quaternions.of_poses(g)[..., :4], g[..., :3, 3]), axis=-1),
    poses=_euler_poses, rates=_euler_rates, regularity=_length)

DUAL_QUATERNIONS = Coordinates(     # (77), (78) corrected, inverted: Q' = Q V / 2 for V = (0, omega) + eps (0, v)
    "dual quaternions", SEMIDIRECT, of=quaternions.of_poses, poses=quaternions.poses, rates=_dual_rates,
    regularity=_length)

DUAL_QUATERNIONS_OF_MIXED_VELOCITIES = Coordinates(         # (75), (76) corrected, inverted: with v = R^T r'
    "dual quaternions with mixed velocities", DIRECT, of=quaternions.of_poses, poses=quaternions.poses,
    rates=_mixed_dual_rates, regularity=_length)


def angles(axes: str = "zxz") -> Coordinates:
    """Return coordinates of three angles about successive rotating axes, and positions.

    Parameters
    ----------
    axes : str, optional
        Three of x, y, z. "zxz" are Euler angles, "xyz" are Cardan angles.

    Returns
    -------
    Coordinates
        Three angles in rad of R = R_i R_j R_k, and positions in m.

    Raises
    ------
    ValueError
        If the axes are not three of x, y, z, or if two successive axes are the same.

    Notes
    -----
    The coordinates are singular if the first and the last axis coincide. Their regularity is the sine of the angle
    between these axes.

    References
    ----------
    [MT] (2), (59).
    """
    if len(axes) != 3 or not set(axes) <= set("xyz") or axes[0] == axes[1] or axes[1] == axes[2]:
        raise ValueError(f"axes must be three of x, y, z, no two in turn the same, not {axes!r}")
    found = _Angles(axes)
    return Coordinates(f"angles {axes}", DIRECT, of=found.of, poses=found.poses, rates=found.rates,
                       regularity=found.regularity)


class _Angles:
    """Coordinates of angles about axes."""

    def __init__(self, axes):
        self.axes, self.unit = axes, np.eye(3)[["xyz".index(axis) for axis in axes]]

    def of(self, g):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)    # at singularities, which `regularity` reports
            theta = Rotation.from_matrix(g[..., :3, :3]).as_euler(self.axes.upper())
        return np.concatenate((theta, g[..., :3, 3]), axis=-1)

    def poses(self, q):
        R = self.turns(q)
        return pose_matrix((R[..., 0, :, :] @ R[..., 1, :, :] @ R[..., 2, :, :], q[..., 3:]))

    def rates(self, q, V):
        return np.concatenate((np.linalg.solve(self.matrix(q), V[..., :3, None])[..., 0], V[..., 3:]), axis=-1)

    def regularity(self, q):
        return np.abs(np.linalg.det(self.matrix(q)))

    def turns(self, q):
        """Return the three rotations (..., 3, 3, 3)."""
        X = np.concatenate((q[..., :3, None] * self.unit, np.zeros((*q.shape[:-1], 3, 3))), axis=-1)
        return exp(X)[..., :3, :3]

    def matrix(self, q):
        R = self.turns(q)
        last = R[..., 2, :, :].swapaxes(-1, -2)
        first = last @ R[..., 1, :, :].swapaxes(-1, -2)
        return np.stack((first @ self.unit[0], last @ self.unit[1], np.broadcast_to(self.unit[2], q[..., :3].shape)),
                        axis=-1)


def simulate_in(coordinates: Coordinates, system: MultibodySystem, duration: float, dt: float, method: str = "rk4",
                every: int = 1, record: Mapping[str, Callable[[np.ndarray, np.ndarray], ArrayLike]] | None = None
                ) -> Motion:
    """Simulate a system with its poses in other coordinates, in steps of fixed length.

    Parameters
    ----------
    coordinates : Coordinates
        Coordinates of the poses. All bodies are integrated in their group.
    system : MultibodySystem
        System. It starts from its initial state with closed velocities.
    duration : float
        Duration in s.
    dt : float
        Length of a step in s.
    method : {"euler", "heun", "rk4"}, optional
        Runge-Kutta method, without step control.
    every : int, optional
        Number of steps between stored states. The last state is always stored.
    record : dict of str to callable, optional
        Functions of poses and velocities to record, by name.

    Returns
    -------
    Motion
        Motion, as in ``simulate``. ``recorded`` also has "coordinates" (k, n, ...), and "regularity" (k,), the least of
        all bodies.

    Raises
    ------
    ArithmeticError
        If the regularity falls below 1e-9.

    Notes
    -----
    A vector-space Runge-Kutta method integrates (q, V).

    References
    ----------
    [MT] (14), (15).
    """
    moved = system.with_groups(coordinates.group)
    poses, V = moved.initial(closed=True)

    def rate(t, q, V):
        return coordinates.rates(q, V), moved.accelerations(t, coordinates.poses(q), V)
    return vector_space_motion(coordinates, rate, (coordinates.of(poses), V), lambda q, V: V, duration, dt, method,
                               every, record or {})


def vector_space_motion(coordinates: Coordinates, rate: Callable, start: tuple[np.ndarray, np.ndarray],
                        velocities: Callable[[np.ndarray, np.ndarray], np.ndarray], duration: float, dt: float,
                        method: str, every: int, record: Mapping[str, Callable]) -> Motion:
    """Return the Motion of (q', U') = rate(t, q, U) from `start` by a Runge-Kutta method of TABLEAUS without step
    control.

    velocities(q, U): returns the velocities to store. Otherwise as simulate_in."""
    if method not in TABLEAUS or TABLEAUS[method].error is not None:
        raise ValueError(f"the method {method!r} must be one of euler, heun, rk4")
    dt, duration, every = checks.positive("dt", dt), checks.number("duration", duration, 0.0), checks.whole(
        "every", every, 1)
    (q, U), tableau, kept, steps = start, TABLEAUS[method], [], max(1, round(duration / dt))

    def keep(k):
        g, V = coordinates.poses(q), velocities(q, U)
        least = _regular(coordinates, q, k * dt)
        kept.append((k * dt, g, V, q, least, *(np.asarray(f(g, V)) for f in record.values())))
    keep(0)
    for step in range(steps):
        dq, dU = [], []
        for a, c in zip(tableau.a, tableau.c, strict=True):
            at = rate((step + c) * dt, _advanced(q, dt, a, dq), _advanced(U, dt, a, dU))
            dq.append(at[0])
            dU.append(at[1])
        q, U = _advanced(q, dt, tableau.b, dq), _advanced(U, dt, tableau.b, dU)
        _regular(coordinates, q, (step + 1) * dt)
        if (step + 1) % every == 0 or step + 1 == steps:
            keep(step + 1)
    t, g, V, q, regularity, *recorded = (np.array(column) for column in zip(*kept, strict=True))
    found = {"coordinates": q, "regularity": regularity} | dict(zip(record, recorded, strict=True))
    return Motion(t, g, V, found, steps, 0)


def _advanced(x, dt, weights, rates):
    """Return x + dt sum_j weights[j] rates[j], for as many rates as there are."""
    return x + dt * sum((w * rate for w, rate in zip(weights, rates, strict=False)), np.zeros_like(x))


def _regular(coordinates, q, t):
    """Return the least regularity. Raises ArithmeticError near a singularity."""
    least = float(coordinates.regularity(q).min())
    if not least > 1e-9:
        raise ArithmeticError(f"{coordinates.name} are singular at t = {t:.6g} s")
    return least
