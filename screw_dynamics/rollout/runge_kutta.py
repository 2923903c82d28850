"""Runge-Kutta methods of any explicit Butcher tableau: stages, error estimate, step size control, dense output."""
from typing import Any, NamedTuple

import numpy as np

from screw_dynamics.algorithms.space import displacement_rate, integrate, sizes
from screw_dynamics.numbers.lanes import extract, insert, lane_count
from screw_dynamics.numbers.scalars import absolute, sqrt, where
from screw_dynamics.numbers.values import Scalar, kernel, null, over

from .step_data import Stages, StepData, accelerate


class Tableau(NamedTuple):
    """An explicit Butcher tableau of s stages: a (s, s), b (s,), c (s,).

    For adaptive steps also the weights of the error estimate (s,), its order, and dense output (s, d): the weight of a
    stage at t + theta h is sum_j dense[stage, j] theta^(j + 1). An adaptive method must be first-same-as-last: the last
    row of a is b. An additional stage gives any method this property."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    error: np.ndarray | None = None
    error_order: int = 0
    dense: np.ndarray | None = None


@kernel
def runge_kutta_stages(tableau: Tableau, data: StepData, t: Scalar, h: Scalar, q: list, qd: list,
                       stages: Stages) -> None:
    """Compute the rates of change at the stages."""
    a, c = tableau.a, tableau.c
    for s in range(len(c)):
        for k in range(len(qd)):
            du = dv = null(qd[k])
            for j in range(s):
                du += a[s, j] * stages.dq[j, k]
                dv += a[s, j] * stages.dv[j, k]
            stages.u[k], stages.v[k] = h * du, qd[k] + h * dv
        integrate(data.space, q, 1.0, stages.u, stages.q)
        displacement_rate(data.space, stages.u, stages.v, stages.dq[s])
        accelerate(data, t + c[s] * h, stages.q, stages.v, 0.0, stages.dv[s])


@kernel
def weighted(b: np.ndarray, rates: Any, k: int) -> Scalar:
    """Return sum_s b_s rates[s, k]."""
    total = null(rates[0, k])
    for s in range(len(b)):
        total += b[s] * rates[s, k]
    return total


@kernel
def runge_kutta(tableau: Tableau, data: StepData, t: Scalar, h: Scalar, q: list, qd: list,
                stages: Stages) -> None:
    """Make a step of length h with an explicit Runge-Kutta method."""
    runge_kutta_stages(tableau, data, t, h, q, qd, stages)
    for k in range(len(qd)):
        stages.u[k] = h * weighted(tableau.b, stages.dq, k)
        qd[k] += h * weighted(tableau.b, stages.dv, k)
    integrate(data.space, q, 1.0, stages.u, stages.q)
    for k in range(len(q)):
        q[k] = stages.q[k]


# ------------------------------------------------------------------------------------------------- adaptive steps
@kernel
def error_norm(tableau: Tableau, data: StepData, h: Scalar, q: list, qd: list, stages: Stages, relative: float,
               absolute_tolerance: float) -> Scalar:
    """Return the estimated error of a step whose last stage is the new state: root mean square relative to the
    tolerance."""
    total, before, after = null(h), data.net, data.added         # set anew by each call of solve
    sizes(data.space, q, before)
    sizes(data.space, stages.q, after)
    for k in range(len(qd)):
        for old, end, rates in ((before[k], after[k], stages.dq), (absolute(qd[k]), absolute(stages.v[k]), stages.dv)):
            e = h * weighted(tableau.error, rates, k) / (absolute_tolerance + relative * where(old > end, old, end))
            total += e * e
    return sqrt(total / (2.0 * len(qd)))


@kernel
def power(x: Scalar, exponent: float) -> Scalar:
    """Return x ** exponent, lane by lane."""
    for lane in range(lane_count(x)):
        x = insert(x, lane, extract(x, lane) ** exponent)
    return x


@kernel
def next_step(tableau: Tableau, h: Scalar, error: Scalar, retried: Any) -> Scalar:
    """Return the length of the next step by SciPy's rule: h times 0.9 error^(-1/(order + 1)), clipped to 0.2 and 10."""
    grow = 0.9 * power(where(error > 1e-10, error, over(1e-10, error)), -1.0 / (tableau.error_order + 1.0))
    grow = where(grow > 10.0, over(10.0, h), where(grow < 0.2, over(0.2, h), grow))
    grow = where(error <= 1e300, grow, over(0.2, h))                   # not finite: try a shorter step
    return h * where(retried, where(grow > 1.0, over(1.0, h), grow), grow)


@kernel
def first_step(tableau: Tableau, data: StepData, t: Scalar, q: list, qd: list, stages: Stages,
               relative: float, absolute_tolerance: float, longest: float) -> Scalar:
    """Return the length of the first step from the norms of the state and of its first two derivatives (Hairer,
    Norsett, Wanner II.4)."""
    accelerate(data, t, q, qd, 0.0, stages.dv[0])
    zero, size = null(qd[0]), data.net
    d0 = d1 = d2 = zero
    sizes(data.space, q, size)
    for k in range(len(qd)):
        stages.dq[0, k] = qd[k]
        a, b = absolute_tolerance + relative * size[k], absolute_tolerance + relative * absolute(qd[k])
        d0 += (size[k] / a) * (size[k] / a) + (qd[k] / b) * (qd[k] / b)
        d1 += (qd[k] / a) * (qd[k] / a) + (stages.dv[0, k] / b) * (stages.dv[0, k] / b)
    count = 2.0 * len(qd)
    d0, d1 = sqrt(d0 / count), sqrt(d1 / count)
    small = where(d0 < 1e-5, zero, where(d1 < 1e-5, zero, d1)) <= 0.0
    h = where(small, over(1e-6, zero), 0.01 * d0 / where(small, over(1.0, zero), d1))
    integrate(data.space, q, h, qd, stages.q)
    for k in range(len(qd)):
        stages.v[k] = qd[k] + h * stages.dv[0, k]
    accelerate(data, t + h, stages.q, stages.v, 0.0, stages.dv[1])
    sizes(data.space, q, size)
    for k in range(len(qd)):
        a, b = absolute_tolerance + relative * size[k], absolute_tolerance + relative * absolute(qd[k])
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
    """Set the weights (s,) of the stages in the state at t + theta h within a step."""
    for s in range(len(weights)):
        weight = 0.0
        for j in range(tableau.dense.shape[1] - 1, -1, -1):
            weight = theta * (tableau.dense[s, j] + weight)
        weights[s] = weight


@kernel
def dense(weights: np.ndarray, data: StepData, h: float, q: list, qd: list, stages: Stages, lane: int, out: np.ndarray,
          v: np.ndarray, start: np.ndarray, u: np.ndarray) -> None:
    """Write position and velocity of one lane within a step to out (nq) and v (n). start (nq) and u (n) are memory."""
    for k in range(len(q)):
        start[k] = extract(q[k], lane)
    for k in range(len(qd)):
        dq = dv = 0.0
        for s in range(len(weights)):
            dq += weights[s] * extract(stages.dq[s, k], lane)
            dv += weights[s] * extract(stages.dv[s, k], lane)
        u[k], v[k] = dq, extract(qd[k], lane) + h * dv
    integrate(data.space, start, h, u, out)
