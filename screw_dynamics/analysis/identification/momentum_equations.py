"""Equations of motion without accelerations: integrated by parts over time, with weights that vanish at both ends.

M(q) v' = p' - M' v with the momentum p = M v: the integral of tau = M v' + c + g with a weight w is
int w tau = int (-w' p + w (c + g - M' v)). It is linear in the parameters, since p, M' v and c + g are. It resembles
the filtered regressors of J.-J. E. Slotine and W. Li, Automatica 25(4), 1989; the finite length of the weight avoids a
filter's transient. When a joint reverses, accelerations jump, but momenta do not: no equation is lost."""
from collections.abc import Mapping, Sequence

import numpy as np
import scipy  # submodules load on first use

from screw_dynamics.algorithms.friction import smooth_sign
from screw_dynamics.analysis.estimation.payload_identification import REST
from screw_dynamics.analysis.estimation.smoothing import no_piece, pieces
from screw_dynamics.forces import Element
from screw_dynamics.model import configuration_space
from screw_dynamics.robot import Robot

from .linear_equations import Equations, of_noise, of_springs, own_laws

NODES = 16              # number of momentum evaluations per window
DEGREE, BETWEEN = 5, 3  # degrees of the filter polynomials, for positions and for velocities between nodes
TURN = 0.02             # rad or m: largest step in the derivative of M along the motion
STENCIL = (1, 0.75), (2, -0.15), (3, 1.0 / 60.0)        # (f(x + k h) - f(x - k h)) / h, of sixth order
STUCK = 0.1             # fraction of a window; joints with friction that rest for longer are not used


def momentum_equations(robot: Robot, given: Mapping[str, np.ndarray], rubs: np.ndarray, window: float,
                       forces: Sequence[Element], breaks: Sequence[int], stribeck: np.ndarray,
                       springs: Sequence[Element]) -> list[Equations]:
    """Return the equations of the segments of a recording t, q, qd and tau: two per window, each weighted over one
    window."""
    q, total = configuration_space.continuous(robot.model, robot.normalize(given["q"])), robot.total_force(forces)
    both = np.concatenate([given["tau"], given["qd"]], axis=1)
    found = []
    for piece in pieces(given["t"], q, both, window, DEGREE, breaks):
        tau, qd = np.split(piece.effort, 2, axis=1)
        q = robot.normalize(piece.q)
        if total:
            tau = tau + total.efforts(q, qd, piece.t)
        found.append(_integrated(robot, piece.t, q, qd, tau, piece.points, rubs, stribeck,
                                 of_springs(robot, springs, q)))
    if not found:
        raise no_piece(given["t"], window)
    return found


def _integrated(robot, t, q, qd, tau, points, rubs, stribeck, stiffness) -> Equations:
    """Return the equations of one segment with uniform times."""
    step, n = t[1] - t[0], robot.n
    stride = max((points - 1) // NODES, 1)
    half = (points - 1) // 2 // stride * stride
    centers = np.arange(half, len(t) - half, half)
    smooth = max(2 * stride + 1, BETWEEN + 2)
    v = scipy.signal.savgol_filter(qd, smooth, BETWEEN, axis=0)
    every, nodes = np.arange(-half, half + 1), np.arange(-half, half + 1, stride)
    w, rate = weight(every / half, half * step)
    coarse, coarse_rate = weight(nodes / half, half * step)
    own = centers[:, None] + nodes                              # (N, nodes) samples
    used, place = np.unique(own, return_inverse=True)
    momenta, others = _columns(robot, q[used], v[used])
    place = place.reshape(own.shape)
    dt = stride * step
    inertial = sum(others[place[:, k]] * (dt * coarse[k]) - momenta[place[:, k]] * (dt * coarse_rate[k])
                   for k in range(len(nodes)))

    def integral(x, with_weight):
        return step * np.einsum("k,ck...->c...", with_weight, x[centers[:, None] + every])
    of_joints = np.stack([integral(qd, w), integral(smooth_sign(qd), w), integral(qd, -rate)], axis=-1)
    friction = np.einsum("ij,cik->cijk", np.eye(n), of_joints).reshape(len(centers), n, -1)
    Y = np.concatenate([inertial, friction, integral(stiffness, w)], axis=2)
    S = integral(own_laws(smooth_sign(qd), qd, stribeck), w)
    b = integral(tau, w)
    rest = integral((np.abs(qd) < REST).astype(float), w)
    valid = ~((rest > STUCK) & rubs) & np.isfinite(b)
    noise = np.var(qd - v, axis=0) / (1.0 - scipy.signal.savgol_coeffs(smooth, BETWEEN)[smooth // 2])
    variance = noise * step * step * np.sum(rate**2)
    return Equations(t[centers], Y, b, valid, S, of_noise(robot, q[centers], variance, valid, Y.shape[2]))


def weight(x: np.ndarray, half: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight at x from -1 to 1, times within `half` (s) of the middle, and its time derivative.

    The weight (1 + cos(pi x))^2 / (3 half) has the integral 1; its first three derivatives vanish at both ends."""
    u = 1.0 + np.cos(np.pi * x)
    return u**2 / (3.0 * half), -2.0 * np.pi * u * np.sin(np.pi * x) / (3.0 * half**2)


def _columns(robot, q, v):
    """Return regressors (m, n, 10 b) of the momentum, and of c + g - M' v."""
    size = TURN / np.maximum(np.abs(v).max(axis=1, keepdims=True), TURN)       # s
    rate = sum(c / size[..., None] * (robot.momentum_regressor(robot.integrate(q, k * size * v), v)
                                      - robot.momentum_regressor(robot.integrate(q, -k * size * v), v))
               for k, c in STENCIL)
    return robot.momentum_regressor(q, v), robot.torque_regressor(q, v, np.zeros(robot.n)) - rate
