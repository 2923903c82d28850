"""Derivatives of the joint screws and twists in the world frame; [MD] 2.2.

J_ij is the same screw J_j for all bodies i that joint j moves. Arguments and results are as in body_fixed.py."""
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import Ad_matrix, ad, times

from .tree import columns, leibniz, motion, scaled, support, world_last


def joint_screws(robot: Robot, q: ArrayLike) -> np.ndarray:
    """Return J_ij = J_j = Ad_(C_j) X_j, (..., b, b, 6); [MD] (104)."""
    return _for_bodies(robot.model, _intrinsic(robot, q))


def partial(J: np.ndarray, joints: Collection[int]) -> np.ndarray:
    """Return the derivative of all J_ij by these joints; [MD] (15), (20), (23).

    It is [J_m, ... [J_l, [J_k, J_j]]] for m <= ... <= l <= k < j; else 0."""
    P = J * (np.arange(J.shape[-2]) > max(joints, default=-1))[:, None]
    for k in sorted(joints, reverse=True):
        P = ad(J[..., k, None, :], P)
    return P


def jacobian_derivatives(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> list[np.ndarray]:
    """Return [J, J', ..., J^(r)] from r derivatives of q, by J_j' = [V_j, J_j], differentiated; [MD] (16)."""
    _, J = _recursion(robot, q, rates)
    return [columns(robot.model, _for_bodies(robot.model, derivative)) for derivative in J]


def twist_derivatives(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> list[np.ndarray]:
    """Return [V, V', ..., V^(r-1)] from r derivatives of q, in one recursion: V_j = V_p + J_j q_j', J_j' = [V_j, J_j];
    [MD] (109), (16)."""
    return _recursion(robot, q, rates)[0]


def acceleration(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """Return V_i' = sum_(j <= i) (J_j q_j'' + [V_j, J_j] q_j'), in matrix form L (J q'' + b J q'); [MD] (17), (18)."""
    q, (u, ud) = motion(robot, q, qd, qdd)
    L, J = support(robot.model), _intrinsic(robot, q)
    V = L @ scaled(J, u)
    return L @ (scaled(J, ud) + scaled(ad(V, J), u))


def jerk(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike) -> np.ndarray:
    """Return V_i'' by the first form, with p the parent of j; [MD] (21).

    V_i'' = sum_(j <= i) (J_j q_j''' + 2 [V_j, J_j] q_j'' + sum_(k <= j) [J_k, J_j] q_k'' q_j'
    + [V_p + V_j - V_i, [V_j, J_j]] q_j')."""
    q, (u, ud, udd) = motion(robot, q, qd, qdd, qddd)
    L, J = support(robot.model), _intrinsic(robot, q)
    V = L @ scaled(J, u)
    B = ad(V, J)
    own = scaled(J, udd) + 2.0 * scaled(B, ud) + scaled(ad(L @ scaled(J, ud), J), u)
    both = 2.0 * V - scaled(J, u)                                                           # V_p + V_j
    nested = ad(both[..., None, :, :] - V[..., :, None, :], scaled(B, u)[..., None, :, :])
    return L @ own + np.einsum("ij,...ijx->...ix", L, nested)


def jerk_by_sums(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike) -> np.ndarray:
    """Return V_i'' by the second form; [MD] (22).

    V_i'' = sum_(j <= i) (J_j q_j''' + 2 [V_j, J_j] q_j'' + [[V_j, J_j], V_i - 2 V_j] q_j'
    + [sum_(k <= j) J_k q_k'' + [V_j, J_j] q_j', J_j] q_j')."""
    q, (u, ud, udd) = motion(robot, q, qd, qdd, qddd)
    L, J = support(robot.model), _intrinsic(robot, q)
    V = L @ scaled(J, u)
    B = ad(V, J)
    own = (scaled(J, udd) - 2.0 * ad(scaled(B, u), V) + scaled(ad(L @ scaled(J, ud) + scaled(B, u), J), u)
           + 2.0 * scaled(B, ud))
    return L @ own + ad(L @ scaled(B, u), V)


def _intrinsic(robot, q):
    """Return J_j (..., b, 6)."""
    return times(Ad_matrix(robot.body_poses(q)), robot.model.screws_body)


def _for_bodies(model, J):
    """Return J_ij (..., b, b, 6) from the screws J_j (..., b, 6)."""
    return support(model)[..., None] * J[..., None, :, :]


def _recursion(robot, q, rates):
    """Return V, V', ... of the bodies and J, J', ... of the joints, each (..., b, 6)."""
    parents, (q, rates) = robot.model.parents, motion(robot, q, *rates)
    V = [world_last(q.shape[:-1], len(parents), 6) for _ in rates]
    J = [_intrinsic(robot, q), *(np.zeros((*q.shape[:-1], len(parents), 6)) for _ in rates)]
    for j, p in enumerate(parents):
        Jj, Vj = [derivative[..., j, :] for derivative in J], [derivative[..., j, :] for derivative in V]
        qd = [rate[..., j] for rate in rates]
        for k in range(len(rates)):
            Vj[k][:] = V[k][..., p, :] + leibniz(k, scaled, Jj, qd)
            Jj[k + 1][:] = leibniz(k, ad, Vj, Jj)
    return [derivative[..., :-1, :] for derivative in V], J
