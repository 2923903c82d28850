"""Equations that are linear in the parameters of a robot, and the effect of measurement noise on them."""
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from screw_dynamics.forces import Element, ForceSum
from screw_dynamics.model.inertial_parameters import FRICTION_NAMES
from screw_dynamics.robot import Robot

INSTANTS = 256          # number of times at which the effect of noise is evaluated
# Friction laws that are tested for in residuals; Stribeck friction at these Stribeck velocities.
SPEEDS = 0.02, 0.1, 0.5
IN_MODEL, BY_SPEED = ("dry", "damping"), tuple(f"falling at {v}" for v in SPEEDS)
LAWS = (*BY_SPEED, *IN_MODEL, "quadratic", "one way", "constant", "load")
NONE = np.zeros(0)


class Equations(NamedTuple):
    """Equations b = Y p + S s at N times t, (N, n, P) and (N, n); where valid is False, all are 0.

    S (N, n, G + K): columns of each joint's Stribeck friction at G Stribeck velocities, or none, and of K LAWS that a
    model may lack. noise (n, P, P): expected sum of products of the errors in Y from position noise, per joint; or
    None."""

    t: np.ndarray
    Y: np.ndarray
    b: np.ndarray
    valid: np.ndarray
    S: np.ndarray
    noise: np.ndarray | None = None


def falling(sign: np.ndarray, qd: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """Return the fraction (..., G) of breakaway friction beyond Coulomb's at rates qd (...), for Stribeck velocities
    (G,): sign / (1 + (qd / velocity)^2), the law of forces.Friction."""
    return sign[..., None] / (1.0 + (qd[..., None] / velocities) ** 2)


def own_laws(sign: np.ndarray, qd: np.ndarray, stribeck: np.ndarray) -> np.ndarray:
    """Return columns (..., G + K - 1) of each joint at rates qd (...) with these signs: Stribeck friction at velocities
    (G,), and all LAWS except the last."""
    speed = np.abs(qd)
    others = sign, qd, qd * speed, speed, np.ones_like(qd)
    return np.concatenate([falling(sign, qd, np.append(stribeck, SPEEDS)), np.stack(others, axis=-1)], axis=-1)


def by_load(S: np.ndarray, Y: np.ndarray, robot: Robot) -> np.ndarray:
    """Return the column (..., 1) of the last law, friction that is proportional to the load. The load is that of the
    known links: measured efforts would add noise to the column."""
    dry = S[..., S.shape[-1] - len(LAWS) + 1 + LAWS.index("dry")]
    p = robot.inertial_parameters
    return (dry * np.abs(Y[..., :len(p)] @ p))[..., None]


def of_springs(robot: Robot, springs: Sequence[Element], q: np.ndarray) -> np.ndarray:
    """Return the columns (..., n, s) of spring stiffness: the efforts that balance springs of stiffness 1."""
    still = np.zeros((*q.shape[:-1], robot.n))
    units = [replace(spring, stiffness=1.0, damping=0.0) for spring in springs]
    found = [-ForceSum(robot.model, robot.tables, (unit,)).efforts(q, still) for unit in units]    # unit springs only
    return np.stack(found, axis=-1) if found else np.zeros((*still.shape, 0))


def of_noise(robot: Robot, q: np.ndarray, variance: np.ndarray, valid: np.ndarray, columns: int
             ) -> np.ndarray:
    """Return the expected sums (n, P, P) of products of errors in the P columns of Y from acceleration noise.

    variance (n): of the noise; q (N, nq): configurations, of which INSTANTS are sampled; valid (N, n): mask of the
    equations. The derivative of a column of Y with respect to the acceleration of joint k is that of the momentum with
    respect to its velocity; likewise for the armature of the joint."""
    step, n = max(len(q) // INSTANTS, 1), robot.n
    q, valid, share = q[::step], valid[::step], valid.sum(axis=0) / np.maximum(valid[::step].sum(axis=0), 1)
    inertial, friction = robot.inertial_parameters.size, len(FRICTION_NAMES)
    found = np.zeros((n, columns, columns))
    for k, unit in enumerate(np.eye(n)):
        Y = np.zeros((len(q), n, found.shape[1]))
        Y[..., :inertial] = robot.momentum_regressor(q, unit)
        Y[:, k, inertial + friction * k + FRICTION_NAMES.index("armature")] = 1.0
        for j, A in enumerate((Y * valid[..., None]).swapaxes(0, 1)):
            own = np.flatnonzero(A.any(axis=0))
            A = np.sqrt(variance[k] * share[j]) * A[:, own]
            found[j][np.ix_(own, own)] += A.T @ A
    return found
