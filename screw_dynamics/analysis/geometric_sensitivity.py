"""Geometric sensitivities of the equations of motion, [MD] 6.2: derivatives of efforts and accelerations with respect
to the screws and the placements of all joints. No ROS. May import robot and lower layers.

The pose of a body in its parent is B exp(m) exp(X q), with its screw X, model.screws_body, its pose B at q = 0,
model.relative_poses, and six parameters m, nominally 0. Inertias and wrenches are constant in the frames of bodies and
links. dX and dm move the body relative to its parent by the twist z = dexp_(-X q)(dX) q + Ad_exp(-X q) dm, in the
body's frame, so that its Ad_(C^-1 C_p) becomes Ad - ad_z Ad. The rest is the derivative of the recursion [MD] (66),
(67), as in `inverse_dynamics_derivatives`, where z = X. `calibration` has the sensitivities of a link's pose."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.robot.evaluation import Wrenches
from screw_dynamics.screws.arrays import Ad_matrix, ad_dual_matrix, ad_matrix, times
from screw_dynamics.screws.groups import se3
from screw_dynamics.utils import checks

UNIT = np.eye(6)
EACH = 12                                                       # parameters of a body: its screw X and m


class MotionSensitivities(NamedTuple):
    """Sensitivities of n efforts or accelerations to the geometry of the robot.

    Parameters
    ----------
    by_screws : ndarray (..., n, b, 6)
        Derivatives by each entry of the screws X_j, bodies in the order of model.body_names.
    by_poses : ndarray (..., n, b, 6)
        Derivatives by each parameter m of the poses B_j.
    """

    by_screws: np.ndarray
    by_poses: np.ndarray


class _Body(NamedTuple):
    """The motion of a body in its frame: Ad from its parent, the twists z (..., 6, 12) of its parameters, the wrench W,
    and the derivative dW (..., 6, 12 b) with respect to all parameters."""

    Ad: np.ndarray
    z: np.ndarray
    W: np.ndarray
    dW: np.ndarray


def effort_sensitivities(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                         external: Wrenches | None = None) -> MotionSensitivities:
    """Compute the exact sensitivities of the efforts robot.inverse_dynamics(q, qd, qdd, external).

    Parameters
    ----------
    robot : Robot
        Robot with joints of one degree of freedom.
    q, qd, qdd : array_like (..., n)
        Positions, velocities and accelerations.
    external : dict of str to array_like (..., 6), optional
        Wrench on each named link, as in Robot.inverse_dynamics.

    Returns
    -------
    MotionSensitivities
        Derivatives of the efforts.

    Raises
    ------
    ValueError
        If the robot has Lie-group joints.

    Notes
    -----
    The computation time is quadratic in the number of bodies. A motion U of a joint's axis, as in
    calibration.axis_motions, changes its screw by dX = [U, X].
    """
    checks.coordinates_alone("effort_sensitivities", robot.model)
    model, b = robot.model, len(robot.model.parents)
    given = {name: checks.real_numbers(name, x, robot.n) for name, x in (("q", q), ("qd", qd), ("qdd", qdd))}
    applied = _on_links(robot, external)
    shapes = {name: x.shape for name, x in given.items()} | {f"the wrench on {link}": W.shape
                                                             for link, W in applied.items()}
    lead = checks.common_lead([shape[:-1] for shape in shapes.values()], shapes)
    motion = [np.broadcast_to(x, (*lead, robot.n))[..., model.coordinates] for x in given.values()]
    bodies, by = _outward(robot, *motion, _on_bodies(robot, applied)), np.zeros((*lead, b, EACH * b))
    W, dW = [body.W for body in bodies], [body.dW for body in bodies]
    for i in range(b - 1, -1, -1):
        own, p, (A, z, *_), X = _columns(i), model.parents[i], bodies[i], model.screws_body[i]
        by[..., i, :] = X @ dW[i]
        by[..., i, own][..., :6] += W[i]                                            # tau = X^T W
        dW[i][..., own] -= ad_dual_matrix(W[i]) @ z                                 # W on the parent is Ad^T W
        if p >= 0:
            W[p], dW[p] = W[p] + (W[i][..., None, :] @ A)[..., 0, :], dW[p] + np.swapaxes(A, -1, -2) @ dW[i]
    return _sorted(robot, np.einsum("bk,...bp->...kp", np.eye(robot.n)[model.coordinates], by))


def acceleration_sensitivities(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike,
                               external: Wrenches | None = None) -> MotionSensitivities:
    """Compute the sensitivities of the accelerations robot.forward_dynamics(q, qd, tau, external).

    Parameters
    ----------
    robot : Robot
        Robot with joints of one degree of freedom.
    q, qd : array_like (..., n)
        Positions and velocities.
    tau : array_like (..., n)
        Efforts.
    external : dict of str to array_like (..., 6), optional
        Wrench on each named link, as in Robot.forward_dynamics.

    Returns
    -------
    MotionSensitivities
        Derivatives of the accelerations: -M^-1 times those of the efforts. They are not finite if the mass matrix is
        singular.

    Raises
    ------
    ValueError
        If the robot has Lie-group joints.

    See Also
    --------
    effort_sensitivities : Sensitivities of efforts, with notes on both.
    """
    checks.coordinates_alone("acceleration_sensitivities", robot.model)
    found = effort_sensitivities(robot, q, qd, robot.forward_dynamics(q, qd, tau, external), external)
    inverse = np.linalg.inv(robot.mass_matrix(q))
    return MotionSensitivities(*(-np.einsum("...ij,...jbk->...ibk", inverse, by) for by in found))


def _outward(robot, q, qd, qdd, wrenches):
    """Return the _Body of each body; [MD] (66), the first two terms of (67a), and their derivatives."""
    model, b, lead, bodies = robot.model, len(robot.model.parents), q.shape[:-1], []
    V, Vd, dV, dVd = ([np.zeros((*lead, *tail))] for tail in ((6,), (6,), (6, EACH * b), (6, EACH * b)))
    Vd[0][..., 3:] = -robot.gravity
    dX, from_parents, moves = np.eye(6, EACH), *_joints(model, q)
    for i, (p, X, M) in enumerate(zip(model.parents, model.screws_body, model.inertias, strict=True)):
        own, u, ud = _columns(i), qd[..., i, None], qdd[..., i, None]
        A, z = from_parents[..., i, :, :], moves[..., i, :, :]
        before, before_d = (times(A, x[p + 1]) for x in (V, Vd))
        V.append(before + u * X)
        ad_V, P, u, ud = ad_matrix(V[-1]), V[-1] @ M, u[..., None], ud[..., None]
        Vd.append(before_d + u[..., 0] * (ad_V @ X) + ud[..., 0] * X)
        dV.append(A @ dV[p + 1])
        dV[-1][..., own] += ad_matrix(before) @ z + u * dX
        dVd.append(A @ dVd[p + 1] - u * (ad_matrix(X) @ dV[-1]))
        dVd[-1][..., own] += ad_matrix(before_d) @ z + u * (ad_V @ dX) + ud * dX
        W = Vd[-1] @ M - (P[..., None, :] @ ad_V)[..., 0, :] - wrenches[i]
        bodies.append(_Body(A, z, W, M @ dVd[-1] - (np.swapaxes(ad_V, -1, -2) @ M + ad_dual_matrix(P)) @ dV[-1]))
    return bodies


def _joints(model, q):
    """Return Ad_(C^-1 C_p) (..., b, 6, 6) of all bodies, and the twists z (..., b, 6, 12) of their parameters."""
    X, q = model.screws_body, q[..., None]
    step = se3.exp(-q * X)                                                          # exp(-X q)
    by_screw = np.swapaxes(q[..., None] * se3.dexp(-q[..., None] * X[:, None], UNIT), -1, -2)
    z = np.concatenate([by_screw, Ad_matrix(step)], axis=-1)
    return Ad_matrix(step @ np.linalg.inv(model.relative_poses)), z


def _on_links(robot, external):
    """Return the external wrenches {link: (..., 6)}, checked."""
    given = checks.wrenches({} if external is None else external, robot.link_names)
    return {robot.model.known_link(link): checks.real_numbers(f"the wrench on link {link!r}", wrench, 6)
            for link, wrench in given.items()}


def _on_bodies(robot, wrenches):
    """Return the wrenches (..., 6) on the bodies, about and along their frames, from those on links."""
    total = [np.zeros(6) for _ in robot.model.parents]
    for link, wrench in wrenches.items():
        body, F = robot.model.frames[link]
        if body >= 0:
            total[body] = total[body] + se3.Ad_dual(F, wrench)
    return total


def _columns(body):
    return slice(EACH * body, EACH * (body + 1))


def _sorted(robot, by):
    """Return derivatives (..., n, 12 b) as MotionSensitivities."""
    by = by.reshape(*by.shape[:-1], len(robot.model.parents), EACH)
    return MotionSensitivities(by[..., :6], by[..., 6:])
