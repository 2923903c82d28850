"""Derivatives of the joint screws and twists at the bodies' origins, resolved in the world frame; [MD] 2.3.

X_j = Ad_(R_j) X_j^b is the joint screw at the origin of its own body, r_ij = r_j - r_i. Otherwise as in
body_fixed.py."""
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from screw_dynamics.robot import Robot
from screw_dynamics.screws.arrays import ad, angular, joined, linear, times

from .tree import columns, combined, leibniz, lever, motion, scaled, support, world_last


def joint_screws(robot: Robot, q: ArrayLike) -> np.ndarray:
    """Return J_ij = Ad_(r_ij) X_j, (..., b, b, 6); [MD] (105)."""
    X, r = _at_own_origin(robot, q)
    return support(robot.model)[..., None] * (X[..., None, :, :] + lever(_arms(r), X[..., None, :, :]))


def partial(J: np.ndarray, joints: Collection[int]) -> np.ndarray:
    """Return the derivative of all J_ij by these joints, k <= ... <= l <= j < m <= ... <= s <= t.

    It is [w_k, ... [w_l, [J_ij, [w_m, ... [w_s, v_it]]]]], or [w_k, ... [w_l, J_ij]] if no joint is after j. w and v
    are the angular and linear parts of J_ik etc. For one joint it is [w_k, J_ij], k <= j, or [J_ij, v_im], j < m; [MD]
    (24), (25), extended to joints before j and to any order."""
    joints = sorted(joints)
    P, number = np.empty_like(J), np.arange(J.shape[-2])
    for count in range(len(joints) + 1):                    # number of joints not after j
        before, after = joints[:count], joints[count:]
        here = np.searchsorted(joints, number, "right") == count
        X = J[..., here, :]
        if after:
            v = linear(J[..., after[-1], :])
            for k in reversed(after[:-1]):
                v = ad(angular(J[..., k, :]), v)
            X = ad(X, v[..., None, :])
        for k in reversed(before):
            X = ad(angular(J[..., k, None, :]), X)
        P[..., here, :] = X
    return P


def jacobian_derivatives(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> list[np.ndarray]:
    """Return [J, J', ..., J^(r)] from r derivatives of q, by J_ij = Ad_(r_ij) X_j and X_j' = [w_j, X_j],
    differentiated; [MD] (27), (30)."""
    V, X, r = _recursion(robot, q, rates)
    arms, L = [_arms(derivative) for derivative in r], support(robot.model)[..., None]
    X = [derivative[..., None, :, :] for derivative in X]
    return [columns(robot.model, L * (X[k] + leibniz(k, lever, arms, X))) for k in range(len(X))]


def twist_derivatives(robot: Robot, q: ArrayLike, *rates: ArrayLike) -> list[np.ndarray]:
    """Return [V, V', ..., V^(r-1)] from r derivatives of q, in one recursion: V_j = Ad_(r_jp) V_p + X_j q_j', X_j' =
    [w_j, X_j]; [MD] (110)."""
    return _recursion(robot, q, rates)[0]


def acceleration(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """Return V_i' = sum_j (J_ij q_j'' + (ad_(r_ij') + Ad_(r_ij) ad_(w_j)) X_j q_j'); [MD] (28), (29)."""
    q, (u, ud) = motion(robot, q, qd, qdd)
    J = joint_screws(robot, q)
    V = combined(J, u)
    return combined(J, ud) + combined(_rate(robot, q, V), u)


def acceleration_by_brackets(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> np.ndarray:
    """Return V_i' by J_ij' = [w_j, J_ij] + [J_ij, v]; [MD] (26), and (28) with the first term, which is missing there.

    v is the linear part of sum_(j < k <= i) J_ik q_k', the twist of body i relative to body j at the origin of i."""
    q, (u, ud) = motion(robot, q, qd, qdd)
    J = joint_screws(robot, q)
    reached = np.cumsum(scaled(J, u[..., None, :]), axis=-2)                    # V_j at the origin of i
    V = reached[..., -1:, :]
    Jd = ad(angular(reached), J) + ad(J, linear(V - reached))
    return combined(J, ud) + combined(Jd, u)


def jerk(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike) -> np.ndarray:
    """Return V_i'' = sum_j (J_ij q_j''' + 2 J_ij' q_j'' + J_ij'' q_j'), [MD] (31).

    J_ij'' = (ad_(r_ij'') + 2 ad_(r_ij') ad_(w_j) + Ad_(r_ij) (ad_(w_j') + ad_(w_j) ad_(w_j))) X_j; [MD] (30)."""
    (V, Vd), (q, (u, ud, udd)) = twist_derivatives(robot, q, qd, qdd), motion(robot, q, qd, qdd, qddd)
    J, (X, r) = joint_screws(robot, q), _at_own_origin(robot, q)
    w, wd, X = angular(V)[..., None, :, :], angular(Vd)[..., None, :, :], X[..., None, :, :]
    Xd, Xdd = ad(w, X), ad(wd, X) + ad(w, ad(w, X))
    Jdd = lever(_arms(Vd[..., 3:]), X) + 2.0 * lever(_arms(V[..., 3:]), Xd) + Xdd + lever(_arms(r), Xdd)
    return (combined(J, udd) + combined(_rate(robot, q, V), 2.0 * ud)
            + combined(support(robot.model)[..., None] * Jdd, u))


def _rate(robot, q, V):
    """Return J_ij' = (ad_(r_ij') + Ad_(r_ij) ad_(w_j)) X_j, (..., b, b, 6), for the twists V (..., b, 6); [MD] (27)."""
    (X, r), w = _at_own_origin(robot, q), angular(V)[..., None, :, :]
    X = X[..., None, :, :]
    Xd = ad(w, X)
    return support(robot.model)[..., None] * (lever(_arms(V[..., 3:]), X) + Xd + lever(_arms(r), Xd))


def _at_own_origin(robot, q):
    """Return X_j (..., b, 6) and r_j (..., b, 3)."""
    C, X = robot.body_poses(q), robot.model.screws_body
    R = C[..., :3, :3]
    return joined(times(R, X[:, :3]), times(R, X[:, 3:])), C[..., :3, 3]


def _arms(r):
    """Return r_ij = r_j - r_i (..., b, b, 3)."""
    return r[..., None, :, :] - r[..., :, None, :]


def _recursion(robot, q, rates):
    """Return V, V', ... of bodies, X, X', ... of joints, and r, r', ... of origins, (..., b, 6) and (..., b, 3)."""
    parents, (q, rates) = robot.model.parents, motion(robot, q, *rates)
    lead, (start, origin) = q.shape[:-1], _at_own_origin(robot, q)
    V = [world_last(lead, len(parents), 6) for _ in rates]
    X = [start, *(np.zeros((*lead, len(parents), 6)) for _ in rates)]
    r = [world_last(lead, len(parents), 3), *(derivative[..., 3:] for derivative in V)]     # r' is the linear part of V
    r[0][..., :-1, :] = origin
    for j, p in enumerate(parents):
        Xj, Vj = [derivative[..., j, :] for derivative in X], [derivative[..., j, :] for derivative in V]
        Vp, qd = [derivative[..., p, :] for derivative in V], [rate[..., j] for rate in rates]
        arm, w = [], []
        for k in range(len(rates)):
            arm.append(r[k][..., p, :] - r[k][..., j, :])
            Vj[k][:] = Vp[k] + leibniz(k, lever, arm, Vp) + leibniz(k, scaled, Xj, qd)
            w.append(angular(Vj[k]))
            Xj[k + 1][:] = leibniz(k, ad, w, Xj)
    return [derivative[..., :-1, :] for derivative in V], X, [derivative[..., :-1, :] for derivative in r]
