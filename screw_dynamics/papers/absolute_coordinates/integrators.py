"""Lie group integrators of g' = g V, V' = F(t, g, V) for any configuration group: functions for one step.

A group is an object with compose, exp and dexp_inv (groups.py). The velocity is in a vector space. It is integrated by
the ordinary Runge-Kutta method with the same coefficients, [MT] appendix B."""
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.rollout.integrators import CLASSICAL, DORMAND_PRINCE, EULER
from screw_dynamics.rollout.runge_kutta import Tableau

Rate = Callable[[float, np.ndarray, np.ndarray], np.ndarray]
Velocity = Callable[[np.ndarray, np.ndarray], np.ndarray]

HEUN = Tableau(a=np.array([[0.0, 0.0], [1.0, 0.0]]), b=np.array([0.5, 0.5]), c=np.array([0.0, 1.0]))
TABLEAUS = {"euler": EULER, "heun": HEUN, "rk4": CLASSICAL, "rk45": DORMAND_PRINCE}


class Step(NamedTuple):
    """The end of a step, and its estimated error in g (as a vector of the algebra) and V, or None."""

    poses: np.ndarray
    velocities: np.ndarray
    error: tuple[np.ndarray, np.ndarray] | None = None


def munthe_kaas(tableau: Tableau, group: Any, rate: Rate, t: float, h: float, g: np.ndarray, V: np.ndarray,
                order: int | None = None, velocity: Velocity | None = None) -> Step:
    """Compute a step of length h by the explicit Munthe-Kaas method of a Butcher tableau, [MT] (83).

    order: of dexp^-1 as a truncated series; None for its closed form. For a method of order p, p - 2 suffices, as the
    error of such a term is of the size h^(order + 2). velocity: function of g and V that returns the velocity of g, if
    V is another quantity, such as a momentum."""
    velocity, k, dV = velocity or _itself, [], []
    for a, c in zip(tableau.a, tableau.c, strict=True):
        if not k:
            k.append(velocity(g, V))
            dV.append(rate(t, g, V))
            continue
        Psi, V_j = h * _sum(a, k), V + h * _sum(a, dV)
        g_j = group.compose(g, group.exp(Psi))
        k.append(group.dexp_inv(-Psi, velocity(g_j, V_j), order))
        dV.append(rate(t + c * h, g_j, V_j))
    end = group.compose(g, group.exp(h * _sum(tableau.b, k)))
    error = None if tableau.error is None else (h * _sum(tableau.error, k), h * _sum(tableau.error, dV))
    return Step(end, V + h * _sum(tableau.b, dV), error)


def commutator_free(group: Any, rate: Rate, t: float, h: float, g: np.ndarray, V: np.ndarray) -> Step:
    """Compute a step of length h by the commutator-free method of order 4 of Celledoni, Marthinsen and Owren (2003),
    for g' = g V: two exponentials, no dexp^-1."""
    def to(g, *exponents):
        for X in exponents:
            g = group.compose(g, group.exp(h * X))
        return g
    d1 = rate(t, g, V)
    V2 = V + 0.5 * h * d1
    g2 = to(g, 0.5 * V)
    d2 = rate(t + 0.5 * h, g2, V2)
    V3 = V + 0.5 * h * d2
    d3 = rate(t + 0.5 * h, to(g, 0.5 * V2), V3)
    V4 = V + h * d3
    d4 = rate(t + h, to(g2, V3 - 0.5 * V), V4)
    end = to(g, (3.0 * V + 2.0 * (V2 + V3) - V4) / 12.0, (-V + 2.0 * (V2 + V3) + 3.0 * V4) / 12.0)
    return Step(end, V + h / 6.0 * (d1 + 2.0 * (d2 + d3) + d4))


def _itself(g, V):
    return V


def _sum(weights, rates):
    """Return sum_j weights[j] rates[j], for as many rates as there are."""
    total = 0.0
    for weight, rate in zip(weights, rates, strict=False):
        if weight:
            total = total + weight * rate
    return total if not isinstance(total, float) else np.zeros_like(rates[0])
