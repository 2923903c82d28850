"""The variational integrator of the midpoint rule on joint coordinates and groups.

The discrete Lagrangian is h L(q_m, v), v = log(q^-1 q+) / h the mean velocity of a step and q_m = q exp(h v / 2) its
midpoint; J. E. Marsden and M. West, "Discrete mechanics and variational integrators", Acta Numerica 10 (2001), and on
groups A. I. Bobenko and Y. B. Suris, Comm. Math. Phys. 204 (1999). With the momentum p = dL/dv and the forces f =
dL/dq + tau at the midpoint, its two derivatives are the momenta at the ends of a step:

    dexp_(h v)^T p(q) = p - h/2 dexp_(h v / 2)^T f,      dexp_(-h v)^T p(q+) = p + h/2 dexp_(-h v / 2)^T f.

The first is solved for v by quasi-Newton steps with articulated bodies, O(n), as by J. Lee, C. K. Liu, F. C. Park and
S. S. Srinivasa, "A linear-time variational integrator for multibody systems", WAFR 2016."""
from typing import Any

import numpy as np

from screw_dynamics.algorithms.space import dexp_inv_transpose, dexp_transpose, integrate
from screw_dynamics.compiled.native import array_at, at
from screw_dynamics.numbers.scalars import absolute, larger, some, where
from screw_dynamics.numbers.values import Scalar, kernel, null, over

from .iteration import ITERATIONS, SLOW, spoil, unsettled
from .runge_kutta import Tableau
from .step_data import FORCES, Stages, StepData, add_forces, evaluate_controller, momenta, solve, stretch


@kernel
def forces(data: StepData, t: Scalar, h: Scalar, q: list, v: list, found: np.ndarray) -> None:
    """Add the forces f at the midpoint, including friction and springs, to the second of the rows p, dT/dq, g.

    Sets data.added to -h/2 times the derivative of the forces by v."""
    joints, tau = data.joints, data.tau
    evaluate_controller(data, t, q, v)
    for k in range(len(v)):
        D, K = joints.damping[k], joints.stiffness[k]
        found[1, k] += tau[k] - found[2, k] - D * v[k] - joints.friction[k] * data.slip[k] - K * stretch(data, q, k)
        data.added[k] = (0.5 * h) * (D + (0.5 * h) * K)
    if len(v) > 0 and data.calls[FORCES] != 0:
        add_forces(data, t, q, v, 0.0)
        for k in range(len(v)):
            found[1, k] += data.terms[0, k]
            data.added[k] += (0.5 * h) * (data.terms[2, k] + (0.5 * h) * data.terms[1, k])


@kernel
def rate(data: StepData, q: list, p: Any, g: Any, h: Scalar, qdd: list) -> None:
    """Set qdd to the solution of (M + added) h qdd = p. Forward dynamics subtracts gravity, which is added here."""
    for k in range(len(qdd)):
        data.net[k] = p[k] / h + g[k]
        data.qd[k] = null(qdd[k])
    solve(data, q, data.qd, data.net, data.added, qdd)


@kernel
def variational(tableau: Tableau, data: StepData, t: Scalar, h: Scalar, q: list, qd: list, stages: Stages) -> None:
    """Make a step of length h. The momenta of symmetries are conserved for any remaining error in v.

    The derivative of the first equation by v is M + h/2 D + h^2/4 K less terms of h p, which the iteration neglects.
    For a floating base that moves by about its radius of gyration in half a step these terms are as large as M, and the
    iteration fails."""
    n = len(qd)
    if n == 0:
        return
    found, like = array_at(qd[0], at(stages.dq), (3, n)), null(qd[0])
    start, transposed, half, change = stages.dv[0], stages.dv[1], stages.dv[2], stages.dv[3][:n]
    u, v, middle = stages.u, stages.v, stages.q
    momenta(data, q, qd, found)
    for k in range(n):
        start[k], v[k] = found[0, k], qd[k]
    last, size, active = over(np.inf, like), like, like < 1.0
    for _ in range(ITERATIONS):
        for k in range(n):
            u[k] = (0.5 * h) * v[k]
        integrate(data.space, q, 1.0, u, middle)
        momenta(data, middle, v, found)
        forces(data, t + 0.5 * h, h, middle, v, found)
        dexp_transpose(data.space, u, found[1], half)
        for k in range(n):
            u[k] *= 2.0
        dexp_transpose(data.space, u, start, transposed)
        for k in range(n):
            transposed[k] += (0.5 * h) * half[k] - found[0, k]
        rate(data, middle, transposed, found[2], h, change)
        now, size = like, over(SLOW, like)
        for k in range(n):
            dv = where(active, h * change[k], like)
            v[k] += dv
            found[1, k] -= (2.0 / h) * data.added[k] * dv      # or springs would magnify the remaining rounding error
            now, size = larger(now, absolute(h * change[k])), larger(size, absolute(v[k]))
        going = unsettled(active, now, last, size)
        last = where(active, now, last)
        active = going
        if not some(active):
            break
    for k in range(n):
        u[k] = (0.5 * h) * v[k]
    dexp_transpose(data.space, u, found[1], half)
    for k in range(n):
        u[k] *= -1.0
    dexp_transpose(data.space, u, found[1], transposed)
    for k in range(n):
        half[k] += transposed[k]
        u[k] *= -2.0
    dexp_transpose(data.space, u, start, transposed)
    for k in range(n):
        half[k] = transposed[k] + (0.5 * h) * half[k]
    integrate(data.space, q, 1.0, u, middle)
    for k in range(n):
        u[k] *= -1.0
        data.added[k] = like
    dexp_inv_transpose(data.space, u, half, start)
    for k in range(len(q)):
        q[k] = middle[k]
    momenta(data, q, v, found)
    rate(data, q, start, found[2], h, change)
    for k in range(n):
        qd[k] = h * change[k]
    spoil(last, size, qd)
