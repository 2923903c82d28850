"""Integrators of the equations of motion: semi-implicit Euler, and explicit Runge-Kutta methods of any tableau.

Written once for any scalar: on lanes every state has its own time, and in an adaptive method its own step.
"""
from typing import NamedTuple

import numpy as np

from screw_dynamics.algorithms.friction import resistance
from screw_dynamics.numbers.lanes import extract, insert, places
from screw_dynamics.numbers.scalars import absolute, some, sqrt, where
from screw_dynamics.numbers.values import kernel, null, outlined

BLOCK = 1e12        # kg m^2 or kg: inertia that a stop adds to its joint, far more than any robot's


class Motion(NamedTuple):
    """What moves, and what moves it.

    links and body: the tables of an algorithm of forward dynamics; joints (4, n): damping, friction, lower and upper
    stop; tau (n): the efforts; law(t, q, qd, tau): sets them where `follow` holds, with `numbers` (3, n) as its
    arguments."""

    links: object
    body: object
    joints: object
    tau: object
    law: object
    follow: object
    numbers: object


class Stages(NamedTuple):
    """Memory of a Runge-Kutta step: rates of change of q and qd at each stage (stages, n), and the state of one stage
    (n)."""

    dq: object
    dv: object
    q: object
    v: object


# Butcher tableaus: a (s, s), b (s), c (s); for an adaptive method error weights e (s) and dense output p (s, 4).
RK4_A = np.array([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
RK4_B = np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6])
RK4_C = np.array([0.0, 0.5, 0.5, 1.0])

# Dormand and Prince (1980): order 5 with an error estimate of order 4; dense output of order 4 by Shampine (1986).
DP_A = np.array([
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0, 0.0],
    [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0, 0.0],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0, 0.0],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0, 0.0],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0]])
DP_C = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
DP_E = np.array([-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40])
DP_P = np.array([
    [1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
    [0.0, 0.0, 0.0, 0.0],
    [0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
    [0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
    [0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
    [0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
    [0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423]])


@kernel
def ask_law(motion, t, q, qd):
    """Let the feedback law set the efforts of each state."""
    here, rate, effort = motion.numbers[0], motion.numbers[1], motion.numbers[2]
    for place in range(places(q[0])):
        for k in range(len(q)):
            here[k], rate[k], effort[k] = extract(q[k], place), extract(qd[k], place), 0.0
        motion.law(extract(t, place), here, rate, effort)
        for k in range(len(q)):
            motion.tau[k] = insert(motion.tau[k], place, effort[k])


@kernel
def accelerate(algorithm, motion, t, q, qd, h, qdd):
    """qdd from (M + h D) qdd = tau - D qd - C qd - g, D qd the effort of friction: with h > 0 friction at qd + h
    qdd."""
    links, body, joints, tau, _, _, _ = motion
    if motion.follow:
        ask_law(motion, t, q, qd)
    for i in range(1, len(body.q)):
        k = links.coordinate[i]
        d = resistance(joints[0, k], joints[1, k], qd[k])
        body.q[i], body.qd[i] = q[k], qd[k]
        body.tau[i] = tau[k] - d * qd[k]
        body.rotor[i] = h * d
    for k in range(len(qdd)):
        qdd[k] = null(qdd[k])
    algorithm(links, body, qdd)


@kernel
def has_stops(joints):
    """True if any joint has a position stop."""
    for k in range(joints.shape[1]):
        if joints[2, k] > -np.inf or joints[3, k] < np.inf:
            return True
    return False


@outlined
def solve(algorithm, links, body, qdd):
    """qdd from the inputs in `body`; not inlined, as what it serves is rare and would be compiled twice."""
    for k in range(len(qdd)):
        qdd[k] = null(qdd[k])
    algorithm(links, body, qdd)


@outlined
def stop_at_limits(algorithm, motion, q, qd, stages):
    """Position stops: a joint that passed one is set back on it, and does not move on against it.

    A stop gives an impulse that all joints feel, or it would make energy: (M + D) dqd = -D qd with D so large at a
    blocked joint that it holds. Forward dynamics solves that, as the difference of two answers, in which gravity
    cancels. An impulse at one stop may drive another joint against its own, hence the rounds."""
    links, body, joints, _, _, _, _ = motion
    held, free, D = stages.dv[0], stages.dv[1], stages.dq[0]
    for _ in range(len(q)):
        any_blocked = False
        for k in range(len(q)):
            low, high, none = joints[2, k], joints[3, k], null(q[k])
            q[k] = where(q[k] < low, none + low, where(q[k] > high, none + high, q[k]))
            D[k] = where(qd[k] < 0.0, where(q[k] <= low, none + BLOCK, none),
                         where(qd[k] > 0.0, where(q[k] >= high, none + BLOCK, none), none))
            any_blocked = any_blocked or some(D[k] > 0.0)
        if not any_blocked:
            return
        for i in range(1, len(body.q)):
            k = links.coordinate[i]
            body.q[i], body.qd[i], body.rotor[i], body.tau[i] = q[k], null(q[k]), D[k], null(q[k])
        solve(algorithm, links, body, free)
        for i in range(1, len(body.q)):
            k = links.coordinate[i]
            body.tau[i] = -D[k] * qd[k]
        solve(algorithm, links, body, held)
        for k in range(len(q)):
            qd[k] = where(D[k] > 0.0, null(q[k]), qd[k] + (held[k] - free[k]))


@kernel
def semi_implicit_euler(algorithm, motion, t, h, q, qd, stages):
    """qd += h qdd(q, qd), then q += h qd: order 1, symplectic; friction implicitly, so that none is too strong for a
    step."""
    qdd = stages.dv[0]
    accelerate(algorithm, motion, t, q, qd, h, qdd)
    for k in range(len(q)):
        qd[k] += h * qdd[k]
        q[k] += h * qd[k]


@kernel
def runge_kutta_stages(algorithm, motion, A, c, first, t, h, q, qd, stages):
    """Fill the rates of change at the stages from `first` on."""
    for s in range(first, len(c)):
        for k in range(len(q)):
            dq = dv = null(q[k])
            for j in range(s):
                dq += A[s, j] * stages.dq[j, k]
                dv += A[s, j] * stages.dv[j, k]
            stages.q[k], stages.v[k] = q[k] + h * dq, qd[k] + h * dv
            stages.dq[s, k] = stages.v[k]
        accelerate(algorithm, motion, t + c[s] * h, stages.q, stages.v, 0.0, stages.dv[s])


@kernel
def weighted(b, rates, k):
    """sum_s b_s rates[s, k]."""
    total = null(rates[0, k])
    for s in range(len(b)):
        total += b[s] * rates[s, k]
    return total


@kernel
def rk4(algorithm, motion, t, h, q, qd, stages):
    """The classical Runge-Kutta method, order 4."""
    runge_kutta_stages(algorithm, motion, RK4_A, RK4_C, 0, t, h, q, qd, stages)
    for k in range(len(q)):
        q[k] += h * weighted(RK4_B, stages.dq, k)
        qd[k] += h * weighted(RK4_B, stages.dv, k)


# ------------------------------------------------------------------------------------------------- adaptive steps
@kernel
def error_norm(h, q, qd, stages, relative, absolute_tolerance):
    """The estimated error of a Dormand-Prince step, as root mean square in units of the tolerance.

    The last stage is the new state."""
    total = null(h)
    for k in range(len(q)):
        for y, new, rates in ((q, stages.q, stages.dq), (qd, stages.v, stages.dv)):
            old, end = absolute(y[k]), absolute(new[k])
            e = h * weighted(DP_E, rates, k) / (absolute_tolerance + relative * where(old > end, old, end))
            total += e * e
    return sqrt(total / (2.0 * len(q)))


@kernel
def power(x, exponent):
    """x ** exponent in every place."""
    for place in range(places(x)):
        x = insert(x, place, extract(x, place) ** exponent)
    return x


@kernel
def next_step(h, error, retried):
    """The length of the next step from the error of this one, by SciPy's rule: 0.9 error^(-1/5), within 0.2 and 10."""
    grow = 0.9 * power(where(error > 1e-10, error, 0.0 * error + 1e-10), -0.2)
    grow = where(grow > 10.0, 0.0 * h + 10.0, where(grow < 0.2, 0.0 * h + 0.2, grow))
    grow = where(error <= 1e300, grow, 0.0 * h + 0.2)                   # not finite: try a shorter one
    return h * where(retried, where(grow > 1.0, 0.0 * h + 1.0, grow), grow)


@kernel
def first_step(algorithm, motion, t, q, qd, stages, relative, absolute_tolerance, longest):
    """A first step from the size of the state and of its first two derivatives (Hairer, Norsett, Wanner II.4)."""
    accelerate(algorithm, motion, t, q, qd, 0.0, stages.dv[0])
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
    h = where(small, zero + 1e-6, 0.01 * d0 / where(small, zero + 1.0, d1))
    for k in range(len(q)):
        stages.q[k], stages.v[k] = q[k] + h * qd[k], qd[k] + h * stages.dv[0, k]
    accelerate(algorithm, motion, t + h, stages.q, stages.v, 0.0, stages.dv[1])
    for k in range(len(q)):
        a, b = absolute_tolerance + relative * absolute(q[k]), absolute_tolerance + relative * absolute(qd[k])
        u, w = (stages.v[k] - qd[k]) / a, (stages.dv[1, k] - stages.dv[0, k]) / b
        d2 += u * u + w * w
    d2 = sqrt(d2 / count) / h
    largest = where(d1 > d2, d1, d2)
    flat = largest <= 1e-15
    guess = where(flat, where(h > 1e-3, 1e-3 * h, zero + 1e-6), power(0.01 / where(flat, zero + 1.0, largest), 0.2))
    h = where(guess < 100.0 * h, guess, 100.0 * h)
    return where(h < longest, h, zero + longest)


@kernel
def dense(theta, h, y, rates, k, place):
    """The state at t + theta h within a Dormand-Prince step, coordinate k of one place."""
    total = 0.0
    for s in range(len(DP_P)):
        weight = theta * (DP_P[s, 0] + theta * (DP_P[s, 1] + theta * (DP_P[s, 2] + theta * DP_P[s, 3])))
        total += weight * extract(rates[s, k], place)
    return extract(y[k], place) + h * total
