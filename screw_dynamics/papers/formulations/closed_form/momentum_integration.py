"""Simulation in phase space by average vector fields: implicit, symmetric steps that conserve cyclic momenta.

A step solves z1 = z0 + dt (the mean of f on the straight line from z0 to z1) for f of `momentum.phase_space_rate`, with
the mean computed at Gauss points. A coordinate on which neither M nor the potential energy depends, and which no effort
drives, has p' = 0 at every point: its momentum is constant but for roundoff. The same holds for every linear invariant
of (q, p). In (q, q') such an invariant is quadratic in the state, and explicit methods do not conserve it."""
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import checked
from screw_dynamics.utils.checks import coordinates_alone, count, one_of, positive

from .momentum import phase_space_rate

WEIGHTS = {2: (1.0,), 4: (1 / (2 - 2 ** (1 / 3)), -(2 ** (1 / 3)) / (2 - 2 ** (1 / 3)), 1 / (2 - 2 ** (1 / 3)))}
ITERATIONS = 100
SOLVED = 1e-11          # largest remaining change, relative to 1 + |z|, if iterations stagnate


def integrate(robot: Robot, q0: ArrayLike, p0: ArrayLike, tau: ArrayLike | None = None, dt: float = 1e-3,
              steps: int = 1000, *, points: int = 1, order: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulate from the initial states (..., n) under constant efforts tau (..., n), and return t, q and p.

    Times t (steps + 1,), q and p (..., steps + 1, n). points: 1 is the implicit midpoint rule, which is symplectic: the
    energy error stays bounded. More Gauss points conserve the energy itself, up to O(dt^(2 points)). order: 2, or 4 by
    Yoshida's composition of three steps, with the same invariants. Raises ValueError if a step is too long for the
    iteration to converge."""
    coordinates_alone("integrate", robot.model)
    one_of("order", order, WEIGHTS)
    dt, steps = positive("dt", dt), count("steps", steps, 0)
    n, nodes = robot.n, _gauss(count("points", points, 1))
    given = checked(q0=(q0, n), p0=(p0, n), tau=(np.zeros(n) if tau is None else tau, n))
    z = np.concatenate(np.broadcast_arrays(*given)[:2], axis=-1).astype(float)

    def f(z):
        return np.concatenate(phase_space_rate(robot, z[..., :n], z[..., n:], tau), axis=-1)
    path = np.stack(list(islice(_states(f, z, dt, nodes, WEIGHTS[order]), steps + 1)), axis=-2)
    return dt * np.arange(steps + 1), path[..., :n], path[..., n:]


def _states(f, z, dt, nodes, weights):
    """Yield the state at every step, endlessly."""
    increments = None
    while True:
        yield z
        increments = increments or [weight * dt * f(z) for weight in weights]
        for s, weight in enumerate(weights):
            increments[s] = _increment(f, z, weight * dt, nodes, increments[s])     # guess: that of the last step
            z = z + increments[s]


def _increment(f, z, dt, nodes, dz):
    """Return z1 - z0 = dt sum w f(z0 + c (z1 - z0)), iterated from a guess until only rounding errors change it."""
    last = np.inf
    for _ in range(ITERATIONS):
        following = dt * sum(w * f(z + c * dz) for c, w in nodes)
        change = np.max(np.abs(following - dz) / (1.0 + np.abs(z)), initial=0.0)
        dz = following
        if change == 0.0 or last <= change < SOLVED:
            return dz
        last = change
    raise ValueError(f"a step of {dt} s is too long: after {ITERATIONS} iterations the state still changes by {change}")


def _gauss(points):
    """Return Gauss points c and weights w on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(points)
    return [((1.0 + a) / 2, b / 2) for a, b in zip(x.tolist(), w.tolist(), strict=True)]
