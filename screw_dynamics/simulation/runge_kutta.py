"""Runge-Kutta methods of any explicit Butcher tableau: stages, error estimate, step control, dense output."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.numbers.lanes import extract, insert, places
from screw_dynamics.numbers.scalars import absolute, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null, over

from .motion import Motion, Stages, accelerate


class Tableau(NamedTuple):
    """An explicit Butcher tableau of s stages: a (s, s), b (s,), c (s,).

    For adaptive steps also the weights of the error estimate (s,), its order, and dense output (s, d): the weight of a
    stage at t + theta h is sum_j dense[stage, j] theta^(j + 1). Such a method must be
    first-same-as-last, the last row of a being b, which one more stage makes of any."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    error: np.ndarray | None = None
    error_order: int = 0
    dense: np.ndarray | None = None


@kernel
def runge_kutta_stages(tableau: Tableau, motion: Motion, t: Scalar, h: Scalar, q: list, qd: list,
                       stages: Stages) -> None:
    """Fill the rates of change at the stages."""
    a, c = tableau.a, tableau.c
    for s in range(len(c)):
        for k in range(len(q)):
            dq = dv = null(q[k])
            for j in range(s):
                dq += a[s, j] * stages.dq[j, k]
                dv += a[s, j] * stages.dv[j, k]
            stages.q[k], stages.v[k] = q[k] + h * dq, qd[k] + h * dv
            stages.dq[s, k] = stages.v[k]
        accelerate(motion, t + c[s] * h, stages.q, stages.v, 0.0, stages.dv[s])


@kernel
def weighted(b: np.ndarray, rates: Any, k: int) -> Scalar:
    """sum_s b_s rates[s, k]."""
    total = null(rates[0, k])
    for s in range(len(b)):
        total += b[s] * rates[s, k]
    return total


@kernel
def runge_kutta(tableau: Tableau, motion: Motion, t: Scalar, h: Scalar, q: list, qd: list,
                stages: Stages) -> None:
    """A step of length h by an explicit Runge-Kutta method."""
    runge_kutta_stages(tableau, motion, t, h, q, qd, stages)
    for k in range(len(q)):
        q[k] += h * weighted(tableau.b, stages.dq, k)
        qd[k] += h * weighted(tableau.b, stages.dv, k)


# ------------------------------------------------------------------------------------------------- adaptive steps
@kernel
def error_norm(tableau: Tableau, h: Scalar, q: list, qd: list, stages: Stages, relative: float,
               absolute_tolerance: float) -> Scalar:
    """The estimated error of a step whose last stage is the new state: root mean square in units of the tolerance."""
    total = null(h)
    for k in range(len(q)):
        for y, new, rates in ((q, stages.q, stages.dq), (qd, stages.v, stages.dv)):
            old, end = absolute(y[k]), absolute(new[k])
            e = h * weighted(tableau.error, rates, k) / (absolute_tolerance + relative * where(old > end, old, end))
            total += e * e
    return sqrt(total / (2.0 * len(q)))


@kernel
def power(x: Scalar, exponent: float) -> Scalar:
    """x ** exponent in every place."""
    for place in range(places(x)):
        x = insert(x, place, extract(x, place) ** exponent)
    return x


@kernel
def next_step(tableau: Tableau, h: Scalar, error: Scalar, retried: Any) -> Scalar:
    """The length of the next step, by SciPy's rule: 0.9 error^(-1/(order + 1)) of this one, within 0.2 and 10."""
    grow = 0.9 * power(where(error > 1e-10, error, over(1e-10, error)), -1.0 / (tableau.error_order + 1.0))
    grow = where(grow > 10.0, over(10.0, h), where(grow < 0.2, over(0.2, h), grow))
    grow = where(error <= 1e300, grow, over(0.2, h))                   # not finite: try a shorter one
    return h * where(retried, where(grow > 1.0, over(1.0, h), grow), grow)


@kernel
def first_step(tableau: Tableau, motion: Motion, t: Scalar, q: list, qd: list, stages: Stages,
               relative: float, absolute_tolerance: float, longest: float) -> Scalar:
    """A first step from the size of the state and of its first two derivatives (Hairer, Norsett, Wanner II.4)."""
    accelerate(motion, t, q, qd, 0.0, stages.dv[0])
    zero = null(q[0])
    d0 = d1 = d2 = zero
    for k in range(len(q)):
        stages.dq[0, k] = qd[k]
        a, b = absolute_tolerance + relative * absolute(q[k]), absolute_tolerance + relative * absolute(qd[k])
        d0 += (q[k] / a) * (q[k] / a) + (qd[k] / b) * (qd[k] / b)
        d1 += (qd[k] / a) * (qd[k] / a) + (stages.dv[0, k] / b) * (stages.dv[0, k] / b)
    count = 2.0 * len(q)
    d0, d1 = sqrt(d0 / count), sqrt(d1 / count)
    small = where(d0 < 1e-5, zero, where(d1 < 1e-5, zero, d1)) <= 0.0
    h = where(small, over(1e-6, zero), 0.01 * d0 / where(small, over(1.0, zero), d1))
    for k in range(len(q)):
        stages.q[k], stages.v[k] = q[k] + h * qd[k], qd[k] + h * stages.dv[0, k]
    accelerate(motion, t + h, stages.q, stages.v, 0.0, stages.dv[1])
    for k in range(len(q)):
        a, b = absolute_tolerance + relative * absolute(q[k]), absolute_tolerance + relative * absolute(qd[k])
        u, w = (stages.v[k] - qd[k]) / a, (stages.dv[1, k] - stages.dv[0, k]) / b
        d2 += u * u + w * w
    d2 = sqrt(d2 / count) / h
    largest = where(d1 > d2, d1, d2)
    flat = largest <= 1e-15
    exponent = 1.0 / (tableau.error_order + 1.0)
    larger = power(0.01 / where(flat, over(1.0, zero), largest), exponent)
    guess = where(flat, where(h > 1e-3, 1e-3 * h, over(1e-6, zero)), larger)
    h = where(guess < 100.0 * h, guess, 100.0 * h)
    return where(h < longest, h, over(longest, h))


@kernel
def dense_weights(tableau: Tableau, theta: float, weights: np.ndarray) -> None:
    """Fill the weights (s,) of the stages in the state at t + theta h within a step."""
    for s in range(len(weights)):
        weight = 0.0
        for j in range(tableau.dense.shape[1] - 1, -1, -1):
            weight = theta * (tableau.dense[s, j] + weight)
        weights[s] = weight


@kernel
def dense(weights: np.ndarray, h: float, q: list, qd: list, stages: Stages, k: int, place: int) -> tuple[float, float]:
    """Position and velocity within a step, coordinate k of one place."""
    dq = dv = 0.0
    for s in range(len(weights)):
        dq += weights[s] * extract(stages.dq[s, k], place)
        dv += weights[s] * extract(stages.dv[s, k], place)
    return extract(q[k], place) + h * dq, extract(qd[k], place) + h * dv
