"""Equations that are linear in the parameters of a robot, and what noise of a recording makes of them."""
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from screw_dynamics.forces import Element, ForceSum
from screw_dynamics.model.inertial_parameters import FRICTION_NAMES
from screw_dynamics.robot import Robot

INSTANTS = 256          # at which the effect of noise is looked at
# Laws of friction that are looked for in what a model leaves; those that fall with speed at these Stribeck velocities.
SPEEDS = 0.02, 0.1, 0.5
IN_MODEL, BY_SPEED = ("dry", "damping"), tuple(f"falling at {v}" for v in SPEEDS)
LAWS = (*BY_SPEED, *IN_MODEL, "quadratic", "one way", "constant", "load")
NONE = np.zeros(0)


class Equations(NamedTuple):
    """b = Y p + S s at N instants t, (N, n, P) and (N, n); where no equation holds, valid is False, and all are 0.

    S (N, n, G + K): of each joint's own friction that falls with speed, at G Stribeck velocities, or none, and K LAWS
    that a model may lack. noise (n, P, P): the expected sum of products of the errors that noise of positions makes in
    Y, of each joint; or None."""

    t: np.ndarray
    Y: np.ndarray
    b: np.ndarray
    valid: np.ndarray
    S: np.ndarray
    noise: np.ndarray | None = None


def falling(sign: np.ndarray, qd: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """Return the share (..., G) of breakaway friction beyond Coulomb's at rates qd (...), for Stribeck velocities (G,):
    sign / (1 + (qd / velocity)^2), the law of forces.Friction."""
    return sign[..., None] / (1.0 + (qd[..., None] / velocities) ** 2)


def own_laws(sign: np.ndarray, qd: np.ndarray, stribeck: np.ndarray) -> np.ndarray:
    """Return the columns (..., G + K - 1) of each joint's own at rates qd (...) of these signs: of friction that falls
    with speed, for Stribeck velocities (G,), and of LAWS but the last."""
    speed = np.abs(qd)
    others = sign, qd, qd * speed, speed, np.ones_like(qd)
    return np.concatenate([falling(sign, qd, np.append(stribeck, SPEEDS)), np.stack(others, axis=-1)], axis=-1)


def by_load(S: np.ndarray, Y: np.ndarray, robot: Robot) -> np.ndarray:
    """Return the column (..., 1) of the last law, of friction that grows with the efforts of the links as they are
    known: those measured have the noise that a column must not have."""
    dry = S[..., S.shape[-1] - len(LAWS) + 1 + LAWS.index("dry")]
    p = robot.inertial_parameters
    return (dry * np.abs(Y[..., :len(p)] @ p))[..., None]


def of_springs(robot: Robot, springs: Sequence[Element], q: np.ndarray) -> np.ndarray:
    """Return the columns (..., n, s) of the stiffness of springs: what efforts overcome of each of stiffness 1."""
    still = np.zeros((*q.shape[:-1], robot.n))
    units = [replace(spring, stiffness=1.0, damping=0.0) for spring in springs]
    found = [-ForceSum(robot.model, robot.tables, (unit,)).efforts(q, still) for unit in units]    # without its own
    return np.stack(found, axis=-1) if found else np.zeros((*still.shape, 0))


def of_noise(robot: Robot, q: np.ndarray, variance: np.ndarray, valid: np.ndarray, columns: int
             ) -> np.ndarray:
    """Return the expected sums (n, P, P) of products of errors in the P columns of Y, of noise of this variance (n) in
    the accelerations at configurations q (N, nq), where equations are valid (N, n): INSTANTS of them speak for all.

    A column of Y changes with the acceleration of joint k as that of the momentum with its velocity; so does armature's
    of the joint itself."""
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
