"""Geometric sensitivities of the equations of motion, [MD] 6.2: how efforts and accelerations depend on the screws of
all joints and on where these are placed. No ROS. May import robot and what is below it.

The pose of a body in its parent is B exp(m) exp(X q), with its screw X, model.screws_body, its pose B at q = 0,
model.relative_poses, and six parameters m at 0; inertias and wrenches stay the same in the frames of the bodies and
links. dX and dm move the body against its parent by the twist z = dexp_(-X q)(dX) q + Ad_exp(-X q) dm, in the body's
frame, so that its Ad_(C^-1 C_p) becomes Ad - ad_z Ad. All else is the recursion of [MD] (66), (67), differentiated:
what `inverse_dynamics_derivatives` is by q, which is z = X. Sensitivities of a link's pose are in `calibration`."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics import checks
from screw_dynamics.robot import Robot
from screw_dynamics.robot.evaluation import Wrenches
from screw_dynamics.screws.arrays import Ad_matrix
from screw_dynamics.screws.groups import se3

UNIT = np.eye(6)
EACH = 12                       # parameters of a body: its screw, and m


class MotionSensitivities(NamedTuple):
    """Of n efforts or accelerations: by each number of the screws X_j, and by each parameter m of the poses B_j,
    (..., n, b, 6) each, bodies in the order of model.body_names."""

    by_screws: np.ndarray
    by_poses: np.ndarray


class _Body(NamedTuple):
    """A body in motion, in its frame: Ad from its parent, what moves it by its own parameters (z, and the change of the
    screw), and W with the derivative of W (..., 6, 12 b) by all parameters."""

    Ad: np.ndarray
    z: np.ndarray
    W: np.ndarray
    dW: np.ndarray


def effort_sensitivities(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                         external: Wrenches | None = None) -> MotionSensitivities:
    """The sensitivities of the efforts robot.inverse_dynamics(q, qd, qdd, external) for a motion (..., n).

    Exact; the time grows with the square of the number of bodies. Of a motion of a joint's axis, as
    calibration.axis_motions has them, dX = [U, X]. ValueError for a robot with joints on groups."""
    checks.coordinates_alone("effort_sensitivities", robot.model)
    model, b = robot.model, len(robot.model.parents)
    q, qd, qdd = checks.broadcast({name: checks.real_numbers(name, x, robot.n) for name, x in (
        ("q", q), ("qd", qd), ("qdd", qdd))})
    bodies = _outward(robot, *(x[..., model.coordinates] for x in (q, qd, qdd)), _wrenches(robot, external))
    by = np.zeros((*bodies[0].dW.shape[:-2], b, EACH * b)) if b else np.zeros((*q.shape[:-1], 0, 0))
    W, dW = [body.W for body in bodies], [body.dW for body in bodies]
    for i in range(b - 1, -1, -1):
        own, p, (A, z, *_), X = _columns(i), model.parents[i], bodies[i], model.screws_body[i]
        by[..., i, :] = X @ dW[i]
        by[..., i, own][..., :6] += W[i]                                            # tau = X^T W
        dW[i][..., own] -= _ad_dual(W[i]) @ z                                       # W on the parent is Ad^T W
        if p >= 0:
            W[p], dW[p] = W[p] + (W[i][..., None, :] @ A)[..., 0, :], dW[p] + np.swapaxes(A, -1, -2) @ dW[i]
    return _sorted(robot, np.einsum("bk,...bp->...kp", np.eye(robot.n)[model.coordinates], by))


def acceleration_sensitivities(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                               external: Wrenches | None = None) -> MotionSensitivities:
    """The sensitivities of the accelerations robot.forward_dynamics(q, qd, tau, external): -M^-1 times those of the
    efforts that cause them. Else as effort_sensitivities; not finite where the mass matrix is singular."""
    checks.coordinates_alone("acceleration_sensitivities", robot.model)
    found = effort_sensitivities(robot, q, qd, robot.forward_dynamics(q, qd, tau, external), external)
    inverse = np.linalg.inv(robot.mass_matrix(q))
    return MotionSensitivities(*(-np.einsum("...ij,...jbk->...ibk", inverse, by) for by in found))


def _outward(robot, q, qd, qdd, wrenches):
    """The _Body of each body; [MD] (66), the first two terms of (67a), and their derivatives."""
    model, b, lead, bodies = robot.model, len(robot.model.parents), np.shape(q)[:-1], []
    V, Vd, dV, dVd = ([np.zeros((*lead, *tail))] for tail in ((6,), (6,), (6, EACH * b), (6, EACH * b)))
    Vd[0][..., 3:] = -robot.gravity
    for i, (p, X, M) in enumerate(zip(model.parents, model.screws_body, model.inertias, strict=True)):
        own, qi, u, ud, s = _columns(i), *(x[..., i, None, None] for x in (q, qd, qdd)), p + 1
        step = se3.exp(-qi[..., 0] * X)                                             # exp(-X q), of the body
        A = Ad_matrix(step @ np.linalg.inv(model.relative_poses[i]))
        z = np.concatenate([qi * np.swapaxes(se3.dexp(-qi * X, UNIT), -1, -2), Ad_matrix(step)], axis=-1)
        dX = np.concatenate([UNIT, np.zeros((6, 6))], axis=-1)
        moved, moved_d = (A @ V[s][..., None])[..., 0], (A @ Vd[s][..., None])[..., 0]
        V.append(moved + X * u[..., 0])
        Vd.append(moved_d + u[..., 0] * se3.ad(V[-1], X) + X * ud[..., 0])
        dV.append(A @ dV[s])
        dV[-1][..., own] += _ad(moved) @ z + u * dX
        dVd.append(A @ dVd[s] - u * _ad(X) @ dV[-1])
        dVd[-1][..., own] += _ad(moved_d) @ z + u * _ad(V[-1]) @ dX + ud * dX
        P = V[-1] @ M
        gyroscopic = np.swapaxes(_ad(V[-1]), -1, -2) @ M + _ad_dual(P)
        bodies.append(_Body(A, z, Vd[-1] @ M - se3.ad_dual(V[-1], P) - wrenches[i], M @ dVd[-1] - gyroscopic @ dV[-1]))
    return bodies


def _wrenches(robot, external):
    """The wrenches (..., 6) on each body, about and in its frame, of those on links."""
    total = [np.zeros(6) for _ in robot.model.parents]
    for link, wrench in checks.wrenches({} if external is None else external, robot.link_names).items():
        robot.model.known_link(link)
        body, F = robot.model.frames[link]
        wrench = checks.real_numbers(f"the wrench on link {link!r}", wrench, 6)
        if body >= 0:
            total[body] = total[body] + se3.Ad_dual(F, wrench)
    return total


def _columns(body):
    return slice(EACH * body, EACH * (body + 1))


def _ad(X):
    """ad_X (..., 6, 6) of screws (..., 6)."""
    return np.swapaxes(se3.ad(X[..., None, :], UNIT), -1, -2)


def _ad_dual(W):
    """The matrix (..., 6, 6) with which ad_V^T W = matrix V."""
    return np.swapaxes(se3.ad_dual(UNIT, W[..., None, :]), -1, -2)


def _sorted(robot, by):
    """Derivatives (..., n, 12 b) as MotionSensitivities."""
    by = by.reshape(*by.shape[:-1], len(robot.model.parents), EACH)
    return MotionSensitivities(by[..., :6], by[..., 6:])
