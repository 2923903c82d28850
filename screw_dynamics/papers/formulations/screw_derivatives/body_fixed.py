"""Derivatives of the joint screws and twists in the body frames; [MD] 2.1.

Results are for all bodies: Jacobians (..., b, 6, n), twists (..., b, 6), for q and its time derivatives (..., n) in the
order q, q', q'', ..."""
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import ad, ad_matrix, checked, times

from .tree import columns, combined, leibniz, motion, relative_Ad, scaled, selection, support, world_last


def joint_screws(robot: Robot, q: ArrayLike) -> np.ndarray:
    """Return J_ij = Ad_(C_i^-1 C_j) X_j, (..., b, b, 6); [MD] (103)."""
    model = robot.model
    return support(model)[..., None] * times(_relative(robot, q), model.screws_body)


def partial(J: np.ndarray, joints: Collection[int]) -> np.ndarray:
    """Return the derivative of all J_ij by these joints; [MD] (5), (12), (14).

    It is [... [[J_ij, J_ik], J_il] ..., J_im] for j < k <= l <= ... <= m; else 0."""
    b = J.shape[-2]
    P = J * (np.arange(b) < min(joints, default=b))[:, None]
    for k in sorted(joints):
        P = ad(P, J[..., k, None, :])
    return P


def jacobian_derivatives(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> list[np.ndarray]:
    """Return [J, J', ..., J^(r)] from r derivatives of q, by J' = [J, V], differentiated.

    V_ij = sum_(j < k <= i) J_ik q_k' is the twist of body i relative to body j."""
    q, rates = motion(robot, q, *rates)
    J, V = [joint_screws(robot, q)], []
    for k in range(len(rates)):
        V.append(_outward(leibniz(k, scaled, J, [rate[..., None, :] for rate in rates])))
        J.append(leibniz(k, ad, J, V))
    return [columns(robot.model, derivative) for derivative in J]


def twist_derivatives(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> list[np.ndarray]:
    """Return [V, V', ..., V^(r-1)] from r derivatives of q, in one recursion: V_i = A V_p + X_i q_i', A = Ad_(C_i^-1
    C_p).

    It is differentiated with A' = -q_i' ad_(X_i) A; [MD] (108)."""
    model, (q, rates) = robot.model, motion(robot, q, *rates)
    C = robot.body_poses(q)
    C = np.concatenate([C, np.broadcast_to(np.eye(4), (*C.shape[:-3], 1, 4, 4))], axis=-3)
    V = [world_last(q.shape[:-1], len(model.parents), 6) for _ in rates]
    for i, (p, X) in enumerate(zip(model.parents, model.screws_body, strict=True)):
        qd, Vp = [rate[..., i, None] for rate in rates], [derivative[..., p, :] for derivative in V]
        A = [relative_Ad(C[..., i, :, :], C[..., p, :, :])]
        for k in range(len(rates)):
            V[k][..., i, :] = leibniz(k, times, A, Vp) + X * qd[k]
            A.append(-ad_matrix(X) @ leibniz(k, scaled, A, qd))
    return [derivative[..., :-1, :] for derivative in V]


def acceleration(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """Compute the derivatives V_i' of the body-fixed twists of all bodies; [MD] (6).

    V_i' = sum_j J_ij q_j'' + sum_(j < k) [J_ij, J_ik] q_j' q_k'."""
    q, (u, ud) = motion(robot, q, qd, qdd)
    J = joint_screws(robot, q)
    return (combined(J, ud)
            + np.einsum("...ijkx,...j,...k->...ix", _brackets(J), u, u))


def jerk(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike) -> np.ndarray:
    """Compute the second derivatives V_i'' of the body-fixed twists of all bodies; [MD] (13).

    V_i'' = sum_j J_ij q_j''' + sum_(j < k) [J_ij, J_ik] (2 q_j'' q_k' + q_j' q_k'') + sum_(j < k) [[J_ij, J_ik], J_ik]
    q_j' q_k'^2 + 2 sum_(j < k < l) [[J_ij, J_ik], J_il] q_j' q_k' q_l'."""
    q, (u, ud, udd) = motion(robot, q, qd, qdd, qddd)
    J = joint_screws(robot, q)
    once, U = _brackets(J), scaled(J, u[..., None, :])
    twice = ad(once, (U + 2.0 * _outward(U))[..., None, :, :])                          # summed over all l >= k
    return (combined(J, udd)
            + np.einsum("...ijkx,...j,...k->...ix", once, 2.0 * ud, u)
            + np.einsum("...ijkx,...j,...k->...ix", once, u, ud)
            + np.einsum("...ijkx,...j,...k->...ix", twice, u, u))


def jacobian_rate(robot: Robot, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
    """Compute the time derivative J' = -A a J of the body-fixed Jacobians, with A_ik = Ad_(C_i^-1 C_k) and a_k = q_k'
    ad_(X_k); [MD] (8)."""
    q, (u,) = motion(robot, q, qd)
    aJ = scaled(ad(robot.model.screws_body[:, None], joint_screws(robot, q)), u[..., None])
    return columns(robot.model, -np.einsum("ik,...ikxy,...kjy->...ijx", support(robot.model), _relative(robot, q), aJ))


def acceleration_by_factors(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """Compute the derivatives V' = J q'' - A a V of the body-fixed twists of all bodies; [MD] (10)."""
    q, (u, ud) = motion(robot, q, qd, qdd)
    aV = scaled(ad(robot.model.screws_body, twist_derivatives(robot, q, qd)[0]), u)
    return (combined(joint_screws(robot, q), ud)
            - np.einsum("ik,...ikxy,...ky->...ix", support(robot.model), _relative(robot, q), aV))


def joint_accelerations(robot: Robot, q: ArrayLike, qd: ArrayLike, V: ArrayLike, Vd: ArrayLike) -> np.ndarray:
    """Return q'' = (X^T X)^-1 X^T ((I - D) V' + a V), (..., n), from twists and their rates (..., b, 6) of all bodies.

    For twists that no motion has, this is the least-squares solution; [MD] (11)."""
    (q, (u,)), b = motion(robot, q, qd), len(robot.model.parents)
    V, Vd = checked(V=(V, b, 6), Vd=(Vd, b, 6))
    return _on_joints(robot, Vd - _of_parents(robot, q, Vd) + scaled(ad(robot.model.screws_body, V), u))


def joint_accelerations_from_twists(robot: Robot, q: ArrayLike, V: ArrayLike, Vd: ArrayLike) -> np.ndarray:
    """Return q'' (..., n) from twists and their rates (..., b, 6) only: (65b) solved for q''; [MD] remark 8.

    q_i'' = X_i^T (V_i' - A V_p' + [V_i, A V_p]) / |X_i|^2, A = Ad_(C_i^-1 C_p), p the parent of body i. It equals
    `joint_accelerations` for twists that are a motion, for which V_i - A V_p is X_i q_i'."""
    b = len(robot.model.parents)
    V, Vd = checked(V=(V, b, 6), Vd=(Vd, b, 6))
    return _on_joints(robot, Vd - _of_parents(robot, q, Vd) + ad(V, _of_parents(robot, q, V)))


def _of_parents(robot, q, V):
    """Return D V for twists (..., b, 6): each body's twist due to its parent."""
    C, moved = robot.body_poses(q), np.zeros(V.shape)
    for i, p in enumerate(robot.model.parents):
        if p >= 0:
            moved[..., i, :] = times(relative_Ad(C[..., i, :, :], C[..., p, :, :]), V[..., p, :])
    return moved


def _on_joints(robot, own):
    """Return (X^T X)^-1 X^T of screws (..., b, 6): the rates (..., n) of the coordinates that fit them best."""
    X, driven = robot.model.screws_body, selection(robot.model)
    return np.einsum("bx,...bx,bk->...k", X, own, driven) / ((X * X).sum(axis=-1) @ driven)


def _relative(robot, q):
    """Return Ad_(C_i^-1 C_j) (..., b, b, 6, 6)."""
    C = robot.body_poses(q)
    return relative_Ad(C[..., :, None, :, :], C[..., None, :, :, :])


def _outward(U):
    """Return sum_(j < k) U_ik of U (..., b, b, 6)."""
    return np.flip(np.cumsum(np.flip(U, -2), -2), -2) - U


def _brackets(J):
    """Return [J_ij, J_ik] for j < k, else 0; (..., b, b, b, 6)."""
    b = np.arange(J.shape[-2])
    return ad(J[..., :, None, :], J[..., None, :, :]) * (b[:, None] < b)[..., None]
