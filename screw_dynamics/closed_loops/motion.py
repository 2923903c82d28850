"""Simulation of a mechanism with closed loops by steps of fixed length."""
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from screw_dynamics.robot import Robot

from .constraints import Constraints
from .dynamics import forward_dynamics
from .projection import admissible_velocities, closed, rank

OverTime = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
PROJECTIONS = "configurations and velocities", "velocities", None


class LoopMotion(NamedTuple):
    """Times (k,), configurations (k, ..., nq), velocities (k, ..., n), energy (k, ...) in J, kinetic and potential, and
    the largest residual (k, ...) of the constraints."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    energy: np.ndarray
    residual: np.ndarray


def rk4(robot: Robot, acceleration: OverTime, t: float, h: float, q: np.ndarray, v: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray]:
    """The next configuration and velocity by the commutator-free method of order 4 of Celledoni, Marthinsen and Owren
    (2003): Runge and Kutta's where the configuration is a vector."""
    a1 = acceleration(t, q, v)
    q2, v2 = robot.integrate(q, h / 2 * v), v + h / 2 * a1
    a2 = acceleration(t + h / 2, q2, v2)
    q3, v3 = robot.integrate(q, h / 2 * v2), v + h / 2 * a2
    a3 = acceleration(t + h / 2, q3, v3)
    q4, v4 = robot.integrate(q2, h * (v3 - v / 2)), v + h * a3
    a4 = acceleration(t + h, q4, v4)
    half = robot.integrate(q, h / 12 * (3 * v + 2 * v2 + 2 * v3 - v4))
    return (robot.integrate(half, h / 12 * (-v + 2 * v2 + 2 * v3 + 3 * v4)),
            v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4))


def semi_implicit_euler(robot: Robot, acceleration: OverTime, t: float, h: float, q: np.ndarray, v: np.ndarray
                        ) -> tuple[np.ndarray, np.ndarray]:
    """The next configuration and velocity: velocities first, of order 1."""
    v = v + h * acceleration(t, q, v)
    return robot.integrate(q, h * v), v


METHODS = {"rk4": rk4, "semi_implicit_euler": semi_implicit_euler}


def simulate(constraints: Constraints, q: np.ndarray, qd: np.ndarray, effort: OverTime, dt: float, steps: int,
             method: str, projection: str | None) -> LoopMotion:
    """The LoopMotion of `steps` steps under effort(t, q, qd) (..., n). Ranks are those of closed configurations: of
    where each step starts, or of the first configuration if later ones are not closed."""
    robot, step, everything = constraints.robot, METHODS[method], np.ones(constraints.robot.n, dtype=bool)
    most = rank(constraints.jacobian(q))

    def acceleration(t, q, qd):
        return forward_dynamics(constraints, q, qd, effort(t, q, qd), most=most).qdd

    kept = [(q, qd)]
    for k in range(steps):
        q, qd = step(robot, acceleration, k * dt, dt, q, qd)
        if projection == PROJECTIONS[0]:
            try:
                q = closed(constraints, q, everything, 1e-12, 20)
            except ValueError as error:
                raise ArithmeticError(f"loops opened too far in the step to t = {(k + 1) * dt:.6g} s, shorter steps "
                                      f"may help: {error}") from None
            most = rank(constraints.jacobian(q))
        if projection:
            qd = admissible_velocities(constraints, q, qd, most)
        kept.append((q, qd))
    qs, qds = (np.array(x) for x in zip(*kept, strict=True))
    energy = robot.kinetic_energy(qs, qds) + robot.potential_energy(qs)
    return LoopMotion(dt * np.arange(steps + 1), qs, qds, energy,
                      np.abs(constraints.residual(qs)).max(axis=-1, initial=0.0))
