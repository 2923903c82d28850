"""Second derivatives of forward dynamics with constraints, the Hessians that [PK] needs for motion optimization with
closed loops (docs/geometric_algorithms.md).

What defines z = (qdd, lambda), [MD] (77), is linear in it,

    F(x, z) = (M qdd + h - tau - J^T lambda, J qdd + J' qd) = 0,    K = F_z = [[M, -J^T], [J, 0]],    x = (q, qd, tau),

and is differentiated twice as it stands: K z_xx = -(F_xx + K_x z_x + (K_x z_x)^T), where ^T exchanges the two
derivatives. Of redundant rows combinations U^T J that are independent at q take their place. Next to q they hold what
all rows hold at closed states, so that z is the same there, and has derivatives beside them, too."""
from typing import NamedTuple

import numpy as np

from screw_dynamics.robot.evaluation import Wrenches

from . import dynamics
from .constraints import Constraints
from .derivatives import admissible_deviations, held
from .differentials import differentials, second_differentials
from .projection import directions


class LoopSecondAccelerationDerivatives(NamedTuple):
    """Of the accelerations of forward dynamics, (..., n, n, n) each: [..., a, i, j] that of acceleration a by entries i
    and j. By q they are along the joint twists: with joints on groups, the derivative along j of the derivative along
    i.

    They belong to the first ones of LoopAccelerationDerivatives, and are meant, with these, for curves of closed
    states: see ClosedLoopRobot.admissible_curvature."""

    by_q_q: np.ndarray
    by_q_qd: np.ndarray
    by_qd_qd: np.ndarray
    by_q_tau: np.ndarray


def of_forward_dynamics(constraints: Constraints, q: np.ndarray, qd: np.ndarray, tau: np.ndarray,
                        external: Wrenches | None = None) -> LoopSecondAccelerationDerivatives:
    """The LoopSecondAccelerationDerivatives at closed states (..., nq), (..., n) and efforts (..., n)."""
    found, robot = dynamics.forward_dynamics(constraints, q, qd, tau, external), constraints.robot
    first = np.stack(robot.inverse_dynamics_derivatives(q, qd, found.qdd, external), axis=-3)
    second = np.stack(robot.inverse_dynamics_second_derivatives(q, qd, found.qdd, external), axis=-4)
    by = np.empty_like(second)
    for at in np.ndindex(qd.shape[:-1]):
        J, state = constraints.jacobian(q[at]), (constraints, q[at], qd[at])
        d, dd = differentials(*state), second_differentials(*state)
        rows = _independent(J)
        d, dd = (type(of)(*(np.tensordot(rows, x, axes=1) for x in of)) for of in (d, dd))
        by[at] = _solved(rows @ J, d, dd, first[at], second[at], found.qdd[at], rows @ found.multipliers[at])
    return LoopSecondAccelerationDerivatives(*np.moveaxis(by, -4, 0))


def _independent(J):
    """U^T (rank, m): orthonormal combinations of the rows of J that hold all that these do."""
    at = directions(J)
    return at.U[:, at.held[:at.U.shape[1]]].T


def _solved(J, d, dd, first, second, qdd, multipliers):
    """(4, n, n, n): z_xx of qdd, for rows J (k, n) that are independent and their multipliers (k,)."""
    ID_q, ID_qd, M = first
    ID_qq, ID_qqd, ID_qdqd, M_q = second
    n, k = M.shape[0], len(J)
    K = np.block([[M, -J.T], [J, np.zeros((k, k))]])
    load, pull = np.einsum("kij,k->ij", d.J_by_q, multipliers), np.einsum("kij,i->kj", d.J_by_q, qdd)
    F_x = np.block([[ID_q - load, ID_qd, -np.eye(n)], [d.drift_by_q + pull, d.drift_by_qd, np.zeros((k, n))]])
    z_q, z_qd, z_tau = np.split(-np.linalg.solve(K, F_x), 3, axis=1)
    K_q = np.zeros((n + k, n, n + k))                                               # [., i, .]: along joint twist i
    K_q[:n, :, :n], K_q[:n, :, n:], K_q[n:, :, :n] = M_q, -d.J_by_q.transpose(1, 2, 0), d.J_by_q.transpose(0, 2, 1)
    F_qq = np.concatenate((ID_qq - np.einsum("kaij,k->aij", dd.J_by_q_q, multipliers),
                           dd.drift_by_q_q + np.einsum("kaij,a->kij", dd.J_by_q_q, qdd)))
    F_qqd, F_qdqd = np.concatenate((ID_qqd, dd.drift_by_q_qd)), np.concatenate((ID_qdqd, dd.drift_by_qd_qd))
    along_q = K_q @ z_q
    missing = np.stack((F_qq + along_q + along_q.swapaxes(1, 2), F_qqd + K_q @ z_qd, F_qdqd, K_q @ z_tau), axis=1)
    return -np.linalg.solve(K, missing.reshape(n + k, -1))[:n].reshape(n, 4, n, n).swapaxes(0, 1)


def admissible_curvature(constraints: Constraints, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """C (2n, p, p), symmetric, by which deviations B y + C[y, y] / 2 of a state keep the constraints to the second
    order in y (p,), B being the admissible_deviations. With dq = B_q y and dqd = B_qd y

        J C_q = -dJ dq,    J C_qd = -(ddJ qd + dJ[C_q] qd + 2 dJ dqd)."""
    n, at = constraints.robot.n, directions(constraints.jacobian(q))
    dJ, ddJ = differentials(constraints, q, qd).J_by_q, second_differentials(constraints, q, qd).J_by_q_q
    dq, dqd = np.split(admissible_deviations(constraints, q, qd), 2)
    p = dq.shape[1]

    def solved(x):
        """The shortest solution of J C = -x, symmetrized, for x (m, p, p)."""
        return -held(at, (0.5 * (x + x.swapaxes(1, 2))).reshape(-1, p * p)).reshape(n, p, p)
    C_q = solved(np.einsum("kij,ia,jb->kab", dJ, dq, dq, optimize=True))
    bent = np.einsum("kxij,x,ia,jb->kab", ddJ, qd, dq, dq, optimize=True)
    turned = np.einsum("kxj,x,jab->kab", dJ, qd, C_q, optimize=True)
    both = 2.0 * np.einsum("kxj,xa,jb->kab", dJ, dqd, dq, optimize=True)
    return np.concatenate((C_q, solved(bent + turned + both)))
