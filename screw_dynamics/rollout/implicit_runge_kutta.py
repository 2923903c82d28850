"""Diagonally implicit Runge-Kutta methods for stiff springs and dampers; on groups as Munthe-Kaas methods.

Each stage is solved for the acceleration by forward dynamics with the added inertia gamma D + gamma^2 K, gamma = h
a_ss. An iteration is one O(n) call. Springs and dampers are exact in it; velocity products, gravity and controller
efforts are those of the previous iteration."""
import numpy as np

from screw_dynamics.algorithms.space import displacement_rate, integrate
from screw_dynamics.numbers.scalars import absolute, larger, some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, over

from .iteration import ITERATIONS, SLOW, spoil, unsettled
from .runge_kutta import Tableau, weighted
from .step_data import Stages, StepData, load, solve


@kernel
def implicit_runge_kutta(tableau: Tableau, data: StepData, t: Scalar, h: Scalar, q: list, qd: list,
                         stages: Stages) -> None:
    """Make a step of length h by a tableau whose a is lower triangular with a positive diagonal."""
    a, c, n, rows = tableau.a, tableau.c, len(qd), len(stages.dq)
    if n == 0:
        return
    base, rate, dq, dv, qdd = stages.dq[rows - 1], stages.dv[rows - 1], stages.dq, stages.dv, stages.dv[rows - 2][:n]
    like = null(qd[0])
    for s in range(len(c)):
        gamma = h * a[s, s]
        for k in range(n):
            du = acceleration = null(qd[k])
            for j in range(s):
                du += a[s, j] * dq[j, k]
                acceleration += a[s, j] * dv[j, k]
            base[k], rate[k] = h * du, qd[k] + h * acceleration
            dv[s, k] = dv[s - 1, k] if s > 0 else null(qd[k])
            dq[s, k] = rate[k] + gamma * dv[s, k]
        last, size, active = over(np.inf, like), like, like < 1.0
        for _ in range(ITERATIONS):
            for k in range(n):
                stages.u[k], stages.v[k] = base[k] + gamma * dq[s, k], rate[k] + gamma * dv[s, k]
            displacement_rate(data.space, stages.u, stages.v, dq[s])
            for k in range(n):
                stages.u[k] = base[k] + gamma * dq[s, k]
            integrate(data.space, q, 1.0, stages.u, stages.q)
            load(data, t + c[s] * h, stages.q, stages.v, gamma, 0.0)
            for k in range(n):
                data.net[k] += data.added[k] * dv[s, k]
            solve(data, stages.q, stages.v, data.net, data.added, qdd)
            now, size = like, over(SLOW, like)
            for k in range(n):
                now = larger(now, absolute(gamma * (qdd[k] - dv[s, k])))
                size = larger(size, larger(absolute(stages.v[k]), absolute(gamma * qdd[k])))
                dv[s, k] = where(active, qdd[k], dv[s, k])
            going = unsettled(active, now, last, size)
            last = where(active, now, last)
            active = going
            if not some(active):
                break
        spoil(last, size, qd)
    for k in range(n):
        stages.u[k] = h * weighted(tableau.b, dq, k)
        qd[k] += h * weighted(tableau.b, dv, k)
    integrate(data.space, q, 1.0, stages.u, stages.q)
    for k in range(len(q)):
        q[k] = stages.q[k]
