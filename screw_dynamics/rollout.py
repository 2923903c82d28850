"""Simulation: the forward dynamics integrated over time inside one kernel, for one initial state or many."""
import numpy as np
from numba import types

from .entry import spread
from .forward_dynamics import ArticulatedBody, CompositeBody, articulated_bodies, composite_bodies
from .scalars import absolute
from .values import kernel
from .workspace import body_in, compiled, links_in, numbers_type

INTEGRATORS = ("semi_implicit_euler", "rk4")
# memory, joints, effort (broadcast, and so of any strides), integrator, dt, q, qd
SIGNATURE = (numbers_type(1), numbers_type(2), numbers_type(3, "A", readonly=True), types.int64, types.float64,
             numbers_type(3), numbers_type(3))
STICTION = 1e-3     # rad/s or m/s: below this speed Coulomb friction falls off linearly, so that a joint comes to rest


@kernel
def resistance(joints, qd, b):
    """b_k >= 0 such that b_k q_k' is the effort of viscous and Coulomb friction at joint k."""
    for k in range(len(qd)):
        b[k] = joints[0, k] + joints[1, k] / (absolute(qd[k]) + STICTION)


@kernel
def accelerate(algorithm, links, body, q, qd, tau, b, h, qdd):
    """qdd from (M + h diag(b)) qdd = tau - b q' - C q' - g: forward dynamics with friction taken at q' + h q''."""
    spread(links, q, body.q)
    spread(links, qd, body.qd)
    for i in range(1, len(body.q)):
        k = links.coordinate[i]
        body.tau[i] = tau[k] - b[k] * qd[k]
        body.rotor[i] = h * b[k]
    qdd[:] = 0.0
    algorithm(links, body, qdd)


@kernel
def euler_step(algorithm, links, body, joints, tau, h, q, qd, work):
    """One step of semi-implicit Euler, order 1: friction implicitly, so that no damping is too strong for a step."""
    b, qdd = work[0], work[1]
    resistance(joints, qd, b)
    accelerate(algorithm, links, body, q, qd, tau, b, h, qdd)
    for k in range(len(q)):
        qd[k] += h * qdd[k]
        q[k] += h * qd[k]


@kernel
def rk4_step(algorithm, links, body, joints, tau, h, q, qd, work):
    """One step of the classical Runge-Kutta method, order 4."""
    b, a, qs, vs, dq, dv = work[0], work[1], work[2], work[3], work[4], work[5]
    dq[:] = 0.0
    dv[:] = 0.0
    for stage in range(4):
        ahead = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        weight = h / 6.0 if stage == 0 or stage == 3 else h / 3.0
        for k in range(len(q)):
            v = qd[k] + ahead * a[k] if stage > 0 else qd[k]
            qs[k] = q[k] + ahead * vs[k] if stage > 0 else q[k]
            vs[k] = v
        resistance(joints, vs, b)
        accelerate(algorithm, links, body, qs, vs, tau, b, 0.0, a)
        for k in range(len(q)):
            dq[k] += weight * vs[k]
            dv[k] += weight * a[k]
    for k in range(len(q)):
        q[k] += dq[k]
        qd[k] += dv[k]


@kernel
def stop_at_limits(joints, q, qd):
    """Position stops: a joint that passed one is set back on it, without the speed that drove it there."""
    for k in range(len(q)):
        if q[k] < joints[2, k]:
            q[k] = joints[2, k]
            qd[k] = max(qd[k], 0.0)
        elif q[k] > joints[3, k]:
            q[k] = joints[3, k]
            qd[k] = min(qd[k], 0.0)


def rollout_entry(algorithm, Body):
    """The compiled rollout: rollout(memory, joints, effort, integrator, dt, q, qd).

    joints (4, n): damping, friction, lower and upper stop. effort (N, steps, n). integrator: index into INTEGRATORS. q and qd
    (N, steps + 1, n) hold the initial states in [:, 0] and take all others."""
    @compiled()
    def rollout(memory, joints, effort, integrator, dt, q, qd):
        links, body = links_in(memory), body_in(Body, memory)
        work = np.empty((6, q.shape[2]))
        for s in range(q.shape[0]):
            for step in range(q.shape[1] - 1):
                here, rate = q[s, step + 1], qd[s, step + 1]
                here[:] = q[s, step]
                rate[:] = qd[s, step]
                if integrator == 0:
                    euler_step(algorithm, links, body, joints, effort[s, step], dt, here, rate, work)
                else:
                    rk4_step(algorithm, links, body, joints, effort[s, step], dt, here, rate, work)
                stop_at_limits(joints, here, rate)
    return rollout


ROLLOUT = rollout_entry(articulated_bodies, ArticulatedBody)
ROLLOUT_BY_MASS_MATRIX = rollout_entry(composite_bodies, CompositeBody)
